"""Batches of loops that end at different steps: narrow ones in step, with masks; those over parts of arrays one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant

SQUARE = np.array([30])


def root(a: Any) -> Any:
    """Newton's method: numbers only."""
    x = 1.0
    while abs(x * x - a[0]) > 1e-12:
        x = 0.5 * (x + a[0] / x)
    return x


def sifted(a: Any) -> Any:
    """A step that writes two elements, as often as the numbers say."""
    a = a.copy()
    k = 0
    while k < len(a) - 1 and a[k] > a[k + 1] * 0.9:
        a[k], a[k + 1] = a[k + 1], a[k] * 1.5
        k += 1
    return a


def sifted_each(a: Any) -> Any:
    """The same in the steps of another loop."""
    a = a.copy()
    for i in range(1, len(a)):
        j = i
        while j > 0 and a[j] < a[j - 1]:
            a[j], a[j - 1] = a[j - 1] * 1.1, a[j]
            j -= 1
    return a


def left_early(a: Any) -> Any:
    a = a.copy()
    for i in range(1, len(a)):
        if a[i] < 0.3:
            break
        a[i] *= a[i - 1]
    return a


def of_as_many_steps(a: Any) -> Any:
    a = a.copy()
    for i in range(int(a[0] * 4)):
        a[i + 1] = a[i] * a[i + 2]
    return a


def parts_of_their_own(a: Any) -> Any:
    """A step that reads and writes as much as the numbers say."""
    a = a.copy()
    for i in range(len(a) - 4):
        k = i + (a[i] * 4).astype(int)
        a[i:k] *= a[i:k].sum()
    return a


def parts_of_their_own_in_branches(a: Any) -> Any:
    a = a.copy()
    for i in range(len(a) - 4):
        k = i + (a[i] * 4).astype(int)
        if a[i + 1] > 0.5:
            a[i:k] *= a[i:k].sum()
    return a


def parts_of_their_own_while(a: Any) -> Any:
    a = a.copy()
    i = 0
    while i * i < SQUARE[0]:
        k = i + (a[i] * 4).astype(int)
        a[i:k] *= a[i:k].sum()
        i += 1
    return a


OWN = [parts_of_their_own, parts_of_their_own_in_branches, parts_of_their_own_while]


def one_inside_one(a: Any) -> Any:
    """A batch in a batch."""
    return pliant.vmap(sifted)(a.reshape(2, -1)).ravel()


@pytest.mark.parametrize("backend", ["llvm", "reference"])
@pytest.mark.parametrize("f", [root, sifted, sifted_each, left_early, of_as_many_steps, one_inside_one, *OWN])
def test_a_batch_is_each_problem(f: Callable[..., Any], backend: str) -> None:
    rng = np.random.default_rng(1)
    batch = rng.uniform(0.2, 1.0, (3, 10))
    batch[0].sort()

    def run(fn: Callable[..., Any], *xs: Any) -> Any:
        return pliant.jit(fn, backend=backend)(*xs)

    def total(a: Any) -> Any:
        return np.sum(np.sin(f(a)))

    np.testing.assert_allclose(run(pliant.vmap(f), batch), [f(row) for row in batch], rtol=1e-12)
    wanted = np.stack([run(pliant.grad(total), row) for row in batch])
    np.testing.assert_allclose(run(pliant.vmap(pliant.grad(total)), batch), wanted, rtol=1e-12)
    every = pliant.grad(lambda batch: np.sum(pliant.vmap(total)(batch)))
    np.testing.assert_allclose(run(every, batch), wanted, rtol=1e-12)

    def ahead(a: Any, da: Any) -> Any:
        return pliant.jvp(f, (a,), (da,))[1]

    tangent = rng.normal(size=batch.shape)
    each = [run(ahead, *row) for row in zip(batch, tangent, strict=True)]
    np.testing.assert_allclose(run(pliant.vmap(ahead), batch, tangent), each, rtol=1e-12)


def test_an_empty_batch_has_no_results() -> None:
    assert pliant.vmap(sifted)(np.zeros((0, 10))).shape == (0, 10)


def test_one_problem_of_a_batch_that_fails_says_where() -> None:
    def f(a: Any) -> Any:
        k = 0
        while a[k] < 0.5:  # of a problem whose numbers are all less it leaves the array
            k += 1
        return a[k]

    batch = np.array([[0.1, 0.7] * 5, [0.1] * 10])
    with pytest.raises(pliant.errors.IndexRangeError, match="10"):
        pliant.vmap(f)(batch)


def how(f: Callable[..., Any]) -> str:
    return str(pliant.explain(pliant.vmap(f), np.full((3, 10), 0.5)))


def test_numbers_are_iterated_in_step_and_arrays_one_by_one() -> None:
    assert "while_loop" in how(root)
    assert "loop(length=3)" not in how(root)
    for f in (sifted, sifted_each, left_early, of_as_many_steps, *OWN):
        assert "loop(length=3)" in how(f)
