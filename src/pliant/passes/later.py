"""Whether what was read in a step of some loops is still there when the loops have ended, or was there when they began.

The loops are inside each other and carry one array. Later than a read, or a write, in a step come: the
other writes of that step; for each of the loops, its later steps; and what its body writes after the
loop inside it. None of these may touch the places of the read, whatever the indices. Where a branch
writes, or reads, its condition is known to hold. If nothing that comes earlier touches them, what the loops
begin with holds the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final, final

from pliant.core.data import frozen
from pliant.core.ir import Function, Node, Value
from pliant.core.types import Type
from pliant.ops.compare import Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual
from pliant.ops.cond import Cond
from pliant.ops.loop import Loop
from pliant.passes.places import Box, Form, Scene, box_of_read, box_of_write, can_meet, form_of, is_possible

INDEX = Type("i64")
READ: Final = "read"  # the run of the loops in which the read is


class _Unknown(Exception):
    """An array is made in a way that is no list of writes."""


@final
@frozen
class Level:
    """A loop, in the body of the one at the level before."""

    node: Node
    loop: Loop

    @property
    def index(self) -> Value:
        """The number of the step."""
        return self.loop.body.params[0]

    def writes(self) -> Iterator[Value]:
        """The writes to what the loop carries, the last first."""
        for p, r in self.loop.carries:
            value = self.loop.body.results[r]
            while value is not self.loop.body.params[p]:
                if box_of_write(value, Scene(None)) is not None:
                    yield value
                value = _before(value) or self.loop.body.params[p]


def array_with(read: Value, version: Value, levels: Sequence[Level]) -> Value | None:
    """The array that the outermost loop ends with, or begins with, if it holds what `read` reads, or writes, at its
    places. What it begins with is kept for that, so all that the steps read is at least half as large.

    version: what the array is when it is read, or has been written, in a step of the innermost loop.
    """
    scene = scenes_of(levels)[-1]
    box = box_of_read(read, scene) if read is not version else box_of_write(read, scene)
    assert box is not None
    size = math.prod([level.loop.length for level in levels]) * read.type.bytes
    version, inside = _entering(version, levels)
    final = final_at(box, scene.facts, version, inside) if inside else None
    is_worth = read is not version and 2 * size >= version.type.bytes
    return start_at(box, scene.facts, version, inside) if inside and final is None and is_worth else final


def _entering(version: Value, levels: Sequence[Level]) -> tuple[Value, Sequence[Level]]:
    """What an array is in the loop where it changes, which hands it to those inside, and the loops down to that."""
    while levels:
        params, ins = levels[-1].loop.body.params[1:], levels[-1].loop.ins
        if version not in params or ins[params.index(version)] != "const":
            break
        version, levels = levels[-1].node.args[params.index(version)], levels[:-1]
    return version, levels


def final_at(box: Box, facts: Sequence[Form], version: Value, levels: Sequence[Level]) -> Value | None:
    """The array that the outermost loop ends with, if it holds what a version of it held at some places.

    facts: what is known of the step, in which the loops' indices are the variables of `scenes_of`.
    """
    carries = _carried(version, levels)
    if carries is None or not _is_untouched(box, facts, _spans(version, levels, carries, are_later=True)):
        return None
    return levels[0].node.values[carries[0][1]]


def start_at(box: Box, facts: Sequence[Form], version: Value, levels: Sequence[Level]) -> Value | None:
    """The array that the outermost loop begins with, if it holds what a version of it held at some places."""
    carries = _carried(version, levels)
    if carries is None or not _is_untouched(box, facts, _spans(version, levels, carries, are_later=False)):
        return None
    return levels[0].node.args[carries[0][0] - 1]


def _is_untouched(box: Box, facts: Sequence[Form], spans: Iterator[tuple[Scene, Value, Value]]) -> bool:
    """Whether no write between some versions of an array is at some places."""
    try:
        for scene, end, start in spans:
            for other, at in _writes(end, start, scene):
                written = box_of_write(other, at)
                if written is None or can_meet(box, written, (*facts, *at.facts)):
                    return False
    except _Unknown:
        return False
    return True


def scenes_of(levels: Sequence[Level]) -> list[Scene]:
    """What is known before some loops, and in a step of each."""
    scenes = [Scene(READ)]
    for level in levels:
        scenes.append(entered(scenes[-1], level.node, level.loop, READ))
    return scenes


def _carried(version: Value, levels: Sequence[Level]) -> list[tuple[int, int]] | None:
    """(parameter, result) of the array at each level, the outermost first."""
    found = list[tuple[int, int]]()
    for level in reversed(levels):
        pair = next((pair for pair in level.loop.carries if version in _versions(level.loop, pair)), None)
        if pair is None:
            return None
        found.append(pair)
        version = level.node.values[pair[1]]
    return found[::-1]


def _versions(loop: Loop, pair: tuple[int, int]) -> list[Value]:
    """The array before, between and after the writes of a step."""
    value: Value | None = loop.body.results[pair[1]]
    found = list[Value]()
    while value is not None:
        found.append(value)
        value = _before(value)
    return found if found[-1] is loop.body.params[pair[0]] else []


def _before(value: Value) -> Value | None:
    """What a value was before it was written, or a loop went over it; None if it is made otherwise."""
    if box_of_write(value, Scene(None)) is not None:
        return value.args[0]
    if isinstance(value.op, Loop) and value.op.outs[value.index] == "last":
        return value.args[_carry(value) - 1]
    if isinstance(value.op, Cond):
        starts = [_start(fn, value.index) for fn in value.op.branches]
        return value.args[1 + starts[0]] if starts[0] is not None and starts[0] == starts[1] else None
    return None


def _start(fn: Function, result: int) -> int | None:
    """The parameter that a result of a function is a version of."""
    value: Value | None = fn.results[result]
    while value is not None and value not in fn.params:
        value = _before(value)
    return None if value is None else fn.params.index(value)


def _carry(value: Value) -> int:
    """The parameter of the body of a loop that a last result comes from."""
    assert isinstance(value.op, Loop)
    return next(p for p, r in value.op.carries if r == value.index)


def has_versions(level: Level, value: Value) -> bool:
    """Whether a value is an array that a loop carries, before, between or after the writes of a step."""
    return any([value in _versions(level.loop, pair) for pair in level.loop.carries])


def entered(scene: Scene, node: Node, loop: Loop, run: object) -> Scene:
    """What is known in a step of a loop."""
    index, *params = loop.body.params
    variable = Form.of((run, index))
    known = {**scene.known, index: variable}
    facts = [*scene.facts, variable, Form(loop.length - 1) - variable]
    for p, a, kind in zip(params, node.args, loop.ins, strict=True):
        if kind in ("const", "count") and p.type == INDEX:
            known[p] = form_of(a, scene)
            if kind == "count":
                facts.append(known[p] - variable - 1)
    return Scene((run, node), known, tuple(facts))


def chosen(scene: Scene, node: Node, op: Cond, *, holds: bool) -> Scene:
    """What is known in a branch."""
    fn = op.then if holds else op.otherwise
    known = {p: form_of(a, scene) for p, a in zip(fn.params, node.args[1:], strict=True) if p.type == INDEX}
    facts = (*scene.facts, *_facts_where(node.args[0], scene, holds=holds))
    return Scene(scene.run, {**scene.known, **known}, facts)


def _facts_where(condition: Value, scene: Scene, *, holds: bool) -> tuple[Form, ...]:
    """Forms that are at least zero where a comparison of whole numbers holds, or where it does not."""
    if len(condition.args) != 2 or any([a.type != INDEX for a in condition.args]):
        return ()
    x, y = (form_of(a, scene) for a in condition.args)
    match condition.op, holds:
        case (Equal(), True) | (NotEqual(), False):
            return x - y, y - x
        case (Equal(), False) | (NotEqual(), True):
            ways = [a - b - 1 for a, b in ((x, y), (y, x)) if not is_possible([*scene.facts, b - a - 1])]
            return tuple(ways)
        case (Less(), True) | (GreaterEqual(), False):
            return (y - x - 1,)
        case (LessEqual(), True) | (Greater(), False):
            return (y - x,)
        case (Greater(), True) | (LessEqual(), False):
            return (x - y - 1,)
        case (GreaterEqual(), True) | (Less(), False):
            return (x - y,)
        case _:
            return ()


def _spans(
    version: Value, levels: Sequence[Level], carries: Sequence[tuple[int, int]], *, are_later: bool
) -> Iterator[tuple[Scene, Value, Value]]:
    """All that happens after the read, or before it: what is known then, and two versions between which the writes
    are."""
    scenes = scenes_of(levels)
    inside = [level.node.values[r] if are_later else level.node.args[p - 1]
              for level, (p, r) in zip(levels[1:], carries[1:], strict=True)]  # fmt: skip
    for depth, (level, (p, r), inner) in enumerate(zip(levels, carries, [*inside, version], strict=True)):
        before, after = level.loop.body.params[p], level.loop.body.results[r]
        yield (scenes[depth + 1], after, inner) if are_later else (scenes[depth + 1], inner, before)
        scene = entered(scenes[depth], level.node, level.loop, ("other", depth))
        step, now = scene.known[level.index], scenes[depth + 1].known[level.index]
        order = (step - now if level.loop.reverse != are_later else now - step) - 1
        yield Scene(scene.run, scene.known, (*scene.facts, order)), after, before


def _writes(end: Value, start: Value, scene: Scene) -> Iterator[tuple[Value, Scene]]:
    """The writes that make one version from another, those in loops included, and what is known there."""
    todo = [(end, start, scene)]
    while todo:
        value, first, scene = todo.pop()
        while value is not first:
            before = _before(value)
            if before is None:
                raise _Unknown
            if isinstance(value.op, Loop):
                inner = entered(scene, value.node, value.op, (scene.run, value.node))
                body = value.op.body
                todo.append((body.results[value.index], body.params[_carry(value)], inner))
            elif isinstance(value.op, Cond):
                for holds, fn in zip((True, False), value.op.branches, strict=True):
                    p, inside = _start(fn, value.index), chosen(scene, value.node, value.op, holds=holds)
                    assert p is not None
                    todo.append((fn.results[value.index], fn.params[p], inside))
            else:
                yield value, scene
            value = before
