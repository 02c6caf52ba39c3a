"""Functions of singular values: u·diag(f(s))·vh, as gradients of norms by singular values are.

The matrix [[0, a], [aᴴ, 0]] is Hermitian, with eigenvalues ±s; as functions of it, with f odd, these
products are differentiated like those of `spectral_function`, also where singular values are equal.
"""

from __future__ import annotations

from typing import cast, final

from pliant.core.data import frozen
from pliant.core.ir import Tangents, Value, nodes
from pliant.core.types import Type
from pliant.errors import ShapeError
from pliant.ops.compare import equal
from pliant.ops.contract import Dot
from pliant.ops.elementwise import convert
from pliant.ops.matrix import (
    adjoint,
    diagonals,
    on_diagonal,
    products,
    scale_columns,
    scale_rows,
    symmetric,
)
from pliant.ops.select import select
from pliant.ops.spectral import Determined, SingularValues, Svd, sums
from pliant.ops.spectral_function import Factor, Recombined, divided, factors, product_of_numbers, slope_of, upright
from pliant.rewrite.rule import rewrite


@final
@frozen
class FromSingularValues(Recombined):
    """u·diag(c)·vh of a = u·diag(s)·vh: `t[…, m, n], t[…, k], t[…, k] → t[…, m, n]`, k = min(m, n).

    c = f(s) of the singular values. `full`: which decomposition it shares; only if m = n.
    """

    full: bool = False

    def infer(self, a: Type, c: Type, slope: Type) -> Type:
        lead, m, n = self.matrices(a)
        if c != slope or c != Type(a.dtype, (*lead, min(m, n))) or (self.full and m != n):
            raise ShapeError(f"{self.name}: {c} and {slope} are not of one number for each singular value of {a}")
        return a

    def expand(self, a: Value, c: Value, slope: Value) -> Value:
        u, _, vh = Svd(self.full).apply(a)
        return products(scale_columns(u, c), vh)

    def turned(self, a: Value, c: Value, slope: Value, da: Value) -> Value:
        u, s, vh = Svd(self.full).apply(a)
        u, v, (m, n) = Determined()(u, s), Determined()(adjoint(vh), s), a.shape[-2:]
        vh = adjoint(v)
        to_u = products(da, v)
        rate = products(adjoint(u), to_u)
        even = symmetric(rate)
        same = select(on_diagonal(rate.shape), 0, divided(c, slope, s) * even)
        crossed = _over(sums(c), convert(sums(s), c.dtype), 0.5 * sums(slope)) * (rate - even)
        made = products(u, same + crossed, vh)
        ratio = _over(c, convert(s, c.dtype), slope)
        if m > n:
            made = made + products(scale_columns(to_u - products(u, rate), ratio), vh)
        if n > m:
            to_v = products(adjoint(u), da)
            made = made + products(u, scale_rows(ratio, to_v - products(rate, vh)))
        return made

    def transpose(self, ct: Value, a: Value | Type, c: Value | Type, slope: Value | Type) -> Tangents:
        assert isinstance(a, Value)
        u, _, vh = Svd(self.full).apply(a)
        return None, diagonals(products(adjoint(u), ct, adjoint(vh))), None


def _over(x: Value, y: Value, limit: Value) -> Value:
    """x / y, and its limit where y is 0."""
    zero = equal(y, 0)
    return select(zero, limit, x / select(zero, 1, y))


@rewrite(Dot)
def function_of_singular_values(value: Value) -> Value | None:
    """u·diag(f(s))·vh → from_singular_values(a, f(s), f'(s)), of a = u·diag(s)·vh; also transposed."""
    product = factors(value)
    if len(product) < 3:
        return None
    (first, *middle, last), back = upright(product)
    c, decomposition = product_of_numbers(middle), first.value.op
    if c is None or not isinstance(decomposition, Svd) or first.value.node is not last.value.node:
        return None
    u, _, vh = cast("tuple[Value, Value, Value]", first.value.node.values)
    rows, columns = (x.shape[n] for x, n in ((u, -2), (vh, -1)))
    if [first, last] != [Factor(u), Factor(vh)] or (decomposition.full and rows != columns):
        return None
    (a,) = first.value.args
    slope = slope_of(c, _singular_values(c, a))
    return None if slope is None else back(FromSingularValues(decomposition.full)(a, c, slope))


def _singular_values(c: Value, a: Value) -> list[Value]:
    """The singular values of `a` that c is made from."""
    found = [n for n in nodes((c,)) if n.args == (a,)]
    return [n.values[1 if isinstance(n.op, Svd) else 0] for n in found if isinstance(n.op, Svd | SingularValues)]


RULES = (function_of_singular_values,)
