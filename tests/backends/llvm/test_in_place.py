"""Programs that write what they read: with shared memory, without, and by NumPy, bit for bit."""

from __future__ import annotations

import ctypes
import mmap
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pliant.backends.llvm import BACKEND
from pliant.frontend.program import Program
from pliant.frontend.retrace import trace_program
from pliant.frontend.signature import flatten, leaf_names
from pliant.pipeline import optimise
from tests.backends.llvm.test_streams import text_of

SIZES = [1, 2, 3, 7, 33, 100, 101, 1000, 5000]


def down(x: Any) -> None:
    x[1:] = x[:-1]


def up(x: Any) -> None:
    x[:-1] = x[1:]


def far(x: Any) -> None:
    x[5:] += x[:-5]
    x[:-3] *= x[3:]


def stencil(x: Any) -> None:
    x[1:-1] += 0.25 * (x[:-2] + x[2:])


def wide_stencil(x: Any) -> None:
    x[7:-9] = x[:-16] * 0.5 + x[16:] - x[6:-10]


def reversed_sum(x: Any) -> None:
    x += x[::-1]


def backward_stencil(x: Any) -> None:
    x[-2:0:-1] = x[-1:1:-1] + 3 * x[-3::-1]


def every_other(x: Any) -> None:
    y, z = x[::2], x[1::2]
    n = min(y.shape[0], z.shape[0])
    y[:n] += z[:n]
    z[:n] -= y[:n]


def chain(x: Any) -> None:
    x *= 2
    x += 1
    np.sqrt(x, out=x)


def shifted_twice(x: Any) -> None:
    x[1:] = x[:-1]
    x[1:] = x[:-1]
    x[:-1] += x[1:]


def rows(x: Any) -> None:
    x[1:-1, 1:-1] = 0.5 * (x[:-2, 1:-1] + x[2:, 1:-1])


def five_points(x: Any) -> None:
    x[1:-1, 1:-1] = 0.25 * (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:])


def columns(x: Any) -> None:
    x[:, 1:] -= x[:, :-1]
    x[1:, :] *= x[:-1, :]


def transposed(x: Any) -> None:
    x.T[...] = x


def symmetric(x: Any) -> None:
    x += x.T


def flipped(x: Any) -> None:
    x[1:, ::-1] += x[:-1, ::-1]


def centred(x: Any) -> None:
    x -= x.mean(axis=0)
    x /= 1 + np.abs(x).max(axis=1, keepdims=True)


def sums(x: Any) -> None:
    x[0] = x.sum(axis=0)
    x[:, 0] += np.cumsum(x[:, 1])


def broadcast_row(x: Any) -> None:
    x += np.broadcast_to(x[0], x.shape)


def cumulated(x: Any) -> None:
    np.cumsum(x, out=x)
    x[::2] = x[::-2]


def red_black(x: Any) -> None:
    x[1:-1:2] = 0.5 * (x[:-2:2] + x[2::2])
    x[2:-1:2] = 0.5 * (x[1:-2:2] + x[3::2])


def edges(x: Any) -> None:
    if x.shape[0] > 2:
        x[1:-1] = 0.5 * (x[:-2] + x[2:])
        x[:1] = x[1:2]
        x[-1:] = x[-2:-1]


def halves(x: Any) -> None:
    n = x.shape[0] // 2
    x[:n] = x[n : 2 * n] * 2
    x[n : 2 * n] -= x[:n]
    x[1 : n + 1] += x[:n]


VECTORS = [
    down, up, far, stencil, wide_stencil, reversed_sum, backward_stencil, every_other, chain, shifted_twice, cumulated,
    red_black, edges, halves,
]  # fmt: skip
MATRICES = [rows, five_points, columns, transposed, symmetric, flipped, centred, sums, broadcast_row]


def traced(f: Callable[..., Any], *xs: Any) -> Program:
    leaves, structure = flatten((xs, {}))
    return trace_program(f, leaves, structure, leaf_names([f"x{i}" for i in range(len(xs))], (xs, {})))


def check(f: Callable[..., Any], *xs: Any) -> Any:
    """Run on copies in three ways; the program with shared memory."""
    program = traced(f, *xs)
    fn = optimise(program.fn)
    shared = BACKEND.compile(fn, pinned=program.pinned)
    apart = BACKEND.compile(fn, pinned=program.pinned, sharing=False)
    wanted, first, second = ([x.copy() for x in xs] for _ in range(3))
    f(*wanted)
    shared.run(*first)
    apart.run(*second)
    for name, x, y, z in zip(program.pinned, wanted, first, second, strict=False):
        np.testing.assert_array_equal(y, z, err_msg=f"{name}: shared against apart")
        np.testing.assert_array_equal(y, x, err_msg=f"{name}: against NumPy")
    return shared


