"""What a function leaves outside of it at every call that is no array: as Python does, whatever a caller does between."""

from __future__ import annotations

import bisect
import copy
import heapq
from collections import defaultdict, deque
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import pliant

X = np.array([1.0, 2.0])
on, steps, mode = True, 1, "up"
places: Any = None


class State:
    """A little of everything."""

    def __init__(self) -> None:
        self.number, self.is_on, self.text, self.maybe = 1, True, "a", None
        self.list, self.dict, self.set = [1, 2, 3, 4], {"a": 1.0, "b": 2.0}, {1}
        self.queue = deque([1.0, 2.0, 3.0], maxlen=3)
        self.shape: Any = None
        self.function: Any = np.sin


def counted(s: Any, x: Any) -> Any:
    s.number = s.number + 1
    return x * s.number


def cycled(s: Any, x: Any) -> Any:
    s.number = s.number % 3 + 1
    return x * s.number


def toggled(s: Any, x: Any) -> Any:
    s.is_on = not s.is_on
    s.text = "b" if s.text == "a" else "a"
    s.maybe = 3 if s.maybe is None else None
    return x * 2 if s.is_on else x


def popped(s: Any, x: Any) -> Any:
    return x * (s.list.pop() if s.list else 0)


def turned(s: Any, x: Any) -> Any:
    s.list.append(s.list.pop(0))
    s.list.reverse()
    s.list[0], s.list[-1] = s.list[-1], s.list[0]
    return x * s.list[0]


def heaped(s: Any, x: Any) -> Any:
    heapq.heappush(s.list, heapq.heappop(s.list) + 2)
    bisect.insort(s.list, 3)
    del s.list[-1]
    return x * s.list[0]


def queued(s: Any, x: Any) -> Any:
    s.queue.rotate(1)
    s.queue.append(s.queue[0] + 1.0)
    return x * sum(s.queue)


def keyed(s: Any, x: Any) -> Any:
    if "a" in s.dict:
        s.dict["c"] = s.dict.pop("a")
        return x
    s.dict["a"] = s.dict.pop("c")
    return x * 2


def in_order(s: Any, x: Any) -> Any:
    for v in s.dict.values():
        x = x * 2 + v
    return x


def members(s: Any, x: Any) -> Any:
    if 1 in s.set:
        s.set.remove(1)
    else:
        s.set.add(1)
    return x * len(s.set)


def attributes(s: Any, x: Any) -> Any:
    if hasattr(s, "more"):
        del s.more
        return x
    s.more = 1
    return x * 2


def kept(s: Any, x: Any) -> Any:
    s.shape, s.list, s.function = x.shape, [], np.cos
    return x * len(s.shape)


def nested(s: Any, x: Any) -> Any:
    s.rows = [s.rows[1], s.rows[0]] if hasattr(s, "rows") else [[1, 2], [3]]
    return x * sum(s.rows[0])


FUNCTIONS = [
    counted,
    cycled,
    toggled,
    popped,
    turned,
    heaped,
    queued,
    keyed,
    in_order,
    members,
    attributes,
    kept,
    nested,
]


def outside_of(s: Any) -> Callable[[Callable[..., Any]], Callable[[Any], Any]]:
    """A function of an object that is met outside, and not given."""

    def of(f: Callable[..., Any]) -> Callable[[Any], Any]:
        def run(x: Any) -> Any:
            return f(s, x)

        return run

    return of


def shown(s: Any) -> dict[str, Any]:
    return {name: list(held) if isinstance(held, deque) else held for name, held in vars(s).items()}


def nothing(_: Any) -> None:
    """A caller who changes nothing."""


def put_back(s: Any) -> None:
    """One who puts things back."""
    s.number, s.is_on, s.list = 1, True, [1, 2, 3, 4]


def meddling(s: Any) -> None:
    """One who changes what is there."""
    s.list.append(7)
    s.dict["a"] = s.dict.pop("a", 1.0)
    s.dict["b"] = s.dict.pop("b")
    s.queue.append(5.0)


@pytest.mark.parametrize("between", [nothing, put_back, meddling])
@pytest.mark.parametrize("is_given", [True, False])
@pytest.mark.parametrize("f", FUNCTIONS)
def test_every_call_leaves_what_pythons_does(
    f: Callable[..., Any], is_given: bool, between: Callable[..., None]
) -> None:
    kind = type("State", (State,), {})  # nothing is known of its objects
    one, two = kind(), kind()
    compiled = pliant.jit(f) if is_given else pliant.jit(outside_of(one)(f))
    for _ in range(6):
        got = compiled(one, X) if is_given else compiled(X)
        np.testing.assert_array_equal(got, f(two, X))
        assert shown(one) == shown(two)
        between(one)
        between(two)


