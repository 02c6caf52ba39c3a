"""While loops: values, masked batches, derivatives of both modes to second order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pliant.core.build import trace
from pliant.core.ir import Value, const, nodes
from pliant.core.types import Type
from pliant.errors import ShapeError
from pliant.ops.compare import greater, less
from pliant.ops.contract import dot_general
from pliant.ops.elementwise import absolute, add, convert
from pliant.ops.index import gather, scatter_set
from pliant.ops.loop import Loop
from pliant.ops.reduce import reduce_sum
from pliant.ops.shape import reshape
from pliant.ops.tape import Rewind
from pliant.ops.transcendental import sin
from pliant.ops.while_loop import WhileLoop
from pliant.pipeline import optimise
from pliant.testing import check_primitive, differences, reverse, run, sample
from pliant.transforms.dead import eliminate_dead
from tests.programs.programs import f64, gradient

I64 = Type("i64")


def newton() -> WhileLoop:
    """The square root of a, and how many steps it took."""

    def test(a: Value, x: Value, n: Value) -> Value:
        return greater(absolute(x * x - a), const(1e-12, "f64"))

    def body(a: Value, x: Value, n: Value) -> tuple[Value, ...]:
        return 0.5 * (x + a / x), add(n, 1)

    types = (f64(), f64(), I64)
    return WhileLoop(trace(test, *types), trace(body, *types), ("const", "carry", "carry"))


def repeated(body: Callable[..., tuple[Value, ...]], kinds: str, *types: Type) -> WhileLoop:
    """A loop of as many steps as its first operand says; the second counts them."""

    def test(n: Value, i: Value, *xs: Value) -> Value:
        return less(i, n)

    def step(n: Value, i: Value, *xs: Value) -> tuple[Value, ...]:
        return i + 1, *body(i, *xs)

    ins: Any = ("const", "carry", *kinds.split())
    every = (I64, I64, *types)
    return WhileLoop(trace(test, *every), trace(step, *every), ins)


def rotation(i: Value, w: Value, x: Value, y: Value) -> tuple[Value, ...]:
    return y, sin(dot_general(w, x, ((1,), (0,)))) + 0.1 * y


def writing(i: Value, table: Value, total: Value) -> tuple[Value, ...]:
    at = reshape(i, (1,))
    read = gather(table, at)
    return scatter_set(table, (at,), read * reshape(total, (1,))), total + reduce_sum(read * read)


def inner_loop(i: Value, x: Value, y: Value) -> tuple[Value, ...]:
    """Steps of a counted loop inside."""

    def step(j: Value, x: Value, y: Value) -> tuple[Value, ...]:
        return (sin(x) * y + 0.1 * convert(j, "f64"),)

    return Loop(2, ("carry", "const"), ("last",), trace(step, I64, f64(), f64())).apply(x, y)


def inner_while(i: Value, n: Value, x: Value, y: Value) -> tuple[Value, ...]:
    """Another while loop inside, of a number of steps that depends on this one's."""
    inner = repeated(lambda j, x, y: (sin(x) * y,), "carry const", f64(), f64())
    return (inner.apply(n, i, x, y)[1],)


def counted(op: WhileLoop, count: int) -> Callable[[np.random.Generator], list[Any]]:
    types = [p.type for p in op.body.params[2:]]
    return lambda rng: [
        np.int64(count),
        np.int64(0),
        *(np.int64(3) if t == I64 else sample(rng, t, -0.7, 0.7) for t in types),
    ]


REPEATED = {
    "rotates": repeated(rotation, "const carry carry", f64(2, 2), f64(2), f64(2)),
    "writes": repeated(writing, "carry carry", f64(17), f64()),
    "holds a loop": repeated(inner_loop, "carry const", f64(), f64()),
    "holds a while loop": repeated(inner_while, "const carry const", I64, f64(), f64()),
}


def test_newton_iteration_follows_all_laws() -> None:
    check_primitive(newton(), f64(), f64(), I64, low=0.5, high=3.0)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 5, 17])
