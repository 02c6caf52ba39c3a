"""Pieces of syntax that rewritten functions are put together from; each has the place of what it replaces."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Sequence
from typing import Any, Final

COMPARISONS: Final = {"Lt": "lt", "LtE": "le", "Gt": "gt", "GtE": "ge", "Eq": "eq", "NotEq": "ne"}
"""The operators of objects, by the names that Python's syntax trees have for them."""

THUNK: Final = "__pliant_thunk__"  # a default argument that marks the lambdas made here


def runtime(name: str) -> str:
    """The name of a free variable of rewritten code, which holds what that calls."""
    return f"__pliant_{name}__"  # ends so that it is not mangled inside classes


def definition(name: str, body: list[ast.stmt], at: ast.AST, argument: str | None) -> ast.FunctionDef:
    """A function of no arguments, or one."""
    args = [placed(ast.arg(argument), at)] if argument else []
    made = placed(ast.FunctionDef(name, ast.arguments([], args, None, [], [], None, []), body, []), at)
    made.type_params = []  # type: ignore[attr-defined]
    return made


def may_wait(node: ast.expr) -> bool:
    """Whether an expression may be evaluated in a function of its own: it binds no name."""
    return not any(isinstance(n, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom) for n in ast.walk(node))


def may_be_objects(node: ast.Compare) -> bool:
    """Whether it may be two lists, tuples or texts that are asked whether they are equal."""
    sides = [node.left, *node.comparators]
    is_plain = any([isinstance(x, ast.UnaryOp | ast.JoinedStr | ast.Compare) or _is_number(x) for x in sides])
    return isinstance(node.ops[0], ast.Eq | ast.NotEq) and not is_plain


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and not isinstance(node.value, str | bytes)


def is_pure(node: ast.expr) -> bool:
    """Whether an expression may be evaluated twice: nothing of the user's is called to read an attribute or item."""
    allowed = (
        ast.Name, ast.Constant, ast.Slice, ast.Tuple, ast.UnaryOp, ast.BinOp, ast.operator, ast.unaryop,
        ast.expr_context,
    )  # fmt: skip
    return all(isinstance(n, allowed) for n in ast.walk(node))


def thunk(node: ast.expr, *names: str) -> ast.expr:
    """`lambda *names: node`, marked as one that is not the user's."""
    given = [placed(ast.arg(name), node) for name in (*names, THUNK)]
    args = ast.arguments([], given, None, [], [], None, [placed(ast.Constant(None), node)])
    return placed(ast.Lambda(args, node), node)


def asking(node: ast.expr) -> ast.expr:
    """An expression that is asked for its truth only: what may be a list is asked whether it has elements, what may be
    an array of one element for that one."""
    match node:
        case ast.BoolOp():
            node.values = [asking(value) for value in node.values]
        case ast.Name() | ast.Attribute() | ast.Subscript() | ast.Call() | ast.Compare() | ast.BinOp():
            return calling("asked", node, node)
        case _:
            pass
    return node


def without_numbers(node: ast.expr) -> ast.expr:
    """A copy of an expression whose f-strings show nothing but what is text."""

    class Texts(ast.NodeTransformer):
        def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
            parts = [part.value if isinstance(part, ast.Constant) else "…" for part in node.values]
            return placed(ast.Constant("".join(map(str, parts))), node)

    return Texts().visit(copy.deepcopy(node))


def raising(node: ast.Assert) -> ast.If:
    """An `assert` as what it does."""
    error: ast.expr = placed(ast.Name("AssertionError", ast.Load()), node)
    if node.msg is not None:
        error = placed(ast.Call(error, [node.msg], []), node)
    test = placed(ast.UnaryOp(ast.Not(), node.test), node.test)
    return placed(ast.If(test, [placed(ast.Raise(error, None), node)], []), node)


def made_local(missing: Sequence[str], at: Any) -> list[ast.stmt]:
    """A statement that is never run, and makes names local to the function."""
    first = at.body[0]
    targets: list[ast.expr] = [placed(ast.Name(name, ast.Store()), first) for name in missing]
    bind = placed(ast.Assign(targets, placed(ast.Constant(None), first)), first)
    return [placed(ast.If(placed(ast.Constant(False), first), [bind], []), first)]


def strings(parts: Iterable[str], at: ast.AST) -> ast.expr:
    """A tuple of strings."""
    order = sorted(parts) if isinstance(parts, set) else parts
    return placed(ast.Tuple([placed(ast.Constant(p), at) for p in order], ast.Load()), at)


def calling(name: str, at: ast.AST, *args: ast.expr) -> ast.Call:
    """A call of what the runtime gives."""
    given = [a if hasattr(a, "lineno") else placed(a, at) for a in args]
    return placed(ast.Call(placed(ast.Name(runtime(name), ast.Load()), at), given, []), at)


def telling(name: str, names: Sequence[str], at: ast.AST) -> list[ast.stmt]:
    """A statement that tells the runtime about names, which are free in a function that it is given; none of none."""
    held = placed(ast.Tuple([placed(ast.Name(n, ast.Load()), at) for n in names], ast.Load()), at)
    return [placed(ast.Expr(calling(name, at, strings(names, at), thunk(held))), at)] if names else []


def placed(node: Any, place: Any) -> Any:
    """A node at the place of another."""
    return ast.copy_location(node, place)
