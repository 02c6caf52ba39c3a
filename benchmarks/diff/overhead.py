"""Value and gradient of Rosenbrock's function, n = 100, by the interface and by the library itself."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

import pliant
import pliant.diff as diff
from benchmarks.measure import Times, interleaved
from pliant.errors import UnavailableError

Call = Callable[[], Any]


def rosenbrock(x: Any, c: Any) -> Any:
    """Σ c·(x[i+1] - x[i]²)² + (1 - x[i])², in any library's arrays."""
    return (c * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def rows(rounds: int) -> dict[str, Times]:
    """Seconds per call: direct, the bound preparation, and the operator with prep=."""
    made: dict[str, Times] = {}
    for name, sides in (("Pliant", of_pliant), ("JAX, its arrays", of_jax), ("PyTorch, its tensors", of_torch)):
        try:
            made[name] = interleaved(sides(), rounds=rounds, seconds=0.005)
        except (ImportError, UnavailableError):
            continue
    return made


def calls(system: Any, x: Any, c: Any) -> dict[str, Call]:
    """The two ways to call a preparation."""
    prep, constant = diff.prepare_gradient(rosenbrock, system, x, diff.Constant(c)), diff.Constant(c)
    return {
        "prepared": lambda: prep.value_and(x, c),
        "prep=": lambda: diff.value_and_gradient(rosenbrock, system, x, constant, prep=prep),
    }


def of_pliant() -> dict[str, Call]:
    """Beside `pliant.value_and_grad`."""
    x, c = np.linspace(0.1, 1, 100), 100.0
    direct = pliant.value_and_grad(rosenbrock)
    return {"direct": lambda: direct(x, c), **calls(diff.Pliant(), x, c)}


def of_jax() -> dict[str, Call]:
    """Beside `jax.jit(jax.value_and_grad(f))`, waiting for the result."""
    jax = import_module("jax")
    jax.config.update("jax_enable_x64", True)
    x, c = jax.numpy.linspace(0.1, 1, 100), jax.numpy.asarray(100.0)
    direct = jax.jit(jax.value_and_grad(rosenbrock))
    sides = {"direct": lambda: direct(x, c), **calls(diff.JAX(), x, c)}
    return {name: (lambda call=call: jax.block_until_ready(call())) for name, call in sides.items()}


def of_torch() -> dict[str, Call]:
    """Beside PyTorch's tape, its fastest way."""
    torch = import_module("torch")
    torch.set_num_threads(1)
    x, c = torch.linspace(0.1, 1, 100, dtype=torch.float64), torch.tensor(100.0, dtype=torch.float64)

    def direct() -> Any:
        point = x.detach().requires_grad_()
        y = rosenbrock(point, c)
        return y.detach(), torch.autograd.grad(y, point)[0]

    return {"direct": direct, **calls(diff.PyTorch(), x, c)}
