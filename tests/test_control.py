"""Derivatives of one's own: how their functions may be called."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import ArgumentError, DifferentiationError, TracedValueError


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


X = np.array([0.5, 1.0, 2.0])


def ruled(f: Any, backward: Any) -> Any:
    return pliant.custom_derivative(f, forward=lambda *args: (f(*args), args), backward=backward)


NOTHING_FOR = {
    "the second": (lambda a, b: a * b, lambda r, ct: (ct * r[1], None), [True, False]),
    "the first": (lambda a, b: a * b, lambda r, ct: (None, ct * r[0]), [False, True]),
    "both": (lambda a, b: a * b, lambda r, ct: (None, None), [False, False]),
}


@pytest.mark.parametrize(("f", "backward", "has"), NOTHING_FOR.values(), ids=NOTHING_FOR)
def test_none_of_backward_is_a_zero(f: Any, backward: Any, has: Any) -> None:
    got = pliant.grad(lambda a, b: np.sum(ruled(f, backward)(a, b)), argnums=(0, 1))(X, X + 1)
    np.testing.assert_allclose(got, [(X + 1) * has[0], X * has[1]])


def test_none_of_backward_is_a_zero_for_integers_and_in_containers_too() -> None:
    scaled = ruled(lambda a, n, b: a * b * n, lambda r, ct: (ct * r[1] * r[2], None, None))
    np.testing.assert_allclose(pliant.grad(lambda a: np.sum(scaled(a, np.array(3), a)))(X), 3 * X)
    nested = ruled(lambda p: p["a"] * p["b"][0], lambda r, ct: ({"a": ct * r[0]["b"][0], "b": None},))
    got = pliant.grad(lambda p: np.sum(nested(p)))({"a": X, "b": [X + 1]})
    np.testing.assert_allclose(got["a"], X + 1)
    np.testing.assert_array_equal(got["b"], [0 * X])


W = np.array([2.0, -1.0, 3.0])
READING = {
    "an array from outside": (lambda r, ct: (W * ct,), W),
    "a new one": (lambda r, ct: (np.array([2.0, 3.0, 4.0]) * ct,), np.array([2.0, 3.0, 4.0])),
    "a list": (lambda r, ct: ([2.0, 3.0, 4.0] * ct,), np.array([2.0, 3.0, 4.0])),
    "a system": (lambda r, ct: (np.linalg.solve(np.diag(W), ct),), 1 / W),
    "residuals too": (lambda r, ct: (np.where(W > 0, W * np.cos(r[0]), 1.0) * ct,), np.where(W > 0, W * np.cos(X), 1)),
}


@pytest.mark.parametrize(("backward", "factor"), READING.values(), ids=READING)
def test_backward_may_read_arrays_from_outside(backward: Any, factor: Any) -> None:
    f = pliant.grad(lambda x: np.sum(ruled(np.sin, backward)(x) * x))
    np.testing.assert_allclose(f(X), factor * X + np.sin(X))
    rows = pliant.vmap(f)(np.stack([X, X]))
    np.testing.assert_allclose(rows, [factor * X + np.sin(X)] * 2)


def test_what_backward_reads_of_an_enclosing_function_is_constant_to_it() -> None:
    def f(x: Any, y: Any) -> Any:
        scaled = pliant.custom_derivative(
            lambda x: np.sin(x) * y,
            forward=lambda x: (np.sin(x) * y, x),
            backward=lambda r, ct: (np.cos(r) * y * ct,),
        )
        return np.sum(scaled(x))

    dx, dy = pliant.grad(f, argnums=(0, 1))(X, W)
    np.testing.assert_allclose(dx, np.cos(X) * W)
    np.testing.assert_array_equal(dy, 0 * W)
    np.testing.assert_allclose(pliant.hessian(f)(X, W), np.diag(-np.sin(X) * W), atol=1e-12)


UNLIKE = {
    "shape": (ruled(np.sin, lambda r, ct: (ct[:1],)), r"backward returns \(f64\[1\],\), expected a cotangent for each"),
    "count": (ruled(np.sin, lambda r, ct: (ct, ct)), r"backward returns \(f64\[\d\], f64\[\d\]\), expected"),
    "no return": (ruled(np.sin, lambda r, ct: None), "backward returns None, expected a cotangent"),
    "dtype": (ruled(np.sin, lambda r, ct: ct.astype("f4")), r"backward returns f32\[\d\], expected a cotangent"),
    "text": (ruled(np.sin, lambda r, ct: ("a",)), r"backward returns \(str,\), expected a cotangent"),
    "residuals": (
        pliant.custom_derivative(np.sin, forward=np.sin, backward=lambda r, ct: ct),
        r"forward returns f64\[\d\], expected \(result, residuals\)",
    ),
    "forward": (
        pliant.custom_derivative(np.sin, forward=lambda a: (a[:1], a), backward=lambda r, ct: r),
        r"forward returns f64\[1\], expected the result of f, f64\[\d\]",
    ),
    "jvp": (
        pliant.custom_derivative(np.sin, jvp=lambda xs, dxs: np.sum(dxs[0])),
        r"jvp returns f64\[\], expected a tangent of the result, f64\[\d\]",
    ),
}


@pytest.mark.parametrize(("f", "expected"), UNLIKE.values(), ids=UNLIKE)
def test_what_rules_return_is_said_beside_what_is_expected(f: Any, expected: str) -> None:
    with pytest.raises(ArgumentError, match=rf"custom_derivative: {expected}(?s:.*)np.sum\(f\(x\)\)(?s:.*)hint: "):
        pliant.grad(lambda x: np.sum(f(x)))(X)


@pytest.mark.parametrize(
    "made", [lambda x: np.ones(3), lambda x: np.full_like(x, 2.0), lambda x: np.array([1.0, 0, 0])]
)
def test_tangents_that_are_numbers_other_than_zeros_are_refused(made: Any) -> None:
    f = pliant.custom_derivative(np.sin, jvp=lambda xs, dxs: made(xs[0]))
    with pytest.raises(DifferentiationError, match="do not depend on the tangents"):
        pliant.grad(lambda x: np.sum(f(x)))(np.arange(3.0))


@pytest.mark.parametrize("backward", [lambda ct: np.ones(3), lambda ct: np.clip(ct, -1, 1), lambda ct: np.nan * ct])
def test_backward_may_be_any_function_of_the_cotangents(backward: Any) -> None:
    f = pliant.custom_derivative(np.sin, forward=lambda x: (np.sin(x), ()), backward=lambda r, ct: (backward(ct),))
    ct = np.array([0.5, 3.0, -4.0])
    np.testing.assert_array_equal(pliant.grad(lambda x: np.sum(f(x) * ct))(np.arange(3.0)), backward(ct))


def test_rules_may_have_zeros_for_results() -> None:
    by_jvp = pliant.custom_derivative(np.sin, jvp=lambda xs, dxs: np.zeros(3))
    by_vjp = pliant.custom_derivative(np.sin, forward=lambda x: (np.sin(x), ()), backward=lambda r, ct: (0 * ct,))
    for f in (by_jvp, by_vjp):
        assert not pliant.grad(lambda x, f=f: np.sum(f(x)))(np.arange(3.0)).any()
