"""Nests read arrays of more axes in loops of their own, whatever the axes are, as NumPy does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.backends.llvm import BACKEND
from pliant.core.build import trace
from pliant.core.ir import Value
from pliant.core.types import Type
from pliant.kernel.ir import Digit, Nest
from pliant.kernel.schedule import scalars
from pliant.ops.elementwise import mul
from pliant.ops.reduce import reduce_sum
from pliant.ops.shape import broadcast, permute, reshape
from pliant.ops.update import add_slice, slice_window

TYPES = (np.float64, np.float32, np.complex128, np.int64)


def outer(x: Value, y: Value) -> Value:
    """The products of all elements, as one axis."""
    shape = (*x.shape, *y.shape)
    return reshape(mul(broadcast(x, shape, (0,)), broadcast(y, shape, (1,))), (x.shape[0] * y.shape[0],))


def added(w: Value, x: Value, y: Value) -> Value:
    return w + outer(x, y)


def added_to_part(w: Value, x: Value, y: Value) -> Value:
    return add_slice(w, outer(x, y), (5,))


def summed(w: Value, x: Value, y: Value) -> Value:
    return reduce_sum(mul(w, outer(x, y)), (0,))


def backward(w: Value, x: Value, y: Value) -> Value:
    return w + slice_window(outer(x, y), (59,), (-1,), (60,))


@pytest.mark.parametrize(
    ("f", "size", "loops"),
    [(added, 60, (6, 10)), (added_to_part, 75, (6, 10)), (summed, 60, (6, 10)), (backward, 60, (6, 10))],
)
def test_places_in_arrays_of_more_axes_are_sums_of_loops(
    f: Callable[..., Value], size: int, loops: tuple[int, ...]
) -> None:
    program = BACKEND.compile(trace(f, Type("f64", (size,)), Type("f64", (6,)), Type("f64", (10,)))).program
    nests = [step for step in program.steps if isinstance(step, Nest)]
    assert [s for nest in nests for s in scalars(nest.body) if isinstance(s, Digit)] == []
    assert [tuple(v.extent for v in nest.vars) for nest in nests] == [loops]
    assert not program.fault


def test_arrays_split_at_several_places_are_read_in_as_many_loops() -> None:
    def f(x: Value, y: Value) -> Value:
        wide = reshape(broadcast(x, (4, 30), (0,)), (120,))
        return wide + reshape(broadcast(y, (4, 6, 5), (1,)), (120,))

    (nest,) = BACKEND.compile(trace(f, Type("f64", (4,)), Type("f64", (6,)))).program.steps
    assert isinstance(nest, Nest)
    assert tuple(v.extent for v in nest.vars) == (4, 6, 5)


def test_arrays_that_all_walk_as_one_are_read_in_one_loop() -> None:
    def f(x: Value, y: Value) -> Value:
        return x + reshape(permute(permute(y, (1, 0)) + 1.0, (1, 0)), (60,))

    (nest,) = BACKEND.compile(trace(f, Type("f64", (60,)), Type("f64", (6, 10)))).program.steps
    assert isinstance(nest, Nest)
    assert tuple(v.extent for v in nest.vars) == (60,)


def flat_sum(w: Any, x: Any, y: Any) -> Any:
    return w + (x[:, None] * y).ravel()


def in_place(w: Any, x: Any, y: Any) -> Any:
    w += np.outer(x, y).ravel()
    return w


def in_part(w: Any, x: Any, y: Any) -> Any:
    n, m = len(x), len(y)
    w[m:] += np.outer(x, y).ravel()[: n * m - m]
    w[: n * m // 2] -= np.outer(x, y).reshape(-1)[n * m - n * m // 2 :]
    return w


def tiled(w: Any, x: Any, y: Any) -> Any:
    return w * np.tile(y, len(x)) + np.repeat(x, len(y))


def exchanged(w: Any, x: Any, y: Any) -> Any:
    return w + np.outer(y, x).reshape(-1) * np.outer(x, y).ravel()[::-1]


def total(w: Any, x: Any, y: Any) -> Any:
    return w + np.sum(w * np.outer(x, y).ravel())


PROGRAMS = (flat_sum, in_place, in_part, tiled, exchanged, total)


@pytest.mark.parametrize("f", PROGRAMS)
def test_flat_arrays_beside_arrays_of_more_axes_are_as_in_numpy(f: Callable[..., Any]) -> None:
    rng = np.random.default_rng(0)
    for n, m in [
        (1, 1),
        (0, 3),
        (5, 0),
        (1, 9),
        (7, 1),
        (2, 3),
        (3, 33),
        (17, 4),
        (8, 64),
        *rng.integers(1, 40, (6, 2)),
    ]:
        for dtype in TYPES:
            w, x, y = ((rng.normal(size=k) * 8).astype(dtype) for k in (n * m, n, m))
            wanted, got = w.copy(), w.copy()
            out, found = f(wanted, x, y), pliant.jit(f)(got, x, y)
            tolerance = 1e-4 if dtype == np.float32 else 1e-12
            np.testing.assert_allclose(found, out, rtol=tolerance, atol=tolerance * 100)
            np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance * 100)


def weighted(w: Any, xs: Any) -> Any:
    n = xs.shape[1]
    a, b, c = w[: n * n].reshape(n, n), w[n * n : 2 * n * n].reshape(n, -1), w[2 * n * n : 2 * n * n + n]
    h = np.zeros(n)
    for t in range(len(xs)):
        h = np.tanh(xs[t] @ a + h @ b + c)
    return np.sum(h * h)


def apart(a: Any, b: Any, c: Any, xs: Any) -> Any:
    h = np.zeros(len(c))
    for t in range(len(xs)):
        h = np.tanh(xs[t] @ a + h @ b + c)
    return np.sum(h * h)


@pytest.mark.parametrize(("n", "steps"), [(1, 3), (3, 1), (7, 5), (8, 20)])
def test_gradients_of_weights_in_one_array_are_those_of_the_weights(n: int, steps: int) -> None:
    rng = np.random.default_rng(n)
    w, xs = rng.normal(size=2 * n * n + n + 3), rng.normal(size=(steps, n))
    value, found = pliant.value_and_grad(weighted)(w, xs)
    a, b = w[: 2 * n * n].reshape(2, n, n)
    wanted, parts = pliant.value_and_grad(apart, argnums=(0, 1, 2))(a, b, w[2 * n * n : 2 * n * n + n], xs)
    np.testing.assert_allclose(value, wanted, rtol=1e-12)
    np.testing.assert_allclose(found, np.concatenate([*map(np.ravel, parts), np.zeros(3)]), rtol=1e-9, atol=1e-12)


def lengths_of_halves(a: Any) -> Any:
    z = np.abs(a.T.ravel())
    x, y = z[: z.size // 2], z[z.size // 2 :]
    m = np.maximum(x, y)
    d = np.minimum(x, y) / np.where(m == 0, 1.0, m)
    return np.where(m == 0, m, m * np.sqrt(1 + d * d))


@pytest.mark.parametrize("shape", [(5, 6), (8, 8), (1, 4), (33, 2)])
def test_what_is_read_twice_where_it_is_made_is_made_there(shape: tuple[int, ...]) -> None:
    a = np.random.default_rng(3).normal(size=shape)
    np.testing.assert_allclose(pliant.jit(lengths_of_halves)(a), lengths_of_halves(a), rtol=1e-14)
