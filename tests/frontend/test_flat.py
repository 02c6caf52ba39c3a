"""`x.flat`, `x.shape = …`, and elements that a mask selects in order: as NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import pliant
from pliant.errors import IndexRangeError, LayoutError, ShapeError, UnsupportedError
from pliant.testing import check_gradient
from tests.frontend.numpy_harness import traced

BACKENDS = ("reference", "llvm")


def read_flat(x: Any) -> Any:
    return x.flat[3], x.flat[2:8:2], x.flat[[0, -1]], x.T.flat[1], len(x.flat), x.flat[...], list(x.flat)[5]


def write_flat(x: Any) -> None:
    x.flat[3] = 7
    x.flat[[0, 1]] = 9
    x.flat[4:] = []
    x.flat[5:8] = [1, 2]
    x.T.flat[::3] = x.flat[:4]
    x[:, ::2].flat[[[0, 1], [2, 3]]] = [4, 5, 6]


def replace_all(x: Any) -> None:
    x.flat = [1, 2, 3, 4, 5]
    x[0].flat = 8


def change_shape(x: Any) -> Any:
    y = x.copy()
    z = y[:]
    y.shape = (2, -1)
    y[0] = 1
    z.shape = 12
    return y, z


def place_values(x: Any) -> None:
    np.place(x, x > 2, [44, 55])
    np.place(x, x == 44, 1)


def one_value_for_each(x: Any) -> None:
    m = x[:, 0] > 3
    x[m] = np.arange(8.0).reshape(2, 4)
    x[x % 2 == 1] = -x[x % 2 == 1][::-1]


PROGRAMS = [read_flat, write_flat, replace_all, change_shape, place_values, one_value_for_each]


@pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")  # NumPy 2.5
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("f", PROGRAMS)
def test_programs_do_what_numpy_does(f: Callable[..., Any], backend: str) -> None:
    for order in ("C", "F"):
        ours, theirs = (np.array(np.arange(12.0).reshape(3, 4), order=order) for _ in range(2))
        made, wanted = pliant.jit(f, backend=backend)(ours), f(theirs)
        assert_array_equal(ours, theirs)
        for m, w in zip(made or (), wanted or (), strict=True):
            assert_array_equal(m, w)
            assert np.shares_memory(m, ours) == np.shares_memory(w, theirs)


@pytest.mark.parametrize(
    ("error", "f"),
    [
        (ShapeError, lambda x: x.flat.__setitem__(0, [1, 2])),
        (IndexRangeError, lambda x: x.flat[1, 2]),
        (IndexRangeError, lambda x: x.flat[12]),
        (LayoutError, lambda x: setattr(x.T, "shape", 12)),
        (UnsupportedError, lambda x: np.place(x, x > 100, [])),
    ],
)
def test_what_is_refused(error: type[Exception], f: Callable[[Any], Any]) -> None:
    with pytest.raises(error):
        traced(f, np.arange(12.0).reshape(3, 4))


def test_values_for_a_mask_must_be_as_many_as_it_selects() -> None:
    @pliant.jit
    def f(x: Any, y: Any) -> None:
        x[x > 2] = y

    x = np.arange(5.0)
    f(x, np.array([8.0, 9.0]))
    assert_array_equal(x, [0, 1, 2, 8, 9])
    for n in (1, 3, 0):
        x = np.arange(6.0)
        if n == 1:
            f(x, np.ones(1))
            assert_array_equal(x, [0, 1, 2, 1, 1, 1])
        else:
            with pytest.raises(ShapeError, match=f"cannot assign {n} input values to the 2 output values"):
                f(np.arange(5.0), np.ones(n))


def test_values_dealt_by_a_mask_have_derivatives() -> None:
    def f(x: Any, y: Any) -> Any:
        z = x * 1
        z[x > 2] = y
        z[x > 2] *= z[x > 2][::-1]
        np.place(z, x < 1, y[:1] ** 2)
        return (z * np.arange(5.0)).sum() + z.sum()

    check_gradient(f, np.arange(5.0) + 0.25, np.array([3.0, 5.0, 7.0]), argnums=1)
    check_gradient(f, np.arange(5.0) + 0.25, np.array([3.0, 5.0, 7.0]))


def test_the_shape_of_the_callers_array_stays() -> None:
    def f(x: Any) -> None:
        x.shape = (4, 3)

    with pytest.raises(UnsupportedError, match=r"x\.reshape"):
        pliant.jit(f)(np.arange(12.0).reshape(3, 4))


def in_a_view(s: Any, x: Any) -> Any:
    y = np.atleast_2d(x)
    y.shape = 3, 1
    return s * np.sum(y * y.T)


def in_views_of_blocks(s: Any, x: Any) -> Any:
    x = x.copy()
    if s > 0:
        y = x[::-1].view()
        y.shape = 3, 1
        s = s * np.sum(y * y.T)
    for i in range(10):
        y = x[:]
        y.shape = 1, 3
        y[0, i % 3] += s
    return np.sum(x)


@pytest.mark.parametrize("f", [in_a_view, in_views_of_blocks])
def test_the_shape_of_a_view_made_in_a_block_or_a_derivative_is_set(f: Callable[..., Any]) -> None:
    s, x = np.array([2.0, -1.0]), np.array([1.0, 2.0, 4.0])
    expected = [f(one, x) for one in s]
    assert_array_equal(pliant.jit(f)(2.0, x), expected[0])
    assert_array_equal(pliant.vmap(f, (0, None))(s, x), expected)
    check_gradient(f, 2.0, x)
    check_gradient(f, 2.0, x, argnums=1)


def of_an_argument(s: Any, z: Any) -> Any:
    z.shape = 3, 1
    return s * np.sum(z)


def test_the_shape_of_an_array_from_outside_of_a_derivative_stays() -> None:
    def f(s: Any, x: Any) -> Any:
        return pliant.grad(of_an_argument)(s, s * x)

    with pytest.raises(UnsupportedError, match="in a derivative or a batch, of an array from outside"):
        pliant.jit(f)(2.0, np.arange(3.0))


def written_while_read(x: Any) -> Any:
    total = 0.0
    for n, v in enumerate(x.flat):
        total += n * v
        x.flat[(n + 3) % x.size] = v + 1
    return total


OF_ALL: dict[str, Callable[[Any], Any]] = {
    "sum": lambda x: np.sum(x.flat),
    "max": lambda x: np.max(x.flat) + max(x.flat),
    "add": lambda x: np.add(x.flat, 1),
    "reduce": lambda x: np.add.reduce(x.flat),
    "array": lambda x: np.array(x.flat),
    "concatenate": lambda x: np.concatenate([x.flat, x.T.flat]),
    "equal": lambda x: x.flat == x.T.flat,
    "less": lambda x: x.flat < 3,
    "not equal": lambda x: x.flat != 3,
    "a loop": lambda x: written_while_read(x),
    "a loop of another order": lambda x: written_while_read(x.T),
    "a comprehension": lambda x: sum(v * v for v in x.T.flat),
}


@pytest.mark.parametrize("f", OF_ALL.values(), ids=OF_ALL.keys())
def test_what_takes_an_array_takes_its_flat_iterator(f: Callable[[Any], Any]) -> None:
    ours, theirs = np.arange(30.0).reshape(5, 6), np.arange(30.0).reshape(5, 6)
    made, wanted = pliant.jit(f)(ours), f(theirs)
    assert_array_equal(made, wanted)
    assert_array_equal(ours, theirs)
    assert np.shape(made) == np.shape(wanted)


def test_loops_over_all_elements_are_no_longer_for_more_of_them() -> None:
    def f(x: Any) -> Any:
        total = 0.0
        for v in x.flat:
            total += v * v
        return total

    assert len(pliant.trace(f, np.ones((40, 50))).nodes) == len(pliant.trace(f, np.ones((4, 5))).nodes)


@pytest.mark.parametrize("y", [np.int64(1310), 1310, 300.7, np.float64(1e9), np.uint8(200), 1j, [3, 4]], ids=repr)
def test_an_element_takes_what_fits(y: Any) -> None:
    def write(x: Any, i: Any) -> Any:
        x.flat[i] = y
        return x

    with pytest.raises(ValueError, match="Error setting single item of array"):
        write(np.zeros(3, "i1"), 2)
    with pytest.raises(ShapeError, match=r"Error setting single item of array\.[\s\S]*fits the dtype"):
        pliant.jit(write)(np.zeros(3, "i1"), 2)


@pytest.mark.parametrize("y", [np.array(1310), np.float64(3.7), np.int64(-5), True], ids=repr)
@pytest.mark.parametrize("dtype", ["i1", "u1"])
def test_an_element_is_cast_as_numpys(y: Any, dtype: str) -> None:
    def write(x: Any, y: Any) -> Any:
        x.flat[2] = y
        return x

    assert_array_equal(pliant.jit(write)(np.zeros(3, dtype), y), write(np.zeros(3, dtype), y))
    with pytest.raises(OverflowError, match="1310 out of bounds for int8"):
        pliant.jit(write)(np.zeros(3, "i1"), np.int64(1310))
