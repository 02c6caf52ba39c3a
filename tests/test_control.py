"""Derivatives of one's own: how their functions may be called."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import ArgumentError, TracedValueError


def power(a: Any, k: Any = 2, scale: Any = 1) -> Any:
    return np.sum(a**k) * scale


def tangent_of_power(primals: Any, tangents: Any) -> Any:
    _, k, scale = primals
    return np.sum(100 * k * tangents[0]) * scale


by_jvp = pliant.custom_derivative(power, jvp=tangent_of_power)
by_vjp = pliant.custom_derivative(
    power,
    forward=lambda a, k, scale: (power(a, k, scale), (a, k)),
    backward=lambda kept, ct: (100 * kept[1] + 0 * kept[0],),
)


@pytest.mark.parametrize("f", [by_jvp, by_vjp])
def test_functions_with_derivatives_of_their_own_take_keywords(f: Any) -> None:
    compiled = pliant.jit(lambda x: f(x, k=3))
    gradient = pliant.grad(lambda x: f(k=3, a=x))
    for x in (np.array([1.0, 2.0]), np.array([3.0, -1.0])):
        assert f(x, k=3) == compiled(x) == power(x, k=3)
        assert f(x, scale=2) == pliant.jit(f)(x, scale=2) == power(x, scale=2)
        np.testing.assert_array_equal(gradient(x), [300.0, 300.0])
        np.testing.assert_array_equal(pliant.grad(f)(x, k=3), [300.0, 300.0])


def test_keywords_without_a_position_are_refused() -> None:
    only = pliant.custom_derivative(lambda a, *, k=2: a**k, jvp=lambda p, t: t[0])
    rest = pliant.custom_derivative(lambda a, **more: a, jvp=lambda p, t: t[0])
    assert pliant.grad(only)(2.0) == 1.0
    for f in (only, rest, pliant.jit(only)):
        with pytest.raises(
            ArgumentError, match=r"takes k by keyword only(?s:.*)f\(2.0, k=3\)(?s:.*)hint: make it a param"
        ):
            f(2.0, k=3)


def test_calls_that_the_function_does_not_take_are_refused() -> None:
    with pytest.raises(ArgumentError, match="power cannot be called with the keywords n: got an unexpected"):
        by_jvp(2.0, n=3)
    absolute = pliant.custom_derivative(np.abs, jvp=lambda p, t: t[0])
    with pytest.raises(ArgumentError, match=r"absolute cannot be called with the keywords x(?s:.*)by position"):
        absolute(x=2.0)


KEPT: list[Any] = []
ONE = np.array([1.0, 2.0])


def appends(x: Any) -> Any:
    KEPT.append(x.sum())
    return x.sum()


def binds(x: Any) -> Any:
    last = None

    def f(y: Any) -> Any:
        nonlocal last
        last = y.sum()
        return y.sum()

    return pliant.checkpoint(f)(x), last


def appends_under_grad(x: Any) -> Any:
    found: list[Any] = []

    def f(y: Any) -> Any:
        found.append(y.sum())
        return y.sum()

    return pliant.grad(f)(x), found


@pytest.mark.parametrize(
    ("f", "line"),
    [
        (pliant.custom_derivative(appends, jvp=lambda p, t: t[0].sum()), "KEPT.append"),
        (pliant.checkpoint(appends), "KEPT.append"),
        (binds, "last = y"),
        (appends_under_grad, "found.append"),
    ],
)
def test_arrays_that_a_function_traced_by_itself_keeps_are_refused(f: Any, line: str) -> None:
    what = r"f64\[\] is kept when the function that made it ends, which is traced by itself"
    with pytest.raises(TracedValueError, match=rf"{what}(?s:.*){line}(?s:.*)hint: return it from that function"):
        pliant.jit(f)(ONE)
    assert KEPT == []
