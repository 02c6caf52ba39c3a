"""Generator expressions that a `for` goes over, or of which `next` takes the first, as generators: see `pushing`.

for w in (f(v) for v in xs if v > 0):       def each(items):
    …                                           for v in items:
                                                    if v > 0: yield f(v)
                                            for w in each(xs): …
k = next((i for i in r if p(i)), None)      k = first_of(each(r), None)
"""

from __future__ import annotations

import ast
from typing import Any, Final, final

from pliant.frontend.control.names import SCOPES
from pliant.frontend.control.syntax import calling, definition, may_wait, placed

_EACH: Final = "__pliant_each_"
_ITEMS: Final = "__pliant_items__"
_SCOPES: Final = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.ClassDef)


@final
class Lifts(ast.NodeTransformer):
    """Rewrites the statements of a tree."""

    def __init__(self, node: ast.AST) -> None:
        self.made: list[ast.stmt] = []  # before the statement at hand
        self.count = 0
        bound = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
        self.has_next = "next" not in bound | {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)}

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, _SCOPES):
            return node
        if not isinstance(node, ast.stmt) or isinstance(node, SCOPES):
            return super().visit(node)
        before, self.made = self.made, list[ast.stmt]()
        made = super().visit(node)
        found, self.made = self.made, before
        return [*found, made] if found else made

    def visit_For(self, node: ast.For) -> Any:
        if isinstance(node.iter, ast.GeneratorExp):
            node.iter = self.lifted(node.iter)
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        match node:
            case ast.Call(ast.Name("next"), [ast.GeneratorExp() | ast.Call() as first, *default], []):
                if self.has_next and len(default) < 2 and all(map(may_wait, default)):
                    made = self.lifted(first) if isinstance(first, ast.GeneratorExp) else first
                    return node if isinstance(made, ast.GeneratorExp) else calling("first_of", node, made, *default)
            case _:
                pass
        return node

    def lifted(self, node: ast.GeneratorExp) -> ast.expr:
        """The call of a generator that is put before the statement."""
        if not may_wait(node) or any([clause.is_async for clause in node.generators]):
            return node
        body: ast.stmt = placed(ast.Expr(placed(ast.Yield(node.elt), node)), node)
        for n, clause in reversed([*enumerate(node.generators)]):
            for test in reversed(clause.ifs):
                body = placed(ast.If(test, [body], []), node)
            over = clause.iter if n else placed(ast.Name(_ITEMS, ast.Load()), node)
            body = placed(ast.For(clause.target, over, [body], []), node)
        self.count += 1
        name = f"{_EACH}{self.count}__"
        self.made.append(definition(name, [body], node, _ITEMS))
        first = node.generators[0].iter
        return placed(ast.Call(placed(ast.Name(name, ast.Load()), node), [first], []), node)
