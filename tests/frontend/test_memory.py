"""Arguments that are not row-major: read where they lie, and the same to the function as to NumPy."""

from __future__ import annotations

import ctypes
import mmap
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import pliant
from pliant.frontend.memory import memory_of
from pliant.testing import check_gradient

RNG = np.random.default_rng(0)
CALLS = 5  # the first ones are served by Python, the others by native code
N, M = 6, 5


def empty(shape: tuple[int, ...], dtype: Any) -> Any:
    return np.zeros(shape, dtype)


def misaligned(shape: tuple[int, ...], dtype: Any) -> Any:
    """Elements at addresses that are no multiples of their size."""
    size = np.dtype(dtype).itemsize
    return np.zeros(size * int(np.prod(shape)) + 1, np.uint8)[1:].view(dtype).reshape(shape)


VIEWS: dict[str, Callable[[Any, Any], Any]] = {
    "part of rows": lambda new, t: new((N, 2 * M), t)[:, 2 : M + 2],
    "every other row": lambda new, t: new((2 * N, M), t)[::2],
    "every third column": lambda new, t: new((N, 3 * M), t)[:, 1::3],
    "backward": lambda new, t: new((N, M), t)[::-1, ::-1],
    "rows backward": lambda new, t: new((N, M + 1), t)[:, :0:-1],
    "columns as rows": lambda new, t: new((M, 2 * N), t)[:, :N].T,
    "one of several": lambda new, t: new((N, 2, M, 3), t)[:, 1, :, 2],
    "a field": lambda new, t: new((N, M), [("a", t), ("b", t)])["b"],
    "a crooked field": lambda new, t: new((N, M), [("a", np.int8), ("b", t)])["b"],
}
MEMORIES = {"aligned": empty, "misaligned": misaligned}


def laid_out(view: str, memory: str, dtype: Any) -> Any:
    made = VIEWS[view](MEMORIES[memory], dtype)
    made[...] = 8 * RNG.random(made.shape)
    return made


def computed(x: Any) -> Any:
    y = x * 2 + 1
    return y, x.sum(0), x @ x.T, x[1:, ::-1].copy(), np.sort(x, axis=0), np.concatenate([x, y]), np.sum(y[x > 4])


def looped(x: Any) -> Any:
    s = np.zeros(M, x.dtype)
    for i in range(N):
        s[i % M] += x[i, 1]
        s *= x[i]
    return s


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize(("f", "dtype"), [(computed, "f8"), (computed, "c16"), (looped, "f4")])
def test_values_are_numpys(f: Callable[[Any], Any], view: str, memory: str, dtype: str) -> None:
    compiled, x = pliant.jit(f), laid_out(view, memory, dtype)
    for _ in range(CALLS):
        for got, wanted in zip(compiled(x), f(x), strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-4 if dtype == "f4" else 1e-12)
        x[...] += 1


def written(x: Any, y: Any) -> Any:
    x[1:] += y[0]
    x[:, 0] *= 2
    return x, x.T, x[::2], x.sum(1), x[..., 1], x.copy()


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("memory", MEMORIES)
def test_writes_reach_the_array_and_nothing_beside_it(view: str, memory: str) -> None:
    compiled, y = pliant.jit(written), RNG.random((N, M))
    x = laid_out(view, memory, "f8")
    owner = x
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    for _ in range(CALLS):
        content, theirs = x.copy(), x.copy(order="K")
        wanted = written(theirs, y)
        made = compiled(x, y)
        np.testing.assert_array_equal(x, theirs)
        assert made[0] is x
        for m, w in zip(made, wanted, strict=True):
            np.testing.assert_allclose(m, w, rtol=1e-14)
            assert np.shares_memory(m, x) == np.shares_memory(w, theirs)
        x[...] = 0
        assert not owner.view(np.uint8).any() if owner.dtype.fields is None else not np.any(owner["a"])
        x[...] = content


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("memory", MEMORIES)
def test_derivatives_and_batches(view: str, memory: str) -> None:
    x = laid_out(view, memory, "f8") / 8

    def loss(x: Any) -> Any:
        y = x * 1.0
        y[1:] *= np.sin(x[:-1])
        return np.sum(y @ y.T) + np.sum(looped(x) * x[0])

    view_of = laid_out(view, memory, "f8")
    view_of[...] = x
    check_gradient(loss, view_of)
    slope = pliant.grad(loss)
    batch = pliant.vmap(lambda a: np.sum(np.sin(a) * a))
    for _ in range(CALLS):
        np.testing.assert_allclose(slope(view_of), slope(x), rtol=1e-12)
        np.testing.assert_allclose(batch(view_of), [np.sum(np.sin(a) * a) for a in x], rtol=1e-12)


