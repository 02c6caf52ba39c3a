"""Every exception Pliant raises on purpose: the message, the user's lines, one hint.

Each class is also a subclass of the builtin exception that a NumPy user would catch.
"""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING, Any, Final, Self

from numpy.exceptions import AxisError
from numpy.linalg import LinAlgError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pliant.core.origin import Origin

NOWHERE: Final = 1 << 40  # a position that no array has: where what an index is of is shorter at run time


class PliantError(Exception):
    """Base class: what went wrong, then where in the user's code, then a hint."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.places: Sequence[tuple[str, Origin]] = ()
        self.needs: tuple[Any, ...] = ()  # values without which it might not have arisen, the innermost first

    def needing(self, *values: Any) -> Self:
        """Attach values that would have to be known while tracing."""
        self.needs = (*self.needs, *values)
        return self

    def at(self, *places: tuple[str, Origin]) -> Self:
        """Attach (label, origin) pairs unless it has some; the first is where it arose."""
        self.places = self.places or places
        return self

    def __str__(self) -> str:
        lines = [self.message]
        lines += [origin.render(label) for label, origin in self.places]
        lines += [f"hint: {self.hint}"] if self.hint else []
        return "\n".join(lines)


class ShapeError(PliantError, ValueError):
    """Operand shapes do not fit the operation."""


class MatrixError(ShapeError, LinAlgError):
    """What is no matrix, or no square one."""


class DTypeError(PliantError, TypeError):
    """Operand dtypes do not fit the operation, or a cast is not allowed."""


class IndexRangeError(PliantError, IndexError):
    """An index lies outside its axis, or is no index at all."""


def out_of_range(index: int, axis: int, extent: int, name: str = "") -> IndexRangeError:
    """The error of an index at run time, where negative ones have been counted from the end already. name:
    of the primitive."""
    given, is_write = index if index >= 0 else index - extent, name.startswith("scatter")
    start = "a write: " if is_write else ""
    if abs(given) >= NOWHERE:
        return IndexRangeError(f"{start}an index is out of range: what it is of has fewer elements at run time")
    nearest = f"np.clip(i, 0, {extent - 1})" if is_write else "np.take(x, i, mode='clip')"
    return IndexRangeError(
        f"{start}index {given} is out of range for axis {axis} of extent {extent}",
        hint=f"indices go from {-extent} to {extent - 1}; {nearest} takes the nearest of these"
        if extent
        else "the axis is empty",
    )


def beyond(start: int, axis: int, extent: int, count: int) -> IndexRangeError:
    """The error of a slice of a known number of elements, of which some do not exist at run time."""
    if count < 2:
        return out_of_range(start, axis, extent)
    return IndexRangeError(
        f"a slice of {count} elements that starts at {start} leaves axis {axis} of extent {extent}",
        hint="NumPy's slice would be shorter, which a compiled array cannot be: clip the start, as in "
        f"k = np.clip(k, 0, {max(extent - count, 0)}), or np.take(x, k + np.arange({count}), mode='clip')",
    )


class AxisRangeError(PliantError, AxisError):
    """An axis number lies outside the array's axes."""


class NumberRangeError(PliantError, OverflowError):
    """A Python integer does not fit into the dtype of the array that it meets."""


class TracedValueError(PliantError, TypeError):
    """Python needs a concrete value where only a traced one is known."""


class UnboundError(PliantError, UnboundLocalError):
    """A name is used that may have no value, or none that a program can hold."""


class UnsupportedError(PliantError, NotImplementedError):
    """A NumPy feature that Pliant does not compile.

    holders: the objects from outside that would be left with what is known only at run time, if that is what is wrong.
    made: the object that the function has made, and cannot return.
    """

    holders: tuple[Any, ...] = ()
    made: tuple[Any, ...] = ()


class LayoutError(PliantError, AttributeError):
    """The elements of an array do not lie in memory as another shape of it needs them."""


class MissingError(PliantError, AttributeError):
    """An array has no such attribute, or none that can be set."""


class ReadOnlyError(PliantError, ValueError):
    """A write to an array that is read-only."""


class ArgumentError(PliantError, TypeError):
    """A transformation was called with arguments that it cannot take."""


class DifferentiationError(PliantError, TypeError):
    """Something was differentiated that has no derivative."""


class MutationError(PliantError, ValueError):
    """A differentiated function wrote to an argument whose value matters."""


class PreparationError(PliantError, ValueError):
    """A preparation was used for a call that it was not made for."""


class UnavailableError(PliantError, ImportError):
    """A differentiation system whose package is not installed."""


class DomainError(PliantError, ValueError):
    """A value lies outside what the operation is defined for, like a singular matrix."""


class NoWeightError(PliantError, ZeroDivisionError):
    """The weights of a mean add up to nothing."""


class OutOfMemoryError(PliantError, MemoryError):
    """What a loop keeps for its derivative needs more memory than there is."""


