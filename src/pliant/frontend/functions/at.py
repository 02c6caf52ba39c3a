"""`ufunc.at`: updates in place, of each place as often as it is named; and `x.at[i]`, the same out of place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, final

import numpy as np

from pliant.core.build import free_values, trace
from pliant.core.data import frozen
from pliant.core.ir import Function, Value, const
from pliant.core.origin import here
from pliant.core.scope import current_scope
from pliant.core.types import DTYPES, Type
from pliant.errors import ArgumentError, DTypeError, PliantError
from pliant.frontend.array import TracedArray, fresh, view
from pliant.frontend.comparisons import COMPARISONS
from pliant.frontend.convert import (
    as_traced,
    broadcast_value,
    cast_value,
    loop_dtypes,
    value_of,
    warn_of_lost_parts,
)
from pliant.frontend.functions.common import solid, unsupported
from pliant.frontend.functions.ufuncs import STEPS, UFUNCS, check_second
from pliant.frontend.index import getitem, scattered
from pliant.frontend.keys import basic_lenses, parse
from pliant.frontend.kinds import is_array, is_traced
from pliant.frontend.masks import at_places, selected
from pliant.frontend.ufunc import call
from pliant.ops.bits import bitwise_and
from pliant.ops.elementwise import neg
from pliant.ops.index import scatter_add
from pliant.ops.scatter_extremum import scatter_max, scatter_min
from pliant.ops.scatter_fold import scatter_fold
from pliant.ops.select import select
from pliant.ops.shape import broadcast

Scatter = Callable[..., Value]  # (x, indices, u, unique=…) → x after the updates


def scatter_subtract(x: Value, indices: Sequence[Value], u: Value, *, unique: bool = False) -> Value:
    """x after `np.subtract.at(x, i, u)`."""
    return scatter_add(x, indices, neg(u), unique=unique)


ALONE: dict[np.ufunc, Scatter] = {
    np.add: scatter_add,
    np.subtract: scatter_subtract,
    np.maximum: scatter_max,
    np.minimum: scatter_min,
}
"""Ufuncs whose updates have primitives of their own, where they compute in the dtype of the array."""


@final
@frozen
class Update:
    """What `ufunc.at` does to each element it names: `step` of what is there and of an element of `u`."""

    step: Function
    u: Value
    scatter: Scatter
    check: Callable[[Callable[[Value], Value]], None]  # notes the error about those of `u` that are used

    def once(self, x: Value, u: Value) -> Value:
        """All elements of x, updated once."""
        (made,) = self.step(x, broadcast_value(u, x.shape))
        return broadcast_value(made, x.shape)


def update_of(ufunc: np.ufunc, x: TracedArray, operands: tuple[Any, ...]) -> Update:
    """The update of elements of x by a ufunc and its second operand, with NumPy's unsafe casts."""
    if ufunc.signature is not None or ufunc.nout != 1 or ufunc.nin > 2:
        raise unsupported(f"np.{ufunc.__name__}.at: only ufuncs of one or two operands and one result have it")
    if len(operands) != ufunc.nin - 1:
        raise ArgumentError(f"np.{ufunc.__name__}.at takes {ufunc.nin + 1} operands, got {len(operands) + 2}").at(
            ("here", here())
        )
    builder = STEPS.get(ufunc)
    if builder is None:
        raise unsupported(f"np.{ufunc.__name__}.at is not supported")
    given = [solid(b) for b in operands]
    try:
        ins, (out,) = loop_dtypes(ufunc, (x.dtype, *(b.dtype for b in given)))
    except TypeError:
        types = " and ".join(str(a.type) for a in (x, *given))
        raise DTypeError(f"np.{ufunc.__name__}.at is not defined for {types}").at(("here", here())) from None
    u = cast_value(given[0].value, ins[1]) if given else const(False, "bool")

    def step(v: Value, w: Value) -> Value:
        numbers = [cast_value(a, t) for a, t in zip((v, w), ins, strict=False)]
        is_mixed = ufunc in COMPARISONS and ins[0] != ins[1]  # which are compared by their numbers
        made = value_of(call(UFUNCS, ufunc, tuple(map(fresh, numbers)))) if is_mixed else builder(*numbers)
        return cast_value(cast_value(made, out), x.type.dtype)

    fold = trace(step, Type(x.type.dtype), Type(u.dtype), names=("element", "given"))
    warn_of_lost_parts(np.dtype(DTYPES[out]), x.type.dtype)
    is_alone = ufunc in ALONE and {*ins, out} == {x.type.dtype} and x.type.kind != "b"
    scatter = ALONE[ufunc] if is_alone else partial(scatter_fold, step=fold)
    return Update(fold, u, scatter, partial(check_second, ufunc, ins[0], u))


def updated(x: TracedArray, key: Any, update: Update) -> Value:
    """The value of x after an update at `key`."""
    whole = fresh(x.value, is_array=True)
    found = selected(whole, key, getitem)
    if found is not None:
        part, mask, axis = found
        new = update.once(part.value, at_places(mask.value, update.u, part.shape, axis))
        wide = broadcast(mask.value, part.shape, tuple(range(axis, axis + mask.ndim)))
        update.check(lambda fails: _and(wide, at_places(mask.value, fails, part.shape, axis)))
        part.replace(select(wide, new, part.value))
        return whole.value
    parsed = parse(key, x.type)
    update.check(lambda fails: broadcast_value(fails, as_traced(getitem(whole, key)).shape))
    if not parsed.is_basic:
        return scattered(x.value, parsed, update.u, update.scatter)
    part = view(whole, *basic_lenses(parsed, x.shape))
    part.replace(update.once(part.value, update.u))
    return whole.value


