"""Recurrences over time or along an image: filters, recurrent networks, likelihoods."""

from __future__ import annotations

import numpy as np

from benchmarks.loops.programs.base import Array, LoopProgram


def deriche(image: Array) -> Array:
    """Deriche's recursive smoothing of an image: forward and backward along rows, then along columns."""
    alpha = 0.25
    k = (1.0 - np.exp(-alpha)) ** 2 / (1.0 + 2.0 * alpha * np.exp(-alpha) - np.exp(-2.0 * alpha))
    a1, a2 = k, k * np.exp(-alpha) * (alpha - 1.0)
    a3, a4 = k * np.exp(-alpha) * (alpha + 1.0), -k * np.exp(-2.0 * alpha)
    b1, b2 = 2.0 ** (-alpha), -np.exp(-2.0 * alpha)
    width, height = image.shape
    ahead, back = np.empty_like(image), np.empty_like(image)
    ahead[:, 0] = a1 * image[:, 0]
    ahead[:, 1] = a1 * image[:, 1] + a2 * image[:, 0] + b1 * ahead[:, 0]
    for j in range(2, height):
        ahead[:, j] = a1 * image[:, j] + a2 * image[:, j - 1] + b1 * ahead[:, j - 1] + b2 * ahead[:, j - 2]
    back[:, -1] = 0.0
    back[:, -2] = a3 * image[:, -1]
    for j in range(height - 3, -1, -1):
        back[:, j] = a3 * image[:, j + 1] + a4 * image[:, j + 2] + b1 * back[:, j + 1] + b2 * back[:, j + 2]
    smooth = ahead + back
    ahead[0, :] = a1 * smooth[0, :]
    ahead[1, :] = a1 * smooth[1, :] + a2 * smooth[0, :] + b1 * ahead[0, :]
    for i in range(2, width):
        ahead[i, :] = a1 * smooth[i, :] + a2 * smooth[i - 1, :] + b1 * ahead[i - 1, :] + b2 * ahead[i - 2, :]
    back[-1, :] = 0.0
    back[-2, :] = a3 * smooth[-1, :]
    for i in range(width - 3, -1, -1):
        back[i, :] = a3 * smooth[i + 1, :] + a4 * smooth[i + 2, :] + b1 * back[i + 1, :] + b2 * back[i + 2, :]
    return ahead + back


def rnn(inputs: Array, target: Array, w_in: Array, w_state: Array, bias: Array) -> Array:
    """The squared error of a recurrent network with tanh, over a sequence of batches."""
    state = np.zeros_like(target[0])
    error = 0.0
    for t in range(inputs.shape[0]):
        state = np.tanh(inputs[t] @ w_in + state @ w_state + bias)
        error = error + np.sum((state - target[t]) ** 2)
    return error / target.size


def lstm(inputs: Array, target: Array, w_in: Array, w_state: Array, bias: Array) -> Array:
    """The squared error of a long short-term memory network over a sequence of batches."""
    hidden = np.zeros_like(target[0])
    cell = np.zeros_like(target[0])
    n = target.shape[-1]
    error = 0.0
    for t in range(inputs.shape[0]):
        gates = inputs[t] @ w_in + hidden @ w_state + bias
        keep = 1.0 / (1.0 + np.exp(-gates[:, :n]))
        enter = 1.0 / (1.0 + np.exp(-gates[:, n : 2 * n]))
        leave = 1.0 / (1.0 + np.exp(-gates[:, 2 * n : 3 * n]))
        cell = keep * cell + enter * np.tanh(gates[:, 3 * n :])
        hidden = leave * np.tanh(cell)
        error = error + np.sum((hidden - target[t]) ** 2)
    return error / target.size


def garch(parameters: Array, returns: Array) -> Array:
    """Minus the log likelihood of a GARCH(1, 1) process: ω, α, β, and the first variance."""
    omega, alpha, beta, variance = parameters[0], parameters[1], parameters[2], parameters[3]
    total = 0.0
    for t in range(returns.shape[0]):
        total = total + 0.5 * (np.log(variance) + returns[t] ** 2 / variance)
        variance = omega + alpha * returns[t] ** 2 + beta * variance
    return total


