"""Generators whose conditions may be known only at run time, as functions that are given what a loop does with each
element.

def positive(xs):                       def positive(xs):
    for x in xs:                            def plain(): … as it is …
        if x > 0:                           def push(emit):
            yield x                             for x in xs:
                                                    if x > 0: emit(x)
                                            return pushed(plain, push, …)

Where a loop goes over it, its body is `emit`: what the generator and the loop do comes in the order in which Python
does it, and conditions around a `yield` are those around a call. If the loop may be left, it is `if emit(x): return`.
"""

from __future__ import annotations

import ast
import copy
from typing import Any, Final, final

from pliant.frontend.control import names
from pliant.frontend.control.syntax import calling, definition, placed

PLAIN: Final = "__pliant_block_plain__"  # named as blocks are: they are parts of the generator
PUSH: Final = "__pliant_block_push__"
UNTIL: Final = "__pliant_block_push_until__"
EMIT: Final = "__pliant_emit__"
_KEPT: Final = (ast.Try, ast.With, ast.Match, ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom)


@final
class Generators(ast.NodeTransformer):
    """Rewrites the generators of a tree."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        self.generic_visit(node)
        if not _is_pushed(node):
            return node
        shared = sorted(names.parameters(node) & names.bound(node.body))
        head: list[ast.stmt] = [placed(ast.Nonlocal(shared), node.body[0])] if shared else []
        made = [definition(PLAIN, [*head, *node.body], node, None)]
        for name, may_end in ((PUSH, False), (UNTIL, True)):
            emits = _Emits(may_end=may_end)
            body = [emits.visit(statement) for statement in copy.deepcopy(node.body)]
            made.append(definition(name, [*copy.deepcopy(head), *body], node, EMIT))
        functions = [placed(ast.Name(part.name, ast.Load()), node) for part in made]
        node.body = [*made, placed(ast.Return(calling("pushed", node, *functions)), node)]
        return node


@final
class _Emits(ast.NodeTransformer):
    """Calls in place of `yield`. may_end: whether they say that the loop was left."""

    def __init__(self, *, may_end: bool) -> None:
        self.may_end = may_end

    def visit(self, node: ast.AST) -> Any:
        return node if isinstance(node, names.SCOPES) else super().visit(node)

    def visit_Expr(self, node: ast.Expr) -> Any:
        match node.value:
            case ast.Yield(value):
                made = value or placed(ast.Constant(None), node)
                return self.emitted(made, node)
            case ast.YieldFrom(value):
                item = f"{EMIT}item"
                loop = ast.For(placed(ast.Name(item, ast.Store()), node), value, [
                    self.emitted(placed(ast.Name(item, ast.Load()), node), node)
                ], [])  # fmt: skip
                return placed(loop, node)
            case _:
                return node

    def emitted(self, value: ast.expr, at: ast.Expr) -> ast.stmt:
        """The statement that hands a value on."""
        emit = placed(ast.Name(EMIT, ast.Load()), at)
        call = calling("emitted", at, emit, value)
        return placed(ast.If(call, [placed(ast.Return(None), at)], []) if self.may_end else ast.Expr(call), at)


def _is_pushed(node: ast.FunctionDef) -> bool:
    """Whether a function is a generator that does nothing but to hand on values, one by one."""
    parts = [*names.own(node.body)]
    yields = [part for part in parts if isinstance(part, ast.Yield | ast.YieldFrom)]
    stated = [part.value for part in parts if isinstance(part, ast.Expr)]
    if not yields or not all([any([part is value for value in stated]) for part in yields]):
        return False
    if any([isinstance(part, (*_KEPT, ast.Await, ast.AsyncFor, ast.AsyncWith)) for part in parts]):
        return False
    return not any([isinstance(part, ast.Name) and part.id in ("super", "__class__") for part in parts])
