"""Writes to parts of complex arrays are writes to the arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pliant.core import ir
from pliant.core.build import trace
from pliant.core.ir import Value, const, nodes
from pliant.core.types import Type
from pliant.ops import complex_parts
from pliant.ops.block import AddBlock, read_block, update_block
from pliant.ops.complex import Complex, complex, imag, real
from pliant.ops.elementwise import add
from pliant.ops.index import gather, scatter_add, scatter_set
from pliant.ops.reduce import reduce_sum
from pliant.ops.shape import Slice, iota
from pliant.ops.update import AddSlice, UpdateSlice
from pliant.pipeline import optimise
from pliant.testing import check_rule, run

Z, U = Type("c128", (6, 3)), Type("f64", (2, 3))


def first(n: int) -> list[Value]:
    """Bounds of a block of n rows from the second row on, as numbers that are not literals."""
    one = reduce_sum(iota(2))
    return [one, one - 1, one + (n - 1), one + 2]


WRITES: dict[str, Callable[[Value, Value], Value]] = {
    "update_slice": lambda x, u: UpdateSlice((3, 0), (-2, 1))(x, u),
    "add_slice": lambda x, u: AddSlice((1, 0), (2, 1))(x, u),
    "update_block": lambda x, u: update_block(x, u, first(2)[:2], first(2)[2:]),
    "add_block": lambda x, u: AddBlock((1, 1))(x, u, *first(2)),
    "scatter_set": lambda x, u: scatter_set(x, (iota(2) + iota(2),), u, unique=True),
    "of one place": lambda x, u: scatter_set(x, (iota(2) * 0,), u),
    "scatter_add": lambda x, u: scatter_add(x, (iota(2) * 2,), u),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
@pytest.mark.parametrize("other", WRITES.values(), ids=WRITES)
def test_parts_that_were_written_to(write: Any, other: Any) -> None:
    rng = np.random.default_rng(0)
    z, u = rng.random((6, 3)) + 1j * rng.random((6, 3)), rng.random((2, 3))
    programs: list[Callable[[Value, Value], Value]] = [
        lambda z, u: complex(write(real(z), u), imag(z)),
        lambda z, u: complex(real(z), write(imag(z), u)),
        lambda z, u: complex(write(real(z), u), other(imag(z), u * 2.0)),
        lambda z, u: complex(other(write(real(z), u), u * 2.0), imag(z)),
        lambda z, u: complex(write(ir.operators.zeros(Type("f64", (6, 3))), u), const(0, "f64")) + z,
    ]
    for program in programs:
        fn = trace(program, Z, U)
        new = optimise(fn)
        np.testing.assert_allclose(run(new, [z, u])[0], run(fn, [z, u])[0], rtol=1e-15)
        assert not [n for n in nodes(new.results) if isinstance(n.op, Complex) and n.types[0].shape == (6, 3)]


@pytest.mark.parametrize(
    ("rule", "program"),
    [
        (complex_parts.complex_of_written_parts, lambda z, u: complex(WRITES["update_block"](real(z), u), imag(z))),
        (complex_parts.sum_of_parts, lambda z, u: add(complex(u, const(0, "f64")), complex(const(0, "f64"), u))),
        (complex_parts.gather_of_part, lambda z, u: gather(real(z), iota(2)) + u),
        (complex_parts.block_of_part, lambda z, u: read_block(imag(z), first(2)[:2], first(2)[2:], (2, 3)) + u),
    ],
)
def test_the_rules_are_true(rule: Any, program: Any) -> None:
    check_rule(rule, Z, U, program=program)


@pytest.mark.parametrize(
    "program",
    [
        lambda z, w: complex(real(z), imag(w)),
        lambda z, w: complex(UpdateSlice((1, 0), (1, 1))(real(z), Slice((0, 0), (1, 1), (2, 3))(real(w))), imag(w)),
        lambda z, w: complex(imag(z), real(z)),
    ],
)
def test_parts_of_several_arrays_are_put_together(program: Any) -> None:
    new = optimise(trace(program, Z, Z))
    assert [n for n in nodes(new.results) if isinstance(n.op, Complex)]
