"""Methods and attributes of ndarray on traced arrays, and updates out of place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import PliantError, UnsupportedError
from pliant.frontend.functions import METHODS, PROPERTIES, REFUSED_PROPERTIES
from tests.frontend.numpy_cases import filled
from tests.frontend.numpy_harness import compare, traced


def left(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """What a method leaves in a copy of the array."""

    def run(x: Any) -> Any:
        x = x.copy()
        change(x)
        return x

    return run


def resized(x: Any, *shape: Any) -> Any:
    """A copy that is resized, written and resized again."""
    y = x.copy()
    y.resize(*shape, refcheck=False)
    y += 1
    z = y[:1]
    y.resize((3, 3), refcheck=False)
    return y, z.shape


CALLS: dict[str, list[Callable[[Any], Any]]] = {
    "sum": [lambda x: x.sum(), lambda x: x.sum(0), lambda x: x.sum(axis=1, keepdims=True)],
    "prod": [lambda x: x.prod(1)],
    "max": [lambda x: x.real.max(1), lambda x: x.real.max(initial=2)],
    "min": [lambda x: x.real.min()],
    "mean": [lambda x: x.mean(-1), lambda x: x.mean(dtype=np.float64)],
    "var": [lambda x: x.var(1, ddof=1)],
    "std": [lambda x: x.std()],
    "all": [lambda x: x.all(0)],
    "any": [lambda x: x.any()],
    "argmax": [lambda x: x.real.argmax(1)],
    "argmin": [lambda x: x.real.argmin()],
    "argsort": [lambda x: x.real.argsort(stable=True)],
    "argpartition": [lambda x: np.take_along_axis(x.real, x.real.argpartition(1), -1)[:, 1]],
    "cumsum": [lambda x: x.cumsum(1)],
    "cumprod": [lambda x: x.cumprod()],
    "dot": [lambda x: x.dot(x.T), lambda x: x.dot(2)],
    "trace": [lambda x: x.trace()],
    "round": [lambda x: x.round(1)],
    "searchsorted": [lambda x: np.sort(x[0].real).searchsorted([0.5, 2])],
    "choose": [lambda x: (x != 0).astype(int).choose([x, x * 2])],
    "diagonal": [lambda x: x.diagonal(1)],
    "ravel": [lambda x: x.ravel()],
    "flatten": [lambda x: x.flatten(), lambda x: x.T.flatten("F")],
    "squeeze": [lambda x: x[:1].squeeze()],
    "swapaxes": [lambda x: x.swapaxes(0, 1)],
    "take": [lambda x: x.take([1, 2], 1)],
    "repeat": [lambda x: x.repeat(2, 0)],
    "reshape": [lambda x: x.reshape(4, 3), lambda x: x.reshape((2, -1)), lambda x: x.reshape(-1, order="F")],
    "transpose": [lambda x: x.transpose(), lambda x: x.transpose(1, 0), lambda x: x.transpose((1, 0))],
    "astype": [lambda x: x.astype(np.float32), lambda x: x.astype(bool), lambda x: x[0, 0].astype("f4")],
    "copy": [lambda x: x.copy(), lambda x: x[0, 0].copy()],
    "fill": [left(lambda x: x.fill(3)), left(lambda x: x[1].fill(x[0, 0]))],
    "sort": [left(lambda x: x.sort()), left(lambda x: x.T.sort(axis=0))],
    "resize": [
        lambda x: resized(x, 2, 3),
        lambda x: resized(x, (4, 5)),
        lambda x: resized(x, 0),
        lambda x: resized(x[1], 7),
    ],
    "partition": [left(lambda x: (x.partition(1), x.sort()))],
    "compress": [lambda x: x.compress([True, False, True], axis=0)],
    "clip": [lambda x: x.real.clip(0, 1), lambda x: x.real.clip(None, 1)],
    "put": [left(lambda x: x.put([0, 3], 9))],
    "conj": [lambda x: x.conj()],
    "conjugate": [lambda x: x.conjugate()],
    "view": [lambda x: x.view(), lambda x: x.view(x.dtype)],
    "item": [lambda x: x[:1, :1] + 0],
    "nonzero": [lambda x: x.nonzero()[0].sum()],
    "setflags": [lambda x: (x.setflags(), x)[1], lambda x: (x.setflags(write=True), x)[1]],
}
REFUSED = {
    "ptp",
    "byteswap",
    "setfield",
    "getfield",
    "tobytes",
    "tofile",
    "dump",
    "dumps",
}


@pytest.mark.parametrize("name", CALLS)
def test_method_agrees_with_numpy(name: str) -> None:
    for dtype in ("f8", "f4", "i4", "c16"):
        if dtype == "c16" and name in ("sort", "partition"):
            continue
        for call in CALLS[name]:
            compare(call, filled((3, 4), dtype))


def test_every_method_has_calls() -> None:
    assert set(METHODS) - set(CALLS) == REFUSED


def test_every_method_and_attribute_of_ndarray_is_answered() -> None:
    own = {
        "T",
        "mT",
        "dtype",
        "flat",
        "imag",
        "itemsize",
        "item",
        "nbytes",
        "ndim",
        "real",
        "shape",
        "size",
        "tolist",
        "device",
    }
    names = {n for n in dir(np.ndarray) if not n.startswith("_")}
    assert names - set(METHODS) - set(PROPERTIES) - own == {"to_device"}


@pytest.mark.parametrize("name", sorted(REFUSED_PROPERTIES))
def test_attribute_about_memory_is_refused(name: str) -> None:
    with pytest.raises(UnsupportedError, match=f"ndarray.{name} is not supported.*"):
        traced(lambda x: getattr(x, name), np.ones(3))


@pytest.mark.parametrize("name", ["byteswap", "tobytes", "ptp"])
def test_method_that_needs_the_numbers_is_refused(name: str) -> None:
    with pytest.raises(PliantError, match=name):
        traced(lambda x: getattr(x, name)(), np.ones(3))


def test_update_out_of_place_leaves_the_array() -> None:
    def update(x: Any) -> Any:
        y = x.at[[0, 0, 2]].add(1)
        return y, x, x.at[1].set(7), x.at[:, 1].add(x[:, 0]), x.at[1].get(), x.at[x > 0].set(0)

    x = filled((3, 4), "f8")
    ((added, _), (same, _), (put, _), (column, _), (row, _), (masked, _)), _ = traced(update, x)
    wanted = x.copy()
    np.add.at(wanted, [0, 0, 2], 1)
    np.testing.assert_array_equal(added, wanted)
    np.testing.assert_array_equal(same, x)
    np.testing.assert_array_equal(put, np.vstack((x[0], np.full(4, 7), x[2])))
    np.testing.assert_array_equal(column[:, 1], x[:, 1] + x[:, 0])
    np.testing.assert_array_equal(row, x[1])
    np.testing.assert_array_equal(masked, np.where(x > 0, 0, x))


def test_an_array_is_resized_to_its_shape_whatever_it_is():
    def f(w: Any, c: Any) -> Any:
        if w[0] > c:
            w.resize(len(w))
            w.fill(1.0)
        w[1:].resize(2)
        return w.sum()

    for c in (0.5, 2.0):
        assert pliant.jit(f)(np.ones(3) * 0.7, c) == f(np.ones(3) * 0.7, c)
