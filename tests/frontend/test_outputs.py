"""What a compiled function does to the dicts and lists it is given."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import pliant


def same(a: Any, b: Any) -> None:
    """Equal trees of equal arrays and numbers of equal types."""
    assert type(a) is type(b)
    if isinstance(a, dict):
        assert list(a) == list(b)
        for k in a:
            same(a[k], b[k])
    elif isinstance(a, list | tuple):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            same(x, y)
    else:
        np.testing.assert_array_equal(a, b)


def parameters() -> Any:
    return {"b": 1.5, "layers": [{"w": np.ones(3)}, {"w": np.arange(2.0)}], "n": np.float64(2)}


def rebinds(p: Any) -> None:
    p["b"] -= 0.5
    p["n"] = p["n"] * 2
    p["layers"][0]["w"] = p["layers"][0]["w"] * p["b"]
    p["layers"][1]["w"] += 1


def restructures(p: Any) -> Any:
    p["layers"].append({"w": p["layers"][0]["w"] + 1})
    p["layers"][0], p["layers"][1] = p["layers"][1], p["layers"][0]
    p["name"] = "new"
    del p["n"]
    return p["layers"][-1]["w"]


def functional(p: Any) -> Any:
    p["b"] = p["layers"][0]["w"] * 2
    return p


def test_containers_hold_afterwards_what_numpy_would_leave_in_them():
    for f in (rebinds, restructures, functional):
        g = pliant.jit(f)
        for _ in range(3):
            ours, theirs = parameters(), parameters()
            got, wanted = g(ours), f(theirs)
            same(ours, theirs)
            same(got, wanted)


def test_a_new_array_in_a_container_is_the_one_that_is_returned():
    p = parameters()
    assert pliant.jit(functional)(p)["b"] is p["b"]


def test_arrays_that_stay_are_the_same_objects_and_nested_containers_too():
    p = parameters()
    first, layers = p["layers"][0], p["layers"]
    kept = p["layers"][1]["w"]
    pliant.jit(rebinds)(p)
    assert p["layers"] is layers and p["layers"][0] is first and p["layers"][1]["w"] is kept


def test_containers_are_left_alone_by_derivatives():
    def loss(p: Any) -> Any:
        p["w"] = p["w"] * 2
        return np.sum(p["w"])

    p = {"w": np.ones(3)}
    np.testing.assert_array_equal(pliant.grad(loss)(p)["w"], [2, 2, 2])
    same(p, {"w": np.ones(3)})


def test_a_view_at_a_traced_place_is_a_view_of_the_argument():
    f = pliant.jit(lambda x, i, j: (x[i], x[i, 1:3], x[:, j][::-1]))
    x = np.arange(12.0).reshape(3, 4)
    for i, j in ((0, 1), (2, 3), (-1, -4)):
        for got, wanted in zip(f(x, i, j), (x[i], x[i, 1:3], x[:, j][::-1]), strict=True):
            np.testing.assert_array_equal(got, wanted)
            assert np.shares_memory(got, x) and got.strides == wanted.strides


def test_a_view_out_of_range_raises_when_what_came_before_has_happened():
    def f(x: Any, i: Any) -> Any:
        x += 1
        return x[i]

    x = np.zeros((3, 4))
    g = pliant.jit(f)
    assert np.shares_memory(g(x, 1), x)
    with pytest.raises(IndexError, match="index 3 is out of range for axis 0"):
        g(x, 3)
    np.testing.assert_array_equal(x, np.full((3, 4), 2.0))  # as with NumPy


def test_read_only_views_of_an_argument_are_returned_as_such():
    x = np.arange(9.0).reshape(3, 3)
    f = pliant.jit(lambda x: (np.diagonal(x), np.broadcast_to(x[0], (2, 3))))
    for view in f(x):
        assert np.shares_memory(view, x) and not view.flags.writeable


def test_one_view_that_is_returned_twice_is_one_object():
    def f(x: Any) -> Any:
        y = x * 2
        v, w = x[1:], y[::2]
        return v, [w, {"again": v, "other": x[1:], "third": w}], y

    g = pliant.jit(f)
    for _ in range(3):
        x = np.arange(5.0)
        v, (w, more), y = g(x)
        assert more["again"] is v and more["third"] is w and more["other"] is not v
        assert v.base is x and np.shares_memory(w, y)


def test_copies_of_trees_are_copies_of_their_arrays():
    def f(p: Any) -> Any:
        before, same = copy.deepcopy(p), copy.copy(p["w"])
        p["w"] += 1
        before["w"][0] = 5
        return before, same, copy.copy(p["w"][0])

    ours, theirs = ({"w": np.arange(3.0), "n": [2.5]} for _ in range(2))
    same(pliant.jit(f)(ours), f(theirs))
    same(ours, theirs)
