"""Large results are written past the caches: what NumPy gives, wherever they begin and end, and nothing beside them."""

from __future__ import annotations

import ctypes
import mmap
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.backends.llvm import nests, prefetch, streams
from pliant.backends.llvm.compiler import assembly, can, routine_of
from pliant.backends.llvm.jit import host_target
from pliant.frontend.retrace import trace_program
from pliant.frontend.signature import flatten, leaf_names
from pliant.kernel import split
from pliant.kernel.build import build
from pliant.pipeline import optimise

DTYPES = ("bool", "int8", "int16", "float16", "int32", "float32", "float64", "complex64", "complex128")
COUNTS = (512, 2049, 10_001)
SHAPES = ((700, 900), (1200, 64), (64, 2100), (300, 2051), (129, 600))

pytestmark = pytest.mark.skipif("sse2" not in host_target().has, reason="other processors write as usual")


@pytest.fixture(autouse=True, params=["tiles", "bands"])
def any_size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """All results are large, all that they are made of is far, and what runs in parts is large."""
    monkeypatch.setattr(nests, "are_far", lambda *_: request.param == "bands")
    monkeypatch.setattr(streams, "LARGE", 1)
    monkeypatch.setattr(prefetch, "FAR", 1)
    monkeypatch.setattr(split, "LEAST", 10_000)
    monkeypatch.setattr(split, "PART", 5_000)
    before = pliant.threads()
    yield
    pliant.threads(before)


def drawn(shape: int | tuple[int, ...], dtype: str) -> Any:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 100, shape) + 1j * rng.integers(0, 100, shape)
    return (x if dtype[0] == "c" else x.real).astype(dtype)


def text_of(f: Any, *xs: Any) -> str:
    leaves, structure = flatten((xs, {}))
    program = trace_program(f, leaves, structure, leaf_names([f"x{i}" for i in range(len(xs))], (xs, {})))
    return assembly(build(optimise(program.fn), can, routine_of, owned=program.pinned))[0]


def is_past_caches(f: Any, *xs: Any) -> bool:
    return "!nontemporal" in text_of(f, *xs)


def several(x: Any) -> Any:
    return np.where(x != 0, x, 1), x[::-1] * x, x * 2


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_results_of_any_length(dtype: str, count: int):
    x, f = drawn(count, dtype), pliant.jit(several)
    for threads in (1, 2):
        pliant.threads(threads)
        for got, wanted in zip(f(x), several(x), strict=True):
            np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_transposes(dtype: str, shape: tuple[int, int]):
    def turned(x: Any, y: Any) -> Any:
        return x.T * y, np.where(y != 0, x.T, y), x.T.copy()

    x, y = drawn(shape, dtype), drawn(shape[::-1], dtype)
    for got, wanted in zip(pliant.jit(turned)(x, y), turned(x, y), strict=True):
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("axes", [(0, 2, 1), (1, 0, 2), (2, 0, 1), (2, 1, 0)], ids=str)
def test_axes_in_any_order(axes: tuple[int, ...]):
    def f(x: Any) -> Any:
        return np.transpose(x, axes) * 2

    x = drawn((6, 150, 600), "float32")[:, ::-1, 1:]
    np.testing.assert_array_equal(pliant.jit(f)(x), f(x))


def test_rows_that_begin_anywhere_in_a_line():
    def f(x: Any, row: Any) -> Any:
        return x[:, ::-1] + row, x * row

    x, row = drawn((50, 1003), "float64"), drawn(1003, "float64")
    assert is_past_caches(f, x, row)
    for got, wanted in zip(pliant.jit(f)(x, row), f(x, row), strict=True):
        np.testing.assert_array_equal(got, wanted)


def test_results_of_different_dtypes():
    def f(x: Any) -> Any:
        return x * 2, (x * 2).astype(np.float32), x > 50

    x = drawn(5003, "float64")
    for got, wanted in zip(pliant.jit(f)(x), f(x), strict=True):
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_turned_results_of_different_dtypes(dtype: str, shape: tuple[int, int]):
    def f(x: Any, y: Any) -> Any:
        return y < x.T, x.T * y, (x.T + y).astype(np.float32), x.T * y + 2j, (x.T - y)[::-1]

    x, y = drawn(shape, dtype), drawn(shape[::-1], dtype)
    for got, wanted in zip(pliant.jit(f)(x, y), f(x, y), strict=True):
        np.testing.assert_array_equal(got, wanted)


def double(x: Any, out: Any) -> None:
    out[...] = 2 * x


def turn(x: Any, out: Any) -> None:
    out[...] = 2 * x.T


@pytest.mark.parametrize("first", [0, 1, 5, 15, 16])
def test_arrays_of_the_caller_begin_anywhere_in_a_line(first: int):
    x, out = drawn(5000, "float32"), np.full(5100, -1, "float32")
    assert is_past_caches(double, x, out[:5000])
    pliant.jit(double)(x, out[first : first + 5000])
    np.testing.assert_array_equal(out[first : first + 5000], 2 * x)
    assert (out[:first] == -1).all()
    assert (out[first + 5000 :] == -1).all()


