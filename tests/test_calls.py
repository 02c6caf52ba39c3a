"""Calls of compiled functions: without a Python frame, equal to NumPy's, safe with whatever comes."""

from __future__ import annotations

import collections
import functools
import gc
import sys
import threading
import tracemalloc
import weakref
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.backends import layout
from pliant.errors import ArgumentError, PliantError

pytestmark = pytest.mark.skipif(not layout.is_known(), reason="no native entries on this Python")

Pair = collections.namedtuple("Pair", "left right")


def frames(call: Any) -> list[str]:
    """The Python functions that run during a call."""
    seen: list[str] = []

    def note(frame: Any, event: str, _: Any) -> None:
        if event == "call":
            seen.append(frame.f_code.co_qualname)

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return seen[1:]  # the first is `call` itself


def matrix() -> Any:
    return np.arange(12.0).reshape(3, 4)


def read_only() -> Any:
    x = matrix()
    x.flags.writeable = False
    return x


def write(x: Any, y: Any) -> None:
    x[1] += y[0]


def twice(x: Any) -> Any:
    x *= 2
    return x


def view_after_write(x: Any) -> Any:
    x[:, 0] = 7
    return x[:, :2], np.sum(x)


CALLS: dict[str, tuple[Any, Any]] = {
    "arrays": (lambda x, y, z: x + y * z, lambda: ((matrix(), matrix(), matrix()), {})),
    "python numbers": (lambda x, a, b: x * a + b, lambda: ((matrix(), 2.5, 3), {})),
    "python numbers out": (lambda a, b, c, d: (a * 2, b + 1, c * 1j, not d), lambda: ((2.5, 3, 1 + 2j, True), {})),
    "numpy numbers": (lambda x, a, b: x * a + b, lambda: ((matrix(), np.float32(2.5), np.int8(3)), {})),
    "strided": (lambda x: np.cumsum(x, axis=0), lambda: ((matrix()[:, ::2],), {})),
    "reversed": (lambda x: np.cumsum(x, axis=0), lambda: ((matrix()[::-1, ::-2],), {})),
    "column-major": (lambda x: np.cumsum(x, axis=0), lambda: ((np.asfortranarray(matrix()),), {})),
    "broadcast": (lambda x: np.cumsum(x, axis=0), lambda: ((np.broadcast_to(np.arange(4.0), (3, 4)),), {})),
    "strided complex": (lambda x: x + 1, lambda: (((matrix() * (1 + 2j))[::2, ::3],), {})),
    "strided bytes": (lambda x: x + x, lambda: ((np.arange(24, dtype="i1")[::-3],), {})),
    "empty": (lambda x: x + 1, lambda: ((np.ones((3, 0, 2)),), {})),
    "rank 0": (lambda x: x + 1, lambda: ((np.array(3.0),), {})),
    "read-only": (lambda x: x.T + 1, lambda: ((read_only(),), {})),
    "static": (lambda x, how, n: np.sum(x) if how == "sum" else x * n, lambda: ((matrix(), "sum", None), {})),
    "keywords": (
        lambda x, *, scale, shift: x * scale + shift,
        lambda: ((matrix(),), {"shift": 1.0, "scale": matrix()}),
    ),
    "dict": (lambda p: {"b": p["a"] @ p["b"].T}, lambda: (({"b": matrix(), "a": matrix()},), {})),
    "list": (lambda xs: [x + 1 for x in xs], lambda: (([matrix(), 2.0, matrix()],), {})),
    "nested": (
        lambda p: ((p["a"][0][0], [p["a"][1] + 1]), {}, None, ()),
        lambda: (({"a": ((matrix(),), matrix()), "n": None, 3: []},), {}),
    ),
    "named tuple": (lambda p: p.left - p.right, lambda: ((Pair(matrix(), 1.0),), {})),
    "named tuple out": (lambda x: Pair(x + 1, [x * 2]), lambda: ((matrix(),), {})),
    "identity": (lambda x: x, lambda: ((matrix(),), {})),
    "identities": (lambda x, y: (y, [x], x), lambda: ((matrix(), matrix()), {})),
    "views": (lambda x: (x[::2], x.T, x[1:, ::-1], x.reshape(-1), x[None]), lambda: ((matrix(),), {})),
    "a view twice": (lambda x: (y := x[::2], [y], x[::2]), lambda: ((matrix(),), {})),
    "views of strided": (lambda x: (x[::2], x.T, x[..., None]), lambda: ((matrix()[::-1, ::2],), {})),
    "views of read-only": (lambda x: (x[::2], np.broadcast_to(x, (2, 3, 4))), lambda: ((read_only(),), {})),
    "views of results": (lambda x: ((y := x + 1), y[::2], y.T), lambda: ((matrix(),), {})),
    "real and imaginary": (lambda z: (z.real, z.imag, z.view("f8")), lambda: ((matrix() * (1 + 2j),), {})),
    "write": (write, lambda: ((matrix(), matrix()), {})),
    "write strided": (write, lambda: ((matrix()[:, ::-2], matrix()[:, 1:3]), {})),
    "write and return": (twice, lambda: ((matrix(),), {})),
    "write strided and return": (twice, lambda: ((matrix().T,), {})),
    "view after write": (view_after_write, lambda: ((matrix(),), {})),
    "nothing": (lambda: None, lambda: ((), {})),
    "constants": (lambda x: ("text", 3, x), lambda: ((matrix(),), {})),
    "long": (lambda x, y: (np.sin(x) @ y, x[::2]), lambda: ((np.ones((400, 300)), np.ones((600, 20))[::2]), {})),
}


