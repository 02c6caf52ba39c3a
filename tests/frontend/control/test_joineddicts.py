"""Dicts from which conditions, or steps of loops, take keys that they put back."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import UnboundError

X = np.array([0.5, 2.0, 2.0, 1.0])


def deleted(x: Any, d: Any) -> Any:
    if x.sum() > 3:
        del d["b"]
        d["b"] = 7.0


def popped(x: Any, d: Any) -> Any:
    if x.sum() > 3:
        d["b"] = d.pop("b") * x[0]
    return d["b"] + 1


def cleared(x: Any, d: Any) -> Any:
    q = x[0] * 3
    if x.sum() > 3:
        d.clear()
        d["a"] = q
        d["b"] = q
    return d["a"] + d["b"]


def updated(x: Any, d: Any) -> Any:
    if x[0] > 0:
        v = d["b"]
        del d["b"]
        d.update(b=v + x[1])
    return d


def own(x: Any, _: Any) -> Any:
    d = {"a": x, "b": [2.0]}
    kept = d["b"]
    if x.sum() > 3:
        t = d.pop("b")
        d["b"] = t
        t[0] = x[1]
    return d, d["b"] is kept


def in_both(x: Any, d: Any) -> Any:
    if x.sum() > 3:
        d["a"] = d.pop("a") + x[0]
    else:
        d["a"] = d.pop("a") - x[0]
    return list(d), d["a"]


def in_try(x: Any, d: Any) -> Any:
    try:
        if x[0] > 0:
            raise ValueError
        del d["b"]
        d["b"] = 7.0
    except ValueError:
        pass


def for_a_while(x: Any, d: Any) -> Any:
    for v in x:
        d["t"] = v * v
        d["b"] += d["t"]
        del d["t"]
    return d["b"]


def in_loop(x: Any, d: Any) -> Any:
    for v in x:
        if v > 1:
            d["b"] = d.pop("b") + v
    return d["b"], list(d)


def until(x: Any, d: Any) -> Any:
    while d["b"] < 100:
        d["b"] = d.pop("b") * 2 + x[1] ** 2
    return d["b"]


def first(x: Any, d: Any) -> Any:
    if x.sum() > 3:
        d["a"] = d.pop("a") + x[0]


def read_in_order(x: Any, d: Any) -> Any:
    first(x, d)
    return list(d)


def counted(x: Any, _: Any) -> Any:
    d = Counter({"a": 1, "b": 2})
    if x[0] > 0:
        d["b"] = d.pop("b") + 3
    return d["b"]


def ordered(x: Any, _: Any) -> Any:
    d = OrderedDict(a=x[0], b=x[1])
    if x[0] > 0:
        d.move_to_end("a")
        d["a"] = x[2]
    return list(d), d["a"]


@pytest.mark.parametrize(
    "f",
    [deleted, popped, cleared, updated, own, in_both, in_try, for_a_while, in_loop, until, first, read_in_order,
     counted, ordered],
)  # fmt: skip
def test_a_key_that_is_taken_out_and_put_back_is_as_numpy_leaves_it(f: Callable[..., Any]):
    compiled = pliant.jit(f)
    for x in (X, -X, X):
        got, wanted = {"a": 1.0, "b": 2.0}, {"a": 1.0, "b": 2.0}
        if f is until:
            x = np.abs(x)
        made, expected = compiled(x, got), deepcopy(f(x, wanted))
        assert repr(_plain((made, [*got.items()]))) == repr(_plain((expected, [*wanted.items()])))


def _plain(x: Any) -> Any:
    if isinstance(x, dict):
        return [(k, _plain(v)) for k, v in x.items()]
    return [*map(_plain, x)] if isinstance(x, list | tuple) else np.asarray(x).tolist()


def test_derivatives_and_batches_of_what_is_put_back_are_those_of_its_branch():
    def f(x: Any) -> Any:
        d = {"a": x[0], "b": x[1]}
        if x[0] > 0:
            d["a"] = d.pop("a") * 3
        return d["a"] + d["b"] ** 2

    np.testing.assert_array_equal(pliant.grad(f)(X), [3.0, 4.0, 0.0, 0.0])
    np.testing.assert_array_equal(pliant.grad(f)(-X), [1.0, -4.0, 0.0, 0.0])
    np.testing.assert_array_equal(pliant.vmap(f)(np.stack([X, -X])), [f(X), f(-X)])


def swapped(x: Any) -> Any:
    return {"a": x[0], "b": x[1]} if x[0] > 0 else {"b": x[0], "a": x[1]}


def taken_out(x: Any) -> Any:
    d = {"a": x[0], "b": x[1]}
    if x[0] > 0:
        d["a"] = d.pop("a") + 1
    return d


ASKED: dict[str, Callable[[Any], Any]] = {
    "list": list, "dict": lambda d: dict(d), "next": lambda d: next(iter(d)), "stars": lambda d: [*d], "two": lambda d: {**d},
    "joined": lambda d: [*(d | {"c": 1.0})], "items": lambda d: [*d.items()], "zip": lambda d: [*zip(d, "cd", strict=True)],
    "popitem": lambda d: d.popitem(), "copy": lambda d: d.copy(), "update": lambda d: {"c": 1.0}.update(d),
    "each": lambda d: [k for k in d], "reversed": lambda d: [*reversed(d)],
}  # fmt: skip


@pytest.mark.parametrize("make", [swapped, taken_out])
@pytest.mark.parametrize("ask", ASKED.values(), ids=ASKED)
def test_an_order_of_keys_that_data_decide_is_known_to_a_call_and_refused_in_a_batch(
    make: Callable[[Any], Any], ask: Callable[[Any], Any]
):
    def f(x: Any) -> Any:
        return ask(make(x))

    compiled = pliant.jit(f)
    for x in (X, -X, X):
        assert repr(_plain(compiled(x))) == repr(_plain(f(x)))
    with pytest.raises(UnboundError, match="the order of the keys of the dict depends on a condition") as raised:
        pliant.vmap(f)(np.stack([X, -X]))
    assert "without taking it out before, and write keys in one order" in str(raised.value)


@pytest.mark.parametrize("make", [swapped, taken_out])
def test_items_are_read_whatever_the_order_of_the_keys_is(make: Callable[[Any], Any]):
    def f(x: Any) -> Any:
        d = make(x)
        return d["a"] * 2 + d["b"], len(d), "a" in d

    a, count, holds = pliant.vmap(f)(np.stack([X, -X]))
    np.testing.assert_array_equal(a, [f(X)[0], f(-X)[0]])
    assert count.tolist() == [2, 2]
    assert holds.all()


def test_lists_in_dicts_of_two_orders_stay_apart():
    def f(x: Any) -> Any:
        u, v = [1.0], [2.0]
        d = {"u": u, "v": v} if x[0] > 0 else {"v": v, "u": u}
        d["u"][0] = x[1]
        return u, v

    for x in (X, -X):
        assert _plain(pliant.jit(f)(x)) == _plain(f(x))


def put_in(x: Any) -> Any:
    d: dict[str, Any] = {}
    if x[0] > 0:
        d["a"] = x[0]
        d["b"] = x[1]
    else:
        d["b"] = x[1]
        d["a"] = x[0]
    return d


def put_in_once(x: Any) -> Any:
    d: dict[str, Any] = {}
    if x[0] > 0:
        d["a"] = x[0]
    d["b"] = x[1]
    d["a"] = x[2]
    return d


def put_in_by_update(x: Any) -> Any:
    d: dict[str, Any] = {}
    if x[0] > 0:
        d["a"] = x[0]
    d["b"] = x[1]
    d.update(a=x[2])
    return d


def put_in_by_itself(x: Any) -> Any:
    d: dict[str, Any] = {}
    if x[0] > 0:
        d["a"] = x[0]
    else:
        d["b"] = x[0]
        d["a"] = x[1]
    d["b"] = x[2]
    return d


def put_in_deeper(x: Any) -> Any:
    d: dict[str, Any] = {"z": 1.0}
    if x[0] > 0:
        if x[1] > x[2]:
            d["a"] = x[0]
        else:
            d["b"] = x[0]
            d["a"] = x[1]
        d["b"] = x[2]
    else:
        d["b"], d["a"] = x[0], x[1]
    return d


def put_in_or_set(x: Any) -> Any:
    d: dict[str, Any] = {}
    if x[0] > 0:
        d.setdefault("a", x[0])
        d["b"] = x[1]
    else:
        d["b"] = x[1]
        d.setdefault("a", x[2])
    return d


def put_in_by_steps(x: Any) -> Any:
    d: dict[str, Any] = {}
    for v in x:
        if v > 0:
            d["a"] = d["b"] = v
        else:
            d["b"] = d["a"] = v
    return d


def put_in_by_a_function(x: Any) -> Any:
    d: dict[str, Any] = {}

    def put(*names: str) -> None:
        for name in names:
            d[name] = x[1]

    if x[0] > 0:
        put("a", "b")
    else:
        put("b", "a")
    return d


def reordered_deeper(x: Any) -> Any:
    d = {"a": x[0], "b": x[1]}
    if x[0] > 0:
        if x[1] > x[2]:
            d["a"] = d.pop("a")
    else:
        d["a"] = x[2]
    return d


class Fields:
    """Has what is put there."""

    a: Any
    b: Any


def put_in_fields(x: Any) -> Any:
    o = Fields()
    if x[0] > 0:
        o.a, o.b = x[0], x[1]
    else:
        o.b, o.a = x[1], x[0]
    return vars(o)


@pytest.mark.parametrize(
    "make",
    [put_in, put_in_once, put_in_by_update, put_in_by_itself, put_in_deeper, put_in_or_set, put_in_by_steps,
     put_in_by_a_function, reordered_deeper, put_in_fields],
)  # fmt: skip
def test_an_order_in_which_data_decide_that_keys_come_is_known_to_a_call_and_refused_in_a_batch(
    make: Callable[[Any], Any],
):
    def f(x: Any) -> Any:
        d = make(x)
        return list(d), [*d.values()]

    def items(x: Any) -> Any:
        d = make(x)
        return d["a"], d["b"], len(d)

    compiled = pliant.jit(f)
    xs = [X, -X, X * [1, -1, 1, 1], X]
    for x in xs:
        assert repr(_plain(compiled(x))) == repr(_plain(f(x)))
    with pytest.raises(UnboundError, match="the order of the keys of the dict depends on a condition"):
        pliant.vmap(f)(np.stack(xs))
    a, b, count = pliant.vmap(items)(np.stack(xs))
    assert [*zip(a, b, count, strict=True)] == [*map(items, xs)]


def before_both(x: Any) -> Any:
    d: dict[str, Any] = {"a": 1.0}
    if x[0] > 0:
        d["a"] = x[0]
        d["b"] = x[1]
    else:
        d["b"] = x[1]
        d["a"] = x[0]
    return d


def before_others(x: Any) -> Any:
    d: dict[str, Any] = {}
    if x[0] > 0:
        d["a"] = x[0]
    d["a"] = x[1]
    d["b"] = x[2]
    return d


def by_parity(x: Any) -> Any:
    d: dict[str, Any] = {}
    for k in range(4):
        if k % 2:
            d["a"] = x[0]
            d["b"] = x[1]
        else:
            d["b"] = x[1]
            d["a"] = x[0]
    return d


@pytest.mark.parametrize("make", [before_both, before_others, by_parity])
def test_an_order_of_keys_that_is_the_same_for_all_data_is_known_to_a_batch(make: Callable[[Any], Any]):
    def f(x: Any) -> Any:
        d = make(x)
        return [*d.values()], list(d)

    values, names = pliant.vmap(f)(np.stack([X, -X]))
    np.testing.assert_array_equal(np.transpose(values), [f(X)[0], f(-X)[0]])
    assert names == f(X)[1]


def test_ordered_dicts_of_two_orders_are_compared_as_each_call_has_them():
    def f(x: Any) -> Any:
        d: OrderedDict[str, float] = OrderedDict()
        if x[0] > 0:
            d["a"] = 1.0
            d["b"] = 2.0
        else:
            d["b"] = 2.0
            d["a"] = 1.0
        return d == OrderedDict(a=1.0, b=2.0), d != OrderedDict(a=1.0, b=2.0), d == {"b": 2.0, "a": 1.0}

    compiled = pliant.jit(f)
    for x in (X, -X, X):
        assert compiled(x) == f(x)
    with pytest.raises(UnboundError, match="the order of the keys of the OrderedDict depends on a condition"):
        pliant.vmap(f)(np.stack([X, -X]))


def swapped(x: Any, n: Any) -> Any:
    d = {"a": x[0], "b": x[1]}
    for i in range(n):
        d = {"b": 2 * d["a"], "a": d["b"] + i}
    return d


def swapped_while(x: Any, n: Any) -> Any:
    d = {"a": x[0], "b": x[1]}
    while d["a"] < n:
        d = {"b": d["b"] + 1, "a": d["a"] + 1}
    return d


def turned(x: Any, n: Any) -> Any:
    d = {"a": x[0], "b": x[1]}
    for i in range(n):
        d = {key: value * x[i] for key, value in reversed(d.items())}
    return d


@pytest.mark.parametrize("make", [swapped, swapped_while, turned])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 4])
def test_a_dict_that_steps_make_anew_has_the_order_of_their_keys(make: Callable[..., Any], n: int):
    def f(x: Any, n: Any) -> Any:
        total = 0.0
        for key, value in make(x, n).items():
            total = 3 * total + value + (key == "b")
        return total

    def keys(x: Any, n: Any) -> list[str]:
        return list(make(x, n))

    assert pliant.jit(f)(X, n) == f(X, n)
    assert pliant.jit(lambda x: f(x, n))(X) == f(X, n)
    assert pliant.jit(keys)(X, n) == keys(X, n)


class Plain:
    """An object with attributes."""

    def __init__(self) -> None:
        self.c = 0.0


def by_vars(x: Any) -> Any:
    """An attribute that one branch sets by `vars`."""
    o = Plain()
    if x[0] < 1.5:
        vars(o)["c"] = 1.0
    else:
        o.c = x[1]
    return o.c


def by_dict(x: Any) -> Any:
    """An attribute that one branch sets in the `__dict__` of one of two objects."""
    o, p = Plain(), Plain()
    q = o if x[0] > x[1] else p
    if x[0] > 1.5:
        q.c = x[1]
    else:
        q.__dict__["c"] = 1.0
    return o.c, p.c, q.c


def in_steps(x: Any) -> Any:
    """An attribute that steps set in both ways."""
    o = Plain()
    for i in range(3):
        if x[i % 2] < 1.5:
            vars(o)["c"] = o.c + 1.0
            continue
        o.c = o.c + x[1]
    return o.c


@pytest.mark.parametrize("program", [by_vars, by_dict, in_steps])
def test_items_of_what_vars_returns_are_attributes(program: Any) -> None:
    compiled = pliant.jit(program)
    for x in ([1.0, 2.0], [2.0, 1.0], [2.0, 2.0], [1.0, 1.0]):
        np.testing.assert_allclose(compiled(np.array(x)), program(np.array(x)))


def bound_in_the_last_else(x: Any) -> Any:
    d = {"c": 1.0, "b": 5.0, "a": x[1]}
    if x[2] > 0 or x[0] > 0:
        pass
    else:
        d = {"a": x[0], "b": x[1], "c": x[2]}
    return d


def bound_in_an_if_inside(x: Any) -> Any:
    d = {"c": 1.0, "b": 5.0, "a": x[1]}
    if x[2] <= 0 and x[1] > 0:
        if x[0] <= 0:
            d = {"a": x[0], "b": x[1], "c": x[2]}
        else:
            del d["b"]
            d["b"] = 3.0
    return d


@pytest.mark.parametrize("make", [bound_in_the_last_else, bound_in_an_if_inside])
@pytest.mark.parametrize("x", [[1.0, 2.0, 3.0], [1.0, 2.0, -3.0], [-1.0, 2.0, -3.0], [-1.0, 2.0, 3.0]])
def test_branches_inside_of_others_decide_the_order_of_the_keys(make: Callable[[Any], Any], x: list[float]):
    got = pliant.jit(make)(np.array(x))
    assert [*got.items()] == [*make(np.array(x)).items()]
    names = pliant.jit(lambda x: [*make(x)])(np.array(x))
    assert names == [*make(np.array(x))]
