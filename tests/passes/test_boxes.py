"""Adding overlapping windows box by box gives what adding them one after the other gives."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.core.build import trace
from pliant.core.ir import Function, Value, const, nodes
from pliant.core.types import Type
from pliant.core.verify import verify
from pliant.ops.loop import Loop
from pliant.ops.shape import broadcast
from pliant.ops.update import AddSlice, UpdateSlice, add_slice
from pliant.passes import boxes
from pliant.passes.boxes import add_in_boxes
from pliant.testing import run

RNG = np.random.default_rng(0)


def added(shape: tuple[int, ...], places: list[tuple[int, ...]], window: tuple[int, ...]) -> Function:
    """An array with windows of one size added, each multiplied by its number."""

    def f(x: Value, u: Value) -> Value:
        for n, start in enumerate(places):
            x = add_slice(x, u * const(float(n + 1), "f64"), start)
        return x

    return trace(f, Type("f64", shape), Type("f64", window))


def count(fn: Function) -> int:
    return sum(isinstance(node.op, AddSlice) for node in nodes(fn.results))


def agree(fn: Function) -> Function:
    made = verify(add_in_boxes(fn))
    xs = [RNG.normal(size=p.type.shape) for p in fn.params]
    for got, wanted in zip(run(made, xs), run(fn, xs), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-12)
    return made


def test_row_of_three_shifts_becomes_five_boxes() -> None:
    assert count(agree(added((302,), [(0,), (1,), (2,)], (300,)))) == 5


def test_cross_in_a_plane_has_one_large_box() -> None:
    made = agree(added((42, 42), [(1, 1), (0, 1), (2, 1), (1, 0), (1, 2)], (40, 40)))
    sizes = sorted(node.args[1].type.size for node in nodes(made.results) if isinstance(node.op, AddSlice))
    assert len(sizes) == 17
    assert sizes[-1] == 38 * 38


def test_windows_at_random_places() -> None:
    for _ in range(10):
        rank = int(RNG.integers(1, 4))
        places = [tuple(int(s) for s in RNG.integers(0, 3, rank)) for _ in range(int(RNG.integers(3, 7)))]
        agree(added((12 * 3 // rank,) * rank, places, (12 * 3 // rank - 2,) * rank))


def test_windows_are_grouped_where_boxes_would_be_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boxes, "MOST", 8)
    agree(added((42, 42), [(1, 1), (0, 1), (2, 1), (1, 0), (1, 2)], (40, 40)))


def test_cross_in_a_cube_has_one_large_box() -> None:
    cross = [(1, 1, 1), (0, 1, 1), (2, 1, 1), (1, 0, 1), (1, 2, 1), (1, 1, 0), (1, 1, 2)]
    made = agree(added((14, 14, 14), cross, (12, 12, 12)))
    sizes = sorted(node.args[1].type.size for node in nodes(made.results) if isinstance(node.op, AddSlice))
    assert len(sizes) == 29
    assert sizes[-1] == 10**3
    assert sizes[-2] == 12 * 12


def test_thin_layers_are_added_to_zeros_too() -> None:
    def f(u: Value) -> Value:
        x = UpdateSlice((1, 0, 1), (1, 1, 1))(broadcast(const(0.0, "f64"), (14, 14, 14), ()), u)
        return add_slice(add_slice(x, u, (0, 1, 1)), u, (2, 2, 0))

    agree(trace(f, Type("f64", (12, 12, 12))))


def test_windows_added_to_zeros_are_put_there() -> None:
    def f(u: Value) -> Value:
        x = UpdateSlice((0,), (1,))(broadcast(const(0.0, "f64"), (302,), ()), u)
        return add_slice(add_slice(x, u, (1,)), u, (2,))

    assert count(agree(trace(f, Type("f64", (300,))))) == 0


def test_value_on_the_way_that_is_read_stays() -> None:
    def f(x: Value, u: Value) -> tuple[Value, Value]:
        first = add_slice(add_slice(x, u, (0,)), u, (1,))
        return first, add_slice(first, u, (2,))

    assert count(agree(trace(f, Type("f64", (302,)), Type("f64", (300,))))) == 3


def test_bodies_of_loops_too() -> None:
    body = added((302,), [(0,), (1,), (2,)], (300,))

    def step(i: Value, x: Value, u: Value) -> Value:
        return body(x, u)[0]

    inner = trace(step, Type("i64"), *(p.type for p in body.params))

    def f(x: Value, u: Value) -> Value:
        return Loop(3, ("carry", "const"), ("last",), inner).apply(x, u)[0]

    made = agree(trace(f, *(p.type for p in body.params)))
    (loop,) = [node.op for node in nodes(made.results) if isinstance(node.op, Loop)]
    assert count(loop.body) == 5
