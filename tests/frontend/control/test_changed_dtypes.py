"""Names whose dtype the first step of a loop changes: they are of NumPy's dtype after it, or it is an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import UnboundError
from tests.frontend.control.laws import name_of

X = np.array([3.0, 1.0, 2.0, 0.5, 5.0])


def ranked(x: Any, n: int) -> Any:
    order = np.zeros(len(x))
    for _ in range(n):
        order = np.argsort(x)
    return order


def used_as_an_index(x: Any, n: int) -> Any:
    order = np.zeros(len(x))
    for k in range(n):
        order = np.argsort(x * (-1.0) ** k)
    return x[order] * np.arange(len(x))


def of_the_step_before(x: Any, n: int) -> Any:
    labels, before = np.zeros(len(x)), None
    for _ in range(n):
        before = labels
        labels = (x > 1.5).astype(int)
    return before, labels, x * labels


def left_when_nothing_changes(x: Any, n: int) -> Any:
    before, labels, means = np.zeros(len(x)), None, x[:2]
    for _ in range(n):
        labels = np.argmin(np.abs(x[:, None] - means), axis=1)
        if np.all(labels == before):
            break
        before = labels
        means = np.stack([np.sum(x * (labels == k)) / (1 + np.sum(labels == k)) for k in range(2)])
    return labels, means


def left_in_a_while(x: Any, n: int) -> Any:
    m = np.eye(len(x), dtype=int)
    while np.abs(x).max() > 1e-3:
        x = x - 0.5 * m @ x
        if x.sum() == 0:
            break
        m = m * 1.25
    return x


def in_a_nest(x: Any, n: int) -> Any:
    total, order = 0.0, np.zeros(len(x))
    for _ in range(n):
        for k in range(6):
            order = np.argsort(x * np.cos(k))
            total = total + x[order[0]] * k
    return order, total


def numbers(x: Any, n: int) -> Any:
    best, place = x[0], 0.0
    for k in range(n):
        place = np.argmax(x - k)
        best = k
    return place, best


LOOPS = (
    ranked, used_as_an_index, of_the_step_before, left_when_nothing_changes, left_in_a_while, in_a_nest, numbers,
)  # fmt: skip


def leaves(found: Any) -> list[Any]:
    return [*found] if type(found) is tuple else [found]


@pytest.mark.parametrize("n", [1, 2, 20])
@pytest.mark.parametrize("loop", LOOPS, ids=name_of)
def test_dtypes_are_numpys(loop: Callable[..., Any], n: int) -> None:
    for a, b in zip(leaves(pliant.jit(loop)(X, n)), leaves(loop(X, n)), strict=True):
        assert np.asarray(a).dtype == np.asarray(b).dtype
        np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize(
    "loop", [used_as_an_index, of_the_step_before, left_when_nothing_changes, left_in_a_while, in_a_nest], ids=name_of
)
def test_derivatives_are_differences(loop: Callable[..., Any]) -> None:
    def total(x: Any) -> Any:
        return np.sum(leaves(loop(x, 7))[-1])

    way, step = np.sin(np.arange(5.0) + 1), 1e-6
    expected = (total(X + step * way) - total(X - step * way)) / (2 * step)
    np.testing.assert_allclose(pliant.grad(total)(X) @ way, expected, rtol=1e-6, atol=1e-7)


def test_a_loop_stays_one_after_its_first_step() -> None:
    for loop in (ranked, of_the_step_before, left_when_nothing_changes):
        assert len(str(pliant.trace(loop, X, 200))) < 8000


def follows(place: Any, links: Any) -> Any:
    while links[place] != 0:
        place = links[place]
    return place


@pytest.mark.usefixtures("for_all_data")
def test_integers_that_no_integer_holds_are_refused_with_the_line() -> None:
    links = np.array([0, 0, 1, 2], np.uint64)
    assert pliant.jit(follows)(3, links) == 1
    with pytest.raises(UnboundError, match=r"place is u64\[\] after one branch and i64\[\]") as caught:
        pliant.jit(follows)(np.int64(3), links)
    assert "while links[place] != 0:" in str(caught.value)
    assert "np.int64(x)" in str(caught.value)


def test_a_python_number_beside_an_element_that_cannot_be_it() -> None:
    def total(y: Any) -> Any:
        found = 0.0
        for v in y:
            if v:
                v = -1
            found = found + v
        return found

    ys = np.array([[1, 9, 4], [1, 2, 0], [0, 0, 0]], np.uint8)
    np.testing.assert_array_equal(pliant.vmap(total)(ys), [total(y) for y in ys])
    np.testing.assert_array_equal([pliant.jit(total)(y) for y in ys], [total(y) for y in ys])


@pytest.mark.parametrize("other", [-1, 256])
def test_an_element_or_a_number_that_cannot_be_one_is_refused_where_it_is_used(other: int) -> None:
    def last(y: Any) -> Any:
        found = other
        for v in y:
            if v > 3:
                found = v
        return found

    ys = np.array([[1, 9, 4], [1, 2, 0]], np.uint8)
    assert [pliant.jit(last)(y) for y in ys] == [4, other]
    with pytest.raises(UnboundError, match=r"(?s)found is u8\[\] after one branch and i64\[\] .*as by np.int64"):
        pliant.vmap(last)(ys)
