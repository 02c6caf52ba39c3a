"""Equalities of products, sums and parts of arrays, whatever the axes."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pliant
from pliant.core.build import trace
from pliant.core.ir import Function, Value
from pliant.core.types import Type
from pliant.ops import factors
from pliant.ops.contract import Dot
from pliant.ops.elementwise import add, mul, neg
from pliant.ops.reduce import ReduceSum, reduce_sum
from pliant.ops.shape import Broadcast, broadcast, permute, slice_axis
from pliant.ops.solve import Inv
from pliant.ops.transcendental import sin
from pliant.rewrite.engine import simplify
from pliant.rewrite.explain import Log
from pliant.testing import check_rule

A, B, C, V = (Type("f64", s) for s in ((4, 4), (4, 4), (4, 5), (4,)))
S = Type("f64")
TIMES = Dot(((1,), (0,)), ((), ()))

PROGRAMS: list[tuple[Any, tuple[Type, ...], Any]] = [
    (factors.product_of_product_first, (A, B, V), lambda a, b, v: TIMES(TIMES(a, b), v)),
    (factors.product_of_product_first, (A, B, C), lambda a, b, c: TIMES(TIMES(a, b), c)),
    (factors.product_of_product_last, (A, B, C), lambda a, b, c: TIMES(a, TIMES(b, c))),
    (factors.product_of_product_last, (V, A, B), lambda v, a, b: Dot(((0,), (0,)), ((), ()))(v, TIMES(a, b))),
    (factors.product_swapped, (A, C), lambda a, c: TIMES(a, c)),
    (factors.product_swapped, (A, V), lambda a, v: TIMES(a, v)),
    (factors.product_swapped, (V, V), lambda v, w: Dot(((), ()), ((), ()))(v, w)),
    (factors.product_of_permuted, (A, C), lambda a, c: TIMES(permute(a, (1, 0)), c)),
    (factors.product_of_permuted, (A, C), lambda a, c: TIMES(a, permute(permute(c, (1, 0)), (1, 0)))),
    (factors.product_of_scaled, (A, C, S), lambda a, c, s: TIMES(mul(s, a), c)),
    (factors.product_of_scaled, (A, C, S), lambda a, c, s: TIMES(a, c / s)),
    (factors.product_of_scaled, (A, C), lambda a, c: TIMES(a, neg(c))),
    (factors.sum_of_two_products, (A, B, C), lambda a, b, c: add(TIMES(a, c), TIMES(b, c))),
    (factors.sum_of_two_products, (A, C, C), lambda a, b, c: add(TIMES(a, b), TIMES(a, c))),
    (factors.difference_of_two_products, (A, B, C), lambda a, b, c: TIMES(a, c) - TIMES(b, c)),
    (factors.sum_of_scaled, (A, S), lambda a, s: reduce_sum(mul(a, s))),
    (factors.sum_of_scaled, (A, S), lambda a, s: ReduceSum((0,))(a / s)),
    (factors.sum_of_scaled, (A,), lambda a: ReduceSum((0,))(neg(a))),
    (factors.sum_of_rows_scaled, (A, V), lambda a, v: ReduceSum((1,))(mul(a, broadcast(v, (4, 4), (0,))))),
    (factors.sum_of_rows_scaled, (A, V), lambda a, v: ReduceSum((0,))(a / broadcast(v, (4, 4), (1,)))),
    (factors.sum_of_sum, (A, V), lambda a, v: reduce_sum(add(a, broadcast(v, (4, 4), (0,))))),
    (factors.sum_of_sum, (A, V), lambda a, v: reduce_sum(broadcast(v, (4, 4), (0,)) - a)),
    (factors.sum_of_sums, (A, B), lambda a, b: add(ReduceSum((1,))(a), ReduceSum((1,))(b))),
    (factors.sum_of_products_of_elements, (V, V), lambda v, w: reduce_sum(mul(v, w))),
    (factors.sum_of_product, (A, C), lambda a, c: ReduceSum((1,))(TIMES(a, c))),
    (factors.sum_of_product, (A, C), lambda a, c: reduce_sum(TIMES(a, c))),
    (factors.part_of_product, (A, C), lambda a, c: slice_axis(TIMES(a, c), 0, 1, 2)),
    (factors.part_of_product, (A, C), lambda a, c: slice_axis(slice_axis(TIMES(a, c), 1, 4, 3, -2), 0, 1, 2)),
    (factors.part_of_elementwise, (A, S), lambda a, s: slice_axis(mul(sin(a), s), 1, 1, 2)),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "types", "program"), PROGRAMS, ids=lambda x: getattr(x, "name", ""))
def test_both_sides_agree(rule: Any, types: tuple[Type, ...], program: Any) -> None:
    check_rule(rule, *types, program=program, rules=(rule,))


def test_every_equality_is_tried() -> None:
    assert {rule for rule, _, _ in PROGRAMS} | {factors.inverse_times} == set(factors.FACTORS)


@pytest.mark.parametrize("columns", [None, 3])
def test_an_inverse_that_is_multiplied_is_a_solution(columns: int | None) -> None:
    a = np.array([[4.0, 1, 0], [1, 3, 1], [0, 1, 5]])
    b = np.arange(3.0) if columns is None else np.arange(9.0).reshape(3, 3)
    fn = trace(lambda a, b: TIMES(Inv()(a), b), Type("f64", (3, 3)), Type("f64", b.shape))
    made = simplify(fn, (factors.inverse_times,))
    assert "solve" in str(made)
    assert "inv(" not in str(made)
    assert_allclose(pliant.evaluate(made, a, b)[0], np.linalg.inv(a) @ b, rtol=1e-12)


def fires_and_agrees(fn: Function, rule: Any, *, always: bool) -> None:
    """The rule, if it fires, as it must if `always`, changes no number."""
    log = Log()
    made = simplify_once(fn, rule, log)
    assert log.fired[rule.name] or not always
    rng = np.random.default_rng(0)
    xs = [rng.normal(size=p.shape) for p in fn.params]
    for y, z in zip(pliant.evaluate(fn, *xs), pliant.evaluate(made, *xs), strict=True):
        assert_allclose(z, y, rtol=1e-10, atol=1e-10)


def simplify_once(fn: Function, rule: Any, log: Log) -> Function:
    """`fn` with a rule applied to its result, once."""
    new = rule.apply(fn.results[0])
    if new is None:
        return fn
    log.record(rule.name, fn.results[0].origin)
    assert new.type == fn.results[0].type
    return Function(fn.name, fn.params, (new,))


def chain(draw: random.Random) -> Function:
    """A product of a product, of arrays of up to three axes, some of which are summed."""
    sizes = {"a": 2, "b": 3, "c": 4, "d": 5, "e": 6}
    names = [draw.sample(list(sizes), draw.randint(1, 3)) for _ in range(3)]

    def product(x: Value, y: Value, xs: list[str], ys: list[str], kept: set[str]) -> tuple[Value, list[str]]:
        shared = [n for n in xs if n in ys and n not in kept]
        axes = tuple([xs.index(n) for n in shared]), tuple([ys.index(n) for n in shared])
        return Dot(axes, ((), ()))(x, y), [n for n in xs + ys if n not in shared]

    def f(x: Value, y: Value, z: Value) -> Value:
        one, two, three = names
        if draw.random() < 0.5:
            inner, left = product(x, y, one, two, set(three))
            return product(inner, z, left, three, set())[0] if len(set(left)) == len(left) else inner
        inner, left = product(y, z, two, three, set(one))
        return product(x, inner, one, left, set())[0] if len(set(left)) == len(left) else inner

    return trace(f, *[Type("f64", tuple([sizes[n] for n in each])) for each in names])


@pytest.mark.parametrize(
    "rule", [factors.product_of_product_first, factors.product_of_product_last, factors.product_swapped]
)
def test_products_of_arrays_of_any_axes(rule: Any) -> None:
    fired = 0
    for seed in range(150):
        fn = chain(random.Random(seed))
        log = Log()
        simplify_once(fn, rule, log)
        fired += log.fired[rule.name]
        fires_and_agrees(fn, rule, always=False)
    assert fired > 10


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
@pytest.mark.parametrize("side", [0, 1])
def test_any_permuted_operand_and_axes(order: tuple[int, ...], side: int) -> None:
    shapes = [(2, 3, 4), (2, 3, 4)]

    def f(x: Value, y: Value) -> Value:
        operands = [x, y]
        operands[side] = permute(operands[side], order)
        where = order.index(1)
        batch = order.index(0)
        contract = ((where,), (1,)) if side == 0 else ((1,), (where,))
        batches = ((batch,), (0,)) if side == 0 else ((0,), (batch,))
        return Dot(contract, batches)(*operands)

    fn = trace(f, *[Type("f64", s) for s in shapes])
    fires_and_agrees(fn, factors.product_of_permuted, always=order != (0, 1, 2))


def repeated(x: Value, shape: tuple[int, ...], axes: tuple[int, ...]) -> Value:
    """x repeated along the axes that it lacks."""
    return Broadcast(shape, axes)(x) if axes != tuple(range(len(shape))) else x


SHAPE = (2, 3, 4)
SUBSETS = [axes for n in (1, 2, 3) for axes in itertools.combinations(range(3), n)]


@pytest.mark.parametrize("summed", SUBSETS)
def test_sums_of_products_of_repeated_arrays_are_products_of_matrices(summed: tuple[int, ...]) -> None:
    fired = 0
    for at_x, at_y in itertools.product(SUBSETS, SUBSETS):
        fn = trace(
            lambda x, y, at_x=at_x, at_y=at_y: ReduceSum(summed)(
                mul(repeated(x, SHAPE, at_x), repeated(y, SHAPE, at_y))
            ),
            *[Type("f64", tuple([SHAPE[a] for a in axes])) for axes in (at_x, at_y)],
        )
        both = {*at_x} & {*at_y}
        can = {*summed} <= both and {*at_x} | {*at_y} == {0, 1, 2}
        log = Log()
        simplify_once(fn, factors.sum_of_products_of_elements, log)
        assert log.fired["sum_of_products_of_elements"] == can
        fires_and_agrees(fn, factors.sum_of_products_of_elements, always=can)
        fires_and_agrees(fn, factors.sum_of_rows_scaled, always=False)
        fired += can
    assert fired


@pytest.mark.parametrize("axes", SUBSETS)
def test_sums_of_products_of_arrays_of_many_axes(axes: tuple[int, ...]) -> None:
    fn = trace(
        lambda x, y: ReduceSum(axes)(Dot(((1,), (0,)), ((), ()))(x, y)), Type("f64", (2, 6, 3)), Type("f64", (6, 4))
    )
    fires_and_agrees(fn, factors.sum_of_product, always=True)


@pytest.mark.parametrize("dtype", ["i64", "bool"])
def test_products_of_whole_numbers_and_truths(dtype: str) -> None:
    t = Type(dtype, (3, 3))
    fn = trace(lambda a, b, c: TIMES(TIMES(a, b), c), t, t, t)
    made = simplify_once(fn, factors.product_of_product_first, Log())
    assert (made is fn) == (dtype == "bool")
    xs = [np.arange(n, n + 9).reshape(3, 3).astype(bool if dtype == "bool" else int) for n in range(3)]
    np.testing.assert_array_equal(pliant.evaluate(made, *xs)[0], pliant.evaluate(fn, *xs)[0])
