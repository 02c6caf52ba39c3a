"""Convolution and correlation: values in every mode, and laws."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pliant
from pliant.core.build import trace
from pliant.core.types import Type
from pliant.errors import ShapeError
from pliant.ops.convolve import Convolve, Correlate, convolve, correlate
from pliant.testing import check_primitive, run

RNG = np.random.default_rng(0)
SIZES = [(5, 3), (3, 5), (4, 4), (6, 2), (2, 6), (1, 4), (5, 4), (4, 5)]


@pytest.mark.parametrize("dtype", ["f64", "c128"])
def test_convolve_is_numpys_and_obeys_the_laws(dtype):
    check_primitive(Convolve(), Type(dtype, (4,)), Type(dtype, (3,)), oracle=np.convolve)


@pytest.mark.parametrize("dtype", ["i32", "u8", "f32"])
def test_stacked_sequences_of_any_dtype(dtype):
    check_primitive(Convolve(), Type(dtype, (2, 2, 3)), Type(dtype, (2, 2, 4)))


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize(("m", "n"), SIZES)
@pytest.mark.parametrize(("ours", "numpys"), [(convolve, np.convolve), (correlate, np.correlate)])
def test_modes_are_numpys(ours, numpys, m, n, mode):
    x, y = (RNG.standard_normal(k) + 1j * RNG.standard_normal(k) for k in (m, n))
    fn = trace(lambda a, b: ours(a, b, mode=mode), Type("c128", (m,)), Type("c128", (n,)))
    assert_allclose(run(fn, (x, y))[0], numpys(x, y, mode), atol=1e-12)


@pytest.mark.parametrize(("m", "n"), [(5, 3), (6, 5), (4, 4), (4, 1)])
@pytest.mark.parametrize("dtype", ["f64", "c128"])
def test_correlate_is_numpys_and_obeys_the_laws(dtype, m, n):
    oracle = lambda x, y: np.correlate(x, y.conj())  # noqa: E731
    check_primitive(Correlate(), Type(dtype, (m,)), Type(dtype, (n,)), oracle=oracle)


@pytest.mark.parametrize(("m", "n"), [(4, 2), (5, 4)])
@pytest.mark.parametrize("dtype", ["i32", "u8", "f32"])
def test_stacked_sequences_are_correlated(dtype, m, n):
    check_primitive(Correlate(), Type(dtype, (2, 2, m)), Type(dtype, (2, 2, n)))


@pytest.mark.parametrize(("m", "n"), [(3, 5), (4, 4), (70, 9), (33, 40)])
@pytest.mark.parametrize("dtype", ["f8", "f4", "c16", "i4", "u1", "?"])
@pytest.mark.parametrize("numpys", [np.convolve, np.correlate])
def test_machine_code_computes_what_numpy_does(numpys, dtype, m, n):
    drawn = (RNG.standard_normal(k) * 3 + 1j * RNG.standard_normal(k) for k in (m, n))
    x, y = (z.astype(dtype) if dtype == "c16" else z.real.astype(dtype) for z in drawn)
    f = lambda x, y: tuple(numpys(x, y, mode) for mode in ("full", "same", "valid"))  # noqa: E731
    near = 1e-5 if dtype == "f4" else 1e-12
    for got, expected in zip(pliant.jit(f)(x, y), f(x, y), strict=True):
        assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
        assert_allclose(got, expected, rtol=near, atol=near)


@pytest.mark.parametrize("argnums", [0, 1])
def test_gradients_of_long_sequences_take_no_more_than_the_products_there_are(argnums):
    x, y = RNG.standard_normal(3000), RNG.standard_normal(7)
    loss = lambda x, y: np.sum(np.convolve(x, y) ** 2)  # noqa: E731
    explained = str(pliant.explain(pliant.grad(loss, argnums=argnums), x, y))
    assert ": Python" not in explained
    windows = np.lib.stride_tricks.sliding_window_view
    ct = 2 * np.convolve(x, y)
    expected = windows(ct, y.size) @ y if argnums == 0 else windows(ct, x.size) @ x
    assert_allclose(pliant.grad(loss, argnums=argnums)(x, y), expected, rtol=1e-10)


def test_a_sequence_that_does_not_lie_inside_another_is_refused():
    with pytest.raises(ShapeError, match="does not lie inside"):
        Correlate().infer(Type("f64", (2,)), Type("f64", (3,)))


def test_empty_sequences_are_refused():
    with pytest.raises(ShapeError, match="empty sequence"):
        Convolve().infer(Type("f64", (0,)), Type("f64", (3,)))


@pytest.mark.parametrize("dtype", ["f64", "c128", "f32", "i32", "u8"])
@pytest.mark.parametrize(("m", "n"), [(4, 1), (9, 2), (70, 16), (70, 17), (150, 35), (5, 20)])
@pytest.mark.parametrize("op", [Convolve(), Correlate()])
def test_short_sequences_obey_the_laws(op, m, n, dtype):
    if m > n or isinstance(op, Convolve):
        check_primitive(op, Type(dtype, (2, m)), Type(dtype, (2, n)))


@pytest.mark.parametrize("numpys", [np.convolve, np.correlate])
@pytest.mark.parametrize(("m", "n"), [(9, 2), (70, 17), (17, 70), (150, 35), (8, 1)])
def test_derivatives_of_short_sequences_are_sums_too(numpys, m, n):
    x, y = RNG.standard_normal(m), RNG.standard_normal(n)
    for mode in ("full", "same", "valid"):
        weights = RNG.standard_normal(numpys(x, y, mode).shape)
        dx, dy = pliant.grad(lambda x, y, mode=mode, w=weights: np.sum(w * numpys(x, y, mode)), argnums=(0, 1))(x, y)
        assert_allclose(dx, [weights @ numpys(e, y, mode) for e in np.eye(m)], atol=1e-12)
        assert_allclose(dy, [weights @ numpys(x, e, mode) for e in np.eye(n)], atol=1e-12)


def test_several_windows_are_added_at_a_time():
    for n, loops in ((16, 0), (33, 1)):
        code = pliant.explain(lambda x, y: np.correlate(x, y), np.ones(1000), np.ones(n)).code
        assert code.count("loop →") == loops
