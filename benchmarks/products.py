"""`python -m benchmarks.products`: products of matrices, as they are and with an operand transposed, beside BLAS."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, Final

import numpy as np

import pliant
from pliant.backends.llvm.blas import blas_text
from pliant.backends.llvm.jit import host_target
from pliant.tools.bench.measure import interleaved
from pliant.tools.bench.table import duration, mean

SIZES: Final = (
    (64, 256, 256), (128, 128, 128), (256, 784, 128), (256, 256, 256), (512, 64, 512), (512, 512, 64), (512, 512, 512),
    (513, 511, 257), (1000, 1000, 1000), (1024, 1024, 1024), (100, 100, 100), (30, 500, 70), (7, 300, 300),
    (8, 300, 300),
)  # fmt: skip
"""Rows, terms, columns."""
FORMS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "x @ y": lambda x, y: x @ y, "x @ y.T": lambda x, y: x @ y.T, "x.T @ y": lambda x, y: x.T @ y,
}  # fmt: skip


def operands(form: str, dtype: str, size: tuple[int, int, int]) -> tuple[Any, Any]:
    """Two matrices of which a form makes a product of a size."""
    rng, (m, k, n) = np.random.default_rng(0), size
    x, y = (k, m) if "x.T" in form else (m, k), (n, k) if "y.T" in form else (k, n)
    return rng.normal(size=x).astype(dtype), rng.normal(size=y).astype(dtype)


def line(form: str, dtype: str, size: tuple[int, int, int], rounds: int) -> tuple[str, float, float]:
    """A row of the table, and Gflop/s of both sides."""
    f, args = FORMS[form], operands(form, dtype, size)
    compiled = pliant.jit(f)
    np.testing.assert_allclose(compiled(*args), f(*args), rtol=1e-3, atol=1e-3)
    sides = {"pliant": lambda: compiled(*args), "numpy": lambda: f(*args)}
    seconds = interleaved(sides, rounds=rounds, seconds=0.002)
    ours, theirs = (2e-9 * np.prod(size, dtype=float) / seconds[side] for side in ("pliant", "numpy"))
    shape = " × ".join(map(str, size))
    text = f"| {form:<7} | {dtype} | {shape:>18} | {duration(seconds['pliant']):>8} | {ours:5.0f} | {theirs:5.0f} |"
    return text, float(ours), float(theirs)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser("python -m benchmarks.products")
    parser.add_argument("--rounds", type=int, default=10, help="turns of each side (default 10)")
    options = parser.parse_args()
    pliant.threads(1)
    print(blas_text(frozenset(host_target().has)))
    print("| product | dtype | rows × terms × columns | Pliant | Gflop/s | NumPy's |\n|---|---|--:|--:|--:|--:|")
    for dtype in ("float32", "float64"):
        found = list[tuple[float, float]]()
        for form in FORMS:
            for size in SIZES:
                text, ours, theirs = line(form, dtype, size, options.rounds)
                found.append((ours, theirs))
                print(text, flush=True)
        print(f"{dtype}: {mean([a for a, _ in found]):.0f} and {mean([b for _, b in found]):.0f} Gflop/s in the mean")


if __name__ == "__main__":
    main()
