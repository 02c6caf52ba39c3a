"""The measured programs, each written once over a namespace `xp`, with its gradient by hand for NumPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

Array = Any  # of NumPy or of JAX
Parameters = dict[str, Array]


@final
@dataclass(frozen=True)
class Program:
    """A function of arrays: `fn(xp, *args)`; measured with its gradient (first argument) if `by_hand` gives one."""

    name: str
    fn: Callable[..., Array]
    args: tuple[Any, ...]
    by_hand: Callable[..., tuple[Array, Any]] | None = None


def sum_of_squares(xp: Any, x: Array, y: Array) -> Array:
    """Σ (y - exp(sin x))²."""
    return xp.sum((y - xp.exp(xp.sin(x))) ** 2)


def logistic(xp: Any, w: Array, X: Array, y: Array) -> Array:
    """Mean negative log-likelihood of logistic regression."""
    p = 1 / (1 + xp.exp(-(X @ w)))
    return -xp.mean(y * xp.log(p) + (1 - y) * xp.log1p(-p))


def logistic_by_hand(w: Array, X: Array, y: Array) -> tuple[Array, Array]:
    """Value and gradient as one would write them in NumPy."""
    p = 1 / (1 + np.exp(-(X @ w)))
    return -np.mean(y * np.log(p) + (1 - y) * np.log1p(-p)), X.T @ (p - y) / len(y)


def cross_entropy(xp: Any, logits: Array, hot: Array) -> Array:
    """Mean softmax cross-entropy of rows of logits against one-hot labels."""
    shifted = logits - xp.max(logits, axis=1, keepdims=True)
    return xp.mean(xp.log(xp.sum(xp.exp(shifted), axis=1)) - xp.sum(hot * shifted, axis=1))


def cross_entropy_by_hand(logits: Array, hot: Array) -> tuple[Array, Array]:
    """Value and gradient as one would write them in NumPy."""
    shifted = logits - np.max(logits, axis=1, keepdims=True)
    e = np.exp(shifted)
    total = np.sum(e, axis=1, keepdims=True)
    value = np.mean(np.log(total[:, 0]) - np.sum(hot * shifted, axis=1))
    return value, (e / total - hot) / len(hot)


def mlp(xp: Any, w: Parameters, X: Array, hot: Array) -> Array:
    """Cross-entropy of a network with one hidden layer."""
    return cross_entropy(xp, xp.tanh(X @ w["in"] + w["bias"]) @ w["out"], hot)


def mlp_by_hand(w: Parameters, X: Array, hot: Array) -> tuple[Array, Parameters]:
    """Value and gradient as one would write them in NumPy."""
    h = np.tanh(X @ w["in"] + w["bias"])
    value, ct = cross_entropy_by_hand(h @ w["out"], hot)
    dh = (ct @ w["out"].T) * (1 - h * h)
    return value, {"in": X.T @ dh, "bias": dh.sum(axis=0), "out": h.T @ ct}


def mixture(xp: Any, w: Parameters, X: Array) -> Array:
    """Log-likelihood of points under a mixture of Gaussians with diagonal covariances, up to a constant."""
    z = (X[:, None, :] - w["mean"]) * xp.exp(-w["log_scale"])
    log_weight = w["logit"] - xp.log(xp.sum(xp.exp(w["logit"])))
    terms = log_weight - xp.sum(w["log_scale"], axis=1) - 0.5 * xp.sum(z * z, axis=2)
    top = xp.max(terms, axis=1)
    return xp.sum(top + xp.log(xp.sum(xp.exp(terms - top[:, None]), axis=1)))


def mixture_by_hand(w: Parameters, X: Array) -> tuple[Array, Parameters]:
    """Value and gradient as one would write them in NumPy."""
    inverse = np.exp(-w["log_scale"])
    z = (X[:, None, :] - w["mean"]) * inverse
    e = np.exp(w["logit"])
    weight = e / np.sum(e)
    terms = np.log(weight) - np.sum(w["log_scale"], axis=1) - 0.5 * np.sum(z * z, axis=2)
    top = np.max(terms, axis=1)
    shared = np.exp(terms - top[:, None])
    total = np.sum(shared, axis=1)
    share = shared / total[:, None]
    count = np.sum(share, axis=0)
    gradient = {
        "logit": count - len(X) * weight,
        "mean": np.einsum("nk,nkd->kd", share, z) * inverse,
        "log_scale": np.einsum("nk,nkd->kd", share, z * z) - count[:, None],
    }
    return np.sum(top + np.log(total)), gradient


def add_all(xp: Any, *xs: Array) -> Array:
    """The sum of the arguments: next to no work, so its time is that of a call."""
    total = xs[0] + 1.0
    for x in xs[1:]:
        total = total + x
    return total


def add_items(xp: Any, parts: dict[str, Array]) -> Array:
    """The sum of a dict's arrays, as `add_all`."""
    return parts["scale"] + parts["shift"]


def programs() -> list[Program]:
    """Every program with data to run it on; the same numbers in every run."""
    rng = np.random.default_rng(0)

    def normal(*shape: int) -> Array:
        return rng.standard_normal(shape)

    def hot(n: int, k: int) -> Array:
        return np.eye(k)[rng.integers(0, k, n)]

    network = {"in": normal(64, 128) / 8, "bias": np.zeros(128), "out": normal(128, 10) / 11}
    gaussians = {"logit": np.zeros(8), "mean": normal(8, 4), "log_scale": np.zeros((8, 4))}
    label = (rng.random(1000) < 0.5).astype(float)
    return [
        Program("Σ(y-exp(sin x))², 10³", sum_of_squares, (normal(1000), normal(1000))),
        Program("Σ(y-exp(sin x))², 10⁶", sum_of_squares, (normal(1_000_000), normal(1_000_000))),
        Program("logistic regression 1000×20", logistic, (normal(20) / 4, normal(1000, 20), label), logistic_by_hand),
        Program("MLP 64-128-10, batch 256", mlp, (network, normal(256, 64), hot(256, 10)), mlp_by_hand),
        Program("cross-entropy 1000×100", cross_entropy, (normal(1000, 100), hot(1000, 100)), cross_entropy_by_hand),
        Program("Gaussian mixture 2000×8×4", mixture, (gaussians, normal(2000, 4)), mixture_by_hand),
        Program("a call with 1 argument", add_all, (normal(4),)),
        Program("a call with 3 arguments", add_all, (normal(4), normal(4), normal(4))),
        Program("a call with 8 arguments", add_all, tuple(normal(4) for _ in range(8))),
        Program("a call with a number", add_all, (normal(4), 2.0)),
        Program("a call with a strided array", add_all, (normal(8)[::-2],)),
        Program("a call with a dict of 2 arrays", add_items, ({"scale": normal(4), "shift": normal(4)},)),
    ]
