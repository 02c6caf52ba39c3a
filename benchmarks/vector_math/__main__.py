"""`python -m benchmarks.vector_math`: measure the errors of all functions and write docs/vector-math.md."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Final

import llvmlite

from benchmarks.vector_math import planar
from benchmarks.vector_math.errors import DTYPES, NAMES, arguments, by_numpy, compiled, error
from pliant.backends.llvm.jit import host_target
from pliant.backends.llvm.math import LIBM
from pliant.backends.llvm.own import served

TARGET: Final = Path("docs/vector-math.md")
COUNT: Final = 250_000  # arguments of each of four kinds
HEAD: Final = """# Errors of mathematical functions

Written by `python -m benchmarks.vector_math`: the greatest error found among a million arguments over each function's
range, of all sizes, and near 1, in units of the last place (0.5 is perfect rounding). "own" are Pliant's formulas
(`PLIANT_MATH=own`), "system" the platform's functions (`PLIANT_MATH=system`), NumPy is beside them. A star shows which
one is used here. The truth is NumPy's `longdouble` for f64, and f64 for f32. Zeros, infinities, NaN, the least and the
greatest numbers give what NumPy gives, which is tested.

"""
PLANAR: Final = """Functions of complex numbers, the greatest error of a part among a quarter of a million arguments
near the origin, of all sizes, and close to the unit circle. The truth is NumPy's `clongdouble` for c128, and c128 for
c64.
"""


def main() -> None:
    """Measure and write."""
    target = host_target()
    used = served(target.has, vectors=bool(target.vectors))
    where = "glibc's vector functions" if target.vectors else "scalar libm"
    lines = [
        f"Here: {platform.system()} on {platform.machine()}, {target.cpu}, {where}, llvmlite {llvmlite.__version__}.",
        "",
    ]
    lines += ["| function | dtype | own | system | NumPy |", "|---|---|--:|--:|--:|"]
    for name in NAMES:
        for dtype in DTYPES:
            xs = arguments(name, dtype, COUNT)
            own, system = (error(name, compiled(name, kind, xs), xs).ulps for kind in ("own", "system"))
            is_own = (LIBM[name], "double" if dtype == "f64" else "float") in used
            numpy = error(name, by_numpy(name, xs), xs).ulps
            cells = f"{own:.2f}{' *' if is_own else ''} | {system:.2f}{'' if is_own else ' *'} | {numpy:.2f}"
            lines.append(f"| {name} | {dtype} | {cells} |")
            print(lines[-1], flush=True)
    TARGET.write_text(HEAD + "\n".join([*lines, "", *of_complex_numbers(), ""]))


def of_complex_numbers() -> list[str]:
    """The lines of a second table."""
    lines = [PLANAR, "| function | dtype | Pliant | NumPy |", "|---|---|--:|--:|"]
    for name in planar.NAMES:
        for dtype in planar.DTYPES:
            zs = planar.arguments(name, dtype, COUNT // 4)
            own, numpy = (planar.error(name, by(name, zs), zs).ulps for by in (planar.compiled, planar.by_numpy))
            lines.append(f"| {name} | {dtype} | {own:.2f} | {numpy:.2f} |")
            print(lines[-1], flush=True)
    return lines


if __name__ == "__main__":
    main()
