"""Random programs of loops and branches do, compiled, what they do in Python."""

from __future__ import annotations

import contextlib
from random import Random
from typing import Any

import numpy as np
from hypothesis import given, note, settings
from hypothesis import strategies as st

import pliant
from pliant.errors import UnsupportedError
from tests.frontend.control.programs import Program, compiled

ARGUMENTS = np.linspace(-1, 1.2, 6), np.cos(np.arange(6.0)), 0.3, 4


def arguments() -> tuple[Any, ...]:
    return tuple(np.copy(a) if isinstance(a, np.ndarray) else a for a in ARGUMENTS)


def agree(text: str) -> None:
    note(text)
    f = compiled(text)
    mine, pythons = arguments(), arguments()
    expected = f(*pythons)
    got = pliant.jit(f, backend="reference")(*mine)
    for a, b in zip((*got, *mine), (*expected, *pythons), strict=True):
        np.testing.assert_allclose(np.asarray(a, float), np.asarray(b, float), rtol=1e-9, atol=1e-12)


@settings(max_examples=15)
@given(st.integers(0, 2**32))
def test_a_program_whose_steps_are_counted_agrees(seed: int) -> None:
    agree(Program(Random(seed), dynamic=False).text())


@settings(max_examples=15)
@given(st.integers(0, 2**32))
def test_a_program_agrees_or_is_refused(seed: int) -> None:
    with contextlib.suppress(UnsupportedError):
        agree(Program(Random(seed), dynamic=True).text())
