"""What an argument of a differentiated function is for: its value, its memory, or its derivative.

An argument's given value matters, or it may be written: never both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final


@final
@dataclass(frozen=True, eq=False, slots=True)
class Constant:
    """An argument whose value matters and has no derivative; it may change from call to call.

    >>> import numpy as np, pliant.diff as diff
    >>> diff.gradient(lambda x, c: np.sum(c * x), diff.Pliant(), np.ones(2), diff.Constant(3.0))
    array([3., 3.])
    """

    value: Any


@final
@dataclass(frozen=True, eq=False, slots=True)
class Cache:
    """Memory that the function may write: an array or a container of arrays. Its initial content
    is never looked at, and it holds nothing of meaning afterwards."""

    value: Any


@final
@dataclass(frozen=True, eq=False, slots=True)
class ConstantOrCache:
    """A container whose leaves are each a `Constant` or a `Cache`; the function gets their values."""

    value: Any


@final
@dataclass(frozen=True, eq=False, slots=True)
class Active:
    """A further argument to differentiate: derivatives are then tuples, x's first. `derivative` and
    `second_derivative`, which are by one number, take none.

    >>> import numpy as np, pliant.diff as diff
    >>> diff.gradient(lambda x, w: np.sum(w * x), diff.Pliant(), np.ones(2), diff.Active(np.arange(2.0)))
    (array([0., 1.]), array([1., 1.]))
    """

    value: Any


Context = Constant | Cache | ConstantOrCache | Active