def same(made: Any, wanted: Any) -> None:
    """Equal values, types, layout and flags."""
    assert type(made) is type(wanted)
    if isinstance(wanted, tuple | list):
        assert len(made) == len(wanted)
        for m, w in zip(made, wanted, strict=True):
            same(m, w)
    elif isinstance(wanted, dict):
        assert list(made) == list(wanted)
        same(list(made.values()), list(wanted.values()))
    elif isinstance(wanted, np.ndarray):
        np.testing.assert_array_equal(made, wanted, strict=True)
        assert made.flags.writeable == wanted.flags.writeable
        steps = [(m, w) for m, w, n in zip(made.strides, wanted.strides, wanted.shape, strict=True) if n > 1]
        assert all(m == w for m, w in steps) or wanted.base is None
    else:
        assert made == wanted


@pytest.mark.parametrize("name", CALLS)
def test_the_third_call_runs_no_python_and_gives_what_numpy_gives(name: str) -> None:
    f, make = CALLS[name]
    compiled = pliant.jit(f)
    for turn in range(5):
        (args, kwargs), (ours, named) = make(), make()
        made: list[Any] = []
        wanted = f(*args, **kwargs)
        seen = frames(lambda made=made, a=ours, k=named: made.append(compiled(*a, **k)))
        same(made[0], wanted)
        same((ours, named), (args, kwargs))
        assert turn < 2 or seen == []


@pytest.mark.parametrize("name", CALLS)
def test_calls_leak_nothing(name: str) -> None:
    f, make = CALLS[name]
    compiled = pliant.jit(f)
    args, kwargs = make()
    held = [*args, *kwargs.values(), np.dtype("f8"), np.dtype("c16")]
    for _ in range(20):
        compiled(*args, **kwargs)
    gc.collect()
    counts = [sys.getrefcount(x) for x in held]
    grown: list[int] = []
    tracemalloc.start()
    try:
        for _ in range(3):  # other threads may allocate meanwhile
            before = tracemalloc.get_traced_memory()[0]
            for _ in range(200):
                compiled(*args, **kwargs)
            grown.append(tracemalloc.get_traced_memory()[0] - before)
    finally:
        tracemalloc.stop()
    assert all(sys.getrefcount(x) < before + 100 for x, before in zip(held, counts, strict=True))
    assert min(grown) < 1000


def test_a_view_that_is_returned_twice_is_one_object() -> None:
    def f(x: Any) -> Any:
        y = x[::2]
        return y, [y], x[::2]

    compiled = pliant.jit(f)
    for _ in range(4):
        first, (second,), third = compiled(matrix())
        assert first is second
        assert first is not third


def test_a_function_nobody_has_any_more_is_collected_with_its_code() -> None:
    def compiled() -> Any:
        f = pliant.jit(lambda x: x + 1)
        for _ in range(4):
            f(matrix())
        return weakref.ref(f)

    gone = compiled()
    gc.collect()
    assert gone() is None


