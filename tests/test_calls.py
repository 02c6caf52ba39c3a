"""Calls of compiled functions: without a Python frame, and equal to NumPy's."""

from __future__ import annotations

import copy
import functools
import gc
import pickle
import sys
import tracemalloc
import weakref
from queue import SimpleQueue
from typing import Any

import numpy as np
import optree
import pytest

import pliant
from pliant.backends import layout
from pliant.cached import MEMBERS, forget
from tests.calls import CALLS, Line, frames, matrix, read_only, same

pytestmark = pytest.mark.skipif(not layout.is_known(), reason="no native entries on this Python")


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


def test_a_function_nobody_has_any_more_is_collected_with_its_code_when_others_of_its_text_come() -> None:
    def compiled(a: Any) -> Any:
        f = pliant.jit(lambda x: x + a)
        for _ in range(4):
            f(matrix())
        return weakref.ref(f)

    gone = [compiled(n) for n in range(MEMBERS + 1)]
    gc.collect()
    assert [f() is None for f in gone] == [True] + [False] * MEMBERS
    forget()
    gc.collect()
    assert all(f() is None for f in gone)


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


def test_lists_outside_are_looked_at_from_their_end_without_python() -> None:
    rates = [1.0, 2.0]
    compiled, x = pliant.jit(lambda x: x * rates[-1]), matrix()
    for _ in range(3):
        np.testing.assert_array_equal(compiled(x), x * 2)
    assert frames(lambda: compiled(x)) == []
    rates.append(3.0)
    np.testing.assert_array_equal(compiled(x), x * 3)
    del rates[1:]
    np.testing.assert_array_equal(compiled(x), x)


def test_derivatives_by_containers_that_are_looped_over_take_no_python() -> None:
    def network(params: Any, x: Any) -> Any:
        for w in params["layers"][:-1]:
            x = np.tanh(x @ w)
        return np.sum(x @ params["layers"][-1])

    compiled, x = pliant.value_and_grad(network), np.ones(4)
    params = {"layers": [np.eye(4), matrix().T, matrix()]}
    for turn in range(4):
        seen = frames(lambda: compiled(params, x))
        assert turn < 2 or seen == []
    entries = [entry for made in compiled.entries.values() for entry in made]  # type: ignore[attr-defined]
    assert [[name for _, name, _ in entry.program.guards.entries] for entry in entries] == [["np"]]


def test_captured_arrays_are_read_anew_at_each_call() -> None:
    weights = matrix()
    compiled = pliant.jit(lambda x: x * weights)
    for n in range(5):
        weights[...] = n
        np.testing.assert_array_equal(compiled(matrix()), matrix() * n)


@pliant.jit
def by_name(x: Any) -> Any:
    return x + 1


def test_copies_are_the_function_itself_as_for_any_function() -> None:
    assert copy.copy(by_name) is by_name
    assert copy.deepcopy({"f": by_name})["f"] is by_name
    assert by_name.__reduce__() == "by_name"  # so is it pickled


def cubes(x: Any, n: int = 3) -> Any:
    return (x**n).sum()


MADE = {
    "jit": lambda: pliant.jit(cubes, static="n"),
    "grad": lambda: pliant.grad(cubes),
    "value_and_grad": lambda: pliant.value_and_grad(cubes, argnums=(0,)),
    "jacobian": lambda: pliant.jacobian(cubes, mode="reverse"),
    "hessian": lambda: pliant.hessian(cubes),
    "vmap": lambda: pliant.vmap(cubes),
    "vectorize": lambda: pliant.vectorize(cubes, "(n)->()"),
    "several": lambda: pliant.jit(pliant.vmap(pliant.grad(by_name))),
}


@pytest.mark.parametrize("make", MADE.values(), ids=MADE.keys())
def test_what_is_made_of_functions_of_a_module_is_pickled_by_how_it_is_made(make: Any) -> None:
    f, x = make(), np.arange(3.0)
    text = pickle.dumps(f)
    assert pickle.loads(text) is f  # as it is kept with the function
    forget()
    again = pickle.loads(text)
    assert again is not f
    assert copy.copy(f) is f
    assert copy.deepcopy([f])[0] is f
    for made, wanted in zip(optree.tree_leaves(again(x)), optree.tree_leaves(f(x)), strict=True):
        np.testing.assert_array_equal(made, wanted)


