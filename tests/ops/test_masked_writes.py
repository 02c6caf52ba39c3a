"""A choice between an array and itself with a few elements written is a choice for these elements."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.core.build import trace
from pliant.core.inner import functions_of
from pliant.core.ir import Function, Node, Value, nodes
from pliant.core.types import Type
from pliant.ops import RULES
from pliant.ops.block import AddBlock, UpdateBlock
from pliant.ops.index import ScatterAdd, ScatterSet
from pliant.ops.select import Select, select
from pliant.ops.shape import broadcast, permute, slice_axis
from pliant.ops.update import AddSlice, UpdateSlice
from pliant.passes import outward
from pliant.pipeline import optimise
from pliant.rewrite.engine import simplify
from pliant.testing import run

rng = np.random.default_rng(5)
X = rng.standard_normal((4, 9, 8))
X[1, 2] = -0.0
X[2, 3, :2] = np.nan, np.inf
T = np.array([True, False, True, False])
K = np.array([3, 0, 7, 1])


def element(x: Any, t: Any, k: Any) -> Any:
    for i in range(1, 9):
        for j in range(8):
            if x[i - 1, j] < x[i, j]:
                x[i, j] = x[i - 1, j] - 0.25 * x[i, j]
    return x


def where_told(x: Any, t: Any, k: Any) -> Any:
    if t:
        x[k, k] = 2.0 * x[k, k]
    return x


def row(x: Any, t: Any, k: Any) -> Any:
    for i in range(8):
        if t and x[i, 0] > -0.5:
            x[i + 1] = np.sin(x[i])
    return x


def added(x: Any, t: Any, k: Any) -> Any:
    for i in range(8):
        if t:
            x[i, 1:4] += x[i + 1, 1:4]
    return x


def often(x: Any, t: Any, k: Any) -> Any:
    if t:
        np.add.at(x, [k, k, 2], x[0])
    return x


def last_of_several(x: Any, t: Any, k: Any) -> Any:
    if t:
        x[[k, 1, k]] = np.stack([x[0], x[1], x[2]])
    return x


def either(x: Any, t: Any, k: Any) -> Any:
    for i in range(9):
        if x[i, 0] > 0.0:
            x[i, 1] = x[i, 2] * 3.0
        else:
            x[i, 3] = x[i, 1] + 1.0
            x[k, 4] = 1.0
    return x


def nested(x: Any, t: Any, k: Any) -> Any:
    for i in range(9):
        if t:
            if x[i, 0] > 0.0:
                x[i, k] = 1.0
            else:
                x[i, 0] = -x[i, 0]
    return x


def part(x: Any, t: Any, k: Any) -> Any:
    for i in range(9):
        if t:
            x[i, : i - 1] *= 0.5
    return x


def ends_early(x: Any, t: Any, k: Any) -> Any:
    i = 0
    while i < 9 and x[i, 0] < 1.0:
        x[i, 1] = x[i, 0]
        i += 1
    return x


def fixed(x: Any, t: Any, k: Any) -> Any:
    if t:
        x[0] = 1.0
        x[2:4, 3] += x[4, 4]
    return x


PROGRAMS = [element, where_told, row, added, often, last_of_several, either, nested, part, ends_early, fixed]
ANY = [where_told, last_of_several, fixed]  # of any numbers; the others compare or divide them
programs = pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)


@pytest.mark.parametrize(
    ("f", "dtype"),
    [(f, dtype) for f in PROGRAMS for dtype in ("f8", "f4", "i8", "c16") if dtype[0] == "f" or f in ANY],
    ids=lambda v: getattr(v, "__name__", v),
)
def test_a_batch_is_what_numpy_makes_of_each(f: Callable[..., Any], dtype: str) -> None:
    xs = (X if dtype[0] != "i" else np.nan_to_num(4 * X, posinf=7)).astype(dtype)
    expected = np.stack([f(x.copy(), t, k) for x, t, k in zip(xs, T, K, strict=True)])
    for backend in ("llvm", "reference"):
        made = pliant.jit(pliant.vmap(f), backend=backend)(xs.copy(), T, K)
        np.testing.assert_allclose(made, expected, rtol=1e-6 if dtype == "f4" else 1e-12)
        if dtype[0] == "f":
            np.testing.assert_array_equal(np.signbit(made), np.signbit(expected))


@programs
def test_the_gradient_of_a_batch_is_that_of_each(f: Callable[..., Any]) -> None:
    xs = np.nan_to_num(X, posinf=0.5)

    def loss(x: Any, t: Any, k: Any) -> Any:
        return np.sum(np.cos(f(x.copy(), t, k)))

    expected = [pliant.grad(loss)(x, t, k) for x, t, k in zip(xs, T, K, strict=True)]
    np.testing.assert_allclose(pliant.vmap(pliant.grad(loss))(xs, T, K), expected, rtol=1e-12, atol=1e-13)

    def total(xs: Any) -> Any:
        return pliant.vmap(loss)(xs, T, K).sum()

    np.testing.assert_allclose(pliant.grad(total)(xs), expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("f", [element, where_told, row, added, often, either, nested], ids=lambda f: f.__name__)
def test_no_step_chooses_between_whole_arrays(f: Callable[..., Any]) -> None:
    fn = optimise(pliant.trace(pliant.vmap(f), X, T, K))
    chosen = [node.values[0].type.size for node in _everything(fn) if isinstance(node.op, Select)]
    assert max(chosen) < X.size


def _everything(fn: Function) -> Iterator[Node]:
    for node in nodes(fn.results):
        yield node
        for inner in functions_of(node.op).values():
            yield from _everything(inner)


BOARD = Type("f64", (4, 4, 5))
PLACES = Type("i64", (2,))
WRITES = {  # operands, the write, and the axes that a mask may vary along
    "scatter": ((BOARD, PLACES, Type("f64", (2, 4, 5))), ScatterSet(), {1, 2}),
    "scatter by two": ((BOARD, PLACES, PLACES, Type("f64", (2, 5))), ScatterSet(), {2}),
    "scatter in each problem": ((BOARD, Type("i64", (4, 1)), Type("f64", (4, 1, 5))), ScatterSet(shared=1), {0, 2}),
    "scatter of sums": ((BOARD, PLACES, Type("f64", (2, 4, 5))), ScatterAdd(), {1, 2}),
    "block": ((BOARD, Type("f64", (4, 2, 2)), *[Type("i64", (4,))] * 4), UpdateBlock((1, 1), 1), {0}),
    "block of sums": ((BOARD, Type("f64", (4, 2, 2)), *[Type("i64", (4,))] * 4), AddBlock((1, 2), 1), {0}),
    "slice": ((BOARD, Type("f64", (4, 2, 2))), UpdateSlice((0, 1, 0), (1, 2, 3)), {0}),
    "slice of sums": ((BOARD, Type("f64", (2, 4, 2))), AddSlice((1, 0, 1), (1, 1, 2)), {1}),
}


@pytest.mark.parametrize("name", WRITES)
@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)])
def test_the_choice_of_a_write_is_the_write_of_a_choice(name: str, axis: int, order: tuple[int, ...]) -> None:
    types, op, allowed = WRITES[name]
    place = order.index(axis)  # of the axis, when all is done

    def f(flags: Value, *xs: Value) -> tuple[Value, ...]:
        y, x = permute(op(*xs), order), permute(xs[0], order)
        mask = broadcast(flags, y.shape, (place,))
        return select(mask, y, x), select(mask, x, y)

    fn = trace(f, Type("bool", (BOARD.shape[axis],)), *types)
    fast = simplify(fn, (*RULES, *outward.RULES))
    sizes = [node.values[0].type.size for node in nodes(fast.results) if isinstance(node.op, Select)]
    assert (max(sizes) < BOARD.size) == (axis in allowed)
    draw = np.random.default_rng(0)
    flags = draw.random(BOARD.shape[axis]) < 0.5
    xs = [draw.standard_normal(t.shape) if t.dtype == "f64" else draw.integers(0, 2, t.shape) for t in types]
    xs[0].flat[::3] = -0.0
    for made, expected in zip(run(fast, [flags, *xs]), run(fn, [flags, *xs]), strict=True):
        np.testing.assert_array_equal(made, expected)
        np.testing.assert_array_equal(np.signbit(made), np.signbit(expected))


def test_a_choice_after_more_writes_than_python_has_frames() -> None:
    def chosen(t: Value, x: Value) -> Value:
        y = x
        for i in range(3000):
            y = UpdateSlice((i % 4,), (1,))(y, slice_axis(x, 0, 1, 1))
        return select(t, y, x)

    fn = trace(chosen, Type("bool"), Type("f64", (4,)))
    x = np.arange(4.0)
    for t, want in ((True, [1.0] * 4), (False, x)):
        (found,) = run(simplify(fn, RULES), [np.array(t), x])
        np.testing.assert_array_equal(found, want)
