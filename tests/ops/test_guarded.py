"""A batch runs what single problems do not: their indices may lie anywhere, and stop nobody."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import IndexRangeError

STARTS = np.array([3, 20, 8, 9, 0, -4])
ROWS = np.random.default_rng(0).standard_normal((len(STARTS), 9))


def below(x: Any, k: Any) -> Any:
    if k < 9:
        x[k] = x[k] * 2
    return x


def window(x: Any, k: Any) -> Any:
    if k >= 3 and k < 10:
        x[k - 3 : k] += np.sin(x[k - 3 : k])
    return x


def products(x: Any, k: Any) -> Any:
    if k >= 0 and k < 9:
        np.multiply.at(x, [k, k], np.array([2.0, 3.0]))
    return x


def several(x: Any, k: Any) -> Any:
    if 0 <= k < 8:
        x[[k, k + 1]] = x[[k + 1, k]] ** 2
    return x


def search(x: Any, k: Any) -> Any:
    k = abs(k)
    while k < 9 and x[k] < 1:
        x[k] += np.exp(x[k])
        k += 1
    return x


def strides(x: Any, k: Any) -> Any:
    total = x[0]
    while k < 9:
        total += x[k + 4 if k < -4 else k] ** 2
        k += 2
    x[-1] = total
    return x


PROGRAMS: list[Callable[..., Any]] = [below, window, products, several, search, strides]


def copied(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, k: f(x.copy(), k)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("backend", ["llvm", "reference"])
def test_a_batch_gives_what_its_problems_give(f: Callable[..., Any], backend: str):
    expected = np.stack([f(x.copy(), int(k)) for x, k in zip(ROWS, STARTS, strict=True)])
    np.testing.assert_allclose(pliant.jit(pliant.vmap(copied(f)), backend=backend)(ROWS, STARTS), expected, rtol=1e-12)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_and_so_do_its_gradients(f: Callable[..., Any]):
    def loss(x: Any, k: Any) -> Any:
        return np.sum(copied(f)(x, k) ** 2)

    expected = np.stack([pliant.grad(loss)(x, int(k)) for x, k in zip(ROWS, STARTS, strict=True)])
    np.testing.assert_allclose(pliant.vmap(pliant.grad(loss))(ROWS, STARTS), expected, rtol=1e-12)
    total = pliant.grad(lambda xs: np.sum(pliant.vmap(loss)(xs, STARTS)))
    np.testing.assert_allclose(total(ROWS), expected, rtol=1e-12)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_and_their_derivatives_along_a_line(f: Callable[..., Any]):
    def along(x: Any, k: Any) -> Any:
        return pliant.jvp(lambda x: copied(f)(x, k), (x,), (x,))[1]

    expected = np.stack([along(x, int(k)) for x, k in zip(ROWS, STARTS, strict=True)])
    np.testing.assert_allclose(pliant.vmap(along)(ROWS, STARTS), expected, rtol=1e-12)


@pytest.mark.parametrize("k", [9, 20])
def test_an_index_of_a_problem_that_takes_the_branch_is_checked(k: int):
    def f(x: Any, k: Any) -> Any:
        return x[k] if k > 5 else x[0]

    with pytest.raises(IndexRangeError, match=f"index {k} is out of range"):
        pliant.vmap(f)(ROWS, np.array([0, 1, 2, k, 4, 5]))
