"""Policies of what a loop of unknown length keeps: the same values and derivatives of any order, less memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pliant
from benchmarks.memory.count import interposer, missing
from pliant.errors import ArgumentError

Program = Callable[..., Any]
POLICIES = ["carry", "sqrt"]
X = np.random.default_rng(1).random(6)


def counted(x: Any, a: Any, n: Any) -> Any:
    for i in range(n):
        x = np.sin(a * x) + 0.1 * i
    return np.sum(x)


def downwards(x: Any, a: Any, n: Any) -> Any:
    for i in range(n + 3, 2, -1):
        x = np.sin(a * x) + 0.1 * i
    return np.sum(x)


def until_small(x: Any, a: Any, n: Any) -> Any:
    y = np.sum(x) + n
    while y > 0.1:
        y = y * y * 0.3 * a / (1 + y)
    return y


def in_steps(x: Any, a: Any, n: Any) -> Any:
    """A loop in each step of one, whose length each differs."""
    total = 0.0
    for i in range(6):
        y = x[i] + 2
        while y > 0.1:
            y = y * y * 0.3 * a / (1 + y)
        total = total + y * x[i]
    return total


def in_a_loop_without_end(x: Any, a: Any, n: Any) -> Any:
    """A loop of unknown length in one, which keeps less itself, too."""
    y, k = np.sum(x), 0

    def falling(y: Any) -> Any:
        while y > 0.1:
            y = y * y * 0.3 * a / (1 + y)
        return y

    while k < n:
        y = pliant.checkpoint(falling, save="sqrt")(y + x[k % 6]) + a
        k += 1
    return y


def with_integers_and_branches(x: Any, a: Any, n: Any) -> Any:
    k = n + 5
    while k > 1:
        if k % 2:
            k = 3 * k + 1
            x = np.sin(a * x)
        else:
            k = k // 2
            x = x * a + 0.1 * k
    return np.sum(x * x)


def complex_carries(x: Any, a: Any, n: Any) -> Any:
    z, k = 0.3 + 0.2j, 0
    while k < n and abs(z) < 50:
        z = np.exp(1j * a * z) * x[k % 6] + 0.1j * z.real
        k += 1
    return abs(z) ** 2


def in_place(x: Any, a: Any, n: Any) -> Any:
    s, k, y = 0.0, 0, x
    while k < n:
        y = np.sin(y * a)
        for i in range(1, 6):
            y[i] = y[i - 1] * a + y[i] * 0.3
        s += np.sum(y * x)
        k += 1
    return s


def in_a_branch(x: Any, a: Any, n: Any) -> Any:
    if np.sum(x) > 0.2:
        for _ in range(n):
            x = np.sin(a * x)
    else:
        x = x * a
    return np.sum(x)


PROGRAMS = [
    counted, downwards, until_small, in_steps, in_a_loop_without_end, with_integers_and_branches, complex_carries,
    in_place, in_a_branch,
]  # fmt: skip


@pytest.mark.parametrize("save", POLICIES, ids=str)
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_values_and_gradients_are_those_of_what_keeps_all(f: Program, save: Any) -> None:
    kept = pliant.checkpoint(f, save=save)
    for n in (0, 1, 9):
        np.testing.assert_allclose(pliant.jit(kept)(X, 0.9, n), f(X, 0.9, n), rtol=1e-12)
        for got, want in zip(pliant.grad(kept, (0, 1))(X, 0.9, n), pliant.grad(f, (0, 1))(X, 0.9, n), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_so_are_batches_and_second_derivatives(f: Program) -> None:
    kept = pliant.checkpoint(f, save="sqrt")
    rows = np.stack([X, 0.7 * X])
    batch = pliant.vmap(pliant.grad(kept), (0, None, None))(rows, 0.9, 9)
    np.testing.assert_allclose(batch, [pliant.grad(f)(row, 0.9, 9) for row in rows], rtol=1e-10, atol=1e-12)

    def ahead(g: Program) -> Any:
        return pliant.jvp(lambda x: pliant.grad(g)(x, 0.9, 9), (X,), (0.3 * X,))[1]

    def behind(g: Program) -> Any:
        return pliant.grad(lambda x: np.sum(pliant.grad(g)(x, 0.9, 9) * X))(X)

    np.testing.assert_allclose(ahead(kept), ahead(f), rtol=1e-8, atol=1e-11)
    np.testing.assert_allclose(behind(kept), behind(f), rtol=1e-8, atol=1e-11)


def test_loops_say_so_themselves() -> None:
    def by_while(x: Any, n: Any, save: Any) -> Any:
        return pliant.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, np.sin(s[1]) + 0.1), (0, x), save=save)[1]

    def by_fori(x: Any, n: Any, save: Any) -> Any:
        return pliant.fori_loop(0, n, lambda _, y: np.sin(y) + 0.1, x, save=save)

    want = pliant.grad(by_fori)(0.3, 20, "store")
    for save in (*POLICIES, pliant.treeverse(3)):
        for f in (by_while, by_fori):
            np.testing.assert_allclose(pliant.grad(lambda x, f=f, save=save: f(x, 20, save))(0.3), want, rtol=1e-12)
            got = pliant.grad(lambda x, n, f=f, save=save: f(x, n, save))(0.3, 20)
            np.testing.assert_allclose(got, want, rtol=1e-12)
    with pytest.raises(ArgumentError, match="is no policy"):
        pliant.grad(lambda x: by_while(x, 3, "some"))(0.3)


def test_no_more_steps_are_taken_than_are_allowed() -> None:
    def f(x: Any) -> Any:
        return pliant.while_loop(lambda y: y < 9, lambda y: y * y, x, max_steps=3, save="sqrt")

    np.testing.assert_allclose(pliant.grad(f)(1.2), 8 * 1.2**7)


def test_steps_are_undone_only_if_they_are_counted() -> None:
    undo = pliant.reversible(lambda i, y: y / 2)

    def f(x: Any) -> Any:
        return pliant.while_loop(lambda y: y < 9, lambda y: 2 * y, x, save=undo)

    with pytest.raises(ArgumentError, match=r"while_loop: .* needs a bound") as error:
        pliant.grad(f)(0.3)
    assert "save=undo" in str(error.value)


LONG = """
import ctypes, json
import numpy as np, pliant

