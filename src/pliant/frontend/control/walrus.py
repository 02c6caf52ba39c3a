"""Names that are bound inside of expressions whose parts may wait, bound by functions instead.

any((last := v) > 5 for v in xs)         def bind(value):
                                             nonlocal last
                                             last = value; return value
                                         any(bind(v) > 5 for v in xs)
"""

from __future__ import annotations

import ast
from typing import Any, Final, final

from pliant.frontend.control import names
from pliant.frontend.control.names import BINDER, SCOPES
from pliant.frontend.control.syntax import definition, made_local, placed

VALUE: Final = "__pliant_value__"
_WAITING: Final = (ast.ListComp, ast.GeneratorExp, ast.BoolOp, ast.IfExp, ast.Compare)


@final
class Walruses(ast.NodeTransformer):
    """Rewrites the functions of a tree, each for itself."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        self.generic_visit(node)
        made = _Bindings(names.declared(node.body, ast.Global) | names.declared(node.body, ast.Nonlocal))
        body = [made.visit(statement) for statement in node.body]
        if made.bound:
            local = sorted(made.bound - names.parameters(node))
            head = made_local(local, node) if local else []
            node.body = [*head, *[_binder(name, node.body[0]) for name in sorted(made.bound)], *body]
        return node


@final
class _Bindings(ast.NodeTransformer):
    """Rewrites the expressions of one function; `bound` has the names."""

    def __init__(self, shared: set[str]) -> None:
        self.shared = shared
        self.bound: set[str] = set()
        self.depth = 0  # of expressions whose parts may wait

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, SCOPES):
            return node
        self.depth += isinstance(node, _WAITING)
        made = super().visit(node)
        self.depth -= isinstance(node, _WAITING)
        return made

    def visit_NamedExpr(self, node: ast.NamedExpr) -> Any:
        self.generic_visit(node)
        name = node.target.id
        if not self.depth or name in self.shared:
            return node
        self.bound.add(name)
        return placed(ast.Call(placed(ast.Name(f"{BINDER}{name}__", ast.Load()), node), [node.value], []), node)


def _binder(name: str, at: ast.AST) -> ast.stmt:
    """The function that binds a name, and returns what it binds it to."""
    value = placed(ast.Name(VALUE, ast.Load()), at)
    body: list[ast.stmt] = [
        placed(ast.Nonlocal([name]), at),
        placed(ast.Assign([placed(ast.Name(name, ast.Store()), at)], value), at),
        placed(ast.Return(value), at),
    ]
    return definition(f"{BINDER}{name}__", body, at, VALUE)


def binds(node: ast.AST) -> bool:
    """Whether an expression binds names in this way."""
    return any(isinstance(part, ast.Name) and part.id.startswith(BINDER) for part in ast.walk(node))
