"""`python -m benchmarks.small_algebra`: factorisations of small matrices, alone and in stacks, beside NumPy and JAX.

A gradient is that of the sum of squares of all results; NumPy has none. Run with OPENBLAS_NUM_THREADS=1.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from time import process_time
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np

import pliant
from pliant.tools.bench.measure import interleaved

SIZES: Final = (2, 3, 4, 8, 16, 32, 64)
HEADS: Final = ("one, µs", "NumPy/pl.", "JAX/pl.", "stack, µs", "NumPy/pl.", "JAX/pl.", "gradient, µs", "JAX/pl.")
OPERATIONS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "det": lambda xp, a: xp.linalg.det(a),
    "inv": lambda xp, a: xp.linalg.inv(a),
    "solve": lambda xp, a: xp.linalg.solve(a, a[..., :1]),
    "cholesky": lambda xp, a: xp.linalg.cholesky(a),
    "qr": lambda xp, a: tuple(xp.linalg.qr(a)),
    "eigh": lambda xp, a: tuple(xp.linalg.eigh(a)),
    "svdvals": lambda xp, a: xp.linalg.svdvals(a),
    "svd": lambda xp, a: tuple(xp.linalg.svd(a, full_matrices=False)),
}


def matrices(n: int, count: int) -> np.ndarray:
    """Positive definite matrices with eigenvalues apart from each other."""
    a = np.random.default_rng(0).standard_normal((count, n, n))
    return a @ a.mT / n + np.diag(np.linspace(1.0, 2.0, n))


def squares(xp: Any, f: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    """The sum of squares of all results."""

    def total(a: Any) -> Any:
        y = f(xp, a)
        return sum([xp.sum(x**2) for x in (y if isinstance(y, tuple) else (y,))])

    return total


def sides(f: Callable[[Any, Any], Any], a: np.ndarray) -> dict[str, Callable[[], Any]]:
    """Calls that compute the same."""
    ours, theirs, b = pliant.jit(lambda x: f(np, x)), jax.jit(lambda x: f(jnp, x)), jnp.asarray(a)
    calls = {"pliant": lambda: ours(a), "numpy": lambda: f(np, a), "jax": lambda: jax.block_until_ready(theirs(b))}
    for call in calls.values():
        call()
    return calls


def gradients(f: Callable[[Any, Any], Any], a: np.ndarray) -> dict[str, Callable[[], Any]]:
    """Calls that compute the same gradient."""
    ours, theirs, b = pliant.grad(squares(np, f)), jax.jit(jax.grad(squares(jnp, f))), jnp.asarray(a)
    np.testing.assert_allclose(ours(a), theirs(b), rtol=1e-4, atol=1e-6)
    return {"pliant": lambda: ours(a), "jax": lambda: jax.block_until_ready(theirs(b))}


def cells(calls: dict[str, Callable[[], Any]], rounds: int) -> list[str]:
    """Our time, and how many times as long the others take."""
    seconds = interleaved(calls, rounds=rounds, seconds=0.005, clock=process_time)
    others = [f"{seconds[side] / seconds['pliant']:.1f}×" for side in calls if side != "pliant"]
    return [np.format_float_positional(1e6 * seconds["pliant"], 3, fractional=False, trim="-"), *others]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=OPERATIONS, default=list(OPERATIONS))
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES))
    parser.add_argument("--count", type=int, default=1000, help="matrices of a stack")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    pliant.threads(1)
    print("| | rows |" + "".join(f" {head} |" for head in HEADS))
    print("|---|--:|" + "--:|" * len(HEADS))
    for name in args.only:
        for n in args.sizes:
            f, stack = OPERATIONS[name], matrices(n, args.count)
            made = [*cells(sides(f, stack[0]), args.rounds), *cells(sides(f, stack), args.rounds)]
            made += cells(gradients(f, stack), args.rounds)
            print(f"| `{name}` | {n} |" + "".join(f" {cell} |" for cell in made), flush=True)


if __name__ == "__main__":
    main()
