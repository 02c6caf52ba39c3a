"""Objects of plain classes that functions change, as arguments and from outside: as NumPy's programs use them."""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import UnboundError, UnsupportedError

X = np.array([1.0, -2.0, 0.5])


class Mean:
    """A running mean: numbers only."""

    def __init__(self) -> None:
        self.total, self.count, self.name = 0.0, 0, "mean"

    def __call__(self, x: Any) -> Any:
        self.total = self.total + x.sum()
        self.count += len(x)
        return self.total / self.count


class Layer:
    """Keeps its input, and has its weights set anew."""

    def __init__(self, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.w, self.b, self.act = rng.normal(size=(3, 3)), np.zeros(3), "tanh"

    def forward(self, x: Any) -> Any:
        self.x = x
        y = x @ self.w + self.b
        self.y = np.tanh(y) if self.act == "tanh" else y
        return self.y

    def backward(self, g: Any) -> Any:
        g = g * (1 - self.y**2)
        self.dw, self.db = np.outer(self.x, g), g
        return self.w @ g


class Slotted:
    """Without a `__dict__`."""

    __slots__ = ("last", "w")

    def __init__(self) -> None:
        self.w = np.zeros(3)

    def __call__(self, x: Any) -> Any:
        self.w = self.w * 0.5 + x
        self.last = x[0]
        return self.w.sum()


class Net:
    """Objects in a list, one of them by a name too."""

    def __init__(self) -> None:
        self.first = Layer(0)
        self.layers = [self.first, Layer(1)]
        self.rate, self.steps = 0.1, 0

    def __call__(self, x: Any) -> Any:
        y = x
        for layer in self.layers:
            y = layer.forward(y)
        g = y - 1
        for layer in reversed(self.layers):
            g = layer.backward(g)
        for layer in self.layers:
            layer.w = layer.w - self.rate * layer.dw
            layer.b -= self.rate * layer.db
        self.steps += 1
        if self.steps % 2 == 0:
            self.rate *= 0.9
        return np.sum((y - 1) ** 2) + self.first.b[0]


class Replay:
    """A ring of rows."""

    def __init__(self) -> None:
        self.rows, self.next, self.is_full = np.zeros((4, 3)), 0, False

    def __call__(self, x: Any) -> Any:
        self.rows[self.next] = x
        self.next = (self.next + 1) % 4
        self.is_full = self.is_full or self.next == 0
        return self.rows.sum() + self.is_full


class Queue:
    """A deque and a dict, in a loop."""

    def __init__(self) -> None:
        self.queue = deque([0.0, 0.0])
        self.table = {"sum": 0.0}

    def __call__(self, x: Any) -> Any:
        for v in x:
            self.queue.popleft()
            self.queue.append(v)
            self.table["sum"] = self.table["sum"] + self.queue[0] * v
        return self.table["sum"]


class Derived(Mean):
    """Sets an attribute at first in a loop, and one of a part."""

    def __init__(self) -> None:
        super().__init__()
        self.part = Mean()

    def __call__(self, x: Any) -> Any:
        for k in range(6):
            self.best = x * k
            if self.total < 4:
                self.total = self.total + x[0]
        self.part.total = self.best.sum()
        return self.total


MAKERS: list[Callable[[], Any]] = [Mean, Layer, Slotted, Net, Replay, Queue, Derived]


def called(m: Any, x: Any) -> Any:
    return m.forward(x) if isinstance(m, Layer) else m(x)


def content(x: Any) -> Any:
    """All there is of nested objects, to be compared."""
    if isinstance(x, dict):
        return {k: content(v) for k, v in x.items()}
    if isinstance(x, list | tuple | deque):
        return [type(x).__name__, *map(content, x)]
    if isinstance(x, Slotted):
        return {name: content(getattr(x, name)) for name in x.__slots__ if hasattr(x, name)}
    if type(x).__module__ == __name__:
        return {"class": type(x).__name__, **content(vars(x))}
    if isinstance(x, np.ndarray | np.generic | float | int):
        return type(x).__name__, np.round(np.asarray(x, float), 12).tolist()
    return x


@pytest.mark.parametrize("make", MAKERS)
def test_an_argument(make: Callable[[], Any]) -> None:
    compiled = pliant.jit(called)
    ours, theirs = make(), make()
    for k in range(5):
        np.testing.assert_allclose(compiled(ours, X * (k + 1)), called(theirs, X * (k + 1)), rtol=1e-12)
        assert content(ours) == content(theirs)


@pytest.mark.parametrize("make", MAKERS)
def test_a_method_of_one(make: Callable[[], Any]) -> None:
    ours, theirs = make(), make()
    name = "forward" if make is Layer else "__call__"
    compiled = pliant.jit(getattr(ours, name))
    for k in range(5):
        np.testing.assert_allclose(compiled(X * (k + 1)), getattr(theirs, name)(X * (k + 1)), rtol=1e-12)
        assert content(ours) == content(theirs)


@pytest.mark.parametrize("make", MAKERS)
def test_one_from_outside(make: Callable[[], Any]) -> None:
    ours, theirs = make(), make()
    compiled = pliant.jit(lambda x: called(ours, x) + 1)
    for k in range(5):
        np.testing.assert_allclose(compiled(X * (k + 1)), called(theirs, X * (k + 1)) + 1, rtol=1e-12)
        assert content(ours) == content(theirs)


def traces_of(compiled: Any) -> int:
    return sum(map(len, compiled.entries.values()))


class Scaled:
    """Read by functions, and changed outside of them."""

    def __init__(self) -> None:
        self.w, self.rate = np.ones(3), 0.5

    def __call__(self, x: Any) -> Any:
        return np.sum(self.w * x) * self.rate


@pytest.mark.parametrize("as_what", ["argument", "method", "outside"])
def test_numbers_and_arrays_set_between_calls_are_not_compiled_anew(as_what: str) -> None:
    m = Scaled()
    compiled: Any = {
        "argument": pliant.jit(lambda m, x: m(x)), "method": pliant.jit(m.__call__), "outside": pliant.jit(lambda x: m(x)),
    }[as_what]  # fmt: skip
    args = (m,) if as_what == "argument" else ()
    for _ in range(8):
        m.w, m.rate = m.w * 1.5, m.rate * 0.9
        np.testing.assert_allclose(compiled(*args, X), m(X), rtol=1e-12)
    assert traces_of(compiled) <= 3


def test_another_object_is_not_compiled_anew() -> None:
    compiled = pliant.jit(lambda m, x: m(x))
    for k in range(8):
        m = Scaled()
        m.rate = k + 0.5
        np.testing.assert_allclose(compiled(m, X), m(X), rtol=1e-12)
    assert traces_of(compiled) <= 2


def test_text_of_an_object_is_static() -> None:
    compiled = pliant.jit(called)
    layer, other = Layer(), Layer()
    compiled(layer, X)
    layer.act = other.act = "none"
    np.testing.assert_allclose(compiled(layer, X), other.forward(X))


class Sized:
    """A float that has to be known."""

    def __init__(self) -> None:
        self.step, self.w = 0.25, np.ones(2)


def test_numbers_that_have_to_be_known() -> None:
    def sized(m: Any, x: Any) -> Any:
        return np.zeros(int(1 / m.step)).sum() + len(np.zeros(int(1 / m.step))) + np.sum(m.w * x)

    compiled, m = pliant.jit(sized), Sized()
    for step in (0.25, 0.5, 0.125):
        m.step = step
        assert compiled(m, 2.0) == sized(m, 2.0)


def test_derivatives_take_back_what_their_function_sets() -> None:
    layer, x = Layer(), np.array([0.1, 0.2, 0.3])
    before = content(layer)

    def loss(x: Any) -> Any:
        return np.sum(layer.forward(x) ** 2)

    expected = 2 * layer.w @ (np.tanh(x @ layer.w) * (1 - np.tanh(x @ layer.w) ** 2))
    for slope in (pliant.grad(loss), pliant.jit(pliant.grad(loss)), lambda x: pliant.vjp(loss, x)[1](1.0)[0]):
        np.testing.assert_allclose(slope(x), expected)
        assert content(layer) == before
    np.testing.assert_allclose(pliant.grad(lambda x, m: np.sum(m.forward(x) ** 2))(x, layer), expected)
    made = pliant.vmap(lambda x: layer.forward(x))(np.stack([x, -x]))
    np.testing.assert_allclose(made, np.tanh(np.stack([x, -x]) @ layer.w))
    assert content(layer) == before


def test_an_exception_leaves_objects_as_they_were() -> None:
    def failing(m: Any, x: Any) -> Any:
        m.total = m.total + x.sum()
        m.count += 1
        if x[0] < 0:
            raise ValueError("below 0")
        return m.total

    compiled, m = pliant.jit(failing), Mean()
    compiled(m, X)
    before = content(m)
    with pytest.raises(ValueError, match="below 0"):
        compiled(m, -X)
    assert content(m) == before


@pytest.mark.usefixtures("for_all_data")
def test_what_cannot_be_traced_changes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    def odd(m: Any, x: Any) -> Any:
        print("once")
        m.count += 1
        m.total = m.total + x.sum()
        return np.zeros(int(x[0]))

    m = Mean()
    with pytest.raises(pliant.PliantError, match="known only at run time"):
        pliant.jit(odd)(m, X)
    assert content(m) == content(Mean())
    assert capsys.readouterr().out == "once\n"


def test_a_function_that_prints_and_sets_prints_once(capsys: pytest.CaptureFixture[str]) -> None:
    def told(m: Any, x: Any) -> Any:
        print("sum", x.sum())
        m.total = m.total + x.sum()
        return m.total

    compiled, m = pliant.jit(told), Mean()
    for _ in range(2):
        compiled(m, X)
    assert capsys.readouterr().out == "sum -0.5\nsum -0.5\n"
    assert m.total == -1.0


class Node:
    """Knows what it is in."""

    def __init__(self, parent: Any = None) -> None:
        self.parent, self.v = parent, np.ones(3)
        self.parts = list[Any]()


def test_objects_that_hold_themselves_are_static() -> None:
    root = Node()
    root.parts.append(Node(root))
    compiled = pliant.jit(lambda n, x: np.sum(n.v * x + n.parts[0].v))
    assert compiled(root, X) == 2.5
    root.v = 2 * root.v
    assert compiled(root, X) == 2.0

    def set_anew(n: Any, x: Any) -> Any:
        n.v = n.v + x
        return n.v.sum()

    with pytest.raises(UnsupportedError, match="attribute 'v' of a Node from outside"):
        pliant.jit(set_anew)(root, X)
    np.testing.assert_array_equal(root.v, 2 * np.ones(3))


def test_objects_that_are_there_many_times_are_static() -> None:
    node = Node()
    for _ in range(60):  # a tree of 2^60 parts
        last, node = node, Node()
        node.parts = [last, last]
    compiled = pliant.jit(lambda n, x: np.sum(n.v * x))
    for k in range(3):
        node.v = np.full(3, k + 1.0)
        assert compiled(node, X) == -0.5 * (k + 1)
    long = Node()
    for _ in range(5000):
        long = Node(long)
    assert compiled(long, X) == -0.5


@pytest.mark.usefixtures("for_all_data")
def test_an_attribute_that_may_be_missing() -> None:
    def maybe(m: Any, x: Any) -> Any:
        if x.sum() > 0:
            m.last = x
        return x.sum()

    with pytest.raises(UnboundError, match=r"\.last has a value only if a condition holds"):
        pliant.jit(maybe)(Mean(), X)


def test_a_dict_from_outside() -> None:
    table = {"n": 0, "sum": np.zeros(3)}

    def added(x: Any) -> Any:
        table["n"] += 1
        table["sum"] = table["sum"] + x
        table["last"] = x[0]
        return table["sum"].sum()

    before = copy.deepcopy(table)
    expected = [added(k * X) for k in (1, 2, 3)]
    after = content(table)
    table.clear()
    table.update(before)
    compiled = pliant.jit(added)
    np.testing.assert_allclose([compiled(k * X) for k in (1, 2, 3)], expected)
    assert content(table) == after
