"""One program by four plans: NumPy itself, the functional program, native code without and with shared memory.

All agree to the last bit: results, what the arguments hold afterwards, and what shares memory.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final
from unittest.mock import patch

import numpy as np

import pliant
from pliant.backends import llvm
from pliant.backends.llvm.jit import Code
from tests.properties.programs import Effects, Program, call
from tests.properties.writes import together

FAST: Final = "UNOPTIMISED"
PLANS: Final[dict[str, tuple[str, Mapping[str, str]]]] = {
    "functional": ("reference", {}),
    "nothing shared": ("llvm", {"PLIANT_SHARING": "0", FAST: "1"}),
    "shared, dead memory poisoned": ("llvm", {"PLIANT_POISON": "1"}),
    "shared": ("llvm", {}),
}
"""The backend of each plan, and the environment it is compiled in. What shares nothing is not optimised by LLVM
either, which takes a third of the time and shares none of its mistakes."""


@contextmanager
def environment(settings: Mapping[str, str]) -> Iterator[None]:
    """Some variables of the environment, inside."""
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    code = (lambda text, _: Code(text, 0)) if FAST in settings else Code
    try:
        with patch.object(llvm, "Code", code):
            yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def plans_agree(program: Program, plans: tuple[str, ...] = tuple(PLANS)) -> str | None:
    """What is wrong, or None."""
    wanted = call(program.function(), program.inputs())
    for plan in plans:
        backend, settings = PLANS[plan]
        with environment(settings):
            try:
                got = call(pliant.jit(program.function(), backend=backend), program.inputs())
            except Exception as error:
                return f"{plan} raised {type(error).__name__}: {error}"
        wrong = difference(program, got, wanted)
        if wrong:
            return f"{plan}: {wrong}"
    return None


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
