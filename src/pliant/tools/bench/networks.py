"""Layers of neural networks: values, and values with gradients."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from pliant.tools.bench.case import Array, Case

Parameters = dict[str, Array]


def softmax(xp: Any, x: Array) -> Array:
    """Softmax of rows."""
    e = xp.exp(x - xp.max(x, axis=-1, keepdims=True))
    return e / xp.sum(e, axis=-1, keepdims=True)


def softmax_loss(xp: Any, x: Array, target: Array) -> Array:
    """Squared distance of the softmax of rows."""
    return xp.sum((softmax(xp, x) - target) ** 2)


def layer_norm(xp: Any, w: Parameters, x: Array) -> Array:
    """Rows with mean 0 and variance 1, scaled and shifted."""
    away = x - xp.mean(x, axis=-1, keepdims=True)
    spread = xp.sqrt(xp.mean(away * away, axis=-1, keepdims=True) + 1e-5)
    return away / spread * w["scale"] + w["shift"]


def layer_norm_loss(xp: Any, w: Parameters, target: Array) -> Array:
    """Squared distance of the normalised rows, the rows being parameters too."""
    return xp.sum((layer_norm(xp, w, w["x"]) - target) ** 2)


def attention(xp: Any, w: Parameters, x: Array) -> Array:
    """One head of attention, with its projections, a residual and a norm."""
    q, k, v = x @ w["query"], x @ w["key"], x @ w["value"]
    mixed = softmax(xp, (q @ k.T) * (1 / math.sqrt(q.shape[1]))) @ v
    return layer_norm(xp, w, x + mixed @ w["out"])


def attention_loss(xp: Any, w: Parameters, x: Array) -> Array:
    """Mean square of what attention makes."""
    return xp.mean((attention(xp, w, x) - 0.5) ** 2)


def mlp(xp: Any, w: Parameters, x: Array) -> Array:
    """Two layers with a tanh between them."""
    return xp.tanh(x @ w["in"] + w["bias"]) @ w["out"]


def mlp_loss(xp: Any, w: Parameters, x: Array, hot: Array) -> Array:
    """Mean cross-entropy of the network's logits."""
    logits = mlp(xp, w, x)
    shifted = logits - xp.max(logits, axis=1, keepdims=True)
    return xp.mean(xp.log(xp.sum(xp.exp(shifted), axis=1)) - xp.sum(hot * shifted, axis=1))


def sigmoid(xp: Any, x: Array) -> Array:
    """The logistic function."""
    return 1 / (1 + xp.exp(-x))


def lstm(xp: Any, w: Parameters, x: Array, h: Array, c: Array) -> Array:
    """One step of an LSTM for a batch of inputs."""
    n = h.shape[1]
    gates = x @ w["input"] + h @ w["state"] + w["bias"]
    c = sigmoid(xp, gates[:, n : 2 * n] + 1) * c + sigmoid(xp, gates[:, :n]) * xp.tanh(gates[:, 2 * n : 3 * n])
    return sigmoid(xp, gates[:, 3 * n :]) * xp.tanh(c), c


def lstm_loss(xp: Any, w: Parameters, x: Array, h: Array, c: Array) -> Array:
    """Sum of squares of the next state."""
    h, c = lstm(xp, w, x, h, c)
    return xp.sum(h * h) + xp.sum(c * c)


def cases(*, is_short: bool = False) -> Iterator[Case]:
    """Every layer in both dtypes, as a value and with its gradient; the same numbers in every run."""
    for dtype in ("float32", "float64"):
        rng = np.random.default_rng(1)

        def normal(*shape: int, scale: float = 1.0, dtype: str = dtype, rng: Any = rng) -> Array:
            return (rng.standard_normal(shape) * scale).astype(dtype)

        n = 64 if is_short else 512
        x, y = normal(n, n), normal(n, n)
        norm = {"scale": 1 + normal(n), "shift": normal(n)}
        yield Case("networks", "softmax", softmax, (x,), n)
        yield Case("networks", "softmax", softmax_loss, (x, y), n, "gradient")
        yield Case("networks", "layer_norm", layer_norm, (norm, x), n)
        yield Case("networks", "layer_norm", layer_norm_loss, (norm | {"x": x}, y), n, "gradient")
        d = 64
        tokens, thin = normal(n, d), {"scale": 1 + normal(d), "shift": normal(d)}
        heads = {name: normal(d, d, scale=1 / 8) for name in ("query", "key", "value", "out")} | thin
        yield Case("networks", "attention", attention, (heads, tokens), n)
        yield Case("networks", "attention", attention_loss, (heads, tokens), n, "gradient")
        b = 64 if is_short else 256
        net = {"in": normal(64, 128, scale=1 / 8), "bias": normal(128), "out": normal(128, 10, scale=1 / 11)}
        hot = np.eye(10, dtype=dtype)[rng.integers(0, 10, b)]
        yield Case("networks", "mlp", mlp, (net, normal(b, 64)), b)
        yield Case("networks", "mlp", mlp_loss, (net, normal(b, 64), hot), b, "gradient")
        cell = {"input": normal(64, 512, scale=1 / 8), "state": normal(128, 512, scale=1 / 11), "bias": normal(512)}
        state = (normal(64, 64), normal(64, 128), normal(64, 128))
        yield Case("networks", "lstm", lstm, (cell, *state), 64)
        yield Case("networks", "lstm", lstm_loss, (cell, *state), 64, "gradient")
