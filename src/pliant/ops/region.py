"""What loops and branches need to know about the functions they hold: who reads what, what to keep."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Final

from pliant.core import ir
from pliant.core.ir import Const, Function, Value, Values, nodes
from pliant.ops.base import Elementwise, Movement
from pliant.ops.block import ReadBlock
from pliant.ops.custom import pick
from pliant.ops.fewest import bytes_of, fewest
from pliant.ops.index import Gather
from pliant.ops.shape import Iota
from pliant.transforms.dead import eliminate_dead, read_for
from pliant.transforms.vmap import vmap_apart, with_axis

CHEAP = frozenset(
    "add sub mul div neg convert conj abs sign square reciprocal select maximum minimum fmax fmin real imag "
    "equal not_equal less less_equal greater greater_equal logical_and logical_or logical_not logical_xor isnan".split()
)
FUNCTIONS = frozenset("sin cos tan arctan sinh cosh tanh logistic exp exp2 expm1 log log2 log1p sqrt".split())
"""Those of which some take less time than to keep a number in memory far away, and to read it."""
FAR: Final = 1 << 25
"""Bytes of what is kept in all steps, from which on it lies there."""
LONGEST = 12  # cheap operations instead of one load
LONGEST_OF_PARTS = 100  # operations instead of a part of an array; see `of_parts`


def reached(fn: Function, marked: Sequence[bool], *, floats: bool = False) -> tuple[bool, ...]:
    """Which results depend on the marked parameters; with `floats`, through float values only."""
    live = set(pick(fn.params, marked))
    for node in fn.nodes:
        flags = [a in live for a in node.args]
        if any(flags):
            # primitives know which operand matters to which result; `pull` takes those of a linear node as one
            rule = None if floats else getattr(node.op, "reached", None)
            values = node.values if rule is None else pick(node.values, rule(flags))
            live.update([v for v in values if v.type.is_float or not floats])
    return tuple([r in live for r in fn.results])


def settle(
    fn: Function, marked: Sequence[bool], carries: Sequence[tuple[int, int]], *, floats: bool
) -> tuple[tuple[bool, ...], tuple[bool, ...]]:
    """Parameters and results that depend on the marked parameters when fn is run again and again.

    carries: (parameter, the result it is at the next run).
    """
    flags = [m and (p.type.is_float or not floats) for m, p in zip(marked, fn.params, strict=True)]
    while True:
        found = list(reached(fn, flags, floats=floats))
        new = [c for c, k in carries if found[k] and not flags[c]]
        if not new:
            break
        for c in new:
            flags[c] = True
    for c, k in carries:
        found[k] = found[k] or flags[c]
    return tuple(flags), tuple(found)


def vmap_steps(
    fn: Function, n: int, flags: Sequence[bool], carries: Sequence[tuple[int, int]]
) -> tuple[Function, tuple[bool, ...], tuple[bool, ...]]:
    """`fn`, which is run again and again, over n problems; and the parameters and results that have a batch axis then.

    flags: parameters that have one at least. carries: (parameter, the result it is at the next run).
    """
    flags = tuple(flags)
    while True:
        mapped, apart = vmap_apart(fn, n, flags)
        late = {c for c, k in carries if apart[k] and not flags[c]}
        if not late:
            break
        flags = tuple([f or c in late for c, f in enumerate(flags)])
    missing = {k for c, k in carries if flags[c] and not apart[k]}
    wanted = [k in missing for k in range(len(apart))]
    return with_axis(mapped, n, wanted), flags, tuple([a or w for a, w in zip(apart, wanted, strict=True)])


def needed(
    fn: Function, used: Sequence[bool], carries: Sequence[tuple[int, int]]
) -> tuple[tuple[bool, ...], tuple[bool, ...]]:
    """Parameters and results that the used results need when fn is run again and again."""
    keep = list(used)
    while True:
        live = read_for(pick(fn.results, keep))
        read = [p in live for p in fn.params]
        more = [k for c, k in carries if read[c] and not keep[k]]
        if not more:
            break
        for k in more:
            keep[k] = True
    for c, k in carries:
        read[c] = keep[k]
    return tuple(read), tuple(keep)


def smaller(fn: Function, read: Sequence[bool], keep: Sequence[bool]) -> Function:
    """The function with the results that are kept, of the parameters that `needed` says they read."""
    made = eliminate_dead(Function(fn.name, fn.params, pick(fn.results, keep)))
    return Function(fn.name, pick(made.params, read), made.results)


def read_by(results: Sequence[Value], params: Sequence[Value]) -> tuple[bool, ...]:
    """Which of the parameters the results depend on."""
    found = {node.values[0] for node in nodes(results)}
    return tuple([p in found for p in params])


def read_with(dys: Sequence[Value], dxs: Collection[Value], but: tuple[type[ir.Op], ...] = ()) -> Values:
    """The values that `dys`, linear in `dxs`, are made from and that do not depend on `dxs`; not those that are read by
    some primitives alone."""
    linear, found = set(dxs), dict[Value, None]()
    for node in nodes(dys):
        if any([a in linear for a in node.args]):
            linear.update(node.values)
            found.update([(a, None) for a in node.args if a not in linear and not isinstance(node.op, but)])
    found.update([(d, None) for d in dys if d not in linear])
    return tuple([r for r in found if not isinstance(r.op, Const)])


def cut(reads: Sequence[Value], free: Collection[Value], steps: int = 1) -> Values:
    """What must be kept of the reads, at each of some steps, or of fewer or smaller values that they are made from: the
    others are cheap to compute from that and `free`."""
    parts = of_parts(reads)

    def again(v: Value) -> bool:
        is_far = v.op.name in FUNCTIONS and steps * v.type.bytes >= FAR
        return is_simple(v.op) or is_far or (v in parts and isinstance(v.op, Elementwise))

    wanted = tuple(dict.fromkeys([v for r in reads for v in (sources(r, free, again, parts) or (r,))]))
    place = {node: n for n, node in enumerate(nodes(wanted))}
    kept = {r: None for r in wanted if r not in free}
    for r in sorted(kept, key=lambda r: place[r.node], reverse=True):
        if is_cheap(r, kept, free, again, parts):
            del kept[r]
    return fewest(tuple([r for r in wanted if r in kept]), free, again, LONGEST)


def of_parts(values: Sequence[Value]) -> set[Value]:
    """Arrays that are parts with bounds of run time, and what is made of them element by element: kept at each step,
    each would take as much room as the longest can, so that they are better made again."""
    found = set[Value]()
    for node in nodes(values):
        op, v = node.op, node.values[0]
        match op:
            case ReadBlock():
                lengths = node.args[1 + len(op.step) :]
                is_part = not all([isinstance(n.op, Const) for n in lengths])
            case Gather():
                is_part = any([i in found for i in node.args[1:]])
            case Elementwise() | Movement():
                is_part = bool(found) and any([a in found and a.shape == v.shape for a in node.args])
            case _:
                is_part = False
        if is_part:
            found.add(v)
    return found


def sources(
    value: Value, free: Collection[Value], again: Callable[[Value], bool], parts: Collection[Value]
) -> Values | None:
    """Values, smaller in all, from which and `free` ones a few simple operations make `value`, if there are any:
    what was repeated to its shape, for one. again: whether a value may be made again; parts: see `of_parts`."""
    if value in free:
        return None
    todo, found, seen = [value], dict[Value, None](), set[Value]()
    while todo:
        v = todo.pop()
        if v in seen or isinstance(v.op, Const) or v in free:
            continue
        seen.add(v)
        if v is not value and v.type.bytes < value.type.bytes:
            if not is_cheap(v, (), free):
                found[v] = None
            continue
        if not again(v) or len(seen) - len(found) > (LONGEST_OF_PARTS if value in parts else LONGEST):
            return None
        todo.extend(v.args)
    return tuple(found) if bytes_of(found) < value.type.bytes else None


def is_simple(op: ir.Op) -> bool:
    """Whether a primitive takes about as long as a load."""
    return op.name in CHEAP if isinstance(op, Elementwise) else isinstance(op, Movement | Gather | ReadBlock | Iota)


def _is_simple(value: Value) -> bool:
    return is_simple(value.op)


def is_cheap(
    value: Value,
    kept: Collection[Value],
    free: Collection[Value],
    again: Callable[[Value], bool] = _is_simple,
    parts: Collection[Value] = (),
) -> bool:
    """Whether a few simple operations on other kept values and free ones make `value`."""
    todo, seen = [value], set[Value]()
    while todo:
        v = todo.pop()
        if v in seen or isinstance(v.op, Const) or v in free or (v in kept and v is not value):
            continue
        seen.add(v)
        if not again(v) or len(seen) > (LONGEST_OF_PARTS if value in parts else LONGEST):
            return False
        todo.extend(v.args)
    return True
