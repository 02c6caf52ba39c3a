"""One program by four plans: NumPy itself, the functional program, native code without and with shared memory.

All agree to the last bit: results, what the arguments hold afterwards, and what shares memory.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, final
from unittest.mock import patch

import numpy as np

from pliant.backends import backend_named
from pliant.backends.llvm import compiler
from pliant.backends.llvm.jit import Code
from pliant.compiled import Compiled
from pliant.errors import UnsupportedError
from pliant.frontend.signature import flatten, in_rows
from pliant.pipeline import optimise
from pliant.runnable import Entry
from tests.properties.programs import Effects, Program, call
from tests.properties.writes import together


@final
@dataclass(frozen=True)
class Plan:
    """A backend, and the environment it compiles in; without effort, LLVM's passes and its slow code selection are left out."""

    backend: str
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    has_effort: bool = False


POISONED: Final = "shared, dead memory poisoned"
OPTIMISED: Final = "shared, optimised by LLVM"
PLANS: Final[dict[str, Plan]] = {
    "functional": Plan("reference"),
    "nothing shared": Plan("llvm", {"PLIANT_SHARING": "0"}),
    POISONED: Plan("llvm", {"PLIANT_POISON": "1"}),
    OPTIMISED: Plan("llvm", has_effort=True),
}
QUICK: Final = tuple(name for name in PLANS if name != OPTIMISED)
EVERY: Final = 4
REFUSED: Final = "refused: "


def plans_of(batch: int) -> tuple[str, ...]:
    """The plans that a batch of programs is run by. LLVM's optimiser, which takes twice as long as all else, runs in every
    fourth batch: what it makes of a program depends on no more than the loops and what they are said not to share."""
    return tuple(PLANS) if batch % EVERY == 0 else QUICK


@contextmanager
def environment(plan: Plan) -> Iterator[None]:
    """What a plan is compiled in; the cache on disk is not used."""
    with patch.dict(os.environ, {"PLIANT_CACHE": "", **plan.settings}):
        if plan.has_effort:
            yield
            return
        with patch.object(compiler, "Code", lambda text, _: Code(text, 0, level=0)):
            yield


def plans_agree(program: Program, plans: tuple[str, ...] = tuple(PLANS)) -> str | None:
    """What is wrong, or None; a text that begins with REFUSED if the program is one that Pliant says it does not take."""
    wanted = call(program.function(), program.inputs())
    try:
        traced = by_plan(program)
    except UnsupportedError as error:
        return f"{REFUSED}{error.message}"
    except Exception as error:
        return f"tracing raised {type(error).__name__}: {error}"
    for name in plans:
        with environment(PLANS[name]):
            try:
                got = call(traced(PLANS[name]), program.inputs())
            except Exception as error:
                return f"{name} raised {type(error).__name__}: {error}"
        wrong = difference(program, got, wanted)
        if wrong:
            return f"{name}: {wrong}"
    return None


def by_plan(program: Program) -> Callable[[Plan], Callable[..., Any]]:
    """What compiles a program by a plan; it is traced once for all plans."""
    traced, _ = Compiled(program.function()).program_and_arrays(program.inputs(), {}, is_for_all=True)
    fn = optimise(traced.fn)

    def compiled(plan: Plan) -> Callable[..., Any]:
        entry = Entry(traced, lambda pinned: backend_named(plan.backend).compile(fn, pinned=pinned))

        def run(*args: Any) -> Any:
            arrays = flatten((args, {}))[0]
            return entry.call((args, {}), arrays, arrays, in_rows(arrays)[0])

        return run

    return compiled


def difference(program: Program, got: Effects, wanted: Effects) -> str | None:
    """Where two calls differ."""
    names = (*program.results, *[f"argument {n}" for n, _ in program.arguments])
    for name, x, y in zip(names, got.arrays, wanted.arrays, strict=True):
        if type(x) is not type(y) or x.dtype != y.dtype or x.shape != y.shape or x.tobytes() != y.tobytes():
            return f"{name} is\n{x!r}\nNumPy says\n{y!r}"
    for n, (x, y) in enumerate(zip(got.results, wanted.results, strict=True)):
        for name, other, theirs in zip(names, got.arrays, wanted.arrays, strict=True):
            if np.may_share_memory(x, other) != np.may_share_memory(y, theirs):
                return f"{program.results[n]} and {name}: one shares memory, the other does not"
    return None


def wrong_ones(
    programs: list[Program], plans: tuple[str, ...] = tuple(PLANS), *, at_once: bool = True
) -> list[tuple[Program, str]]:
    """The programs for which the plans differ. at_once: as one function first, which is cheaper."""
    if at_once and plans_agree(together(programs), plans) is None:
        return []
    found = [(p, plans_agree(p, plans)) for p in programs]
    return [(p, wrong) for p, wrong in found if wrong]