def test_two_arrays_of_the_caller_that_begin_at_different_places_of_a_line():
    def both(x: Any, y: Any, z: Any) -> None:
        y[...], z[...] = x + 1, x - 1

    x, y, z = drawn(5000, "float64"), np.zeros(5009), np.zeros(5009)
    pliant.jit(both)(x, y[1:5001], z[4:5004])
    np.testing.assert_array_equal(y, np.pad(x + 1, (1, 8)))
    np.testing.assert_array_equal(z, np.pad(x - 1, (4, 5)))


def shifted(x: Any) -> Any:
    return x + 1


def waves(x: Any) -> Any:
    return np.sin(x) * np.cos(x)


def total(x: Any) -> Any:
    return np.sum(x)


def few(x: Any) -> Any:
    return x[:100] + 1


def add(x: Any) -> None:
    x += 1


@pytest.mark.parametrize("f", [shifted, np.exp, waves])
def test_large_results_go_past_the_caches(f: Any):
    assert is_past_caches(f, drawn(5000, "float64"))


@pytest.mark.parametrize("f", [total, few, add, np.cumsum])
def test_what_is_short_and_what_the_step_reads_stay_in_the_caches(f: Any):
    assert not is_past_caches(f, drawn(5000, "float64"))


def test_a_result_that_a_later_step_reads_stays_in_the_caches():
    def read(x: Any) -> Any:
        y = np.cumsum(x)
        return y, np.cumsum(y)

    x = drawn(5000, "float64")
    assert not is_past_caches(read, x)


def test_small_results_stay_in_the_caches(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(streams, "LARGE", 1 << 25)
    assert not is_past_caches(shifted, drawn(5000, "float64"))


def test_writes_past_the_caches_are_seen_before_later_ones():
    text = text_of(shifted, drawn(5000, "float64"))
    assert text.index("@llvm.x86.sse.sfence") > text.index("!nontemporal")


class Guarded:
    """Arrays that end, or begin, where no memory may be touched."""

    def __init__(self) -> None:
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.closed = list[int]()
        self.pages = list[mmap.mmap]()

    def array(self, values: Any, *, is_at_end: bool) -> Any:
        page, size = mmap.PAGESIZE, values.nbytes
        count = -(-size // page) + 2
        pages = mmap.mmap(-1, count * page)
        start = ctypes.addressof(ctypes.c_char.from_buffer(pages))
        place = (count - 1) * page - size if is_at_end else page
        made = np.frombuffer(pages, values.dtype, values.size, place).reshape(values.shape)
        made[...] = values
        self.closed += [start, start + (count - 1) * page]
        for address in self.closed[-2:]:
            assert self.libc.mprotect(ctypes.c_void_p(address), page, 0) == 0
        self.pages.append(pages)
        return made

    def open(self) -> None:
        for address in self.closed:
            self.libc.mprotect(ctypes.c_void_p(address), mmap.PAGESIZE, 3)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="uses mprotect")
@pytest.mark.parametrize("is_at_end", [True, False])
@pytest.mark.parametrize(("f", "shape"), [(double, (5003,)), (turn, (301, 700)), (turn, (700, 301))])
@pytest.mark.parametrize("dtype", ["int8", "float32", "float64"])
def test_nothing_is_touched_outside_the_arrays(
    f: Callable[..., Any], shape: tuple[int, ...], dtype: str, is_at_end: bool
):
    values, guarded = drawn(shape, dtype), Guarded()
    x = guarded.array(values, is_at_end=is_at_end)
    out = guarded.array(np.zeros(shape[::-1], dtype), is_at_end=is_at_end)
    try:
        pliant.jit(f)(x, out)
        np.testing.assert_array_equal(out, (2 * values.T).astype(dtype))
    finally:
        guarded.open()


@pytest.mark.parametrize(
    ("cache", "count", "is_past"), [(30_000, 1200, False), (30_000, 1300, True), (30_000, 800, False), (0, 1300, False)]
)
def test_what_does_not_fit_beside_the_arguments(
    monkeypatch: pytest.MonkeyPatch, cache: int, count: int, *, is_past: bool
) -> None:
    monkeypatch.setattr(streams, "LARGE", 1 << 25)
    monkeypatch.setattr(streams, "LEAST", 8000)
    monkeypatch.setattr(streams, "last_cache", lambda: cache)
    x, y = np.zeros(count), np.zeros(count)
    assert is_past_caches(lambda x, y: 2.5 * x + y, x, y) == is_past


def test_the_size_of_the_last_cache() -> None:
    assert streams.last_cache() == 0 or streams.last_cache() >= 1 << 18
