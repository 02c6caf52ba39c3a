"""Loops after whose steps memory changes roles: what one step writes the next one reads, however LLVM unrolls them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant

BODIES: dict[str, Callable[[Any], Any]] = {
    "columns turned": lambda d: 0.5 * d + 0.5 * d[..., ::-1] + 1,
    "rows turned": lambda d: 0.9 * d + 0.5 * d[::-1],
    "both turned": lambda d: 0.5 * d + 0.25 * np.flip(d) - 1,
    "rolled": lambda d: 0.5 * d - 0.75 * np.roll(d, 1, axis=0),
    "taken": lambda d: 0.9 * d + 0.5 * d[..., np.arange(d.shape[-1])[::-1]],
    "a sine": lambda d: np.sin(d) + 0.1 * d[..., ::-1],
    "transposed": lambda d: 0.9 * d + 0.5 * d.T if d.ndim == 2 and d.shape[0] == d.shape[1] else d[::-1] * 0.5,
}
SHAPES = [(9,), (20,), (3, 3), (4, 3), (3, 1, 3), (5, 7)]


def in_turn(body: Callable[[Any], Any], d: Any, outer: int, inner: int) -> Any:
    for _ in range(outer):
        for _ in range(inner):
            d = body(d)
    return d


def exchanged(body: Callable[[Any], Any], d: Any, outer: int, inner: int) -> Any:
    e = d * 0.5
    for _ in range(outer):
        for _ in range(inner):
            d, e = e, body(d) - 0.25 * e
        d = d + e[::-1]
    return d - e


def as_long_as(body: Callable[[Any], Any], d: Any, outer: int, inner: int) -> Any:
    for _ in range(outer):
        k = 0
        while k < inner and d.flat[0] < 1e9:
            d, k = body(d), k + 1
    return d


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", BODIES)
def test_steps_read_what_those_before_wrote(name: str, shape: tuple[int, ...]) -> None:
    body = BODIES[name]
    d = np.arange(1.0, 1 + np.prod(shape)).reshape(shape) / 8
    for flow in (in_turn, exchanged, as_long_as)[: 3 if len(shape) == 2 else 1]:
        for outer, inner in ((5, 6), (6, 16)):
            got = pliant.jit(lambda d, o=outer, i=inner, flow=flow: flow(body, d, o, i))(d)
            np.testing.assert_allclose(got, flow(body, d, outer, inner), rtol=1e-10)


@pytest.mark.parametrize("inner", range(5, 9))
def test_as_many_steps_as_a_call_says(inner: int) -> None:
    d = np.arange(9.0).reshape(3, 3)
    for flow in (in_turn, exchanged, as_long_as):
        got = pliant.jit(lambda d, o, i, flow=flow: flow(BODIES["columns turned"], d, o, i))
        np.testing.assert_allclose(got(d, 5, inner), flow(BODIES["columns turned"], d, 5, inner), rtol=1e-12)


@pytest.mark.parametrize("n", [10, 13, 16])
def test_second_derivatives_that_compute_steps_again_are_those_that_keep_them(n: int) -> None:
    x = np.array([0.7, -0.4, 0.9])

    def f(x: Any, save: str) -> Any:
        return pliant.fori_loop(0, n, lambda _, s: np.sin(s) + 0.1 * s[::-1], x, save=save).sum()

    kept = pliant.hessian(lambda x: f(x, "store"))(x)
    np.testing.assert_allclose(pliant.hessian(lambda x: f(x, "sqrt"))(x), kept, rtol=1e-10, atol=1e-12)
    for modes in (("forward", "forward"), ("reverse", "forward"), ("forward", "reverse")):
        slope = pliant.jacobian(lambda x: f(x, "sqrt"), mode=modes[0])
        np.testing.assert_allclose(pliant.jacobian(slope, mode=modes[1])(x), kept, rtol=1e-10, atol=1e-12)
