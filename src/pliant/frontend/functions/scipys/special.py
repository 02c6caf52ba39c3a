"""scipy.special: functions that are written in Python there, in terms of NumPy's."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from pliant.frontend.array import TracedArray, fresh
from pliant.frontend.convert import as_traced, integer_of
from pliant.frontend.functions.common import known
from pliant.frontend.functions.special import FORMULAS
from pliant.frontend.kinds import is_sequence
from pliant.ops.custom import stop_gradient
from pliant.ops.special import Polygamma, log_gamma

_FACTORIALS: Final = np.array([*[float(math.factorial(n)) for n in range(171)], np.inf])


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


def _gammaln(x: Any) -> Any:
    return fresh(log_gamma(x.value))


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


def softplus(x: Any) -> Any:
    """log(1 + eˣ)."""
    return np.logaddexp(as_floats(x), 0.0)


def polygamma(n: Any, x: Any) -> Any:
    """A derivative of the digamma function, of a known order."""
    order = integer_of(known(n, "the order of scipy.special.polygamma"))
    return fresh(Polygamma(order)(as_floats(x).value))


def multigammaln(a: Any, d: Any) -> Any:
    """The logarithm of the gamma function of d dimensions."""
    count = integer_of(known(d, "the dimension of scipy.special.multigammaln"))
    a = as_floats(a)
    return sum([_gammaln(a - 0.5 * k) for k in range(count)]) + count * (count - 1) / 4 * math.log(math.pi)


def comb(N: Any, k: Any, *, repetition: Any = False) -> Any:
    """How many ways there are to take k of N, as a float."""
    n, k = as_traced(N), as_traced(k)
    if known(repetition, "repetition="):
        return np.where((k == 0) & (n >= 0), 1.0, FORMULAS["binom"](as_floats(n + k - 1), as_floats(k)))
    return _count(n, k, FORMULAS["binom"])


def perm(N: Any, k: Any) -> Any:
    """How many ways there are to take k of N in an order, as a float."""
    return _count(as_traced(N), as_traced(k), _falling)


def _falling(n: Any, k: Any) -> Any:
    return np.exp(_gammaln(n + 1) - _gammaln(n - k + 1))


def _count(n: Any, k: Any, formula: Any) -> Any:
    """0 for what cannot be taken; whole numbers of integers."""
    is_possible = (k <= n) & (n >= 0) & (k >= 0)
    x, y = (as_floats(np.where(is_possible, v, 0)) for v in (n, k))
    made = formula(x, y)
    return np.where(is_possible, np.rint(made) if n.type.kind in "iu" and k.type.kind in "iu" else made, 0.0)


def factorial(n: Any) -> Any:
    """The product of the first n numbers, as a float; 0 for negative ones."""
    n = as_traced(n)
    if n.type.kind in "iu":
        return np.where(n < 0, 0.0, as_traced(_FACTORIALS)[np.clip(n, 0, len(_FACTORIALS) - 1)])
    return np.where(n < 0, 0.0, FORMULAS["gamma"](np.where(n < 0, 0.0, n) + 1.0))


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {f.__name__: f for f in (
    logsumexp, softmax, log_softmax, softplus, polygamma, multigammaln, comb, perm, factorial,
)}  # fmt: skip
