"""Local names that a function may read where they have no value: each read asks what the name is bound to.

def f(x, n):                        def f(x, n):
    for i in range(n):                  y = unset("y")
        y = x * i                       …
    return y                            return bound(y)
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, cast, final

from pliant.frontend.control import names
from pliant.frontend.control.syntax import calling, placed


def unsure(node: ast.FunctionDef) -> set[str]:
    """The names of a function that it may read before it binds them, and that no function inside shares."""
    body: Sequence[ast.AST] = node.body
    known = names.parameters(node)  # which may be deleted
    mine = names.bound(body) - names.declared(body, ast.Global) - names.declared(body, ast.Nonlocal)
    read = names.read_first(body, known) & mine
    if not read:
        return read
    other = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and hasattr(n, "is_inner")}
    users = [n for n in body if not (isinstance(n, ast.FunctionDef) and n.name.startswith(names.BINDER))]
    return read - names.captured(users) - other


def unset(name: str, at: ast.AST) -> ast.stmt:
    """The statement that says that a name has no value yet."""
    made = calling("unset", at, ast.Constant(name))
    return placed(ast.Assign([placed(ast.Name(name, ast.Store()), at)], made), at)


def ask(body: list[ast.stmt], unsure: set[str]) -> list[ast.stmt]:
    """Statements whose reads of some names ask for their values."""
    asking = _Asking(unsure)
    return [part for node in body for part in asking.of(node)]


@final
class _Asking(ast.NodeTransformer):
    """Rewrites reads of names."""

    def __init__(self, names: set[str]) -> None:
        self.names = names
        self.is_in_loop = False

    def of(self, node: ast.stmt) -> list[ast.stmt]:
        """A statement, rewritten, and what has to come before it."""
        made: Any = self.visit(node)
        return cast("list[ast.stmt]", made) if isinstance(made, list) else [made]

    def visit(self, node: ast.AST) -> Any:
        return node if isinstance(node, names.SCOPES) else super().visit(node)

    def visit_For(self, node: ast.For | ast.While) -> Any:
        before, self.is_in_loop = self.is_in_loop, True
        self.generic_visit(node)
        self.is_in_loop = before
        return node

    visit_While = visit_For

    def visit_Name(self, node: ast.Name) -> Any:
        if node.id not in self.names or not isinstance(node.ctx, ast.Load):
            return node
        return calling("bound", node, node)

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        self.generic_visit(node)
        target = node.target
        if not isinstance(target, ast.Name) or target.id not in self.names:
            return node
        read = self.read(target.id, node)
        return [placed(ast.Assign([placed(ast.Name(target.id, ast.Store()), node)], read), node), node]

    def visit_Delete(self, node: ast.Delete) -> Any:
        self.generic_visit(node)
        made: list[ast.stmt] = []
        for target in node.targets:
            if isinstance(target, ast.Name) and target.id in self.names:
                read = self.read(target.id, node)
                if not self.is_in_loop:  # nobody needs the value; in a loop the next step asks for the flag
                    read.args[0].is_inner = True  # type: ignore[attr-defined]
                made += [placed(ast.Expr(read), node), unset(target.id, node)]
            else:
                made.append(placed(ast.Delete([target]), node))
        return made

    def read(self, name: str, at: ast.AST) -> ast.Call:
        """A read of a name."""
        return calling("bound", at, placed(ast.Name(name, ast.Load()), at))
