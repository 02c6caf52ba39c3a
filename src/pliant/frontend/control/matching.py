"""`match` statements as `if` statements, where the patterns are values, alternatives, names, and sequences and
objects of these.

match k % 3:                     subject = k % 3
    case 0 | 1: a                if subject == 0 or subject == 1: a
    case n if n > c: b           else:
    case _: d                        n = subject
                                     if n > c: b
                                     else: d
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, Final, cast, final

from pliant.frontend.control.syntax import calling, placed, runtime

SUBJECT: Final = "__pliant_subject_"
_ARE_THERE: Final = (runtime("fits"), runtime("is_of"))


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
        if not isinstance(first.pattern, ast.MatchAs) or first.pattern.pattern is not None:
            test = _all([*_tests(first.pattern, subject), *([first.guard] if first.guard else [])], first.pattern)
            return [placed(ast.If(test, first.body, rest), first.pattern)]
        bound: list[ast.stmt] = []
        if first.pattern.name is not None:
            target = placed(ast.Name(first.pattern.name, ast.Store()), first.pattern)
            bound = [placed(ast.Assign([target], subject), first.pattern)]
        if first.guard is None:
            return [*bound, *first.body]
        return [*bound, placed(ast.If(first.guard, first.body, rest), first.pattern)]


def is_simple(pattern: ast.pattern, *, binds: bool = True) -> bool:
    """Whether a pattern is made of values, sequences of known length, objects, what fits all, and alternatives that
    bind no names."""
    match pattern:
        case ast.MatchOr(patterns):
            return all([is_simple(p, binds=False) for p in patterns])
        case ast.MatchAs(inner, name):
            return (binds or name is None) and (inner is None or is_simple(inner, binds=binds))
        case ast.MatchSequence(patterns):
            return all([is_simple(p, binds=binds) for p in patterns])
        case ast.MatchClass(_, patterns, _, named):
            return all([is_simple(p, binds=binds) for p in (*patterns, *named)])
        case _:
            return isinstance(pattern, ast.MatchValue | ast.MatchSingleton)


def fits(subject: Any, count: int) -> bool:
    """Whether something is a sequence of so many elements, as `match` sees it."""
    return isinstance(subject, Sequence) and not isinstance(subject, str | bytes) and len(cast("Any", subject)) == count


def _tests(pattern: ast.pattern, subject: ast.expr) -> list[ast.expr]:
    """What must hold for the subject to be as the pattern says. Names are bound as soon as that can be done, so
    that they have values where the conditions are known only at run time."""
    match pattern:
        case ast.MatchOr(patterns):
            return [placed(ast.BoolOp(ast.Or(), [_all(_tests(p, subject), p) for p in patterns]), pattern)]
        case ast.MatchSingleton(value):
            return [placed(ast.Compare(subject, [ast.Is()], [placed(ast.Constant(value), pattern)]), pattern)]
        case ast.MatchValue(value):
            return [placed(ast.Compare(subject, [ast.Eq()], [value]), pattern)]
        case ast.MatchAs(inner, name):
            bound: list[ast.expr] = []
            if name is not None:
                bind = placed(ast.NamedExpr(placed(ast.Name(name, ast.Store()), pattern), subject), pattern)
                bound = [placed(ast.Tuple([bind], ast.Load()), pattern)]  # which is true
            return [*bound, *(_tests(inner, subject) if inner is not None else [])]
        case ast.MatchSequence(patterns):
            elements = [_element(subject, n, p) for n, p in enumerate(patterns)]
            fits = calling("fits", pattern, subject, _constant(len(patterns), pattern))
            return [fits, *_of_parts(patterns, elements)]
        case ast.MatchClass(kind, patterns, names, named):
            places = [_constant(place, pattern) for place in (*range(len(patterns)), *names)]
            parts = [calling("part", pattern, subject, kind, place) for place in places]
            count = _constant(len(patterns), pattern)
            is_of = calling("is_of", pattern, subject, kind, count, *places[len(patterns) :])
            return [is_of, *_of_parts([*patterns, *named], parts)]
        case _:
            raise AssertionError(pattern)


def _of_parts(patterns: Sequence[ast.pattern], parts: Sequence[ast.expr]) -> list[ast.expr]:
    tests = [test for p, part in zip(patterns, parts, strict=True) for test in _tests(p, part)]
    return sorted(tests, key=_turn)


def _constant(value: Any, at: ast.AST) -> ast.expr:
    return placed(ast.Constant(value), at)


def _turn(test: ast.expr) -> int:
    """What comes first: whether there are such parts, then names are bound, then what may be known only at run time."""
    match test:
        case ast.Call(ast.Name(name)) if name in _ARE_THERE:
            return 0
        case _:
            return 1 if isinstance(test, ast.Tuple) else 2


def _element(subject: ast.expr, n: int, at: ast.AST) -> ast.expr:
    return placed(ast.Subscript(subject, placed(ast.Constant(n), at), ast.Load()), at)


def _all(tests: list[ast.expr], at: ast.AST) -> ast.expr:
    if not tests:
        return placed(ast.Constant(True), at)
    return tests[0] if len(tests) == 1 else placed(ast.BoolOp(ast.And(), tests), at)
