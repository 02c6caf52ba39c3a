"""`match` statements as `if` statements.

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
from typing import Any, Final, final

from pliant.frontend.control.syntax import calling, placed, runtime

SUBJECT: Final = "__pliant_subject_"
_ARE_THERE: Final = (runtime("fits"), runtime("is_of"), runtime("has_keys"))


@final
class Matches(ast.NodeTransformer):
    """Rewrites the statements."""

    def __init__(self) -> None:
        self.count = 0

    def visit_Match(self, node: ast.Match) -> Any:
        self.generic_visit(node)
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


def _tests(pattern: ast.pattern, subject: ast.expr) -> list[ast.expr]:
    """What must hold for the subject to be as the pattern says; the names are bound last."""
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
                pair = placed(ast.Tuple([bind, _constant(True, pattern)], ast.Load()), pattern)
                bound = [_element(pair, _constant(1, pattern), pattern)]  # which is true
            return [*(_tests(inner, subject) if inner is not None else []), *bound]
        case ast.MatchSequence(patterns):
            star = next((n for n, p in enumerate(patterns) if isinstance(p, ast.MatchStar)), None)
            fits = calling("fits", pattern, subject, _constant(len(patterns) - (star is not None), pattern))
            fits.keywords = [ast.keyword("is_open", _constant(star is not None, pattern))]
            after = 0 if star is None else len(patterns) - star - 1
            places = [n if star is None or n < star else n - len(patterns) for n in range(len(patterns))]
            elements = [
                _between(subject, n, after, p) if n == star else _element(subject, _constant(place, p), p)
                for n, (place, p) in enumerate(zip(places, patterns, strict=True))
            ]
            return [fits, *_of_parts(patterns, elements)]
        case ast.MatchStar(name):
            return _tests(placed(ast.MatchAs(None, name), pattern), subject)
        case ast.MatchMapping(keys, patterns, rest):
            elements = [_element(subject, key, p) for key, p in zip(keys, patterns, strict=True)]
            other: list[ast.pattern] = [] if rest is None else [placed(ast.MatchAs(None, rest), pattern)]
            others = [calling("others_of", pattern, subject, *keys) for _ in other]
            return [calling("has_keys", pattern, subject, *keys), *_of_parts([*patterns, *other], [*elements, *others])]
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
    """What comes first: whether there are such parts, then what they are; names are bound where all of that holds."""
    match test:
        case ast.Call(ast.Name(name)) if name in _ARE_THERE:
            return 0
        case ast.Subscript(ast.Tuple()):
            return 2
        case _:
            return 1


def _element(subject: ast.expr, key: ast.expr, at: ast.AST) -> ast.expr:
    return placed(ast.Subscript(subject, key, ast.Load()), at)


def _between(subject: ast.expr, start: int, after: int, at: ast.AST) -> ast.expr:
    """The list of the elements from one on, but for the last ones."""
    stop = _constant(-after, at) if after else None
    part = _element(subject, placed(ast.Slice(_constant(start, at), stop), at), at)
    return placed(ast.List([placed(ast.Starred(part, ast.Load()), at)], ast.Load()), at)


def _all(tests: list[ast.expr], at: ast.AST) -> ast.expr:
    if not tests:
        return placed(ast.Constant(True), at)
    return tests[0] if len(tests) == 1 else placed(ast.BoolOp(ast.And(), tests), at)