def test_views_are_of_the_callers_memory_and_keep_it_alive() -> None:
    compiled = pliant.jit(lambda x: (x[::2], x, x.T))
    for _ in range(4):
        x = matrix().copy()
        part, whole, turned = compiled(x)
        assert whole is x
        assert part.base is x
        assert turned.base is x
        del x, whole, turned
        np.testing.assert_array_equal(part, matrix()[::2])
    owner = matrix().copy()
    assert compiled(owner[1:])[0].base is owner  # as NumPy has it


def test_a_view_of_a_read_only_array_is_read_only_and_of_another_is_not() -> None:
    compiled = pliant.jit(lambda x: x[1:])
    for _ in range(3):
        assert compiled(matrix()).flags.writeable
        assert not compiled(read_only()).flags.writeable


@pytest.mark.parametrize(
    "make",
    [
        lambda: (matrix(), matrix(), np.empty((3, 4))),
        lambda: (matrix(), matrix(), np.empty((3, 8))[:, ::2]),
        lambda: (matrix(), matrix(), np.empty((4, 3)).T),
        lambda: (x := matrix(), matrix(), x),
        lambda: (matrix(), x := matrix(), x),
    ],
)
def test_out_takes_no_python(make: Any) -> None:
    compiled = pliant.jit(lambda x, y: x * 2 - y)
    for turn in range(4):
        x, y, out = make()
        wanted = x * 2 - y
        seen = frames(lambda x=x, y=y, out=out: compiled(x, y, out=out))
        np.testing.assert_array_equal(out, wanted)
        assert compiled(*make()[:2], out=out) is out
        assert turn < 2 or seen == []


def test_keywords_may_come_in_any_order_and_by_names_made_at_run_time() -> None:
    compiled = pliant.jit(lambda x, *, shift, scale: x * scale + shift)
    x = matrix()
    named = {"".join(["sh", "ift"]): x, "".join(["sca", "le"]): 2.0}
    for turn in range(4):
        out = np.empty((3, 4))
        seen = frames(lambda out=out: compiled(x, out=out, scale=2.0, shift=x))
        np.testing.assert_array_equal(out, x * 3)
        np.testing.assert_array_equal(compiled(x, scale=2.0, out=out, shift=out), x * 5)
        again = frames(lambda: compiled(x, out=None, **named))
        assert turn < 2 or seen == again == []


def test_a_python_int_beside_narrow_arrays_is_checked_at_each_call() -> None:
    compiled = pliant.jit(lambda x, n: x + n)
    x = np.zeros(2, np.int8)
    for _ in range(4):
        assert compiled(x, 127).dtype == np.int8
        assert compiled(x, -128)[0] == -128
        with pytest.raises(OverflowError, match="out of bounds"):
            compiled(x, 128)
    assert frames(lambda: compiled(x, 5)) == []


def test_out_of_several_results_takes_no_python() -> None:
    compiled = pliant.jit(lambda x: {"a": x + 1, "b": (np.sum(x), x > 3)})
    out = {"a": np.empty((3, 4)), "b": (np.empty(()), np.empty((3, 4), bool))}
    for turn in range(4):
        seen = frames(lambda: compiled(matrix(), out=out))
        np.testing.assert_array_equal(out["a"], matrix() + 1)
        assert out["b"][0] == 66
        np.testing.assert_array_equal(out["b"][1], matrix() > 3)
        assert turn < 2 or seen == ["matrix"]


def test_out_that_overlaps_an_argument_is_right_after_one_that_does_not() -> None:
    compiled = pliant.jit(lambda x: np.cumsum(x) + x[::-1])
    for _ in range(3):
        compiled(np.arange(6.0), out=np.empty(6))
    for start in range(7):
        memory = np.arange(12.0)
        wanted = np.cumsum(memory[3:9]) + memory[3:9][::-1]
        compiled(memory[3:9], out=memory[start : start + 6])
        np.testing.assert_array_equal(memory[start : start + 6], wanted)


def test_accumulation_takes_no_python() -> None:
    total = np.zeros((3, 4))
    compiled = pliant.value_and_grad(lambda x: np.sum(x**2), accumulate_into=total)
    for turn in range(4):
        x = matrix()
        seen = frames(lambda x=x: compiled(x))
        np.testing.assert_array_equal(total, (turn + 1) * 2 * matrix())
        assert turn < 2 or seen == []