def test_global_names() -> None:
    def run(x: Any) -> Any:
        global on, steps, mode
        on, steps, mode = not on, steps % 3 + 1, "down" if mode == "up" else "up"
        return x * steps if on else -x

    compiled = pliant.jit(run)
    for shape in (2, 3, 2, 3, 3, 2, 2):
        before = on, steps, mode
        wanted = run(np.ones(shape))
        after = on, steps, mode
        globals().update(zip(("on", "steps", "mode"), before, strict=True))
        np.testing.assert_array_equal(compiled(np.ones(shape)), wanted)
        assert (on, steps, mode) == after


def test_names_of_a_function_around() -> None:
    def around() -> Any:
        which, last = np.sin, 0.0

        def run(x: Any) -> Any:
            nonlocal which, last
            which = np.cos if which is np.sin else np.sin
            last = 1.0 - last
            return which(x) + last

        return run, lambda: (which, last)

    (run, told), (again, told_again) = around(), around()
    compiled = pliant.jit(run)
    for _ in range(6):
        np.testing.assert_array_equal(compiled(X), again(X))
        assert told() == told_again()


def test_arrays_in_lists_that_are_turned() -> None:
    def run(held: Any) -> Any:
        def turned(x: Any) -> Any:
            held.reverse()
            held[0][0] += 10
            return x * held[0][0]

        return turned

    ones, twos = ([np.ones(1), 2 * np.ones(1)] for _ in range(2))
    compiled, plain = pliant.jit(run(ones)), run(twos)
    assert [compiled(X)[0] for _ in range(5)] == [plain(X)[0] for _ in range(5)]
    assert ones == twos


@pytest.mark.parametrize("of", [
    pliant.grad, pliant.value_and_grad, pliant.hessian, pliant.jacobian, lambda f: pliant.jit(pliant.grad(f)),
    lambda f: pliant.vmap(lambda x: f(np.array([x, x]))),
])  # fmt: skip
def test_derivatives_and_batches_take_back_what_is_changed(of: Any) -> None:
    held, told = [1.0, 2.0, 3.0], {"a": 1.0}
    losses: list[Any] = []

    def run(x: Any) -> Any:
        held.reverse()
        told.setdefault("k", 3.0)
        loss = (x * held.pop()).sum()
        losses.append(loss)
        return loss

    derived = of(run)
    for _ in range(3):
        derived(X)
        assert (held, told, losses) == ([1.0, 2.0, 3.0], {"a": 1.0}, [])


def test_functions_of_numpys_are_left_as_they_are() -> None:
    s = SimpleNamespace(function=None)
    held: list[Any] = []

    def run(d: Any, x: Any) -> Any:
        s.function, d["f"] = np.tanh, np.sin
        held[:] = [np.exp, np.concatenate]
        return x, np.cos, {"a": np.sum}

    for _ in range(3):
        d: dict[str, Any] = {}
        assert pliant.jit(run)(d, X)[1:] == (np.cos, {"a": np.sum})
        assert s.function is np.tanh
        assert d == {"f": np.sin}
        assert held == [np.exp, np.concatenate]
        assert type(held[0]) is np.ufunc
    assert copy.deepcopy(s).function is np.tanh


def test_an_object_that_holds_what_can_be_no_argument() -> None:
    class Agent:
        """It holds a set."""

        def __init__(self) -> None:
            self.weights, self.is_on, self.seen = np.ones(2), True, {1}

    def told(s: Any, x: Any) -> Any:
        s.is_on = not s.is_on
        return x * len(s.seen) + s.weights if s.is_on else x

    one, two = Agent(), Agent()
    compiled = pliant.jit(told)
    for n in range(5):
        np.testing.assert_array_equal(compiled(one, X), told(two, X))
        for s in (one, two):
            s.seen.add(n)
            s.weights[0] += 1.0


