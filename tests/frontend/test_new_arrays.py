"""Arrays that are made neither by a function of NumPy's nor by an operator are new at each call, and may be written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.stats

import pliant
from pliant.errors import UnsupportedError

MAKERS: dict[str, Callable[[], Any]] = {
    "mgrid": lambda: np.mgrid[0:3, 0:2],
    "mgrid of floats": lambda: np.mgrid[0:1:5j],
    "mgrid transposed": lambda: np.mgrid[0:2:1.0, 0:2:1.0].reshape(2, -1).T,
    "part of mgrid": lambda: np.mgrid[0:3, 0:2][1],
    "ogrid": lambda: np.ogrid[0:3, 0:2][0],
    "r_": lambda: np.r_[0:3, 5.0],
    "r_ of a text": lambda: np.r_["0,2", 1:4],
    "c_": lambda: np.c_[1:4, 2:5],
    "a function of SciPy": lambda: scipy.linalg.toeplitz([1.0, 2.0, 3.0]),
    "one of several": lambda: scipy.linalg.polar([[2.0, 1.0], [0.0, 1.0]])[1],
    "ndarray": lambda: filled(np.ndarray(3)),
    "ndarray of a shape": lambda: filled(np.ndarray(shape=(2, 3), dtype=np.float32)),
}


def filled(x: Any) -> Any:
    x.fill(2)
    return x


def changes(made: Any, x: Any) -> Any:
    made = made * 1.0 if made.dtype.kind == "i" else made
    made += 1
    made *= x[0]
    made[0] = x[1]
    return (made * x[2]).sum(), made


def in_whole_numbers(made: Any, x: Any) -> Any:
    made -= 1
    made[0] *= 2
    return made.sum() * x[0], made


@pytest.mark.parametrize("backend", ["llvm", "reference"])
@pytest.mark.parametrize("use", [changes, in_whole_numbers], ids=lambda f: f.__name__)
@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())
def test_each_call_has_its_own(make: Callable[[], Any], use: Callable[..., Any], backend: str) -> None:
    def f(x: Any) -> Any:
        return use(make(), x)

    compiled, x = pliant.jit(f, backend=backend), np.array([1.5, 2.5, 0.5])
    for _ in range(3):
        made, wanted = compiled(x), f(x)
        for one, other in zip(made, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6)
        made[1][...] = 99  # what is returned is the caller's alone


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())
def test_gradients(make: Callable[[], Any]) -> None:
    def f(x: Any) -> Any:
        return changes(make(), x)[0] ** 2

    x, gradient = np.array([1.5, 2.5, 0.5]), pliant.grad(f)
    for _ in range(2):
        steps = 1e-5 * np.eye(3)
        wanted = [(f(x + e) - f(x - e)) / 2e-5 for e in steps]
        np.testing.assert_allclose(gradient(x), wanted, rtol=2e-2 if make is MAKERS["ndarray of a shape"] else 1e-6)


def test_two_of_a_grid_are_unpacked_and_written() -> None:
    def disk(image: Any, r: Any) -> Any:
        yy, xx = np.mgrid[0:3, 0:3]
        yy -= 1
        xx -= 1
        return np.where(yy**2 + xx**2 <= r**2, image, 0.0).sum()

    compiled, image = pliant.jit(disk), np.arange(9.0).reshape(3, 3)
    assert [compiled(image, 1.0) for _ in range(3)] == [disk(image, 1.0)] * 3 == [20.0] * 3


def test_an_array_of_run_time_length_that_is_filled() -> None:
    def energies(x: Any, n: Any) -> Any:
        found = np.ndarray(n + 1)
        for i in range(n + 1):
            found[i] = x.sum()
            x = 0.5 * x
        return found

    compiled = pliant.jit(energies)
    for n in (3, 5, 0):
        np.testing.assert_array_equal(compiled(np.ones(2), n), energies(np.ones(2), n))


def test_records_of_a_library_stay_what_they_are() -> None:
    def f(x: Any) -> Any:
        line = scipy.stats.linregress([0.0, 1.0, 2.0], [1.0, 3.0, 5.0])
        return line.slope * x + line.intercept

    assert pliant.jit(f)(2.0) == f(2.0) == 5.0


HELD = np.arange(3.0)


class Keeper:
    """What gives its own array, as views of data frames do."""

    def __getitem__(self, key: Any) -> Any:
        return HELD


def test_arrays_that_something_else_holds_are_outside() -> None:
    keeper = Keeper()

    def f(x: Any) -> Any:
        keeper[0][1] += x
        return keeper[0].sum()

    compiled = pliant.jit(f)
    before = HELD.copy()
    try:
        assert [compiled(1.0), compiled(1.0)] == [4.0, 5.0]
        np.testing.assert_array_equal(HELD, [0.0, 3.0, 2.0])
    finally:
        HELD[:] = before


MATRIX, MASKED = np.array([[1.0, 0.5], [0.0, 1.0]]).view(np.matrix), np.ma.array([1.0, 2.0], mask=[0, 1])


@pytest.mark.parametrize(
    ("f", "name"),
    [
        (lambda x: MATRIX * x, "np.matrix"),
        (lambda x: np.matrix([[1.0, 0.5], [0.0, 1.0]]) * x, "np.matrix"),
        (lambda x: np.asmatrix([[1.0, 0.5], [0.0, 1.0]]) * x, "np.matrix"),
        (lambda x: np.bmat([[np.eye(2)]]) * x, "np.matrix"),
        (lambda x: MASKED * x, "np.ma.MaskedArray"),
        (lambda x: np.ma.array([1.0, 2.0], mask=[0, 1]) * x, "np.ma.MaskedArray"),
        (lambda x: np.ma.masked_where(x > 1, x).sum(), "np.ma.MaskedArray"),
        (lambda x: np.ma.MaskedArray([1.0, 2.0]) * x, "np.ma.MaskedArray"),
    ],
)
def test_classes_that_mean_other_things_by_operators_are_refused(f: Callable[..., Any], name: str) -> None:
    with pytest.raises(UnsupportedError, match=rf"{name} is not supported in a traced function(.|\n)*hint: use "):
        pliant.jit(f)(np.ones((2, 1)))


def test_memory_of_others_is_refused_for_new_arrays() -> None:
    with pytest.raises(UnsupportedError, match=r"np\.ndarray\(\.\.\., buffer=\.\.\.\) is not supported"):
        pliant.jit(lambda x: np.ndarray(2, buffer=b"1" * 16) + x)(1.0)
