"""`python -m benchmarks.search`: what `optimize` finds, against `jit`, and against what one would write by hand; and
how long the search takes for longer programs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any, Final

import numpy as np

import pliant
from benchmarks.measure import interleaved, once

N: Final = 300
LENGTHS: Final = (30, 100, 300, 1000, 3000)


@pliant.rule(shapes="(m,k),(n,k)")
def squared_distances(x: Any, y: Any) -> Any:
    """|x − y|² = |x|² − 2·x·y + |y|²: a product of matrices."""
    left = np.sum((x[:, None] - y[None]) ** 2, axis=-1)
    return left, np.sum(x**2, 1)[:, None] - 2 * (x @ y.T) + np.sum(y**2, 1)[None]


@pliant.rule(shapes="(n,n),(n,n)")
def trace_of_product(A: Any, B: Any) -> Any:
    """tr(A·B) = Σ A∘Bᵀ."""
    return np.trace(A @ B), np.sum(A * B.T)


@dataclass(frozen=True)
class Case:
    """A function as it is written, and as an expert would."""

    name: str
    written: Callable[..., Any]
    by_hand: Callable[..., Any]
    args: tuple[Any, ...]


def cases() -> list[Case]:
    """The functions."""
    draw = np.random.default_rng(0)
    A, B, C = draw.normal(size=(3, N, N)) / N
    v, tall, x = draw.normal(size=N), draw.normal(size=(2_000, 64)), draw.normal(size=100_000)
    y = draw.normal(size=(1_000, 64))

    def loss(A: Any, B: Any, v: Any) -> Any:
        return np.sum((A @ B @ v) ** 2)

    def loss_by_hand(A: Any, B: Any, v: Any) -> Any:
        return np.sum((A @ (B @ v)) ** 2)

    return [
        Case("A @ B @ v", lambda A, B, v: A @ B @ v, lambda A, B, v: A @ (B @ v), (A, B, v)),
        Case("gradient of |A @ B @ v|²", pliant.grad(loss), pliant.grad(loss_by_hand), (A, B, v)),
        Case("A @ C + B @ C", lambda A, B, C: A @ C + B @ C, lambda A, B, C: (A + B) @ C, (A, B, C)),
        Case("(A @ B)[3:5]", lambda A, B: (A @ B)[3:5], lambda A, B: A[3:5] @ B, (A, B)),
        Case("(A @ B).sum(1)", lambda A, B: (A @ B).sum(1), lambda A, B: A @ B.sum(1), (A, B)),
        Case("inv(A) @ v", lambda A, v: np.linalg.inv(A) @ v, np.linalg.solve, (A + np.eye(N), v)),
        Case("trace(A @ B), by a rule", lambda A, B: np.trace(A @ B), lambda A, B: np.sum(A * B.T), (A, B)),
        Case(
            "squared distances, by a rule",
            lambda x, y: np.sum((x[:, None] - y[None]) ** 2, -1),
            lambda x, y: np.sum(x**2, 1)[:, None] - 2 * (x @ y.T) + np.sum(y**2, 1)[None],
            (tall, y),
        ),
        Case(
            "exp(x) * exp(-2x) / 3 + x / 3",
            lambda x: np.exp(x) * np.exp(-2 * x) / 3 + x / 3,
            lambda x: (np.exp(-x) + x) * (1 / 3),
            (x,),
        ),
        Case("3x² + 2x² + x", lambda x: 3 * x * x + 2 * x * x + x, lambda x: x * (5 * x + 1), (x,)),
    ]


def main() -> None:
    """Print both tables."""
    rules = (*pliant.RULES, squared_distances, trace_of_product)
    print("| program | jit | by hand | optimize | jit ÷ optimize | by hand ÷ optimize | first call more |")
    print("|---|---|---|---|---|---|---|")
    for case in cases():
        sides = {
            "jit": pliant.jit(case.written),
            "hand": pliant.jit(case.by_hand),
            "optimize": pliant.optimize(case.written, rules),
        }
        calls = {name: partial(f, *case.args) for name, f in sides.items()}
        first = {name: once(call) for name, call in calls.items()}
        best = interleaved(calls)
        ratios = [best[name] / best["optimize"] for name in ("jit", "hand")]
        micro = " | ".join(f"{best[name] * 1e6:.3g} µs" for name in sides)
        extra = first["optimize"] - first["jit"]
        print(f"| `{case.name}` | {micro} | {ratios[0]:.2f}× | {ratios[1]:.2f}× | {extra:.2f} s |")
    print("\n| operations | search | for each |\n|---|---|---|")
    for length in LENGTHS:
        seconds = once(lambda n=length: pliant.explain(pliant.optimize(straight(n)), np.ones(4)))
        seconds -= once(lambda n=length: pliant.explain(straight(n), np.ones(4)))
        print(f"| {length} | {seconds:.2f} s | {seconds / length * 1e3:.2f} ms |")


def straight(length: int) -> Callable[[Any], Any]:
    """A function of so many operations: an eighth is a sum whose terms may be taken in any order, the rest a chain."""
    numbers = [1.0 + 0.5 / (i + 1) for i in range(length // 2)]

    def run(x: Any) -> Any:
        total = reduce(lambda s, c: s + np.sin(c * x), numbers[: length // 24], x)
        return reduce(lambda y, c: np.sin(y) * c, numbers[length // 16 :], total)

    return run


if __name__ == "__main__":
    main()
