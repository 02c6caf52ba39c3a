"""Arithmetic on each element, and what connects dtypes."""

from __future__ import annotations

from abc import abstractmethod
from functools import reduce
from typing import Any, Final, final

from pliant.core.data import frozen
from pliant.core.ir import Namespace, Tangents, Value, Values
from pliant.core.types import DTYPES, Type, itemsize
from pliant.errors import DTypeError
from pliant.ops.base import Elementwise, Linear, Unary, fit, unfit
from pliant.ops.compare import NotEqual, equal, not_zero
from pliant.ops.complex import conj, real
from pliant.ops.select import Find, is_finite, is_zero, select, updated_by
from pliant.ops.spared import sparing
from pliant.rewrite.rule import rewrite, rule

TERMS: Final = 100  # of a sum that are looked at
FEW: Final = 3  # terms, whose masks are put together


class Sum(Linear, Elementwise):
    """a ± b."""

    linear = (0, 1)

    @abstractmethod
    def part(self, b: Value) -> Value:
        """What the second operand adds to the result."""

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        (y,), (da, db) = self.apply(*xs), dxs
        if not y.type.is_float or (da is None and db is None):
            return (y,), (None,)
        if da is None:
            assert db is not None
            return (y,), (fit(self.part(db), y.type),)
        return (y,), (fit(da, y.type) if db is None else self(da, db),)

    def transpose(self, ct: Value, a: Value | Type, b: Value | Type) -> Tangents:
        return (
            unfit(ct, a) if isinstance(a, Type) else None,
            self.part(unfit(ct, b)) if isinstance(b, Type) else None,
        )

    def support_of(self, value: Value, find: Find) -> Value | None:
        """Where one of the terms may differ from zero; of many terms, where the sum does, if none of them fills most of
        it: those of a stencil leave out little, and their sum is made in pieces."""
        masks, todo, fills = dict[Value, None](), [value], False
        while todo:
            term = todo.pop()
            if isinstance(term.op, Sum) and len(todo) + len(masks) < TERMS:
                todo.extend(term.args)
                continue
            mask = find(term)
            if mask is None:
                return None
            fills = fills or (hasattr(term.op, "at_places") and 2 * updated_by(term).type.size > value.type.size)
            masks[mask] = None
        if len(masks) == 1:
            return next(iter(masks))
        if len(masks) <= FEW and all([mask.shape == value.shape for mask in masks]):
            return reduce(Add(), masks)
        return None if fills else not_zero(value)


@final
class Add(Sum):
    """x + y; of bools, their `or`."""

    commutative = True
    domain = "biufc"

    def array(self, xp: Namespace, x: Any, y: Any) -> Any:
        return x + y

    def part(self, b: Value) -> Value:
        return b


@final
class Sub(Sum):
    """x − y; not of bools."""

    domain = "iufc"

    def array(self, xp: Namespace, x: Any, y: Any) -> Any:
        return x - y

    def part(self, b: Value) -> Value:
        return neg(b)


@final
class Mul(Elementwise):
    """x·y; of bools, their `and`."""

    multilinear = True
    commutative = True
    domain = "biufc"

    def array(self, xp: Namespace, x: Any, y: Any) -> Any:
        return x * y

    def partials(self, y: Value, a: Value, b: Value) -> Tangents:
        return b, a

    def transpose(self, ct: Value, a: Value | Type, b: Value | Type) -> Tangents:
        return tuple(
            unfit(scaled(ct, other), x) if isinstance(x, Type) else None  # the other one is known
            for x, other in ((a, b), (b, a))
        )

    def support(self, find: Find, a: Value, b: Value) -> Value | None:
        # 0·b is 0 only if b is finite
        if is_finite(a):
            return find(b)
        return find(a) if is_finite(b) else None


@final
class Div(Elementwise):
    """x / y: `f[…], f[…] → f[…]`."""

    domain = "fc"

    def array(self, xp: Namespace, x: Any, y: Any) -> Any:
        return x / y

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        (_, b), (da, db) = xs, dxs
        y = self(*xs)
        if db is None:
            return (y,), (None if da is None else fit(da / b, y.type),)
        rise = neg(y * db) if da is None else da - y * db
        return (y,), (fit(rise / b, y.type),)

    def transpose(self, ct: Value, a: Value | Type, b: Any) -> Tangents:
        return unfit(sparing(ct, conj(b), divides=True), a), None


