"""`python -m benchmarks.branches`: what the cheap branch of a program costs, as a share of the expensive one: values,
gradients and batches, on every backend."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any, Final

import numpy as np

import pliant
from pliant.tools.bench.measure import interleaved
from pliant.tools.bench.table import duration

SIZE: Final = 700
BACKENDS: Final = ("llvm", "reference")
HEADS: Final = ("cheap", "expensive", "share")
Program = Callable[[Any, Any], Any]


def products(a: Any) -> Any:
    """A chain of matrix products: the expensive branch."""
    for _ in range(4):
        a = np.tanh(a @ a) * 0.1
    return a.sum()


def by_if(is_cheap: Any, a: Any) -> Any:
    """`if` and `else`."""
    if is_cheap:
        y = a[0].sum()
    else:
        y = products(a)
    return y


def by_expression(is_cheap: Any, a: Any) -> Any:
    """A conditional expression."""
    return a[0].sum() if is_cheap else products(a)


def computed_before(is_cheap: Any, a: Any) -> Any:
    """The value of one branch computed before it."""
    y = products(a)
    return a[0].sum() if is_cheap else y


def by_where(is_cheap: Any, a: Any) -> Any:
    """`np.where` of two numbers."""
    return np.where(is_cheap, a[0].sum(), products(a))


def early_return(is_cheap: Any, a: Any) -> Any:
    """A return before the rest."""
    if is_cheap:
        return a[0].sum()
    return products(a)


def in_a_loop(is_cheap: Any, a: Any) -> Any:
    """A branch at each step of a loop."""
    y = 0.0
    for k in range(3):
        if is_cheap:
            y += a[k].sum()
        else:
            y += products(a * (k + 1))
    return y


PROGRAMS: Final[tuple[Program, ...]] = (by_if, by_expression, computed_before, by_where, early_return, in_a_loop)


def value(f: Program, backend: str) -> Program:
    """The compiled program."""
    return pliant.jit(f, backend=backend)


def gradient(f: Program, backend: str) -> Program:
    """Its value and gradient."""
    return pliant.jit(pliant.value_and_grad(f, argnums=1), backend=backend)


def batch(f: Program, backend: str) -> Program:
    """The program for a batch of one matrix, which has the condition in common."""
    one = pliant.jit(pliant.vmap(f, in_axes=(None, 0)), backend=backend)
    return lambda is_cheap, a: one(is_cheap, a[None])


KINDS: Final = {"value": value, "value+grad": gradient, "batch": batch}


def rows(only: list[str], rounds: int, size: int) -> Iterator[tuple[str, float]]:
    """The rows of the table, each with the share."""
    a = np.random.default_rng(0).standard_normal((size, size)) / size**0.5
    yes, no = np.bool_(True), np.bool_(False)
    for f in PROGRAMS:
        for kind, make in KINDS.items():
            for backend in BACKENDS:
                if not only or {f.__name__, kind, backend} & set(only):
                    run = make(f, backend)
                    sides = {"cheap": lambda run=run: run(yes, a), "expensive": lambda run=run: run(no, a)}
                    seconds = interleaved(sides, rounds=rounds, seconds=0.005, clock=perf_counter)
                    share = seconds["cheap"] / seconds["expensive"]
                    cells = [duration(seconds["cheap"]), duration(seconds["expensive"]), f"{100 * share:.3f} %"]
                    text = "".join(f" {c:>10} |" for c in cells)
                    yield f"| {f.__name__:<15} | {kind:<10} | {backend:<9} |" + text, share


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser("python -m benchmarks.branches")
    parser.add_argument("only", nargs="*", help="names of programs, kinds or backends, instead of all")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each side (default 5)")
    parser.add_argument("--size", type=int, default=SIZE, help=f"rows of the matrix (default {SIZE})")
    options = parser.parse_args()
    print(f"| {'':<15} | {'':<10} | {'backend':<9} |" + "".join(f" {head:>10} |" for head in HEADS))
    print("|" + "-" * 17 + "|" + "-" * 12 + "|" + "-" * 11 + "|" + ("-" * 11 + ":|") * len(HEADS))
    worst = 0.0
    for line, share in rows(options.only, options.rounds, options.size):
        print(line, flush=True)
        worst = max(worst, share)
    print(f"\nthe cheap branch takes {100 * worst:.3f} % of the expensive one at most")


if __name__ == "__main__":
    main()