@pytest.mark.parametrize("name", REPEATED)
def test_derivatives_hold_for_any_number_of_steps(name: str, count: int) -> None:
    op = REPEATED[name]
    types = [p.type for p in op.body.params]
    check_primitive(op, *types, draw=counted(op, count), rtol=1e-5)


def test_newton_iteration_has_the_implicit_gradient() -> None:
    fn = trace(lambda a: newton().apply(a, a, const(0, "i64"))[0], f64())
    np.testing.assert_allclose(run(gradient(fn), [np.float64(3.0)]), [0.5 / np.sqrt(3)])


@pytest.mark.parametrize("name", REPEATED)
def test_reverse_mode_twice_is_what_differences_say(name: str) -> None:
    op = REPEATED[name]
    fn = trace(lambda *xs: op.apply(const(3, "i64"), const(0, "i64"), *xs)[-1], *[p.type for p in op.body.params[2:]])
    active = tuple(p.type.is_float for p in fn.params)
    back = reverse(fn, active)
    twice = reverse(back, tuple(p.type.is_float for p in back.params))
    rng = np.random.default_rng(0)
    xs = [np.int64(3) if p.type == I64 else sample(rng, p.type, -0.7, 0.7) for p in back.params]
    cts = [sample(rng, r.type) for r in back.results]
    ways = [sample(rng, p.type, -0.7, 0.7) for p in back.params if p.type.is_float]
    got = sum(float(np.vdot(g, w)) for g, w in zip(run(twice, [*xs, *cts]), ways, strict=True))
    flags = tuple(p.type.is_float for p in back.params)
    tangents = differences(lambda *moved: run(back, moved), tuple(xs), tuple(ways), flags)
    wanted = sum(float(np.vdot(c, t)) for c, t in zip(cts, tangents, strict=True))
    np.testing.assert_allclose(got, wanted, rtol=1e-6)


def test_a_tape_holds_what_the_wanted_cotangents_read() -> None:
    op = repeated(lambda i, x, y: (x * y, sin(y)), "carry carry", f64(), f64())
    fn = trace(lambda x: op.apply(const(9, "i64"), const(0, "i64"), x, const(0.5, "f64"))[1], f64())
    (node,) = [n for n in nodes(optimise(gradient(fn)).results) if isinstance(n.op, Rewind)]
    assert node.op.saved == 1  # y; no cosine of it
    for step, saved in ((lambda i, x: (x * 2.0,), [0]), (lambda i, x: (x + 1.0,), [])):  # no way back from what stays
        linear = repeated(step, "carry", f64())
        fn = optimise(gradient(trace(lambda x, op=linear: op.apply(const(9, "i64"), const(0, "i64"), x)[1], f64())))
        assert [n.op.saved for n in nodes(fn.results) if isinstance(n.op, Rewind)] == saved


def test_counting_has_a_zero_gradient() -> None:
    def test(n: Value, x: Value) -> Value:
        return less(n, const(5, "i64"))

    op = WhileLoop(trace(test, I64, f64()), trace(lambda n, x: (add(n, 1),), I64, f64()), ("carry", "const"))
    fn = trace(lambda x: x * x + convert(op.apply(const(0, "i64"), x)[0], "f64"), f64())
    assert run(fn, [np.float64(2.0)])[0] == 9.0
    assert run(gradient(fn), [np.float64(2.0)])[0] == 4.0


def test_carries_that_nobody_needs_are_dropped() -> None:
    fn = eliminate_dead(trace(lambda a: newton().apply(a, a, const(0, "i64"))[0], f64()))
    (node,) = [n for n in nodes(fn.results) if isinstance(n.op, WhileLoop)]
    assert node.op.ins == ("const", "carry")


def test_a_body_that_changes_the_state_is_refused() -> None:
    op = WhileLoop(trace(lambda x: greater(x, const(0, "f64")), f64()), trace(lambda x: (x, x), f64()), ("carry",))
    with pytest.raises(ShapeError, match="carries after a step"):
        trace(op.apply, f64())