def in_a_branch(x, n):
    if x[0] > 0:
        for _ in range(n):
            x = x * (1.1 - 0.1 * x)
    return np.sum(x)

def peak(gradient, n):
    gradient(x, n)
    counter.memory_read(held)
    return held[1]

x, peaks, counter, held = np.linspace(0.1, 1, 200), {}, ctypes.CDLL(None), (ctypes.c_long * 2)()
for save, counts in (("sqrt", (20_000, 320_000)), ("store", (20_000,))):  # what one has held, another need not ask for
    gradient = pliant.grad(pliant.checkpoint(in_a_branch, save=save))
    gradient(x, 3)
    counter.memory_reset()
    peaks[save] = [peak(gradient, n) for n in counts]
print(json.dumps(peaks))
"""


@pytest.mark.skipif(bool(missing()), reason=missing())
def test_blocks_keep_as_many_states_as_the_root_of_the_steps(tmp_path: Path) -> None:
    """Counted beneath malloc, in a process of its own: tapes are no memory of Python's."""
    program = tmp_path / "long.py"
    program.write_text(LONG)
    with interposer() as library:
        given = os.environ | {"LD_PRELOAD": os.fspath(library)}
        made = subprocess.run([sys.executable, program], check=True, capture_output=True, env=given)
    peaks = json.loads(made.stdout)
    (stored,), (few, many) = peaks["store"], peaks["sqrt"]
    assert stored > 20_000 * 1_600 - many
    assert few < stored / 10 and many < 6 * few