def matrix(n: int, dtype: str = "float64") -> Any:
    return (np.arange(n * n).reshape(n, n) % 97 + 1).astype(dtype) / 8


@pytest.mark.parametrize("n", [*SIZES])
@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
@pytest.mark.parametrize("f", VECTORS)
def test_vectors_are_what_numpy_makes_of_them(f: Callable[..., Any], dtype: str, n: int):
    if f is chain and dtype != "float64":
        return  # sines differ by a rounding
    if f is cumulated and n > 1000 and dtype != "float64":
        return
    check(f, (np.arange(1.0, n + 1) % 89 / 8).astype(dtype))


@pytest.mark.parametrize("n", [1, 2, 3, 7, 33, 101])
@pytest.mark.parametrize("f", MATRICES)
def test_matrices_are_what_numpy_makes_of_them(f: Callable[..., Any], n: int):
    if f is rows or f is five_points or n > 1:
        check(f, matrix(n))


def larger(x: Any, y: Any) -> None:
    np.maximum(x, y, out=x)


def chosen(x: Any, y: Any) -> None:
    x[y > 0] = 1


def size(x: Any, y: Any) -> None:
    np.abs(x, out=x)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8"])
@pytest.mark.parametrize("f", [larger, chosen, size], ids=lambda f: f.__name__)
def test_a_choice_of_what_lies_there_is_no_store_by_a_mask(f: Callable[..., Any], dtype: str):
    x, y = (np.random.default_rng(n).integers(-9, 9, 1003).astype(dtype) for n in (0, 1))
    assert " = freeze " in text_of(f, x, y)  # LLVM does not know then where it lies
    check(f, x, y)


def softmax(x: Any) -> None:
    x -= x.max(axis=1, keepdims=True)
    np.exp(x, out=x)
    x /= x.sum(axis=1, keepdims=True)


def moved_rows(x: Any) -> None:
    greatest = x.max(axis=1, keepdims=True)
    x[1:] = np.exp(x[:-1] - greatest[:-1])
    x /= x.sum(axis=1, keepdims=True)


def softmax_of_others(x: Any) -> None:
    e = np.exp(x - x.max(axis=1, keepdims=True))
    x[...] = e / e.sum(axis=1, keepdims=True) + x[::-1]


def softmax_from_the_right(x: Any) -> None:
    e = np.exp(x - x.max(axis=1, keepdims=True))
    x[:, ::-1] = e / e.sum(axis=1, keepdims=True)


def added_softmax(x: Any) -> None:
    e = np.exp(x - x.max(axis=1, keepdims=True))
    y = e / e.sum(axis=1, keepdims=True)
    x *= 2
    x += y
    x /= x.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("shape", [(200, 300), (33, 1000), (301, 40)])
@pytest.mark.parametrize("f", [softmax, moved_rows, softmax_of_others, softmax_from_the_right, added_softmax])
def test_nests_that_share_their_rows(f: Callable[..., Any], shape: tuple[int, int]):
    x = np.random.default_rng(0).standard_normal(shape)
    program = traced(f, x)
    fn = optimise(program.fn)
    shared, apart, wanted = x.copy(), x.copy(), x.copy()
    BACKEND.compile(fn, pinned=program.pinned).run(shared)
    BACKEND.compile(fn, pinned=program.pinned, sharing=False).run(apart)
    f(wanted)
    np.testing.assert_array_equal(shared, apart)
    np.testing.assert_allclose(shared, wanted, rtol=1e-10, atol=1e-12)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="uses mprotect")
@pytest.mark.parametrize("is_at_end", [True, False])
@pytest.mark.parametrize("f", VECTORS)
def test_nothing_is_touched_outside_the_array(f: Callable[..., Any], is_at_end: bool):
    libc, page, n = ctypes.CDLL(None, use_errno=True), mmap.PAGESIZE, 1501
    pages = mmap.mmap(-1, 6 * page)
    start = ctypes.addressof(ctypes.c_char.from_buffer(pages))
    guarded = np.frombuffer(pages, np.float64, n, 5 * page - 8 * n if is_at_end else page)
    wanted = np.arange(1.0, n + 1) % 89 / 8
    guarded[...] = wanted
    assert libc.mprotect(ctypes.c_void_p(start), page, 0) == 0
    assert libc.mprotect(ctypes.c_void_p(start + 5 * page), page, 0) == 0
    try:
        program = traced(f, wanted)
        BACKEND.compile(optimise(program.fn), pinned=program.pinned).run(guarded)
        f(wanted)
        np.testing.assert_array_equal(guarded, wanted)
    finally:
        libc.mprotect(ctypes.c_void_p(start), page, 3)
        libc.mprotect(ctypes.c_void_p(start + 5 * page), page, 3)
