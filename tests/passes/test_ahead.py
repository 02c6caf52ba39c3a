"""Products of what a loop has made with columns are added up ahead where that means the same, and only there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.core.inner import functions_of
from pliant.core.ir import Function, const, nodes
from pliant.core.verify import verify
from pliant.ops.block import AddBlock
from pliant.ops.loop import Loop
from pliant.passes.ahead import added_ahead
from pliant.pipeline import BEFORE_DERIVATIVES, run_passes
from pliant.testing import run

N = 11
Program = Callable[..., Any]


def solved(a: Any, b: Any) -> Any:
    """y with y·a = b for an upper triangle."""
    y = b.copy()
    for j in range(a.shape[0]):
        y[j] = (b[j] - y[:j] @ a[:j, j]) / a[j, j]
    return y


def eliminated(a: Any, b: Any) -> Any:
    """Both factors in one array; inner loops end at the number of the outer one's step."""
    a = a.copy()
    for i in range(a.shape[0]):
        for j in range(i):
            a[i, j] = (a[i, j] - a[i, :j] @ a[:j, j]) / a[j, j]
        for j in range(i, a.shape[0]):
            a[i, j] -= a[i, :i] @ a[:i, j]
    return a * b


def of_constants(a: Any, b: Any) -> Any:
    """A row that no step changes, with columns of an array of three axes."""
    y, c = np.zeros_like(b), np.stack([a, a.T])
    for j in range(a.shape[0]):
        y[j] = np.sum(b[:j] * c[1, :j, j]) + np.sum(c[0, :j, j] * y[:j])
    return y


def complex_solved(a: Any, b: Any) -> Any:
    """Complex numbers."""
    y, c = b * (1.0 + 0.5j), a + 0.1j
    for j in range(a.shape[0]):
        y[j] = y[j] - (y[:j] * c[:j, j]).sum() * 0.1
    return y.real * y.imag


def along_rows(a: Any, b: Any) -> Any:
    """Rows, which lie in one piece already."""
    y = b.copy()
    for j in range(a.shape[0]):
        y[j] = (b[j] - a[j, :j] @ y[:j]) / a[j, j]
    return y


def written_again(a: Any, b: Any) -> Any:
    """Each step changes what the ones before have made."""
    y = b.copy()
    for j in range(a.shape[0]):
        y[j] = b[j] - y[:j] @ a[:j, j]
        y[:j] += 0.1 * y[j]
    return y


def changing(a: Any, b: Any) -> Any:
    """Each step changes columns further on."""
    a, y = a.copy(), b.copy()
    for j in range(a.shape[0] - 1):
        y[j] = b[j] - y[:j] @ a[:j, j]
        a[:, j + 1] += 0.1 * y[j]
    return y


def from_the_end(a: Any, b: Any) -> Any:
    """From the last step to the first."""
    y = b.copy()
    for j in range(a.shape[0] - 1, -1, -1):
        y[j] = b[j] - y[:j] @ a[:j, j] * 0.1
    return y


def of_moving_row(a: Any, b: Any) -> Any:
    """Another row in each step."""
    y = b.copy()
    for j in range(a.shape[0]):
        y[j] = b[j] + a[j, :j] @ a[:j, j]
    return y


def of_other_tables(a: Any, b: Any) -> Any:
    """Columns of another matrix in each step."""
    tables, y = np.stack([a, 0.5 * a, a[::-1]]), b.copy()
    for j in range(a.shape[0]):
        y[j] = b[j] - y[:j] @ tables[j % 3, :j, j]
    return y


AHEAD: tuple[Program, ...] = (solved, eliminated, of_constants, complex_solved)
LEFT: tuple[Program, ...] = (along_rows, written_again, changing, from_the_end, of_moving_row, of_other_tables)


