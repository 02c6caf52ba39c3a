"""Arrays that a loop goes over column by column are carried with their last axis first.

    for j in range(2, n):                          y = y.T
        y[:, j] = x[:, j] + c * y[:, j - 1]        for j in range(2, n):
                                                       y[j] = x.T[j] + c * y[j - 1]
                                                   y = y.T

A column is then a row, which lies in one piece. This is done for arrays of which all steps read and write whole
columns, in loops whose steps depend on each other: others are taken at once, which walks along rows as well. Inner
loops take the array as the outer one has it. Derivatives are derived from such loops, and so go over rows too.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from math import prod
from typing import Final, TypeAlias, final

from pliant.core.build import hint_of, trace
from pliant.core.data import frozen, mutable
from pliant.core.inner import functions_of, map_functions
from pliant.core.ir import Function, Node, Op, Param, Value, Values, rebuild
from pliant.core.origin import at
from pliant.core.types import Type
from pliant.ops.block import AddBlock, Block, ReadBlock, UpdateBlock
from pliant.ops.block_rules import block_where_it_lies
from pliant.ops.cond import Cond
from pliant.ops.loop import Loop
from pliant.ops.region import read_by
from pliant.ops.shape import Broadcast, Permute, Slice, permute
from pliant.ops.update import AddSlice, UpdateSlice
from pliant.ops.while_loop import WhileLoop
from pliant.passes.accesses import steps_of
from pliant.passes.at_once import pays
from pliant.passes.places import Scene
from pliant.transforms.replace import replaced_in

Read: TypeAlias = Slice | ReadBlock
Write: TypeAlias = UpdateSlice | AddSlice | UpdateBlock | AddBlock
AnyLoop: TypeAlias = Loop | WhileLoop

SHORTEST: Final = 8  # elements of a column that are worth it
WORTH: Final = 1.75  # elements read and written for each one that is moved
STEPS: Final = 2  # of a loop of which it is not known


def columns_as_rows(fn: Function) -> Function:
    """`fn` with the arrays of such loops turned, in the functions that its primitives hold too."""
    if not any([functions_of(n.op) for n in fn.nodes]):
        return fn

    def rule(node: Node, env: dict[Value, Value]) -> Values | None:
        if not functions_of(node.op):
            return None
        args = [env[a] for a in node.args]
        found = columnwise(node, args) if isinstance(node.op, AnyLoop) else set[int]()
        if found:
            return turned(node, args, found)
        op = map_functions(node.op, columns_as_rows)
        return None if op is node.op else op.apply(*args)

    return replaced_in(fn, rule)


# --- which arrays


@final
@frozen
class Site:
    """A block of an array that is read or written, and how often in a step of the outermost loop."""

    value: Value
    times: int

    @property
    def touched(self) -> int:
        """How many elements are read or written in a step of the outermost loop."""
        return prod(self.extents) * self.times * (2 if isinstance(self.value.op, AddSlice | AddBlock) else 1)

    @property
    def extents(self) -> tuple[int, ...]:
        """The greatest extents of the block."""
        return self.value.shape if isinstance(self.value.op, Read) else self.value.args[1].shape


def columnwise(node: Node, args: Sequence[Value]) -> set[int]:
    """The operands of a loop that are worth turning. args: what it will be given."""
    loop = node.op
    assert isinstance(loop, AnyLoop)
    found = {
        n for n, sites in _candidates(loop).items() if _are_columns(sites) and is_worth_it(loop, n, sites, args[n])
    }
    return found if any([loop.ins[n] == "carry" for n in found]) and not _is_taken_at_once(node) else set()


def is_worth_it(loop: AnyLoop, n: int, sites: Sequence[Site], given: Value) -> bool:
    """Whether far more is read and written than is moved: before the loop, unless the array is turned already or
    is made for it, and after it if it is carried."""
    moves = (not _is_turned_for_nothing(given)) + (loop.ins[n] == "carry")
    return sum([site.touched for site in sites]) * _length(loop) >= WORTH * moves * given.type.size


def _is_turned_for_nothing(x: Value) -> bool:
    while isinstance(x.op, UpdateSlice):
        x = x.args[0]
    return isinstance(x.op, Broadcast) or (isinstance(x.op, Permute) and x.op.order == _back(x.type.rank))


def _is_taken_at_once(node: Node) -> bool:
    loop = node.op
    if not isinstance(loop, Loop) or any([functions_of(n.op) for n in loop.body.nodes]):
        return False
    steps = steps_of(node, Scene(loop))
    return steps is not None and pays(steps)


def _are_columns(sites: Sequence[Site]) -> bool:
    """Whether all sites are of whole columns, and some of single ones."""
    single = [s for s in sites if s.extents[-1] == 1 and prod(s.extents) >= SHORTEST]
    return bool(single) and all([s.extents[-1] == 1 or s.extents[:-1] == s.value.args[0].shape[:-1] for s in sites])


def _candidates(loop: AnyLoop) -> dict[int, list[Site]]:
    """The arrays that a loop is given of which steps only read and write blocks, with these."""
    found = dict[int, list[Site]]()
    for n in range(len(loop.ins)):
        used = _used(loop, n, 1) if loop.body.params[n + _first(loop)].type.rank > 1 else None
        if used and used.sites:
            found[n] = used.sites
    return found


def _used(loop: AnyLoop, n: int, times: int) -> Use | None:
    """How the steps of a loop use its n-th operand, which they leave as it is or carry; None if they do anything else
    with it."""
    param = loop.body.params[n + _first(loop)]
    used = _sites(loop.body, param, times) if loop.ins[n] in ("const", "carry") else None
    is_asked = isinstance(loop, WhileLoop) and read_by(loop.test.results, loop.test.params)[n]
    carried = [k for p, k in loop.carries if p == n + _first(loop)]
    return used if used and used.returned == carried and not is_asked else None


def _first(loop: AnyLoop) -> int:
    """The parameter of a step that is the first operand: that of a counted one is the index."""
    return len(loop.body.params) - len(loop.ins)


def _length(loop: AnyLoop) -> int:
    return loop.length if isinstance(loop, Loop) else STEPS


@final
@mutable
class Use:
    """The blocks of an array that a function reads and writes, and the results that it is then."""

    sites: list[Site]
    returned: list[int]


def _sites(fn: Function, param: Value, times: int) -> Use | None:
    """How a function uses a parameter; None if it does anything else with it."""
    versions, found = {param}, list[Site]()
    for node in fn.nodes:
        held = [n for n, a in enumerate(node.args) if a in versions]
        if not held:
            continue
        op = node.op
        if len(held) > 1:
            return None
        if isinstance(op, AnyLoop | Cond):
            used = _held(op, held[0], times)
            if used is None:
                return None
            found.extend(used.sites)
            versions.update([node.values[k] for k in used.returned])
        elif isinstance(op, Read | Write) and held == [0] and not (isinstance(op, Block) and op.shared):
            found.append(Site(node.values[0], times))
            versions.update(node.values if isinstance(op, Write) else ())
        else:
            return None
    return Use(found, [k for k, r in enumerate(fn.results) if r in versions])


def _held(op: AnyLoop | Cond, n: int, times: int) -> Use | None:
    """How a loop or a branch uses its n-th operand; it is the same results whichever branch is run."""
    if isinstance(op, AnyLoop):
        return _used(op, n, times * _length(op))
    one, other = (_sites(fn, fn.params[n - 1], times) if n else None for fn in op.branches)
    if one is None or other is None or one.returned != other.returned:
        return None
    return Use([*one.sites, *other.sites], one.returned)


# --- with their last axis first


def turned(node: Node, args: Sequence[Value], places: Collection[int]) -> Values:
    """The results of a loop that is given and carries some arrays with their last axis first."""
    assert isinstance(node.op, AnyLoop)
    loop, outs = _holding(node.op, places)
    made = loop.apply(*(forth(a) if n in places else a for n, a in enumerate(args)))
    return tuple([back(y) if k in outs else y for k, y in enumerate(made)])


def _holding(op: Op, places: Collection[int]) -> tuple[Op, set[int]]:
    """A loop or a branch with some of its operands turned, and the results that are then turned too."""
    if isinstance(op, AnyLoop):
        body, outs = _function(op.body, {n + _first(op) for n in places})
        if isinstance(op, WhileLoop):
            return replace(op, test=_function(op.test, places)[0], body=body), outs
        return replace(op, body=body), outs
    assert isinstance(op, Cond)
    (then, outs), (otherwise, _) = (_function(fn, {n - 1 for n in places}) for fn in op.branches)
    return Cond(then, otherwise), outs


def _function(fn: Function, places: Collection[int]) -> tuple[Function, set[int]]:
    """A function with some of its parameters turned, and the results that are then turned too."""
    outs = set[int]()

    def run(*xs: Value) -> Values:
        env = dict[Value, Value](zip(fn.params, xs, strict=True))
        arrays = {fn.params[n]: xs[n] for n in places}
        for node in fn.nodes:
            if not isinstance(node.op, Param):
                with at(node.origin):
                    _remake(node, env, arrays)
        outs.update([k for k, r in enumerate(fn.results) if r in arrays])
        return tuple([arrays[r] if r in arrays else env[r] for r in fn.results])

    types = [_turned_type(p.type) if n in places else p.type for n, p in enumerate(fn.params)]
    return trace(run, *types, names=[hint_of(p) for p in fn.params]), outs


def _remake(node: Node, env: dict[Value, Value], arrays: dict[Value, Value]) -> None:
    """A node anew. env: what values have become; arrays: what those have that are turned."""
    held = [n for n, a in enumerate(node.args) if a in arrays]
    args = [arrays[a] if n in held else env[a] for n, a in enumerate(node.args)]
    if not held:
        env.update(zip(node.values, rebuild(node, tuple(args)), strict=True))
    elif isinstance(node.op, AnyLoop | Cond):
        op, outs = _holding(node.op, held)
        for k, (v, made) in enumerate(zip(node.values, op.apply(*args), strict=True)):
            (arrays if k in outs else env)[v] = made
    elif isinstance(node.op, Write):
        arrays[node.values[0]] = _where_it_lies(node.op, args)
    else:
        env[node.values[0]] = back(_where_it_lies(node.op, args))


def _where_it_lies(op: Op, args: Sequence[Value]) -> Value:
    """What a read or a write makes of an array that is turned, turned as well."""
    x, rank = args[0], args[0].type.rank
    if isinstance(op, Block):
        return block_where_it_lies(op, args, _back(rank))
    assert isinstance(op, Slice | UpdateSlice | AddSlice)
    order = _forth(rank)
    start, step = (tuple([of[k] for k in order]) for of in (op.start, op.step))
    if isinstance(op, Slice):
        return Slice(start, step, tuple([op.length[k] for k in order]))(x)
    return type(op)(start, step)(x, permute(args[1], order))


def forth(x: Value) -> Value:
    """The last axis first; of what was just written column by column, where it is made."""
    if isinstance(x.op, UpdateSlice):
        return _where_it_lies(x.op, (forth(x.args[0]), x.args[1]))
    if isinstance(x.op, Permute) and x.op.order == _back(x.type.rank):
        return x.args[0]
    return permute(x, _forth(x.type.rank))


def back(x: Value) -> Value:
    """The first axis last."""
    return permute(x, _back(x.type.rank))


def _forth(rank: int) -> tuple[int, ...]:
    return (rank - 1, *range(rank - 1))


def _back(rank: int) -> tuple[int, ...]:
    return (*range(1, rank), 0)


def _turned_type(type: Type) -> Type:
    return type.with_shape((type.shape[-1], *type.shape[:-1]))
