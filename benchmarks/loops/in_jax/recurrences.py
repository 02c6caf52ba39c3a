"""Recurrences over time or along an image, each a `scan`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

Array = Any


def deriche(image: Array) -> Array:
    """Deriche's filter, four `scan`s over rows of the image or of its transpose."""
    alpha = 0.25
    e, e2 = jnp.exp(-alpha), jnp.exp(-2.0 * alpha)
    k = (1.0 - e) ** 2 / (1.0 + 2.0 * alpha * e - e2)
    a1, a2, a3, a4 = k, k * e * (alpha - 1.0), k * e * (alpha + 1.0), -k * e2
    b1, b2 = 2.0 ** (-alpha), -e2

    def rows(x: Array) -> Array:
        zero = jnp.zeros_like(x[0])

        def ahead(state: Any, x: Array) -> Any:
            before, y1, y2 = state
            y = a1 * x + a2 * before + b1 * y1 + b2 * y2
            return (x, y, y1), y

        def back(state: Any, x: Array) -> Any:
            x1, x2, y1, y2 = state
            y = a3 * x1 + a4 * x2 + b1 * y1 + b2 * y2
            return (x, x1, y, y1), y

        first = lax.scan(ahead, (zero, zero, zero), x)[1]
        return first + lax.scan(back, (zero, zero, zero, zero), x, reverse=True)[1]

    return rows(rows(image.T).T)


def rnn(inputs: Array, target: Array, w_in: Array, w_state: Array, bias: Array) -> Array:
    """A recurrent network, a `scan` over the sequence."""

    def step(state: Array, row: Any) -> Any:
        x, y = row
        state = jnp.tanh(x @ w_in + state @ w_state + bias)
        return state, jnp.sum((state - y) ** 2)

    return jnp.sum(lax.scan(step, jnp.zeros_like(target[0]), (inputs, target))[1]) / target.size


def lstm(inputs: Array, target: Array, w_in: Array, w_state: Array, bias: Array) -> Array:
    """A long short-term memory network, a `scan` over the sequence."""
    n = target.shape[-1]

    def step(state: Any, row: Any) -> Any:
        (hidden, cell), (x, y) = state, row
        gates = x @ w_in + hidden @ w_state + bias
        keep, enter, leave = (jax.nn.sigmoid(gates[:, n * g : n * (g + 1)]) for g in range(3))
        cell = keep * cell + enter * jnp.tanh(gates[:, 3 * n :])
        hidden = leave * jnp.tanh(cell)
        return (hidden, cell), jnp.sum((hidden - y) ** 2)

    zero = jnp.zeros_like(target[0])
    return jnp.sum(lax.scan(step, (zero, zero), (inputs, target))[1]) / target.size


def garch(parameters: Array, returns: Array) -> Array:
    """The likelihood of GARCH(1, 1), a `scan` over returns."""
    omega, alpha, beta, first = parameters

    def step(state: Any, x: Any) -> Any:
        total, variance = state
        total = total + 0.5 * (jnp.log(variance) + x**2 / variance)
        return (total, omega + alpha * x**2 + beta * variance), None

    return lax.scan(step, (0.0, first), returns)[0][0]


def kalman(observed: Array, transition: Array, view: Array, noise: Array, spread: Array) -> Array:
    """A Kalman filter's likelihood, a `scan` over observations."""
    n = transition.shape[0]

    def step(state: Any, seen: Any) -> Any:
        mean, cov, total = state
        mean = transition @ mean
        cov = transition @ cov @ transition.T + noise @ noise.T
        gap = seen - view @ mean
        size = view @ cov @ view + spread * spread
        gain = cov @ view / size
        total = total + 0.5 * (jnp.log(2.0 * jnp.pi * size) + gap * gap / size)
        return (mean + gain * gap, cov - jnp.outer(gain, view @ cov), total), None

    return lax.scan(step, (jnp.zeros(n), jnp.eye(n), 0.0), observed)[0][2]


def crc(data: Array) -> Array:
    """CRC-16/CCITT, a `scan` over bytes, with the eight bits of one unrolled."""

    def bit(_: Any, check: Array) -> Array:
        shifted = (check << 1) & 0xFFFF
        return jnp.where(check & 0x8000, shifted ^ 0x1021, shifted)

    def step(check: Array, byte: Any) -> Any:
        return lax.fori_loop(0, 8, bit, check ^ (byte << 8), unroll=True), None

    return lax.scan(step, jnp.asarray(0xFFFF, data.dtype), data)[0]


VERSIONS = (deriche, rnn, lstm, garch, kalman, crc)
