"""`match` statements as `if` statements, where the patterns are values, alternatives of them, and names.

match k % 3:                     subject = k % 3
    case 0 | 1: a                if subject == 0 or subject == 1: a
    case n if n > c: b           else:
    case _: d                        n = subject
                                     if n > c: b
                                     else: d
"""

from __future__ import annotations

import ast
from typing import Any, Final, final

from pliant.frontend.control.syntax import placed

SUBJECT: Final = "__pliant_subject_"


@final
class Matches(ast.NodeTransformer):
    """Rewrites the statements that hold simple patterns only; others stay as they are."""

    def __init__(self) -> None:
        self.count = 0

    def visit_Match(self, node: ast.Match) -> Any:
        self.generic_visit(node)
        if not all([is_simple(case.pattern) for case in node.cases]):
            return node
        self.count += 1
        name = f"{SUBJECT}{self.count}__"
        chain = self.chain(node.cases, name)
        store = placed(ast.Assign([placed(ast.Name(name, ast.Store()), node.subject)], node.subject), node.subject)
        return [store, *chain]

    def chain(self, cases: list[ast.match_case], name: str) -> list[ast.stmt]:
        """What the cases do, the first that fits."""
        if not cases:
            return []
        first, rest = cases[0], self.chain(cases[1:], name)
        subject = placed(ast.Name(name, ast.Load()), first.pattern)
        if not isinstance(first.pattern, ast.MatchAs):
            test = _test(first.pattern, subject)
            if first.guard is not None:
                test = placed(ast.BoolOp(ast.And(), [test, first.guard]), first.pattern)
            return [placed(ast.If(test, first.body, rest), first.pattern)]
        bound: list[ast.stmt] = []
        if first.pattern.name is not None:
            target = placed(ast.Name(first.pattern.name, ast.Store()), first.pattern)
            bound = [placed(ast.Assign([target], subject), first.pattern)]
        if first.guard is None:
            return [*bound, *first.body]
        return [*bound, placed(ast.If(first.guard, first.body, rest), first.pattern)]


def is_simple(pattern: ast.pattern) -> bool:
    """Whether a pattern is a value, alternatives of values, or fits everything."""
    if isinstance(pattern, ast.MatchOr):
        return all([isinstance(p, ast.MatchValue | ast.MatchSingleton) for p in pattern.patterns])
    is_open = isinstance(pattern, ast.MatchAs) and pattern.pattern is None
    return is_open or isinstance(pattern, ast.MatchValue | ast.MatchSingleton)


def _test(pattern: Any, subject: ast.expr) -> ast.expr:
    """Whether the subject is as the pattern says."""
    if isinstance(pattern, ast.MatchOr):
        return placed(ast.BoolOp(ast.Or(), [_test(p, subject) for p in pattern.patterns]), pattern)
    if isinstance(pattern, ast.MatchSingleton):
        return placed(ast.Compare(subject, [ast.Is()], [placed(ast.Constant(pattern.value), pattern)]), pattern)
    return placed(ast.Compare(subject, [ast.Eq()], [pattern.value]), pattern)