@final
class Neg(Linear, Unary):
    """−x; not of bools."""

    domain = "iufc"

    def array(self, xp: Namespace, x: Any) -> Any:
        return -x

    def transpose(self, ct: Value, x: Value | Type) -> Tangents:
        return (self(ct),)

    def support(self, find: Find, x: Value) -> Value | None:
        return find(x)


@final
@frozen
class Convert(Linear, Unary):
    """The same numbers in another dtype, as `astype` does: complex → real drops the imaginary part."""

    dtype: str
    domain = "biufc"

    def infer(self, x: Type) -> Type:
        if self.dtype not in DTYPES:
            raise DTypeError(f"convert: unknown dtype {self.dtype!r}")
        return x.with_dtype(self.dtype)

    def array(self, xp: Namespace, x: Any) -> Any:
        drops = "complex" in str(x.dtype) and self.dtype[0] not in "cb"
        return xp.astype(xp.real(x) if drops else x, getattr(xp, DTYPES[self.dtype]))

    def torch(self, torch: Namespace, x: Any) -> Any:
        drops = x.is_complex() and self.dtype[0] not in "cb"
        return (x.real if drops else x).to(getattr(torch, DTYPES[self.dtype]))

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        (y,) = self.apply(*xs)
        (dx,) = dxs
        return (y,), (convert(dx, self.dtype) if dx is not None and y.type.is_float else None,)

    def transpose(self, ct: Value, x: Value | Type) -> Tangents:
        return (convert(ct, x.dtype),)

    def support(self, find: Find, x: Value) -> Value | None:
        return find(x)


@final
class Sign(Unary):
    """−1, 0 or 1 with the sign of x; z / |z| of a complex z, 0 at 0."""

    domain = "iufc"

    def torch(self, torch: Namespace, x: Any) -> Any:
        return torch.where(torch.isnan(x), x, torch.sgn(x)) if x.is_floating_point() else torch.sgn(x)

    def tangent(self, y: Value, x: Value, dx: Value) -> Value | None:
        if x.dtype[0] != "c":
            return None
        along = convert(real(dx * conj(y)), x.dtype)  # the part that changes |x|
        size = absolute(x)
        return select(equal(size, 0), 0, (dx - y * along) / convert(size, x.dtype))


@final
class Abs(Unary):
    """|x|, real of a complex x. The derivative at 0 is 0."""

    domain = "iufc"
    makes = "real"

    def tangent(self, y: Value, x: Value, dx: Value) -> Value:
        return real(dx * conj(sign(x)))


add, sub, mul, div, neg = Add(), Sub(), Mul(), Div(), Neg()
sign, absolute = Sign(), Abs()


def convert(x: Value, dtype: str) -> Value:
    """`Convert` as a function; nothing is made where it would change nothing."""
    return x if x.dtype == dtype else Convert(dtype)(x)


def scaled(ct: Value, known: Any) -> Value:
    """The cotangent times the conjugate of what the tangent was multiplied with."""
    if is_finite(known):
        return ct * conj(known)
    return sparing(ct, conj(known))


def is_whole(x: Value) -> bool:
    """Whether x has no fractions: adding 0 to a float turns −0 into 0."""
    return x.dtype[0] in "biu"


def is_float(x: Value) -> bool:
    """Whether x is a real float."""
    return x.dtype[0] == "f"


def has_sign(x: Value) -> bool:
    """Whether x may be negative."""
    return x.dtype[0] not in "bu"


def is_real(**xs: Value) -> bool:
    """Whether no value is complex: there signs of zero parts are lost by moving a minus, and 1 is 1 + 0j, which makes
    NaN of ∞."""
    return all(x.dtype[0] != "c" for x in xs.values())


@rule(where=is_real)
def times_one(x: Any) -> tuple[Any, Any]:
    """1·x → x."""
    return 1.0 * x, x


@rule(where=is_float)
def times_minus_one(x: Any) -> tuple[Any, Any]:
    """−1·x → −x."""
    return -1.0 * x, -x


@rule(where=is_real)
def over_one(x: Any) -> tuple[Any, Any]:
    """x / 1 → x."""
    return x / 1.0, x


