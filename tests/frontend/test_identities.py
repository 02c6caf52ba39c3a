"""Which object is which, where a function changes those that it is given, finds outside, or makes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from tests.frontend.test_native_objects import Held, assert_like

X = np.array([1.0, -2.0, 0.5])


class Kept:
    """Made in calls."""

    def __init__(self, a: Any) -> None:
        self.a = a


class Model:
    """Returns itself, and what it keeps."""

    shared: list[Any] = []  # noqa: RUF012
    table: dict[str, Any] = {}  # noqa: RUF012

    def __init__(self) -> None:
        self.v, self.parts, self.n = X * 0, [Kept(X * 1), Kept(X * 2)], 0

    def fit(self, x: Any) -> Any:
        self.v = self.v + x
        return self

    def both(self, x: Any) -> Any:
        self.v = self.v - x
        return {"me": self, "x": x}, [self.parts]

    def kept(self, x: Any) -> Any:
        self.result = Kept(x * 2)
        return self.result

    def listed(self, x: Any) -> Any:
        self.results = [x * 2, {"a": x}]
        return self.results

    def selected(self, x: Any) -> Any:
        self.positive = x[x > 0]
        return self.positive

    def inner(self, x: Any) -> Any:
        for p in self.parts:
            p.a = p.a + x
        return self.parts

    def of_class(self, x: Any) -> Any:
        self.shared.append(x * 2)
        self.table["a"] = x
        return x

    def __call__(self, x: Any) -> Any:
        self.n += 1
        self.v = x * self.n
        return self.v


def test_self_is_returned() -> None:
    m, p = Model(), Model()
    fit = pliant.jit(m.fit)
    for k in range(5):
        assert fit(X + k) is m
        p.fit(X + k)
        assert_like(m.v, p.v)
    assert fit.natives


def test_self_in_what_is_returned() -> None:
    m = Model()
    both = pliant.jit(m.both)
    for _ in range(5):
        made, (parts,) = both(X)
        assert made["me"] is m
        assert made["x"] is X
        assert parts is m.parts


@pytest.mark.parametrize(
    ("name", "attribute"),
    [("kept", "result"), ("listed", "results"), ("selected", "positive"), ("inner", "parts")],
)
def test_what_is_kept_and_returned_is_one(name: str, attribute: str) -> None:
    m, p = Model(), Model()
    compiled = pliant.jit(getattr(m, name))
    for k in range(5):
        made, expected = compiled(X + k), getattr(p, name)(X + k)
        assert made is getattr(m, attribute)
        assert_like(made, expected)


def test_containers_of_classes() -> None:
    m = Model()
    compiled = pliant.jit(m.of_class)
    for k in range(5):
        compiled(X + k)
    assert_like(Model.shared, [(X + k) * 2 for k in range(5)])
    assert_like(Model.table["a"], X + 4)
    Model.shared.clear()


def test_containers_that_are_defaults_or_attributes_of_functions() -> None:
    def f(x: Any, found: Any = []) -> Any:  # noqa: B006
        found.append(x)
        f.more.append(2 * x)  # type: ignore[attr-defined]
        return x

    f.more = []  # type: ignore[attr-defined]
    compiled = pliant.jit(f)
    for k in range(5):
        compiled(X + k)
    assert_like(f.__defaults__[0], [X + k for k in range(5)])  # type: ignore[index]
    assert_like(f.more, [2 * (X + k) for k in range(5)])  # type: ignore[attr-defined]


def test_objects_that_are_called() -> None:
    m, p = Model(), Model()
    compiled = pliant.jit(m)
    for k in range(5):
        assert_like(compiled(X + k), p(X + k))
        assert_like((m.n, m.v), (p.n, p.v))


def an_object(s: Any) -> Callable[..., Any]:
    def f(given: Any, x: Any) -> Any:
        given.v = given.v + x
        s.v = s.v * 2
        return given.v

    return f


def a_list_of_it(s: Any) -> Callable[..., Any]:
    def f(given: Any, x: Any) -> Any:
        given.l.append(x)
        s.l.append(2 * x)
        return given.v

    return f


def a_dict_of_it(s: Any) -> Callable[..., Any]:
    def f(given: Any, x: Any) -> Any:
        given.d["a"] = given.d["a"] + x
        return s.d["a"] * 2

    return f


@pytest.mark.parametrize("make", [an_object, a_list_of_it, a_dict_of_it])
def test_an_argument_that_is_outside_too(make: Any) -> None:
    def state() -> Any:
        return Held(v=X * 1, l=[], d={"a": X * 0})

    ours, pythons, other, others = state(), state(), state(), state()
    compiled, f = pliant.jit(make(ours)), make(pythons)
    for k in range(6):
        assert_like(compiled(ours, X + k), f(pythons, X + k))
        assert_like((ours.v, ours.l, ours.d), (pythons.v, pythons.l, pythons.d))
    for k in range(4):
        assert_like(compiled(other, X + k), f(others, X + k))
        assert_like((ours.v, ours.l, ours.d), (pythons.v, pythons.l, pythons.d))
        assert_like((other.v, other.l, other.d), (others.v, others.l, others.d))


def test_threads_whose_first_calls_change_one_object() -> None:
    class Counter:
        def __init__(self) -> None:
            self.n, self.found = 0, list[Any]()

        def step(self, x: Any) -> Any:
            self.n = self.n + 1
            self.found.append(x.sum())
            return self.n

    counter, own = Counter(), [Counter() for _ in range(4)]
    bound, given = pliant.jit(counter.step), pliant.jit(lambda c, x: c.step(x))
    start = threading.Barrier(4)

    def run(c: Any) -> None:
        start.wait()
        for _ in range(50):
            bound(X)
            given(c, X)

    threads = [threading.Thread(target=run, args=(c,)) for c in own]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(counter.found) == 200
    assert {type(x) for x in counter.found} == {np.float64}
    assert [(c.n, len(c.found)) for c in own] == [(50, 50)] * 4


def test_functions_without_source_write_once() -> None:
    names: dict[str, Any] = {"__name__": "outside"}
    exec("def f(s, x):\n    s.v[0] += 1\n    s.w = s.w + x\n    s.n += 1\n    return x * s.n", names)
    ours, pythons = Held(v=X * 1, w=X * 1, n=0), Held(v=X * 1, w=X * 1, n=0)
    compiled, bound = pliant.jit(names["f"]), pliant.jit(lambda x: names["f"](ours, x))
    for k in range(4):
        assert_like(compiled(ours, X + k), names["f"](pythons, X + k))
        assert_like(ours, pythons)
    for k in range(4):
        assert_like(bound(X + k), names["f"](pythons, X + k))
        assert_like(ours, pythons)


def test_functions_without_source_print_at_each_call(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {"__name__": "outside"}
    exec("def f(x):\n    print('sum', x.sum())\n    return x", names)
    compiled = pliant.jit(names["f"])
    for k in range(3):
        compiled(X + k)
    assert capsys.readouterr().out == "".join(f"sum {(X + k).sum()}\n" for k in range(3))


def test_what_is_not_squeezed_is_the_array_itself() -> None:
    def f(x: Any, y: Any) -> Any:
        z = np.array(2.0)
        same = x.squeeze() is x, np.squeeze(y[:0], ()) is y, y.squeeze(()) is y, z.squeeze() is z, z.squeeze(0) is z
        return *same, y.squeeze() is y

    assert pliant.jit(f)(X, X[None]) == f(X, X[None])


W = np.zeros(3)
BEST, OTHER, PART = W, np.zeros(3), W[:]


def asked(x: Any, y: Any) -> Any:
    """Between names from outside, arguments, and both."""
    z = W
    return W is BEST, W is OTHER, W is PART, z is BEST, x is W, x is BEST, x is OTHER, y is PART, x is y, z[:] is W


def asked_after_writes(x: Any, y: Any) -> Any:
    """The same, of arrays that overlap what is written."""
    x[0] += 1.0
    W[1] += 1.0
    return asked(x, y)


@pytest.mark.parametrize("f", [asked, asked_after_writes], ids=lambda f: f.__name__)
def test_arrays_from_outside_are_the_arguments_that_they_are(f: Any) -> None:
    compiled = pliant.jit(f)
    arrays = [W, OTHER, PART, np.zeros(3)]
    for x in arrays:
        for y in arrays:
            assert compiled(x, y) == f(x, y)


def test_a_branch_is_that_of_the_array_that_an_argument_is() -> None:
    f = pliant.jit(lambda x: x * 2 if x is W else x)
    assert f(OTHER) is OTHER
    assert f(W) is not W
    assert f(OTHER) is OTHER


def views_left(d: Any, x: Any) -> Any:
    """Views that are left in two places, of an argument and of what is made."""
    d["kept"], z = d["old"], x * 2
    d["a"], d["z"], d["c"] = x[::-1], z, z[1:]
    d["b"], d["d"], d["e"] = d["a"], d["c"], z[1:]
    return d["d"]


def test_a_view_that_is_left_in_two_places_is_one_object() -> None:
    def run(f: Any) -> Any:
        d = {"old": np.zeros(2)}
        held = [f(d, X), *d.values()]
        return [[(a is b, np.shares_memory(a, b)) for a in held] for b in held]

    compiled = pliant.jit(views_left)
    for _ in range(3):
        assert run(compiled) == run(views_left)
