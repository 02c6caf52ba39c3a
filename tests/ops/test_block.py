"""Blocks: reads, writes and additions at places and of lengths known only at run time."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pliant.backends.llvm import BACKEND
from pliant.core.build import trace
from pliant.core.ir import const
from pliant.core.types import Type
from pliant.errors import IndexRangeError, ShapeError
from pliant.kernel.interpret import interpret
from pliant.ops import RULES
from pliant.ops.block import AddBlock, Agree, ReadBlock, UpdateBlock, read_block, update_block
from pliant.ops.shape import flip
from pliant.rewrite.engine import simplify
from pliant.testing import check_primitive, reverse, run

RNG = np.random.default_rng(0)
INT = Type("i64")

# step, shape of x, greatest lengths, starts, lengths
BLOCKS = [
    ((1,), (6,), (4,), (2,), (3,)),
    ((1,), (6,), (4,), (6,), (0,)),
    ((-1, 2), (6, 5), (4, 2), (4, 1), (3, 2)),
    ((1, 1), (4, 5), (4, 5), (0, 0), (4, 5)),
    ((3,), (7,), (3,), (1,), (2,)),
]


def places(step, starts, lengths):
    """(index in the block, index in x) of each element."""
    for p in np.ndindex(*lengths):
        yield p, tuple(s + d * j for s, d, j in zip(starts, step, p, strict=True))


def oracle(cls, step, shape):
    """The primitive, element by element."""

    def read(x, *bounds):
        y, rank = np.zeros(shape, x.dtype), len(step)
        for p, at in places(step, bounds[:rank], map(int, bounds[rank:])):
            y[p] = x[at]
        return y

    def write(x, u, *bounds):
        y, rank = x.copy(), len(step)
        for p, at in places(step, bounds[:rank], map(int, bounds[rank:])):
            y[at] = u[p] + (y[at] if cls is AddBlock else 0)
        return y

    return read if cls is ReadBlock else write


def case(cls, step, x, shape, starts, lengths):
    """The primitive, the types of its operands, and operands."""
    op = cls(shape, step) if cls is ReadBlock else cls(step)
    types = [Type("f64", x)] + ([] if cls is ReadBlock else [Type("f64", shape)])
    operands = [RNG.normal(size=t.shape) for t in types] + [np.array(n) for n in (*starts, *lengths)]
    return op, [*types, *[INT] * (2 * len(step))], operands


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("cls", [ReadBlock, UpdateBlock, AddBlock])
def test_blocks_obey_the_laws(cls, block):
    op, types, operands = case(cls, *block)
    floats = len(types) - 2 * len(block[0])
    check_primitive(
        op,
        *types,
        draw=lambda rng: [rng.normal(size=t.shape) for t in types[:floats]] + operands[floats:],
        oracle=oracle(cls, block[0], block[2]),
    )


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("cls", [ReadBlock, UpdateBlock, AddBlock])
def test_native_code_and_kernel_rules_agree(cls, block):
    op, types, operands = case(cls, *block)
    wanted = oracle(cls, block[0], block[2])(*operands)
    assert_array_equal(interpret(op, *operands), wanted)
    assert_array_equal(BACKEND.compile(trace(op, *types))(operands)[0], wanted)


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("cls", [ReadBlock, UpdateBlock, AddBlock])
def test_problems_of_a_batch_have_places_of_their_own(cls, block):
    step, shape = block[0], block[2]
    operands = case(cls, *block)[2]
    wanted = oracle(cls, step, shape)(*operands)
    both = cls(shape, step, 1) if cls is ReadBlock else cls(step, 1)
    stacked = [np.stack([x, x]) for x in operands]
    fn = trace(both, *[Type("f64" if x.dtype == float else "i64", x.shape) for x in stacked])
    for got in (interpret(both, *stacked), run(fn, stacked)[0], BACKEND.compile(fn)(stacked)[0]):
        assert_array_equal(got, np.stack([wanted, wanted]))


def texts(f, *types):
    return str(simplify(trace(f, *types), RULES))


X, U = Type("f64", (6,)), Type("f64", (4,))


@pytest.mark.parametrize("made", [lambda x: x, lambda x: x * 2.0], ids=["given", "made"])
@pytest.mark.parametrize("is_kept", [False, True], ids=["dead", "read later"])
@pytest.mark.parametrize("cls", [UpdateBlock, AddBlock])
def test_blocks_of_a_batch_are_written_with_what_the_array_held(cls, is_kept, made):
    """`x[:, :n] = f(x)`, whatever of x it reads: what is written to is not read, and all beyond the block stays."""
    ends, both = Type("i64", (3,)), []
    for u_of in (
        lambda x, start, n: ReadBlock((6,), (1,), 1)(x, start, n) * 0.5,
        lambda x, start, n: ReadBlock((6,), (-1,), 1)(x, n + start - 1, n),
        lambda x, start, n: flip(x, (1,)) + x,
        lambda x, start, n: x,
    ):

        def f(x, start, n, u_of=u_of):
            y = made(x)
            z = cls((1,), 1)(y, u_of(y, start, n), start, n)
            return (z, z - y) if is_kept else z

        both.append(trace(f, Type("f64", (3, 6)), ends, ends))
    for fn in both:
        for start, n in (([0, 0, 0], [1, 6, 3]), ([2, 0, 6], [4, 0, 0]), ([1, 1, 1], [2, 3, 5])):
            operands = RNG.normal(size=(3, 6)), np.array(start), np.array(n)
            for got, wanted in zip(BACKEND.compile(fn)(operands), run(fn, operands), strict=True):
                assert_array_equal(got, wanted)


def test_a_block_at_a_known_place_is_a_window():
    one, four = const(1, "i64"), const(4, "i64")
    assert "slice(" in texts(lambda x: read_block(x, [one], [four], (4,)), X)
    assert "update_slice(" in texts(lambda x, u: update_block(x, u, [one], [four]), X, U)


def test_augmented_assignment_to_a_block_is_an_addition_into_it():
    def f(x, u, k, n):
        return update_block(x, read_block(x, [k], [n], (4,)) - u, [k], [n])

    text = texts(f, X, U, INT, INT)
    assert "add_block" in text
    assert "read_block" not in text


def test_writing_what_was_read_changes_nothing():
    assert "block" not in texts(lambda x, k, n: update_block(x, read_block(x, [k], [n], (4,)), [k], [n]), X, INT, INT)


def test_cotangents_of_blocks_accumulate_without_dense_zeros():
    def f(x, k, n):
        return read_block(x, [k], [n], (4,)) * read_block(x, [n], [k], (4,))

    backward = str(simplify(reverse(trace(f, X, INT, INT), (True, False, False)), RULES))
    assert backward.count("add_block") == 2
    assert "add(" not in backward


def test_bounds_of_the_wrong_type_are_errors():
    with pytest.raises(ShapeError, match="does not fit"):
        trace(ReadBlock((7,), (1,)), X, INT, INT)
    with pytest.raises(ShapeError, match="expected i64"):
        trace(ReadBlock((4,), (1,)), X, Type("i64", (2,)), INT)


@pytest.mark.parametrize("step", [1, -1])
@pytest.mark.parametrize("execute", [BACKEND.compile, lambda fn: lambda xs: run(fn, xs)], ids=["llvm", "reference"])
def test_a_block_of_known_length_that_lies_outside_is_an_error(execute, step):
    fn = trace(lambda x, k: read_block(x, [k], [const(4, "i64")], (4,), (step,)), X, INT)
    inside, outside = (2, (-1, 3)) if step > 0 else (3, (2, 6))
    assert_array_equal(execute(fn)((np.arange(6.0), np.array(inside)))[0], inside + step * np.arange(4.0))
    for start in outside:
        with pytest.raises(IndexRangeError, match=r"a slice of 4 elements that starts at .* leaves axis 0 of extent 6"):
            execute(fn)((np.arange(6.0), np.array(start)))


def test_numbers_that_must_agree():
    check_primitive(Agree(), INT, INT, draw=lambda rng: [np.array(3), np.array(3)], oracle=lambda x, y: x)
    fn = trace(Agree(), INT, INT)
    for call in (BACKEND.compile(fn), lambda xs: run(fn, xs)):
        with pytest.raises(ShapeError, match="differ"):
            call((np.array(3), np.array(4)))
