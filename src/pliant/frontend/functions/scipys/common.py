"""What SciPy's functions share: NumPy as a traced function sees it, and matrices of which a part is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from pliant.core.origin import here
from pliant.errors import DomainError, DTypeError
from pliant.frontend.convert import as_traced
from pliant.frontend.creation import NumPyNamespace
from pliant.frontend.functions.common import known

xp: Final[Any] = NumPyNamespace()
"""NumPy, whose functions make arrays that can be written with traced ones."""


def floats(a: Any) -> Any:
    """Anything array-like as an array of floats or complex numbers."""
    x = xp.asarray(a)
    return x if as_traced(x).type.is_float else x.astype(float)


def complex_of(x: Any) -> Any:
    """An array of complex numbers of the same precision."""
    return x.astype(xp.result_type(x, xp.complex64))


def adjoint(a: Any) -> Any:
    """The conjugate transposes of matrices."""
    return xp.conj(xp.swapaxes(a, -1, -2))


def hermitian(a: Any, *, lower: bool, turned: Callable[[Any], Any] = adjoint) -> Any:
    """The Hermitian matrices of which one triangle is given. turned: makes the other one of it."""
    part = xp.tril(a, -1) if lower else xp.triu(a, 1)
    return part + turned(part) + diagonal(a)


def diagonal(a: Any) -> Any:
    """Matrices without what is not on their diagonal."""
    return xp.tril(xp.triu(a))


def chosen(table: Mapping[Any, Any], key: Any, name: str) -> Any:
    """What a table has for an argument known while tracing; DomainError if nothing."""
    key = known(key, name)
    if key not in table:
        choices = ", ".join(map(repr, table))
        raise DomainError(f"{name} must be one of {choices}, got {key!r}").at(("here", here()))
    return table[key]


def doubles(a: Any) -> Any:
    """Anything array-like as an array of doubles; complex numbers are none."""
    x = xp.asarray(a)
    if x.dtype.kind == "c":
        raise DTypeError(f"scipy.stats: {as_traced(x).type} is complex, distributions are of real numbers").at(
            ("here", here())
        )
    return x.astype(float)
