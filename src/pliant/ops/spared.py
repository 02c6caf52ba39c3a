"""Products and quotients of a cotangent, which stay zero where it is known to be zero: see `select`.

Choices of the program say for good where that is. Where a sum of many parts is zero is found out by looking at it. That
it is zero now does not mean that it always is: its derivative need not be zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Any, final

from pliant.core.data import frozen
from pliant.core.inner import functions_of
from pliant.core.ir import Namespace, Tangents, Value, Values
from pliant.core.types import Type
from pliant.ops.base import Elementwise, fit, sum_of, unfit
from pliant.ops.bits import BitwiseAnd, bitwise_and, logical_or
from pliant.ops.compare import NotEqual, equal
from pliant.ops.complex import conj
from pliant.ops.select import (
    DEPTH,
    Find,
    Select,
    at_places_of,
    is_zero,
    select,
    support,
    type_under,
    updated_by,
    with_update,
)
from pliant.ops.shape import Broadcast, broadcast, permute


@final
@frozen
class Spared(Elementwise):
    """c·k, or c/k, where the condition holds, else 0: `bool[…], f[…], f[…] → f[…]`. c is zero where it does not hold.

    The derivative by c is that of the product, but where that is 0·∞."""

    divides: bool
    domain = "fc"
    arity = 3

    def infer(self, condition: Type, c: Type, k: Type) -> Type:
        return type_under(self.name, condition, c, k)

    def array(self, xp: Namespace, condition: Any, c: Any, k: Any) -> Any:
        return xp.where(condition, c / k if self.divides else c * k, 0)

    def product(self, c: Value, k: Value) -> Value:
        """What it is where the condition holds."""
        return c / k if self.divides else c * k

    def inline(self, condition: Value, c: Value, k: Value) -> Values:
        """A choice, once derivatives are taken."""
        return (select(condition, self.product(unmasked(c), k), 0),)

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        (condition, c, k), (_, dc, dk) = xs, dxs
        y, terms = self(*xs), list[Value]()
        if dc is not None:
            made = self.product(c, k)
            terms.append(select(logical_or(condition, equal(made, made)), self.product(dc, k), 0))
        if dk is not None:
            terms.append(Spared(divides=False)(condition, *((y, -dk / k) if self.divides else (c, dk))))
        return (y,), (fit(sum_of(terms), y.type) if terms else None,)

    def transpose(self, ct: Value, condition: Value, c: Any, k: Value | Type) -> Tangents:
        return None, None, unfit(Spared(divides=False)(condition, conj(c), ct), k)  # c/k is not linear in k

    def support(self, find: Find, condition: Value, c: Value, k: Value) -> Value | None:
        return condition


def sparing(ct: Value, k: Value, *, divides: bool = False) -> Value:
    """`ct·k`, or `ct/k`: zero where `ct` is known to be zero. Where it is an update of zeros, what is written is
    multiplied, and the result is written."""
    updates = list[Value]()
    while len(updates) < DEPTH and (there := at_places_of(ct, k)) is not None:
        updates.append(ct)
        ct, k = updated_by(ct), there
    op, mask = Spared(divides), support(ct)
    if mask is None:
        made = op.product(ct, k)
    elif is_looked_at(mask):
        made = op(mask, ct, k)
    else:
        made = op.inline(mask, ct, k)[0]
    for update in reversed(updates):
        made = with_update(update, made)
    return made


def spared_factor(ct: Value, k: Value, axes: Mapping[int, int]) -> Value:
    """The factor `k` of a cotangent, with zeros where all that it meets is known to be zero. axes: those of k, by those
    of ct that run along them."""
    mask = support(ct)
    if mask is None or is_looked_at(mask) or (there := along(mask, axes, k.shape)) is None:
        return k
    return select(there, k, 0)


def along(mask: Value, axes: Mapping[int, int], shape: tuple[int, ...]) -> Value | None:
    """A mask as one of another shape, which holds at least there. axes: those that are there as others; what of two
    conditions that both have to hold varies along more of them is left out."""
    is_both = isinstance(mask.op, BitwiseAnd) or (isinstance(mask.op, Select) and is_zero(mask.args[2]))
    if mask.dtype != "bool" or not is_both:
        return _just_along(mask, axes, shape)
    found = [part for x in mask.args[:2] if (part := along(x, axes, shape)) is not None]
    return reduce(bitwise_and, found) if found else None


def _just_along(x: Value, axes: Mapping[int, int], shape: tuple[int, ...]) -> Value | None:
    """A value as one of another shape, if it varies along no axes but some that are there as others."""
    if isinstance(x.op, Elementwise):
        parts = [part for a in x.args if (part := _just_along(a, axes, shape)) is not None]
        return x.op(*parts) if len(parts) == len(x.args) else None
    own = tuple(range(x.type.rank))
    if isinstance(x.op, Broadcast):
        own, (x,) = x.op.axes, x.args
    if not set(own) <= set(axes):
        return None
    new = [axes[a] for a in own]
    order = sorted(range(len(new)), key=new.__getitem__)
    return broadcast(permute(x, order), shape, tuple(sorted(new)))


def is_looked_at(mask: Value) -> bool:
    """Whether it is said by what a value is now where it is zero, if only in part."""
    seen, todo = set[Value](), [mask]
    while todo:
        value = todo.pop()
        if value in seen or value.dtype != "bool":
            continue
        seen.add(value)
        is_asked = isinstance(value.op, NotEqual) and is_zero(value.args[1])
        if is_asked or functions_of(value.op):  # a branch may ask
            return True
        todo += value.args
    return False


def unmasked(ct: Value) -> Value:
    """What a cotangent was before choices put zeros into it; the caller puts them back."""
    while isinstance(ct.op, Select):
        _, x, y = ct.args
        kept = x if is_zero(y) else y if is_zero(x) else ct
        if kept is ct or kept.shape != ct.shape:
            break
        ct = kept
    return ct


RULES = ()
