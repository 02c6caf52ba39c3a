"""Containers and objects that a function makes, in every way that Python has: it is traced once."""

from __future__ import annotations

import abc
import collections
import copy
import dataclasses
import types
from collections.abc import Callable
from functools import partial
from typing import Any, TypedDict

import numpy as np
import pytest

import pliant
from pliant.errors import UnboundError

NAMES = ["a", "b"]
START = {"a": 0.0, "b": 1.0}


@dataclasses.dataclass
class Store:
    a: float = 0.0
    items: dict[str, float] = dataclasses.field(default_factory=dict[str, float])
    log: list[Any] = dataclasses.field(default_factory=list[Any])


@dataclasses.dataclass(slots=True)
class Slotted:
    a: float = 0.0


class Written:
    __slots__ = ("__hidden", "a")

    def __init__(self) -> None:
        self.a, self.__hidden = 0.0, 0.0

    @property
    def hidden(self) -> float:
        return self.__hidden

    def add(self, x: Any) -> None:
        self.a += x
        self.__hidden += 2 * x


class Abstract(abc.ABC):
    a = 0.0

    @abc.abstractmethod
    def __call__(self, x: Any) -> Any: ...


class Concrete(Abstract):
    def __init__(self) -> None:
        self.last: dict[str, Any] = {}

    def __call__(self, x: Any) -> Any:
        self.last["x"] = x if self.last.get("x") is None else self.last["x"] + x
        if x > 0.5:
            self.a += x
        return self.last["x"]


class Typed(TypedDict):
    a: float


class Table(dict[str, Any]):
    pass


MAKERS: dict[str, Callable[[], Any]] = {
    "display": lambda: {"a": 0.0},
    "comprehension": lambda: {n: float(k) for k, n in enumerate(NAMES)},
    "unpacked": lambda: {**START},
    "joined": lambda: START | {"c": 1.0},
    "fromkeys": lambda: dict.fromkeys(NAMES, 0.0),
    "zipped": lambda: dict(zip(NAMES, (0.0, 1.0), strict=True)),
    "defaultdict": lambda: collections.defaultdict(float, a=0.0),
    "ordered": lambda: collections.OrderedDict[str, float](a=0.0),
    "counter": lambda: collections.Counter(a=0.0),  # type: ignore[call-overload]
    "subclass": lambda: Table(a=0.0),
    "typed": lambda: Typed(a=0.0),
    "copied": lambda: copy.copy(START),
    "copied_method": lambda: START.copy(),
    "deep": lambda: copy.deepcopy(START),
    "deep_inside": lambda: copy.deepcopy({"x": [START]})["x"][0],
    "asdict": lambda: dataclasses.asdict(Store()),
    "factory": lambda: Store().items | {"a": 0.0},
}
OBJECTS: dict[str, Callable[[], Any]] = {
    "namespace": lambda: types.SimpleNamespace(a=0.0),
    "dataclass": Store,
    "slotted": Slotted,
    "replaced": lambda: dataclasses.replace(Store(), a=0.0),
    "replaced_slotted": lambda: dataclasses.replace(Slotted(a=1.0), a=0.0),
}


def items(make: Callable[[], Any], x: Any) -> Any:
    made = make()
    for v in x:
        if v > 0.1:
            made["a"] += v
    return made["a"]


def attributes(make: Callable[[], Any], x: Any) -> Any:
    made = make()
    for v in x:
        if v > 0.1:
            made.a += v
    return made.a


def grown(x: Any) -> Any:
    store = Store()
    for i, v in enumerate(x[:4]):
        store.items[NAMES[i % 2]] = store.items.get(NAMES[i % 2], 0.0) + v
        store.log.append(v)
    return store.items["a"] * store.items["b"] + len(store.log)


def written_slots(x: Any) -> Any:
    made = Written()
    for v in x:
        if v > 0.1:
            made.add(v)
    return made.a + made.hidden


def called(x: Any) -> Any:
    made: Any = Concrete()
    for v in x:
        made(v)
    return made(x[0]) + made.a


def options(x: Any) -> Any:
    def f(v: Any, **given: Any) -> Any:
        scale = given.pop("scale", 2.0)
        given["sum"] = given.get("sum", 0.0) + np.sum(v)
        return scale * given["sum"]

    return f(x, scale=3.0, sum=1.0) + f(x)


def the_rest(x: Any) -> Any:
    zeros: list[Any] = [0.0, 0.0, 0.0]
    first, *rest = zeros
    for v in x:
        rest[0] += v
    parts: Any = [[x[0], x[1]], first]
    (a, *more), last = parts
    more[0] = more[0] + a + last
    return rest[0] * more[0]


