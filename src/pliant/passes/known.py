"""Passes that change the functions which a primitive holds, by what is known inside each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pliant.core.inner import map_functions
from pliant.core.ir import Function, Node, Op
from pliant.ops.cond import Cond
from pliant.ops.loop import Loop
from pliant.passes.later import chosen, entered
from pliant.passes.places import Scene


def changed(node: Node, scene: Scene, change: Callable[[Function, Scene | None], Function]) -> Op:
    """A primitive with the functions that it holds changed, or itself. scene: what is known of the node."""

    def anywhere(fn: Function) -> Function:
        return change(fn, None)

    match node.op:
        case Loop() as op:
            body = change(op.body, entered(scene, node, op, op))
            return op if body is op.body else replace(op, body=body)
        case Cond() as op:
            then = change(op.then, chosen(scene, node, op, holds=True))
            otherwise = change(op.otherwise, chosen(scene, node, op, holds=False))
            return op if then is op.then and otherwise is op.otherwise else Cond(then, otherwise)
        case op:
            return map_functions(op, anywhere)
