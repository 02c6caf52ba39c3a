"""Identities of blocks: of permuted arrays, and of what is added to a block."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from pliant.core import ir
from pliant.core.build import trace
from pliant.core.ir import Value, nodes
from pliant.core.types import Type
from pliant.ops import block_rules
from pliant.ops.block import AddBlock, Block, ReadBlock, UpdateBlock, read_block, update_block
from pliant.ops.shape import Slice, permute, reshape
from pliant.pipeline import optimise
from pliant.testing import check_rule, run

RNG = np.random.default_rng(0)
INT = Type("i64")
ORDER = (2, 0, 1)

FORMS: dict[str, Callable[..., Value]] = {
    "read": lambda x, u, *bounds: ReadBlock(u.shape, (1, -1, 2))(permute(x, ORDER), *bounds),
    "updated": lambda x, u, *bounds: UpdateBlock((1, -1, 2))(permute(x, ORDER), u, *bounds),
    "added to": lambda x, u, *bounds: AddBlock((1, -1, 2))(permute(x, ORDER), u, *bounds),
}


@pytest.mark.parametrize("name", FORMS)
def test_block_of_permute(name: str) -> None:
    fn = trace(FORMS[name], Type("f64", (7, 8, 6)), Type("f64", (2, 3, 4)), *[INT] * 6)
    made = optimise(fn)
    assert [n.args[0] for n in nodes(made.results) if isinstance(n.op, Block)] == [made.params[0]]
    xs = [RNG.normal(size=(7, 8, 6)), RNG.normal(size=(2, 3, 4)), *(np.int64(n) for n in (3, 4, 1, 2, 3, 3))]
    for got, wanted in zip(run(made, xs), run(fn, xs), strict=True):
        np.testing.assert_array_equal(got, wanted)


def own_row(x: Value, i: Value, n: Value) -> Value:
    """The first n elements of row i, as `x[i, :n]` has them."""
    return reshape(read_block(x, [i, i * 0], [i * 0 + 1, n], (1, 4)), (4,))


def row_changed(change: Callable[[Value, Value], Value]) -> Callable[..., Value]:
    """`x[i, :n] = change(x[i, :n], u)`."""

    def program(x: Value, u: Value, i: Value, n: Value) -> Value:
        new = reshape(change(own_row(x, i, n), u), (1, 4))
        return update_block(x, new, [i, i * 0], [i * 0 + 1, n])

    return program


PROGRAMS: dict[str, Callable[..., Value]] = {
    "x[i, :n] += u": row_changed(lambda row, u: row + u),
    "x[i, :n] = u + x[i, :n]": row_changed(lambda row, u: u + row),
    "x[i, :n] -= u": row_changed(lambda row, u: row - u),
}


def values(program: Callable[..., Value]) -> tuple[str, list[np.ndarray], list[np.ndarray]]:
    """The simplified program, its results, and those of the program as it was."""
    fn = trace(program, Type("f64", (3, 4)), Type("f64", (4,)), INT, INT)
    made = optimise(fn)
    xs = [RNG.normal(size=(3, 4)), RNG.normal(size=4), np.int64(1), np.int64(2)]
    return str(made), run(made, xs), run(fn, xs)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_row_changed_by_a_sum_is_added_to(name: str) -> None:
    text, got, wanted = values(PROGRAMS[name])
    assert "add_block" in text
    assert "read_block" not in text
    np.testing.assert_allclose(got[0], wanted[0], rtol=1e-15)


def test_a_block_that_is_cleared_and_added_to_is_replaced() -> None:
    def program(x: Value, k: Value) -> Value:
        bounds = [k, k, k, k]
        cleared = UpdateBlock((1, 1))(x, ir.operators.zeros(Type("f64", (1, 3))), *bounds)
        return AddBlock((1, 1))(cleared, read_block(x, bounds[:2], bounds[2:], (1, 3)), *bounds)

    check_rule(block_rules.block_addition_to_cleared, Type("f64", (3, 4)), INT, program=program)


@pytest.mark.parametrize("step", [1, -2])
def test_the_beginning_of_what_is_made_of_a_block_is_made_of_a_shorter_one(step: int) -> None:
    def program(x: Value, y: Value, i: Value, n: Value) -> Value:
        blocks = [ReadBlock((5,), (step,))(v, i, n) for v in (x, y)]
        return Slice((0,), (1,), (3,))(blocks[0] * 2.0 - blocks[1])

    fn = trace(program, Type("f64", (9,)), Type("f64", (9,)), INT, INT)
    made = optimise(fn)
    assert {n.types[0].shape for n in nodes(made.results) if isinstance(n.op, ReadBlock)} == {(3,)}
    for n in range(5):
        xs = [RNG.normal(size=9), RNG.normal(size=9), np.int64(0 if step > 0 else 8), np.int64(n)]
        np.testing.assert_array_equal(run(made, xs)[0], run(fn, xs)[0])
