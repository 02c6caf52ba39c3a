"""Plain NumPy programs made of loops, written from their mathematical definitions."""

from __future__ import annotations

from benchmarks.loops.programs import dynamics, factorisations, flows, products, recurrences, stencils
from benchmarks.loops.programs.base import LoopProgram

PROGRAMS: tuple[LoopProgram, ...] = (
    stencils.PROGRAMS
    + flows.PROGRAMS
    + factorisations.PROGRAMS
    + products.PROGRAMS
    + recurrences.PROGRAMS
    + dynamics.PROGRAMS
)

__all__ = ["PROGRAMS", "LoopProgram"]
