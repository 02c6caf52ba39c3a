"""What a compiled function read outside of its arguments is read again when it has changed."""

from __future__ import annotations

import bisect
import math
import operator
import statistics
from collections import Counter, OrderedDict
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

import numpy as np
import pytest

import pliant

NUMBERS = [1.0, 2.0, 3.0]
READERS = {
    "np.sum": lambda x: x * np.sum(NUMBERS),
    "np.array": lambda x: (x * np.array(NUMBERS)[:, None]).sum(),
    "np.max": lambda x: x * np.max(a=NUMBERS),
    "a ufunc": lambda x: x * np.exp(NUMBERS).sum(),
    "len": lambda x: x * len(NUMBERS),
    "math": lambda x: x * math.fsum(NUMBERS),
    "a module of Python": lambda x: x * statistics.mean(NUMBERS),
    "bisect": lambda x: x * bisect.bisect(NUMBERS, x[0]),
    "count": lambda x: x * NUMBERS.count(50.0),
    "copy": lambda x: x * len(NUMBERS.copy()),
    "set": lambda x: x * len(set(NUMBERS)),
}


@pytest.mark.parametrize("name", READERS)
def test_a_list_that_got_longer_is_read_again(name: str) -> None:
    f, x = READERS[name], np.array([50.0])
    compiled = pliant.jit(f)
    try:
        for _ in range(3):
            np.testing.assert_allclose(compiled(x), f(x))
            NUMBERS.append(50.0)
    finally:
        del NUMBERS[3:]
    np.testing.assert_allclose(compiled(x), f(x))


def test_a_list_that_every_call_appends_to_is_no_reason_to_trace_again() -> None:
    log: list[Any] = []
    count = [0]

    def f(x: Any) -> Any:
        count[0] += 1
        log.append(1)
        return x * 2

    compiled = pliant.jit(f)
    for _ in range(4):
        compiled(np.ones(2))
    assert count[0] <= 4


SEEN: set[Any] = set()
KNOWN: dict[Any, float] = {}


def is_in_a_new_set(x: Any) -> Any:
    seen: set[Any] = set()
    is_seen = x in seen
    seen.add(1)
    return is_seen, 1 in seen, len(seen.union([2])) * x


def are_in_a_union(x: Any) -> Any:
    seen = set([1]).union([2])  # noqa: C405
    seen.add(4)
    return x in seen, len(seen) * x


ASKED: dict[str, Any] = {
    "a set": lambda x: x in SEEN,
    "a dict": lambda x: x in KNOWN,
    "no set": lambda x: (x not in frozenset(), x in ()),  # noqa: RUF060
    "a new set": is_in_a_new_set,
    "a union": are_in_a_union,
}


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize("kind", [int, float])
def test_what_is_in_an_empty_set_is_traced_once(name: str, kind: type) -> None:
    f, traced = ASKED[name], SimpleQueue[int]()

    def asked(x: Any) -> Any:
        traced.put(1)
        return f(x)

    compiled = pliant.jit(asked)
    for n in range(4):
        assert compiled(kind(n)) == f(kind(n))
    assert traced.qsize() == 1
    SEEN.add(2)
    KNOWN[3] = 1.0
    try:
        assert [compiled(kind(n)) for n in range(4)] == [f(kind(n)) for n in range(4)]
    finally:
        SEEN.clear()
        KNOWN.clear()
    assert [compiled(kind(n)) for n in range(4)] == [f(kind(n)) for n in range(4)]


def test_a_key_that_a_dict_lacks_is_no_reason_to_trace_again() -> None:
    options, traced = {"a": 1.0}, []

    class Seen:
        def __index__(self) -> int:
            traced.append(1)
            return 0

    seen = Seen()
    f = pliant.jit(lambda x: x * options.get("b", 3.0) + operator.index(seen))
    assert [f(1.0) for _ in range(3)] == [3.0] * 3
    assert len(traced) == 1
    options["b"] = 4.0
    assert f(1.0) == 4.0


@pytest.mark.parametrize(("one", "other"), [(np.exp, np.log), (np.sum, np.mean), (np, math), (np.sin, lambda x: x + 1)])
def test_a_name_that_holds_a_function_or_module_of_numpy_is_read_again(one: Any, other: Any) -> None:
    outside = one

    def f(x: float) -> Any:
        return (outside.cos if outside in (np, math) else outside)(x)

    compiled = pliant.jit(f)
    for _ in range(4):
        np.testing.assert_allclose(compiled(2.0), f(2.0))
    outside = other
    for _ in range(4):
        np.testing.assert_allclose(compiled(2.0), f(2.0))


class Base:
    """What an object reads of its classes."""

    factor = 2.0

    def method(self, x: Any) -> Any:
        return x + 1

    @staticmethod
    def plain(x: Any) -> Any:
        return x * 2

    @classmethod
    def of_class(cls, x: Any) -> Any:
        return x * 3

    @property
    def computed(self) -> float:
        return 5.0

    def __call__(self, x: Any) -> Any:
        return x - 1


