"""Statements as simpler ones, before loops and branches become calls.

(ups if c else downs).append(x)        if c: ups.append(x)
                                       else: downs.append(x)
eval("a * x")                          a * x
"""

from __future__ import annotations

import ast
import copy
from typing import final

from pliant.frontend.control.lifted import Lifts
from pliant.frontend.control.matching import Matches
from pliant.frontend.control.names import Function
from pliant.frontend.control.pushing import Generators
from pliant.frontend.control.syntax import may_wait
from pliant.frontend.control.walrus import Walruses


def simplify(node: Function) -> None:
    """Replace the statements of a function."""
    if not _binds_eval(node):
        Texts().visit(node)
    Lifts(node).visit(node)
    Generators().visit(node)
    Receivers().visit(node)
    Matches().visit(node)
    Walruses().visit(node)


def _binds_eval(node: Function) -> bool:
    """Whether a function gives `eval` another meaning."""
    named = [getattr(n, "name", None) or getattr(n, "arg", None) for n in ast.walk(node)]
    stored = [n.id for n in ast.walk(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)]
    return "eval" in (*named, *stored)


@final
class Texts(ast.NodeTransformer):
    """Expressions that are written as text, and bind no names: what Python makes of them."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """A call of `eval` with a text."""
        self.generic_visit(node)
        match node:
            case ast.Call(func=ast.Name(id="eval"), args=[ast.Constant(value=str() as text)], keywords=[]):
                made = _parsed(text)
            case _:
                return node
        if made is None or not may_wait(made):
            return node
        for part in ast.walk(made):
            ast.copy_location(part, node)
        return made


def _parsed(text: str) -> ast.expr | None:
    """The expression that a text is; None if it is none, which is an error where it is evaluated."""
    try:
        return ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        return None


@final
class Receivers(ast.NodeTransformer):
    """Methods of one of two objects that are called for what they do: an `if` says which."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        """A call whose result nobody uses."""
        self.generic_visit(node)
        match node.value:
            case ast.Call(func=ast.Attribute(value=ast.IfExp() as choice)) as call:
                sides = [self._called(node, call, x) for x in (choice.body, choice.orelse)]
                return self.visit(ast.copy_location(ast.If(choice.test, [sides[0]], [sides[1]]), node))
            case _:
                return node

    def _called(self, node: ast.Expr, call: ast.Call, receiver: ast.expr) -> ast.Expr:
        """The statement, with another object."""
        assert isinstance(call.func, ast.Attribute)
        method = ast.copy_location(ast.Attribute(receiver, call.func.attr, ast.Load()), call.func)
        rest = copy.deepcopy((call.args, call.keywords))
        return ast.copy_location(ast.Expr(ast.copy_location(ast.Call(method, *rest), call)), node)
