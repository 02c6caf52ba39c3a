"""Elements that are computed and then left out: their gradient is 0, also where their derivative is infinite or NaN."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant

X = np.array([0.0, 1.0, 4.0])
NANS = np.array([np.nan, 1.0, 2.0])
PAIRS = np.triu_indices(3, 1)


def maximum_at(x: Any) -> Any:
    """A sum of elements that `np.maximum.at` has written, without the first."""
    z = np.full(4, -1.0)
    np.maximum.at(z, np.array([0, 1, 1]), np.sqrt(x))
    return z[1:].sum()


def written(x: Any, k: Any) -> Any:
    """A part of known length at a place that is not known."""
    return np.sqrt(x)[k : k + 2].sum()


def read_one_by_one(x: Any) -> Any:
    """A sum over a loop that begins at the second element."""
    y, total = np.sqrt(x), 0.0
    for i in range(1, len(y)):
        total += y[i]
    return total


LEFT_OUT: dict[str, tuple[Any, list[float]]] = {
    "slice": (lambda x: np.sqrt(x)[1:].sum(), [0, 0.5, 0.25]),
    "reversed slice": (lambda x: np.sqrt(x)[:0:-1].sum(), [0, 0.5, 0.25]),
    "element": (lambda x: np.sqrt(x)[2] * 2, [0, 0, 0.5]),
    "elements": (lambda x: np.sqrt(x)[1] * np.sqrt(x)[2] + np.sqrt(x)[1] + np.sqrt(x)[-2], [0, 2.0, 0.25]),
    "places": (lambda x: np.sqrt(x)[[1, 2]].sum(), [0, 0.5, 0.25]),
    "places twice": (lambda x: np.sqrt(x)[np.array([1, 1])].sum(), [0, 1.0, 0]),
    "quotient": (lambda x: (1 / x)[1:].sum(), [0, -1, -0.0625]),
    "product with NaN": (lambda x: (NANS * x)[1:].sum(), [0, 1, 2]),
    "two slices": (lambda x: (np.sqrt(x)[1:-1] + np.sqrt(x)[2:]).sum(), [0, 0.5, 0.25]),
    "taken twice": (lambda x: np.log(np.sqrt(x)[1:])[1:].sum(), [0, 0, 0.125]),
    "three slices": (lambda x: np.sqrt(x)[1:].sum() * 2 + np.sqrt(x)[2:].sum() - np.sqrt(x)[1:2].sum(), [0, 0.5, 0.75]),
    "a slice and elements": (lambda x: (np.sqrt(x)[1:] ** 2).sum() + np.sqrt(x)[1] + np.sqrt(x)[2], [0, 1.5, 1.25]),
    "reshaped": (lambda x: np.sqrt(x).reshape(3, 1)[1:].T.sum(), [0, 0.5, 0.25]),
    "sort": (lambda x: np.sort(np.sqrt(x))[1:].sum(), [0, 0.5, 0.25]),
    "sort, first": (lambda x: np.sort(1 / x)[0], [0, 0, -0.0625]),
    "partition": (lambda x: np.partition(1 / x, 1)[1], [0, -1, 0]),
    "argsort": (lambda x: np.sqrt(x)[np.argsort(x)][1:].sum(), [0, 0.5, 0.25]),
    "take_along_axis": (lambda x: np.take_along_axis(np.sqrt(x), np.array([2]), 0)[0], [0, 0, 0.25]),
    "median": (lambda x: np.nanmedian(NANS * x), [0, 0.5, 1]),
    "quantile": (lambda x: np.nanquantile(NANS * x, 0.3), [0, 0.7, 0.6]),
    "running maximum": (lambda x: np.maximum.accumulate(np.sqrt(x))[1:].sum(), [0, 0.5, 0.25]),
    "running minimum": (lambda x: np.minimum.accumulate(np.sqrt(x)[::-1])[:2].sum(), [0, 0.5, 0.25]),
    "running sum": (lambda x: np.cumsum(np.sqrt(x[::-1]))[:2].sum(), [0, 0.5, 0.5]),
    "maximum.at": (maximum_at, [0, 0, 0.25]),
    "loop": (read_one_by_one, [0, 0.5, 0.25]),
    "trace": (lambda x: np.trace(np.sqrt(np.diag(x[1:]))), [0, 0.5, 0.25]),
    "diagonal": (lambda x: np.diag(np.log(np.diag(x[1:]))).sum(), [0, 1, 0.25]),
}


@pytest.mark.parametrize("name", LEFT_OUT)
def test_what_is_left_out_has_a_zero_gradient_in_both_modes(name: str):
    f, expected = LEFT_OUT[name]
    with np.errstate(all="ignore"):
        for made in (pliant.grad(f)(X), pliant.jacobian(f, mode="forward")(X), pliant.jacobian(f, mode="reverse")(X)):
            np.testing.assert_allclose(made, expected, atol=1e-15)


def test_of_places_that_are_known_only_at_run_time():
    made = pliant.grad(pliant.jit(written))
    np.testing.assert_allclose(made(X, 1), [0, 0.5, 0.25])
    made = pliant.grad(lambda x, i: np.sqrt(x)[i])
    np.testing.assert_allclose(made(X, 2), [0, 0, 0.25])
    made = pliant.grad(lambda x, k: np.sqrt(x)[k:].sum())
    np.testing.assert_allclose(made(X, np.array(1)), [0, 0.5, 0.25])


@pytest.mark.parametrize("backend", ["llvm", "reference"])
def test_distances_of_all_pairs_have_a_gradient(backend: str):
    def energy(points: Any) -> Any:
        distances = np.sqrt(((points[:, None] - points[None]) ** 2).sum(-1))
        return distances[PAIRS].sum()

    points = np.array([[0.0, 0.0], [3.0, 4.0], [6.0, 0.0]])
    made = pliant.jit(pliant.grad(energy), backend=backend)(points)
    np.testing.assert_allclose(made, [[-1.6, -0.8], [0, 1.6], [1.6, -0.8]], atol=1e-15)


def test_in_a_batch():
    rows = np.array([[0.0, 1.0, 4.0], [1.0, 0.0, 4.0], [1.0, 4.0, 9.0]])
    made = pliant.vmap(pliant.grad(lambda x, i: np.sqrt(x)[i:].sum()), in_axes=(0, None))(rows, 1)
    np.testing.assert_allclose(made, [[0, 0.5, 0.25], [0, np.inf, 0.25], [0, 0.25, 1 / 6]])
    made = pliant.vmap(pliant.grad(lambda x, i: np.sqrt(x)[i]))(rows, np.array([2, 0, 1]))
    np.testing.assert_allclose(made, [[0, 0, 0.25], [0.5, 0, 0], [0, 0.25, 0]])


def test_an_infinite_slope_of_what_is_kept_stays():
    np.testing.assert_array_equal(pliant.grad(lambda x: np.sqrt(x)[:2].sum())(X), [np.inf, 0.5, 0])
    np.testing.assert_array_equal(pliant.grad(lambda x: np.sqrt(x)[[0, 2]].sum())(X), [np.inf, 0, 0.25])


def test_second_derivatives_are_finite():
    made = pliant.hessian(lambda x: np.sqrt(x)[1:].sum())(X)
    np.testing.assert_allclose(made, np.diag([0, -0.25, -0.03125]))


def test_the_gradient_of_a_part_costs_what_the_part_does():
    text = str(pliant.trace(pliant.grad(lambda x: np.sum(np.sin(x)[np.array([5, 5])])), np.ones(1000)))
    assert "f64[2] = mul" in text and "f64[1000] = mul" not in text


def test_sums_of_what_is_written_at_the_same_places_are_written_once():
    def f(x: Any, i: Any) -> Any:
        return np.sum(np.sqrt(x * x + 1)[i])  # x reaches the sum twice

    text = str(pliant.explain(pliant.grad(f), np.arange(4.0), np.array([1, 1])))
    passes = text[text.index("after the passes") : text.index("arrays captured")]
    assert passes.count("scatter_add") == 1
    np.testing.assert_allclose(pliant.grad(f)(np.arange(4.0), np.array([1, 1])), [0, 2**0.5, 0, 0])


@pytest.mark.parametrize(
    ("ufunc", "u", "v"),
    [
        (np.add, [1e16, -1e16], [1.0, 1.0]),
        (np.add, [1e308, -1e308], [1e308, -1e308]),
        (np.maximum, [5.0, 1.0], [1.0, 5.0]),
        (np.minimum, [-5.0, -1.0], [-1.0, -3.0]),
    ],
)
def test_two_updates_of_zeros_at_the_same_places_add_up_as_they_are(ufunc: np.ufunc, u: list[float], v: list[float]):
    places = np.array([0, 0])

    def f(u: Any, v: Any) -> Any:
        a, b = np.zeros(2), np.zeros(2)
        ufunc.at(a, places, u)
        ufunc.at(b, places, v)
        return a + b

    np.testing.assert_array_equal(pliant.jit(f)(np.array(u), np.array(v)), f(np.array(u), np.array(v)))


def test_long_chains_of_reads_have_a_gradient():
    def f(x: Any, i: Any) -> Any:
        y = np.sqrt(x)
        for _ in range(300):
            y = y[i] * 1.0000001
        return y.sum()

    made = pliant.grad(f)(X + 1, np.array([1, 2, 0]))
    np.testing.assert_allclose(made, 0.5 / np.sqrt(X + 1), rtol=1e-4)
