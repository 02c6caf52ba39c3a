"""Arguments that are row-major but for the order of their axes: taken as they lie, and the same to the function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.testing import check_gradient

RNG = np.random.default_rng(0)
LAYOUTS: list[Callable[[Any], Any]] = [
    np.asfortranarray,
    lambda x: np.ascontiguousarray(x.transpose(1, 2, 0)).transpose(2, 0, 1),
    lambda x: np.ascontiguousarray(x.transpose(2, 0, 1)).transpose(1, 2, 0),
]


def written(x: Any, y: Any) -> Any:
    x[1] += y[0] * 2
    x[:, 0] *= y[:, 1]
    return x, x.T, x[::2], np.sum(x, axis=1), x.reshape(-1), x[..., 1]


def test_an_argument_that_is_returned_twice_is_itself_twice() -> None:
    compiled = pliant.jit(lambda x: (x.squeeze(), x, x.T))
    for _ in range(3):
        x = np.zeros((4, 3)).T
        first, second, turned = compiled(x)
        assert first is x
        assert second is x
        assert turned.base is x.base


@pytest.mark.parametrize("layout", LAYOUTS)
def test_values_writes_and_views_are_numpys(layout: Callable[[Any], Any]) -> None:
    compiled = pliant.jit(written)
    for _ in range(4):
        ours = layout(RNG.random((3, 4, 5))), RNG.random((3, 4, 5))
        theirs = tuple([x.copy(order="K") for x in ours])
        made, wanted = compiled(*ours), written(*theirs)
        np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-14)
        assert made[0] is ours[0]
        for m, w in zip(made, wanted, strict=True):
            np.testing.assert_allclose(m, w, rtol=1e-14)
            assert np.shares_memory(m, ours[0]) == np.shares_memory(w, theirs[0])
            assert m.strides == w.strides or not np.shares_memory(m, ours[0])


@pytest.mark.parametrize("layout", LAYOUTS)
def test_they_are_not_copied(layout: Callable[[Any], Any]) -> None:
    x = layout(RNG.random((3, 4, 5)))
    assert "cop" not in str(pliant.explain(np.sum, x)).split("memory:")[1]
    program, _ = pliant.jit(np.sum).program_and_arrays((x,), {})
    assert program.fn.params[0].type.shape == tuple(sorted(x.shape, key=lambda n: -x.strides[x.shape.index(n)]))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_derivatives_and_batches(layout: Callable[[Any], Any]) -> None:
    x = layout(RNG.random((3, 4, 5)))

    def f(x: Any) -> Any:
        y = x * 1.0
        y[1:] *= np.sin(x[:-1])
        return np.sum(y @ y.transpose(0, 2, 1))

    check_gradient(f, x)
    np.testing.assert_allclose(pliant.vmap(lambda a: np.sum(np.sin(a) @ a.T))(x), [np.sum(np.sin(a) @ a.T) for a in x])


def test_arrays_that_overlap() -> None:
    def f(x: Any, y: Any) -> Any:
        x[0] = y[1]
        y[2] *= 2
        return np.sum(x)

    for _ in range(3):
        ours = np.asfortranarray(RNG.random((6, 6)))
        theirs = ours.copy(order="F")
        for part in (lambda m: (m, m), lambda m: (m, m.T), lambda m: (m[:, :3], m[:, 2:5]), lambda m: (m, m[::-1])):
            np.testing.assert_allclose(pliant.jit(f)(*part(ours)), f(*part(theirs)), rtol=1e-14)
            np.testing.assert_array_equal(ours, theirs)


def test_donated_read_only_and_out() -> None:
    x = np.asfortranarray(RNG.random((4, 5)))
    wanted = x * 3
    np.testing.assert_array_equal(pliant.jit(lambda x: x * 3, donate=("x",))(x.copy(order="F")), wanted)
    double, out = pliant.jit(lambda x: x * 3), np.zeros((4, 5), order="F")
    for _ in range(3):
        np.testing.assert_array_equal(double(x, out=out), wanted)
    double(x, out=x)
    np.testing.assert_array_equal(x, wanted)
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        pliant.jit(lambda x: x.fill(0))(x)


def swapped(params: Any, more: Any, y: Any) -> Any:
    params[0], params[1] = params[1], params[0]
    params[2] = params[2] + y
    more["first"], more["new"] = params[3], params[0].T
    params[3][0] *= y
    return params[1] * y


@pytest.mark.parametrize("layout", LAYOUTS)
def test_containers_whose_items_change_hold_the_arrays_that_they_held(layout: Callable[[Any], Any]) -> None:
    compiled = pliant.jit(swapped)
    for _ in range(4):
        made, wanted = [], []
        first = [layout(RNG.random((3, 4, n))) for n in (2, 5, 4, 3)]
        for f, held in ((compiled, made), (swapped, wanted)):
            arrays = [x.copy(order="K") for x in first]
            params, more = [*arrays], {"first": arrays[0], "second": arrays[1]}
            y = f(params, more, 2.0)
            same = [[n for n, a in enumerate(arrays) if a is x] for x in (*params, *more.values())]
            held += [y, same, list(more), *params, *more.values()]
        assert made[1:3] == wanted[1:3]
        for m, w in zip((made[0], *made[3:]), (wanted[0], *wanted[3:]), strict=True):
            np.testing.assert_allclose(m, w, rtol=1e-14)
