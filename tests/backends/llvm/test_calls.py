"""How native code is called: layouts, memory, threads, errors, the lean entry."""

from __future__ import annotations

import ctypes
import mmap
import sys
import threading

import numpy as np
import pytest

from pliant.backends.calls import MISSED, Array, Call, Constant, Container, Given, Number, Result
from pliant.backends.llvm import BACKEND, jit
from pliant.backends.llvm.entry import make_entry
from pliant.core.build import trace
from pliant.core.types import Type
from pliant.errors import IndexRangeError
from pliant.ops.elementwise import add, mul
from pliant.ops.index import Gather
from pliant.ops.reduce import reduce_sum
from pliant.ops.shape import Concatenate, Slice
from pliant.ops.sort import Sort
from pliant.ops.transcendental import Exp

VECTOR = Type("f64", (10,))
FIRST = Result(0, "array")
PAIR = Container(tuple, (FIRST, Result(1, "scalar")))


def compiled(f, *types):
    return BACKEND.compile(trace(f, *types))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="uses mprotect")
@pytest.mark.parametrize("n", [1, 3, 4, 7, 33, 510, 512])
def test_nothing_is_read_behind_the_end_of_an_array(n):
    libc = ctypes.CDLL(None, use_errno=True)
    page = mmap.PAGESIZE
    pages = mmap.mmap(-1, 2 * page)
    start = ctypes.addressof(ctypes.c_char.from_buffer(pages))
    x = np.frombuffer(pages, np.float64, n, page - 8 * n)
    x[...] = np.arange(n)
    assert libc.mprotect(ctypes.c_void_p(start + page), page, 0) == 0
    try:
        f = compiled(lambda v: (reduce_sum(Exp()(mul(v, -1.0))), Slice((n - 1,), (-1,), (n,))(v)), Type("f64", (n,)))
        total, back = f([x])
        np.testing.assert_allclose(total, np.exp(-np.arange(n)).sum())
        np.testing.assert_array_equal(back, np.arange(n)[::-1])
    finally:
        libc.mprotect(ctypes.c_void_p(start + page), page, 3)


def test_an_index_out_of_range_shows_where_it_was_used():
    f = compiled(lambda x, i: Gather()(x, i), VECTOR, Type("i64", (3,)))
    with pytest.raises(IndexRangeError, match=r"index 12 is out of range for axis 0 of extent 10") as error:
        f([np.zeros(10), np.array([0, 12, 3])])
    assert "Gather()(x, i)" in str(error.value)
    np.testing.assert_array_equal(f([np.arange(10.0), np.array([0, 9, 3])])[0], [0, 9, 3])


