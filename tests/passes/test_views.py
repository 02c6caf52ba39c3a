"""What is read and written through a view is what views of views say, and no view is left where it can be told."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pliant.core.build import trace
from pliant.core.ir import Function, Value, Values, const, nodes
from pliant.core.types import Type
from pliant.core.verify import verify
from pliant.errors import IndexRangeError
from pliant.ops.block import AddBlock, read_block, update_block
from pliant.ops.index import gather, scatter_add, scatter_set
from pliant.ops.shape import Permute, Slice, permute, reshape
from pliant.ops.strided import Strided
from pliant.ops.update import update_slice
from pliant.passes.views import through_views
from pliant.testing import run

SHAPE = (4, 5, 3)


def view_of(draw: random.Random, x: Value) -> tuple[list[Any], Value]:
    """A slice of an array, and axes of it in another order or left out."""
    axes = list[tuple[int, int, int]]()
    for n in x.shape:
        start, step, length = draw.choice(
            [(0, 1, n), (n - 1, -1, n), (1, 1, n - 2), (0, 2, (n + 1) // 2), (n - 1, 1, 1)]
        )
        axes.append((start, step, length))
    window = Slice(*map(tuple, zip(*axes, strict=True)))
    order = tuple(draw.sample(range(x.type.rank), x.type.rank))
    y = permute(window(x), order)
    return [window, order], reshape(y, [n for n in y.shape if n != 1])


def put(kept: list[Any], x: Value, y: Value) -> Value:
    """The array with such a view of it replaced."""
    window, order = kept
    shape = [window.length[a] for a in order]
    return update_slice(x, permute(reshape(y, shape), Permute(order).inverse()), window.start, window.step)


def program(seed: int) -> Function:
    """Reads and writes of views of an array, at indices that are known to lie in them, or are not."""
    draw = random.Random(seed)

    def f(x: Value, i: Value, u: Value) -> Values:
        made = list[Value]()
        for _ in range(3):
            kept, view = view_of(draw, x)
            if not view.shape:
                continue
            count = draw.randint(1, view.type.rank)
            indices = [const(draw.randrange(n), "i64") if draw.random() < 0.6 else i for n in view.shape[:count]]
            step = tuple(draw.choice([1, -1]) if n > 1 else 1 for n in view.shape)
            shape = tuple(draw.randint(1, n) for n in view.shape)
            starts = [const(0 if d > 0 else m - 1, "i64") for d, m in zip(step, shape, strict=True)]
            lengths = [const(m, "i64") for m in shape]
            match draw.randrange(5):
                case 0:
                    made.append(gather(view, *indices))
                case 1:
                    made.append(read_block(view, starts, lengths, shape, step))
                case 2:
                    new = gather(view, *indices) * u
                    x = put(kept, x, draw.choice([scatter_set, scatter_add])(view, indices, new))
                case 3:
                    new = read_block(view, starts, lengths, shape, step) + u
                    x = put(kept, x, update_block(view, new, starts, lengths, step))
                case _:
                    new = read_block(view, starts, lengths, shape, step) + u
                    x = put(kept, x, AddBlock(step)(view, new, *starts, *lengths))
        return (x, *made)

    return trace(f, Type("f64", SHAPE), Type("i64"), Type("f64"))


@pytest.mark.parametrize("seed", range(300))
def test_reads_and_writes_of_views_are_those_of_the_array(seed: int) -> None:
    fn = program(seed)
    new = through_views(fn)
    verify(new, "views")
    x = np.arange(60.0).reshape(SHAPE)
    for i in (0, 1, 2, 4, 5):
        try:
            wanted = run(fn, [x, np.asarray(i), np.asarray(0.5)])
        except IndexRangeError:
            with pytest.raises(IndexRangeError):
                run(new, [x, np.asarray(i), np.asarray(0.5)])
            continue
        for got, want in zip(run(new, [x, np.asarray(i), np.asarray(0.5)]), wanted, strict=True):
            assert_array_equal(got, want)


def test_an_element_of_a_column_is_one_of_the_array() -> None:
    def f(x: Value, i: Value) -> Value:
        column = reshape(Slice((0, 1), (1, 1), (6, 1))(x), (6,))
        written = scatter_set(column, [i], gather(column, i) * 2.0)
        return update_slice(x, reshape(written, (6, 1)), (0, 1), (1, 1))

    new = through_views(trace(f, Type("f64", (6, 2)), Type("i64")))
    assert {n.op.name for n in nodes(new.results)}.isdisjoint({"slice", "update_slice"})


def test_an_element_of_a_strided_vector_is_one_of_its_memory() -> None:
    def f(x: Value, i: Value) -> Value:
        return gather(Strided(10, (-3,), (4,))(x), i)

    fn = trace(f, Type("f64", (12,)), Type("i64"))
    assert "strided" in {n.op.name for n in nodes(through_views(fn).results)}
    new = through_views(fn, {fn.params[1]: (0, 3)})
    assert "strided" not in {n.op.name for n in nodes(new.results)}
    for i in range(4):
        assert_array_equal(run(new, [np.arange(12.0), np.asarray(i)])[0], 10 - 3 * i)


def test_an_index_that_may_leave_a_part_is_checked_there() -> None:
    def f(x: Value, i: Value) -> Value:
        return gather(Slice((1,), (1,), (4,))(x), i)

    new = through_views(trace(f, Type("f64", (6,)), Type("i64")))
    assert "slice" in {n.op.name for n in nodes(new.results)}
    with pytest.raises(IndexRangeError):
        run(new, [np.arange(6.0), np.asarray(4)])
