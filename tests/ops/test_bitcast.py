"""Bits as numbers of other dtypes: NumPy's views."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pliant.core.build import trace
from pliant.core.types import DTYPES, Type, itemsize
from pliant.errors import DTypeError
from pliant.ops.bitcast import Bitcast, bitcast, viewed
from pliant.testing import check_primitive, run, sample

WIDTHS = [(a, b) for a in DTYPES for b in DTYPES if "c" not in a[0] + b[0] and itemsize(a) == itemsize(b)]


@pytest.mark.parametrize(("a", "b"), [pair for pair in WIDTHS if "bool" not in pair])
def test_bits_obey_the_laws(a, b):
    check_primitive(Bitcast(b), Type(a, (2, 3)), oracle=lambda x: x.view(DTYPES[b]), derivatives=False)


def test_a_bool_is_a_byte_that_is_not_zero():
    check_primitive(Bitcast("u8"), Type("bool", (5,)), oracle=lambda x: x.astype("u1"))
    x = np.array([0, 1, 255], "u1")
    assert_array_equal(run(trace(Bitcast("bool"), Type("u8", (3,))), (x,))[0], [False, True, True])


def test_bits_of_another_width_are_refused():
    with pytest.raises(DTypeError, match="no bits of f32"):
        Bitcast("f32").infer(Type("f64"))
    with pytest.raises(DTypeError):
        Bitcast("f64").infer(Type("c64"))


def test_nothing_is_differentiated_through_bits():
    from pliant import grad

    assert_array_equal(grad(lambda x: (x.view(np.int64).view(float) * x).sum())(np.arange(3.0)), np.arange(3.0))


@pytest.mark.parametrize("b", [d for d in DTYPES if d != "bool"])
@pytest.mark.parametrize("a", [d for d in DTYPES if d != "bool"])
def test_views_are_numpys(a, b):
    x = sample(np.random.default_rng(0), Type(a, (2, 16)), -100, 100)
    (made,) = run(trace(lambda v: viewed(v, b), Type(a, (2, 16))), (x,))
    assert_array_equal(made.view("u1"), x.view(DTYPES[b]).view("u1"))
    assert made.dtype == np.dtype(DTYPES[b])


def test_a_number_is_seen_as_one_of_the_same_width():
    (made,) = run(trace(lambda v: viewed(v, "u64"), Type("c64")), (np.complex64(1 + 2j),))
    assert made == np.array(1 + 2j, "c8").view("u8")
    same = trace(lambda v: (bitcast(v, "f64"), v), Type("f64"))
    assert same.results[0] is same.results[1]
