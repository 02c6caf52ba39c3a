"""`pliant.Ref`: arrays by reference, as arguments, captured, in objects, overlapping; what is written is there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import pliant
from pliant.errors import ReadOnlyError

BACKENDS = ("reference", "llvm")


def through_views(r: Any, v: Any) -> Any:
    r.T[0] = v[: r.shape[0]]
    r[1:3] += v[0]
    r.reshape(-1)[2] = 9
    r *= 2
    return r[0].sum() + np.sum(r) + (r + 1)[0, 0]


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_argument_is_written_through_views(backend: str) -> None:
    compiled = pliant.jit(through_views, backend=backend)
    for _ in range(4):
        ours, theirs = np.arange(12.0).reshape(4, 3), np.arange(12.0).reshape(4, 3)
        made = compiled(pliant.Ref(ours), np.arange(5.0))
        assert made == through_views(pliant.Ref(theirs), np.arange(5.0))
        assert_array_equal(ours, theirs)


def test_outside_of_compiled_functions_it_is_the_array() -> None:
    x = np.arange(6.0)
    r = pliant.Ref(x)
    r += 1
    r[1:3] *= 10
    r.reshape(2, 3).T[0] = 7
    assert_array_equal(x, [7, 20, 30, 7, 5, 6])
    assert_array_equal(np.sqrt(r * r), x)
    assert_array_equal(np.concatenate([r, r])[6:], x)
    assert (r.shape, r.ndim, r.size, len(r), r.dtype) == ((6,), 1, 6, 6, np.dtype(float))
    assert pliant.Ref(r).array is x
    assert repr(pliant.Ref(3)) == "Ref(array(3))"
    assert bool(pliant.Ref(1)) and float(pliant.Ref(0.5)) == 0.5
    with pytest.raises(ValueError, match="copy"):
        pliant.Ref(np.zeros((2, 3)).T).reshape(6)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_captured_reference_counts_calls(backend: str) -> None:
    count, history = pliant.Ref(0), pliant.Ref(np.zeros(4))

    def f(x: Any) -> Any:
        history[count % 4] = x
        count[...] += 1
        return count + x

    compiled = pliant.jit(f, backend=backend)
    assert [compiled(10 * n) for n in range(5)] == [10 * n + n + 1 for n in range(5)]
    assert int(count) == 5
    assert_array_equal(history, [40, 10, 20, 30])
    count[...] = 0
    compiled(7)
    assert_array_equal(history, [7, 10, 20, 30])


def test_a_reference_held_by_an_object_stays_there() -> None:
    class Model:
        def __init__(self) -> None:
            self.w = pliant.Ref(np.ones(3))

        @pliant.jit
        def step(self, g: Any) -> None:
            self.w -= 0.5 * g

    model = Model()
    kept = model.w
    for _ in range(3):
        model.step(np.ones(3))
    assert model.w is kept
    assert_array_equal(kept, np.full(3, -0.5))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("first", "second"), [(slice(0, 4), slice(2, 6)), (slice(0, 4), slice(0, 4)), (slice(4), slice(4, 8))]
)
def test_references_may_overlap(first: slice, second: slice, backend: str) -> None:
    def f(a: Any, b: Any) -> None:
        a += 1
        b *= 2
        a[1:] += b[:-1]

    ours, theirs = np.arange(8.0), np.arange(8.0)
    compiled = pliant.jit(f, backend=backend)
    for _ in range(3):
        compiled(pliant.Ref(ours[first]), pliant.Ref(ours[second]))
        f(theirs[first], theirs[second])
    assert_array_equal(ours, theirs)


@pytest.mark.parametrize(
    "transform",
    [
        lambda f: pliant.grad(f),
        lambda f: pliant.value_and_grad(f),
        lambda f: pliant.vmap(f),
    ],
)
def test_derivatives_and_batches_write_to_a_copy(transform: Callable[[Any], Any]) -> None:
    total = pliant.Ref(np.zeros(2))

    def f(x: Any) -> Any:
        total[...] += 1
        return (x * x).sum() + total[0]

    transform(f)(np.ones((3, 2)))
    assert_array_equal(total, [0, 0])


def test_gradients_of_a_reference_are_exact() -> None:
    def f(r: Any) -> Any:
        r[1:] *= r[:-1]
        return (r * r).sum()

    x = np.array([1.0, 2.0, 3.0])
    got = pliant.grad(f)(pliant.Ref(x))
    assert_array_equal(got, pliant.grad(f)(x))
    assert_array_equal(x, [1, 2, 3])


def test_a_reference_is_returned_as_one() -> None:
    x = np.zeros(3)

    def f(r: Any) -> Any:
        r += 1
        return r, r.T

    made, turned = pliant.jit(f)(pliant.Ref(x))
    assert type(made) is pliant.Ref
    assert made.array is x
    assert np.shares_memory(turned.array, x)


def test_a_read_only_array_has_no_reference() -> None:
    x = np.zeros(3)
    x.flags.writeable = False
    with pytest.raises(ReadOnlyError, match="read-only"):
        pliant.Ref(x)
    assert_array_equal(x, [0, 0, 0])
