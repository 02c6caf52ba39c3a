"""Arrays in unusual places of memory give NumPy's answers; a call that fails leaves nothing behind."""

from __future__ import annotations

from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import pliant
from pliant.errors import ArgumentError, DTypeError, PliantError, UnsupportedError

BACKENDS = ("reference", "llvm")


def misaligned(x: Any) -> Any:
    """A copy of x that begins between two numbers."""
    raw = np.zeros(x.nbytes + 1, np.uint8)[1:].view(x.dtype).reshape(x.shape)
    raw[...] = x
    return raw


def inside(x: Any) -> Any:
    """A copy of x with a gap after each element."""
    wide = np.zeros((*x.shape[:-1], 2 * x.shape[-1]), x.dtype)
    wide[..., ::2] = x
    return wide[..., ::2]


def field(x: Any) -> Any:
    """A copy of x among other bytes: its strides are no multiples of the element."""
    records = np.zeros(x.shape, "u1,f8,u1")
    records["f1"] = x
    return records["f1"]


LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "row-major": lambda x: x.copy(),
    "column-major": lambda x: np.array(x, order="F"),
    "reversed": lambda x: x[::-1, ::-1].copy()[::-1, ::-1],
    "transposed": lambda x: x.T.copy().T,
    "with gaps": inside,
    "misaligned": misaligned,
    "a field of records": field,
    "of the other byte order": lambda x: x.astype(x.dtype.newbyteorder()),
    "a part of a larger one": lambda x: np.pad(x, 2)[2:-2, 2:-2],
}


def read(x: Any, y: Any) -> Any:
    return x @ y.T + x.sum() * y[::-1, :1], np.cumsum(x, 0)


def write(x: Any, y: Any) -> Any:
    x[1:] += y[:-1]
    x.T[0] = 5
    x *= 2
    return x[::2], x.sum()


def write_both(x: Any, y: Any) -> None:
    y[...] = x + 1
    x -= y[::-1]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=[*LAYOUTS])
@pytest.mark.parametrize("f", [read, write, write_both])
def test_any_layout_gives_numpys_answer(f: Callable[..., Any], layout: Callable[[Any], Any], backend: str) -> None:
    compiled = pliant.jit(f, backend=backend)
    x, y = np.arange(20.0).reshape(5, 4), np.arange(20.0).reshape(5, 4) % 7
    for first, second in ((layout, layout), (np.copy, layout), (layout, np.copy), (np.copy, np.copy)):
        for _ in range(3):
            ours, theirs = (first(x), second(y)), (first(x), second(y))
            made, wanted = compiled(*ours), f(*theirs)
            for m, w in zip(made or (), wanted or (), strict=True):
                np.testing.assert_allclose(m, w, rtol=1e-14)
                assert np.shares_memory(m, ours[0]) == np.shares_memory(w, theirs[0])
            for a, b in zip(ours, theirs, strict=True):
                assert_array_equal(a, b)


@pytest.mark.parametrize("layout", [v for k, v in LAYOUTS.items() if k != "of the other byte order"])
def test_out_may_have_any_layout(layout: Callable[[Any], Any]) -> None:
    x = np.arange(20.0).reshape(5, 4)
    out = layout(np.zeros((5, 4)))
    for _ in range(3):
        assert pliant.jit(lambda x: 2 * x + 1)(x, out=out) is out
        assert_array_equal(out, 2 * x + 1)


def test_overlapping_arrays_of_two_byte_orders_are_refused() -> None:
    x = np.arange(4.0, dtype=">f8")
    with pytest.raises(DTypeError, match="arrays that overlap, one of them written, have dtypes >f8 and float64"):
        pliant.jit(write_both)(x, x.view("<f8"))
    memory = np.zeros(40, np.uint8)
    with pytest.raises(
        DTypeError, match="have dtypes >f8, and lie no whole number of elements apart\nhint: convert one"
    ):
        pliant.jit(write_both)(memory[:24].view(">f8"), memory[4:28].view(">f8"))


@pytest.mark.parametrize("shift", [-3, -1, 0, 1, 3])
def test_out_may_overlap_an_argument(shift: int) -> None:
    memory, wanted = np.arange(40.0), np.arange(40.0)
    f = pliant.jit(lambda x: x[::-1] + x)
    for _ in range(3):
        f(memory[10:30], out=memory[10 + shift : 30 + shift])
        wanted[10 + shift : 30 + shift] = wanted[10:30][::-1] + wanted[10:30]
        assert_array_equal(memory, wanted)


@pytest.mark.parametrize("shape", [(0,), (3, 0), (1,), (1, 1), ()])
def test_empty_arrays_and_arrays_of_one_element(shape: tuple[int, ...]) -> None:
    def f(x: Any, y: Any) -> Any:
        x += y
        return x * 2, x.sum()

    compiled = pliant.jit(f)
    for _ in range(3):
        ours, theirs = np.ones(shape), np.ones(shape)
        made, wanted = compiled(ours, ours), f(theirs, theirs)
        assert_array_equal(ours, theirs)
        for m, w in zip(made, wanted, strict=True):
            assert_array_equal(m, w)


def add_into(x: Any, i: Any, y: Any) -> Any:
    x[i] += y
    return x.sum()


