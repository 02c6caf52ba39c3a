"""Every kernel and fill rule, element by element, gives what the array rule gives."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pliant.core.build import trace
from pliant.core.types import SHORT, Type
from pliant.errors import IndexRangeError
from pliant.kernel.interpret import interpret
from pliant.ops.contract import Dot
from pliant.ops.index import Gather
from pliant.ops.stable import Logistic, Softplus
from pliant.testing import run
from tests.backends.llvm.test_array_primitives import CASES

RNG = np.random.default_rng(0)
MORE = [
    (Dot(((1,), (0,)), ((), ())), RNG.normal(size=(3, 4)), RNG.normal(size=(4, 2))),
    (Dot(((2,), (1,)), ((0,), (0,))), RNG.normal(size=(2, 3, 4)), RNG.normal(size=(2, 4))),
    (Logistic(), RNG.normal(size=5) * 100),
    (Softplus(), RNG.normal(size=5) * 100),
]
WITH_RULES = [case for case in [*CASES, *MORE] if case[0].has("kernel") or hasattr(case[0], "fill")]


@pytest.mark.parametrize("case", WITH_RULES, ids=lambda case: str(case[0]))
def test_rule_gives_what_the_array_rule_gives(case):
    op, *xs = case
    types = [Type(SHORT[x.dtype.name], x.shape) for x in map(np.asarray, xs)]
    (wanted,) = run(trace(lambda *vs: op.apply(*vs), *types), tuple(xs))
    got = interpret(op, *xs)
    assert got.dtype == wanted.dtype
    assert_allclose(got, wanted, rtol=1e-12)


def test_an_index_out_of_range_is_an_error():
    with pytest.raises(IndexRangeError, match="index 3 is out of range for axis 0 of extent 3"):
        interpret(Gather(), np.zeros(3), np.array([3]))
