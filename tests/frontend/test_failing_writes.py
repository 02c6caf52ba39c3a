"""A call that fails midway leaves its arguments as NumPy would: what came before the error has happened."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant

w: Any = None
n: Any = 0
rows: list[Any] = []
table: dict[str, Any] = {}
new: Any
"""Names outside of functions; there is no `new`."""


def gathered(x: Any, y: Any, i: Any) -> None:
    x[:] = y[i] * 2


def gathered_part(x: Any, y: Any, i: Any) -> None:
    x[1:-1] = y[i][1:-1]


def added(x: Any, y: Any, i: Any) -> None:
    x[i] += 1


def moved(x: Any, y: Any, i: Any) -> None:
    x[i] = y[i]


def between(x: Any, y: Any, i: Any) -> None:
    x += 1
    x[i] = 7
    x *= 2


@pytest.mark.parametrize("f", [gathered, gathered_part, added, moved, between])
def test_a_failed_call_leaves_what_numpy_leaves(f: Callable[..., None]):
    compiled = pliant.jit(f)
    for wrong in (False, True, False, False, False, True):  # by the general way, and by the C-level entry
        i = np.array([*range(1, 18), 100 if wrong else 0, 3, 4])
        given, wanted = ([np.arange(20.0), np.arange(30.0, 60.0), i.copy()] for _ in range(2))
        for run, xs in ((compiled, given), (f, wanted)):
            if wrong:
                with pytest.raises(IndexError):
                    run(*xs)
            else:
                run(*xs)
        np.testing.assert_array_equal(given[0], wanted[0])
        np.testing.assert_array_equal(given[1], wanted[1])


def test_a_call_that_raises_leaves_objects_and_counters_outside_as_they_were() -> None:
    table: dict[str, Any] = {"n": 0, "a": np.zeros(1), "rows": []}

    def f(x: Any) -> None:
        table["n"] += 1
        table["a"] += x
        table["rows"].append(x)
        if x > 5:
            raise ValueError("too large")

    compiled = pliant.jit(f)
    for count in (1, 2, 3):
        compiled(1.0)
        with pytest.raises(ValueError, match="too large"):
            compiled(9.0)
        assert (table["n"], table["a"].tolist(), table["rows"]) == (count, [count], [1.0] * count)


def bump(x: Any) -> None:
    global w, n, new  # noqa: PLW0603
    w, new = w + x, x
    n = n + 1
    rows.append(n)
    table["last"] = w


def raises(x: Any) -> Any:
    bump(x)
    raise RuntimeError


def interrupted(x: Any) -> Any:
    bump(x)
    raise KeyboardInterrupt


def of_other_shapes(x: Any) -> Any:
    bump(x)
    return x @ np.ones(5)


def of_no_name(x: Any) -> Any:
    bump(x)
    return x * undefined  # type: ignore[name-defined] # noqa: F821


def of_the_numbers(x: Any) -> Any:
    bump(x)
    if x.sum() > 1:
        raise LookupError
    return x.sum()


def of_a_matrix(x: Any) -> Any:
    bump(x)
    return np.linalg.cholesky(np.diag(x) - 9).sum()


def of_a_place(x: Any) -> Any:
    bump(x)
    return x[int(x.sum())].sum()


@pytest.mark.parametrize(
    ("f", "kind"),
    [(raises, RuntimeError), (interrupted, KeyboardInterrupt), (of_other_shapes, ValueError), (of_no_name, NameError),
    (of_the_numbers, LookupError), (of_a_matrix, np.linalg.LinAlgError), (of_a_place, IndexError)],
)  # fmt: skip
@pytest.mark.parametrize("of", [
    pliant.jit, functools.partial(pliant.jit, backend="reference"), lambda f: pliant.jit(lambda x: pliant.jit(f)(x)),
    pliant.grad,
], ids=["jit", "reference", "nested", "grad"])  # fmt: skip
def test_a_call_that_raises_leaves_names_and_containers_outside_as_they_were(f: Any, kind: Any, of: Any) -> None:
    before = np.zeros(2)
    globals().update(w=before, n=0, rows=[0], table={})
    compiled = of(f)
    for _ in range(3):
        with pytest.raises(kind):
            compiled(np.array([3.0, 3.0]))
        assert w is before
        assert (w.tolist(), n, rows, table, "new" in globals()) == ([0.0, 0.0], 0, [0], {}, False)


def test_a_call_that_is_begun_anew_changes_what_is_outside_once() -> None:
    """A list needs more room than there was at first."""
    globals().update(n=0)

    def f(x: Any) -> Any:
        global n  # noqa: PLW0603
        n = n + 1
        out: list[Any] = []
        while x < 5000:
            out.append(x)
            x = x + 1.0
        return len(out), n

    compiled = pliant.jit(f)
    assert [compiled(0.0) for _ in range(3)] == [(5000, 1), (5000, 2), (5000, 3)]
    assert n == 3
