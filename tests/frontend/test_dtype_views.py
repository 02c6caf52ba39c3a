"""`x.view(dtype)` in traced functions: views that are read, written, returned, and differentiated where that means something."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import pliant
from pliant.errors import ShapeError, UnsupportedError
from pliant.testing import check_gradient

BACKENDS = ("reference", "llvm")


def clear_signs(x: Any) -> Any:
    x.view(np.int64)[...] &= 2**63 - 1
    return x.view(np.int64)


def halves(x: Any) -> Any:
    low = x.view(np.uint32)[::2]
    low[1:] = 0
    return low


def bytes_of_rows(x: Any) -> Any:
    y = x[::2].view(np.uint8)
    y[:, 0] = 7
    return y[0]


def wider(x: Any) -> Any:
    y = x.view(np.float32).view(np.complex128)
    y[0] = 1 + 2j
    return y, x.view(np.complex64)


def parts_of_complex(x: Any) -> Any:
    y = x.astype(complex)
    y.view(float)[1::2] = 3
    return y


def views_of_views(x: Any) -> Any:
    y = x.view(np.int16).reshape(-1, 4)[:, ::2]
    y += 1
    return y, x.view(x.dtype), x[0].view(np.int64)


PROGRAMS = [clear_signs, halves, wider, parts_of_complex, views_of_views]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("n", [4, 32, 100])
@pytest.mark.parametrize("f", PROGRAMS)
def test_views_are_read_and_written_as_numpys(f: Callable[..., Any], n: int, backend: str) -> None:
    compiled = pliant.jit(f, backend=backend)
    for _ in range(3):
        ours, theirs = np.arange(n) - 2.5, np.arange(n) - 2.5
        made, wanted = compiled(ours), f(theirs)
        several = made if isinstance(made, tuple) else (made,)
        for m, w in zip(several, wanted if isinstance(wanted, tuple) else (wanted,), strict=True):
            assert_array_equal(m, w)
            assert m.dtype == w.dtype
            assert np.shares_memory(m, ours) == np.shares_memory(w, theirs)
        assert_array_equal(ours, theirs)


@pytest.mark.parametrize("backend", BACKENDS)
def test_rows_of_a_matrix_have_bytes(backend: str) -> None:
    ours, theirs = np.arange(12.0).reshape(4, 3), np.arange(12.0).reshape(4, 3)
    assert_array_equal(pliant.jit(bytes_of_rows, backend=backend)(ours), bytes_of_rows(theirs))
    assert_array_equal(ours, theirs)


def test_elements_that_keep_their_bits_keep_their_derivatives() -> None:
    def f(x: Any) -> Any:
        y = x * x
        y.view(np.int64)[0] = 0
        return y.sum()

    assert_array_equal(pliant.grad(f)(np.array([1.0, 2.0, 3.0])), [0, 4, 6])


def test_parts_of_complex_numbers_have_derivatives() -> None:
    def f(x: Any) -> Any:
        y = x.view(complex) ** 2
        return (y.view(float) * np.arange(4.0)).sum()

    x = np.array([1.0, 2.0, 3.0, 4.0])
    check_gradient(f, x)


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda x: x.T.view(np.float32), "last axis must be contiguous"),
        (lambda x: x[:, :1].view(np.complex128), "divisor of the total size"),
        (lambda x: x[0, 0, ...].view(np.float32), "0d array"),
    ],
)
def test_views_that_numpy_refuses(f: Callable[..., Any], message: str) -> None:
    x = np.arange(12.0).reshape(3, 4)
    with pytest.raises(ValueError, match=message):
        f(x)
    with pytest.raises(ShapeError, match=message):
        pliant.jit(f)(x)


def test_a_view_in_another_order_of_bytes_is_refused() -> None:
    swapped = np.dtype(float).newbyteorder()
    with pytest.raises(UnsupportedError, match="order of bytes"):
        pliant.jit(lambda x: x.view(swapped))(np.ones(3))


SWAPPED = np.arange(1, 5).astype(np.dtype("f8").newbyteorder())


@pytest.mark.parametrize("f", [
    pliant.jit(lambda x: x.view(np.int64) + 0), pliant.jit(lambda x: x[1:].copy().view(np.uint8)),
    pliant.jit(lambda x: x.view(np.float64)), pliant.vmap(lambda x: x.view(np.int64) + 0),
    pliant.jit(lambda x: SWAPPED.view(np.int64) + x.astype(int)),
])  # fmt: skip
def test_a_view_of_an_array_in_another_order_of_bytes_is_refused(f: Callable[[Any], Any]) -> None:
    with pytest.raises(UnsupportedError, match=r"(?s)in another order of bytes.*newbyteorder"):
        f(SWAPPED)


def test_a_view_as_it_is_of_an_array_in_another_order_of_bytes() -> None:
    np.testing.assert_array_equal(pliant.jit(lambda x: x.view()[1:] * 2)(SWAPPED), [4.0, 6.0, 8.0])
