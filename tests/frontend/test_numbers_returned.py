"""Lists of many numbers that are returned, or left in arguments: elements of one result."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

import pliant
from tests.frontend.test_outputs import same


def losses(x: Any) -> Any:
    found = []
    for _ in range(40):
        x = x * x.dtype.type(0.5)
        found.append(x.sum())
    return found


def floats(x: Any) -> Any:
    return [float(v.real) * 2 for v in x]


def ints(x: Any) -> Any:
    return tuple([int(v.real) for v in x])


def truths(x: Any) -> Any:
    return [v.real > 3 for v in x], [bool(v.real > 3) for v in x]


def complexes(x: Any) -> Any:
    return [complex(v) for v in x]


def backwards(x: Any) -> Any:
    found = [v + x.dtype.type(1) for v in x]
    return found[::-1], found[::2], found[3], x


def several(x: Any) -> Any:
    means, sizes = [], []
    for k in range(20):
        means.append(x[k] * x.dtype.type(2))
        sizes.append(k * int(x[0].real))
    return {"means": means, "sizes": sizes}, means[0]


def nested(x: Any) -> Any:
    return [[v * x.dtype.type(2), v] for v in x], [(i, v) for i, v in enumerate(x)]


def copies(x: Any) -> Any:
    found = []
    for _ in range(30):
        x = x + x.dtype.type(1)
        found.append(x.copy())
    return found, found[0]


def parts(x: Any) -> Any:
    doubled = x + x.dtype.type(1)
    places = 0, 2, 4, 6, 8, 10, 12, 14, 16, 18
    return [doubled[k : k + 3] for k in places], tuple([x[k : k + 2] for k in places])


def exchanged(x: Any) -> Any:
    found = [v + x.dtype.type(1) for v in x]
    found[2], found[3] = found[3], found[2]
    found.append(x.dtype.type(7))
    return found


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i2", "c16", "u1", "f2"])
@pytest.mark.parametrize(
    "f",
    [losses, floats, ints, truths, complexes, backwards, several, nested, copies, parts, exchanged],
    ids=lambda f: f.__name__,
)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_it_returns_what_python_returns(f: Any, dtype: str) -> None:
    if f is losses and dtype in ("i8", "i2", "u1"):
        pytest.skip("halves are zero")
    compiled = pliant.jit(f)
    for shift in range(4):  # the third is answered by native code
        x = (np.arange(33) % 7 + shift).astype(dtype)
        same(compiled(x), f(x))


def test_views_in_lists_are_views() -> None:
    compiled = pliant.jit(parts)
    for _ in range(4):
        x = np.arange(33.0)
        ours, theirs = compiled(x)
        ours[0][2] = -1
        assert ours[1][0] == -1
        theirs[2][0] = -7
        assert x[4] == -7
        found, first = pliant.jit(copies)(x)
        assert found[0] is first


def test_lists_that_are_given() -> None:
    def doubled(values: Any, into: Any) -> None:
        for k in range(len(values)):
            values[k] = values[k] * 2
            into.append(values[k] + 1)

    compiled = pliant.jit(doubled)
    for shift in range(4):
        (ours, more), (theirs, other) = (([n + shift + 0.5 for n in range(50)], [1.0]) for _ in range(2))
        compiled(ours, more)
        doubled(theirs, other)
        same(ours, theirs)
        same(more, other)


def test_gradients_with_what_else_is_returned() -> None:
    def fitted(w: Any) -> Any:
        history = []
        for _ in range(30):
            w = w - 0.1 * w
            history.append((w**2).sum())
        return history[-1], history

    step = pliant.jit(pliant.value_and_grad(fitted, has_aux=True))
    for _ in range(4):
        (value, history), gradient = step(np.arange(3.0))
        same([value, history], [*fitted(np.arange(3.0))])
        np.testing.assert_allclose(gradient, 2 * np.arange(3.0) * 0.9**60)


def test_calls_leak_nothing() -> None:
    compiled, x, grown = pliant.jit(losses), np.ones(100), list[int]()
    for _ in range(10):
        compiled(x)
    tracemalloc.start()
    try:
        for _ in range(3):  # other threads may allocate meanwhile
            before = tracemalloc.get_traced_memory()[0]
            for _ in range(200):
                compiled(x)
            grown.append(tracemalloc.get_traced_memory()[0] - before)
    finally:
        tracemalloc.stop()
    assert min(grown) < 4000