@pytest.mark.parametrize(
    "x",
    [
        np.broadcast_to(RNG.random(5), (4, 5)),
        np.broadcast_to(RNG.random((4, 1)), (4, 5)),
        np.broadcast_to(RNG.random((2, 1, 6))[:, :, ::2], (2, 4, 3)),
        np.broadcast_to(RNG.random(()), (3, 2)),
        sliding_window_view(RNG.random(9), 3),
        sliding_window_view(RNG.random((5, 6)), (2, 3)),
    ],
)
def test_elements_that_appear_several_times(x: Any) -> None:
    def f(x: Any) -> Any:
        return np.exp(x), x.sum(), x.sum(-1), np.max(x, axis=0)

    compiled, slope = pliant.jit(f), pliant.grad(lambda x: np.sum(x * np.sin(x)))
    for _ in range(CALLS):
        for got, wanted in zip(compiled(x), f(x), strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-14)
        np.testing.assert_allclose(slope(x), np.sin(x) + x * np.cos(x), rtol=1e-13)


def test_each_layout_has_its_own_answer() -> None:
    compiled = pliant.jit(computed)
    arrays = [laid_out(view, memory, "f8") for view in VIEWS for memory in MEMORIES] * 3
    for x in arrays:
        for got, wanted in zip(compiled(x), computed(x), strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-13)


def test_they_are_not_copied() -> None:
    x = RNG.random((6, 10))[:, :4]
    said = pliant.explain(lambda x: np.sum(x * 2), x)
    assert said.traced.params[0].type.shape == (54,)
    assert "cop" not in said.memory
    assert pliant.trace(np.sum, x).params[0].type.shape == (6, 4)


def test_arrays_that_overlap() -> None:
    def f(x: Any, y: Any) -> Any:
        x[0] = y[1]
        y[2] *= 2
        return x.sum()

    def beside(x: Any, y: Any) -> Any:
        y[...] = x[::-1] + 1

    for _ in range(3):
        ours = RNG.random((6, 6))
        theirs = ours.copy()
        parts: list[Callable[[Any], Any]] = [
            lambda m: (m[:, :3], m[:, 2:5]), lambda m: (m[:, ::2], m[:, 1::2]), lambda m: (m[::2], m[1::2]),
            lambda m: (m[::2, :4], m[1::2, 1:5]), lambda m: (m[:, 1:], m[:, :-1]),
        ]  # fmt: skip
        for part in parts:
            for g in (f, beside):
                compiled = pliant.jit(g)
                for _ in range(CALLS):
                    np.testing.assert_allclose(compiled(*part(ours)) or 0, g(*part(theirs)) or 0, rtol=1e-14)
                    np.testing.assert_array_equal(ours, theirs)
                    ours /= 2
                    theirs /= 2


def test_a_row_written_between_the_rows_that_are_read() -> None:
    def f(x: Any, y: Any) -> Any:
        y += x[0] + x[1]

    ours = RNG.random((4, 50))
    theirs, compiled = ours.copy(), pliant.jit(f)
    for _ in range(CALLS):
        compiled(ours[::2], ours[1])
        f(theirs[::2], theirs[1])
        np.testing.assert_array_equal(ours, theirs)


def test_results_in_given_arrays_and_donated_ones() -> None:
    m = RNG.random((5, 8))
    x = m[:, :4]
    before, wanted = m.copy(), x * 3
    triple = pliant.jit(lambda x: x * 3)
    for out in (np.zeros((5, 4)), np.zeros((5, 4), order="F"), np.zeros((5, 9))[:, ::2][:, :4]):
        for _ in range(CALLS):
            assert triple(x, out=out) is out
            np.testing.assert_array_equal(out, wanted)
    for _ in range(CALLS):
        x[...] = before[:, :4]
        triple(x, out=x)
        np.testing.assert_array_equal(x, wanted)
    np.testing.assert_array_equal(m[:, 4:], before[:, 4:])
    x[...] = before[:, :4]
    for _ in range(CALLS):
        pliant.jit(lambda x: np.sort(x * 3), donate=("x",))(x.copy()[:, :3])
    np.testing.assert_array_equal(m, before)