def test_what_a_method_has_changed_is_taken_back_where_it_has_to_be_traced_again() -> None:
    class Sorted:
        """A list that gets longer and shorter."""

        def __init__(self) -> None:
            self.held: list[Any] = [1, 3, 2]

        def step(self, x: Any) -> Any:
            self.held.append(x.sum())
            self.held.sort()
            bisect.insort(self.held, 2)
            self.held.pop()
            self.held[0], self.held[-1] = self.held[-1], self.held[0]
            return list(self.held)

    one, two = Sorted(), Sorted()
    compiled = pliant.jit(one.step)
    for _ in range(3):
        assert compiled(X[:1]) == two.step(X[:1])


def test_native_code_looks_at_the_order_of_keys() -> None:
    held = {"gone": 0.0, "a": 1.0, 2: 2.0, "c": 3.0}
    del held["gone"]  # there is a hole before the first one

    def run(x: Any) -> Any:
        for v in held.values():
            x = x * 2 + v
        return x

    compiled = pliant.jit(run)
    for change in (
        lambda: None,
        lambda: held.update(a=held.pop("a")),
        lambda: held.update(d=held.pop("c")),
        lambda: held.update(a=5.0),
        held.popitem,
        lambda: held.update({3: 1.0, 4: 2.0}),
    ):
        change()
        for _ in range(4):
            np.testing.assert_array_equal(compiled(X), run(X))
        assert compiled.natives


def remade(s: Any, x: Any) -> Any:
    s.list, s.dict, s.set, s.rows, s.table = [], {"a": [1]}, {2}, (1, [2]), np.arange(3.0)
    return x * 2


def of_signs(s: Any, x: Any) -> Any:
    s.number = -s.number
    return (x + 1) / s.number


def of_kinds(s: Any, x: Any) -> Any:
    s.set = {True} if any(type(k) is int for k in s.set) else {1}
    s.text = range(5, 5) if s.text == range(0) and s.text.start == 0 else range(0)
    return x * sum(1 for k in s.set if k is True) + s.text.start


@pytest.mark.parametrize("f", [remade, of_signs, of_kinds])
def test_a_caller_changes_things_later(f: Callable[..., Any]) -> None:
    one, two = State(), State()
    one.number = two.number = 0.0
    one.text, two.text = range(0), range(0)
    compiled = pliant.jit(outside_of(one)(f))
    for n in range(8):
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(compiled(X), f(two, X))
        for s in (one, two) if f is remade and n > 2 else ():
            s.list.append(5)
            s.dict["a"].append(6)
            s.rows[1].append(7)
            s.table[0] = 9.0
            s.set.add(8)
        if f is not remade:
            assert repr(shown(one)) == repr(shown(two))
    with np.errstate(all="ignore"):
        compiled(X)
        f(two, X)
    assert repr(shown(one)) == repr(shown(two))


def test_a_counter_counts_each_call_once_and_none_that_raises() -> None:
    count, names = 0, defaultdict(list)

    def run(x: Any, y: Any) -> Any:
        nonlocal count
        count += 1
        names["a"].append(1)
        x[:] += 1
        y[:] += 2
        if x.sum() > 100:
            raise ValueError("great")
        return x.sum() * len(names["a"])

    compiled = pliant.jit(run)
    for n, (a, b) in enumerate([(0, 2), (0, 2), (1, 3), (0, 3), (0, 3)], 1):
        x = np.zeros(6)
        assert compiled(x[a : a + 3], x[b : b + 3]) == n * x[a : a + 3].sum()
        assert (count, len(names["a"])) == (n, n)
    for _ in range(3):
        before = count
        with pytest.raises(ValueError, match="great"):
            compiled(np.full(3, 50.0), np.zeros(3))
        assert count == before


def test_nothing_is_left_where_a_call_raises_while_it_is_traced() -> None:
    s, which = SimpleNamespace(), np.sin

    def run(x: Any) -> Any:
        nonlocal which
        which = np.cos if which is np.sin else np.sin
        s.function, s.list, s.module, s.algebra = np.sin, [np.cos], np, np.linalg
        if x.shape[0] == 2:
            raise ValueError("two")
        return which(x)

    compiled = pliant.jit(run)
    for _ in range(3):
        with pytest.raises(ValueError, match="two"):
            compiled(X)
        assert which is np.sin
        assert s == SimpleNamespace()
    np.testing.assert_array_equal(compiled(np.ones(3)), np.cos(np.ones(3)))
    assert s == SimpleNamespace(function=np.sin, list=[np.cos], module=np, algebra=np.linalg)
