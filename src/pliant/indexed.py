"""`pliant.at(x, key).add(y)`: updates out of place, inside traced functions and outside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, final

import numpy as np

from pliant.core.data import frozen
from pliant.core.origin import here
from pliant.errors import ShapeError
from pliant.frontend.convert import as_traced
from pliant.frontend.functions.at import At, no_operation
from pliant.frontend.tracing import is_tracing


class Update(Protocol):
    """What `at` returns: each method gives a new array, x stays as it is.

    A place that is named twice gets both updates, one after the other, as by NumPy's `ufunc.at`.
    """

    def get(self) -> Any:
        """The elements, as a copy."""
        ...

    def set(self, y: Any) -> Any:
        """x with the elements replaced by y; of several for one place, the last."""
        ...

    def add(self, y: Any) -> Any:
        """x with y added to the elements, as `np.add.at`."""
        ...

    def subtract(self, y: Any) -> Any:
        """x with y subtracted from the elements, as `np.subtract.at`."""
        ...

    def multiply(self, y: Any) -> Any:
        """x with the elements multiplied by y, as `np.multiply.at`."""
        ...

    def divide(self, y: Any) -> Any:
        """x with the elements divided by y, as `np.divide.at`: integers stay integers."""
        ...

    def power(self, y: Any) -> Any:
        """x with the elements raised to y, as `np.power.at`."""
        ...

    def min(self, y: Any) -> Any:
        """x with the elements replaced by the smaller of them and y, as `np.minimum.at`."""
        ...

    def max(self, y: Any) -> Any:
        """x with the elements replaced by the larger of them and y, as `np.maximum.at`."""
        ...

    def apply(self, f: Callable[..., Any], *operands: Any) -> Any:
        """x with f applied to the elements: any ufunc, with its second operand, or a function of one number."""
        ...


@final
@frozen
class NumPyAt:
    """The same on NumPy arrays."""

    x: Any
    key: Any

    def __getattr__(self, name: str) -> Any:
        raise no_operation(name, self)

    def get(self) -> Any:
        """The elements, as a copy."""
        return np.array(self.x[self.key])

    def set(self, y: Any) -> Any:
        """x with the elements replaced by y; of several for one place, the last."""
        made = np.array(self.x)
        made[self.key] = y
        return made

    def add(self, y: Any) -> Any:
        """x with y added to the elements."""
        return self.apply(np.add, y)

    def subtract(self, y: Any) -> Any:
        """x with y subtracted from the elements."""
        return self.apply(np.subtract, y)

    def multiply(self, y: Any) -> Any:
        """x with the elements multiplied by y."""
        return self.apply(np.multiply, y)

    def divide(self, y: Any) -> Any:
        """x with the elements divided by y."""
        return self.apply(np.divide, y)

    def power(self, y: Any) -> Any:
        """x with the elements raised to y."""
        return self.apply(np.power, y)

    def min(self, y: Any) -> Any:
        """x with the elements replaced by the smaller of them and y."""
        return self.apply(np.minimum, y)

    def max(self, y: Any) -> Any:
        """x with the elements replaced by the larger of them and y."""
        return self.apply(np.maximum, y)

    def apply(self, f: Callable[..., Any], *operands: Any) -> Any:
        """x with f applied to the elements, as often as they are named."""
        made = np.array(self.x)
        if isinstance(f, np.ufunc):
            try:
                f.at(made, self.key, *operands)
            except ValueError:
                self._check(operands)
                raise
            return made
        numbers = made.astype(object)
        np.frompyfunc(f, 1, 1).at(numbers, self.key, *operands)
        return numbers.astype(made.dtype)

    def _check(self, operands: Sequence[Any]) -> None:
        """ShapeError if the elements have not the shape of operands; NumPy's error names none."""
        shape = np.shape(self.x[self.key])
        for y in map(np.asarray, operands):
            try:
                np.broadcast_to(y, shape)
            except ValueError:
                raise ShapeError(f"could not broadcast {y.dtype}{list(y.shape)} to shape {shape}").at(
                    ("here", here())
                ) from None


def at(x: Any, key: Any) -> Update:
    """The part `x[key]` of an array, to update without writing to x.

    >>> import numpy as np, pliant
    >>> pliant.at(np.zeros(3), [1, 1]).add(2.0)
    array([0., 4., 0.])
    """
    return At(as_traced(x), key) if is_tracing() else NumPyAt(np.asarray(x), key)