_ASSIGNED: Final = "NumPy boolean array indexing assignment cannot assign"
_ONE: Final = "an extent that is 1 only at run time is not repeated, as NumPy's would be: index the element, as in x[n]"

FAILURES: Final[Mapping[str, tuple[tuple[type[PliantError], str, str], ...]]] = {
    "integer": (
        (DomainError, "cannot convert float NaN to integer", ""),
        (NumberRangeError, "cannot convert float infinity to integer", "nor numbers of more than 64 bits, as 2.0**63"),
    ),
    "fits": ((NumberRangeError, "Python integer {code} out of bounds for {0}", "convert it with .astype(...)"),),
    "assigned": (
        (ShapeError, _ASSIGNED + " {0} input values to the {count} output values where the mask is true", ""),
    ),
    "assigned_some": (
        (ShapeError, _ASSIGNED + " other input values than {count} to the {count} output values of the mask", ""),
    ),
    "rows": ((ShapeError, "shape mismatch: {0} rows could not be broadcast to the {count} that the mask selects", ""),),
    "places": (
        (
            IndexRangeError,
            "shape mismatch: {count} places of an index array do not fit those of the arrays beside it",
            "index arrays have as many places as each other, or one",
        ),
    ),
    "extents": (
        (ShapeError, "operands could not be broadcast together: their extents, known only at run time, differ", _ONE),
    ),
    "operands": ((ShapeError, "operands could not be broadcast together with shapes ({count},) ({0},)", _ONE),),
    "bincount": (
        (DomainError, "np.bincount: 'list' argument must have no negative elements", ""),
        (
            IndexRangeError,
            "np.bincount: an element is not below minlength={0}, so NumPy's result would have more elements",
            "give a minlength above all elements, or bound these: np.bincount(np.minimum(x, {0} - 1), minlength={0})",
        ),
    ),
    "coordinates": ((DomainError, "np.ravel_multi_index: invalid entry in coordinates array", ""),),
    "flat_index": ((DomainError, "np.unravel_index: an index is out of bounds for array with size {0}", ""),),
    "choice": ((DomainError, "np.choose: invalid entry in choice array", ""),),
    "only_nan": ((DomainError, "All-NaN slice encountered", ""),),
    "observations": ((ArgumentError, "{0} must be integer", ""), (DomainError, "{0} cannot be negative", "")),
    "rising": ((DomainError, "`bins` must increase monotonically, when an array", ""),),
    "monotonic": ((DomainError, "bins must be monotonically increasing or decreasing", ""),),
    "finite_range": ((DomainError, "the range of the bins is not finite", "give range=(low, high)"),),
    "range": ((DomainError, "max must be larger than min in range parameter.", ""),),
    "quantiles": ((DomainError, "{0}s must be in the range [0, {1}]", ""),),
    "of_weights": ((DomainError, "Weights included NaN, inf or were all zero.", ""),),
    "negative_weights": ((DomainError, "Weights must be non-negative.", ""),),
    "period": ((DomainError, "period must be a non-zero value", ""),),
    "geometric": ((DomainError, "Geometric sequence cannot include zero", ""),),
    "weights": ((NoWeightError, "Weights sum to zero, can't be normalized", ""),),
}
"""Name → class, message and hint of each error that a number other than 0 stands for at run time: the first for 1, …,
the last for all others. What follows a name is put into the text; so is the number, `{code}`, or one less,
`{count}`."""


def failed(failure: str, code: int) -> PliantError:
    """The error of a number that is not 0."""
    name, *known = failure.split()
    errors = FAILURES[name]
    if name == "integer":  # the bits of a float
        code = 1 if math.isnan(struct.unpack("<d", struct.pack("<q", code))[0]) else 2
    kind, message, hint = errors[code - 1 if 0 < code <= len(errors) else -1]
    return kind(message.format(*known, code=code, count=code - 1), hint=hint.format(*known))


def errors_of(failure: str) -> list[PliantError]:
    """The errors of a name, for codes from 1 on, without the numbers that only these tell."""
    name, *known = failure.split()
    return [
        kind(message.format(*known, code="…", count="…"), hint=hint.format(*known))
        for kind, message, hint in FAILURES[name]
    ]


class MissingRuleError(PliantError, NotImplementedError):
    """A primitive was asked for a rule it does not have."""


class ParseError(PliantError, ValueError):
    """IR text is malformed."""


class VerifyError(PliantError, AssertionError):
    """A program breaks an invariant of the IR: a bug in a pass or a rule."""


class PlanWarning(UserWarning):
    """A plan of memory was found wrong, and replaced by one that shares none."""


class RecompiledWarning(UserWarning):
    """A function is compiled for each of many values of an integer argument."""


class TracedOnceWarning(UserWarning):
    """A clock or a file is read, or a record logged, while a function is traced, and not at every call."""


class RewriteError(PliantError, RuntimeError):
    """A rewrite rule changed a type, or a rule set reached no fixed point."""


class ContradictionError(RewriteError):
    """Rules say that two numbers are equal that are not."""
