"""What outlives a call: what is left there is what Python leaves there."""

from __future__ import annotations

import collections
import enum
import functools
import types
import weakref
from collections.abc import Callable
from typing import Any

import pytest

import pliant
from pliant.errors import UnsupportedError
from pliant.frontend import reached
from pliant.frontend.control import outside

calls = 0

Case = tuple[Callable[..., Any], Callable[[], Any]]


class Sum:
    """An object that binds its state anew, and appends."""

    __slots__ = ("kept", "value")

    def __init__(self) -> None:
        self.value, self.kept = 0.0, list[Any]()

    def add(self, x: Any) -> Any:
        """Counts x in."""
        self.value = self.value + x
        self.kept.append(x)
        return self.value

    def __call__(self, x: Any) -> Any:
        """As `add`."""
        return self.add(x)


def captured_method() -> Case:
    """A method, bound outside."""
    s = Sum()
    add = s.add
    return lambda x: add(x) * 2, lambda: (s.value, s.kept)


def methods_in_a_list() -> Case:
    """Methods in a list."""
    s = Sum()
    adds = [s.add, s.__call__]
    return lambda x: adds[0](x) + adds[1](x), lambda: (s.value, s.kept)


def partial_of_a_method() -> Case:
    """A function of a class, with its object."""
    s = Sum()
    add = functools.partial(Sum.add, s)
    return lambda x: add(x), lambda: (s.value, s.kept)


def partial_of_an_object() -> Case:
    """An object that is called."""
    s = Sum()
    add = functools.partial(s)
    return lambda x: add(x), lambda: (s.value, s.kept)


def the_function_is_a_partial() -> Case:
    """A partial that is compiled itself."""
    s = Sum()
    return functools.partial(s.add), lambda: (s.value, s.kept)


def a_method_among_arguments() -> Case:
    """A method that is given first."""
    s = Sum()
    return functools.partial(lambda add, x: add(x) * 2, s.add), lambda: (s.value, s.kept)


def methods_of_containers() -> Case:
    """Methods of Python's containers."""
    rows, table, last = list[Any](), {"a": 0.0}, collections.deque[Any](maxlen=2)
    append, update, put, keep = rows.append, table.update, rows.__setitem__, last.append

    def f(x: Any) -> Any:
        append(x)
        append(x)
        put(0, x + 1)
        update(a=x)
        keep(x)
        return x

    return f, lambda: (rows, table, last)


def partial_of_a_list() -> Case:
    """What a partial hands on."""
    rows = list[Any]()
    put = functools.partial(lambda out, x: out.append(x), rows)
    more = functools.partial(list.append, rows)
    return lambda x: (put(x), more(x), x)[2], lambda: rows


def class_attributes() -> Case:
    """Containers and objects that a class has."""

    class Log:
        items: list[Any] = []  # noqa: RUF012
        totals = {"sum": 0.0}  # noqa: RUF012
        last: collections.deque[Any] = collections.deque(maxlen=2)  # noqa: RUF012
        inner = Sum()

        def __init__(self, x: Any) -> None:
            Log.items.append(x)
            self.items.append(x)

        @classmethod
        def add(cls, x: Any) -> None:
            cls.totals["sum"] += x

    def f(x: Any) -> Any:
        Log(x)
        Log.add(x)
        Log.last.append(x)
        return Log.inner.add(x)

    return f, lambda: (Log.items, Log.totals, Log.last, Log.inner.value)


def class_attributes_of_self() -> Case:
    """A container of the class of the object whose method it is."""

    class Log:
        items: list[Any] = []  # noqa: RUF012
        value = 0.0

        def step(self, x: Any) -> Any:
            self.items.append(x)
            self.value = self.value + x
            return self.value

    log = Log()
    return log.step, lambda: (Log.items, log.value)


def attributes_of_a_metaclass() -> Case:
    """A list of a class of classes."""

    class Kind(type):
        made: list[Any] = []  # noqa: RUF012

    class One(metaclass=Kind):
        pass

    return lambda x: (One.made.append(x), x)[1], lambda: One.made


def members_of_an_enumeration() -> Case:
    """A list that a member has."""

    class Of(enum.Enum):
        A = 1

        def __init__(self, _: int) -> None:
            self.held = list[Any]()

    return lambda x: (Of.A.held.append(x), x)[1], lambda: Of.A.held


def attributes_of_a_function() -> Case:
    """Numbers and lists that a function has."""

    def h(x: Any) -> Any:
        h.total = h.total + x  # type: ignore[attr-defined]
        h.seen.append(x)  # type: ignore[attr-defined]
        return x

    h.total, h.seen = 0.0, []  # type: ignore[attr-defined]
    return lambda x: h(x), lambda: (h.total, h.seen)  # type: ignore[attr-defined]


def among_many() -> Case:
    """One of many objects."""
    sums = [Sum() for _ in range(1000)]
    return lambda x: sums[900].add(x), lambda: (sums[900].value, sums[900].kept)


def beside_many_numbers() -> Case:
    """A list beside many numbers."""
    table = {"numbers": [float(i) for i in range(1000)], "rows": list[Any]()}

    def f(x: Any) -> Any:
        table["rows"].append(x)
        return x + table["numbers"][3]

    return f, lambda: table["rows"]


def wrapped_containers() -> Case:
    """Containers whose methods are written in Python."""
    chain = collections.ChainMap({"a": 0.0}, {"b": 1.0})
    table, rows = collections.UserDict[str, Any](a=0.0, b=1.0), collections.UserList([0.0])

    def f(x: Any) -> Any:
        chain["a"] = chain["a"] + x
        chain["c"] = chain["b"] + x
        table["a"] += x
        table.update(c=x)
        rows.append(x)
        rows[0] = x
        return x

    return f, lambda: (dict(chain), table.data, rows.data)


