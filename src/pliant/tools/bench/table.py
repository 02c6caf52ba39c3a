"""The suite's rows as text: times, and how many times longer the other libraries take."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, final

from pliant.kernel.work import amount

NAMES: Final = {
    "numpy": "NumPy", "jax": "JAX", "torch": "torch", "numba": "numba", "pytensor": "PyTensor", "keops": "KeOps",
}  # fmt: skip
BAR: Final = 0.95
"""No slower than this times the best other library."""


@final
@dataclass(frozen=True)
class Row:
    """What one case took: seconds by side, and how long a copy of as many bytes takes as a share of Pliant's."""

    group: str
    name: str
    kind: str
    dtype: str
    size: int
    seconds: dict[str, float]
    bandwidth: float

    @property
    def best(self) -> float:
        """How many times longer the fastest other library takes; infinite if there is none."""
        return min([self.ratio(side) for side in self.seconds if side != "pliant"], default=math.inf)

    def ratio(self, side: str) -> float:
        """How many times longer a library takes than Pliant."""
        return self.seconds[side] / self.seconds["pliant"]


def duration(seconds: float) -> str:
    """Seconds with three digits in a unit that fits."""
    return amount(seconds) + "s"


def heading(sides: Sequence[str]) -> str:
    """The head of the table."""
    heads = ["Pliant", *[f"{NAMES[side]}/pl." for side in sides if side != "pliant"], "of a copy"]
    rule = "|" + "-" * 19 + "|" + "-" * 15 + "|" + "-" * 9 + "|" + ("-" * 10 + ":|") * (1 + len(heads))
    return f"| {'':<17} | {'':<13} | {'':<7} | {'size':>9} |" + "".join(f" {h:>9} |" for h in heads) + "\n" + rule


def line(row: Row, sides: Sequence[str]) -> str:
    """One row of the table."""
    others = [f"{row.ratio(side):.2f}×" if side in row.seconds else "" for side in sides if side != "pliant"]
    cells = [duration(row.seconds["pliant"]), *others, f"{row.bandwidth:.0%}" if row.kind == "value" else ""]
    first = f"| {row.name:<17} | {row.kind:<13} | {row.dtype:<7} | {row.size:>9} |"
    return first + "".join(f" {cell:>9} |" for cell in cells)


def summary(rows: Iterable[Row]) -> Iterator[str]:
    """For each group, geometric means over its rows, and which rows miss the bar."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.group, []).append(row)
    for group, found in groups.items():
        parts = list[str]()
        for side, name in NAMES.items():
            ratios = [row.ratio(side) for row in found if side in row.seconds]
            if ratios:
                parts.append(f"{name} {mean(ratios):.2f}×")
        slow = [row for row in found if row.best < BAR]
        worst = "; ".join(f"{row.name} {row.kind} {row.dtype} {row.size} {row.best:.2f}×" for row in slow) or "none"
        yield f"{group}: {len(found)} rows, geometric means {', '.join(parts)}; slower than {BAR} of the best: {worst}"


def mean(ratios: Sequence[float]) -> float:
    """The geometric mean."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios))
