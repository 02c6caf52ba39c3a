"""Stacks of whole arrays, of which later loops read only what the array still holds in the end, are not made.

A step that reads an array in a branch, or in a loop of its own, has the array itself among what its
derivative needs: `stack %x`, a copy for each step. If what is read of these copies is not written over
later, the array that the loop ends with holds it too, at every step; if it was not written before, the one that
the loop begins with does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import cast

from pliant.core.ir import Function, Node, Value
from pliant.ops.block import ReadBlock
from pliant.ops.cond import Cond
from pliant.ops.index import Gather
from pliant.ops.loop import Loop
from pliant.ops.loop_form import In
from pliant.ops.shape import Slice
from pliant.passes.later import READ, Level, chosen, entered, final_at, has_versions, scenes_of, start_at
from pliant.passes.places import Scene, box_of_read
from pliant.transforms.replace import replaced_in


class _Unknown(Exception):
    """An array is used otherwise than by reads at places."""


def without_copies(fn: Function) -> Function:
    """`fn` with such stacks replaced, in the loops that read them, by the array itself."""
    found = {n: slots for n in fn.nodes if (slots := _slots(n))}

    def rule(node: Node, env: dict[Value, Value]) -> tuple[Value, ...] | None:
        if node not in found:
            return None
        arrays, op = found[node], node.op
        assert isinstance(op, Loop)
        ins = tuple([cast("In", "const") if n in arrays else kind for n, kind in enumerate(op.ins)])
        return replace(op, ins=ins).apply(*(env[arrays.get(n, a)] for n, a in enumerate(node.args)))

    return replaced_in(fn, rule) if found else fn


def _slots(node: Node) -> dict[int, Value]:
    """The operands of a loop that are stacks of versions of an array, and the array to read instead."""
    found = dict[int, Value]()
    for n, (a, kind) in enumerate(zip(node.args, node.op.ins, strict=True) if isinstance(node.op, Loop) else ()):
        array = _array(node, n) if kind == "each" and isinstance(a.op, Loop) else None
        if array is not None:
            found[n] = array
    return found


def _array(node: Node, n: int) -> Value | None:
    """The array whose elements are those that a loop reads of its n-th operand, a stack."""
    loop, stack = node.op, node.args[n]
    assert isinstance(loop, Loop)
    assert isinstance(stack.op, Loop)
    level, version = Level(stack.node, stack.op), stack.op.body.results[stack.index]
    is_same = stack.op.outs[stack.index] == "stack" and loop.length == level.loop.length
    if not is_same or _count(node) is not _count(stack.node) or not has_versions(level, version):
        return None
    try:
        reads = list(_reads(loop.body, loop.body.params[n + 1], _scene(node, loop, level)))
    except _Unknown:
        return None
    for array_at in (final_at, start_at):
        found = {array_at(box_of_read(read, at), at.facts, version, (level,)) for read, at in reads}
        if len(found) == 1 and None not in found:
            return found.pop()
    return None


def _scene(node: Node, loop: Loop, made: Level) -> Scene:
    """What is known in a step of a loop that goes with the step of the same number of the one before."""
    before, scene = scenes_of((made,))[-1], entered(Scene(READ), node, loop, READ)
    known = {**scene.known, loop.body.params[0]: before.known[made.index]}
    return Scene(scene.run, known, (*scene.facts, *before.facts))


def _count(node: Node) -> Value | None:
    """What says how many steps a loop runs; None if all."""
    loop = node.op
    assert isinstance(loop, Loop)
    return node.args[loop.ins.index("count")] if "count" in loop.ins else None


def _reads(fn: Function, param: Value, scene: Scene) -> Iterator[tuple[Value, Scene]]:
    """All reads of a parameter, in loops and branches too, and what is known there."""
    if param in fn.results:
        raise _Unknown
    for node in fn.nodes:
        for n, a in enumerate(node.args):
            if a is not param:
                continue
            match node.op:
                case Slice() | Gather() | ReadBlock() if n == 0:
                    yield node.values[0], scene
                case Loop() as op if op.ins[n] == "const":
                    yield from _reads(op.body, op.body.params[n + 1], entered(scene, node, op, READ))
                case Cond() as op if n:
                    for holds, side in zip((True, False), op.branches, strict=True):
                        yield from _reads(side, side.params[n - 1], chosen(scene, node, op, holds=holds))
                case _:
                    raise _Unknown
