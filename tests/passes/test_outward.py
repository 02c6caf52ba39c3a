"""Operations on permuted arrays are permuted themselves."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from pliant.core.build import trace
from pliant.core.ir import Value, nodes
from pliant.core.types import Type
from pliant.core.verify import verify
from pliant.ops import RULES
from pliant.ops.index import scatter_add, scatter_set
from pliant.ops.reduce import reduce_max, reduce_sum
from pliant.ops.shape import Permute, broadcast, permute, reshape
from pliant.passes import outward
from pliant.rewrite.engine import simplify
from pliant.testing import check_rule, run

A, B, ROW = Type("f64", (2, 3, 4)), Type("f64", (2, 3, 4)), Type("f64", (3,))
ORDER = (2, 0, 1)


def product(x: Value, y: Value, row: Value) -> Value:
    """Of two permuted arrays and a repeated one."""
    return permute(x, ORDER) * permute(y, ORDER) + broadcast(row, (4, 2, 3), (2,))


def test_rules_are_true() -> None:
    check_rule(outward.elementwise_of_permutes, A, B, ROW, program=product)
    check_rule(outward.reduction_of_permute, A, program=lambda x: reduce_sum(permute(x, ORDER), (0, 2)))
    check_rule(outward.permute_of_unit_axes, Type("f64", (3, 1, 4)), program=lambda x: permute(x, (1, 0, 2)) * 2.0)


@pytest.mark.parametrize("write", [scatter_set, scatter_add])
@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("shape", [(), (5,)])
def test_places_of_permuted_arrays_are_written_where_these_lie(
    write: Callable[..., Value], count: int, shape: tuple[int, ...]
) -> None:
    def f(x: Value, u: Value, *indices: Value) -> Value:
        return write(permute(x, ORDER), indices, u)

    fn = trace(f, A, Type("f64", (*shape, *(4, 2, 3)[count:])), *(Type("i64", shape) for _ in range(count)))
    made = verify(simplify(fn, (outward.scatter_of_permute,)))
    if shape and count < 3:
        assert made == fn
        return
    read = [p for node in nodes(made.results) for p in node.args[:1] if not isinstance(node.op, Permute)]
    assert not [p for p in read if isinstance(p.op, Permute) and p.args == made.params[:1]]
    rng = np.random.default_rng(0)
    xs = [rng.normal(size=p.shape) if p.dtype == "f64" else rng.integers(0, 2, p.shape) for p in fn.params]
    np.testing.assert_array_equal(run(made, xs)[0], run(fn, xs)[0])


def test_axes_of_one_element_move_without_a_permutation() -> None:
    def f(x: Value) -> Value:
        return reshape(permute(reshape(x, (3, 1, 4)), (0, 2, 1)), (3, 4))

    fn = trace(f, Type("f64", (3, 4)))
    assert len(nodes(simplify(fn, outward.RULES).results)) == 1
    turned = trace(lambda x: permute(x, (1, 2, 0)), Type("f64", (3, 1, 4)))
    assert simplify(turned, outward.RULES) == turned


@pytest.mark.parametrize("axes", [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)])
def test_reductions_of_permuted_arrays_permute_nothing_large(axes: tuple[int, ...]) -> None:
    fn = trace(lambda x, y, row: reduce_max(product(x, y, row), axes), A, B, ROW)
    made = verify(simplify(fn, (*RULES, *outward.RULES)))
    permuted = [node.types[0].size for node in nodes(made.results) if isinstance(node.op, Permute)]
    assert max(permuted, default=0) < A.size
    xs = [np.random.default_rng(0).normal(size=t.shape) for t in (A, B, ROW)]
    np.testing.assert_array_equal(run(made, xs)[0], run(fn, xs)[0])
