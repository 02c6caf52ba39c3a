"""What the steps of a loop read and write of arrays, and whether they can be taken in any order.

A step touches a *plane* of an array if one index is the number of the step, plus or minus something, and
the others are the same in every step: a column, `a[:n, j]`, or an element, `a[k, j]`. Steps that write to
planes of their own, and read these or what no step writes, do not depend on each other. Nor do steps that
only add to the same places, which nobody reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Final, final

from pliant.core.data import frozen, mutable
from pliant.core.ir import Const, Node, Param, Value
from pliant.ops.base import Elementwise, Movement
from pliant.ops.block import AddBlock, BlockWrite, ReadBlock
from pliant.ops.contract import Dot
from pliant.ops.elementwise import Add
from pliant.ops.index import Gather, ScatterAdd, ScatterSet
from pliant.ops.loop import Loop
from pliant.ops.reduce import Reduction
from pliant.ops.shape import Iota, Slice
from pliant.ops.update import AddSlice, UpdateSlice
from pliant.passes.later import entered
from pliant.passes.places import Box, Form, Scene, box_of_read, box_of_write, can_meet, form_of, is_possible

FIRST: Final = "a step"
OTHER: Final = "another step"


@final
@frozen
class Plane:
    """Index `factor·step + start` of an axis, `start` being the same in every step."""

    axis: int
    factor: int
    start: Form


@final
@frozen
class Access:
    """A read or a write of an array; plane: None if its places are the same in every step.

    adds: whether it adds to what is there. value: what is read, or the array after it was written.
    """

    value: Value
    plane: Plane | None
    is_write: bool = False
    adds: bool = False


@final
@mutable
class Steps:
    """A loop, read node by node: what varies from step to step, and what is accessed.

    versions: values that are a carried array, by the number of the carry. accesses: of carried arrays,
    by carry, and of the others, by -1.
    """

    node: Node
    loop: Loop
    outside: Scene
    scene: Scene
    varying: set[Value] = field(default_factory=set[Value])
    versions: dict[Value, int] = field(default_factory=dict[Value, int])
    accesses: dict[int, list[Access]] = field(default_factory=dict[int, list[Access]])

    @property
    def index(self) -> Value:
        """The number of the step."""
        return self.loop.body.params[0]

    @property
    def count(self) -> Value | None:
        """How many steps are run, if that is not known while compiling."""
        return self.node.args[self.loop.ins.index("count")] if "count" in self.loop.ins else None

    def plane_of(self, value: Value) -> Plane | None:
        """The plane that a read or a write with indices that vary touches. Raises Dependent if it is none."""
        found = list[Plane]()
        for axis, (start, is_single) in enumerate(starts_of(value)):
            form = form_of(start, self.scene)
            factor = form.terms.get((FIRST, self.index), 0)
            rest = form - Form.of((FIRST, self.index)) * factor
            if any([self.is_varying(v) for v in rest.terms]):
                raise Dependent
            if factor:
                found.append(Plane(axis, factor, rest))
                if abs(factor) != 1 or not is_single:
                    raise Dependent
        if len(found) > 1 or any([length in self.varying for length in lengths_of(value)]):
            raise Dependent
        return found[0] if found else None

    def is_varying(self, variable: object) -> bool:
        """Whether a variable of a form differs from step to step."""
        return isinstance(variable, tuple) and variable[1] in self.varying


class Dependent(Exception):
    """A step of a loop may depend on another one, or is not simple enough to tell."""


def steps_of(node: Node, outside: Scene) -> Steps | None:
    """The steps of a loop, if they can be taken in any order, or all at once."""
    loop = node.op
    assert isinstance(loop, Loop)
    steps = Steps(node, loop, outside, entered(outside, node, loop, FIRST))
    rows = zip(loop.body.params[1:], loop.ins, strict=True)
    steps.varying.update([steps.index, *(p for p, kind in rows if kind == "each")])
    steps.versions.update([(loop.body.params[p], k) for k, (p, _) in enumerate(loop.carries)])
    try:
        for inner in loop.body.nodes:
            if not isinstance(inner.op, Param | Const):
                _read(steps, inner)
        _check_results(steps)
        for k in range(len(loop.carries)):
            _check_carry(steps, steps.accesses.get(k, []))
    except Dependent:
        return None
    return steps


# --- one node


def _read(steps: Steps, node: Node) -> None:
    """Note what a node of the body does."""
    value, versions = node.values[0], steps.versions
    held = [n for n, a in enumerate(node.args) if a in versions]
    varies = any([a in steps.varying for a in node.args])
    if is_read(node) and (held or (varies and node.args[0] not in steps.varying)):
        _note(steps, Access(value, steps.plane_of(value)), versions.get(node.args[0], -1))
        steps.varying.update(node.values if steps.accesses[versions.get(node.args[0], -1)][-1].plane else ())
    elif held:
        _write(steps, node, held)
    elif varies:
        is_part = is_read(node) and not any([a in steps.varying for a in node.args[1:]])
        if not is_part and not is_plain(node):
            raise Dependent
        steps.varying.update(node.values)
    elif not (steps.count is None or is_plain(node) or _is_sure_read(steps, node)):
        raise Dependent  # it may fail, and there may be no steps


def _write(steps: Steps, node: Node, held: Sequence[int]) -> None:
    """Note a write to a carried array."""
    value, op = node.values[0], node.op
    k = steps.versions[node.args[held[0]]]
    if len(held) > 1:
        raise Dependent
    if isinstance(op, Add) and node.args[1 - held[0]].shape == value.shape:
        access = Access(value, None, is_write=True, adds=True)
    elif is_write(node) and held == [0]:
        adds = isinstance(op, AddSlice | AddBlock | ScatterAdd)
        access = Access(value, steps.plane_of(value), is_write=True, adds=adds)
    else:
        raise Dependent
    if access.plane is None and not (access.adds and any([a in steps.varying for a in node.args])):
        raise Dependent
    _note(steps, access, k)
    steps.versions[value] = k


def _note(steps: Steps, access: Access, k: int) -> None:
    """Note an access, all of whose places lie in the array."""
    steps.accesses.setdefault(k, []).append(access)
    box, plane = _box(access, steps.scene), access.plane
    if box is None:
        return
    if plane and not _fits(box[plane.axis], access.value.args[0].shape[plane.axis], steps.scene.facts):
        raise Dependent
    if steps.count is not None and not _is_sure(steps, access.value, box, plane):
        raise Dependent


def _is_sure_read(steps: Steps, node: Node) -> bool:
    return is_read(node) and _is_sure(steps, node.values[0], box_of_read(node.values[0], steps.scene), None)


def _is_sure(steps: Steps, value: Value, box: Box, plane: Plane | None) -> bool:
    """Whether a read or a write, its own plane apart, cannot fail even if there are no steps."""
    shape, facts = value.args[0].shape, steps.outside.facts
    axes = [n for n in range(len(box)) if (plane is None or n != plane.axis) and is_checked(value, n)]
    return all([_fits(box[n], shape[n], facts) for n in axes])


def _fits(places: tuple[Form, Form], extent: int, facts: Sequence[Form]) -> bool:
    """Whether places, from the least to the greatest, lie on an axis."""
    low, high = places
    return not is_possible([*facts, low * -1 - 1]) and not is_possible([*facts, high - extent])


# --- all of them


def _check_results(steps: Steps) -> None:
    """Raise Dependent unless carries end as versions of themselves, and other results are no versions."""
    body, numbers = steps.loop.body, {r: k for k, (_, r) in enumerate(steps.loop.carries)}
    for n, (result, kind) in enumerate(zip(body.results, steps.loop.outs, strict=True)):
        if kind not in ("last", "stack", "sum") or steps.versions.get(result, -1) != numbers.get(n, -1):
            raise Dependent


def _check_carry(steps: Steps, accesses: Sequence[Access]) -> None:
    """Raise Dependent if a step may need what another one writes to a carried array."""
    planes = {_key(a.plane) for a in accesses if a.is_write and a.plane}
    if len(planes) > 1:
        raise Dependent
    other = entered(steps.outside, steps.node, steps.loop, OTHER)
    facts = (*steps.scene.facts, *other.facts)
    loose = [a for a in accesses if not (a.plane and _key(a.plane) in planes) and not (a.is_write and not a.plane)]
    sums = [a for a in accesses if a.is_write and not a.plane]
    apart = [(a, b) for a in loose for b in accesses if b.is_write]
    apart += [(a, b) for a in sums for b in accesses if b not in sums and b not in loose]
    for a, b in apart:
        first, second = _box(a, steps.scene), _box(b, other)
        if first is None or second is None or can_meet(first, second, facts):
            raise Dependent


def _key(plane: Plane) -> object:
    return plane.axis, plane.factor, plane.start.start, frozenset(plane.start.terms.items())


def _box(access: Access, scene: Scene) -> Box | None:
    """The places of an access; None if they are all of the array."""
    if not access.is_write:
        return box_of_read(access.value, scene)
    return None if isinstance(access.value.op, Add) else box_of_write(access.value, scene)


# --- reads and writes at places


def is_plain(node: Node) -> bool:
    """Whether a node computes something of whole arrays, and cannot fail."""
    return isinstance(node.op, Elementwise | Movement | Iota | Reduction | Dot) and not hasattr(node.op, "failure")


def is_read(node: Node) -> bool:
    """Whether a node reads elements at places: a window, a block or one element."""
    op = node.op
    is_point = isinstance(op, Gather) and not op.shared and all([not i.shape for i in node.args[1:]])
    return is_point or isinstance(op, Slice) or (isinstance(op, ReadBlock) and not op.shared)


def is_write(node: Node) -> bool:
    """Whether a node writes elements at places: a window, a block or one element."""
    op = node.op
    if isinstance(op, ScatterSet | ScatterAdd):
        return not op.shared and all([not i.shape for i in node.args[1:-1]])
    return isinstance(op, UpdateSlice | AddSlice) or (isinstance(op, BlockWrite) and not op.shared)


def starts_of(value: Value) -> Iterator[tuple[Value, bool]]:
    """For each index of a read or a write that is a value: that, and whether one place of its axis is meant."""
    match value.op:
        case Gather():
            yield from ((i, True) for i in value.args[1:])
        case ScatterSet() | ScatterAdd():
            yield from ((i, True) for i in value.args[1:-1])
        case ReadBlock(shape=shape, step=step):
            rank = len(step)
            bounds = value.args[1:]
            yield from ((bounds[n], shape[n] == 1 and is_one(bounds[rank + n])) for n in range(rank))
        case BlockWrite(step=step):
            rank, bounds = len(step), value.args[2:]
            shape = value.args[1].shape
            yield from ((bounds[n], shape[n] == 1 and is_one(bounds[rank + n])) for n in range(rank))
        case _:
            return


def lengths_of(value: Value) -> Sequence[Value]:
    """The lengths of a block that is read or written."""
    match value.op:
        case ReadBlock(step=step) | BlockWrite(step=step):
            return value.args[len(value.args) - len(step) :]
        case _:
            return ()


def is_checked(value: Value, axis: int) -> bool:
    """Whether a read or a write fails where it lies outside its array along an axis."""
    lengths = lengths_of(value)
    return not lengths or isinstance(lengths[axis].op, Const)


def is_one(value: Value) -> bool:
    """Whether a value is the literal one."""
    return isinstance(value.op, Const) and value.op.value == 1
