"""The logistic function, and rules that replace unstable expressions by stable ones.

Here e is exp(−|x|), never large: log(1 + eˣ) = max(x, 0) + log1p(e), and 1/(1 + e⁻ˣ) is 1/(1 + e) or
e/(1 + e). Value and derivatives of any order need this one exponential.
"""

from __future__ import annotations

from typing import Any, final

from pliant.core.ir import Namespace, Value
from pliant.ops.base import Unary
from pliant.ops.compare import Less, Maximum
from pliant.ops.elementwise import Abs, Add, Div, Neg
from pliant.ops.power import if_root, sqrt
from pliant.ops.select import Select
from pliant.ops.transcendental import Exp, Log1p, exp, expm1, log, log1p, logaddexp
from pliant.rewrite.rule import rule


@final
class Logistic(Unary):
    """1/(1 + e⁻ˣ), with a derivative that does not overflow."""

    domain = "f"

    def array(self, xp: Namespace, *xs: Any) -> Any:
        (x,) = xs
        e = xp.exp(-xp.abs(x))
        return xp.where(x < 0, e, xp.ones_like(e)) / (1 + e)

    def tangent(self, y: Value, x: Value, dx: Value) -> Value:
        return dx * (y * logistic(-x))  # not y·(1 − y), which loses the digits of a tiny 1 − y

    def kernel(self, k: Any, i: Any, *xs: Any) -> Any:
        (x,) = xs
        s, one = x(i), k.const(1, x.type.dtype)
        e = k.scalar(Exp(), k.scalar(Neg(), k.scalar(Abs(), s)))
        is_negative = k.scalar(Less(), s, k.const(0, x.type.dtype))
        return k.scalar(Div(), k.scalar(Select(), is_negative, e, one), k.scalar(Add(), one, e))


@final
class Softplus(Unary):
    """log(1 + eˣ) without overflow."""

    domain = "f"

    def array(self, xp: Namespace, *xs: Any) -> Any:
        (x,) = xs
        return xp.where(x < 0, xp.zeros_like(x), x) + xp.log1p(xp.exp(-xp.abs(x)))

    def tangent(self, y: Value, x: Value, dx: Value) -> Value:
        return dx * logistic(x)

    def kernel(self, k: Any, i: Any, *xs: Any) -> Any:
        (x,) = xs
        s = x(i)
        e = k.scalar(Exp(), k.scalar(Neg(), k.scalar(Abs(), s)))
        return k.scalar(Add(), k.scalar(Maximum(), s, k.const(0, x.type.dtype)), k.scalar(Log1p(), e))


logistic, softplus = Logistic(), Softplus()


def are_real(**values: Value) -> bool:
    """Whether the matched values are real floats."""
    return all(x.dtype[0] == "f" for x in values.values())


@rule(level="stable", where=are_real)
def log_of_one_plus(x: Any) -> tuple[Any, Any]:
    """log(1 + x) → log1p(x): keeps the digits of x when |x| ≪ 1."""
    return log(1 + x), log1p(x)


@rule(level="stable", where=are_real)
def log_of_one_minus(x: Any) -> tuple[Any, Any]:
    """log(1 − x) → log1p(−x): keeps the digits of x when |x| ≪ 1."""
    return log(1 - x), log1p(-x)


@rule(level="stable", where=are_real)
def exp_minus_one(x: Any) -> tuple[Any, Any]:
    """eˣ − 1 → expm1(x): keeps the digits of x when |x| ≪ 1."""
    return exp(x) - 1, expm1(x)


@rule(level="stable", where=are_real)
def log1p_of_expm1(x: Any) -> tuple[Any, Any]:
    """log1p(expm1 x) → x: the left side overflows for large x."""
    return log1p(expm1(x)), x


@rule(level="stable", where=are_real)
def log_of_exp(x: Any) -> tuple[Any, Any]:
    """log(eˣ) → x: the left side overflows for large x and underflows for small x."""
    return log(exp(x)), x


