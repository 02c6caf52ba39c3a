"""scipy.special: functions that are written in Python there, in terms of NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from pliant.frontend.array import TracedArray, fresh
from pliant.frontend.convert import as_traced
from pliant.frontend.kinds import is_sequence
from pliant.ops.custom import stop_gradient


def logsumexp(a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False) -> Any:
    """The logarithm of the sum of exponentials, times `b` if it is given; or that of its size, and its sign."""
    a = as_floats(a)
    if b is None and not return_sign:
        return np.logaddexp.reduce(a, axis=axis, keepdims=keepdims)
    b = 1.0 if b is None else b
    top = greatest(np.where(b == 0, -np.inf, a), axis)
    total = np.sum(b * np.exp(np.where(b == 0, 0.0, a - top)), axis=axis, keepdims=keepdims)
    shift = top if keepdims else np.reshape(top, np.shape(total))
    if return_sign:
        return np.log(np.abs(total)) + shift, np.sign(total)
    return np.log(total) + shift


def softmax(x: Any, axis: Any = None) -> Any:
    """Exponentials divided by their sum."""
    x = as_floats(x)
    terms = np.exp(x - fixed(np.max(x, axis=axis, keepdims=True)))
    return terms / np.sum(terms, axis=axis, keepdims=True)


def log_softmax(x: Any, axis: Any = None) -> Any:
    """The logarithm of `softmax`."""
    x = as_floats(x)
    shifted = x - greatest(x, axis)
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))


def as_floats(x: Any) -> Any:
    """An argument as an array of floats; of a list of arrays, a stack of them."""
    return np.stack([as_floats(part) for part in x]) if is_sequence(x) else as_traced(x) * 1.0


def greatest(x: Any, axis: Any) -> Any:
    """The greatest element along axes, or 0 where that is infinite."""
    top = np.max(x, axis=axis, keepdims=True)
    return fixed(np.where(np.isfinite(top), top, 0.0))


def fixed(x: Any) -> Any:
    """What exponentials are shifted by, which changes no derivative."""
    return fresh(stop_gradient(x.value), is_array=True) if type(x) is TracedArray else x


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {f.__name__: f for f in (logsumexp, softmax, log_softmax)}