FROZEN = np.zeros(4)
FROZEN.flags.writeable = False
BAD: dict[str, tuple[Any, ...]] = {
    "read-only": (FROZEN, np.array([0, 1]), np.ones(2)),
    "out of range": (np.zeros(4), np.array([0, 4]), np.ones(2)),
    "wrong shape": (np.zeros(4), np.array([0, 1]), np.ones(3)),
    "wrong dtype": (np.zeros(4, int), np.array([0, 1]), np.ones(2)),
    "float index": (np.zeros(4), np.array([0.0, 1.0]), np.ones(2)),
    "object array": (np.zeros(4, object), np.array([0, 1]), np.ones(2)),
    "elements in one place": (np.lib.stride_tricks.as_strided(np.zeros(1), (4,), (0,)), np.array([0, 1]), np.ones(2)),
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("before", [0, 1, 4])
@pytest.mark.parametrize("bad", BAD.values(), ids=[*BAD])
def test_a_failed_call_leaves_nothing_behind(bad: tuple[Any, ...], before: int, backend: str) -> None:
    compiled = pliant.jit(add_into, backend=backend)

    def good() -> None:
        ours, theirs = np.arange(4.0), np.arange(4.0)
        i, y = np.array([3, 1]), np.array([5.0, 7.0])
        assert compiled(ours, i, y) == add_into(theirs, i, y)
        assert_array_equal(ours, theirs)

    for _ in range(before):
        good()
    for _ in range(2):
        kept = bad[0].copy()
        with pytest.raises(PliantError):
            compiled(*bad)
        assert_array_equal(bad[0], kept)
        good()


def test_a_trace_that_fails_halfway_keeps_no_write() -> None:
    table, seen = np.zeros(3), SimpleQueue()

    def f(x: Any) -> Any:
        table[0] = x[0]
        seen.put(1)
        if seen.qsize() == 1:
            raise KeyError("the user's own")
        return table + x

    compiled = pliant.jit(f)
    with pytest.raises(KeyError):
        compiled(np.ones(3))
    assert_array_equal(table, np.zeros(3))
    assert_array_equal(compiled(np.ones(3)), [2, 1, 1])
    assert_array_equal(table, [1, 0, 0])


def test_an_array_that_was_donated_is_not_used_again() -> None:
    f = pliant.jit(lambda x: np.sin(x) + 1, donate="x")
    x = np.linspace(0, 1, 100)
    made = f(x)
    np.testing.assert_allclose(made, np.sin(np.linspace(0, 1, 100)) + 1)
    for _ in range(2):
        with pytest.raises(ArgumentError, match="used again"):
            f(x)
        np.testing.assert_allclose(f(np.zeros(100)), np.ones(100))


def test_a_row_is_donated_and_its_matrix_stays() -> None:
    y = np.arange(12.0).reshape(3, 4)
    with pytest.raises(ArgumentError, match="shares memory"):
        pliant.jit(lambda x, y: (x * 2, y * 2), donate="x")(y[1], y)
    assert_array_equal(y, np.arange(12.0).reshape(3, 4))


def _in_a_loop(x: Any) -> Any:
    made = x
    for n in range(3):
        made = x.astype(float, copy=False)
        made += n
    return made


def _of_data(x: Any) -> Any:
    made = np.asarray(x[: (x > 1).sum()], dtype=float)
    made *= 2
    return made.sum()


MAYBE_COPIES: dict[str, Callable[[Any], Any]] = {
    "astype": lambda x: x.astype(float, copy=False),
    "np.astype": lambda x: np.astype(x, np.float64, copy=False),
    "asarray": lambda x: np.asarray(x, dtype="f8"),
    "array": lambda x: np.array(x, dtype=float, copy=None),
    "ascontiguousarray": lambda x: np.ascontiguousarray(x, dtype=float),
    "require": lambda x: np.require(x, dtype=float),
    "of a view": lambda x: x[::-1].astype(float, copy=False),
    "its own dtype": lambda x: x.astype(x.dtype, copy=False),
    "the other order": lambda x: np.asarray(x, dtype=">f8"),
    "no dtype": lambda x: np.asarray(x),
}


@pytest.mark.parametrize("dtype", [">f8", "<f8", ">i4"])
@pytest.mark.parametrize("make", MAYBE_COPIES.values(), ids=[*MAYBE_COPIES])
def test_an_array_in_another_order_of_bytes_is_copied_to_be_in_this_one(make: Callable[[Any], Any], dtype: str) -> None:
    def f(x: Any) -> Any:
        made = make(x)
        made[0] = -1
        return made, x.dtype == np.float64

    ours, theirs = np.arange(3).astype(dtype), np.arange(3).astype(dtype)
    made, wanted = pliant.jit(f)(ours), f(theirs)
    assert made[1] == wanted[1]
    assert_array_equal(made[0], wanted[0])
    assert_array_equal(ours, theirs)


@pytest.mark.parametrize("dtype", [">f8", "<f8"])
@pytest.mark.parametrize("f", [_in_a_loop, _of_data])
def test_so_it_is_in_a_loop_and_with_extents_of_data(f: Callable[[Any], Any], dtype: str) -> None:
    ours, theirs = np.arange(3).astype(dtype), np.arange(3).astype(dtype)
    assert_array_equal(pliant.jit(f)(ours), f(theirs))
    assert_array_equal(ours, theirs)


def test_one_of_two_arrays_in_two_orders_of_bytes_is_not_copied_by_data() -> None:
    def f(x: Any, y: Any) -> Any:
        one = x if y[0] > 0 else y
        made = np.asarray(one, dtype=float)
        made[0] = 1
        return made

    with pytest.raises(
        UnsupportedError, match=r"depends on data: it is one of two arrays(.|\n)*np.asarray\(one(.|\n)*hint: x.ast"
    ):
        pliant.jit(f)(np.ones(3, ">f8"), np.ones(3))