def test_a_vector_is_written_over_with_the_memory_of_an_argument() -> None:
    """The result lies in the memory of the argument, with the elements between."""
    doubled = pliant.jit(lambda x: np.repeat(x, 2)[:-1] * 2)
    for _ in range(CALLS):
        m = RNG.random(9)
        wanted = np.repeat(m[::2], 2)[:-1] * 2
        doubled(m[::2], out=m)
        np.testing.assert_array_equal(m, wanted)


def test_what_lies_no_whole_number_of_elements_apart_has_no_memory() -> None:
    assert memory_of(laid_out("a crooked field", "aligned", "f8")) is None
    assert memory_of(np.zeros((3, 4))) is None
    assert memory_of(np.zeros((3, 4), ">f8")[:, :2]) is None
    assert memory_of(np.zeros((3, 0, 4))[::2]) is None
    found = memory_of(np.zeros((3, 4))[::-1, :2])
    assert found
    assert (found.type.shape, found.start, found.step, found.shape) == ((10,), 8, (-4, 1), (3, 2))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="uses mprotect")
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("step", [1, 2, 3, -1, -2])
@pytest.mark.parametrize("n", [1, 5, 64])
@pytest.mark.parametrize("is_at_end", [True, False])
def test_nothing_is_touched_beside_the_elements(n: int, step: int, dtype: str, *, is_at_end: bool) -> None:
    """The rows lie at an end of every other page; nobody may look at the pages between."""
    libc, page, rows = ctypes.CDLL(None, use_errno=True), mmap.PAGESIZE, 3
    pages = mmap.mmap(-1, (2 * rows + 1) * page)
    start = ctypes.addressof(ctypes.c_char.from_buffer(pages))
    whole = np.frombuffer(pages, dtype)
    each = page // whole.itemsize
    span = abs(step) * (n - 1) + 1
    table = whole[each:].reshape(rows, 2 * each)[:, :each]
    part = table[:, each - span :] if is_at_end else table[:, :span]
    x = part[:, ::step]
    x[...] = RNG.random(x.shape)
    wanted = x.copy()
    walls = [ctypes.c_void_p(start + 2 * k * page) for k in range(rows + 1)]
    assert [libc.mprotect(wall, page, 0) for wall in walls] == [0] * (rows + 1)

    def f(x: Any) -> Any:
        s = np.zeros((), x.dtype)
        for i in range(x.shape[1]):
            s += x[1, i]
        return np.exp(x), x.sum(), x.sum(0), x.T * 2, x @ x.T, np.cumsum(x, axis=1), x[:, ::-1].copy(), s

    def g(x: Any) -> Any:
        x *= 2
        x[1, 0] += 1

    def loss(x: Any) -> Any:
        return np.sum(np.abs(np.sin(x) @ x.T))

    try:
        compiled, doubled, slope = pliant.jit(f), pliant.jit(g), pliant.grad(loss)
        for _ in range(CALLS):
            for got, value in zip(compiled(x), f(wanted), strict=True):
                np.testing.assert_allclose(got, value, rtol=1e-4 if dtype == "f4" else 1e-12)
            doubled(x)
            g(wanted)
            np.testing.assert_array_equal(x, wanted)
            x /= 2
            wanted /= 2
        np.testing.assert_allclose(slope(x), slope(wanted), rtol=1e-3 if dtype == "f4" else 1e-10)
    finally:
        _ = [libc.mprotect(wall, page, 3) for wall in walls]


@pytest.mark.parametrize("view", [*VIEWS, "column-major"])
@pytest.mark.parametrize("memory", MEMORIES)
def test_arrays_from_outside(view: str, memory: str) -> None:
    x = laid_out(view, memory, "f8") if view in VIEWS else np.asfortranarray(8 * RNG.random((N, M)))

    def read(y: Any) -> Any:
        return x * y, x.sum(0), x @ x.T, x[1], x

    def write(y: Any) -> Any:
        x[1] += y
        x[:, 0] *= 2

    reading, writing = pliant.jit(read), pliant.jit(write)
    slope = pliant.grad(lambda y: np.sum(np.sin(x * y)))
    for _ in range(CALLS):
        for got, wanted in zip(reading(2.0), read(2.0), strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-13)
            assert np.shares_memory(got, x) == np.shares_memory(wanted, x)
        np.testing.assert_allclose(slope(0.5), np.sum(x * np.cos(x * 0.5)), rtol=1e-12)
        theirs = x.copy()
        theirs[1] += 3.0
        theirs[:, 0] *= 2
        writing(3.0)
        np.testing.assert_array_equal(x, theirs)
