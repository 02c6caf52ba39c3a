"""`np.nditer` in traced functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import ReadOnlyError, ShapeError, UnsupportedError
from tests.frontend.test_outputs import same

X = np.arange(6.0).reshape(2, 3)


def differences(x: Any) -> Any:
    """The gradient of a function as courses check it."""

    def f(x: Any) -> Any:
        return (x**2).sum() + x[0, 0] * x[1, 1]

    step, made = 1e-5, np.zeros_like(x)
    it = np.nditer(x, flags=["multi_index"], op_flags=["readwrite"])
    while not it.finished:
        place = it.multi_index
        before = x[place]
        x[place] = before + step
        above = f(x)
        x[place] = before - step
        below = f(x)
        x[place] = before
        made[place] = (above - below) / (2 * step)
        it.iternext()
    return made


def doubled(x: Any) -> Any:
    with np.nditer(x, op_flags=["readwrite"]) as it:
        for v in it:
            v[...] = 2 * v
    return x


def squares(x: Any) -> Any:
    it = np.nditer([x, None])
    for v, y in it:
        y[...] = v * v
    return it.operands[1]


def total(x: Any) -> Any:
    s = 0.0
    for v in np.nditer(x):
        s += v
    return s


def beside_each_other(x: Any) -> Any:
    return [a * b for a, b in np.nditer([x, np.array([1.0, 10.0, 100.0])])]


def in_orders(x: Any) -> Any:
    return [float(v) for v in np.nditer(x, order="F")], [float(v) for v in np.nditer(x.T)]


def numbered(x: Any) -> Any:
    it = np.nditer(x, flags=["f_index", "multi_index"])
    return [(it.index, it.multi_index, it.iterindex, float(v)) for v in it], it.itersize, it.ndim, it.nop


def by_items(x: Any) -> Any:
    it = np.nditer(x, op_flags=["readwrite"])
    while not it.finished:
        if it[0] > 2:
            it[0] = -it[0]
        it.iternext()
    it.reset()
    return it.value + 1


@pytest.mark.parametrize(
    "f",
    [differences, doubled, squares, total, beside_each_other, in_orders, numbered, by_items],
    ids=lambda f: f.__name__,
)
def test_it_does_what_numpy_does(f: Any) -> None:
    compiled = pliant.jit(f)
    for scale in (1.0, 2.0, 3.0):
        ours, theirs = X * scale, X * scale
        got, wanted = compiled(ours), f(theirs)
        if f is differences:
            np.testing.assert_allclose(got, wanted, atol=1e-9)
        else:
            same(got, wanted)
        np.testing.assert_array_equal(ours, theirs)


def gone_over(*arrays: Any, **options: Any) -> Any:
    return [[float(v) for v in vs] for vs in np.nditer([*arrays, np.float64(1)], **options)]


LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "reversed": lambda x: gone_over(x[0, ::-1]),
    "both reversed": lambda x: gone_over(x[0, ::-1], x[1, ::-1]),
    "one reversed": lambda x: gone_over(x[0, ::-1], x[1]),
    "each other": lambda x: gone_over(x[0, ::-2], x[1, ::2]),
    "columns reversed": lambda x: gone_over(x[:, ::-1]),
    "reversed and turned": lambda x: gone_over(x.T[::-1]),
    "turned beside rows": lambda x: gone_over(x.T, x.reshape(3, 2)),
    "a broadcast row": lambda x: gone_over(x, x[0, ::-1]),
    "in rows": lambda x: gone_over(x[::-1], order="C"),
    "in columns": lambda x: gone_over(x[::-1], x[:, ::-1], order="F"),
    "in any": lambda x: (gone_over(x.T, order="A"), gone_over(x[::-1], order="A"), gone_over(x[0, ::-1], order="A")),
    "a result": lambda x: [float(v) for v, _ in np.nditer([x[0, ::-1], None])],
    "of rank 3": lambda x: gone_over(x.reshape(3, 1, 2)[::-1].transpose(2, 0, 1)),
    "places": lambda x: [it.multi_index for it in [np.nditer(x[0, ::-1], ["multi_index"])] for _ in it],
}


@pytest.mark.parametrize("f", LAYOUTS.values(), ids=LAYOUTS.keys())
def test_elements_come_as_they_lie_in_memory(f: Callable[[Any], Any]) -> None:
    compiled = pliant.jit(f)
    for x in (X, X[:, ::-1], X[::-1], np.asfortranarray(X)):
        assert compiled(x) == f(x)


def test_the_order_of_one_of_two_arrays_is_refused() -> None:
    def f(x: Any, order: str = "K") -> Any:
        if x[0] > 0:
            y = x[::-1]
        else:
            y = x
        return [2 * v for v in np.nditer(y, order=order)]

    with pytest.raises(UnsupportedError, match=r"not known(?s:.*)order='C'"):
        pliant.jit(f)(X[1])
    assert pliant.jit(lambda x: f(x, "C"))(X[1]) == f(X[1], "C")


def of_a_broadcast(x: Any) -> Any:
    b = np.broadcast(x.T, x[0, :2], 1.0)
    made = np.empty(b.shape)
    made[...] = x.T + x[0, :2]
    first = [u * 10 + v for u, v, _ in b]
    b.reset()
    return made, first, next(b), b.index, b.ndim, b.nd, b.size, b.numiter


def test_what_is_broadcast() -> None:
    compiled = pliant.jit(of_a_broadcast)
    for x in (X, 2 * X):
        same(compiled(x), of_a_broadcast(x))
    with pytest.raises(ShapeError, match="could not be broadcast"):
        pliant.jit(lambda x: np.broadcast(x, x[:, :2]).shape)(X)


def test_arrays_from_outside() -> None:
    def scaled(x: Any) -> Any:
        return sum(v * x for v in np.nditer(X))

    assert pliant.jit(scaled)(2.0) == scaled(2.0)


def test_the_gradient() -> None:
    np.testing.assert_array_equal(pliant.grad(lambda x: total(x * x))(X), 2 * X)


def writes_what_is_read_only(x: Any) -> Any:
    for v in np.nditer(x):
        v[...] = 0


def goes_over_nothing(x: Any) -> Any:
    return [*np.nditer(x[:0])]


def asks_for_no_index(x: Any) -> Any:
    return np.nditer(x).multi_index


def past_the_end(x: Any) -> Any:
    it = np.nditer(x)
    while it.iternext():
        pass
    return it[0]


@pytest.mark.parametrize(
    ("f", "kind", "text"),
    [
        (writes_what_is_read_only, ReadOnlyError, "read-only: it is the result of np.nditer"),
        (goes_over_nothing, ValueError, "zero-sized"),
        (asks_for_no_index, ValueError, "multi-index"),
        (past_the_end, ValueError, "past the end"),
        (lambda x: np.nditer(x, flags=["external_loop"]), UnsupportedError, "flag 'external_loop'(?s:.*)np.ndindex"),
        (lambda x: np.nditer(x, op_dtypes=["f4"]), UnsupportedError, "op_dtypes="),
        (lambda x: np.nditer([x, x[:, :2]]).value, ValueError, "broadcast"),
    ],
    ids=["read-only", "empty", "index", "end", "flag", "dtypes", "shapes"],
)
def test_errors(f: Any, kind: Any, text: str) -> None:
    with pytest.raises(kind, match=text):
        pliant.jit(f)(X)
