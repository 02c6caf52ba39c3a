"""`try` statements in a user's source: which of two ways they go is asked first.

if may_fail(body):              something that a handler catches may be raised at run time: see `attempts`
    attempt(...)
else:                           Python's own statement: what is raised while tracing is raised for sure
    try: ...
"""

from __future__ import annotations

import ast
import copy
from typing import Any, Final, final

from pliant.frontend.control.syntax import calling, placed, thunk

ERROR: Final = "__pliant_error__"
"""What the block of a handler calls the exception."""

_WAY: Final = "pliant_way"


def as_try(node: ast.stmt) -> ast.stmt:
    """`with suppress(E)` as a `try` whose handler does nothing; any other statement as it is."""
    call = node.items[0].context_expr if isinstance(node, ast.With) and len(node.items) == 1 else None
    if not isinstance(node, ast.With) or not isinstance(call, ast.Call) or call.keywords:
        return node
    name = call.func.id if isinstance(call.func, ast.Name) else ast.unparse(call.func)
    if name not in ("suppress", "contextlib.suppress"):
        return node
    kinds = placed(ast.Tuple(call.args, ast.Load()), node)
    handler = placed(ast.ExceptHandler(kinds, None, [placed(ast.Pass(), node)]), node)
    return placed(ast.Try(node.body, [handler], [], []), node)


def is_undecided(node: ast.Try) -> bool:
    """Whether nobody has asked yet which way a statement goes."""
    return bool(node.handlers) and not hasattr(node, _WAY)


def is_attempt(node: ast.AST) -> bool:
    """Whether it is a statement of which something may fail at run time."""
    return getattr(node, _WAY, "") == "attempt"


def decided(node: ast.Try, body: ast.expr) -> ast.If:
    """Both ways, by what happens in the body, which is the block of a function."""
    asked = placed(ast.Tuple([thunk(caught_by(copy.deepcopy(h))) for h in node.handlers], ast.Load()), node)
    attempt: Any = copy.deepcopy(node)
    attempt.pliant_way, attempt.finalbody = "attempt", []
    whole = placed(ast.Try([attempt], [], [], node.finalbody), node) if node.finalbody else attempt
    plain: Any = copy.deepcopy(node)
    plain.pliant_way = "plain"
    return placed(ast.If(calling("may_fail", node, asked, body), [whole], [plain]), node)


def caught_by(handler: ast.ExceptHandler) -> ast.expr:
    """What a handler catches."""
    return handler.type or placed(ast.Name("BaseException", ast.Load()), handler)


def handling(handler: ast.ExceptHandler) -> list[ast.stmt]:
    """The body of a handler, to which the exception is given."""
    error = placed(ast.Name(ERROR, ast.Load()), handler)
    bound: list[ast.stmt] = []
    if handler.name is not None:
        bound = [placed(ast.Assign([placed(ast.Name(handler.name, ast.Store()), handler)], error), handler)]
    return [*bound, *[_Again().visit(statement) for statement in handler.body]]


@final
class _Again(ast.NodeTransformer):
    """Has a `raise` of nothing name the exception that is handled."""

    def visit_Raise(self, node: ast.Raise) -> Any:
        if node.exc is None:
            node.exc = placed(ast.Name(ERROR, ast.Load()), node)
        return node

    def visit_Try(self, node: ast.Try) -> Any:
        node.body = [self.visit(statement) for statement in node.body]  # its handlers have exceptions of their own
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        return node
