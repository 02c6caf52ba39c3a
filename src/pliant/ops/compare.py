"""Order: comparisons, tests of single numbers, the larger and the smaller of two.

Complex numbers are ordered by their real, then by their imaginary parts, as in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, final

from pliant.core.ir import Namespace, Tangents, Value, Values, const
from pliant.core.scope import scope
from pliant.ops.base import Elementwise, Unary, fit
from pliant.ops.select import Find, is_zero, select, support
from pliant.rewrite.rule import rewrite


class Comparison(Elementwise):
    """Yes or no for each pair of elements."""

    domain = "biufc"
    makes = "bool"


class Test(Unary):
    """Yes or no for each element."""

    domain = "biufc"
    makes = "bool"


@final
class Equal(Comparison):
    """x = y; NaN equals nothing."""

    commutative = True

    def torch(self, torch: Namespace, x: Any, y: Any) -> Any:
        return torch.eq(x, y)  # torch.equal compares whole tensors


@final
class NotEqual(Comparison):
    """x ≠ y, the opposite of `equal`."""

    commutative = True


class Order(Comparison):
    """Which comes first."""

    strict: ClassVar[str]  # the same without equality, and PyTorch's name of it

    def torch(self, torch: Namespace, x: Any, y: Any) -> Any:
        if not x.is_complex():
            return getattr(torch, self.name)(x, y)
        before, imaginary = getattr(torch, self.strict), getattr(torch, self.name)
        has_parts = ~(torch.isnan(x.imag) | torch.isnan(y.imag))
        return (before(x.real, y.real) & has_parts) | ((x.real == y.real) & imaginary(x.imag, y.imag))


@final
class Less(Order):
    """x < y."""

    strict = "less"


@final
class LessEqual(Order):
    """x ≤ y."""

    strict = "less"


@final
class Greater(Order):
    """x > y."""

    strict = "greater"


@final
class GreaterEqual(Order):
    """x ≥ y."""

    strict = "greater"


@final
class Isnan(Test):
    """Whether x is NaN, or has a NaN part."""


@final
class Isinf(Test):
    """Whether x is ±∞, or has an infinite part."""


@final
class Isfinite(Test):
    """Whether x is neither infinite nor NaN."""


@final
class Signbit(Test):
    """Whether the sign bit is set: true for −0.0 too."""

    domain = "f"


class Choice(Elementwise):
    """One of two operands. Where they are equal, the tangent is the mean of theirs."""

    commutative = True
    domain = "biufc"
    first_if: ClassVar[Elementwise]  # which of two unequal numbers it takes
    skips_nan: ClassVar[bool] = False

    def torch(self, torch: Namespace, x: Any, y: Any) -> Any:
        if not x.is_complex():
            return getattr(torch, self.name)(x, y)
        takes = self.first_if.torch(torch, x, y) | (x == y)  # type: ignore[attr-defined]
        return torch.where(takes | torch.isnan(y if self.skips_nan else x), x, y)

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        (a, b), (da, db) = xs, dxs
        (y,) = self.apply(a, b)
        if not y.type.is_float or (da is None and db is None):
            return (y,), (None,)
        da, db = (const(0, y.dtype) if d is None else d for d in dxs)
        one = self.first_if(a, b)
        if self.skips_nan:
            one = select(isnan(b), True, one)
        dy = select(one, da, select(equal(a, b), 0.5 * (da + db), db))
        return (y,), (fit(dy, y.type),)


@final
class Maximum(Choice):
    """The larger of x and y; NaN if either is."""

    first_if = Greater()


@final
class Minimum(Choice):
    """The smaller of x and y; NaN if either is."""

    first_if = Less()


@final
class Fmax(Choice):
    """The larger of x and y; the other one if one is NaN."""

    first_if = Greater()
    skips_nan = True


@final
class Fmin(Choice):
    """The smaller of x and y; the other one if one is NaN."""

    first_if = Less()
    skips_nan = True


equal, not_equal, less, less_equal = Equal(), NotEqual(), Less(), LessEqual()
greater, greater_equal = Greater(), GreaterEqual()
isnan, isinf, isfinite, signbit = Isnan(), Isinf(), Isfinite(), Signbit()
maximum, minimum, fmax, fmin = Maximum(), Minimum(), Fmax(), Fmin()


def clip(x: Any, low: Any, high: Any) -> Value:
    """x, but at least `low` and at most `high`; `high` wins if they cross, as in NumPy."""
    return minimum(maximum(x, low), high)


def not_zero(x: Value) -> Value:
    """Where x is not zero."""
    return not_equal(x, const(0, x.dtype))


def not_zero_of_written(
    value: Value, find: Find, put: Callable[[Value, Value], Value], *, adds: bool, unique: bool
) -> Value | None:
    """Where an array that was zero somewhere, and into which numbers have been put, may differ from zero.

    put: truths put into an array of truths at the same places; adds: the numbers are added to what is there; unique: no
    place is named twice. Where any may be, as many writes of truths would be made as of numbers: too dear.
    """
    x, *_, u = value.args
    start, new = find(x), find(u)
    if start is None or (new is None and (not unique or u.type.size == x.type.size)):
        return None
    if new is not None and adds and not (unique and is_zero(start)):  # a sum, of which one term may be zero
        return not_zero(value)
    new = const(True, "bool") if new is None else new
    return put(fit(start, x.type.with_dtype("bool")), fit(new, u.type.with_dtype("bool")))


def not_zero_of_made(
    value: Value, find: Find, given: Iterable[tuple[Value, Value]], terms: Iterable[Value]
) -> Value | None:
    """Where what functions make is not zero, if some term of it is known to be zero somewhere.

    given: parameters of the functions and what they stand for; terms: inside, what the value is a sum of.
    """
    with scope():
        known = {p: not_zero(p) for p, x in given if x.type.is_float and find(x) is not None}
        is_idle = any([support(term, known=known) is not None for term in terms])
    return not_zero(value) if is_idle else None


@rewrite(Choice)
def choice_of_same(value: Value) -> Value | None:
    """max(x, x) → x, and so for min, fmax and fmin."""
    x, y = value.args
    return x if x is y else None


RULES = (choice_of_same,)
