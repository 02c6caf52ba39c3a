"""`pliant.vectorize`: f over all leading axes, as `np.vectorize(signature=)`, and its errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import ArgumentError, ShapeError

X = np.arange(12.0).reshape(2, 2, 3) - 5


def folded(x: Any) -> Any:
    if x[0] > 0:
        return x.sum()
    return x.min()


def ends(x: Any) -> Any:
    return np.array([x.min(), x.max()])


def until(x: Any, most: Any) -> Any:
    total = 0.0
    for v in x:
        if total > most:
            break
        total += v * v
    return total


def both(x: Any, y: Any) -> Any:
    return x @ y, y * x.sum()


CASES = [
    (folded, "(n)->()", (X,)),
    (ends, "(n)->(2)", (X,)),
    (until, "(n),()->()", (X, np.array([[1.0, 9.0], [30.0, 50.0]]))),
    (until, " (n) , () -> ()", (X[0, 0], 3.0)),
    (both, "(n),(n)->(),(n)", (X, X[0, 1])),
    (both, "(m,n),(n)->(m),(n)", (X, X[:, 1])),
]


@pytest.mark.parametrize(("f", "signature", "args"), CASES)
def test_as_numpy(f: Callable[..., Any], signature: str, args: tuple[Any, ...]):
    vector, wanted = pliant.vectorize(f, signature), np.vectorize(f, signature=signature.replace(" ", ""))(*args)
    for g in (vector, pliant.jit(vector), pliant.vectorize(pliant.jit(f), signature)):
        made = g(*args)
        for one, other in (
            zip(np.atleast_1d(made), np.atleast_1d(wanted), strict=True)
            if type(made) is not tuple
            else (zip(made, wanted, strict=True))
        ):
            np.testing.assert_allclose(one, other)


def test_derivatives_and_batches_of_it():
    vector = pliant.vectorize(folded, "(n)->()")
    one = pliant.grad(folded)
    np.testing.assert_array_equal(pliant.grad(lambda x: vector(x).sum())(X), [[one(row) for row in rows] for rows in X])
    np.testing.assert_array_equal(pliant.vmap(vector)(X), vector(X))


@pytest.mark.parametrize(
    ("f", "signature", "args", "message"),
    [
        (np.dot, "(n),(n)->()", (np.ones(3), np.ones(4)), "axis 'n' has 4 elements in argument 1, and 3 before"),
        (lambda x: x[:-1], "(n)->(n)", (np.ones((2, 3)),), "axis 'n' has 2 elements in result 0, and 3 before"),
        (lambda x: x, "(n)->()", (np.ones((2, 3)),), r"result 0 has 1 axes, signature '\(n\)->\(\)' says 0"),
        (lambda x: x, "(n)->(n),(n)", (np.ones(3),), r"returns 1 results, signature '\(n\)->\(n\),\(n\)' says 2"),
    ],
)
def test_what_does_not_fit_its_signature(f: Callable[..., Any], signature: str, args: tuple[Any, ...], message: str):
    with pytest.raises(ShapeError, match=message) as caught:
        pliant.vectorize(f, signature)(*args)
    assert "test_leading.py" in str(caught.value)


@pytest.mark.parametrize("signature", ["n->n", "(n)", "", "(n)->n", "(n),->()"])
def test_what_is_no_signature(signature: str):
    with pytest.raises(ArgumentError, match="expected a signature like"):
        pliant.vectorize(np.sum, signature)


def test_arguments_that_are_too_few_or_too_flat():
    vector = pliant.vectorize(np.dot, "(n),(n)->()")
    with pytest.raises(ArgumentError, match="takes 2 arguments, got 1"):
        vector(np.ones(3))
    with pytest.raises(ArgumentError, match="an argument has fewer axes"):
        vector(np.ones(3), 1.0)


def seeded(s: Any) -> Any:
    return np.random.default_rng(s).normal()


def refused(x: Any) -> Any:
    if x < 0:
        raise ValueError("negative")
    return x


def positive(x: Any) -> Any:
    kept = []
    for v in x:
        if v > 0:
            kept.append(v)  # noqa: PERF401
    return sum(kept)


def swaps(x: Any) -> Any:
    count = 0
    for i in range(6):
        done = True
        for j in range(6 - i):
            if x[j] > x[j + 1]:
                done = False
                count += 1
        if done:
            break
    return count


@pytest.mark.parametrize(
    ("f", "x"),
    [(seeded, np.zeros(0, int)), (refused, np.zeros(0)), (positive, np.zeros((0, 4))), (swaps, np.zeros((0, 7)))],
)
def test_batches_of_nothing(f: Callable[..., Any], x: Any):
    assert pliant.vmap(f)(x).shape == (0,)
