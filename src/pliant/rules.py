"""`rule`: an equation in plain NumPy as a rewrite rule."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from itertools import product
from typing import Any, Final, cast, final

import numpy as np

from pliant.callables import function_of
from pliant.compiled import Compiled
from pliant.core.build import known_of
from pliant.core.data import frozen
from pliant.core.ir import Const, Function, Param, Pattern, Value, Values, nodes, substitute
from pliant.core.origin import CodeOrigin
from pliant.core.scope import scope
from pliant.core.types import DTYPES, Type
from pliant.errors import ArgumentError, PliantError, ReadOnlyError, RewriteError
from pliant.frontend.array import TracedArray, fresh
from pliant.frontend.convert import as_traced, value_of
from pliant.frontend.cores import cores_of
from pliant.frontend.instrumented import callee
from pliant.frontend.kinds import as_tuple
from pliant.frontend.number import is_number
from pliant.frontend.tracing import current, thread
from pliant.literals import written
from pliant.ops.elementwise import convert
from pliant.ops.shape import broadcast
from pliant.rewrite.explain import Log
from pliant.rewrite.match import same_number
from pliant.rewrite.rule import Level, Rule

EXTENTS: Final = (3, 5, 7, 11, 13, 17, 19, 23, 29, 31)
"""Of axes while a rule is looked at: none is 1, no two are equal."""
OTHERS: Final = (5, 11, 19, 31, 37, 41, 43, 47, 53, 59)
"""Of the same axes in a second look, which tells the numbers that depend on extents; also odd, and in this order."""
SAMPLES: Final = ("f64", "i64", "bool", "c128")
"""Dtypes that a rule is looked at with: the first, or those for which its left side has the fewest operations."""
MIXED: Final = 3
"""Parameters of a rule that is looked at with all choices of dtypes; of more, all have the same."""
EQUATION: Final = "; it is an equation"
LEVELS: Final = ("exact", "stable", "algebraic")


def rule(
    f: Any = None,
    *,
    shapes: str | None = None,
    level: Level = "algebraic",
    where: Callable[..., bool] | None = None,
) -> Any:
    """A rewrite rule for `optimize`, from a function that returns the two sides of an equation.

    f: a function of arrays, in plain NumPy, that returns `left, right`; it runs while programs are compiled, on arrays
    without values. What is found to be `left` may become `right`. Its parameters stand for arrays of one shape, or
    numbers, of an elementwise function; or, with `shapes`, for arrays of the axes that it names, as signatures of
    `np.vectorize` do: "(m,n),(n,k),(k)". level: "exact" if both sides have the same bits, "stable" if the right one is
    at least as accurate, "algebraic" if they are equal over the real numbers. where: given the `Shaped` of each
    parameter, which has shape, dtype, ndim and size, whether the rule holds for such.
    Raises RewriteError, when it is first used, if f is no such equation. `pliant.testing.check_rule` tests a rule.

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
    if level not in LEVELS:
        raise ArgumentError(f"rule: level= is one of {', '.join(LEVELS)}; got {level!r}")
    if where is not None and not callable(where):
        raise ArgumentError(f"rule: where= takes a function of the same parameters, got {type(where).__name__}")
    if f is None:
        return partial(rule, shapes=shapes, level=level, where=where)
    equation = _Equation(function_of(f), shapes, where)
    doc = f.__doc__ or ""
    return Rule(
        equation.name, doc, level, equation.sides, equation.holds, origin=equation.origin, pattern=equation.left
    )


@final
@frozen
class Shaped:
    """What is known of an array while a program is compiled."""

    shape: tuple[int, ...]
    dtype: Any

    @property
    def ndim(self) -> int:
        """The number of its axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of its elements."""
        return int(np.prod(self.shape, dtype=np.int64))


