"""`as_strided` and `ndarray.strides`, as code for rolling windows, pooling and convolutions uses them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import pliant
from pliant.errors import ReadOnlyError, ShapeError, UnsupportedError


def rolling(a: Any) -> Any:
    shape = (*a.shape[:-1], a.shape[-1] - 2, 3)
    return as_strided(a, shape=shape, strides=(*a.strides, a.strides[-1])).std(-1)


def pooled(x: Any) -> Any:
    h, w = x.shape
    s0, s1 = x.strides
    return as_strided(x, (h // 2, w // 2, 2, 2), (2 * s0, 2 * s1, s0, s1)).max(axis=(2, 3))


def convolved(x: Any) -> Any:
    z = np.pad(2 * x, 1)
    windows = as_strided(z, (*x.shape, 3, 3), z.strides * 2)
    return np.tensordot(windows, np.arange(9.0).reshape(3, 3), axes=((2, 3), (0, 1)))


def toeplitz(x: Any) -> Any:
    row = np.concatenate([x[0, ::-1], x[1]])
    return as_strided(row[x.shape[1] - 1 :].copy(), (2, 3), (8, 8)), as_strided(row, (2, 2), (0, 8)), as_strided(row)


def written_later(x: Any) -> Any:
    windows = as_strided(x, (2, 3), (8, 8))
    x[0] = 7.0
    return windows.sum(-1) + x[0, :2]


def rolling_over_axes(a: Any) -> Any:
    for axis, n in enumerate((2, 3)):
        a = a.swapaxes(axis, -1)
        shape = (*a.shape[:-1], a.shape[-1] - n + 1, n)
        a = as_strided(a, shape, (*a.strides, a.strides[-1]))
        a = a.swapaxes(-2, axis)
    return a.std(-1) * a[::-1, 1:2, :, 0]


def around_parts(x: Any) -> Any:
    line = x.reshape(-1)
    return (
        as_strided(line[4:8], strides=(16,)),
        as_strided(line[5:10], (5,), (-8,)),
        as_strided(x[1], (2, 2), (-8, 8)),
        as_strided(line[2:4], (1,), (8,)),
    )


def of_parts(x: Any) -> Any:
    y = np.asfortranarray(x + 1.0)
    part = x[1:, ::2]
    steps = (x[1::2, ::-2], y[1:, 1:], y.T[::2], part.T, np.broadcast_to(part[0], (3, *part[0].shape)))
    made = [as_strided(a, (2, 2), (a.strides[1], a.strides[0])).copy() for a in steps]
    neighbours = as_strided(x[1, ::2], (2, 2, 2), (-8 * x.shape[1], 16, 8))
    return *made, neighbours, np.diagonal(as_strided(part, (3, 3), (16, 0))), np.array(neighbours[1].T.strides)


PROGRAMS = [rolling, pooled, convolved, toeplitz, written_later, rolling_over_axes, of_parts, around_parts]


@pytest.mark.parametrize("backend", ["llvm", "reference"])
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_values_are_numpys(f: Callable[..., Any], backend: str) -> None:
    compiled = pliant.jit(f, backend=backend)
    for shape in ((4, 6), (5, 7)):
        x = np.random.default_rng(0).normal(size=shape)
        made, wanted = (y if isinstance(y, tuple) else (y,) for y in (compiled(x.copy()), f(x.copy())))
        for one, other in zip(made, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("f", [rolling, pooled, convolved, rolling_over_axes], ids=lambda f: f.__name__)
def test_gradients_and_batches(f: Callable[..., Any]) -> None:
    x, way = np.random.default_rng(1).normal(size=(2, 4, 6))

    def loss(x: Any) -> Any:
        return (f(x) ** 2).sum()

    slope = (loss(x + 1e-6 * way) - loss(x - 1e-6 * way)) / 2e-6
    np.testing.assert_allclose((pliant.grad(loss)(x) * way).sum(), slope, rtol=1e-6)
    np.testing.assert_allclose(pliant.vmap(f)(np.stack([x, way])), np.stack([f(x), f(way)]), rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.complex128, np.bool_])
def test_strides_are_those_of_numpy(dtype: Any) -> None:
    def f(x: Any) -> Any:
        views = (x, x.T, x[::-1, 1::2], x[0], x.reshape(-1), x[:, None], x.copy(), x[0, 0])
        return [np.array(v.strides, np.int64) for v in views]

    for x in (np.zeros((3, 4), dtype), np.zeros((4, 3), dtype).T, np.zeros((6, 8), dtype)[::2, ::2]):
        for one, other in zip(pliant.jit(f)(x), f(x), strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("f", "kind", "text"),
    [
        (lambda x: as_strided(x, (10,), (8,)), ShapeError, "elements 0 to 9 are asked for of f64"),
        (lambda x: as_strided(x, (3,), (-8,)), ShapeError, "elements -2 to 0 are asked for"),
        (lambda x: as_strided(x[1::2], (4,), (16,)), ShapeError, "elements 1 to 7 are asked for of f64"),
        (lambda x: as_strided((x * 1j).imag, (2,), (16,)), UnsupportedError, "how it lies in memory(.|\n)*copy x first"),
        (lambda x: as_strided(x, (2,), (4,)), UnsupportedError, "parts of elements"),
        (lambda x: as_strided(x, (2, 2), (8,)), ShapeError, r"1 strides for the shape \(2, 2\)"),
    ],
    ids=["behind", "before", "behind a part", "parts of numbers", "parts of elements", "too few"],
)  # fmt: skip
def test_what_cannot_be_shown_says_so(f: Callable[..., Any], kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        pliant.jit(f)(np.arange(6.0))


def test_the_view_is_not_written() -> None:
    def f(x: Any) -> Any:
        as_strided(x, (2, 2), (8, 8))[0] = 1.0
        return x

    with pytest.raises(ReadOnlyError, match="it is the result of as_strided"):
        pliant.jit(f)(np.arange(6.0))
