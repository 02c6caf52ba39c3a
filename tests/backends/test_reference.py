"""The reference backend returns fresh arrays of exactly the inferred types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pliant.backends.reference import reference
from pliant.core.build import trace
from pliant.core.types import Type
from pliant.errors import VerifyError
from pliant.ops.base import Unary
from pliant.ops.shape import Slice, broadcast, permute, reshape
from pliant.ops.transcendental import log


def run(f: Any, *xs: Any) -> Any:
    types = [Type("f64", x.shape) for x in xs]
    return reference.compile(trace(f, *types))(xs)


def test_results_share_no_memory_with_operands_or_each_other():
    x = np.arange(6.0).reshape(2, 3)
    ys = run(lambda x: (x, x, permute(x, (1, 0)), reshape(x, (6,)), Slice((0, 0), (1, 1), (1, 3))(x)), x)
    for i, y in enumerate(ys):
        assert y.flags.c_contiguous
        assert y.flags.writeable
        assert not any(np.shares_memory(y, other) for other in (x, *ys[:i]))


def test_what_is_made_is_not_copied_and_what_is_returned_twice_is():
    x = np.arange(6.0).reshape(2, 3)

    def both(x):
        y = x + 1.0
        return y, y, permute(y, (1, 0)), reshape(y, (6,))

    made = run(both, x)
    np.testing.assert_array_equal(made[0], x + 1.0)
    for i, y in enumerate(made):
        y[...] = i  # no other one changes
    assert [float(y.min()) for y in made] == [float(y.max()) for y in made] == [0.0, 1.0, 2.0, 3.0]


def test_scalars_are_arrays_of_rank_0():
    (y,) = run(lambda x: x + 1.0, np.array(2.0))
    assert isinstance(y, np.ndarray)
    assert (y.dtype, y.shape, float(y)) == (np.float64, (), 3.0)


def test_operands_of_any_strides_are_taken():
    x = np.arange(12.0).reshape(3, 4)[::-2, ::2]
    (y,) = run(lambda x: x * 2.0, x)
    assert_array_equal(y, x * 2)


def test_repeated_elements_are_written_out():
    (y,) = run(lambda x: broadcast(x, (4, 3), (1,)), np.arange(3.0))
    y[0] = 7
    assert_array_equal(y[1], np.arange(3.0))


def test_nothing_is_warned_about():
    (y,) = run(log, np.array([0.0, -1.0]))
    assert_array_equal(y, [-np.inf, np.nan])


@final
@dataclass(frozen=True)
class Liar(Unary):
    """Makes another dtype than it says."""

    def array(self, xp: Any, x: Any) -> Any:
        return x > 0


def test_result_of_another_type_than_inferred_is_an_error():
    with pytest.raises(VerifyError, match=r"liar: `array` made bool\[2\], `infer` says f64\[2\]"):
        run(Liar(), np.zeros(2))


def test_backend_has_a_name():
    assert reference.name == "reference"
