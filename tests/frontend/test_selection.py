"""What `x[mask]` is asked for, besides sums: its length, extrema, products; `np.extract` and `np.compress`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pliant

X = np.array([1.0, -2.0, 3.0, 0.5])
A = np.arange(12.0).reshape(3, 4)

ASKED: dict[str, Callable[[Any, Any], Any]] = {
    "len": lambda x, a: len(x[x > 0]),
    "len of rows": lambda x, a: len(a[a[:, 0] > 0]),
    "size": lambda x, a: a[a[:, 0] > 3].size,
    "mean": lambda x, a: x[x > 0].sum() / len(x[x > 0]),
    "max": lambda x, a: x[x > 0].max(),
    "max of rows": lambda x, a: np.max(a[a[:, 0] > 0], axis=0),
    "max in rows": lambda x, a: a[a[:, 0] > 0].max(axis=1).sum(),
    "min": lambda x, a: np.min(a[a > 3]),
    "min of integers": lambda x, a: a.astype(np.int8)[a > 3].min(),
    "min of bools": lambda x, a: (a > 4)[a > 3].min(),
    "@": lambda x, a: x[x > 0] @ a[0][x > 0],
    "extract": lambda x, a: np.extract(a > 3, a).mean(),
    "compress": lambda x, a: np.compress(x > 0, a, axis=1).sum(axis=1),
    "compress of all": lambda x, a: np.compress(x > 0, x).sum(),
    "compress, a method": lambda x, a: a.compress(a[:, 0] > 1, axis=0).sum(axis=0),
    "compress, known": lambda x, a: np.compress([True, False, True, True], x),
}


@pytest.mark.parametrize("f", ASKED.values(), ids=ASKED.keys())
def test_a_selection_says_what_numpy_says(f: Callable[[Any, Any], Any]) -> None:
    made, expected = pliant.jit(f)(X, A), f(X, A)
    assert type(made) is type(expected)
    np.testing.assert_array_equal(made, expected)


@pytest.mark.parametrize(
    "f", [lambda x: x[x > 9].max(), lambda x: np.min(x[x > 9]), lambda x: np.extract(x > 9, x).min()]
)
def test_an_extremum_of_no_selected_element_raises(f: Callable[[Any], Any]) -> None:
    with pytest.raises(ValueError, match="zero-size array to reduction operation m"):
        f(X)
    with pytest.raises(ValueError, match="zero-size array to reduction operation m"):
        pliant.jit(f)(X)


def test_extrema_of_selections_have_gradients_and_batches() -> None:
    def f(x: Any) -> Any:
        return x[x > 0].max() * x[x < 1].min()

    np.testing.assert_array_equal(pliant.grad(f)(X), [0.0, 3.0, -2.0, 0.0])
    np.testing.assert_array_equal(pliant.vmap(f)(np.stack([X, -X])), [f(X), f(-X)])


def test_a_selection_by_integers_alone_has_a_known_length() -> None:
    @pliant.jit
    def first(x: Any, k: int) -> Any:
        return x[np.arange(4) < k]

    assert [first(X, k).tolist() for k in (1, 3)] == [[1.0], [1.0, -2.0, 3.0]]


def test_a_product_with_anything_else_needs_as_many_elements() -> None:
    count = int(np.sum(X > 0))
    for f in (lambda x, y: x[x > 0] @ y, lambda x, y: y @ x[x > 0]):
        assert_allclose(pliant.jit(f)(X, np.arange(count)), f(X, np.arange(count)))
        with pytest.raises(pliant.errors.ShapeError, match="differ"):
            pliant.jit(f)(X, np.arange(count + 1))


Z = np.array([1 + 1j, -2, 3 + 2j])
PARTS_WRITTEN: dict[str, Callable[[Any], Any]] = {
    "real +=": lambda w: setattr(w, "real", w.real + 1),
    "imag": lambda w: setattr(w, "imag", 0),
    "imag of real": lambda w: setattr(w, "imag", w.real),
    "real of one for each": lambda w: setattr(w, "real", np.arange(w.size) + 5.0),
    "flat": lambda w: setattr(w, "flat", 7),
    "shape": lambda w: setattr(w, "shape", (-1, 1)),
    "real of a part": lambda w: setattr(w[:1], "real", 7),
    "real of a complex number": lambda w: setattr(w, "real", 4 + 1j),
    "real of a complex selection": lambda w: setattr(w, "real", w),
}
MAKERS: dict[str, Callable[[Any], Any]] = {
    "selection": lambda z: z[z.real > 0],
    "unique": np.unique,
    "columns": lambda z: np.stack([z, 2 * z])[:, z.real > 0],
    "real parts": lambda z: z.real[z.real > 0],
    "array": lambda z: z * 2,
}


@pytest.mark.filterwarnings("ignore:Casting complex")
@pytest.mark.parametrize("maker", MAKERS.values(), ids=MAKERS.keys())
@pytest.mark.parametrize("put", PARTS_WRITTEN.values(), ids=PARTS_WRITTEN.keys())
def test_parts_of_a_selection_are_written_as_those_of_an_array(
    put: Callable[[Any], Any], maker: Callable[[Any], Any]
) -> None:
    def f(z: Any) -> Any:
        w = maker(z)
        same = w
        put(w)
        return same

    try:
        expected = f(Z.copy())
    except (AttributeError, TypeError, ValueError) as error:
        with pytest.raises(type(error)):
            pliant.jit(f)(Z.copy())
        return
    made = pliant.jit(f)(Z.copy())
    assert made.dtype == expected.dtype
    np.testing.assert_array_equal(made, expected)


def test_parts_of_a_selection_are_updated_in_loops_and_branches() -> None:
    def f(z: Any) -> Any:
        for k in range(8):
            w = z[z.real > 0]
            w.real += k
            if z[0].real > 3:
                w.imag *= 2
            z[z.real > 0] = w
        return z

    np.testing.assert_array_equal(pliant.jit(f)(Z.copy()), f(Z.copy()))


@pytest.mark.parametrize("maker", [lambda x: x[x > 0], np.unique], ids=["selection", "unique"])
def test_an_imaginary_part_of_real_elements_cannot_be_written(maker: Callable[[Any], Any]) -> None:
    def put(x: Any) -> None:
        maker(x).imag = 1

    def add(x: Any) -> None:
        maker(x).imag += 1

    with pytest.raises(pliant.errors.DTypeError, match=r"f64\[.* ≤ 4\] has no imaginary part to set\n.*\n.*imag = 1"):
        pliant.jit(put)(X.copy())
    with pytest.raises(pliant.errors.ReadOnlyError, match=r"the imaginary part of f64\[4\]\n.*\n.*imag \+= 1"):
        pliant.jit(add)(X.copy())
