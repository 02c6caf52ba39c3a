"""Functions of complex numbers in vectors: as exact as libm, its results for what is special, and for any number."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from benchmarks.vector_math.planar import DTYPES, NAMES, arguments, by_numpy, compiled, error, special
from pliant.backends.llvm.jit import host_target
from pliant.backends.llvm.own import served

BOUNDS = {"exp": 2.6, "log": 2.1, "sqrt": 2.3, "tan": 6.0, "tanh": 6.0}
"""The greatest errors, in ulps; of others 3.3. NumPy's are 2.1 to 2.9, and 5.9 for tangents."""

pytestmark = pytest.mark.skipif(
    np.finfo(np.longdouble).nmant < 60 or not served(host_target().has, vectors=True),
    reason="no wider format to compare with, or no fused products",
)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NAMES)
def test_errors_of_both_parts_are_small(name: str, dtype: str):
    z = arguments(name, dtype, 5_000)
    found = error(name, compiled(name, z), z)
    assert found.ulps <= BOUNDS.get(name, 3.3), found


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NAMES)
def test_special_arguments_give_what_numpy_gives(name: str, dtype: str):
    z = special(dtype)
    got, wanted = compiled(name, z), by_numpy(name, z)
    least = np.finfo(z.real.dtype).smallest_subnormal
    for x, y in ((got.real, wanted.real), (got.imag, wanted.imag)):
        for kind in (np.isnan, np.isinf):
            assert z[kind(x) != kind(y)].tolist() == []
        is_number = ~np.isnan(y)
        assert z[is_number & (np.signbit(x) != np.signbit(y))].tolist() == []
        np.testing.assert_allclose(x, y, rtol=8 * np.finfo(x.dtype).eps, atol=least)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NAMES)
def test_what_is_special_leaves_its_neighbours_alone(name: str, dtype: str):
    """In vectors of any width, and one by one."""
    z = arguments(name, dtype, 100)
    z[::9] = np.resize(special(dtype), z[::9].shape)
    whole = compiled(name, z)
    np.testing.assert_array_equal(compiled(name, np.roll(z, 5)), np.roll(whole, 5))
    np.testing.assert_array_equal(compiled(name, z[27:30]), whole[27:30])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NAMES)
def test_loops_have_vectors(name: str, dtype: str):
    function = getattr(np, name)
    text = str(pliant.explain(pliant.jit(lambda z: function(z)), arguments(name, dtype, 250)))
    assert "at a time" in text
    assert "no vectors" not in text


@pytest.mark.parametrize("part", ["real", "imag"])
def test_a_part_alone_has_vectors(part: str):
    """Also where LLVM could leave the other part out."""
    x = np.linspace(0, 1, 1000)
    text = str(pliant.explain(pliant.jit(lambda x: getattr(np.exp(1j * x), part).sum()), x))
    assert "no vectors" not in text


@pytest.mark.parametrize("dtype", DTYPES)
def test_signs_are_those_of_numpy(dtype: str):
    z = np.concatenate([special(dtype), arguments("sqrt", dtype, 100)])
    got, wanted = compiled("sign", z), by_numpy("sign", z)
    for x, y in ((got.real, wanted.real), (got.imag, wanted.imag)):
        np.testing.assert_allclose(x, y, rtol=2 * np.finfo(x.dtype).eps)
        np.testing.assert_array_equal(np.signbit(x[~np.isnan(y)]), np.signbit(y[~np.isnan(y)]))


def test_gradients_of_sizes_call_no_python():
    z = arguments("sqrt", "c128", 10)
    assert "0 calls into Python" in str(pliant.explain(pliant.grad(lambda z: np.sum(np.abs(z))), z))