def arrays(n: int = N, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    return rng.uniform(-1.0, 1.0, (n, n)) / n + 2.0 * np.eye(n), rng.uniform(0.5, 1.0, n)


def before(f: Program, n: int = N) -> Function:
    """A program as it comes to the pass."""
    passes = BEFORE_DERIVATIVES[: [p.name for p in BEFORE_DERIVATIVES].index("ahead")]
    return run_passes(passes, pliant.trace(f, *arrays(n)))


def sums(fn: Function) -> int:
    """How many loops, at any depth, carry what is added up ahead."""
    loops = [node.op for node in nodes(fn.results) if isinstance(node.op, Loop)]
    return sum([sums(loop.body) + any([p.op.hint == "ahead" for p in loop.body.params]) for loop in loops])


@pytest.mark.parametrize("f", AHEAD)
def test_sums_are_carried(f: Program) -> None:
    assert sums(added_ahead(before(f))) == 1


@pytest.mark.parametrize("f", AHEAD)
def test_no_step_reads_what_the_step_before_has_added(f: Program) -> None:
    """Each adds from the second place after its own on."""
    fn = added_ahead(before(f))
    todo, starts = [fn], list[str]()
    while todo:
        for node in nodes(todo.pop().results):
            todo += functions_of(node.op).values()
            if isinstance(node.op, AddBlock) and node.args[0].op.name == "param":
                starts.append(str(node.args[2].args[1].op))
    assert starts == [str(const(2, "i64").op)] * len(starts) != []


@pytest.mark.parametrize("f", LEFT)
def test_other_loops_stay_as_they_are(f: Program) -> None:
    fn = before(f)
    assert added_ahead(fn) == fn


def test_few_steps_stay_as_they_are() -> None:
    fn = before(solved, 7)
    assert added_ahead(fn) == fn


@pytest.mark.parametrize("n", [8, 9, 17])
@pytest.mark.parametrize("f", AHEAD)
def test_the_program_means_the_same(f: Program, n: int) -> None:
    fn, xs = before(f, n), [*arrays(n)]
    for got, want in zip(run(verify(added_ahead(fn)), xs), run(fn, xs), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("f", AHEAD + LEFT)
def test_values_are_those_of_numpy(f: Program) -> None:
    np.testing.assert_allclose(pliant.jit(f)(*arrays()), f(*arrays()), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("f", AHEAD + LEFT)
def test_gradients_are_those_of_differences(f: Program) -> None:
    (a, b), (da, db), step = arrays(), arrays(seed=1), 1e-6
    weights = np.random.default_rng(2).normal(size=f(a, b).shape)
    ends = [float((weights * f(a + s * da, b + s * db)).sum()) for s in (step, -step)]
    ga, gb = pliant.grad(lambda a, b: (weights * f(a, b)).sum(), argnums=(0, 1))(a, b)
    np.testing.assert_allclose((ga * da).sum() + (gb * db).sum(), (ends[0] - ends[1]) / (2 * step), rtol=1e-6)


@pytest.mark.parametrize("f", AHEAD)
def test_batches_are_those_of_a_python_loop(f: Program) -> None:
    given = [np.stack(xs) for xs in zip(*[arrays(seed=seed) for seed in range(3)], strict=True)]
    want = np.stack([f(*xs) for xs in zip(*given, strict=True)])
    np.testing.assert_allclose(pliant.vmap(f)(*given), want, rtol=1e-12, atol=1e-14)


def test_what_is_not_reached_is_not_read() -> None:
    def first_rows(a: Any, b: Any, n: Any) -> Any:
        y = np.zeros_like(b)
        for j in range(n):
            y[j] = b[j] - y[:j] @ a[:j, j]
        return y

    a, b = arrays()
    a[:, 5:] = np.nan
    for n in (0, 1, 5):
        np.testing.assert_allclose(pliant.jit(first_rows)(a, b, n), first_rows(a, b, n), rtol=1e-13)


def test_a_column_that_is_not_there_is_an_index_error() -> None:
    def beyond(a: Any, b: Any) -> Any:
        y = b.copy()
        for j in range(b.shape[0]):
            y[j] = b[j] - y[:j] @ a[:j, j]
        return y

    a, b = arrays()
    with pytest.raises(IndexError):
        pliant.jit(beyond)(a[:, :-1].copy(), b)


@pytest.mark.parametrize("f", AHEAD)
def test_no_step_copies_an_array(f: Program) -> None:
    assert " copies " not in str(pliant.explain(f, *arrays()))
