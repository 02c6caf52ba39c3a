"""What a call costs that writes its arguments: the test that eight arrays lie apart; and updates at places."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np

import pliant
from benchmarks.measure import interleaved

EIGHT: Final = 8
UPDATES: Final = ((100_000, 100, 64), (10_000, 1000, 64), (1_000_000, 1000, 1))  # how many, of rows, of that length


def writes_none(a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, h: Any) -> Any:
    """Writes nothing: nothing is tested."""
    return a + b


def writes_one(a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, h: Any) -> None:
    """Seven pairs may not overlap."""
    a += b


def writes_all(a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, h: Any) -> None:
    """All 28 pairs may not overlap."""
    for x in (a, b, c, d, e, f, g, h):
        x += 1


def measured() -> dict[str, dict[str, float]]:
    """Seconds of each call, by name and side."""
    arrays = [np.ones(16) for _ in range(EIGHT)]
    found = {
        f"call with 8 arrays, {f.__name__}": {"pliant": called(f, arrays)}
        for f in (writes_none, writes_one, writes_all)
    }
    for n, rows, length in UPDATES:
        for ufunc in (np.add, np.maximum, np.multiply):
            found[f"{ufunc.__name__}.at, {n} updates of {rows} rows of {length}"] = updated(ufunc, n, rows, length)
    return found


def called(f: Callable[..., Any], arrays: list[Any]) -> float:
    """Seconds of a compiled call."""
    compiled: Any = pliant.jit(f)
    return interleaved({"pliant": lambda: compiled(*arrays)})["pliant"]


def updated(ufunc: np.ufunc, n: int, rows: int, length: int) -> dict[str, float]:
    """Seconds of `ufunc.at`, compiled, by NumPy, and of its gradient by what is given."""
    rng = np.random.default_rng(0)
    x, places, y = np.ones((rows, length)), rng.integers(0, rows, n), rng.uniform(0.9, 1.1, (n, length))

    def update(x: Any, i: Any, y: Any) -> None:
        ufunc.at(x, i, y)

    def total(x: Any, i: Any, y: Any) -> Any:
        x = x.copy()
        ufunc.at(x, i, y)
        return x.sum()

    compiled, gradient = pliant.jit(update), pliant.grad(total, 2)
    return interleaved(
        {
            "pliant": lambda: compiled(x, places, y),
            "numpy": lambda: update(x, places, y),
            "gradient": lambda: gradient(x, places, y),
        },
        rounds=6,
    )


def table(found: dict[str, dict[str, float]]) -> Iterator[str]:
    """Microseconds."""
    yield "| µs | pliant | numpy | gradient |\n| --- | ---: | ---: | ---: |"
    for name, seconds in found.items():
        cells = [f"{seconds[side] * 1e6:,.2f}" if side in seconds else "" for side in ("pliant", "numpy", "gradient")]
        yield "| " + " | ".join([name, *cells]) + " |"
