"""Mathematical functions of our own: as exact as their table says, and NumPy's special cases."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import pliant
from benchmarks.vector_math import fit
from benchmarks.vector_math.errors import DTYPES, NAMES, arguments, by_numpy, compiled, error, special
from pliant.backends.llvm.jit import host_target
from pliant.backends.llvm.own import ALWAYS, COMPLEX, FASTER, FASTER_IF_WIDE, FORMULAS, coefficients, served

BOUNDS = {
    "cbrt": 0.6, "hypot": 0.6, "exp2": 1.0, "log": 1.0, "pow": 1.0, "log10": 1.1, "log2": 1.2, "exp": 1.2, "arcsin": 1.3,
    "arccos": 1.3, "expm1": 1.5, "cosh": 1.6, "log1p": 1.6, "arctan": 2.0, "arctan2": 2.0, "arcsinh": 2.2,
    "arctanh": 2.2, "arccosh": 2.2, "sinh": 2.4, "tan": 2.5, "tanh": 2.6, "sin": 2.3, "cos": 2.3,
}  # fmt: skip
"""The greatest errors, in ulps; docs/vector-math.md has what was measured over more arguments."""

pytestmark = pytest.mark.skipif(
    np.finfo(np.longdouble).nmant < 60 or not served(host_target().has, vectors=False),
    reason="no wider format to compare with, or no fused products",
)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NAMES)
def test_errors_are_small(name: str, dtype: str):
    xs = arguments(name, dtype, 5_000)
    found = error(name, compiled(name, "own", xs), xs)
    assert found.ulps <= BOUNDS[name], found


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NAMES)
def test_functions_of_the_platform_are_within_four_ulps(name: str, dtype: str):
    xs = arguments(name, dtype, 2_000)
    found = error(name, compiled(name, "system", xs), xs)
    assert found.ulps <= 4, found


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NAMES)
def test_special_arguments_give_what_numpy_gives(name: str, dtype: str):
    xs = special(name, dtype)
    got, wanted = compiled(name, "own", xs), by_numpy(name, xs)
    for kind in (np.isnan, np.isinf, lambda x: x == 0):
        assert [tuple(map(float, p)) for p in zip(*(x[kind(got) != kind(wanted)] for x in xs), strict=True)] == []
    is_number = ~np.isnan(wanted)
    np.testing.assert_array_equal(np.signbit(got)[is_number], np.signbit(wanted)[is_number])
    np.testing.assert_allclose(got, wanted, rtol=8 * np.finfo(got.dtype).eps, atol=0)


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_angles_of_any_size_are_reduced(name: str, dtype: str):
    largest = 300 if dtype == "f64" else 37
    xs = ((10.0 ** np.linspace(0, largest, 4_001)).astype(DTYPES[dtype]),)
    assert error(name, compiled(name, "own", xs), xs).ulps <= BOUNDS[name]


@pytest.mark.parametrize("name", ["sin", "cos"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_sines_are_at_most_one(name: str, dtype: str):
    rng = np.random.default_rng(1)
    near = rng.integers(-20_000, 20_000, 50_000) * (np.pi / 2) + rng.normal(0, 0.02, 50_000)
    assert np.abs(compiled(name, "own", (near.astype(DTYPES[dtype]),))).max() <= 1


@pytest.mark.parametrize("name", NAMES)
def test_places_do_not_matter(name: str):
    """What is left over after the last whole vector is computed by the same formula."""
    xs = arguments(name, "f64", 10)
    whole = compiled(name, "own", xs)
    parts = [compiled(name, "own", tuple([x[n : n + 1] for x in xs])) for n in range(3)]
    assert whole[:3].tobytes() == np.concatenate(parts).tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_formulas_with_a_branch_give_the_same_in_vectors_of_any_width(name: str, dtype: str):
    """Long loops compute several vectors at once; some angles among the others are so large that libm reduces them."""
    x = arguments(name, dtype, 100)[0]
    one_by_one = np.concatenate([compiled(name, "own", (x[n : n + 1],)) for n in range(0, len(x), 7)])
    assert compiled(name, "own", (x,))[::7].tobytes() == one_by_one.tobytes()


ENDS = [
    0.0, -0.0, 0.1, 0.3, -1.0, 3.0, 7.5, 1e16, 2.0**23, 2.0**24 + 2, 2.0**52 - 0.5, 2.0**53, np.inf, -np.inf, np.nan,
    5e-324, 2.3e-308, 1e-310, 1e-45, 1e38, -1.7e308,
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("setting", ["own", "system", ""])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
@pytest.mark.parametrize("function", [np.fmod, np.remainder, np.floor_divide, np.divmod])
def test_remainders_are_exact(function: Any, dtype: Any, setting: str, monkeypatch: pytest.MonkeyPatch):
    """Ratios of any size, where multiples are near, whole numbers; among others libm's, for which it is asked."""
    monkeypatch.setitem(os.environ, "PLIANT_MATH", setting)
    rng = np.random.default_rng(0)
    ends = [x.ravel() for x in np.meshgrid(ENDS, ENDS)]
    wide = [rng.normal(size=5_000) * 10.0 ** rng.integers(-20, 20, 5_000) for _ in range(2)]
    near = [np.round(rng.normal(size=5_000) * n) * 0.1 for n in (50, 9)]
    whole = [rng.integers(-n, n, 5_000).astype(float) for n in (1000, 9)]
    for xs in (ends, wide, near, whole):
        x, y = [v.astype(dtype) for v in xs]
        with np.errstate(all="ignore"):
            got, wanted = pliant.jit(lambda x, y: function(x, y))(x, y), function(x, y)
        for g, w in zip(np.atleast_2d(got), np.atleast_2d(wanted), strict=True):
            np.testing.assert_array_equal(g, w)
            is_number = ~np.isnan(w)
            np.testing.assert_array_equal(np.signbit(g)[is_number], np.signbit(w)[is_number])


