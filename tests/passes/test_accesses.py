"""Which loops have steps that do not depend on each other."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pliant.core.build import trace
from pliant.core.ir import Value, const
from pliant.core.types import Type
from pliant.ops.block import AddBlock, read_block
from pliant.ops.elementwise import Convert
from pliant.ops.index import gather, scatter_add, scatter_set
from pliant.ops.loop import Loop
from pliant.ops.reduce import reduce_sum
from pliant.ops.shape import reshape
from pliant.passes.accesses import steps_of
from pliant.passes.places import Scene

I64, N = Type("i64"), 6
MATRIX = Type("f64", (N, N))

Step = Callable[[Value, Value, Value], Value]


def column(x: Value, j: Value, n: Value) -> Value:
    """The first n elements of column j."""
    return reshape(read_block(x, [const(0, "i64"), j], [n, const(1, "i64")], (N, 1)), (N,))


def row_added_to(i: Value, x: Value, n: Value) -> Value:
    """Column i, shortened, added to row 0; columns from 1 on are not in it."""
    one = const(1, "i64")
    return AddBlock((1, 1))(x, reshape(column(x, i, one), (1, N)), n, n, one, one)


INDEPENDENT: dict[str, Step] = {
    "elements of a row": lambda i, x, n: scatter_set(x, (n, i), gather(x, n, i) * 2.0),
    "sums of columns": lambda i, x, n: scatter_set(x, (n, i), reduce_sum(column(x, i, n))),
    "numbers added to one element": lambda i, x, n: scatter_add(x, (n, n), Convert("f64")(i)),
    "columns by an element outside": lambda i, x, n: scatter_set(x, (n, i), gather(x, n + 1, i + 0)),
}
DEPENDENT: dict[str, Step] = {
    "the element before": lambda i, x, n: scatter_set(x, (n, i + 1), gather(x, n, i)),
    "one place set": lambda i, x, n: scatter_set(x, (n, n), gather(x, i, i)),
    "an element that a step writes": lambda i, x, n: scatter_set(x, (n, i), gather(x, n, n)),
    "a diagonal": lambda i, x, n: scatter_set(x, (i, i), gather(x, i, i)),
    "every second element": lambda i, x, n: scatter_set(x, (n, i * 2), gather(x, n, i * 2)),
    "an unknown place": lambda i, x, n: scatter_set(x, (n, i * i), gather(x, n, i)),
    "what is added to, read": lambda i, x, n: row_added_to(i, x, n),
    "shorter and shorter columns": lambda i, x, n: scatter_set(x, (n, i), reduce_sum(column(x, i, i))),
}


def is_independent(step: Step) -> bool:
    """Whether the steps of a loop over a matrix, with a number that stays, can be taken at once."""
    body = trace(step, I64, MATRIX, I64)
    op = Loop(N - 1, ("carry", "const"), ("last",), body)
    fn = trace(lambda x, n: op(x, n), MATRIX, I64)
    node = fn.results[0].node
    return steps_of(node, Scene(fn)) is not None


@pytest.mark.parametrize("name", INDEPENDENT)
def test_steps_that_can_be_taken_at_once(name: str) -> None:
    assert is_independent(INDEPENDENT[name])


@pytest.mark.parametrize("name", DEPENDENT)
def test_steps_that_may_depend_on_each_other(name: str) -> None:
    assert not is_independent(DEPENDENT[name])
