"""Arrays that are walked along and across at once are read in tiles: whatever their dtype, shape and place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
import pytest

import pliant
from pliant.backends.llvm import bands, nests, squares, streams
from pliant.backends.llvm.compiler import compiled
from pliant.backends.llvm.squares import WIDE_SIDE
from pliant.backends.llvm.tiles import BLOCK, SIZES, turned

DTYPES = ("bool", "int8", "int16", "float16", "int32", "float32", "int64", "float64", "complex64", "complex128")
SHAPES = ((64, 64), (65, 97), (64, 300), (300, 64), (127, 129), (63, 200), (100, 128), (256, 70))


def drawn(shape: tuple[int, ...], dtype: str) -> Any:
    rng = np.random.default_rng(sum(shape))
    x = rng.integers(0, 100, shape) + 1j * rng.integers(0, 100, shape)
    return (x if dtype[0] == "c" else x.real).astype(dtype)


@pytest.fixture(params=["skylake-avx512", "emeraldrapids", "znver4", "znver5"])
def processor(request: pytest.FixtureRequest) -> Iterator[str]:
    """Two that do not look far ahead, and two that do: all kinds of code are right on any."""
    target = SimpleNamespace(widths=(16, 32, 64), cpu=request.param, has=set())
    with (
        mock.patch.object(squares, "host_target", return_value=target),
        mock.patch.object(bands, "host_target", return_value=target),
    ):
        yield request.param


@pytest.mark.parametrize(("item", "side"), [*[(item, BLOCK) for item in SIZES], (4, WIDE_SIDE)])
def test_rounds_of_shuffles_turn_a_block_over(item: int, side: int):
    lines = list[str]()
    rows = [f"%row{r}" for r in range(side)]
    known = {row: [(r, c) for c in range(side)] for r, row in enumerate(rows)}
    columns = turned(lines, rows, "v", item)
    for line in lines:
        name, text = line.strip().split(" = shufflevector v ")
        first, second, lanes = text.replace(" v %", " %").split(", ", 2)
        both = known[first] + known[second]
        known[name] = [both[int(lane.split()[-1])] for lane in lanes.split("<")[-1].rstrip(">").split(", ")]
    assert [known[c] for c in columns] == [[(r, c) for r in range(side)] for c in range(side)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.usefixtures("processor")
def test_a_transposed_array_beside_another(dtype: str, shape: tuple[int, int]):
    x, y = drawn(shape, dtype), drawn(shape[::-1], dtype)
    np.testing.assert_array_equal(pliant.jit(lambda x, y: np.where(y != 0, x.T, y))(x, y), np.where(y != 0, x.T, y))


@pytest.mark.parametrize("dtype", ["int8", "float32", "float64", "complex128"])
@pytest.mark.usefixtures("processor")
def test_arrays_that_are_larger_than_caches(dtype: str):
    x, y = drawn((1500, 1501), dtype), drawn((1501, 1500), dtype)
    np.testing.assert_array_equal(pliant.jit(lambda x, y: np.where(y != 0, x.T, y))(x, y), np.where(y != 0, x.T, y))


def test_far_arrays_are_read_in_tiles_and_near_ones_in_squares(processor: str):
    near, far = (pliant.trace(lambda x, y: x.T + y, *[np.ones((n, n))] * 2) for n in (300, 600))
    assert "@turned_8" not in compiled(near, (), (), sharing=False)[1]
    assert ("@turned_8" in compiled(far, (), (), sharing=False)[1]) == (processor == "skylake-avx512")


@pytest.mark.parametrize(
    ("cpu", "has", "way"),
    [
        ("znver4", set(), bands.ZEN),
        ("emeraldrapids", set(), bands.COVE),
        ("rocketlake", {"amx-tile"}, bands.COVE),
        ("rocketlake", set(), None),
        ("znver5", set(), None),
    ],
)
def test_processors_with_tiles_of_matrices_are_known_under_any_name(cpu: str, has: set[str], way: bands.Pace | None):
    with mock.patch.object(bands, "host_target", return_value=SimpleNamespace(cpu=cpu, has=has)):
        assert bands.pace() is way


@pytest.mark.parametrize("processor", ["znver4"], indirect=True)
@pytest.mark.usefixtures("processor")
@pytest.mark.parametrize(("large", "dtype", "asked"), [(1, "float64", 4), (1, "float32", 2), (1 << 25, "float64", 3)])
def test_bands_ask_for_what_is_read_and_for_what_is_written_in_caches(large: int, dtype: str, asked: int):
    """Once for each square, and twice where results are written past the caches and squares share no lines."""
    x = np.ones((1000, 1000), dtype)
    with mock.patch.object(streams, "LARGE", large):
        text = compiled(pliant.trace(lambda x, y: x.T + y, x, x), (), (), sharing=False)[1]
    assert text.count("@llvm.prefetch.p0(ptr %") == asked
    assert ("@row_moved" in text) == (large == 1)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_squares_are_lines_of_cache_for_processors_that_look_far(processor: str, dtype: str):
    shape = (300, 301)
    x, y = drawn(shape, dtype), drawn(shape[::-1], dtype)
    text = compiled(pliant.trace(lambda x, y: x.T + y, x, y), (), (), sharing=False)[1]
    side = 16 if dtype == "float32" and processor.startswith("znver") else 8
    assert f"shufflevector <{side} x i" in text
    assert ("llvm.prefetch.p0(ptr %" in text) != processor.startswith("znver")


@pytest.mark.parametrize(
    ("widths", "cpu", "n", "in_squares"),
    [
        ((16, 32), "x86-64", 300, False),
        ((16, 32), "x86-64", 256, True),
        ((16, 32), "x86-64", 500, True),
        ((16, 32, 64), "x86-64", 300, True),
        ((16, 32), "znver4", 300, True),
    ],
    ids=["near", "colliding", "far", "wide vectors", "looks far"],
)
def test_what_stays_in_the_first_cache_is_read_one_by_one(widths: tuple[int, ...], cpu: str, n: int, in_squares: bool):
    x, y = drawn((n, n), "float64"), drawn((n, n), "float64") + 1

    def f(x: Any, y: Any) -> Any:
        return x.T + y

    with mock.patch.object(squares, "host_target", return_value=SimpleNamespace(widths=widths, cpu=cpu)):
        text = compiled(pliant.trace(f, x, y), (), (), sharing=False)[1]
        assert ("shufflevector <8 x i64>" in text) == in_squares
        np.testing.assert_array_equal(pliant.jit(f)(x, y), f(x, y))


def test_wide_elements_are_read_in_tiles_where_the_lines_of_a_column_collide_or_come_from_far():
    for n, is_tiled in ((256, True), (250, False), (730, True)):
        fn = pliant.trace(lambda x, y: x.T + y, *[np.ones((n, n), complex)] * 2)
        assert ("@turned_16" in compiled(fn, (), (), sharing=False)[1]) == is_tiled


def add_to_itself(x: Any, y: Any) -> Any:
    x += x.T
    return x


def add_other(x: Any, y: Any) -> Any:
    x += y.T
    return x


def windows(x: Any, y: Any) -> Any:
    x[3:100, 5:90] = y[20:105, 10:107].T + x[3:100, 5:90]
    return x


def every_other(x: Any, y: Any) -> Any:
    return x[::2, ::-1].T + y[:, ::2]


def several(x: Any, y: Any) -> Any:
    return x.T * y.T + x, x.T - y, (x + y).T


@pytest.mark.parametrize("fn", [add_to_itself, add_other, windows, every_other, several], ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_tiles_of_what_is_written_and_of_windows(fn: Callable[..., Any], dtype: str):
    x, y = drawn((130, 130), dtype), drawn((130, 130), dtype) * 3
    got, wanted = pliant.jit(fn)(x.copy(), y), fn(x.copy(), y)
    for a, b in zip(np.atleast_3d(got), np.atleast_3d(wanted), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("axes", [(0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)], ids=str)
def test_axes_in_any_order(axes: tuple[int, ...]):
    x = drawn((70, 80, 90), "float64")
    np.testing.assert_array_equal(pliant.jit(lambda x: np.transpose(x, axes) * 2.0)(x), np.transpose(x, axes) * 2.0)


def test_tiles_by_several_threads():
    x, y = drawn((1501, 1501), "float32"), drawn((1501, 1501), "float32")
    f, before = pliant.jit(lambda x, y: x.T + y), pliant.threads()
    try:
        for count in (1, 2, 3):
            pliant.threads(count)
            np.testing.assert_array_equal(f(x, y), x.T + y)
    finally:
        pliant.threads(before)


@pytest.mark.parametrize("n", [7, 8, 9, 15, 16, 17, 31])
@pytest.mark.parametrize("dtype", DTYPES)
def test_stacks_of_small_matrices_turned_over(dtype: str, n: int):
    x, y = drawn((5, n, 2 * n - 7), dtype), drawn((5, 2 * n - 7, n), dtype)
    f = pliant.jit(lambda x, y: (np.where(y != 0, np.swapaxes(x, 1, 2), y), np.swapaxes(y, 1, 2)))
    for got, wanted in zip(f(x, y), f.__wrapped__(x, y), strict=True):
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("extra", range(9))
def test_parts_of_any_length_by_threads(extra: int):
    x, y = drawn((2000, 128 * 4 + extra), "float64"), drawn((128 * 4 + extra, 2000), "float64")
    f, before = pliant.jit(lambda x, y: x.T - y), pliant.threads()
    try:
        pliant.threads(2)
        np.testing.assert_array_equal(f(x, y), x.T - y)
    finally:
        pliant.threads(before)


def test_rows_that_are_read_where_they_are_written_are_read_once():
    def turned_and_shifted(x: Any, y: Any) -> Any:
        x[:, :] = x[::-1, ::-1][::-1, ::-1] * 2 + y.T + x[:, :1]
        return x

    x, y = drawn((67, 67), "float64"), drawn((67, 67), "float64")
    np.testing.assert_array_equal(pliant.jit(turned_and_shifted)(x.copy(), y), turned_and_shifted(x.copy(), y))


@pytest.mark.parametrize("extra", range(0, 16, 3))
def test_blocks_of_rows_of_any_length(extra: int):
    def sums_of_quotients(x: Any, y: Any) -> Any:
        return np.cumsum((x.T + y) / np.linalg.norm(y, axis=1)[:, None], axis=1)

    rng, rows = np.random.default_rng(extra), 4096 + extra
    x, y = rng.standard_normal((256, rows)), rng.standard_normal((rows, 256))
    np.testing.assert_allclose(pliant.jit(sums_of_quotients)(x, y), sums_of_quotients(x, y), rtol=1e-9, atol=1e-9)


FOLDS: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda z, axis: z.sum(axis),
    "max": lambda z, axis: z.max(axis),
    "min": lambda z, axis: z.min(axis),
    "argmax": lambda z, axis: z.argmax(axis),
    "any": lambda z, axis: (z > 90).any(axis),
    "all": lambda z, axis: (z != 5).all(axis),
    "several": lambda z, axis: z.sum(axis) * z.max(axis) - (z * z).sum(axis),
}
FOLDED = ((64, 65), (130, 127), (256, 256), (70, 1025), (1500, 64))
"""Shapes of what is folded; those of a power of two lie in few places of the caches."""


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("name", FOLDS)
@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "int32", "float32", "int64", "float64", "complex64"])
def test_folds_of_what_is_walked_across_beside_another(dtype: str, name: str, axis: int | None):
    if dtype[0] == "c" and name != "sum":
        pytest.skip("complex numbers have no order")

    def folded(x: Any, y: Any) -> Any:
        return FOLDS[name](np.where(y != 0, x.T, y), axis)

    with mock.patch.object(nests, "is_far", return_value=True):
        made = pliant.jit(folded)
        for shape in FOLDED:
            x, y = drawn(shape, dtype), drawn(shape[::-1], dtype)
            if dtype == "float16":
                x, y = x / np.float16(256), y / np.float16(256)  # sums below the greatest number
            got, wanted = made(x, y), folded(x, y)
            assert got.dtype == wanted.dtype
            np.testing.assert_allclose(got, wanted, rtol={"float16": 2e-3, "float32": 1e-5}.get(dtype, 1e-12))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_folds_in_tiles_hold_numbers_that_are_none_and_infinite_ones(dtype: str, axis: int | None):
    x, y = drawn((300, 700), dtype), drawn((700, 300), dtype)
    x[3, 600], x[150, 5], y[699, 299], y[0, 7] = np.nan, np.inf, -np.inf, -np.inf
    with mock.patch.object(nests, "is_far", return_value=True):
        for f in (lambda x, y: (x.T + y).sum(axis), lambda x, y: np.maximum(x.T, y).max(axis)):
            with np.errstate(invalid="ignore"):
                wanted = f(x, y)
            np.testing.assert_allclose(pliant.jit(f)(x, y), wanted, rtol=1e-4)


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_folds_in_tiles_by_several_threads_are_the_same(axis: int | None):
    rng, before = np.random.default_rng(3), pliant.threads()
    for shape in ((1501, 1403), (1024, 2048)):
        x, y = rng.normal(size=shape), rng.normal(size=shape[::-1])
        made, found = pliant.jit(lambda x, y: ((x.T - y) ** 2).sum(axis)), list[Any]()
        try:
            for count in (1, 2, 3):
                pliant.threads(count)
                found.append(made(x, y))
        finally:
            pliant.threads(before)
        np.testing.assert_array_equal(found[0], found[1])
        np.testing.assert_array_equal(found[0], found[2])
        np.testing.assert_allclose(found[0], ((x.T - y) ** 2).sum(axis), rtol=1e-12)


def test_sums_in_tiles_lose_as_little_as_others():
    x = np.random.default_rng(0).uniform(size=(1 << 13, 256)).astype("float32")
    for axis, exact in ((None, np.sum(x, dtype="float64")), (1, np.sum(x, 0, dtype="float64"))):
        got = pliant.jit(lambda x, y, axis=axis: (x.T + y).sum(axis))(x, np.zeros((256, 1 << 13), "float32"))
        np.testing.assert_allclose(got, exact, rtol=1e-7)


def test_what_is_folded_and_what_is_stored_of_the_same_elements():
    def both(x: Any, y: Any) -> Any:
        z = x.T * y + y[:, :1]
        return z, z.sum(), z.sum(1), z.max(0)

    x, y = drawn((256, 1024), "float64"), drawn((1024, 256), "float64")
    for got, wanted in zip(pliant.jit(both)(x, y), both(x, y), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-13)


def test_axes_in_any_order_that_are_folded():
    x, y = drawn((70, 128, 66), "float64"), drawn((66, 70, 128), "float64")
    with mock.patch.object(nests, "is_far", return_value=True):
        for axis in (None, 0, 1, 2, (0, 1), (0, 2), (1, 2)):

            def folded(x: Any, y: Any, axis: Any = axis) -> Any:
                return (np.transpose(x, (2, 0, 1)) * y).sum(axis)

            np.testing.assert_allclose(pliant.jit(folded)(x, y), folded(x, y), rtol=1e-13)
