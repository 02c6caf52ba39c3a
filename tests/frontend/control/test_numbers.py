"""Python's `math` on traced numbers: what it is on numbers, and differentiable."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import PliantError, UnsupportedError

POINTS = (0.3, 0.9, -0.6, 2.5, -7.25, 1e-3)
WHOLE = (12, -18, 0, 7)

OF_ONE = {
    name: getattr(math, name)
    for name in (
        "sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh exp exp2 expm1 log log1p log2 log10 sqrt cbrt "
        "fabs degrees radians floor ceil trunc isnan isinf isfinite erf erfc lgamma modf frexp"
    ).split()
    if hasattr(math, name)
}
OF_TWO = {name: getattr(math, name) for name in "atan2 hypot copysign fmod pow nextafter isclose log".split()}
WRITTEN: dict[str, Callable[[Any], Any]] = {
    "hypot of three": lambda x: math.hypot(x[0], 2.0, x[1]),
    "hypot of one": lambda x: math.hypot(x[0]),
    "isclose with tolerances": lambda x: math.isclose(x[0], x[0] * 1.001, rel_tol=1e-2),
    "isclose with an absolute one": lambda x: math.isclose(x[0], x[1], rel_tol=0.0, abs_tol=5.0),
    "fsum of an array": lambda x: math.fsum(x),
    "fsum of a list": lambda x: math.fsum([x[0], 1.5, x[1]]),
    "dist": lambda x: math.dist(x, [1.0, 2.0]),
    "dist of lists": lambda x: math.dist([x[0], 1.0], [2.0, x[1]]),
    "ldexp": lambda x: math.ldexp(x[0], 3),
    "log to a base": lambda x: math.log(abs(x[0]), 10),
    "mixed": lambda x: math.sqrt(abs(x[0])) + 2 * math.sin(x[1]) ** 2,
}


def run(f: Callable[..., Any], *args: Any) -> Any:
    """The value, or NaN where `math` raises ValueError."""
    try:
        return f(*args)
    except ValueError:
        return math.nan


@pytest.mark.parametrize("name", sorted(OF_ONE))
def test_of_one_number(name: str):
    f = OF_ONE[name]

    def call(x: Any) -> Any:
        return f(x)

    for x in POINTS:
        expected = run(f, x)
        np.testing.assert_allclose(pliant.jit(call)(np.float64(x)), expected, rtol=1e-13)
        assert np.asarray(pliant.jit(call)(x)).dtype == np.asarray(expected).dtype or math.isnan(expected)


@pytest.mark.parametrize("name", sorted(OF_TWO))
def test_of_two_numbers(name: str):
    f = OF_TWO[name]

    def call(x: Any, y: Any) -> Any:
        return f(x, y)

    for x in POINTS:
        for y in POINTS:
            np.testing.assert_allclose(pliant.jit(call)(x, y), run(f, x, y), rtol=1e-13)
            np.testing.assert_allclose(run(pliant.jit(lambda x, y=y: f(x, y)), x), run(f, x, y), rtol=1e-13)


@pytest.mark.parametrize("name", sorted(WRITTEN))
def test_as_in_python(name: str):
    f = WRITTEN[name]
    for x in POINTS:
        given = np.array([x, 0.7])
        np.testing.assert_allclose(pliant.jit(f)(given), f(given), rtol=1e-13)


@pytest.mark.parametrize("name", ["gcd", "lcm"])
def test_of_integers(name: str):
    f = getattr(math, name)

    def call(n: Any, m: Any) -> Any:
        return f(n, m)

    for n in WHOLE:
        for m in WHOLE:
            assert pliant.jit(call)(n, m) == f(n, m)
    with pytest.raises(PliantError, match="is not defined for f64"):
        pliant.jit(call)(1.5, 2.0)


@pytest.mark.parametrize("name", ["erf", "erfc", "lgamma", "hypot of three", "dist", "fsum of a list", "mixed"])
def test_derivatives_agree_with_differences(name: str):
    if name in WRITTEN:
        f = WRITTEN[name]
    else:

        def f(x: Any) -> Any:
            return OF_ONE[name](x[0]) * x[1]

    x, h = np.array([0.9, 0.7]), 1e-6
    steps = h * np.eye(2)
    expected = [(f(x + d) - f(x - d)) / (2 * h) for d in steps]
    np.testing.assert_allclose(pliant.grad(f)(x), expected, rtol=1e-8)


@pytest.mark.usefixtures("for_all_data")
@pytest.mark.parametrize("name", ["gamma", "factorial", "comb", "perm", "isqrt", "remainder", "ulp"])
def test_what_numpy_does_not_have_is_refused_with_what_to_use(name: str):
    f = getattr(math, name)

    def call(n: Any) -> Any:
        return f(n, n) if name in ("comb", "perm", "remainder") else f(n)

    with pytest.raises(UnsupportedError, match=rf"math\.{name} of a traced number i64\[\]\n(.|\n)*hint: use "):
        pliant.jit(lambda x: call(x[0]))(np.array([3]))
    assert pliant.jit(call)(3) == call(3)
    assert pliant.jit(lambda x: x * call(3))(2.0) == 2.0 * call(3)


def test_pythons_numbers_in_a_list_are_of_the_dtype_of_the_others():
    def read(x: Any) -> Any:
        return [np.inf, x[1], x[2]][x.argmin()]

    def added_to(x: Any) -> Any:
        totals, place = [0.0] * 4, 0
        for _ in range(2):
            totals[place] += x[1] - totals[place]
            place = x.argmin()
        return totals[1]

    for dtype in (np.float32, np.float64):
        x = np.array([0.6, 0.2, 0.7, 0.3], dtype)
        for f in (read, added_to):
            found = pliant.jit(f)(x)
            assert type(found) is dtype
            assert found == f(x)
