"""Updates out of place: `x.at[i].set(y)` and `.add(y)`; and `ufunc.at`, which updates in place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from pliant.core.ir import Value
from pliant.core.types import DTYPES, Type
from pliant.frontend.array import TracedArray, fresh, view
from pliant.frontend.convert import as_traced, broadcast_value, cast_value, result_dtype, value_of, with_type
from pliant.frontend.functions.common import solid, unsupported
from pliant.frontend.index import basic_lenses, parse, scattered, traced_mask
from pliant.frontend.view import write
from pliant.ops import elementwise
from pliant.ops.index import scatter_add
from pliant.ops.select import select


def added(x: TracedArray, key: Any, y: Any) -> Value:
    """The value of x after `xp.add.at(x, key, y)`: places named twice get both."""
    u = value_of(y, x.type.dtype)
    mask = traced_mask(key)
    if mask is not None:
        if u.shape:
            raise unsupported("np.add.at with a traced mask adds one number to every place it selects")
        wide = broadcast_value(mask.value, x.shape)
        return elementwise.add(x.value, select(wide, broadcast_value(u, x.shape), 0))
    parsed = parse(key, x.type)
    if not parsed.is_basic:
        return scattered(x.value, parsed, u, scatter_add)
    part = view(x, *basic_lenses(parsed, x.shape))
    after = elementwise.add(part.value, with_type(u, Type(x.type.dtype, part.shape)))
    return write(x.value, part.lenses[len(x.lenses) :], after) if len(part.lenses) > len(x.lenses) else after


@final
@dataclass(frozen=True)
class AtIndexer:
    """`x.at`: index it with the key to update."""

    x: TracedArray

    def __getitem__(self, key: Any) -> At:
        return At(self.x, key)


@final
@dataclass(frozen=True)
class At:
    """`x.at[key]`: what its methods return is a new array; x stays as it is."""

    x: TracedArray
    key: Any

    def get(self) -> TracedArray:
        """The elements, as a copy."""
        return fresh(as_traced(self.x[self.key]).value)

    def set(self, y: Any) -> TracedArray:
        """x with the elements replaced by y; of several for one place, the last."""
        made = fresh(solid(self.x).value, is_array=True)
        made[self.key] = y
        return made

    def add(self, y: Any) -> TracedArray:
        """x with y added to the elements; places named twice get both."""
        return fresh(added(solid(self.x), self.key, y), is_array=True)

    def _refuse(self, *args: Any) -> Any:
        raise unsupported("x.at[...] has .get, .set and .add", "write x = x.copy(); x[i] = ... for the others")

    subtract = multiply = divide = power = min = max = apply = _refuse


def add_at(a: Any, indices: Any, b: Any) -> None:
    """np.add.at: writes into `a`."""
    x = as_traced(a)
    x.replace(cast_value(added(x, indices, _addend(x, b)), x.type.dtype))


def subtract_at(a: Any, indices: Any, b: Any) -> None:
    """np.subtract.at: writes into `a`."""
    x = as_traced(a)
    x.replace(cast_value(added(x, indices, -_addend(x, b)), x.type.dtype))


def _addend(x: TracedArray, b: Any) -> TracedArray:
    """`b` as numbers of x's dtype; NumPy would round every sum of wider ones."""
    made = DTYPES[result_dtype(x, b)]
    if not np.can_cast(made, x.dtype, "same_kind"):
        raise unsupported(f"ufunc.at: cannot add {as_traced(b).type} to elements of {x.type}", "use .astype(...)")
    return fresh(value_of(b, x.type.dtype), is_array=True)


AT: dict[np.ufunc, Callable[..., None]] = {np.add: add_at, np.subtract: subtract_at}
"""`ufunc.at` for the ufuncs that have it."""
