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
