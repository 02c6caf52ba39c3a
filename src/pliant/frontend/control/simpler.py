"""Statements as simpler ones, before loops and branches become calls.

(ups if c else downs).append(x)        if c: ups.append(x)
                                       else: downs.append(x)
"""

from __future__ import annotations

import ast
import copy
from typing import final

from pliant.frontend.control.matching import Matches
from pliant.frontend.control.names import Function
from pliant.frontend.control.walrus import Walruses


def simplify(node: Function) -> None:
    """Replace the statements of a function."""
    Receivers().visit(node)
    Matches().visit(node)
    Walruses().visit(node)


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
