"""Loops taken at once give what they give step by step, on any places, numbers of steps and directions."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

import pliant
from pliant.core.build import trace
from pliant.core.ir import Function, Value, const, nodes
from pliant.core.types import Type
from pliant.core.verify import verify
from pliant.ops.index import gather, scatter_add, scatter_set
from pliant.ops.loop import Loop
from pliant.ops.transcendental import sin
from pliant.passes.at_once import at_once
from pliant.testing import run
from tests.programs.programs import f64

I64, N = Type("i64"), 6

PLACES: dict[str, Callable[[Value], Value]] = {
    "i": lambda i: i,
    "i+1": lambda i: i + 1,
    "last-i": lambda i: const(N, "i64") - i,
    "2": lambda i: const(2, "i64"),
}


def sweep(to: str, of: str, *, adds: bool, reverse: bool = False) -> Loop:
    """x[to] = sin(x[of]), or x[to] += sin(x[of]), for i below a count."""

    def step(i: Value, x: Value, n: Value) -> tuple[Value, ...]:
        new, place = sin(gather(x, PLACES[of](i))), (PLACES[to](i),)
        return ((scatter_add if adds else scatter_set)(x, place, new),)

    return Loop(N, ("carry", "count"), ("last",), trace(step, I64, f64(N + 1), I64), reverse)


def loops(fn: Function) -> int:
    """How many loops a function has."""
    return sum([isinstance(node.op, Loop) for node in nodes(fn.results)])


@pytest.mark.parametrize("adds", [False, True])
@pytest.mark.parametrize(("to", "of"), list(product(PLACES, PLACES)))
def test_sweeps_stay_the_same(to: str, of: str, adds: bool) -> None:
    for reverse in (False, True):
        op = sweep(to, of, adds=adds, reverse=reverse)
        fn = trace(lambda x, n, op=op: op(x, n), f64(N + 1), I64)
        fast = verify(at_once(fn))
        for count in (0, 1, 3, N):
            xs = [np.random.default_rng(0).normal(size=N + 1), np.int64(count)]
            np.testing.assert_allclose(run(fast, xs)[0], run(fn, xs)[0], rtol=1e-14)


def test_what_is_written_at_places_of_its_own_takes_no_loop() -> None:
    op = sweep("i", "i", adds=False)
    assert loops(at_once(trace(lambda x, n: op(x, n), f64(N + 1), I64))) == 0


def test_what_an_earlier_step_wrote_is_read_step_by_step() -> None:
    op = sweep("i+1", "i", adds=False)
    assert loops(at_once(trace(lambda x, n: op(x, n), f64(N + 1), I64))) == 1


def columns(a: np.ndarray, q: np.ndarray, k: int) -> np.ndarray:
    """Columns after the k-th made orthogonal to q."""
    a = a.copy()
    for j in range(k, a.shape[1]):
        a[:, j] -= q * (q @ a[:, j])
    return a


def row_sums(a: np.ndarray, b: np.ndarray, k: int) -> np.ndarray:
    """Multiples of columns added to a part of a row."""
    a = a.copy()
    for j in range(b.shape[1]):
        a[k, : k + 1] += b[k, j] * b[: k + 1, j]
    return a


def scaled(a: np.ndarray, q: np.ndarray, k: int) -> np.ndarray:
    """A number of each column, and their sum, from the last column to the first."""
    out, total = np.zeros(a.shape[1]), 0.0
    for j in range(a.shape[1] - 1, -1, -1):
        out[j] = a[k, j] * a[0, j]
        total += out[j] * q[1]
    return out * total


def tables(a: np.ndarray, q: np.ndarray, k: int) -> np.ndarray:
    """A table by element, out of order."""
    out = np.zeros((a.shape[1], a.shape[0]))
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[a.shape[1] - 1 - j, i] = a[i, j] * q[i] + k
    return out


FORMS = {"columns": columns, "row sums": row_sums, "scaled": scaled, "tables": tables}


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("k", [0, 1, 5])
def test_plain_loops_return_what_numpy_does(name: str, k: int) -> None:
    rng = np.random.default_rng(0)
    a, q = rng.normal(size=(7, 8)), rng.normal(size=7 if name != "row sums" else (7, 9))
    form = FORMS[name]
    wanted = form(a, q, k)

    def repeated(a: np.ndarray, q: np.ndarray) -> np.ndarray:
        total = np.zeros_like(wanted)
        for m in range(k, k + 1):
            total += form(a, q, m)
        return total

    np.testing.assert_allclose(pliant.jit(form, static=("k",))(a, q, k=k), wanted, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(pliant.jit(repeated)(a, q), wanted, rtol=1e-12, atol=1e-14)


def test_an_index_that_may_be_out_of_range_is_an_error_still() -> None:
    def f(x: np.ndarray, k: int) -> np.ndarray:
        y = np.zeros_like(x)
        for i in range(x.shape[0]):
            y[i] = x[i + k]
        return y

    with pytest.raises(IndexError):
        pliant.jit(f)(np.ones(5), np.int64(1))


def test_rows_of_products_take_no_loop_in_a_batch_either() -> None:
    def products(d: np.ndarray) -> np.ndarray:
        c = np.zeros((d.shape[1], d.shape[1]))
        for i in range(d.shape[1]):
            c[i] = d[:, i] @ d
        return c

    xs = np.random.default_rng(0).normal(size=(3, 9, 8))
    made = pliant.vmap(products)
    np.testing.assert_allclose(made(xs), [products(x) for x in xs], rtol=1e-12)
    assert "loop(" not in str(pliant.explain(made, xs)).partition("after the passes")[2]
