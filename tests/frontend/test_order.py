"""Arrays made of ones that are not row-major: reshapes are views or copies exactly where they are NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import pliant

MAKERS: dict[str, Callable[[Any], Any]] = {
    "cumsum": lambda x: np.cumsum(x, 0),
    "where": lambda x: np.where(x > 2, x, 0),
    "clip": lambda x: np.clip(x, 1, 2),
    "sort": lambda x: np.sort(x, 0),
    "astype": lambda x: x.astype(np.float32),
    "zeros_like": np.zeros_like,
    "concatenate": lambda x: np.concatenate([x, x]),
    "stack": lambda x: np.stack([x, x]),
    "matmul": lambda x: x @ np.ones((x.shape[1], 2)),
    "sum of three axes": lambda x: np.sum(x[:, :, None] * np.ones(3), 2),
    "columns": lambda x: x[:, [0, 1]],
    "rows": lambda x: x[[1, 0]],
    "np.copy": np.copy,
    "x.copy": lambda x: x.copy(),
    "roll": lambda x: np.roll(x, 1, 0),
    "ufunc of another": lambda x: np.sort(x, 0) * 2 + x,
    "two steps": lambda x: np.cumsum(np.clip(x, 0, 5), 1),
    "accumulate": lambda x: np.maximum.accumulate(x, 0),
    "accumulate of another": lambda x: np.concatenate([np.add.accumulate(x), x]),
    "reduceat": lambda x: np.add.reduceat(x, [0, 1], 1),
    "ufunc.reduce": lambda x: np.maximum.reduce(np.stack([x, x], 2), 2),
    "outer": lambda x: np.multiply.outer(x, x[0]),
    "dot": lambda x: x.dot(x.T),
    "einsum": lambda x: np.einsum("ij,jk->ik", x, x.T),
    "max": lambda x: np.max(np.stack([x, x], 2), 2),
    "np.array": np.array,
    "np.array of the transposed": lambda x: np.array(x.T),
    "np.array column-major": lambda x: np.array(x, order="F"),
    "np.array row-major": lambda x: np.array(x, order="C"),
    "np.array of more axes": lambda x: np.array(x, ndmin=3),
    "np.copy column-major": lambda x: np.copy(x, order="F"),
    "x.copy column-major": lambda x: x.copy(order="F"),
    "x.copy kept": lambda x: x.copy("K"),
    "astype column-major": lambda x: x.astype(np.float32, order="F"),
    "zeros_like column-major": lambda x: np.zeros_like(x, order="F") + x[0, 0],
    "zeros column-major": lambda x: np.zeros(x.shape, order="F") + 0 * x[0, 0],
    "written zeros": lambda x: (y := np.zeros(x.shape, order="F"), y.__setitem__(..., x))[0],
    "full column-major": lambda x: np.full(x.shape, x[0, 0], order="F"),
    "empty_like, a sum": lambda x: np.empty_like(x) * 0 + x,
    "reshape column-major": lambda x: x.copy().reshape(2, 6, order="F"),
    "cross": lambda x: np.cross(x, x[::-1], axis=0),
    "cross, its axis first": lambda x: np.linalg.cross(x.T, x.T[::-1], axis=1) * 1,
    "delete": lambda x: np.delete(x, np.array([True, False, True, False]), axis=1),
    "nanquantile": lambda x: np.nanquantile(np.stack([x, x + 1]), [0.1, 0.5], axis=1),
    "histogram2d": lambda x: np.histogram2d(x[0], x[1], bins=3)[0],
    "ufunc column-major": lambda x: np.add(x, x, order="F"),
    "matmul along other axes": lambda x: np.matmul(x, x, axes=[(1, 0), (0, 1), (1, 0)]),
    "vecdot along the first": lambda x: np.vecdot(np.stack([x, x]), np.stack([x, x]), axis=0),
    "linalg.inv": lambda x: np.linalg.inv(x @ x.T + np.eye(x.shape[0])),
}

LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "row-major": lambda x: x,
    "column-major": np.asfortranarray,
    "strided": lambda x: np.repeat(x, 2, 1)[:, ::2],
    "reversed": lambda x: x[::-1].copy()[::-1],
    "broadcast": lambda x: np.broadcast_to(x[0], x.shape),
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=[*LAYOUTS])
@pytest.mark.parametrize("make", MAKERS.values(), ids=[*MAKERS])
def test_a_reshape_is_a_view_where_it_is_numpys(make: Callable[[Any], Any], layout: Callable[[Any], Any]) -> None:
    def f(x: Any) -> Any:
        y = make(x)
        z = y.reshape(-1)
        z[0] = 5
        w = y.T.ravel()
        w[1] = 7
        return y, z, w

    x = np.arange(12.0).reshape(3, 4) + 1
    ours, theirs = layout(x), layout(x)
    made, wanted = pliant.jit(f)(ours), f(theirs)
    for m, w in zip(made, wanted, strict=True):
        np.testing.assert_allclose(m, w, rtol=1e-12)
    for i in range(3):
        assert [np.shares_memory(made[i], m) for m in made] == [np.shares_memory(wanted[i], w) for w in wanted]
    assert_array_equal(ours, theirs)


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=[*LAYOUTS])
def test_elements_come_in_the_order_of_memory(layout: Callable[[Any], Any]) -> None:
    def f(x: Any) -> Any:
        parts = (x, x.T, x[::-1], x[:, ::2], x[1:, ::-1].T, x[:, None], np.stack([x, x]).transpose(1, 2, 0), x + x)
        first = np.ravel(x[:, 1:], "K")
        return (first, *[np.ravel(p, "K") for p in parts], *[p.flatten("K") for p in parts])

    ours, theirs = (layout(np.arange(12.0).reshape(3, 4)) for _ in range(2))
    made, wanted = pliant.jit(f)(ours), f(theirs)
    for m, w in zip(made, wanted, strict=True):
        assert_array_equal(m, w)
        assert np.shares_memory(m, ours) == np.shares_memory(w, theirs)


def test_the_derivative_of_elements_in_the_order_of_memory() -> None:
    def f(x: Any) -> Any:
        return np.ravel(x[::-1, ::2].T, "K") @ np.arange(6.0)

    x = np.ones((3, 4))
    assert_array_equal(pliant.grad(f)(x), [[4, 0, 5, 0], [2, 0, 3, 0], [0, 0, 1, 0]])


AS_THEY_ARE: dict[str, Callable[[Any], Any]] = {
    "asarray": np.asarray,
    "asarray of a dtype": lambda x: np.asarray(x, np.float64),
    "asarray of another dtype": lambda x: np.asarray(x, np.float32),
    "asarray copied": lambda x: np.asarray(x, copy=True),
    "asarray column-major": lambda x: np.asarray(x, order="F"),
    "asarray row-major": lambda x: np.asarray(x, order="C"),
    "asarray in either order": lambda x: np.asarray(x, order="A"),
    "asanyarray": np.asanyarray,
    "ascontiguousarray": np.ascontiguousarray,
    "ascontiguousarray of the transposed": lambda x: np.ascontiguousarray(x.T),
    "asfortranarray": np.asfortranarray,
    "asfortranarray of the transposed": lambda x: np.asfortranarray(x.T),
    "array if needed": lambda x: np.array(x, copy=None),
    "array if needed, column-major": lambda x: np.array(x, copy=None, order="F"),
    "array if needed, of more axes": lambda x: np.array(x, copy=None, ndmin=3),
    "array never copied": lambda x: np.array(x, copy=False),
    "array of a name": lambda x: np.array(object=x),
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=[*LAYOUTS])
@pytest.mark.parametrize("make", AS_THEY_ARE.values(), ids=[*AS_THEY_ARE])
def test_arrays_of_arrays_are_copies_where_numpys_are(make: Callable[[Any], Any], layout: Callable[[Any], Any]) -> None:
    def f(x: Any) -> Any:
        y = make(x)
        if layout is not LAYOUTS["broadcast"]:
            y[..., 0] = 50
        z = y.reshape(-1)
        return y, z

    x = np.arange(12.0).reshape(3, 4) + 1
    ours, theirs = layout(x), layout(x)
    made, wanted = pliant.jit(f)(ours), f(theirs)
    for m, w in zip((*made, ours), (*wanted, theirs), strict=True):
        assert m.dtype == w.dtype
        assert_array_equal(m, w)
        assert [np.shares_memory(m, n) for n in (*made, ours)] == [np.shares_memory(w, v) for v in (*wanted, theirs)]


def test_a_copy_that_must_not_be_made_is_refused() -> None:
    for call in (lambda x: np.asarray(x, np.float32, copy=False), lambda x: np.array(x.T, order="C", copy=False)):
        with pytest.raises(ValueError, match="Unable to avoid copy"):
            pliant.jit(call)(np.ones((2, 3)))


def records(x: Any) -> Any:
    made = np.zeros(x.shape, [("a", x.dtype), ("b", np.float32)])
    made["a"] = x
    return made["a"]


VIEWS: dict[str, Callable[[Any], Any]] = {
    "a diagonal": lambda x: np.diagonal(x).reshape(1, -1),
    "every other of a diagonal": lambda x: np.diagonal(x)[::2].reshape(-1, 1),
    "a diagonal by einsum": lambda x: np.einsum("ii->i", x).reshape(1, -1),
    "a repeated row": lambda x: np.broadcast_to(x[1], (1, x.shape[1])).reshape(-1),
    "repeated rows": lambda x: np.broadcast_to(x[1], (2, x.shape[1])).reshape(-1),
    "windows": lambda x: np.lib.stride_tricks.sliding_window_view(x[0], 2).reshape(2, -1),
    "one window": lambda x: np.lib.stride_tricks.sliding_window_view(x, (1, x.shape[1]))[:, 0, 0].reshape(-1),
}


@pytest.mark.parametrize("layout", [np.copy, np.asfortranarray, records])
@pytest.mark.parametrize("view", VIEWS.values(), ids=[*VIEWS])
def test_reshapes_of_other_views_see_later_writes_where_numpys_do(
    view: Callable[[Any], Any], layout: Callable[[Any], Any]
) -> None:
    def f(x: Any) -> Any:
        y = view(x)
        x += 100
        return y

    ours, theirs = (layout(np.arange(9.0).reshape(3, 3)) for _ in range(2))
    made, wanted = pliant.jit(f)(ours), f(theirs)
    assert_array_equal(made, wanted)
    assert np.shares_memory(made, ours) == np.shares_memory(wanted, theirs)
    assert_array_equal(ours, theirs)


def test_products_of_empty_arrays() -> None:
    for shapes in (((1, 0), (0, 2)), ((0, 3), (3, 2)), ((2, 3), (3, 0))):
        x, y = (np.ones(shape) for shape in shapes)
        for f in (lambda x, y: np.einsum("ij,jk->ik", x, y), lambda x, y: np.einsum("ij,jk->ki", x, y.copy(order="F"))):
            np.testing.assert_array_equal(pliant.jit(f)(x, y), f(x, y))
