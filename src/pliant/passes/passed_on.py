"""An element that a step of a loop writes, and the next step reads, is passed on to it.

    loop { carry a …; a[i + 1] = f(a[i]) }        x = a[0]
                                                  loop { carry a …, carry x; y = f(x); a[i + 1] = y; x' = y }

A register is at hand at once; what was stored is read again after as long as some operations take, and each step
waits for the one before. Dynamic programmes and their derivatives are such loops.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, cast, final

from pliant.core import ir
from pliant.core.build import hint_of, trace
from pliant.core.data import frozen
from pliant.core.inner import functions_of, map_functions
from pliant.core.ir import Function, Node, Param, Value, Values, const, nodes, substitute
from pliant.core.origin import at
from pliant.ops.compare import less, minimum
from pliant.ops.cond import Cond
from pliant.ops.elementwise import sub
from pliant.ops.index import Gather, Scatter, ScatterAdd, ScatterSet
from pliant.ops.loop import Loop
from pliant.ops.step_cut import WIDE
from pliant.passes.places import Form, Scene, form_of
from pliant.transforms.replace import replaced

STEP: Final = Form.of("step")


def passed_on(fn: Function) -> Function:
    """`fn` with such loops, in the functions that its primitives hold too."""
    if not any([functions_of(node.op) for node in fn.nodes]):
        return fn

    def rule(node: Node, args: Values) -> Values | None:
        op = map_functions(node.op, passed_on)
        found = list(_passed(op)) if isinstance(op, Loop) else []
        if isinstance(op, Loop) and found:
            return _with_carries(op, args, found)
        return None if op is node.op else op.apply(*args)

    return replaced(fn, rule)


@final
@frozen
class Passed:
    """An element that each step but the first reads where the one before has written.

    write: the write, of the array that the step leaves as `array`.
    """

    read: Value
    write: Value
    array: Value

    def next(self, made: dict[Value, Value]) -> Value:
        """What the next step reads. made: what values of the step have become."""
        if isinstance(self.write.op, ScatterSet) and self.write is self.array:
            return made[self.write.args[-1]]
        return Gather(unique=True)(made[self.array], *[made[i] for i in self.write.args[1:-1]])

    @property
    def needed(self) -> Values:
        """Values of the step that `next` looks at."""
        return self.array, *self.write.args[1:]


def _passed(loop: Loop) -> Iterator[Passed]:
    """Such elements of the arrays that a loop carries."""
    if not loop.length:
        return
    reads = [n.values[0] for n in loop.body.nodes if isinstance(n.op, Gather) and _is_element(n)]
    for c, k in loop.carries:
        array, end = loop.body.params[c], loop.body.results[k]
        if array.type.size < WIDE:
            continue
        writes = list(_writes(end, array))
        for read in reads:
            write = next((w for w in writes if _is_passed(read, w, loop)), None) if read.args[0] is array else None
            if write is not None:
                yield Passed(read, write, end)


def _writes(value: Value, start: Value) -> Iterator[Value]:
    """The writes of elements that made an array last, the last one first."""
    while value is not start and isinstance(value.op, ScatterSet | ScatterAdd) and _is_element(value.node):
        yield value
        value = value.args[0]


def _is_element(node: Node) -> bool:
    """Whether a read or a write is of one element of an array."""
    indices = node.args[1:-1] if isinstance(node.op, Scatter) else node.args[1:]
    return len(indices) == node.args[0].type.rank and not indices[0].shape


def _is_passed(read: Value, write: Value, loop: Loop) -> bool:
    """Whether a step reads where the step before has written."""
    scene, by = Scene(None, {loop.body.params[0]: STEP}), -1 if loop.reverse else 1
    fixed = {p for p, kind in zip(loop.body.params[1:], loop.ins, strict=True) if kind in ("const", "count")}
    for place, before in zip(read.args[1:], write.args[1:-1], strict=True):
        form = form_of(place, scene)
        if form + form.terms.get("step", 0) * by != form_of(before, scene):
            return False
        others = [cast("Value", variable[1]) for variable in form.terms if isinstance(variable, tuple)]
        if any([isinstance(n.op, Param) and n.values[0] not in fixed for n in nodes(others)]):
            return False
    return True


def _with_carries(loop: Loop, xs: Values, found: Sequence[Passed]) -> Values:
    """The results of the loop, which passes elements on."""
    params, results = loop.body.params, loop.body.results
    count = len(params)

    def step(*args: Value) -> Values:
        env = {**dict(zip(params, args, strict=False)), **dict(zip([p.read for p in found], args[count:], strict=True))}
        wanted = tuple(dict.fromkeys((*results, *(v for p in found for v in p.needed))))
        made = dict(zip(wanted, substitute(wanted, env), strict=True))
        return *(made[r] for r in results), *(p.next(made) for p in found)

    names = [*map(hint_of, params), *(hint_of(p.read) for p in found)]
    body = trace(step, *(p.type for p in params), *(p.read.type for p in found), names=names)
    more = len(found)
    long = replace(loop, ins=(*loop.ins, *["carry"] * more), outs=(*loop.outs, *["last"] * more), body=body)
    return long.apply(*xs, *[_start(p.read, loop, xs) for p in found])[: len(results)]


def _start(read: Value, loop: Loop, xs: Values) -> Value:
    """What the first step reads; zero if there is none."""
    index, *params = loop.body.params
    counts = [x for x, kind in zip(xs, loop.ins, strict=True) if kind == "count"]
    steps = minimum(counts[0], const(loop.length, "i64")) if counts else const(loop.length, "i64")
    first = sub(steps, 1) if loop.reverse else const(0, "i64")
    with at(read.node.origin):
        operands = substitute(read.args, {index: first, **dict(zip(params, xs, strict=True))})
        if not counts:
            return read.op(*operands)
        types = [v.type for v in operands]
        some = trace(lambda *args: (read.op(*args),), *types)
        none = trace(lambda *args: (ir.operators.zeros(read.type),), *types)
        return Cond(some, none).apply(less(const(0, "i64"), steps), *operands)[0]