def test_signatures_that_alternate_all_take_no_python() -> None:
    compiled = pliant.jit(lambda x: x + 1)
    xs = [np.ones(n, dtype) for n in (1, 2, 3) for dtype in ("f4", "f8")]
    for _ in range(2):
        for x in xs:
            compiled(x)
    for x in xs:
        assert frames(lambda x=x: compiled(x)) == []


def test_more_signatures_than_ways_are_all_right() -> None:
    compiled = pliant.jit(lambda x: x[::-1] + 1)
    for _ in range(3):
        for n in range(20):
            np.testing.assert_array_equal(compiled(np.arange(n)), np.arange(n)[::-1] + 1)


scale = 2.0
table = {"shift": 1.0}


def helper(x: Any) -> Any:
    return x * scale + table["shift"]


def test_names_outside_are_looked_at_without_python(monkeypatch: pytest.MonkeyPatch) -> None:
    local = 3.0

    def f(x: Any) -> Any:
        return helper(x) * local

    compiled = pliant.jit(f)
    x = matrix()
    for _ in range(3):
        np.testing.assert_array_equal(compiled(x), (x * 2 + 1) * 3)
    assert frames(lambda: compiled(x)) == []
    local = 4.0
    np.testing.assert_array_equal(compiled(x), (x * 2 + 1) * 4)
    monkeypatch.setitem(globals(), "scale", 5.0)
    np.testing.assert_array_equal(compiled(x), (x * 5 + 1) * 4)
    monkeypatch.setitem(table, "shift", 0.0)
    np.testing.assert_array_equal(compiled(x), x * 5 * 4)
    monkeypatch.setitem(globals(), "helper", lambda x: x)
    np.testing.assert_array_equal(compiled(x), x * 4)


def test_captured_arrays_are_read_anew_at_each_call() -> None:
    weights = matrix()
    compiled = pliant.jit(lambda x: x * weights)
    for n in range(5):
        weights[...] = n
        np.testing.assert_array_equal(compiled(matrix()), matrix() * n)


def test_methods_are_called_with_their_object() -> None:
    class Model:
        @pliant.jit
        def scaled(self, x: Any) -> Any:
            return x * self.factor

        factor = 3.0

    model = Model()
    for _ in range(4):
        np.testing.assert_array_equal(model.scaled(matrix()), matrix() * 3)
    model.factor = 4.0
    np.testing.assert_array_equal(model.scaled(matrix()), matrix() * 4)


def test_the_order_of_a_dicts_keys_counts() -> None:
    compiled = pliant.jit(lambda p: np.stack(list(p.values())))
    for _ in range(4):
        np.testing.assert_array_equal(compiled({"a": np.zeros(1), "b": np.ones(1)}), [[0], [1]])
        np.testing.assert_array_equal(compiled({"b": np.ones(1), "a": np.zeros(1)}), [[1], [0]])


def test_static_values_are_told_apart_by_type_and_value() -> None:
    compiled = pliant.jit(lambda x, n: (x, n), static="n")
    for _ in range(3):
        for n in (1, True, 1.0, 2, "1", (1, 2), (1, 3), None, b"1", float("inf")):
            made = compiled(matrix(), n)[1]
            assert made == n
            assert type(made) is type(n)


class Odd:
    """Equal to others by its number, as far as it can be compared."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __eq__(self, other: object) -> bool:
        if self.number < 0 or (isinstance(other, Odd) and other.number < 0):
            raise LookupError("not comparable")
        return isinstance(other, Odd) and self.number == other.number

    def __hash__(self) -> int:
        return 1


def test_objects_compare_as_they_like_and_their_errors_come_through() -> None:
    compiled = pliant.jit(lambda x, odd: x * odd.number, static="odd")
    for number in (2, 3, 2, 3, 2, 3):
        np.testing.assert_array_equal(compiled(np.ones(2), Odd(number)), np.full(2, number))
    with pytest.raises(LookupError, match="not comparable"):
        compiled(np.ones(2), Odd(-1))


class Subclass(np.ndarray):
    """An array that NumPy's functions know nothing special about."""


def misaligned(n: int) -> Any:
    return np.frombuffer(bytes(8 * n + 1), np.uint8)[1:].view(np.float64)


def negative(x: Any) -> Any:
    return x[::-1]


