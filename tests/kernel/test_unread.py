"""Rests of rows that nobody looks at are not filled; those that somebody looks at are zeros."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.core.ir import nodes
from pliant.core.parse import parse
from pliant.kernel.unread import unread_rests
from pliant.ops import ALL
from pliant.ops.loop import Loop
from pliant.pipeline import optimise

N = 9
Program = Callable[..., Any]


def recursion(x: Any) -> Any:
    """What is kept for the derivative is the beginning of an array, flipped once."""
    y = np.zeros_like(x)
    for k in range(1, x.shape[0]):
        y[:k] += np.sin(x[k]) * np.flip(y[:k])
        y[k] = x[k]
    return y


def orthogonal(x: Any) -> Any:
    """What is kept are the rows of an inner loop."""
    a = np.outer(x, np.linspace(0.5, 1.5, 40)) + np.eye(x.shape[0], 40)
    q = np.zeros_like(a)
    for k in range(a.shape[0]):
        q[k] = a[k] / np.sqrt(a[k] @ a[k])
        for j in range(k + 1, a.shape[0]):
            a[j] -= q[k] * (q[k] @ a[j])
    return q


def shorter(x: Any) -> Any:
    """Less is taken of each row than was made."""
    y, rows = x.copy(), np.zeros((x.shape[0], x.shape[0]))
    for k in range(1, x.shape[0]):
        y[:k] *= 1.0 + 0.1 * y[k]
        rows[k, : k - 1] = y[: k - 1] ** 3
    return rows


ENDS = np.array([0, 2, 2, 5, 6, 7, 9, 9, 9])


def solved_by_rows(x: Any) -> Any:
    """How long a row is, an array says, which is the same on the way forward and back."""
    y = np.zeros_like(x)
    for k in range(1, x.shape[0]):
        near = np.arange(N)[ENDS[k - 1] : ENDS[k]] // 2
        y[k] = (x[k] - x[ENDS[k - 1] : ENDS[k]] @ y[near]) / (2.0 + x[k])
    return y


def solved_by_rows_of_a_batch(x: Any) -> Any:
    """The same of several problems at once, whose axis lies last in what is kept."""
    return pliant.vmap(solved_by_rows)(np.stack([x, x * x])).sum(0)


UNFILLED: tuple[Program, ...] = (recursion, orthogonal, solved_by_rows, solved_by_rows_of_a_batch)


def vector(seed: int = 0, n: int = N) -> Any:
    return np.random.default_rng(seed).uniform(0.5, 1.0, n)


def weighted(f: Program) -> Program:
    weights = np.random.default_rng(2).normal(size=f(vector()).shape)
    return lambda x: (weights * f(x)).sum()


def stacks(f: Program) -> int:
    """How many stacks of a program's gradient have rests that nobody looks at."""
    fn = optimise(pliant.trace(pliant.grad(weighted(f)), vector()))
    return sum([len(rows) for rows in unread_rests(fn).values()])


@pytest.mark.parametrize("f", UNFILLED)
def test_rests_that_nobody_looks_at_are_found(f: Program) -> None:
    assert stacks(f) >= 1


@pytest.mark.parametrize("f", [*UNFILLED, shorter])
def test_gradients_do_not_depend_on_what_memory_held(f: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLIANT_POISON", "1")
    x, way, step = vector(), vector(1), 1e-6
    loss = weighted(f)
    slope = (loss(x + step * way) - loss(x - step * way)) / (2 * step)
    np.testing.assert_allclose(pliant.grad(loss)(x) @ way, slope, rtol=1e-6)


def rows(lengths: str, look: str) -> str:
    """A program that stacks the beginnings of an array, of these lengths, and looks at the rows."""
    return f"""func @f(%x: f64[{N}], %n: i64[]) -> (f64[{N}]) {{
  %1: f64[{N}, {N}] = loop(length={N}) {{
    index %i: i64[]
    const %x.1: f64[{N}] = %x
    const %n.1: i64[] = %n
    %2: i64[] = {lengths}
    %3: f64[{N}] = read_block(%x.1, 0, %2, shape=({N},), step=(1,), shared=0)
    stack %3
  }}
  %4: f64[{N}] = loop(length={N}) {{
    index %i.1: i64[]
    each  %row: f64[{N}] = %1
    const %n.2: i64[] = %n
    {look}
    stack %9
  }}
  return %4
}}
"""


def looked(end: str) -> str:
    """A sum of a function of a row's first elements."""
    before = f"%10: i64[] = {end}\n    "
    return (
        before
        + f"""%5: i64[{N}] = iota(length={N})
    %6: bool[{N}] = less(%5, %10)
    %7: f64[{N}] = exp(%row)
    %8: f64[{N}] = select(%6, %7, 0.0)
    %9: f64[] = reduce_sum(%8, axes=(0,))"""
    )


WHOLE = "%9: f64[] = reduce_sum(%row, axes=(0,))"


@pytest.mark.parametrize(
    ("made", "look", "is_unread"),
    [
        ("add(%i, 1)", looked("add(%i.1, 1)"), True),
        ("add(%i, 1)", looked("add(%i.1, 0)"), True),
        ("add(%i, 0)", looked("add(%i.1, 1)"), False),
        ("sub(9, %i)", looked("sub(9, %i.1)"), True),
        ("sub(9, %i)", looked("add(%i.1, 1)"), False),
        ("add(%i, 1)", WHOLE, False),
        ("add(%i, %n.1)", looked("add(%i.1, %n.2)"), True),
        ("sub(%n.1, %i)", looked("sub(%n.2, %i.1)"), True),
        ("add(%i, %n.1)", looked("add(%i.1, 1)"), False),
        ("add(%i, 1)", looked("add(%i.1, %n.2)"), False),
    ],
)
def test_a_rest_is_unread_where_no_more_is_taken_than_was_made(made: str, look: str, is_unread: bool) -> None:
    fn = parse(rows(made, look), ALL)
    loops = [n.op for n in nodes(fn.results) if isinstance(n.op, Loop)]
    assert unread_rests(fn) == ({id(loops[0].body): frozenset([0])} if is_unread else {})
