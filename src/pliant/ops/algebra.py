"""Equalities of real numbers that do not say which side is better: an e-graph keeps both, and the cost decides.

They hold over the reals; floats may round differently, and infinities become NaN or the other way round. Not among them
are those by which ordinary finite numbers overflow (log x + log y = log(x·y)), those that idioms rely on not to hold
(x − x tells whether x is finite), those that hold for some numbers only and give NaN for the others (√x·√x = x), as a
graph would have that NaN for all that x is in, and x/c = x·(1/c), by which x/49 == 1 is false for 49.
"""

from __future__ import annotations

from typing import Any, Final

from pliant.core.ir import Const, Value
from pliant.ops.elementwise import Div, Mul, Neg, is_float, is_whole
from pliant.ops.power import Sqrt, if_root, power, sqrt
from pliant.ops.transcendental import exp, log
from pliant.rewrite.rule import Rule, rule

Sides = tuple[Any, Any]


def are_floats(**xs: Value) -> bool:
    """Real or complex floats: whole numbers are not divided, and those without a sign have no differences."""
    return all([x.type.is_float for x in xs.values()])


def are_reals(**xs: Value) -> bool:
    """Real floats."""
    return all([x.dtype[0] == "f" for x in xs.values()])


def are_numbers(**xs: Value) -> bool:
    """Floats or whole numbers, whose sums and products wrap around alike in any order."""
    return all([is_whole(x) or is_float(x) or x.dtype[0] == "c" for x in xs.values()])


def are_numbers_and_first_is_whole(x: Value, y: Value) -> bool:
    """Numbers, and the first is no scalar that meets an array: it stands for the result alone."""
    return are_numbers(x=x, y=y) and (x.shape == y.shape or not y.shape)


def are_floats_and_first_is_whole(x: Value, y: Value) -> bool:
    """The same of floats."""
    return are_floats(x=x, y=y) and (x.shape == y.shape or not y.shape)


def are_alike_below_0(x: Value, m: Value, n: Value) -> bool:
    """Real floats, and not fractions m and n whose sum is a whole number: of x < 0 these are NaN, and it is not."""
    if not are_reals(x=x, m=m, n=n) or not (isinstance(m.op, Const) and isinstance(n.op, Const)):
        return are_reals(x=x, m=m, n=n)
    a, b = float(m.op.value.real), float(n.op.value.real)
    return a.is_integer() or not (a + b).is_integer()


def is_made_of_no_root(x: Any, y: Value) -> bool:
    """Floats, of which the first stands for the result alone, and y is no product with a root, which may be NaN."""
    return are_floats_and_first_is_whole(x, y) and not has_root(y)


def has_root(x: Value) -> bool:
    """Whether a value is a root, or a product or quotient of one."""
    todo, seen = [x], set[Value]()
    while todo:
        factor = todo.pop()
        if isinstance(factor.op, Sqrt):
            return True
        if factor not in seen and isinstance(factor.op, Mul | Div | Neg):
            seen.add(factor)
            todo += factor.args
    return False


@rule(level="algebraic", where=are_numbers, grows=True)
def sum_in_other_order(x: Any, y: Any, z: Any) -> Sides:
    """(x + y) + z = x + (y + z)."""
    return (x + y) + z, x + (y + z)


@rule(level="algebraic", where=are_numbers, grows=True)
def product_in_other_order(x: Any, y: Any, z: Any) -> Sides:
    """(x·y)·z = x·(y·z)."""
    return (x * y) * z, x * (y * z)


@rule(level="algebraic", where=are_numbers)
def common_factor(x: Any, y: Any, z: Any) -> Sides:
    """x·y + x·z = x·(y + z)."""
    return x * y + x * z, x * (y + z)


@rule(level="algebraic", where=are_numbers)
def common_factor_of_difference(x: Any, y: Any, z: Any) -> Sides:
    """x·y − x·z = x·(y − z)."""
    return x * y - x * z, x * (y - z)


@rule(level="algebraic", where=are_floats)
def common_divisor(x: Any, y: Any, z: Any) -> Sides:
    """x/z + y/z = (x + y)/z."""
    return x / z + y / z, (x + y) / z


@rule(level="algebraic", where=are_numbers)
def factor_and_one(x: Any, y: Any) -> Sides:
    """x·y + x = x·(y + 1)."""
    return x * y + x, x * (y + 1.0)


@rule(level="algebraic", where=are_numbers)
def sum_of_same(x: Any) -> Sides:
    """x + x = 2·x."""
    return x + x, 2.0 * x


