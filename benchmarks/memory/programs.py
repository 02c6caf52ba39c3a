"""The programs of mutation-and-memory §3, and thirty small ones: plain NumPy, writing where the arrays are."""

# ruff: noqa: D103 (each function has its name in LARGE)

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Arrays = tuple[Any, ...]


@dataclass(frozen=True)
class Program:
    """A function as a user writes it, and how its arguments are made. new: bytes of results that lie in
    no argument, which every call has to allocate. out: results that get memory from the caller."""

    name: str
    fn: Callable[..., Any]
    make: Callable[[], Arrays]
    out: Callable[[], Any] | None = None
    new: int = 0


N = 1_000_000
SMALL = 100_000


def ramp(n: int = SMALL) -> Any:
    """Numbers between 0 and 1."""
    return np.arange(n) % 1000 / 1000.0


def chain(x: Any) -> None:
    x *= 2
    x += 1
    np.sin(x, out=x)


def read_and_write(x: Any) -> Any:
    s = 0.0
    for i in range(1000):
        v = x[i]
        x[i] = 2 * v
        s += x[i + 1] * v
    return s


def jacobi(a: Any, b: Any) -> None:
    for _ in range(100):
        b[1:-1, 1:-1] = 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
        a, b = b, a


def accumulate(g: Any, y: Any, x: Any) -> None:
    g += y.T @ x


def sine(x: Any) -> Any:
    return np.sin(x)


def stencil(x: Any) -> None:
    x[1:-1] += 0.25 * (x[:-2] + x[2:])


def shift(x: Any) -> None:
    x[1:] = x[:-1]


def swap_neighbours(x: Any) -> None:
    for i in range(1000):
        x[i], x[i + 1] = x[i + 1], x[i]


def products() -> Arrays:
    """Two batches of 64 rows, and the 1000 × 1000 matrix to which their product is added."""
    rows = np.arange(64000.0).reshape(64, 1000) % 7
    return np.zeros((1000, 1000)), rows, rows + 1


LARGE = [
    Program("P1 x*=2; x+=1; sin(x, out=x)", chain, lambda: (ramp(N),)),
    Program("P2 read and write, 1000 times", read_and_write, lambda: (ramp(N),)),
    Program("P3 Jacobi 512², 100 times", jacobi, lambda: (np.ones((512, 512)), np.ones((512, 512)))),
    Program("P4 G += Y.T @ X", accumulate, products),
    Program("P5 sin(x, out=o)", sine, lambda: (ramp(N),), lambda: np.empty(N)),
    Program("P6 x[1:-1] += .25*(x[:-2]+x[2:])", stencil, lambda: (ramp(N) / 2,)),
    Program("P7 x[1:] = x[:-1]", shift, lambda: (ramp(N),)),
    Program("F swap neighbours, 1000 times", swap_neighbours, lambda: (ramp(N).astype(np.float32),)),
]
