"""Conditions, comparisons and comprehensions in expressions as calls, whose parts are evaluated where Python would.

y = a if p and q else b        y = choose(both(p, lambda: q), lambda: a, lambda: b)
s = sum(f(x) for x in xs)      s = reduced(sum, False, 1, each(xs), lambda items: ((True, lambda: f(x)) for x in items))
"""

from __future__ import annotations

import ast
from collections.abc import Set
from typing import Any, Final, Protocol, cast, final

from pliant.frontend.control.calls import goes_over, is_fold, makes_iterator, may_change
from pliant.frontend.control.names import Function
from pliant.frontend.control.syntax import asking, calling, may_be_objects, may_wait, placed, strings, thunk
from pliant.frontend.control.walrus import binds

ITEM: Final = "__pliant_element__"
_ASKED: Final = (ast.In, ast.NotIn, ast.Is, ast.IsNot)


class Scope(Protocol):
    """The function that an expression is in."""

    @property
    def locals(self) -> Set[str]:
        """The names that it binds."""
        ...

    @property
    def first(self) -> str:
        """Its first parameter; "" if it has none."""
        ...

    def inside(self, node: Function) -> Function:
        """A function inside of it, rewritten."""
        ...


@final
class Expressions(ast.NodeTransformer):
    """Rewrites the expressions of one function."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        return self.scope.inside(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        self.generic_visit(node)
        *first, made = node.values
        for value in reversed(first):
            if not may_wait(made):
                return node
            made = calling("both" if isinstance(node.op, ast.And) else "either", node, value, thunk(made))
        return made

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        if isinstance(node.op, ast.Not):
            node.operand = asking(node.operand)
        self.generic_visit(node)
        return calling("negated", node, node.operand) if isinstance(node.op, ast.Not) else node

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        node.test = asking(node.test)
        self.generic_visit(node)
        if not may_wait(node.body) or not may_wait(node.orelse):
            return node
        return calling("choose", node, node.test, thunk(node.body), thunk(node.orelse))

    def visit_Compare(self, node: ast.Compare) -> Any:
        self.generic_visit(node)
        is_single = len(node.ops) == 1 and not isinstance(node.ops[0], _ASKED) and not may_be_objects(node)
        if is_single or not all(map(may_wait, node.comparators)):
            return node
        kinds = strings([type(op).__name__ for op in node.ops], node)
        return calling("compare", node, kinds, node.left, *map(thunk, node.comparators))

    def visit_ListComp(self, node: ast.ListComp) -> Any:
        if not may_wait(node):
            return self.generic_visit(node)
        return calling("listed", node, *self.clauses(node))

    def clauses(self, node: ast.ListComp | ast.GeneratorExp) -> tuple[ast.expr, ast.expr, ast.expr]:
        """How many clauses there are, what the first goes over, and the first."""
        made = self.visit(node.elt)
        whole: Any = None
        for clause in reversed(node.generators):
            tests = [self.visit(asking(test)) for test in clause.ifs] or [placed(ast.Constant(True), node)]
            test = tests.pop()
            for other in reversed(tests):
                test = calling("both", node, other, thunk(test))
            pair = placed(ast.Tuple([test, thunk(made)], ast.Load()), node)
            item = placed(ast.Name(ITEM, ast.Load()), node)
            each = placed(ast.GeneratorExp(pair, [ast.comprehension(clause.target, item, [], 0)]), node)
            walked = calling("each", node, self.iterated(clause.iter), ast.Constant(True))
            whole = walked, thunk(each, ITEM)
            made = placed(ast.Tuple([*whole], ast.Load()), node)
        return placed(ast.Constant(len(node.generators)), node), *whole

    def visit_Call(self, node: ast.Call) -> Any:
        if is_fold(node, self.scope.locals):
            generator, *more = node.args
            lazy = True if binds(generator) else None if may_change(generator) else False
            parts = self.clauses(cast("Any", generator))
            is_lone = isinstance(generator, ast.GeneratorExp) and not more and not node.keywords
            if is_lone and cast("Any", node.func).id in ("any", "all"):
                return calling("searched", node, node.func, *parts, placed(ast.Constant(lazy), node))
            is_list = placed(ast.Constant(isinstance(generator, ast.ListComp)), node)
            made = calling("reduced", node, node.func, is_list, *parts, *(self.visit(a) for a in more))
            made.keywords = self.keywords(node)
            return made
        if goes_over(node, self.scope.locals):
            node.args = [self.iterated(node.args[0])]
            node.keywords = self.keywords(node)
            return node
        self.generic_visit(node)
        is_super = isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args
        if is_super and self.scope.first and "super" not in self.scope.locals:
            node.args = [placed(ast.Name(n, ast.Load()), node) for n in ("__class__", self.scope.first)]
        return node

    def iterated(self, node: ast.expr) -> ast.expr:
        """What a loop iterates over, with ranges and the like kept as such."""
        if makes_iterator(node, self.scope.locals):
            assert isinstance(node, ast.Call)
            made = calling("items", node, self.visit(node.func), *(self.iterated(a) for a in node.args))
            made.keywords = self.keywords(node)
            return made
        if isinstance(node, ast.Starred):
            return placed(ast.Starred(calling("each", node, self.visit(node.value)), ast.Load()), node)
        return self.visit(node)

    def keywords(self, node: ast.Call) -> list[ast.keyword]:
        """The keyword arguments of a call, rewritten."""
        return [placed(ast.keyword(k.arg, self.visit(k.value)), k) for k in node.keywords]