@rule(where=is_whole)
def plus_zero(x: Any) -> tuple[Any, Any]:
    """x + 0 → x for whole numbers; −0.0 + 0 is 0."""
    return x + 0, x


@rule(where=is_real)
def plus_minus_zero(x: Any) -> tuple[Any, Any]:
    """x + (−0.0) → x."""
    return x + -0.0, x


@rule(where=is_real)
def minus_zero(x: Any) -> tuple[Any, Any]:
    """x − 0 → x."""
    return x - 0, x


@rule
def neg_of_neg(x: Any) -> tuple[Any, Any]:
    """−(−x) → x."""
    return neg(neg(x)), x


@rule
def add_of_neg(x: Any, y: Any) -> tuple[Any, Any]:
    """x + (−y) → x − y."""
    return x + neg(y), x - y


@rule
def sub_of_neg(x: Any, y: Any) -> tuple[Any, Any]:
    """x − (−y) → x + y."""
    return x - neg(y), x + y


@rule(where=is_real)
def mul_of_neg(x: Any, y: Any) -> tuple[Any, Any]:
    """(−x)·y → −(x·y): the minus moves out until it meets another one."""
    return neg(x) * y, neg(x * y)


@rule(where=is_real)
def div_of_neg(x: Any, y: Any) -> tuple[Any, Any]:
    """(−x) / y → −(x / y)."""
    return neg(x) / y, neg(x / y)


@rule(where=is_real)
def div_by_neg(x: Any, y: Any) -> tuple[Any, Any]:
    """x / (−y) → −(x / y)."""
    return x / neg(y), neg(x / y)


@rule(where=has_sign)
def abs_of_neg(x: Any) -> tuple[Any, Any]:
    """|−x| → |x|; −1 is 255 as an unsigned number."""
    return absolute(neg(x)), absolute(x)


@rule(where=is_real)
def abs_of_abs(x: Any) -> tuple[Any, Any]:
    """||x|| → |x|."""
    return absolute(absolute(x)), absolute(x)


@rewrite(Convert)
def convert_to_same(value: Value) -> Value | None:
    """convert(x) → x if x has that dtype already."""
    (x,) = value.args
    return x if x.dtype == value.dtype else None


@rewrite(Convert, reads=(Convert,))
def convert_of_convert(value: Value) -> Value | None:
    """convert(convert x) → convert x, if the first conversion loses nothing."""
    (middle,) = value.args
    if not isinstance(middle.op, Convert):
        return None
    (x,) = middle.args
    return convert(x, value.dtype) if is_lossless(x.dtype, middle.dtype, value.dtype) else None


@rewrite(NotEqual, reads=(Convert,))
def not_zero_of_truth(value: Value) -> Value | None:
    """convert(x) ≠ 0 → x, for a bool x."""
    made, zero = value.args
    if not isinstance(made.op, Convert) or not is_zero(zero):
        return None
    (x,) = made.args
    return x if x.dtype == "bool" and x.shape == value.shape else None


def is_lossless(start: str, middle: str, end: str) -> bool:
    """Whether start → middle → end makes the same numbers as start → end."""
    order = "bufc" if start[0] == "u" else "bifc"  # u8 → i16 loses nothing, but −1 is no u8
    if start[0] not in order or middle[0] not in order or order.index(start[0]) > order.index(middle[0]):
        return False
    if end[0] == "u" and start[0] != "u" and middle[0] in "fc":
        return False  # what a negative float becomes is not defined
    if start[0] == middle[0]:
        return itemsize(start) <= itemsize(middle)
    digits = {"b": 0, "f": {2: 1, 4: 3, 8: 6}.get(itemsize(middle), 0), "c": 3 if middle == "c64" else 6}
    return start == "bool" or middle[0] in "iu" or itemsize(start) <= digits[middle[0]]


RULES = (
    times_one,
    times_minus_one,
    over_one,
    plus_zero,
    plus_minus_zero,
    minus_zero,
    neg_of_neg,
    add_of_neg,
    sub_of_neg,
    mul_of_neg,
    div_of_neg,
    div_by_neg,
    abs_of_neg,
    abs_of_abs,
    convert_to_same,
    convert_of_convert,
    not_zero_of_truth,
)