@rule(level="algebraic", where=are_numbers_and_first_is_whole)
def sum_minus_term(x: Any, y: Any) -> Sides:
    """(x + y) − y = x."""
    return (x + y) - y, x


@rule(level="algebraic", where=are_numbers_and_first_is_whole)
def difference_plus_term(x: Any, y: Any) -> Sides:
    """(x − y) + y = x."""
    return (x - y) + y, x


@rule(level="algebraic", where=are_numbers, grows=True)
def minus_of_difference(x: Any, y: Any, z: Any) -> Sides:
    """x − (y − z) = (x − y) + z."""
    return x - (y - z), (x - y) + z


@rule(level="algebraic", where=are_numbers, grows=True)
def minus_of_sum(x: Any, y: Any, z: Any) -> Sides:
    """(x − y) − z = x − (y + z)."""
    return (x - y) - z, x - (y + z)


@rule(level="algebraic", where=are_numbers, grows=True)
def sum_with_difference(x: Any, y: Any, z: Any) -> Sides:
    """x + (y − z) = (x + y) − z."""
    return x + (y - z), (x + y) - z


@rule(level="algebraic", where=is_made_of_no_root)
def product_over_factor(x: Any, y: Any) -> Sides:
    """x·y / y = x, for y ≠ 0."""
    return (x * y) / y, x


@rule(level="algebraic", where=is_made_of_no_root)
def quotient_times_divisor(x: Any, y: Any) -> Sides:
    """x/y · y = x, for y ≠ 0."""
    return (x / y) * y, x


@rule(level="algebraic", where=are_floats, grows=True)
def product_over_divisor(x: Any, y: Any, z: Any) -> Sides:
    """x · (y/z) = (x·y)/z."""
    return x * (y / z), (x * y) / z


@rule(level="algebraic", where=are_floats, grows=True)
def quotient_of_scaled(x: Any, y: Any, z: Any) -> Sides:
    """(x·y)/z = x · (y/z): where y and z are scalars, one division."""
    return (x * y) / z, x * (y / z)


@rule(level="algebraic", where=are_floats)
def quotient_of_quotient(x: Any, y: Any, z: Any) -> Sides:
    """(x/y)/z = x/(y·z)."""
    return (x / y) / z, x / (y * z)


@rule(level="algebraic", where=are_floats)
def over_quotient(x: Any, y: Any, z: Any) -> Sides:
    """x/(y/z) = (x·z)/y."""
    return x / (y / z), (x * z) / y


@rule(level="algebraic", where=are_floats)
def product_of_exps(x: Any, y: Any) -> Sides:
    """eˣ·eʸ = eˣ⁺ʸ."""
    return exp(x) * exp(y), exp(x + y)


@rule(level="algebraic", where=are_floats)
def quotient_of_exps(x: Any, y: Any) -> Sides:
    """eˣ/eʸ = eˣ⁻ʸ."""
    return exp(x) / exp(y), exp(x - y)


@rule(level="algebraic", where=are_floats)
def over_exp(x: Any, y: Any) -> Sides:
    """x/eʸ = x·e⁻ʸ."""
    return x / exp(y), x * exp(-y)


@rule(level="algebraic", where=are_reals)
def exp_of_log(x: Any) -> Sides:
    """exp(log x) = x, for x ≥ 0, else NaN."""
    return exp(log(x)), if_root(x)


@rule(level="algebraic", where=are_reals)
def log_of_root(x: Any) -> Sides:
    """log √x = (log x)/2."""
    return log(sqrt(x)), 0.5 * log(x)


@rule(level="algebraic", where=are_alike_below_0)
def product_of_powers(x: Any, m: Any, n: Any) -> Sides:
    """xᵐ·xⁿ = xᵐ⁺ⁿ, for x > 0."""
    return power(x, m) * power(x, n), power(x, m + n)


@rule(level="algebraic", where=are_reals)
def over_root(x: Any) -> Sides:
    """x/√x = √x, for x > 0."""
    return x / sqrt(x), sqrt(x)


EQUALITIES: Final[tuple[Rule, ...]] = (
    sum_in_other_order, product_in_other_order, common_factor, common_factor_of_difference, common_divisor,
    factor_and_one, sum_of_same, sum_minus_term, difference_plus_term, minus_of_difference, minus_of_sum,
    sum_with_difference, product_over_factor, quotient_times_divisor, product_over_divisor, quotient_of_scaled,
    quotient_of_quotient, over_quotient, product_of_exps, quotient_of_exps, over_exp, exp_of_log,
    log_of_root, product_of_powers, over_root,
)  # fmt: skip
"""Of elementwise operations."""
