"""The programs as calls of each side, which keep what they need between calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

import numpy as np
from scipy.linalg import blas

from benchmarks.memory import jax_programs, torch_programs
from benchmarks.memory.programs import LARGE, Program
from benchmarks.memory.small import SMALL_PROGRAMS

Call = Callable[[], Any]
ALL: Final = [*LARGE, *SMALL_PROGRAMS]


def by_pliant(program: Program) -> Call:
    """Compiled by Pliant."""
    compiled, arrays = import_module("pliant").jit(program.fn), program.make()
    if program.out:
        out = program.out()
        return lambda: compiled(*arrays, out=out)
    return lambda: compiled(*arrays)


def by_numpy(program: Program) -> Call:
    """The same code, run by NumPy."""
    arrays = program.make()
    return lambda: program.fn(*arrays)


def by_hand(fn: Callable[..., Any], program: Program) -> Call:
    """NumPy code that avoids what temporaries it can."""
    arrays, out = program.make(), program.out() if program.out else None
    return lambda: fn(*arrays) if out is None else fn(*arrays, out)


def by_numba(program: Program) -> Call:
    """Compiled by Numba, which takes `out` by its position only."""
    compiled = import_module("numba").njit(NUMBA.get(program.name.split()[0], program.fn))
    given = [*program.make(), *([program.out()] if program.out else [])]
    return lambda: compiled(*given)


def chain_for_numba(x: Any) -> None:
    """In place."""
    x *= 2
    x += 1
    np.sin(x, x)


def sine_for_numba(x: Any, out: Any) -> None:
    """Into memory that is given."""
    np.sin(x, out)


NUMBA: Final[Mapping[str, Callable[..., Any]]] = {"P1": chain_for_numba, "P5": sine_for_numba}


def jacobi_by_hand(a: Any, b: Any) -> None:
    """A hundred steps without a temporary."""
    for _ in range(100):
        inner = b[1:-1, 1:-1]
        np.add(a[:-2, 1:-1], a[2:, 1:-1], out=inner)
        inner += a[1:-1, :-2]
        inner += a[1:-1, 2:]
        inner *= 0.25
        a, b = b, a


def accumulate_by_hand(g: Any, y: Any, x: Any) -> None:
    """BLAS is column-major: the transpose of g, in its memory."""
    blas.dgemm(1.0, x.T, y.T, 1.0, g.T, 0, 1, overwrite_c=1)  # pyright: ignore[reportAttributeAccessIssue]


def sine_by_hand(x: Any, out: Any) -> None:
    """Into memory that is given."""
    np.sin(x, out=out)


HAND: Final[Mapping[str, Callable[..., Any]]] = {
    "P3": jacobi_by_hand,
    "P4": accumulate_by_hand,
    "P5": sine_by_hand,
} | {p.name.split()[0]: p.fn for p in LARGE if p.name[:2] not in ("P3", "P4", "P5")}


CALLS: Final[Mapping[str, Mapping[str, Callable[[], Call]]]] = {
    "pliant": {p.name: partial(by_pliant, p) for p in ALL},
    "numpy": {p.name: partial(by_numpy, p) for p in ALL},
    "hand": {p.name: partial(by_hand, HAND[p.name.split()[0]], p) for p in LARGE},
    "jax": {p.name: partial(jax_programs.prepared, p) for p in LARGE},
    "torch": {p.name: partial(torch_programs.prepared, p) for p in LARGE if torch_programs.has(p)},
    "numba": {p.name: partial(by_numba, p) for p in LARGE} if find_spec("numba") else {},
}
"""For each side, what makes a call of each program."""
