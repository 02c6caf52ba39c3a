"""How times grow: of kernels with the size of their arrays, of programs with their length; as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from time import process_time
from typing import Any, Final

import numpy as np

import pliant
from pliant.tools.bench.measure import interleaved
from pliant.tools.bench.table import Row

LENGTHS: Final = (100, 300, 1000, 3000, 10_000)
ELEMENTS: Final = 1000


def straight(length: int) -> Any:
    """A function of so many operations, one after the other."""

    def program(x: Any, y: Any) -> Any:
        for n in range(length // 2):
            x = np.sin(x) * y[n % 2]
        return x

    return program


def by_length(lengths: Sequence[int] = LENGTHS) -> dict[str, list[float]]:
    """Seconds of the first call, which traces and compiles, and of the later ones."""
    found: dict[str, list[float]] = {"first call": [], "call": []}
    x, y = np.linspace(0, 1, ELEMENTS), np.array([2.0, 0.5])
    pliant.jit(straight(2))(x, y)  # what is loaded once is nobody's time
    for length in lengths:
        compiled = pliant.jit(straight(length))
        start = process_time()
        compiled(x, y)
        found["first call"].append(process_time() - start)
        call = interleaved({"pliant": lambda compiled=compiled: compiled(x, y)}, rounds=4, clock=process_time)
        found["call"].append(call["pliant"])
    return found


def draw(rows: Sequence[Row], lengths: dict[str, list[float]], path: Path) -> None:
    """Write a picture: seconds against the size of arrays, and against the length of programs."""
    plot = import_module("matplotlib.pyplot")
    plot.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "pliant"})  # text as text, names as in every run
    figure, (left, right) = plot.subplots(1, 2, figsize=(11, 4.5))
    kernels = [row for row in rows if row.group == "kernels" and row.dtype == "float64"]
    for name in dict.fromkeys(row.name for row in kernels):
        points = [(row.size, row.seconds["pliant"]) for row in kernels if row.name == name]
        left.loglog(*zip(*points, strict=True), label=name, linewidth=1)
    left.set(xlabel="elements, float64", ylabel="seconds of a call", title="kernels")
    left.legend(fontsize=6, ncols=2)
    for what, seconds in lengths.items():
        right.loglog(LENGTHS[: len(seconds)], seconds, marker="o", label=what)
    right.set(xlabel="operations in a row", ylabel="seconds", title="straight-line programs")
    right.legend()
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
