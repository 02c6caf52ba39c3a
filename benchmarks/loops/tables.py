"""What was measured, as text: one size of each program by every side, and how times grow."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, final

from benchmarks.loops.programs import LoopProgram
from benchmarks.loops.programs.base import Sizes
from pliant.tools.bench.table import duration

BOUND: Final = 1.5
"""No slower than this times the hand-written code."""
NAMES: Final = {"numpy": "NumPy", "numba": "numba", "jax": "JAX", "C": "C"}


@final
@dataclass(frozen=True)
class Row:
    """A program's value, or its value with gradients, at a size: seconds of a call, and of the first, by side."""

    program: str
    size: Sizes
    kind: str
    seconds: dict[str, float]
    first: dict[str, float] = field(default_factory=dict[str, float])

    def times(self, side: str) -> float | None:
        """How many times longer a side takes than Pliant; Pliant than C."""
        found = self.seconds.get(side)
        if found is None:
            return None
        return self.seconds["pliant"] / found if side == "C" else found / self.seconds["pliant"]


def sized(size: Sizes) -> str:
    """A size in words."""
    return " ".join(f"{key}={n}" for key, n in size.items())


def ratio(number: float | None) -> str:
    """A ratio with three digits or so."""
    if number is None:
        return ""
    return f"{number:.2f}" if number < 10 else f"{number:.1f}" if number < 100 else f"{number:.0f}"


def table(heads: Sequence[str], left: int, lines: Sequence[Sequence[str]]) -> str:
    """A table whose first so many columns are text, and the others numbers; empty columns are left out."""
    kept = [n for n in range(len(heads)) if any(line[n] for line in lines)]
    cells = [[line[n] for n in kept] for line in (heads, *lines)]
    widths = [max(len(line[n]) for line in cells) for n in range(len(kept))]
    rule = "|".join("-" * (w + 2) if n < left else "-" * (w + 1) + ":" for n, w in zip(kept, widths, strict=True))
    texts = [" | ".join(_padded(c, w, n < left) for c, w, n in zip(line, widths, kept, strict=True)) for line in cells]
    return "\n".join([f"| {texts[0]} |", f"|{rule}|", *[f"| {text} |" for text in texts[1:]]])


def _padded(cell: str, width: int, is_text: bool) -> str:
    return cell.ljust(width) if is_text else cell.rjust(width)


def in_the_middle(programs: Sequence[LoopProgram], rows: Sequence[Row]) -> str:
    """All sides at the size in the middle."""
    heads = ("program", "size", "", "pliant", "NumPy/pl.", "numba/pl.", "JAX/pl.", "pl./C", "first", "JAX/pl.")
    lines = list[list[str]]()
    for program in programs:
        for row in rows:
            if (row.program, row.size) == (program.name, program.sizes[1]):
                sides = [ratio(row.times(side)) for side in NAMES]
                first, jax = row.first["pliant"], row.first.get("jax")
                compiling = [duration(first), ratio(jax and jax / first)]
                name = [row.program, sized(row.size), row.kind]
                lines.append([*name, duration(row.seconds["pliant"]), *sides, *compiling])
    return table(heads, 3, lines)


def growth(
    programs: Sequence[LoopProgram], rows: Sequence[Row], points: Callable[[LoopProgram], Sequence[Sizes]]
) -> str:
    """Times at several sizes, and the exponents of growth from the one in the middle to the largest."""
    heads = [
        "program",
        "",
        "at",
        "pliant",
        "NumPy/pl.",
        "numba/pl.",
        "JAX/pl.",
        "pl./C",
        "exponent",
        "numba",
        "JAX",
        "C",
    ]
    lines = list[list[str]]()
    for program in programs:
        for kind in ("value", "value+grad"):
            found = [r for p in points(program) for r in rows if (r.program, r.size, r.kind) == (program.name, p, kind)]
            if found and len(found) == len(points(program)):
                lines.append([program.name, kind, *_series(found)])
    return table(heads, 3, lines)


def _series(found: Sequence[Row]) -> Iterator[str]:
    """The cells of one program at several sizes."""
    key = next((k for k in found[0].size if found[0].size[k] != found[-1].size[k]), "")
    yield f"{key} " + ", ".join(str(row.size[key]) for row in found)
    yield ", ".join(duration(row.seconds["pliant"]) for row in found)
    for side in NAMES:
        is_there = any(side in row.seconds for row in found)
        yield ", ".join(ratio(row.times(side)) or "–" for row in found) if is_there else ""
    middle, last = found[len(found) // 2], found[-1]
    grown = math.log(last.size[key] / middle.size[key])
    for side in ("pliant", "numba", "jax", "C"):
        both = [row.seconds.get(side) for row in (middle, last)]
        yield f"{math.log(both[1] / both[0]) / grown:.2f}" if both[0] and both[1] else ""


def summary(rows: Sequence[Row]) -> Iterator[str]:
    """Geometric means of the ratios, and the rows on the wrong side of a bound."""
    for kind in ("value", "value+grad"):
        for side, name in NAMES.items():
            found = [(row, t) for row in rows if row.kind == kind and (t := row.times(side)) is not None]
            if not found:
                continue
            mean = math.exp(sum(math.log(t) for _, t in found) / len(found))
            is_bad = (lambda t: t > BOUND) if side == "C" else (lambda t: t < 1.0)
            bad = [f"{row.program} {sized(row.size)} {ratio(t)}" for row, t in found if is_bad(t)]
            what = f"pliant/{name}" if side == "C" else f"{name}/pliant"
            limit = f"above {BOUND}" if side == "C" else "below 1"
            yield f"{kind}, {what}: mean {mean:.2f} of {len(found)} rows; {limit}: {'; '.join(bad) or 'none'}"
    firsts = [row for row in rows if "jax" in row.first]
    slow = [row for row in firsts if row.first["pliant"] > 2.0 * row.first["jax"]]
    names = [f"{row.program} {sized(row.size)} {row.kind} {row.first['pliant'] / row.first['jax']:.1f}" for row in slow]
    total = sum(row.first["jax"] for row in firsts) / max(sum(row.first["pliant"] for row in firsts), 1e-9)
    yield f"first calls: JAX/pliant {total:.2f} in all; more than twice JAX's: {'; '.join(names) or 'none'}"