def kalman(observed: Array, transition: Array, view: Array, noise: Array, spread: Array) -> Array:
    """Minus the log likelihood of scalar observations of a linear state with Gaussian noise."""
    n = transition.shape[0]
    mean, cov = np.zeros(n), np.eye(n)
    total = 0.0
    for t in range(observed.shape[0]):
        mean = transition @ mean
        cov = transition @ cov @ transition.T + noise @ noise.T
        gap = observed[t] - view @ mean
        size = view @ cov @ view + spread * spread
        gain = cov @ view / size
        total = total + 0.5 * (np.log(2.0 * np.pi * size) + gap * gap / size)
        mean = mean + gain * gap
        cov = cov - np.outer(gain, view @ cov)
    return total


def crc(data: Array) -> Array:
    """The cyclic redundancy check CRC-16/CCITT of bytes, bit by bit."""
    check = 0xFFFF
    for i in range(data.shape[0]):
        check = check ^ (data[i] << 8)
        for _ in range(8):
            top = check & 0x8000
            check = (check << 1) & 0xFFFF
            if top:
                check = check ^ 0x1021
    return check


def _network(gates: int):
    def make(rng: np.random.Generator, n: int, steps: int) -> tuple[Array, ...]:
        batch = 8
        return (
            rng.normal(size=(steps, batch, n)),
            rng.normal(size=(steps, batch, n)),
            rng.normal(size=(n, gates * n)) / np.sqrt(n),
            rng.normal(size=(n, gates * n)) / np.sqrt(n),
            rng.normal(size=gates * n) * 0.1,
        )

    return make


def _trips(n: int | None, *steps: int) -> tuple[dict[str, int], ...]:
    return tuple({"steps": t} | ({"n": n} if n else {}) for t in steps)


NETWORK_SIZES = ({"n": 8, "steps": 100}, {"n": 32, "steps": 100}, {"n": 64, "steps": 100})

PROGRAMS = (
    LoopProgram(
        deriche,
        lambda rng, m, n: (rng.uniform(size=(m, n)),),
        (0,),
        {"m": 6, "n": 5},
        ({"m": 200, "n": 100}, {"m": 400, "n": 200}, {"m": 800, "n": 400}),
        tuple({"m": 2 * n, "n": n} for n in (10, 20, 50, 100, 200)),
    ),
    LoopProgram(rnn, _network(1), (2, 3, 4), {"n": 3, "steps": 4}, NETWORK_SIZES, _trips(32, 10, 30, 100, 300, 1000)),
    LoopProgram(lstm, _network(4), (2, 3, 4), {"n": 3, "steps": 4}, NETWORK_SIZES, _trips(32, 10, 30, 100, 300, 1000)),
    LoopProgram(
        garch,
        lambda rng, steps: (np.array([0.1, 0.1, 0.8, 1.0]), rng.normal(size=steps)),
        (0,),
        {"steps": 6},
        _trips(None, 100, 1000, 10_000),
        _trips(None, 10, 30, 100, 300, 1000),
    ),
    LoopProgram(
        kalman,
        lambda rng, n, steps: (
            rng.normal(size=steps),
            np.eye(n) * 0.9 + rng.normal(size=(n, n)) * 0.05,
            rng.normal(size=n),
            rng.normal(size=(n, n)) * 0.3,
            np.array(0.5),
        ),
        (1, 2, 3, 4),
        {"n": 3, "steps": 4},
        ({"n": 2, "steps": 200}, {"n": 4, "steps": 200}, {"n": 8, "steps": 200}),
        _trips(4, 10, 30, 100, 300, 1000),
    ),
    LoopProgram(
        crc,
        lambda rng, n: (rng.integers(0, 256, n),),
        (),
        {"n": 5},
        tuple({"n": n} for n in (100, 1000, 10_000)),
        tuple({"n": n} for n in (10, 30, 100, 300, 1000)),
    ),
)