class Counting:
    """An object that holds compiled methods of its own."""

    def __init__(self) -> None:
        self.count, self.weights = 0, np.ones(2)
        self.step, self.slope = pliant.jit(self._step), pliant.grad(pliant.jit(self._loss))

    def _step(self, x: Any) -> Any:
        self.count += 1
        self.weights[:] += x
        return x * self.count

    def _loss(self, x: Any) -> Any:
        return (x * self.weights).sum()


def test_methods_of_a_copy_are_those_of_the_copy() -> None:
    one, x = Counting(), np.ones(2)
    one.step(x)
    two = copy.deepcopy(one)
    for _ in range(3):
        two.step(x)
    assert (one.count, two.count) == (1, 4)
    assert list(one.slope(x)) == [2.0, 2.0]
    assert list(two.slope(x)) == [5.0, 5.0]
    step, three = copy.deepcopy([one.step, one])
    assert step is three.step


def test_what_is_made_of_other_functions_is_not_pickled() -> None:
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(pliant.grad(lambda x: x * x))


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
        for n in (1, True, 1.0, 2, "1", (1, 2), (1.0, 2), (1, 3), (1, (2,)), None, b"1", float("inf"), 0.0, -0.0, 0):
            made = compiled(matrix(), n)[1]
            assert repr(made) == repr(n)


@pytest.mark.parametrize("value", [3, 2.5, True, "sum", (2, (3, "a")), None, slice(1, 3), np.float32, len, b"x"])
def test_static_arguments_take_no_python(value: Any) -> None:
    compiled = pliant.jit(lambda x, how: (x * 2, how), static="how")
    for call in (lambda: compiled(matrix(), value), lambda: compiled(matrix(), how=value)):
        for _ in range(2):
            assert call()[1] == value
        assert frames(call)[1:] == []  # `matrix` comes first


def test_dataclasses_that_have_other_attributes_are_others() -> None:
    compiled = pliant.jit(lambda p: sum(vars(p).values()))
    for _ in range(3):
        line = Line(matrix(), np.ones(4))
        np.testing.assert_array_equal(compiled(line), matrix() + 1)
        line.slope = np.ones(4)
        np.testing.assert_array_equal(compiled(line), np.full(4, 2.0))
        line.more = 3.0  # type: ignore[attr-defined]
        np.testing.assert_array_equal(compiled(line), np.full(4, 5.0))
        del line.offset
        np.testing.assert_array_equal(compiled(line), np.full(4, 4.0))


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


class Cubic:
    """A function with a parameter, which counts how often its Python runs."""

    def __init__(self) -> None:
        self.runs = 0

    def value(self, x: Any) -> Any:
        counter.put(1)
        return x**3

    __call__ = value


counter: SimpleQueue[int] = SimpleQueue()


@pytest.mark.parametrize(
    "make",
    [
        lambda: lambda x: (counter.put(1), x**3)[1],
        Cubic,
        lambda: functools.partial(Cubic.value, Cubic()),
        lambda: pliant.jit(lambda x: (counter.put(1), x**3)[1]),
    ],
)
def test_derivatives_by_name_run_the_function_once_per_signature(make: Any) -> None:
    f, x, dx = make(), np.arange(3.0), np.ones(3)
    while not counter.empty():
        counter.get()
    for _ in range(5):
        np.testing.assert_array_equal(pliant.vjp(f, x)[1](dx)[0], 3 * x**2)
        np.testing.assert_array_equal(pliant.linearize(f, x)[1](dx), 3 * x**2)
        np.testing.assert_array_equal(pliant.jvp(f, (x,), (dx,))[1], 3 * x**2)
    assert counter.qsize() == 3


def test_derivatives_of_methods_are_kept_for_their_object() -> None:
    first, x = Cubic(), np.arange(3.0)
    while not counter.empty():
        counter.get()
    for _ in range(5):
        np.testing.assert_array_equal(pliant.vjp(first.value, x)[1](np.ones(3))[0], 3 * x**2)
    assert counter.qsize() == 1
    pliant.vjp(Cubic().value, x)
    assert counter.qsize() == 2


def test_a_pullback_keeps_what_its_call_has_seen() -> None:
    x = np.arange(3.0)
    pullbacks = [pliant.vjp(np.sin, x + n)[1] for n in range(4)]
    for n, pullback in enumerate(pullbacks):
        np.testing.assert_allclose(pullback(np.ones(3))[0], np.cos(x + n))