@rule(level="stable", where=are_real)
def log_of_sum_of_exps(x: Any, y: Any) -> tuple[Any, Any]:
    """log(eˣ + eʸ) → logaddexp(x, y): no overflow."""
    return log(exp(x) + exp(y)), logaddexp(x, y)


@rule(level="stable", where=are_real)
def log1p_of_exp(x: Any) -> tuple[Any, Any]:
    """log1p(eˣ) → softplus(x): no overflow, and a derivative without ∞/∞."""
    return log1p(exp(x)), softplus(x)


@rule(level="stable", where=are_real)
def logaddexp_with_zero(x: Any) -> tuple[Any, Any]:
    """logaddexp(0, x) → softplus(x): the same, with one exponential for value and derivative."""
    return logaddexp(0, x), softplus(x)


@rule(level="stable", where=are_real)
def reciprocal_of_one_plus_exp(x: Any) -> tuple[Any, Any]:
    """1/(1 + eˣ) → logistic(−x): the derivative of the left side is ∞/∞ for large x."""
    return 1 / (1 + exp(x)), logistic(-x)


@rule(level="stable", where=are_real)
def exp_over_one_plus_exp(x: Any) -> tuple[Any, Any]:
    """eˣ/(1 + eˣ) → logistic(x): the left side is ∞/∞ for large x."""
    return exp(x) / (1 + exp(x)), logistic(x)


@rule(level="stable", where=are_real)
def one_minus_logistic(x: Any) -> tuple[Any, Any]:
    """1 − logistic(x) → logistic(−x): nothing cancels when the result is small."""
    return 1 - logistic(x), logistic(-x)


@rule(level="stable", where=are_real)
def log_of_logistic(x: Any) -> tuple[Any, Any]:
    """log(logistic x) → −softplus(−x): the logistic function underflows where its logarithm is −x."""
    return log(logistic(x)), -softplus(-x)


@rule(level="stable", where=are_real)
def log1p_of_minus_logistic(x: Any) -> tuple[Any, Any]:
    """log1p(−logistic x) → −softplus(x): log(1 − p) of a probability p that rounds to 1."""
    return log1p(-logistic(x)), -softplus(x)


@rule(level="stable", where=are_real)
def x_minus_softplus(x: Any) -> tuple[Any, Any]:
    """x − softplus(x) → −softplus(−x): nothing cancels for large x."""
    return x - softplus(x), -softplus(-x)


@rule(level="stable", where=are_real)
def sqrt_of_square(x: Any) -> tuple[Any, Any]:
    """√(x·x) → |x|: the square overflows and underflows; the derivative at 0 is 0, not NaN."""
    return sqrt(x * x), Abs()(x)


@rule(level="stable", where=are_real)
def square_of_sqrt(x: Any) -> tuple[Any, Any]:
    """√x·√x → x, for x ≥ 0, else NaN: without rounding, and a derivative at 0 that is not 0·∞."""
    return sqrt(x) * sqrt(x), if_root(x)


@rule(level="stable", where=are_real)
def square_of_divided_sqrt(x: Any, y: Any) -> tuple[Any, Any]:
    """(√x/y)·(√x/y) → x/y/y, likewise: x/y lies between x and the result, so nothing overflows before it does."""
    return (sqrt(x) / y) * (sqrt(x) / y), if_root(x) / y / y


@rule(level="stable", where=are_real)
def square_of_multiple_of_sqrt(x: Any, y: Any) -> tuple[Any, Any]:
    """(√x·y)·(√x·y) → x·y·y, likewise."""
    return (sqrt(x) * y) * (sqrt(x) * y), if_root(x) * y * y


RULES = (
    log_of_one_plus,
    log_of_one_minus,
    exp_minus_one,
    log1p_of_expm1,
    log_of_exp,
    log_of_sum_of_exps,
    log1p_of_exp,
    logaddexp_with_zero,
    reciprocal_of_one_plus_exp,
    exp_over_one_plus_exp,
    one_minus_logistic,
    log_of_logistic,
    log1p_of_minus_logistic,
    x_minus_softplus,
    sqrt_of_square,
    square_of_sqrt,
    square_of_divided_sqrt,
    square_of_multiple_of_sqrt,
)
