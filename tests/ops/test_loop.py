"""Loops: values against Python's, all laws for every kind, to second order, nested, in text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pliant.core.build import trace
from pliant.core.ir import Function, Value, const, nodes
from pliant.core.parse import parse
from pliant.core.types import Type
from pliant.errors import DTypeError, ShapeError
from pliant.ops import ALL
from pliant.ops.compare import Greater
from pliant.ops.contract import dot_general
from pliant.ops.elementwise import convert
from pliant.ops.index import gather, scatter_set
from pliant.ops.loop import Loop
from pliant.ops.reduce import reduce_sum
from pliant.ops.shape import reshape
from pliant.ops.transcendental import sin
from pliant.ops.update import slice_window
from pliant.pipeline import optimise
from pliant.testing import check_primitive, run, sample
from pliant.transforms.dead import eliminate_dead
from tests.programs.programs import f64, gradient

RNG = np.random.default_rng(0)
I64 = Type("i64")


def oscillator(i: Value, kappa: Value, x: Value, push: Value) -> tuple[Value, ...]:
    force = sin(x) - kappa * x
    new = x + 0.01 * (force + push)
    return new, 0.5 * reduce_sum(new * new), reduce_sum(force * push)


def loop(body: Callable[..., Any], length: int, ins: str, outs: str, *types: Type, **settings: Any) -> Loop:
    kinds: Any = tuple(ins.split())
    results: Any = tuple(outs.split())
    return Loop(length, kinds, results, trace(body, I64, *types), **settings)


def at(x: Value, i: Value) -> Value:
    """x[i], of rank one less."""
    return reshape(gather(x, reshape(i, (1,))), x.shape[1:])


def spring(length: int = 5, **settings: Any) -> Loop:
    return loop(oscillator, length, "const carry each", "last stack sum", f64(), f64(3), f64(3), **settings)


def nested(i: Value, x: Value, y: Value) -> tuple[Value, ...]:
    """x after three inner steps, which also read y and the outer index."""

    def step(j: Value, k: Value, x: Value, y: Value) -> tuple[Value, ...]:
        new = sin(x) * y + convert(j + k, "f64")
        return new, new * x

    inner = loop(step, 3, "const carry const", "last sum", I64, f64(), f64())
    return inner.apply(i, x, y)


def newton(i: Value, x: Value, a: Value) -> tuple[Value, ...]:
    new = 0.5 * (x + a / x)
    return (new,)


def swapping(i: Value, x: Value, y: Value) -> tuple[Value, ...]:
    return y, sin(x)


def overwriting(i: Value, x: Value, table: Value) -> tuple[Value, ...]:
    read = at(table, i)
    return x * read, scatter_set(table, (reshape(i, (1,)),), reshape(x + read, (1,)))


def counted(i: Value, n: Value, kappa: Value, x: Value, push: Value) -> tuple[Value, ...]:
    """The oscillator for n of at most five steps."""
    return oscillator(i, kappa, x, push)


def counting(i: Value, n: Value, flag: Value, x: Value) -> tuple[Value, ...]:
    return n + i, Greater()(x, 0.5), x * convert(n, "f64")


def folding(i: Value, x: Value) -> tuple[Value, ...]:
    up = sin(x) + convert(i, "f64")
    return up, x, x, Greater()(x, 0.0), Greater()(x, -9.0)


def leaving(i: Value, x: Value, y: Value) -> tuple[Value, ...]:
    """x is replaced by what does not depend on it."""
    return y * y, x


LOOPS: dict[str, tuple[Loop, tuple[Type, ...]]] = {
    "of all kinds": (spring(), (f64(), f64(3), f64(5, 3))),
    "of all kinds, reversed": (spring(reverse=True), (f64(), f64(3), f64(5, 3))),
    "of no steps": (spring(0), (f64(), f64(3), f64(0, 3))),
    "of one step": (spring(1), (f64(), f64(3), f64(1, 3))),
    "of a number of steps": (
        loop(counted, 5, "count const carry each", "last stack sum", I64, f64(), f64(3), f64(3)),
        (I64, f64(), f64(3), f64(5, 3)),
    ),
    "of a number of steps, reversed": (
        loop(counted, 5, "count const carry each", "last stack max", I64, f64(), f64(3), f64(3), reverse=True),
        (I64, f64(), f64(3), f64(5, 3)),
    ),
    "nested": (loop(nested, 2, "carry const", "last stack", f64(), f64()), (f64(), f64())),
    "of scalars": (loop(newton, 4, "carry const", "last", f64(), f64()), (f64(), f64())),
    "that rotates carries": (loop(swapping, 5, "carry carry", "last last", f64(2), f64(2)), (f64(2), f64(2))),
    "that writes a carry": (loop(overwriting, 4, "carry carry", "last last", f64(), f64(4)), (f64(), f64(4))),
    "of carries that leave": (loop(leaving, 3, "carry const", "last stack", f64(), f64()), (f64(), f64())),
    "of complex numbers": (
        loop(lambda i, x, y: (x * y, x + y), 3, "carry each", "last stack", Type("c128"), Type("c128")),
        (Type("c128"), Type("c128", (3,))),
    ),
    "of all folds": (
        loop(folding, 4, "each", "prod max min any all", f64(2)),
        (f64(4, 2),),
    ),
    "of an accurate sum": (
        loop(lambda i, x, y: (x * y, x * y + y), 4, "carry each", "last total", f64(), f64()),
        (f64(), f64(4)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LOOPS)
def test_all_laws_hold_for_a_loop(name: str) -> None:
    op, types = LOOPS[name]
    check_primitive(op, *types, low=0.3, high=1.7, rtol=1e-5)


@pytest.mark.parametrize("count", [-1, 0, 1, 2, 3, 5, 17])
@pytest.mark.parametrize("reverse", [False, True])
def test_a_loop_of_a_number_of_steps_follows_the_laws(count: int, reverse: bool) -> None:
    types = I64, f64(), f64(3), f64(17, 3)
    op = loop(counted, 17, "count const carry each", "last stack sum", I64, f64(), f64(3), f64(3), reverse=reverse)
    check_primitive(op, *types, draw=lambda rng: [np.int64(count), *(sample(rng, t) for t in types[1:])], rtol=1e-5)


def test_integers_and_bools_are_carried() -> None:
    op = loop(counting, 4, "carry carry const", "last last sum", I64, Type("bool"), f64())
    check_primitive(op, I64, Type("bool"), f64())
    n, flag, total = run(trace(op.apply, I64, Type("bool"), f64()), [np.int64(3), np.bool_(False), np.float64(2.0)])
    assert (n, flag, total) == (9, True, 2.0 * (3 + 3 + 4 + 6))


@pytest.mark.parametrize("reverse", [False, True])
def test_values_are_those_of_a_python_loop(reverse: bool) -> None:
    op = spring(reverse=reverse)
    kappa, x, push = 0.7, RNG.normal(size=3), RNG.normal(size=(5, 3))
    end, energies, work = run(trace(op.apply, f64(), f64(3), f64(5, 3)), [np.float64(kappa), x, push])
    energy, total = np.zeros(5), 0.0
    for i in range(5)[:: -1 if reverse else 1]:
        force = np.sin(x) - kappa * x
        x = x + 0.01 * (force + push[i])
        energy[i] = 0.5 * np.sum(x * x)
        total += np.sum(force * push[i])
    np.testing.assert_allclose(end, x)
    np.testing.assert_allclose(energies, energy)
    np.testing.assert_allclose(work, total)


def test_a_loop_prints_as_it_is_read_and_parses_back() -> None:
    fn = trace(lambda *xs: spring().apply(*xs), f64(), f64(3), f64(5, 3), names=("kappa", "x0", "push"))
    text = str(fn)
    assert "loop(length=5) {\n    index %i: i64[]\n    const %kappa.1: f64[] = %kappa\n" in text
    assert "    last  %" in text
    assert "    stack %" in text
    assert "    sum   %" in text
    assert parse(text, ALL) == fn
    assert str(parse(text, ALL)) == text


def tape(fn: Function) -> int:
    """Bytes of all stacks of the loops of a function."""
    loops = [n for n in nodes(fn.results) if isinstance(n.op, Loop)]
    return sum(t.bytes for n in loops for t, k in zip(n.types, n.op.outs, strict=True) if k == "stack")


def test_only_what_derivatives_read_is_kept() -> None:
    linear = loop(lambda i, x, a: (a * x + 1.0,), 10, "carry const", "last", f64(3), f64(3))
    fn = optimise(gradient(trace(lambda x, a: reduce_sum(linear(x, a)), f64(3), f64(3))))
    assert tape(fn) == 10 * 3 * 8  # x for the derivative with respect to a
    nonlinear = loop(lambda i, x: (x * x + sin(x),), 10, "carry", "last", f64(3))
    fn = optimise(gradient(trace(lambda x: reduce_sum(nonlinear(x)), f64(3))))
    assert tape(fn) == 2 * 10 * 3 * 8  # x, and cos x


def test_cotangents_of_reads_accumulate_in_place() -> None:
    def step(i: Value, total: Value, table: Value) -> tuple[Value, ...]:
        return (total + sin(at(table, i)),)

    op = loop(step, 6, "carry const", "last", f64(), f64(6))
    fn = optimise(gradient(trace(lambda table: op(const(0.0, "f64"), table), f64(6))))
    bodies = [n.op.body for n in nodes(fn.results) if isinstance(n.op, Loop)]
    sizes = [t.size for body in bodies for n in nodes(body.results) if n.op.name == "add" for t in n.types]
    assert max(sizes, default=0) <= 1  # no dense array of zeros is added


def test_a_window_of_a_carry_keeps_its_derivative() -> None:
    def step(i: Value, x: Value) -> tuple[Value, ...]:
        return (x + reduce_sum(slice_window(x, (1,), (1,), (2,)) * 0.5) * sin(x),)

    check_primitive(loop(step, 3, "carry", "last", f64(4)), f64(4))


def test_unused_results_and_their_operands_are_dropped() -> None:
    fn = trace(lambda *xs: spring().apply(*xs)[0], f64(), f64(3), f64(5, 3))
    (node,) = [n for n in nodes(eliminate_dead(fn).results) if isinstance(n.op, Loop)]
    assert node.op.outs == ("last",)
    same = loop(lambda i, x, y, z: (x * y, y), 3, "carry carry const", "last last", f64(), f64(), f64())
    (node,) = [n for n in nodes(optimise(trace(same.apply, f64(), f64(), f64())).results) if isinstance(n.op, Loop)]
    assert node.op.ins == ("carry", "const")


@pytest.mark.parametrize(
    ("make", "types", "message"),
    [
        (lambda: loop(lambda i, x: (reduce_sum(x),), 3, "carry", "last", f64(3)), (f64(3),), "leaves as"),
        (lambda: loop(lambda i, x: (x,), 3, "each", "stack", f64()), (f64(4),), "no 3 rows"),
        (lambda: loop(lambda i, x: (x,), 0, "each", "max", f64()), (f64(0),), "over no steps"),
        (lambda: loop(lambda i, x: (x,), 3, "const", "last", f64()), (f64(),), "as many results of kind last"),
        (lambda: loop(lambda i, x: (x,), 3, "const", "sum", f64()), (f64(2),), "the body takes"),
    ],
)
def test_loops_that_do_not_fit_are_refused(make: Any, types: Any, message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        trace(make().apply, *types)


def test_folds_have_the_dtypes_they_make_sense_for() -> None:
    with pytest.raises(DTypeError, match="no fold 'any' of f64"):
        trace(loop(lambda i, x: (x,), 3, "const", "any", f64()).apply, f64())


def test_the_gradient_of_a_matrix_in_a_loop_is_one_product_of_stacks() -> None:
    def step(i: Value, h: Value, w: Value) -> tuple[Value, ...]:
        return (sin(dot_general(w, h, ((1,), (0,)))),)

    op = loop(step, 6, "carry const", "last", f64(4), f64(4, 4))
    fn = trace(lambda h, w: reduce_sum(op(h, w)), f64(4), f64(4, 4))
    back = gradient(fn)
    fast = optimise(back)
    dots = [n for n in nodes(fast.results) if n.op.name == "dot"]
    assert [n.types[0] for n in dots] == [f64(4, 4)]
    xs = [RNG.normal(size=4), RNG.normal(size=(4, 4))]
    for a, b in zip(run(fast, xs), run(back, xs), strict=True):
        np.testing.assert_allclose(a, b)


def test_cotangents_of_what_inner_loops_read_accumulate_in_one_array() -> None:
    def inner(j: Value, total: Value, table: Value, i: Value) -> tuple[Value, ...]:
        return (sin(total) * at(table, i + j),)

    def outer(i: Value, total: Value, table: Value) -> tuple[Value, ...]:
        return loop(inner, 3, "carry const const", "last", f64(), f64(9), I64).apply(total, table, i)

    op = loop(outer, 4, "carry const", "last", f64(), f64(9))
    back = gradient(trace(lambda table: op(const(1.0, "f64"), table), f64(9)))
    fast = optimise(back)
    text = str(fast)
    assert text.count("scatter_add") == 1
    assert text.count("broadcast(0.0, shape=(9,)") == 1
    xs = [RNG.uniform(0.5, 1.5, 9)]
    np.testing.assert_allclose(run(fast, xs)[0], run(back, xs)[0])
