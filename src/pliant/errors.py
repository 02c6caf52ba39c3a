"""Every exception Pliant raises on purpose: the message, the user's lines, one hint.

Each class is also a subclass of the builtin exception that a NumPy user would catch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Self

from numpy.exceptions import AxisError

if TYPE_CHECKING:
    from collections.abc import Sequence

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


class DTypeError(PliantError, TypeError):
    """Operand dtypes do not fit the operation, or a cast is not allowed."""


class IndexRangeError(PliantError, IndexError):
    """An index lies outside its axis, or is no index at all."""


def out_of_range(index: int, axis: int, extent: int, name: str = "") -> IndexRangeError:
    """The error of an index at run time, where negative ones have been counted from the end already."""
    given = index if index >= 0 else index - extent
    start = f"{name}: " if name else ""
    if abs(given) >= NOWHERE:
        return IndexRangeError(f"{start}an index is out of range: what it is of has fewer elements at run time")
    return IndexRangeError(
        f"{start}index {given} is out of range for axis {axis} of extent {extent}",
        hint=f"indices go from {-extent} to {extent - 1}; np.take(x, i, mode='clip') takes the nearest of these"
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
    """A NumPy feature that Pliant does not compile."""


class LayoutError(PliantError, AttributeError):
    """The elements of an array do not lie in memory as another shape of it needs them."""


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


class OutOfMemoryError(PliantError, MemoryError):
    """What a loop keeps for its derivative needs more memory than there is."""


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


class RewriteError(PliantError, RuntimeError):
    """A rewrite rule changed a type, or a rule set reached no fixed point."""
