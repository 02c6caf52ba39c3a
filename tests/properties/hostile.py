"""Arguments as no compiler would have them: of any layout, byte order and alignment, sharing memory, written to or not to be.

One compiled function gets one set of them after the other, and has to do each time what NumPy does; where it raises an
error instead, it must have written nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, Final

import numpy as np

import pliant
from pliant.errors import IndexRangeError, ReadOnlyError, ShapeError, UnsupportedError
from tests.properties import checks
from tests.properties.programs import Effects, Program, call

CALLS: Final = 10


def reversed_(x: Any) -> Any:
    """A copy whose axes all run backward."""
    key = (*[slice(None, None, -1)] * x.ndim, ...)
    return x[key].copy()[key]


def with_gaps(x: Any) -> Any:
    """A copy with other elements between any two."""
    wide = np.zeros([2 * n for n in x.shape], x.dtype)
    made = wide[(*[slice(None, None, 2)] * x.ndim, ...)]
    made[...] = x
    return made


def misaligned(x: Any) -> Any:
    """A copy that begins between two numbers."""
    made = np.zeros(x.nbytes + 1, np.uint8)[1:].view(x.dtype).reshape(x.shape)
    made[...] = x
    return made


def in_records(x: Any) -> Any:
    """A copy among other bytes: its strides are no multiples of the element."""
    records = np.zeros(x.shape, [("a", "u1"), ("b", x.dtype), ("c", "u1", (2,))])
    records["b"] = x
    return records["b"]


def of_other_order(x: Any) -> Any:
    """A copy of the other byte order."""
    return x.astype(x.dtype.newbyteorder())


def read_only(x: Any) -> Any:
    """A copy that is not to be written."""
    made = x.copy()
    made.flags.writeable = False
    return made


def repeated(x: Any) -> Any:
    """The first row for each row, in the same memory."""
    return np.broadcast_to(x[:1], x.shape) if x.ndim and x.size else x.copy()


def scaled(x: Any) -> Any:
    """Other numbers."""
    return np.roll(x, 1) if x.dtype.kind != "f" else np.asarray(np.roll(x, 1) * x.dtype.type(0.75))


LAYOUTS: Final[tuple[Callable[[Any], Any], ...]] = (
    np.copy, np.copy, scaled, reversed_, with_gaps, misaligned, in_records, of_other_order, read_only, repeated, np.asfortranarray,
    lambda x: np.moveaxis(np.moveaxis(x, 0, -1).copy(), -1, 0) if x.ndim else x.copy(),
)  # fmt: skip
SHARED: Final[tuple[Callable[[Any], Any], ...]] = (
    lambda x: x, lambda x: x[...], lambda x: x[::-1], lambda x: x.T, lambda x: x.reshape(-1), lambda x: x.swapaxes(0, -1),
    lambda x: np.flip(x), lambda x: x[..., ::-1],
)  # fmt: skip


def arguments(program: Program, draw: Random) -> Callable[[], list[Any]]:
    """What makes arguments of the kinds that a program has, anew each time."""
    layouts = [draw.choice(LAYOUTS) for _ in program.arguments]
    shared = [(draw.choice(SHARED), draw.randrange(len(layouts))) if draw.random() < 0.25 else None for _ in layouts]

    def made() -> list[Any]:
        given = program.inputs()
        found = [layout(x) if isinstance(x, np.ndarray) else x for x, layout in zip(given, layouts, strict=True)]
        for n, way in enumerate(shared):
            if way is not None and isinstance(found[way[1]], np.ndarray) and found[way[1]].ndim:
                view = way[0](found[way[1]])
                if isinstance(given[n], np.ndarray) and (view.shape, view.dtype) == (given[n].shape, given[n].dtype):
                    found[n] = view
        return found

    return made


class Given(Program):
    """A program with other arguments."""


def given(program: Program, made: Callable[[], list[Any]]) -> Program:
    """The program with arguments that are made otherwise."""
    other = Given(program.arguments, program.lines, program.results, program.seed)
    object.__setattr__(other, "inputs", made)
    return other


def any_call_is_numpys(program: Program, backend: str = "llvm") -> str | None:
    """A compiled function called with arguments of all kinds."""
    draw = Random(f"calls {program.seed}")
    f = pliant.jit(program.function(), backend=backend)
    for number in range(CALLS):
        made = arguments(program, draw)
        wrong = called_alike(f, given(program, made))
        if wrong:
            return f"call {number}: {wrong}\nby {[describe(x) for x in made()]}"
    return None


def describe(x: Any) -> str:
    """What an argument is."""
    if not isinstance(x, np.ndarray):
        return repr(x)
    return f"{x.dtype.str}{x.shape} strides {x.strides}{'' if x.flags.writeable else ' read-only'}"


def called_alike(f: Callable[..., Any], program: Program) -> str | None:
    """One call."""
    theirs = program.inputs()
    try:
        wanted = call(program.function(), theirs)
    except Exception as error:
        wanted = error
    ours, before = program.inputs(), program.inputs()
    try:
        got = call(f, ours)
    except Exception as error:
        if not unchanged(ours, before):
            return f"{type(error).__name__} after a part was written: {error}"
        if isinstance(wanted, Exception) or is_excused(error, program, theirs):
            return None
        return f"raised {type(error).__name__}: {error}"
    if isinstance(wanted, Exception):
        if "read-only" in str(wanted) and unchanged(ours, before):
            return None  # no elements are written, or what is there already
        return f"raised nothing; NumPy: {type(wanted).__name__}: {wanted}"
    return checks.differs(program, *native(got, wanted))


def unchanged(ours: list[Any], before: list[Any]) -> bool:
    """Whether arrays hold what they held before."""
    return all([x.tobytes() == y.tobytes() for x, y in zip(ours, before, strict=True) if isinstance(x, np.ndarray)])


def native(got: Effects, wanted: Effects) -> tuple[Effects, Effects]:
    """The same in the byte order of this machine, which results have that are no views of arguments. Copied arrays share
    no memory: that is a matter of calls without other byte orders."""
    if all([x.dtype.isnative for x in (*got.arrays, *wanted.arrays) if isinstance(x, np.ndarray)]):
        return got, wanted
    return copied(got), copied(wanted)


def copied(effects: Effects) -> Effects:
    """Each array by itself, in the byte order of this machine."""
    kept = [
        tuple([x.astype(x.dtype.newbyteorder("=")) if isinstance(x, np.ndarray) else x for x in xs])
        for xs in (effects.results, effects.inputs)
    ]
    return Effects(*kept)


def is_excused(error: Exception, program: Program, inputs: list[Any]) -> bool:
    """Whether it is said that there is such an error where NumPy has none. NumPy's `ufunc.at` writes what is read-only."""
    is_empty = any([np.size(x) == 0 for x in inputs])
    if isinstance(error, ReadOnlyError) and ".at(" in program.source():
        return True
    return isinstance(error, UnsupportedError) or (is_empty and isinstance(error, IndexRangeError | ShapeError))
