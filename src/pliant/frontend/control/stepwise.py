"""Loops and branches that are given as functions, as Python's own: outside of tracing, and for a trace, which looks
into these as into the user's where what they are given changes something outside, as statements of the user do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


def counted(start: Any, stop: Any, body: Callable[[Any, Any], Any], state: Any) -> Any:
    """`pliant.fori_loop`."""
    for i in range(start, stop):
        state = body(i, state)
    return state


def repeated(test: Callable[[Any], Any], body: Callable[[Any], Any], state: Any) -> Any:
    """`pliant.while_loop`."""
    while test(state):
        state = body(state)
    return state


def bounded(test: Callable[[Any], Any], body: Callable[[Any], Any], state: Any, most: int) -> Any:
    """`pliant.while_loop` of at most so many steps."""
    for _ in range(most):
        if not test(state):
            break
        state = body(state)
    return state


def scanned(step: Callable[[Any, Any], Any], state: Any, steps: int, reverse: bool) -> tuple[Any, list[Any]]:
    """`pliant.scan` of a step that takes the number of a row; what steps have made is not stacked."""
    made: list[Any] = []
    for k in range(steps):
        state, y = step(state, steps - 1 - k if reverse else k)
        made.append(y)
    return state, made[::-1] if reverse else made


def stacked(made: Sequence[Any], count: int) -> list[Any]:
    """The parts of what steps have made, of which each has so many, stacked."""
    return [np.stack([y[k] for y in made]) for k in range(count)]


def chosen(condition: Any, then: Callable[..., Any], otherwise: Callable[..., Any], operands: Sequence[Any]) -> Any:
    """`pliant.cond`."""
    return then(*operands) if condition else otherwise(*operands)