BAD: dict[str, Any] = {
    "none": (None, TypeError),
    "text": ("text", Exception),
    "list of text": (["a"], Exception),
    "objects": (np.array([None] * 3, object), PliantError),
    "texts": (np.array(["a"] * 3), PliantError),
    "structured": (np.zeros(3, [("a", "f8")]), PliantError),
    "dates": (np.zeros(3, "M8[s]"), PliantError),
    "subclass": (np.zeros(3).view(Subclass), ArgumentError),
    "masked": (np.ma.zeros(3), ArgumentError),
    "matrix": (np.zeros((1, 3)).view(np.matrix), ArgumentError),
    "a class": (np.ndarray, Exception),
    "a function": (len, Exception),
    "unhashable": ({1, 2}, ArgumentError),
}

GOOD: dict[str, Any] = {
    "other length": np.arange(5.0),
    "no elements": np.zeros(0),
    "other rank": np.ones((3, 1)),
    "rank 0": np.array(2.0),
    "misaligned": misaligned(3),
    "reversed": np.arange(3.0)[::-1],
    "big-endian": np.arange(3, dtype=">f8"),
    "one element in many places": np.broadcast_to(np.ones(1), (3,)),
    "huge": np.broadcast_to(np.ones(1), (1 << 20,)),
    "float16": np.ones(3, "f2"),
    "bool": np.ones(3, bool),
    "number": 2.5,
    "numpy number": np.int16(3),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_arguments_are_refused_also_after_many_good_ones(name: str) -> None:
    bad, error = BAD[name]
    compiled = pliant.jit(lambda x, y: x + y)
    x = np.arange(3.0)
    for _ in range(4):
        with pytest.raises(error):
            compiled(bad, x)
        with pytest.raises(error):
            compiled(x, bad)
        np.testing.assert_array_equal(compiled(x, x), x + x)


@pytest.mark.parametrize("name", GOOD)
def test_unusual_arguments_give_what_numpy_gives_also_after_many_usual_ones(name: str) -> None:
    compiled = pliant.jit(lambda x: (x * 2, x + np.int8(1)))
    x = np.arange(3.0)
    for _ in range(4):
        for given in (x, GOOD[name]):
            same(compiled(given), (given * 2, given + np.int8(1)))


def test_wrong_numbers_of_arguments_are_type_errors_also_after_good_calls() -> None:
    compiled = pliant.jit(lambda x, y: x + y)
    for _ in range(4):
        compiled(matrix(), matrix())
    for args, kwargs in (((), {}), ((matrix(),), {}), ((matrix(),) * 3, {}), ((matrix(),) * 2, {"z": 1})):
        with pytest.raises(TypeError):
            compiled(*args, **kwargs)


def test_a_read_only_array_is_not_written_after_calls_that_wrote() -> None:
    compiled = pliant.jit(twice)
    for _ in range(4):
        compiled(matrix())
    x = read_only()
    with pytest.raises(ValueError, match="read-only"):
        compiled(x)
    np.testing.assert_array_equal(x, matrix())


def test_an_index_out_of_range_after_a_write_is_reported_once_and_leaves_no_trace() -> None:
    def f(x: Any, i: Any) -> Any:
        x[0] = 5.0
        return x[i]

    compiled = pliant.jit(f)
    for _ in range(4):
        assert compiled(np.zeros(4), 2) == 0
    with pytest.raises(IndexError, match="9"):
        compiled(np.zeros(4), 9)
    assert compiled(np.zeros(4), 0) == 5


class Holder:
    """An array by NumPy's protocol; it may refuse."""

    def __init__(self, content: Any) -> None:
        self.content = content

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        if isinstance(self.content, Exception):
            raise self.content
        return self.content


def test_errors_of_a_conversion_come_through_unchanged() -> None:
    compiled = pliant.jit(lambda x: x + 1)
    for content in (OSError("gone"), matrix(), matrix(), matrix(), KeyError("away")):
        if isinstance(content, Exception):
            with pytest.raises(type(content)):
                compiled(Holder(content))
        else:
            np.testing.assert_array_equal(compiled(Holder(content)), content + 1)


def test_a_conversion_that_empties_the_list_it_stands_in_does_no_harm() -> None:
    given: list[Any] = []

    class Emptying(Holder):
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            if self.content:
                given.clear()
            return np.ones(3)

    compiled = pliant.jit(lambda xs: xs[0] + xs[1] + xs[2])
    for turn in range(50):
        given[:] = [np.ones(3), Emptying(turn > 3), np.ones(3)]
        np.testing.assert_array_equal(compiled(given), np.full(3, 3.0))
    assert given == []


def test_a_thread_without_compilation_does_not_change_what_others_do() -> None:
    compiled = pliant.jit(lambda x: type(x).__name__)
    for _ in range(3):
        assert compiled(1.0) != "float"
    found = SimpleNamespace(inside=None)
    with pliant.disable_jit():
        assert compiled(1.0) == "float"
        thread = threading.Thread(target=lambda: setattr(found, "inside", compiled(1.0)))
        thread.start()
        thread.join()
    assert found.inside != "float"
    assert frames(lambda: compiled(1.0)) == []


def test_a_compiled_function_called_while_another_is_traced_becomes_part_of_it() -> None:
    inner = pliant.jit(lambda x: np.sin(x))
    for _ in range(4):
        inner(matrix())
    outer = pliant.jit(lambda x: inner(x) + 1)
    for _ in range(4):
        np.testing.assert_allclose(outer(matrix()), np.sin(matrix()) + 1)
    assert "sin" in str(pliant.trace(outer, matrix()))


def test_eight_threads_with_growing_shapes_agree_bit_for_bit() -> None:
    functions = [
        pliant.jit(lambda x, y: np.sin(x) @ y),
        pliant.jit(lambda x, y: {"a": x[::2], "b": [np.cumsum(y[::-1], axis=0)]}),
        pliant.value_and_grad(lambda x, y: np.sum(np.exp(-x) * y.T)),
    ]
    failed: list[BaseException] = []
    begin = threading.Barrier(8)

    def inputs(n: int) -> tuple[Any, Any]:
        return np.random.default_rng(n).random((n, 2 * n)), np.random.default_rng(-n % 97).random((2 * n, n))[:, ::1]

    wanted = {
        (k, n): pliant.jit(f.__wrapped__)(*inputs(n)) if k < 2 else None for k, f in enumerate(functions) for n in SIZES
    }
    gradients = {n: pliant.value_and_grad(functions[2].__wrapped__)(*inputs(n)) for n in SIZES}

    def work(number: int) -> None:
        try:
            begin.wait()
            for turn in range(6):
                for n in SIZES:
                    k = (number + turn) % 3
                    same(functions[k](*inputs(n)), gradients[n] if k == 2 else wanted[k, n])
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


SIZES = (1, 2, 3, 5, 8, 40, 90)


class Cubic:
    """A function with a parameter, which counts how often its Python runs."""

    def __init__(self) -> None:
        self.runs = 0

    def value(self, x: Any) -> Any:
        counter.append(1)
        return x**3

    __call__ = value


counter: list[int] = []


@pytest.mark.parametrize(
    "make",
    [
        lambda: lambda x: (counter.append(1), x**3)[1],
        Cubic,
        lambda: functools.partial(Cubic.value, Cubic()),
        lambda: pliant.jit(lambda x: (counter.append(1), x**3)[1]),
    ],
)
def test_derivatives_by_name_run_the_function_once_per_signature(make: Any) -> None:
    f, x, dx = make(), np.arange(3.0), np.ones(3)
    counter.clear()
    for _ in range(5):
        np.testing.assert_array_equal(pliant.vjp(f, x)[1](dx)[0], 3 * x**2)
        np.testing.assert_array_equal(pliant.linearize(f, x)[1](dx), 3 * x**2)
        np.testing.assert_array_equal(pliant.jvp(f, (x,), (dx,))[1], 3 * x**2)
    assert len(counter) == 3


def test_derivatives_of_methods_are_kept_for_their_object() -> None:
    first, x = Cubic(), np.arange(3.0)
    counter.clear()
    for _ in range(5):
        np.testing.assert_array_equal(pliant.vjp(first.value, x)[1](np.ones(3))[0], 3 * x**2)
    assert len(counter) == 1
    pliant.vjp(Cubic().value, x)
    assert len(counter) == 2


def test_a_pullback_keeps_what_its_call_has_seen() -> None:
    x = np.arange(3.0)
    pullbacks = [pliant.vjp(np.sin, x + n)[1] for n in range(4)]
    for n, pullback in enumerate(pullbacks):
        np.testing.assert_allclose(pullback(np.ones(3))[0], np.cos(x + n))
