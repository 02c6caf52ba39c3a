"""`pliant.at(x, key).add(y)`: updates out of place, inside traced functions and outside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, final

import numpy as np

from pliant.frontend.convert import as_traced
from pliant.frontend.functions.at import At
from pliant.frontend.tracing import is_tracing


class Update(Protocol):
    """What `at` returns: each method gives a new array, x stays as it is."""

    def get(self) -> Any:
        """The elements, as a copy."""
        ...

    def set(self, y: Any) -> Any:
        """x with the elements replaced by y; of several for one place, the last."""
        ...

    def add(self, y: Any) -> Any:
        """x with y added to the elements; places named twice get both, as `np.add.at`."""
        ...


@final
@dataclass(frozen=True)
class NumPyAt:
    """The same on NumPy arrays."""

    x: Any
    key: Any

    def get(self) -> Any:
        """The elements, as a copy."""
        return np.array(self.x[self.key])

    def set(self, y: Any) -> Any:
        """x with the elements replaced by y; of several for one place, the last."""
        made = np.array(self.x)
        made[self.key] = y
        return made

    def add(self, y: Any) -> Any:
        """x with y added to the elements; places named twice get both."""
        made = np.array(self.x)
        np.add.at(made, self.key, y)
        return made


def at(x: Any, key: Any) -> Update:
    """The part `x[key]` of an array, to update without writing to x.

    >>> import numpy as np, pliant
    >>> pliant.at(np.zeros(3), [1, 1]).add(2.0)
    array([0., 4., 0.])
    """
    return At(as_traced(x), key) if is_tracing() else NumPyAt(np.asarray(x), key)
