"""Loops whose steps do not depend on each other become operations on whole arrays.

    for j in range(k + 1, n):            r[k, k+1:] = q @ a[:, k+1:]
        r[k, j] = q @ a[:, j]            a[:, k+1:] -= outer(q, r[k, k+1:])
        a[:, j] -= q * r[k, j]

The step of each number is a *lane*: what varies from step to step has an axis 0 for the lanes, planes that
steps touch become blocks of the array, and what all steps add to one place is summed. So arrays are walked
along their last axis, whatever the order of the user's loops, and no step costs more than its arithmetic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Final, final

from pliant.core.data import mutable
from pliant.core.inner import functions_of
from pliant.core.ir import Const, Function, Node, Param, Value, Values, const
from pliant.core.origin import at
from pliant.ops.base import Movement
from pliant.ops.bits import BitwiseAnd
from pliant.ops.block import AddBlock, ReadBlock, UpdateBlock
from pliant.ops.compare import less
from pliant.ops.contract import Dot
from pliant.ops.elementwise import Add, add
from pliant.ops.index import Gather, ScatterAdd, ScatterSet
from pliant.ops.loop import Loop
from pliant.ops.reduce import ReduceSum, reduce_sum
from pliant.ops.select import Select, is_zero, select
from pliant.ops.shape import broadcast, iota, lift, move_axis, permute, reshape
from pliant.passes.accesses import Access, Steps, is_read, lengths_of, steps_of
from pliant.passes.known import changed
from pliant.passes.places import Scene
from pliant.transforms.replace import Env, replaced_in
from pliant.transforms.vmap import batch_of

LEAST: Final = 4  # steps
SHORT: Final = 32  # elements of a row that is no faster than a few
GROWTH: Final = 4  # times the bytes of the largest operand
ROOM: Final = 1 << 15  # bytes that are near the processor anyway


def at_once(fn: Function, outside: Scene | None = None) -> Function:
    """`fn` with such loops taken at once, those inside others first; `outside` is what is known of it."""
    scene = Scene(fn) if outside is None else outside
    if not any([functions_of(n.op) for n in fn.nodes]):
        return fn

    def rule(node: Node, env: Env) -> Values | Value | None:
        if not functions_of(node.op):
            return None
        made = changed(node, scene, at_once).apply(*(env[a] for a in node.args))
        return _taken(made[0].node, scene) or made if made else made

    return replaced_in(fn, rule)


def _taken(node: Node, scene: Scene) -> Values | None:
    """The results of a loop, all steps at once; None if they depend on each other, or that would not pay."""
    if not isinstance(node.op, Loop) or node.op.length < LEAST or any([functions_of(n.op) for n in _body(node)]):
        return None
    steps = steps_of(node, scene)
    return Lanes(steps).results() if steps and pays(steps) else None


def _body(node: Node) -> Sequence[Node]:
    assert isinstance(node.op, Loop)
    return node.op.body.nodes


def pays(steps: Steps) -> bool:
    """Whether taking all steps at once is faster: rows are short, or arrays are walked across; and what the
    lanes make has room."""
    rows = [v.type.bytes for v in steps.varying]
    most = max([x.type.bytes for x in steps.node.args], default=0)
    if max(rows) * steps.loop.length > max(GROWTH * most, ROOM):
        return False
    if max([v.type.size for v in steps.varying]) <= SHORT:
        return True
    found = [a for accesses in steps.accesses.values() for a in accesses if a.plane]
    across = [a for a in found if a.plane and a.plane.axis == a.value.args[0].type.rank - 1]
    rows_in = zip(steps.loop.ins, steps.loop.body.params[1:], strict=True)
    along = len(found) - len(across) + sum([kind == "each" and p.type.size > 1 for kind, p in rows_in])
    return len(across) > along


@final
@mutable
class Lanes:
    """What the values of a loop's body are for all steps, and whether they have an axis of lanes.

    zero: those that are zero in lanes whose step is not run.
    """

    steps: Steps
    found: dict[Value, tuple[Value, bool]] = field(default_factory=dict[Value, tuple[Value, bool]])
    zero: set[Value] = field(default_factory=set[Value])

    def results(self) -> Values:
        """The results of the loop."""
        loop, accesses = self.steps.loop, self.accesses()
        for p, x, kind in zip(loop.body.params[1:], self.steps.node.args, loop.ins, strict=True):
            self.found[p] = x, kind == "each"
        self.found[self.steps.index] = iota(loop.length), True
        for node in loop.body.nodes:
            if isinstance(node.op, Param):
                continue
            with at(node.origin):
                access = accesses.get(node.values[0])
                self.found.update(self.access(node, access) if access else self.plain(node))
        return tuple([self.result(y, kind) for y, kind in zip(loop.body.results, loop.outs, strict=True)])

    def accesses(self) -> dict[Value, Access]:
        """Reads and writes by the value that they make, if they are not the same for all lanes."""
        every = [a for accesses in self.steps.accesses.values() for a in accesses]
        return {a.value: a for a in every if a.plane or a.is_write}

    @property
    def length(self) -> int:
        """The number of lanes."""
        return self.steps.loop.length

    def result(self, y: Value, kind: str) -> Value:
        """What a result of the loop is, given that of a step."""
        if kind == "last":
            return self.found[y][0]
        if kind == "sum":
            return self.total(y)
        x = self.varied(y)
        return x if x in self.zero else self.masked(x)

    def varied(self, value: Value) -> Value:
        """A value with an axis of lanes."""
        x, varies = self.found[value]
        return x if varies else lift(x, self.length)

    def total(self, value: Value) -> Value:
        """The sum over all lanes."""
        return reduce_sum(self.masked(self.varied(value)), (0,))

    def masked(self, x: Value) -> Value:
        """x with zeros in lanes whose step is not run."""
        count = self.steps.count
        if count is None:
            return x
        return with_zeros_from(x, 0, count)

    # --- nodes

    def plain(self, node: Node) -> dict[Value, tuple[Value, bool]]:
        """What a node makes that reads and writes no planes."""
        args = tuple([self.found[a][0] for a in node.args])
        flags = tuple([self.found[a][1] for a in node.args])
        if not any(flags):
            return {v: (y, False) for v, y in zip(node.values, node.op.apply(*args), strict=True)}
        if isinstance(node.op, ReduceSum):
            args = (self.masked(args[0]),)
        product = self.product(node.op, args, flags) if isinstance(node.op, Dot) else None
        made = batch_of(node.op, self.length, flags, args) if product is None else (product,)
        if isinstance(node.op, Movement) and args[0] in self.zero:
            self.zero.update(made)
        return {v: (y, True) for v, y in zip(node.values, made, strict=True)}

    def product(self, op: Dot, args: Values, flags: tuple[bool, ...]) -> Value | None:
        """A product of two vectors, or of a number with an array, for all lanes: products of elements and sums."""
        rows = [x.shape[1:] if f else x.shape for x, f in zip(args, flags, strict=True)]
        if op == Dot(((0,), (0,)), ((), ())) and len(rows[0]) == len(rows[1]) == 1:
            full, axes = (self.length, *rows[0]), ((1,), (1,))
        elif op == Dot(((), ()), ((), ())) and () in rows:
            (row,) = [r for r in rows if r] or [()]
            full, axes = (self.length, *row), tuple([tuple(range(1, len(r) + 1)) for r in rows])
        else:
            return None
        x, y = (broadcast(v, full, (0, *own) if f else own) for v, f, own in zip(args, flags, axes, strict=True))
        return reduce_sum(self.masked(x * y), (1,)) if op.contract[0] else x * y

    def access(self, node: Node, access: Access) -> dict[Value, tuple[Value, bool]]:
        """What a read or a write makes that is not the same for all lanes."""
        value = node.values[0]
        if is_read(node):
            made = self.read(node, access)
            self.zero.add(made)
            return {value: (made, True)}
        made = self.written(node, access) if access.plane else self.summed(node)
        return {value: (made, False)}

    def read(self, node: Node, access: Access) -> Value:
        """The planes that all steps read, the lanes first."""
        assert access.plane
        axis, x = access.plane.axis, self.found[node.args[0]][0]
        starts, lengths, shape = self.block(node, access, node.types[0].shape)
        step = [access.plane.factor if n == axis else s for n, s in enumerate(self.strides(node))]
        part = ReadBlock(tuple(shape), tuple(step))(x, *starts, *lengths)
        order = (axis, *(n for n in range(len(shape)) if n != axis))
        return reshape(permute(part, order), (self.length, *node.types[0].shape))

    def written(self, node: Node, access: Access) -> Value:
        """The array with the planes of all steps written."""
        assert access.plane
        axis, x = access.plane.axis, self.found[node.args[0]][0]
        source = node.args[-1] if isinstance(node.op, ScatterSet | ScatterAdd) else node.args[1]
        starts, lengths, shape = self.block(node, access, source.shape)
        others = [n for k, n in enumerate(shape) if k != axis]
        u = reshape(self.varied(source), (self.length, *others))
        u = move_axis(u, 0, axis)
        step = tuple([access.plane.factor if n == axis else s for n, s in enumerate(self.strides(node))])
        write = AddBlock(step) if access.adds else UpdateBlock(step)
        return write(x, u, *starts, *lengths)

    def summed(self, node: Node) -> Value:
        """The array with what all steps add to the same places."""
        if isinstance(node.op, Add):
            old, new = node.args if node.args[0] in self.steps.versions else node.args[::-1]
            return add(self.found[old][0], self.total(new))
        place = len(node.args) - 1 if isinstance(node.op, ScatterAdd) else 1
        args = [self.found[a][0] for a in node.args]
        args[place] = reduce_sum(self.needed(node, self.masked(self.varied(node.args[place]))), (0,))
        return node.op.apply(*args)[0]

    def needed(self, node: Node, x: Value) -> Value:
        """What is added to a block, for all lanes, with zeros beyond its lengths."""
        for axis, length in enumerate(lengths_of(node.values[0])):
            if not isinstance(length.op, Const):
                x = with_zeros_from(x, axis + 1, self.found[length][0])
        return x

    # --- places

    def block(self, node: Node, access: Access, row: tuple[int, ...]) -> tuple[list[Value], list[Value], list[int]]:
        """Starts, lengths and extents of the block that all steps read or write; `row` is one step's part."""
        assert access.plane
        if isinstance(node.op, Gather | ScatterSet | ScatterAdd):
            indices = node.args[1:] if isinstance(node.op, Gather) else node.args[1:-1]
            starts = [*map(self.first, indices), *(const(0, "i64") for _ in row)]
            shape = [*(1 for _ in indices), *row]
            lengths = [const(n, "i64") for n in shape]
        else:
            rank = node.args[0].type.rank
            bounds = node.args[len(node.args) - 2 * rank :]
            starts, shape = [*map(self.first, bounds[:rank])], [*row]
            lengths = [self.found[n][0] for n in bounds[rank:]]
        axis = access.plane.axis
        shape[axis] = self.length
        lengths[axis] = const(self.length, "i64") if self.steps.count is None else self.steps.count
        return starts, lengths, shape

    def strides(self, node: Node) -> list[int]:
        """The steps along each axis of the array that a node reads or writes."""
        return list(getattr(node.op, "step", (1,) * node.args[0].type.rank))

    def first(self, index: Value) -> Value:
        """What an index is in the step of number 0."""
        if index is self.steps.index:
            return const(0, "i64")
        if index not in self.steps.varying:
            return self.found[index][0]
        args = [self.first(a) for a in index.args]
        zero = [isinstance(a.op, Const) and not a.op.value for a in args]
        if isinstance(index.op, Add) and any(zero):
            return args[0] if zero[1] else args[1]
        return index.op.apply(*args)[0]


def with_zeros_from(x: Value, axis: int, end: Value) -> Value:
    """x with zeros from an index of an axis on. There is one mask in all, so that loops can end by it."""
    n = x.shape[axis]
    mask = broadcast(less(iota(n), broadcast(end, (n,), ())), x.shape, (axis,))
    if isinstance(x.op, Select) and is_zero(x.args[2]) and x.args[0].shape == x.shape:
        return select(BitwiseAnd()(mask, x.args[0]), x.args[1], x.args[2])
    return select(mask, x, 0)