def test_many_threads_may_call_at_once():
    f = compiled(lambda x, y: (reduce_sum(mul(x, Exp()(y))), Concatenate(0)(x, Exp()(y))), *[Type("f64", (5000,))] * 2)
    rng = np.random.default_rng(0)
    failed = []

    def work(seed):
        x, y = np.random.default_rng(seed).random((2, 5000))
        for _ in range(30):
            total, both = f([x, y])
            if not (np.isclose(total, (x * np.exp(y)).sum()) and np.allclose(both[5000:], np.exp(y))):
                failed.append(seed)

    threads = [threading.Thread(target=work, args=(int(rng.integers(1000)),)) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert failed == []


def test_host_steps_stand_between_native_ones():
    f = compiled(lambda x: add(Sort(0)(mul(x, -1.0)), 1.0), Type("c128", (10,)))
    x = np.arange(10.0) * (1 + 1j)
    np.testing.assert_array_equal(f([x])[0], np.sort(-x) + 1)


@pytest.fixture(scope="module")
def entry():
    f = compiled(lambda x, y, s: (add(x, y), mul(reduce_sum(x), s)), VECTOR, VECTOR, Type("f64"))
    made = make_entry(f, Call((Array(0), Array(1), Number(2, float)), PAIR))
    if made is None:
        pytest.skip("no lean entry on this Python")
    return made


def test_the_lean_entry_returns_arrays_and_numpy_scalars(entry):
    x, y = np.arange(10.0), np.ones(10)
    total, scaled = entry(x, y, 2.0)
    np.testing.assert_array_equal(total, x + y)
    assert type(scaled) is np.float64
    assert scaled == 90


@pytest.mark.parametrize(
    "args",
    [
        (),
        (np.ones(10), np.ones(10)),
        (np.ones(10), np.ones(10), 2),
        (np.ones(10), np.ones(10), np.float64(2)),
        (np.ones(9), np.ones(10), 2.0),
        (np.ones((2, 5)), np.ones(10), 2.0),
        (np.ones(10, "f4"), np.ones(10), 2.0),
        (np.ones(10, ">f8"), np.ones(10), 2.0),
        (np.ones(20)[::2], np.ones(10), 2.0),
        (np.frombuffer(bytes(81), np.uint8)[1:].view(np.float64), np.ones(10), 2.0),
        ([1.0] * 10, np.ones(10), 2.0),
        (np.ma.ones(10), np.ones(10), 2.0),
        (None, None, None),
    ],
)
def test_the_lean_entry_refuses_everything_else(entry, args):
    assert entry(*args) is MISSED


def test_the_lean_entry_refuses_keywords(entry):
    assert entry(np.ones(10), np.ones(10), s=2.0) is MISSED


def test_the_lean_entry_keeps_reference_counts(entry):
    x, y = np.ones(10), np.ones(10)
    dtype = np.dtype("f8")
    before = [sys.getrefcount(o) for o in (x, y, dtype, MISSED)]
    for _ in range(100):
        entry(x, y, 2.0)
        entry(x, y)
    assert [sys.getrefcount(o) for o in (x, y, dtype, MISSED)] == before


@pytest.mark.parametrize(
    ("kind", "dtype", "good", "bad"),
    [
        (int, "i64", -(2**63), 2**63),
        (float, "f64", 1.5, 1),
        (complex, "c128", 1 + 2j, 1.0),
        (bool, "bool", True, 1),
        (np.float32, "f32", np.float32(1.5), np.float64(1.5)),
        (np.complex64, "c64", np.complex64(1 + 2j), 1.0),
        (np.int8, "i8", np.int8(-7), -7),
        (np.bool_, "bool", np.True_, True),
    ],
)
def test_numbers_enter_as_scalars_of_the_parameters_dtype(kind, dtype, good, bad):
    f = compiled(lambda s: (s, add(s, s)), Type(dtype))
    made = make_entry(f, Call((Number(0, kind),), PAIR))
    first, second = made(good)
    assert first == good
    once = np.array([good]).astype(first.dtype)
    assert second == (once + once)[0]
    assert made(bad) is MISSED


def test_a_python_int_enters_within_its_limits():
    made = make_entry(compiled(lambda s: (add(s, s),), Type("i64")), Call((Number(0, int, (-128, 127)),), FIRST))
    assert [made(127), made(-128)] == [254, -256]
    assert made(128) is MISSED
    assert made(-129) is MISSED


def test_the_lean_entry_refuses_an_index_out_of_range():
    f = compiled(lambda x, i: Gather()(x, i), VECTOR, Type("i64", (1,)))
    made = make_entry(f, Call((Array(0), Array(1)), FIRST))
    assert made(np.arange(10.0), np.array([4])) == 4
    assert made(np.arange(10.0), np.array([10])) is MISSED


def test_the_lean_entry_returns_arguments_and_constants():
    f = compiled(lambda x, y: add(x, y), VECTOR, VECTOR)
    returned = Container(tuple, (FIRST, Container(list, (Given(0), Constant(None))), Given(1)))
    made = make_entry(f, Call((Array(0), Array(1)), returned))
    x, y = np.ones(10), np.ones(10)
    before = [sys.getrefcount(o) for o in (x, y, None)]
    total, (first, nothing), second = made(x, y)
    np.testing.assert_array_equal(total, np.full(10, 2))
    assert first is x
    assert second is y
    assert nothing is None
    del first, second
    for _ in range(100):
        made(x, y)
    assert [sys.getrefcount(o) for o in (x, y)] == before[:2]


def test_the_lean_entry_refuses_arrays_that_overlap():
    f = compiled(lambda x, y: add(x, y), VECTOR, VECTOR)
    made = make_entry(f, Call((Array(0), Array(1)), FIRST, apart=((0, 1),)))
    x = np.ones(30)
    for first, second, meets in (
        (0, 10, False),
        (10, 0, False),
        (0, 20, False),
        (0, 9, True),
        (5, 0, True),
        (3, 3, True),
    ):
        answer = made(x[first : first + 10], x[second : second + 10])
        assert (answer is MISSED) == meets


def entry_of_many(count):
    """An entry that takes and returns so many arrays, a row of them."""
    run = compiled(lambda *vs: tuple([mul(v, 2.0) for v in vs]), *[VECTOR] * count)
    arguments = Container(list, tuple([Array(n) for n in range(count)]))
    results = Container(tuple, tuple([Result(n, "array") for n in range(count)]))
    return run, Call((arguments,), results)


def test_the_code_of_an_entry_is_linear_in_the_number_of_arrays(monkeypatch):
    sizes = []

    def noted(*args):
        made = compiled_module(*args)
        sizes.append(len(made))
        return made

    compiled_module = jit.compiled
    calls = [entry_of_many(count) for count in (32, 128)]
    monkeypatch.setattr(jit, "compiled", noted)
    for run, call in calls:
        make_entry(run, call)
    few, many = sizes
    assert many < 5 * few


@pytest.mark.parametrize("count", [2, 40])
def test_an_entry_of_many_arrays_keeps_reference_counts(count):
    entry = make_entry(*entry_of_many(count))
    given = [np.full(10, float(n)) for n in range(count)]
    wrong = [*given[:-1], given[-1].astype(np.float32)]
    before = [sys.getrefcount(x) for x in (*given, *wrong)]
    for _ in range(10):
        assert entry(wrong) is MISSED
        made = entry(given)
        np.testing.assert_array_equal(made, [2 * x for x in given])
        assert {sys.getrefcount(x) for x in made} == {3}  # of the tuple, of the loop and of the call
        del made
    assert [sys.getrefcount(x) for x in (*given, *wrong)] == before
