"""`rule`: an equation in plain NumPy as a rewrite rule."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, Final, final

import numpy as np

from pliant.compiled import Compiled, function_of
from pliant.core.ir import Const, Function, Param, Pattern, Value, Values
from pliant.core.origin import CodeOrigin
from pliant.core.types import DTYPES, Type
from pliant.errors import ArgumentError, RewriteError
from pliant.frontend.array import fresh
from pliant.frontend.convert import as_traced, value_of
from pliant.frontend.instrumented import callee
from pliant.frontend.kinds import as_tuple
from pliant.frontend.tracing import current, thread
from pliant.ops.shape import broadcast
from pliant.rewrite.rule import Level, Rule

EXTENTS: Final = (3, 5, 7, 11, 13, 17, 19, 23, 29, 31)
"""Of axes while a rule is looked at: none is 1, no two are equal."""
_CORE = re.compile(r"\(([^()]*)\)")


def rule(
    f: Any = None,
    *,
    shapes: str | None = None,
    level: Level = "algebraic",
    where: Callable[..., bool] | None = None,
) -> Any:
    """A rewrite rule for `optimize`, from a function that returns the two sides of an equation.

    f: a function of arrays, in plain NumPy, that returns `left, right`; it runs while programs are compiled. What is
    found to be `left` may become `right`. Its parameters stand for any arrays: without `shapes` of one shape, or
    numbers, for elementwise functions; else of the axes that shapes names, as signatures of `np.vectorize` do:
    "(m,n),(n,k),(k)".
    level: "exact" if both sides have the same bits, "stable" if the right one is at least as accurate, "algebraic" if
    they are equal over the real numbers. where: given arrays (of which only shape and dtype mean anything), whether the
    rule holds for such.
    Raises RewriteError if the left side is no operation on arrays. `pliant.testing.check_rule` tests a rule.

    >>> import numpy as np, pliant
    >>> @pliant.rule(shapes="(n,n),(n,n)")
    ... def trace_of_product(A, B):
    ...     return np.trace(A @ B), np.sum(A * B.T)     # n² products instead of n³
    >>> f = pliant.optimize(lambda A, B: np.trace(A @ B), pliant.RULES + (trace_of_product,))
    >>> f(np.eye(2), np.array([[1.0, 2.0], [3.0, 4.0]]))
    np.float64(5.0)
    >>> A = np.ones((100, 100))
    >>> "trace_of_product" in str(pliant.explain(f, A, A).rules)
    True
    """
    if f is None:
        return partial(rule, shapes=shapes, level=level, where=where)
    equation = _Equation(function_of(f), shapes)
    return Rule(
        equation.name,
        f.__doc__ or "",
        level,
        sides=equation.sides,
        where=None if where is None else partial(_holds, where),
        origin=equation.origin,
        pattern=equation.pattern,
    )


@final
class _Equation:
    """A function that returns both sides, traced for the types of what it is applied to."""

    def __init__(self, f: Callable[..., Any], shapes: str | None) -> None:
        self.__module__ = f.__module__
        self.f, self.name = f, getattr(f, "__name__", "rule")
        self.origin = CodeOrigin(f.__code__, 0)
        self.names = [*inspect.signature(f).parameters]
        self.shapes = self.extents(shapes)
        self.traced = lru_cache(maxsize=256)(self.trace)

    def extents(self, shapes: str | None) -> list[tuple[int, ...]]:
        """The shapes that the parameters have while the rule is looked at."""
        if shapes is None:
            return [()] * len(self.names)
        cores = [[n.strip() for n in core.split(",") if n.strip()] for core in _CORE.findall(shapes)]
        letters = list(dict.fromkeys(n for core in cores for n in core))
        if len(cores) != len(self.names) or len(letters) > len(EXTENTS):
            raise ArgumentError(
                f"rule {self.name}: shapes={shapes!r} names {len(cores)} shapes, of {len(self.names)} parameters",
                hint='a pair of parentheses for each, as in shapes="(m,n),(n)"',
            )
        sizes = dict(zip(letters, EXTENTS, strict=False))
        return [tuple([int(n) if n.isdigit() else sizes[n] for n in core]) for core in cores]

    def trace(self, types: tuple[Type, ...]) -> Function:
        """Both sides, as a program of two results."""
        before = thread.trace
        thread.update(None, thread.is_jit_disabled)  # a program of its own, whatever else is being traced
        try:
            fn = Compiled(self.both).program(*map(_like, types)).fn
        finally:
            thread.update(before, thread.is_jit_disabled)
        if len(fn.results) != 2:
            raise self.wrong("writes to an array or raises an exception; it is an equation")
        return fn

    def both(self, *xs: Any) -> Any:
        """Both sides, as arrays of one type."""
        made = callee(self.f, current())(*xs)
        if not isinstance(made, tuple) or len(as_tuple(made)) != 2:
            raise self.wrong("returns something else than two arrays: left, right")
        left, right = map(as_traced, as_tuple(made))
        y = left.value
        z = value_of(right, y.dtype) if right.is_weak or right.is_scalar else right.value
        z = broadcast(z, y.shape, ()) if not z.shape else z
        return fresh(y, is_array=True), fresh(z, is_array=True)

    def wrong(self, what: str) -> RewriteError:
        """The error of a function that is no rule."""
        return RewriteError(f"rule {self.name} {what}").at(("the rule", self.origin))

    def sides(self, *given: Value, **named: Value) -> tuple[Value, Value]:
        """Both sides, of values."""
        values: Values = (*given, *[named[n] for n in self.names[len(given) :]])
        left, right = self.traced(tuple([v.type for v in values]))(*values)
        return left, right

    def pattern(self) -> Pattern:
        """The left side with holes, whatever the parameters of its primitives."""
        fn = self.traced(tuple([Type("f64", shape) for shape in self.shapes]))
        made = dict[Value, Any](zip(fn.params, map(Pattern, self.names), strict=True))
        for node in fn.nodes:
            op = node.op
            if type(op) is Const:
                made[node.values[0]] = op.value
            elif type(op) is not Param:
                made.update([(v, Pattern(type(op), tuple([made[a] for a in node.args]))) for v in node.values])
        left = made[fn.results[0]]
        if not isinstance(left, Pattern) or isinstance(left.op, str):
            raise self.wrong("has a left side that is no operation on arrays")
        unbound = [n for n, p in zip(self.names, fn.params, strict=True) if p not in _read(fn.results[:1])]
        if unbound:
            raise self.wrong(f"has a left side that does not say what {', '.join(unbound)} is")
        return left


def _holds(where: Callable[..., bool], **bound: Value) -> bool:
    """What the user's condition says of arrays like these values."""
    return bool(where(**{name: _like(value.type) for name, value in bound.items()}))


def _read(results: Values) -> set[Value]:
    """What results are made from."""
    return {v for node in Function("left", (), results).nodes for v in node.values}


def _like(type: Type) -> Any:
    """An array of a type, without memory of its own."""
    return np.broadcast_to(np.ones((), DTYPES[type.dtype]), type.shape)
