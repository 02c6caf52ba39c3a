"""Forward mode is the directional derivative; exact zeros are followed, not computed."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.core.build import trace
from pliant.core.ir import nodes
from pliant.core.types import Type
from pliant.ops.elementwise import convert
from pliant.ops.transcendental import exp, sin
from pliant.transforms.evaluate import evaluate
from pliant.transforms.jvp import jvp, push
from tests.programs.programs import PROGRAMS, SMOOTH, f64

F3 = f64(3)
INTEGERS = {"updates": [None, np.array([0, 2, 2]), None]}


def arguments(name: str, seed: int = 0) -> list[np.ndarray]:
    rng, given = np.random.default_rng(seed), INTEGERS.get(name, [])
    params = PROGRAMS[name]().params
    given = [*given, *[None] * (len(params) - len(given))]
    return [rng.uniform(0.2, 1.5, p.type.shape) if g is None else g for p, g in zip(params, given, strict=True)]


@pytest.mark.parametrize("name", [f.__name__ for f in SMOOTH])
def test_tangents_are_directional_derivatives(name: str) -> None:
    fn = PROGRAMS[name]()
    active = tuple(p.type.is_float for p in fn.params)
    xs = arguments(name)
    dxs = [d if a else np.zeros_like(d) for d, a in zip(arguments(name, 1), active, strict=True)]
    got = evaluate(jvp(fn, active), (*xs, *(d for d, a in zip(dxs, active, strict=True) if a)), np)[len(fn.results) :]
    h = 1e-6
    ahead, behind = (
        evaluate(fn, tuple(x + s * h * d if a else x for x, d, a in zip(xs, dxs, active, strict=True)), np)
        for s in (1, -1)
    )
    for g, p, m in zip(got, ahead, behind, strict=True):
        np.testing.assert_allclose(g, (p - m) / (2 * h), rtol=1e-6, atol=1e-8)


def test_a_tangent_that_is_zero_makes_no_program() -> None:
    fn = trace(lambda x, y: exp(x) * y, F3, F3)
    assert push(fn, fn.params, (None, None))[1] == (None,)


def test_integers_end_the_tangent() -> None:
    fn = trace(lambda x: convert(convert(x, "i64"), "f64"), F3)
    assert push(fn, fn.params, fn.params)[1] == (None,)


def test_integer_results_have_no_tangent() -> None:
    fn = jvp(trace(lambda x: (convert(x, "i64"), x * x), F3), (True,))
    assert [r.type for r in fn.results] == [Type("i64", (3,)), F3, F3]


def test_results_keep_the_names_the_user_gave_them() -> None:
    def f(x):
        y = sin(x)
        return y

    assert "%y: f64[3] = sin(%x0)" in str(jvp(trace(f, F3), (True,)))


def test_a_long_program_is_pushed_in_linear_size() -> None:
    def f(x, n):
        for _ in range(n):
            x = x * x + x
        return x

    sizes = [len(nodes(jvp(trace(lambda x, n=n: f(x, n), F3), (True,)).results)) for n in (100, 200)]
    assert sizes[1] < 2.1 * sizes[0]
