"""Functions of JAX as programs of Pliant's primitives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from pliant.backends.from_jax import control, derivatives, elementwise, indexing, linalg, shapes, windows
from pliant.backends.from_jax.walk import HolderRule, Rule, Walk
from pliant.core.ir import Value, Values

_PARTS: Final = (elementwise, shapes, indexing, windows, linalg)
RULES: Final[dict[str, Rule]] = {name: rule for part in _PARTS for name, rule in part.RULES.items()}


HOLDERS: Final[dict[str, HolderRule]] = {**control.HOLDERS, **derivatives.HOLDERS}


def translated(program: Any, xs: Values, enter: Callable[[Any], Value], *, is_wide: bool) -> Values:
    """The results of a program of JAX. enter: the value, of the trace, of an array that it holds. is_wide: whether JAX
    has 64 bits."""
    return Walk(RULES, HOLDERS, enter, is_wide).closed(program, xs)


__all__ = ["RULES", "translated"]