@final
class _Equation:
    """A function that returns both sides, traced for the types of what it is applied to."""

    def __init__(self, f: Callable[..., Any], shapes: str | None, where: Callable[..., bool] | None) -> None:
        self.__module__ = f.__module__
        self.f, self.name, self.where = f, getattr(f, "__name__", "rule"), where
        self.origin = CodeOrigin(f.__code__, 0)
        parameters = inspect.signature(f).parameters.values()
        self.names = [p.name for p in parameters]
        if not self.names or any([p.kind is not p.POSITIONAL_OR_KEYWORD for p in parameters]):
            raise ArgumentError(f"rule {self.name}: expected a function of arrays by position")
        self.axes = self.axes_of(shapes)
        self.traced = lru_cache(maxsize=256)(self.trace)

    def axes_of(self, shapes: Any) -> list[list[str]] | None:
        """The names of the axes of each parameter; None for those of elementwise functions."""
        if shapes is None:
            return None
        axes = cores_of(shapes)
        if not axes:
            raise ArgumentError(
                f"rule {self.name}: shapes={shapes!r} is no list of shapes",
                hint='a pair of parentheses for each parameter, and nothing else, as in shapes="(m,n),(n)"',
            )
        letters = {n for core in axes for n in core if not n.isdigit()}
        if len(axes) != len(self.names) or len(letters) > len(EXTENTS):
            raise ArgumentError(
                f"rule {self.name}: shapes={shapes!r} names {len(axes)} shapes, of {len(self.names)} parameters",
                hint='a pair of parentheses for each, as in shapes="(m,n),(n)"',
            )
        return axes

    def holds(self, **bound: Value) -> bool:
        """Whether the equation is about values of such types."""
        shapes = [bound[name].shape for name in self.names]
        return self.has_axes(shapes) and (self.where is None or self.asked(self.where, bound))

    def has_axes(self, shapes: list[tuple[int, ...]]) -> bool:
        """Whether arrays have the axes that are named, of equal extents where names are equal."""
        if self.axes is None:
            return len({s for s in shapes if s}) <= 1
        extents = dict[str, int]()
        pairs = [p for names, shape in zip(self.axes, shapes, strict=True) for p in zip(names, shape, strict=False)]
        fits = [n == (int(name) if name.isdigit() else extents.setdefault(name, n)) for name, n in pairs]
        return all(fits) and [*map(len, self.axes)] == [*map(len, shapes)]

    def asked(self, where: Callable[..., Any], bound: dict[str, Value]) -> bool:
        """What the user's condition says."""
        given = {name: Shaped(bound[name].shape, np.dtype(DTYPES[bound[name].dtype])) for name in self.names}
        try:
            return bool(where(**given))
        except Exception as error:
            raise self.wrong(f"asks where= for arrays like {given}, which raises {_text(error)}") from error

    def trace(self, types: tuple[Type, ...]) -> Function:
        """Both sides, as a program of two results, each as a search gets programs."""
        from pliant.pipeline import BEFORE_SEARCH, run_passes

        before = thread.trace
        thread.update(None, thread.is_jit_disabled)  # a program of its own, whatever else is being traced
        try:
            fn = self.closed(Compiled(self.both).program(*map(_like, types)).fn)
        except ReadOnlyError as error:
            raise self.failed(error, f"writes to an array that it is given{EQUATION}") from error
        finally:
            thread.update(before, thread.is_jit_disabled)
        if len(fn.results) != 2:
            raise self.wrong(f"writes to an array or raises an exception{EQUATION}")
        sides = [Function(fn.name, fn.params, (side,)) for side in fn.results]
        return Function(fn.name, fn.params, tuple([run_passes(BEFORE_SEARCH, s, Log()).results[0] for s in sides]))

    def closed(self, fn: Function) -> Function:
        """A program whose only parameters are the rule's; constant arrays are expressions."""
        own, more = fn.params[: len(self.names)], fn.params[len(self.names) :]
        if not more:
            return fn
        if any([known_of(p) is None for p in more]):
            raise self.wrong("reads an array from outside, which may change", "make it in the rule")
        with scope():
            made = {p: written(known_of(p)) for p in more}
            if None in made.values():
                raise self.wrong("has a constant array of many numbers without order")
            new = {p: v for p, v in made.items() if v is not None}
            return Function(fn.name, own, substitute(fn.results, {**new, **{p: p for p in own}}))

    def both(self, *xs: Any) -> Any:
        """Both sides, as arrays of one dtype."""
        made = callee(self.f, current())(*xs)
        sides = as_tuple(made) if isinstance(made, tuple | list) else ()
        if len(sides) != 2 or not all(
            [isinstance(s, TracedArray | np.ndarray | np.generic) or is_number(s) for s in sides]
        ):
            raise self.wrong("returns something else than two arrays: left, right")
        left, right = map(as_traced, sides)
        y, z = left.value, right.value
        if not current().outermost.branched.isdisjoint([v for node in nodes([y]) for v in node.values]):
            raise self.wrong(
                "has a left side that depends on an `if` over what is known only at run time",
                "write a rule for each case, which where= tells by shapes and dtypes; or np.where, if that is meant",
            )
        z = value_of(right, y.dtype) if right.is_weak else convert(z, y.dtype) if z.dtype[0] == y.dtype[0] else z
        z = broadcast(z, y.shape, ()) if isinstance(z.op, Const) and y.shape else z
        if y.type != z.type:
            raise self.wrong(f"has sides of types {y.type} and {z.type}")
        return fresh(y, is_array=True), fresh(z, is_array=True)

    def wrong(self, what: str, hint: str = "") -> RewriteError:
        """The error of a function that is no rule."""
        return RewriteError(f"rule {self.name} {what}", hint=hint).at(("the rule", self.origin))

    def sides(self, *given: Value, **named: Value) -> tuple[Value, Value] | None:
        """Both sides, of values; None if it is not about values of such types."""
        values: Values = (*given, *[named[n] for n in self.names[len(given) :]])
        try:
            left, right = self.traced(tuple([v.type for v in values]))(*values)
        except (PliantError, TypeError, ValueError):  # as a function that is not defined for them
            return None
        return left, right

    def shapes(self, extents: Sequence[int]) -> list[tuple[int, ...]]:
        """Shapes of parameters whose axes have such extents, in the order in which they are named."""
        letters = dict.fromkeys([n for core in self.axes or () for n in core if not n.isdigit()])
        known = dict(zip(letters, extents, strict=False))
        cores: list[list[str]] = self.axes or [[] for _ in self.names]
        return [tuple([int(n) if n.isdigit() else known[n] for n in core]) for core in cores]

    def samples(self) -> tuple[Function, Function]:
        """Both sides, for arrays like those that the rule is about, of two choices of extents."""
        failed: Exception | None = None
        best: tuple[Function, Function] | None = None
        for dtypes in self.dtypes():
            types = [tuple(map(Type, dtypes, self.shapes(extents))) for extents in (EXTENTS, OTHERS)]
            try:
                made = self.traced(types[0]), self.traced(types[1])
            except Exception as error:
                if isinstance(error, RewriteError) and {*dtypes} == {SAMPLES[0]}:
                    raise
                failed = failed or error
                continue
            if best is None or _length(made[0]) < _length(best[0]):
                best = made
            if {*dtypes} == {SAMPLES[0]}:
                break
        if best is None:
            assert failed is not None
            raise failed if isinstance(failed, RewriteError) else self.failed(failed) from failed
        return best

    def dtypes(self) -> list[tuple[str, ...]]:
        """Of parameters: all of one, then others; those that the user's condition accepts, if there are any."""
        mixed = product(SAMPLES, repeat=len(self.names)) if len(self.names) <= MIXED else ()
        every = dict.fromkeys([*[(d,) * len(self.names) for d in SAMPLES], *mixed])
        accepted = [dtypes for dtypes in every if self.where is None or self.accepts(dtypes)]
        return accepted or [*every]

    def accepts(self, dtypes: tuple[str, ...]) -> bool:
        """Whether the user's condition does, for such extents as are looked at."""
        given = [Shaped(s, np.dtype(DTYPES[d])) for s, d in zip(self.shapes(EXTENTS), dtypes, strict=True)]
        try:
            return bool(cast("Any", self.where)(**dict(zip(self.names, given, strict=True))))
        except Exception:  # it may be about arrays of more axes; for those at hand it is an error
            return False

    def failed(self, error: Exception, what: str = "") -> RewriteError:
        """The error of a function that raises one, with the places of that."""
        hint = "" if self.axes else 'for arrays with axes say so, as in shapes="(m,n),(n)"'
        made = self.wrong(what or f"raises {_text(error)}", hint)
        made.places = (*getattr(error, "places", ()), *made.places)
        return made

    def left(self) -> Pattern:
        """The left side with holes, whatever the parameters of its primitives."""
        fn, other = self.samples()
        names = map(Pattern, self.names)
        made: dict[tuple[Value, Value], Any] = dict(zip(zip(fn.params, other.params, strict=True), names, strict=True))
        left = self.pattern(fn.results[0], other.results[0], made)
        if not isinstance(left, Pattern) or isinstance(left.op, str):
            raise self.wrong("has a left side that is no operation on arrays")
        read = {v for node in Function("left", (), fn.results[:1]).nodes for v in node.values}
        unbound = [n for n, p in zip(self.names, fn.params, strict=True) if p not in read]
        if unbound:
            raise self.wrong(f"has a left side that does not say what {', '.join(unbound)} is")
        return left

    def pattern(self, value: Value, other: Value, made: dict[tuple[Value, Value], Any]) -> Any:
        """What a value has to be; other: what it is for other extents. A number that depends on them is a hole: whether
        it is the right one is known when the left side is made for the extents at hand. Recursive in the size of the
        left side."""
        found = made.get((value, other))
        if found is not None:
            return found
        one, two = value.op, other.op
        kinds = [(type(v.op), len(v.args), v.index) for v in (value, other)]
        if kinds[0] != kinds[1] or type(one) is Param:
            raise self.wrong(
                "has a left side of other operations for other extents",
                "loops over an axis are written out: use NumPy's functions of whole arrays",
            )
        if isinstance(one, Const):
            is_same = same_number(one.value, cast("Const", two).value)
            found = one.value if is_same else Pattern(f"number {len(made)}")
        else:
            args = zip(value.args, other.args, strict=True)
            found = Pattern(type(one), tuple([self.pattern(a, b, made) for a, b in args]), value.index)
        made[value, other] = found
        return found


def _text(error: Exception) -> str:
    """An exception in one line."""
    return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"


def _length(fn: Function) -> int:
    """How many nodes the left side has."""
    return len(nodes(fn.results[:1]))


def _like(type: Type) -> Any:
    """An array of a type, without memory of its own."""
    return np.broadcast_to(np.ones((), DTYPES[type.dtype]), type.shape)