def in_a_loop(x: Any) -> Any:
    total = 0.0
    for v in x:
        parts = {n: v * k for k, n in enumerate(NAMES, 1)}
        parts["a"] += 1.0
        counts = collections.defaultdict[str, Any](float)
        counts["c"] += parts["a"] * parts["b"]
        total += counts["c"]
    return total


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    **{f.__name__: f for f in (grown, written_slots, called, options, the_rest, in_a_loop)},
    **{f"items_{n}": partial(items, make) for n, make in MAKERS.items()},
    **{f"attributes_{n}": partial(attributes, make) for n, make in OBJECTS.items()},
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_a_function_makes_is_new_at_each_call_and_needs_no_guards(name: str) -> None:
    f = FUNCTIONS[name]
    xs = [np.sin(np.arange(20.0) + k) for k in range(4)]
    compiled: Any = pliant.jit(f)
    np.testing.assert_allclose([compiled(x) for x in xs], [f(x) for x in xs], rtol=1e-12)
    kept = [entry for entries in compiled.entries.values() for entry in entries]
    assert [entry.program.guards.hold() for entry in kept] == [True]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_of_functions_that_make_things_are_those_of_differences(name: str) -> None:
    f, x, way = FUNCTIONS[name], np.sin(np.arange(20.0) + 0.3), np.cos(np.arange(20.0))
    expected = (f(x + 1e-6 * way) - f(x - 1e-6 * way)) / 2e-6
    assert pliant.jvp(f, (x,), (way,))[1] == pytest.approx(expected, rel=1e-6)
    assert pliant.grad(f)(x) @ way == pytest.approx(expected, rel=1e-6)


class Shared:
    """A class with one object."""

    only: Any = None

    def __new__(cls) -> Any:
        cls.only = cls.only or object.__new__(cls)
        return cls.only


def test_what_a_class_keeps_is_not_new() -> None:
    Shared().rate = 2.0  # type: ignore[attr-defined]
    scaled = pliant.jit(lambda x: x * Shared().rate)  # type: ignore[attr-defined]
    assert scaled(3.0) == 6.0
    Shared().rate = 5.0  # type: ignore[attr-defined]
    assert scaled(3.0) == 15.0


def counted(x: Any) -> Any:
    counts: Any = collections.Counter()
    for v in x:
        if v > 0.5:
            counts["a"] += 1
        else:
            counts["b"] += 1
    return counts["a"] - 2 * counts["b"] + counts["c"]


def summed(x: Any) -> Any:
    sums: Any = collections.defaultdict(float)
    for v in x:
        if v > 0.5:
            sums["a"] += v
        sums["b"] += v * v
    return sums["a"] * sums["b"] + sums["c"]


def listed(x: Any) -> Any:
    lists: Any = collections.defaultdict(list)
    for i, v in enumerate(x[:5]):
        lists[i % 2].append(v)
    lists[0][0] = lists[0][0] + 1.0
    return sum(lists[0]) - sum(lists[1]) + len(lists)


def items_of_sums(x: Any) -> Any:
    sums: Any = collections.defaultdict(float)
    for v in x:
        sums["a"] += v
        sums["b"] += v * v
    return sum([v * k for k, (_, v) in enumerate(sorted(sums.items()), 1)]) + len(sums)


@pytest.mark.parametrize("f", [counted, summed, listed, items_of_sums])
@pytest.mark.parametrize("scale", [1.0, -10.0, 0.01])
def test_dicts_that_make_what_they_have_not(f: Callable[[Any], Any], scale: float) -> None:
    x = np.sin(np.arange(20.0)) * scale
    compiled: Any = pliant.jit(f)
    assert compiled(x) == pytest.approx(f(x), rel=1e-12)
    kept = [entry for entries in compiled.entries.values() for entry in entries]
    assert [entry.program.guards.hold() for entry in kept] == [True]


def _begun(kind: Callable[[], Any], x: Any) -> Any:
    made = kind()
    if x[0] > 0:
        made["a"] = made["a"] + x[0] if isinstance(made, collections.defaultdict | collections.Counter) else x[0]
    return made


ASKED: dict[str, Callable[[Any], Any]] = {
    "length": len,
    "member": lambda made: "a" in made,
    "truth": lambda made: 1.0 if made else 0.0,
    "items": lambda made: [*made.items()],
    "keys": lambda made: [k for k in made],
    "values": lambda made: sum(made.values()),
    "list": list,
    "copied": lambda made: len(made.copy()),
    "dict": lambda made: len(dict(made)),
    "returned": lambda made: {"x": [made]},
}


@pytest.mark.usefixtures("for_all_data")
@pytest.mark.parametrize("ask", ASKED)
@pytest.mark.parametrize("kind", [dict, collections.Counter, lambda: collections.defaultdict(float)])
def test_it_is_an_error_to_ask_for_keys_that_a_condition_decides(kind: Callable[[], Any], ask: str) -> None:
    with pytest.raises(UnboundError):
        pliant.jit(lambda x: ASKED[ask](_begun(kind, x)))(np.ones(3))