def weak_keys() -> Case:
    """A dict of the library's, which holds another one."""

    class Key:
        pass

    key = Key()
    table = weakref.WeakKeyDictionary({key: 1.0})

    def f(x: Any) -> Any:
        table[key] = x
        return x

    return f, lambda: table[key]


def tables_of_python() -> Case:
    """Dicts that make their items, or that have an order; a namespace."""
    rows, sums = collections.defaultdict[str, Any](list), collections.defaultdict[str, Any](float)
    last, space = collections.OrderedDict[str, Any](a=0.0), types.SimpleNamespace(kept=[], total=0.0)

    def f(x: Any) -> Any:
        rows["a"].append(x)
        sums["a"] += x
        last["a"] += x
        last["b"] = x
        last.move_to_end("a")
        space.kept.append(x)
        space.total += x
        return sums["a"] + len(rows["a"])

    return f, lambda: (rows, sums, last, space)


CASES = (
    captured_method, methods_in_a_list, partial_of_a_method, partial_of_an_object, the_function_is_a_partial,
    a_method_among_arguments, methods_of_containers, partial_of_a_list, class_attributes, class_attributes_of_self,
    attributes_of_a_metaclass, members_of_an_enumeration, attributes_of_a_function, among_many, beside_many_numbers,
    wrapped_containers, weak_keys, tables_of_python,
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_each_call_leaves_what_python_does(case: Callable[[], Case]) -> None:
    of_python, of_pliant = case(), case()
    compiled = pliant.jit(of_pliant[0])
    for x in (1.0, 2.0, 3.0, 4.0):
        assert compiled(x) == of_python[0](x)
        assert of_pliant[1]() == of_python[1]()


def test_bound_methods_as_arguments_change_their_objects() -> None:
    first, second = Sum(), Sum()
    apply = pliant.jit(lambda add, x: add(x) * 2)
    assert [apply(s.add, x) for x in (1.0, 2.0) for s in (first, second, first)] == [2, 2, 4, 8, 6, 12]
    assert (first.value, second.value) == (6.0, 3.0)


def test_a_derivative_leaves_nothing_in_the_object_of_a_method() -> None:
    s = Sum()
    add = s.add
    assert pliant.grad(lambda x: add(x) * x)(3.0) == 6.0
    assert (s.value, s.kept) == (0.0, [])


def test_classes_that_a_function_makes_are_its_own() -> None:
    def f(x: Any) -> Any:
        class Item:
            made: list[Any] = []  # noqa: RUF012

            def __init__(self, v: Any) -> None:
                Item.made.append(v)

        Item(x)
        Item(2 * x)
        return sum(Item.made)

    assert pliant.jit(f)(1.0) == 3.0


class Odd(dict[str, Any]):
    """A dict that is no container for programs."""


@pytest.mark.parametrize("in_a_tuple", [False, True])
def test_what_python_puts_into_a_container_that_is_no_argument_is_an_error(*, in_a_tuple: bool) -> None:
    odd = Odd(a=1.0)
    wrapped = collections.UserDict[str, Any]()
    wrapped.data = odd

    def f(x: Any) -> Any:
        wrapped.update(b=(1, (x, 2)) if in_a_tuple else x)
        return x

    message = (
        "a Odd from outside of the function outlives the call, and a function of Python's puts a traced array there"
    )
    with pytest.raises(UnsupportedError, match=message):
        pliant.jit(f)(1.0)
    assert odd == {"a": 1.0}


class Link:
    """One of many, each of which holds the next ones."""

    def __init__(self, depth: int) -> None:
        self.count, self.more = 0, [Link(depth - 1) for _ in range(4)] if depth else []


def test_what_outlives_a_call_is_gone_through_until_what_was_changed_is_found(monkeypatch: pytest.MonkeyPatch):
    seen: list[int] = []

    def counting(*args: Any) -> list[Any]:
        found = reached.reached(*args)
        seen.append(len(found))
        return found

    root, rows = Link(6), list[float]()

    def f(x: Any, rows: list[float]) -> Any:
        global calls
        calls, root.count = calls + 1, root.count + 1
        rows.append(1.0)
        return x * root.count

    monkeypatch.setattr(outside, "reached", counting)
    compiled = pliant.jit(f)
    assert [float(compiled(1.0, rows)) for _ in range(3)] == [1.0, 2.0, 3.0]
    assert (calls, root.count, rows) == (3, 3, [1.0] * 3)
    assert max(seen) < 1000


def test_containers_that_hold_themselves_are_refused() -> None:
    held: list[Any] = [1.0]
    held.append({"all": held})
    shared = [1.0, 2.0]
    for f in (pliant.jit, pliant.grad, pliant.vmap):
        with pytest.raises(pliant.errors.ArgumentError, match="holds itself"):
            f(lambda x: x[0])(held)
    assert pliant.jit(lambda x: x[0][0] + x[1][1])([shared, shared]) == 3.0


def test_an_object_that_is_let_go_of_and_holds_itself_is_refused() -> None:
    class Node:
        value = 0.0

    def f(d: Any, x: Any) -> Any:
        node = d["node"]
        d["node"] = None
        node.value = x
        node.children = [node]
        return x

    with pytest.raises(pliant.errors.ArgumentError, match="object among the arguments holds itself"):
        pliant.jit(f)({"node": Node()}, 1.0)
