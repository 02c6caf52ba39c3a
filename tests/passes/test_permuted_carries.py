"""Arrays that steps take in another order of axes are carried, and given, in that order: no step permutes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from pliant.core.build import trace
from pliant.core.inner import functions_of
from pliant.core.ir import Function, Node, Op, Value, Values, const, nodes
from pliant.core.types import Type
from pliant.core.verify import verify
from pliant.ops.compare import less
from pliant.ops.index import gather, scatter_set
from pliant.ops.loop import Loop
from pliant.ops.reduce import reduce_sum
from pliant.ops.shape import Permute, iota, permute
from pliant.ops.while_loop import WhileLoop
from pliant.passes import outward
from pliant.pipeline import optimise
from pliant.rewrite.engine import simplify
from pliant.testing import run
from tests.programs.programs import gradient

I64, WIDE, TABLE = Type("i64"), Type("f64", (3, 7)), Type("f64", (3, 9))
FORWARD = (1, 0)


def written(i: Value, x: Value, table: Value) -> Value:
    """Row i of x's other order, from that of the table."""
    turned = permute(x, FORWARD)
    row = gather(turned, i) * gather(permute(table, FORWARD), i)
    return permute(scatter_set(turned, (i,), row, unique=True), FORWARD)


def counted(x: Value, table: Value) -> Values:
    body = trace(lambda i, x, table: written(i, x, table), I64, WIDE, TABLE)
    return Loop(7, ("carry", "const"), ("last",), body).apply(x, table)


def conditional(x: Value, table: Value) -> Values:
    types = (I64, WIDE, TABLE)
    test = trace(lambda i, x, table: less(i, 7), *types)
    body = trace(lambda i, x, table: (i + 1, written(i, x, table)), *types)
    return WhileLoop(test, body, ("carry", "carry", "const")).apply(const(0, "i64"), x, table)[1:]


def turned_outside(f: Callable[..., Values], axes: tuple[int, int]) -> Function:
    """A program that gives a loop a permuted table, and takes the result permuted."""
    types = (WIDE, Type("f64", TABLE.shape[::-1]))
    return trace(lambda x, table: permute(f(x, permute(table, axes))[0], axes), *types)


def steps(fn: Function) -> Iterator[Node]:
    """All nodes of the functions that primitives hold."""
    for node in nodes(fn.results):
        for held in functions_of(node.op).values():
            yield from nodes(held.results)
            yield from steps(held)


@pytest.mark.parametrize("f", [counted, conditional])
def test_no_step_permutes(f: Callable[..., Values]) -> None:
    fn = turned_outside(f, FORWARD)
    rng = np.random.default_rng(0)
    xs = [rng.normal(size=(3, 7)), rng.normal(size=(9, 3))]
    for program in (
        fn,
        gradient(trace(lambda x, t: reduce_sum(fn(x, t)[0] * 2.0, (0, 1)), *(p.type for p in fn.params))),
    ):
        made = verify(optimise(program))
        assert not [node for node in steps(made) if isinstance(node.op, Permute)]
        for got, wanted in zip(run(made, xs), run(program, xs), strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-14)


def test_elements_of_a_permuted_array_are_those_of_the_array() -> None:
    fn = trace(lambda x: gather(permute(x, FORWARD), iota(3) * 2, iota(3)), WIDE)
    made = verify(simplify(fn, (outward.gather_of_permute,)))
    ops: list[Op] = [node.op for node in nodes(made.results)]
    assert not [op for op in ops if isinstance(op, Permute)]
    x = np.arange(21.0).reshape(3, 7)
    np.testing.assert_array_equal(run(made, [x])[0], x.T[[0, 2, 4], [0, 1, 2]])
