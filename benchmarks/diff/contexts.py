"""Four rows that show why contexts matter, beside the naive use of JAX and PyTorch."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any, final

import numpy as np

import pliant.diff as diff
from benchmarks.measure import once, repeated


@final
@dataclass(frozen=True)
class Row:
    """The same task done the naive way and with a context: seconds, or whether the answer is right."""

    name: str
    naive: float | str
    with_context: float | str


def rows() -> list[Row]:
    """All four."""
    import_module("jax").config.update("jax_enable_x64", True)
    return [stale_capture(), new_closure(), large_capture(), unneeded_derivative()]


def stale_capture() -> Row:
    """An array that a compiled function captured changes."""
    jax = import_module("jax")
    weights, x = np.ones(3), np.ones(3)

    def loss(x: Any) -> Any:
        return (jax.numpy.asarray(weights) * x).sum()

    compiled, prep = jax.jit(jax.grad(loss)), diff.prepare_gradient(loss, diff.JAX(), x)
    before = [compiled(x), prep(x)]
    assert all([np.array_equal(g, weights) for g in before])
    weights[:] = 7.0
    right = ["right" if np.array_equal(g, weights) else "wrong, silently" for g in (compiled(x), prep(x))]
    return Row("captured array changed later: the gradient is", *right)


def new_closure() -> Row:
    """A value that changes from call to call: in a new closure, or as a Constant."""
    jax = import_module("jax")
    x = jax.numpy.ones(100)

    def with_value(c: float) -> Any:
        return jax.jit(jax.grad(lambda x: (c * x**2).sum()))(x)

    def loss(x: Any, c: Any) -> Any:
        return (c * x**2).sum()

    values = iter(np.arange(1.0, 1e6))
    prep = diff.prepare_gradient(loss, diff.JAX(), x, diff.Constant(1.0))
    prep(x, next(values))
    naive = min(once(lambda: with_value(next(values))) for _ in range(5))
    return Row("a new closure per call, against Constant (JAX)", naive, repeated(lambda: prep(x, next(values)), 200))


def large_capture() -> Row:
    """A large array, baked into the program or an argument of it: seconds of the first call."""
    jax = import_module("jax")
    data, x = np.random.default_rng(0).normal(size=(3000, 3000)), np.ones(3000)
    constant = jax.numpy.asarray(data)

    def naive(x: Any) -> Any:
        return ((constant @ x) ** 2).sum()

    def loss(x: Any, data: Any) -> Any:
        return ((data @ x) ** 2).sum()

    first = once(lambda: jax.block_until_ready(jax.jit(jax.grad(naive))(x)))
    prep = diff.prepare_gradient(loss, diff.JAX(), x, diff.Constant(data))
    return Row("3000×3000 captured, against Constant: first call (JAX)", first, once(lambda: prep(x, data)))


def unneeded_derivative() -> Row:
    """Every argument differentiated, or only x."""
    torch = import_module("torch")
    torch.set_num_threads(1)
    data, x = torch.randn(1500, 1500, dtype=torch.float64), torch.ones(1500, dtype=torch.float64)

    def loss(x: Any, data: Any) -> Any:
        return torch.tanh(data @ x).sum()

    both = torch.func.grad(loss, argnums=(0, 1))
    prep = diff.prepare_gradient(loss, diff.PyTorch(), x, diff.Constant(data))
    times = [min(repeated(call, 5) for _ in range(8)) for call in (lambda: both(x, data), lambda: prep(x, data))]
    return Row("a matrix differentiated too, against Constant (PyTorch)", *times)