def update_at(ufunc: np.ufunc, a: Any, indices: Any, *operands: Any) -> None:
    """`ufunc.at(a, indices, b)`: writes into `a`."""
    if not is_traced(a) and not is_array(a):
        raise ArgumentError(f"np.{ufunc.__name__}.at: first operand must be array, got {type(a).__name__}").at(
            ("here", here())
        )
    x = as_traced(a)
    x.replace(updated(x, indices, update_of(ufunc, x, operands)))


def _and(x: Value, y: Value) -> Value:
    return bitwise_and(x, broadcast_value(y, x.shape))


@final
@frozen
class AtIndexer:
    """`x.at`: index it with the key to update."""

    x: TracedArray

    def refused(self, what: str = "") -> PliantError:
        """The error where it is returned."""
        return ArgumentError(
            "returning x.at: it is no array", hint="x.at[i].set(y) and x.at[i].add(y) return new arrays"
        ).at(("made here", self.x.value.origin))

    def __getitem__(self, key: Any) -> At:
        return At(self.x, key)


def no_operation(name: str, x: Any) -> AttributeError:
    """The error about an attribute that `x.at[i]` does not have."""
    names = "get, set, add, subtract, multiply, divide, power, min, max and apply"
    return AttributeError(f"x.at[i] has no attribute {name!r}: its methods are {names}", name=name, obj=x)


@final
@frozen
class At:
    """`x.at[key]`: what its methods return is a new array; x stays as it is.

    A place that is named twice gets both updates, in order, as by `ufunc.at`.
    """

    x: TracedArray
    key: Any

    def refused(self, what: str = "") -> PliantError:
        """The error where it is returned."""
        return ArgumentError(
            "returning x.at[i]: it is no array", hint="x.at[i].get() returns the elements, x.at[i].set(y) a new array"
        ).at(("made here", self.x.value.origin))

    def __getattr__(self, name: str) -> Any:
        raise no_operation(name, self)

    def get(self) -> TracedArray:
        """The elements, as a copy."""
        return fresh(as_traced(self.x[self.key]).value)

    def set(self, y: Any) -> TracedArray:
        """x with the elements replaced by y; of several for one place, the last."""
        made = fresh(solid(self.x).value, is_array=True)
        made[self.key] = y
        return made

    def add(self, y: Any) -> TracedArray:
        """x with y added to the elements."""
        return self.apply(np.add, y)

    def subtract(self, y: Any) -> TracedArray:
        """x with y subtracted from the elements."""
        return self.apply(np.subtract, y)

    def multiply(self, y: Any) -> TracedArray:
        """x with the elements multiplied by y."""
        return self.apply(np.multiply, y)

    def divide(self, y: Any) -> TracedArray:
        """x with the elements divided by y; of integers, the quotients lose their fractions."""
        return self.apply(np.divide, y)

    def power(self, y: Any) -> TracedArray:
        """x with the elements raised to y."""
        return self.apply(np.power, y)

    def min(self, y: Any) -> TracedArray:
        """x with the elements replaced by the smaller of them and y."""
        return self.apply(np.minimum, y)

    def max(self, y: Any) -> TracedArray:
        """x with the elements replaced by the larger of them and y."""
        return self.apply(np.maximum, y)

    def apply(self, f: Callable[..., Any], *operands: Any) -> TracedArray:
        """x with f applied to the elements: a ufunc with its second operand, or a function of one number."""
        x = solid(self.x)
        ufunc = getattr(f, "ufunc", f)
        update = update_of(ufunc, x, operands) if isinstance(ufunc, np.ufunc) else _update_by(f, x, operands)
        return fresh(updated(x, self.key, update), is_array=True)


def _update_by(f: Callable[..., Any], x: TracedArray, operands: tuple[Any, ...]) -> Update:
    """The update by a Python function of one number."""
    if operands:
        raise ArgumentError("apply: only a ufunc takes a second operand").at(("here", here()))
    numbers: list[int] = []

    def step(element: Value, given: Value) -> Value:
        scope = current_scope()
        numbers.append(scope.number if scope else 0)
        return cast_value(value_of(f(fresh(element))), x.type.dtype)

    fold = trace(step, Type(x.type.dtype), Type("bool"))
    if free_values(fold, numbers[0]) or any([n.values[0].shape for n in fold.nodes]):
        raise unsupported("apply: the function must take one number to one number, and read no other traced array")
    return Update(fold, const(False, "bool"), partial(scatter_fold, step=fold), _unchecked)


def _unchecked(used: Callable[[Value], Value]) -> None:
    """What is always right needs no check."""


AT: dict[np.ufunc, Callable[..., None]] = {
    ufunc: partial(update_at, ufunc) for ufunc in UFUNCS if ufunc.nout == 1 and ufunc.signature is None
}
"""Ufunc → its `at`."""