class Derived(Base):
    """A class that has all from another one."""


THING = Derived()
READS: dict[str, Any] = {
    "method": (lambda x: THING.method(x), lambda self, x: x + 100),
    "plain": (lambda x: THING.plain(x), staticmethod(lambda x: x * 200)),
    "of_class": (lambda x: Derived.of_class(x), classmethod(lambda cls, x: x * 300)),
    "computed": (lambda x: THING.computed * x, property(lambda self: 50.0)),
    "factor": (lambda x: THING.factor * x, 9.0),
    "__call__": (lambda x: THING(x), lambda self, x: x - 100),
}


@pytest.mark.parametrize("of", [Base, Derived, THING], ids=["its class", "a class between", "the object"])
@pytest.mark.parametrize("name", READS)
def test_what_the_classes_of_an_object_have_is_read_again(name: str, of: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    f, other = READS[name]
    if of is THING and name in ("of_class", "computed", "__call__"):
        pytest.skip("is read from the class alone")
    compiled, x = pliant.jit(f), np.arange(3.0)
    before = f(x)
    for _ in range(3):
        np.testing.assert_array_equal(compiled(x), before)
    monkeypatch.setattr(of, name, (lambda x: x - 7) if of is THING and callable(other) else other, raising=False)
    assert not np.array_equal(f(x), before)
    for _ in range(3):
        np.testing.assert_array_equal(compiled(x), f(x))
    monkeypatch.undo()
    np.testing.assert_array_equal(compiled(x), before)


class Counted:
    """An object whose special methods the program calls."""

    def __init__(self, x: Any) -> None:
        self.x = x

    def __add__(self, other: Any) -> Any:
        return self.x + other

    def __neg__(self) -> Any:
        return -self.x

    def __len__(self) -> int:
        return 3


COUNTED = Counted(2.0)
SPECIALS: dict[str, tuple[Any, Any]] = {
    "__add__": (lambda x: COUNTED + x, lambda self, other: other * 100),
    "__neg__": (lambda x: x * -COUNTED, lambda self: 100.0),
    "__len__": (lambda x: x * len(COUNTED), lambda self: 100),
    "__iadd__": (lambda x: _added(COUNTED, x), lambda self, other: other * 100),
}


def _added(thing: Any, x: Any) -> Any:
    thing += x
    return thing


@pytest.mark.parametrize("name", ["__add__", "__neg__", "__len__", "__iadd__"])
def test_special_methods_of_a_class_are_read_again(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    f, other = SPECIALS[name]
    compiled, x = pliant.jit(f), np.arange(3.0)
    before = f(x)
    for _ in range(3):
        np.testing.assert_array_equal(compiled(x), before)
    monkeypatch.setattr(Counted, name, other, raising=False)
    assert not np.array_equal(f(x), before)
    for _ in range(3):
        np.testing.assert_array_equal(compiled(x), f(x))
    monkeypatch.undo()
    np.testing.assert_array_equal(compiled(x), before)


def _inner(x: Any, factor: float = 2.0, *, shift: float = 1.0) -> Any:
    return x * factor + shift


def _other(x: Any, factor: float = 3.0, *, shift: float = 5.0) -> Any:
    return x * x * factor - shift


def _calls(x: Any) -> Any:
    return _inner(x)


@pytest.mark.parametrize("f", [_calls, _inner])
@pytest.mark.parametrize(
    ("part", "content"),
    [("__defaults__", (7.0,)), ("__kwdefaults__", {"shift": 9.0}), ("__code__", _other.__code__)],
)
def test_what_is_set_of_a_function_is_read_again(
    f: Any, part: str, content: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled, derivative, x = pliant.jit(f), pliant.grad(lambda x: f(x).sum()), np.arange(3.0)
    for _ in range(3):
        np.testing.assert_array_equal(compiled(x), f(x))
        derivative(x)
    before = derivative(x)
    monkeypatch.setattr(_inner, part, content)
    for _ in range(3):
        np.testing.assert_array_equal(compiled(x), f(x))
    assert part == "__kwdefaults__" or not np.array_equal(derivative(x), before)
    monkeypatch.undo()
    np.testing.assert_array_equal(compiled(x), f(x))


def test_a_default_that_is_changed_in_place_is_read_again() -> None:
    def f(x: Any, factors: list[float] = [2.0], *, shifts: dict[str, float] = {"a": 1.0}) -> Any:  # noqa: B006
        return x * factors[0] + shifts["a"]

    compiled, x = pliant.jit(f), np.arange(3.0)
    held: Any = f
    numbers, named = held.__defaults__[0], held.__kwdefaults__["shifts"]
    for change in (lambda: None, lambda: numbers.append(1.0), lambda: named.update(a=5.0)):
        change()
        numbers[0] += 1.0
        for _ in range(3):
            np.testing.assert_array_equal(compiled(x), f(x))


class Model:
    """An object to which attributes are added later."""

    base = 1.0


class Narrow:
    """An object with places for its attributes."""

    __slots__ = ("scale",)


MODELS: dict[str, Any] = {}


def _has(x: Any) -> Any:
    return x * (2.0 if hasattr(MODELS["m"], "scale") else 3.0)


def _by_default(x: Any) -> Any:
    return x * getattr(MODELS["m"], "scale", 5.0)


def _tried(x: Any) -> Any:
    try:
        return x * MODELS["m"].scale
    except AttributeError:
        return x


def _of_its_dict(x: Any) -> Any:
    return x * (MODELS["m"].__dict__.get("scale", 3.0) if isinstance(MODELS["m"], Model) else 1.0)


def _in_its_variables(x: Any) -> Any:
    return x * (1.0 if "scale" in vars(MODELS["m"]) else 2.0) if isinstance(MODELS["m"], Model) else x


@pytest.mark.parametrize("f", [_has, _by_default, _tried, _of_its_dict, _in_its_variables])
@pytest.mark.parametrize("kind", [Model, Narrow])
def test_an_attribute_that_is_not_there_is_looked_for_again(f: Any, kind: type) -> None:
    compiled, x = pliant.jit(f), np.array([1.0, 2.0])
    m: Any = kind()
    MODELS["m"] = m
    for value in (None, 7.0, 8.0, None):
        if value is not None:
            m.scale = value
        elif hasattr(m, "scale"):
            del m.scale
        np.testing.assert_array_equal(compiled(x), f(x))
    MODELS.clear()


def test_an_attribute_of_a_class_that_is_not_there_is_looked_for_again() -> None:
    def f(x: Any) -> Any:
        return x * getattr(Model, "added", 2.0) * getattr(Model(), "added", 3.0)

    compiled, x = pliant.jit(f), np.array([1.0, 2.0])
    np.testing.assert_array_equal(compiled(x), f(x))
    Model.added = 5.0  # type: ignore[attr-defined]
    np.testing.assert_array_equal(compiled(x), f(x))
    del Model.added  # type: ignore[attr-defined]
    np.testing.assert_array_equal(compiled(x), f(x))


def test_what_the_first_call_adds_is_there_at_the_second() -> None:
    class Counter:
        def step(self, x: Any) -> Any:
            if not hasattr(self, "n"):
                self.n = 0
            self.n += 1
            return x * self.n

    ours, plain, x = Counter(), Counter(), np.ones(2)
    step = pliant.jit(ours.step)
    for _ in range(3):
        np.testing.assert_array_equal(step(x), plain.step(x))


def test_a_name_that_is_not_there_is_looked_for_again() -> None:
    def f(x: Any) -> Any:
        try:
            return x + ADDED_LATER  # type: ignore[name-defined]
        except NameError:
            return x

    compiled, x = pliant.jit(f), np.ones(2)
    np.testing.assert_array_equal(compiled(x), x)
    globals()["ADDED_LATER"] = 2.0
    np.testing.assert_array_equal(compiled(x), x + 2)
    del globals()["ADDED_LATER"]
    np.testing.assert_array_equal(compiled(x), x)


def most_common(y: Any, k: int) -> Any:
    return Counter([y[i] for i in range(len(y))]).most_common(1)[0][0] * k


def most_common_of_rows(y: Any, k: int) -> Any:
    return np.array([Counter([v % 3 for v in y[i:]]).most_common(2)[-1][0] + k for i in range(len(y))])


def last_of_a_dict(y: Any, k: int) -> Any:
    d: OrderedDict[Any, Any] = OrderedDict()
    for v in y:
        d[v] = d.pop(v, k) + 1
    return d.popitem()[0], d.get(y[0], -1)


@pytest.mark.parametrize("f", [most_common, most_common_of_rows, last_of_a_dict])
@pytest.mark.parametrize("backend", ["llvm", "reference"])
def test_what_a_function_makes_is_not_asked_of_the_next_call(f: Callable[..., Any], backend: str) -> None:
    compiled: Any = pliant.jit(f, backend=backend)
    for y in ([0, 1, 1, 2, 2, 2, 1], [1, 1, 0, 0, 0, 2, 1], [0, 1, 1, 2, 2, 2, 1], [2, 1, 2, 0, 2, 2, 0]):
        for k in (2, 3):
            np.testing.assert_array_equal(compiled(np.array(y), k), f(np.array(y), k))
    guards = [entry.program.guards for entries in compiled.entries.values() for entry in entries]
    assert not any(["traced" in repr(e[1:]) for each in guards for e in each.entries])
