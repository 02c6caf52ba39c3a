"""Blocks of permuted arrays are blocks of the arrays."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from pliant.core.build import trace
from pliant.core.ir import Value, nodes
from pliant.core.types import Type
from pliant.ops.block import AddBlock, Block, ReadBlock, UpdateBlock
from pliant.ops.shape import permute
from pliant.pipeline import optimise
from pliant.testing import run

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
