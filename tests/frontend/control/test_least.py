"""Python's `min` and `max` of what has a number of elements that is known only at run time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import UnboundError

CASES: dict[str, Callable[[Any], Any]] = {
    "least": lambda x: min(x[x < 0]),
    "greatest_of_a_slice": lambda x: max(x[: np.count_nonzero(x < 0)]),
    "least_or_else": lambda x: min(x[x < 0], default=np.inf),
    "greatest_by_a_key": lambda x: max(x[x < 0], key=lambda v: (v + 3.0) ** 2, default=7.0),
    "a_step_length": lambda x: min(1.0, 0.9 * min(-2.0 / x[x < 0], default=np.inf)),
    "least_place": lambda x: min(np.flatnonzero(x < 0), default=-1),
}
SOME, NONE = np.array([1.0, -2.0, 3.0, -4.5, 5.0]), np.array([1.0, 2.0])


@pytest.mark.parametrize("f", CASES.values(), ids=CASES)
@pytest.mark.parametrize("x", [SOME, NONE, SOME.astype(np.float32)], ids=["some", "none", "f32"])
def test_as_python(f: Callable[[Any], Any], x: Any) -> None:
    try:
        want = f(x)
    except ValueError:
        with pytest.raises(ValueError, match="empty"):
            pliant.jit(f)(x)
        return
    np.testing.assert_allclose(pliant.jit(f)(x), want, rtol=1e-6)


@pytest.mark.parametrize("name", ["least", "greatest_by_a_key", "a_step_length"])
def test_derivatives_and_batches(name: str) -> None:
    f = CASES[name]
    wanted = [(f(SOME + d) - f(SOME - d)) / 2e-6 for d in 1e-6 * np.eye(5)]
    np.testing.assert_allclose(pliant.grad(f)(SOME), wanted, rtol=1e-6, atol=1e-8)
    rows = np.stack([SOME, -SOME])
    np.testing.assert_allclose(pliant.vmap(f)(rows), [f(row) for row in rows])


def positive(x: Any) -> Iterator[Any]:
    for v in x:
        if v > 0:
            yield v


def greatest_after_a_key(x: Any) -> Any:
    found = max([v for v in positive(x)], key=lambda v: -((v - 2.2) ** 2), default=None)
    return 0.0 if found is None else 2.0 * found


OF_GENERATORS: dict[str, Callable[[Any], Any]] = {
    "greatest": lambda x: max([v * v for v in positive(x)], default=0.5),
    "least_by_a_key": lambda x: min((v for v in positive(x)), key=np.cos, default=-1.0),
    "first_of_pairs": lambda x: max([(v, i) for i, v in enumerate(positive(x))], default=(0.25, 7))[0],
    "none_by_default": greatest_after_a_key,
    "none_or_a_number": lambda x: max([v if v > 2 else None for v in x], key=lambda v: -1.0 if v is None else v) or 3.0,
}


@pytest.mark.parametrize("f", OF_GENERATORS.values(), ids=OF_GENERATORS)
def test_what_nobody_looks_at_raises_nothing_where_nothing_can_be_raised(f: Callable[[Any], Any]) -> None:
    rows = np.stack([SOME, -SOME, -np.abs(SOME)])
    wanted = [f(row) for row in rows]
    alone = pliant.checkpoint(f)
    np.testing.assert_allclose([pliant.jit(f)(row) for row in rows], wanted)
    np.testing.assert_allclose([pliant.jit(alone)(row) for row in rows], wanted)
    np.testing.assert_allclose(pliant.vmap(alone)(rows), wanted)
    np.testing.assert_allclose(pliant.jit(lambda z: pliant.map(f, z))(rows), wanted)
    scanned = pliant.jit(lambda z: pliant.scan(lambda total, x: (total + f(x), f(x)), 0.0, z))
    np.testing.assert_allclose(scanned(rows)[1], wanted)
    slopes = [[(f(row + d) - f(row - d)) / 2e-6 for d in 1e-6 * np.eye(5)] for row in rows]
    np.testing.assert_allclose(pliant.vmap(pliant.grad(alone))(rows), slopes, rtol=1e-6, atol=1e-8)


def of_two_kinds(x: Any) -> list[Any]:
    return [x[:1].reshape(1, 1), 1.5, x[1:2].reshape(1, 1), x[2], x[3:4]]


def appended(x: Any) -> Any:
    d: list[Any] = []
    for i in range(3):
        y = x[i : i + 1, None]
        d.append(y * x[i])
    d.append(2.0)
    return d.index(min(d))


def branched(x: Any) -> Any:
    low = min(of_two_kinds(x))
    if low < 0:
        return x[0]
    return 2 * x[1] if low != 1.5 else 0.0


PLACES: dict[str, Callable[[Any], Any]] = {
    "least": lambda x: _place(x, min),
    "greatest": lambda x: _place(x, max),
    "how_many": lambda x: (d := of_two_kinds(x)).count(min(d)) + 10 * d.count(1.5),
    "among_them": lambda x: min(d := of_two_kinds(x)) in d and max(d) in d[:2],
    "appended": appended,
    "branched": branched,
    "of_both": lambda x: 1 if min(x[:1], 1.5) else 2,
}
ROWS = np.array(
    [[3.0, 1.0, 5.0, 2.0], [3.0, 2.0, -1.0, 4.0], [0.5, 0.5, 9.0, 0.5], [2.0, 7.0, 2.0, -3.0], [0, 2, 2, 2]]
)


def _place(x: Any, choose: Callable[[Any], Any]) -> Any:
    d = of_two_kinds(x)
    return d.index(choose(d))


@pytest.mark.parametrize("f", PLACES.values(), ids=PLACES)
def test_places_and_truth_of_numbers_and_arrays_of_one(f: Callable[[Any], Any]) -> None:
    wanted = [f(row) for row in ROWS]
    compiled = pliant.jit(f)
    assert [compiled(row) for row in ROWS] == wanted
    np.testing.assert_array_equal(pliant.vmap(pliant.checkpoint(f))(ROWS), wanted)


ELEMENTS: dict[str, Callable[[Any], Any]] = {
    "first_of_sorted": lambda x: _place(x, lambda d: sorted(d)[0]),
    "least": lambda x: min(of_two_kinds(x)),
    "greatest": lambda x: max(x[:1], x[1], 2.0),
    "used": lambda x: 1 + min(of_two_kinds(x)) * x[:2],
    "compared": lambda x: min(of_two_kinds(x)) < 1.0,
    "by_an_array_of_one": lambda x: x[:2] if min(x[:1], x[1:2]) > 1 else x,
}


@pytest.mark.parametrize("f", ELEMENTS.values(), ids=ELEMENTS)
def test_numbers_or_arrays_of_one(f: Callable[[Any], Any]) -> None:
    compiled = pliant.jit(f)
    for row in ROWS:
        made, wanted = compiled(row), f(row)
        assert np.shape(made) == np.shape(wanted)
        np.testing.assert_array_equal(made, wanted)


def test_elements_of_two_kinds_where_no_data_decide() -> None:
    with pytest.raises(
        UnboundError, match=r"(?s)min returns an element that is f64\[1\] or f64\[\], .*hint: make them"
    ):
        pliant.vmap(lambda x: min(x[:1], 2.0))(ROWS)