def test_coefficients_are_those_of_the_fit():
    assert fit.text() == fit.TARGET.read_text()
    assert {f.name for f in fit.FITS} <= set(vars(coefficients))


PLANAR = {(name, type) for name in COMPLEX for type in ("double", "float")}
EVERY = {(name, type) for name in FORMULAS for type in ("double", "float")} | PLANAR


@pytest.mark.parametrize(
    ("setting", "vectors", "chosen"),
    [
        ("own", {"avx2"}, EVERY),
        ("own", {"avx2", "avx512f"}, EVERY),
        ("system", {"avx2", "avx512f"}, ALWAYS),
        ("", {"avx2"}, FASTER | PLANAR | ALWAYS),
        ("", {"avx2", "avx512f"}, FASTER | FASTER_IF_WIDE | PLANAR | ALWAYS),
    ],
    ids=["own", "own, wide", "system", "best", "best, wide"],
)
def test_the_environment_and_the_processor_choose_the_formulas(
    setting: str, vectors: set[str], chosen: set[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PLIANT_MATH", setting)
    assert served({"fma", *vectors}, vectors=True) == chosen
    assert chosen <= EVERY


def test_processors_without_fused_products_take_libm(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PLIANT_MATH", "own")
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    assert served({"sse2"}, vectors=True) == ALWAYS


def network(x: Any, w: Any) -> Any:
    y = np.tanh(x @ w)
    e = np.exp(y - y.max(1, keepdims=True))
    return np.sum(np.log1p(e / e.sum(1, keepdims=True)) * np.sin(y)), np.logaddexp(x, 0.0)


@pytest.mark.parametrize("dtype", DTYPES)
def test_formulas_are_fused(dtype: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(os.environ, "PLIANT_MATH", "own")
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(33, 20)).astype(DTYPES[dtype]), rng.normal(size=(20, 10)).astype(DTYPES[dtype])
    for got, wanted in zip(pliant.jit(network)(x, w), network(x, w), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=50 * np.finfo(x.dtype).eps)
