"""Steps that are alike share a function, and nothing else does."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pliant
from pliant.backends.llvm.compiler import assembly, can, routine_of
from pliant.kernel.verified import build_verified
from pliant.pipeline import optimise

RNG = np.random.default_rng(3)
MANY = 24  # steps: more than one function has
PLACES = tuple(range(MANY))  # a loop over them is unrolled


def code(f: Any, *args: Any) -> str:
    return assembly(build_verified(optimise(pliant.trace(f, *args)), can, routine_of))[0]


def shared(f: Any, *args: Any) -> int:
    """How many functions of a program are those of steps alike."""
    return len(re.findall(r"define (?:internal|hidden) void @\w+_alike\d+\(", code(f, *args)))


def products(text: str) -> int:
    """How many products there are in the code of a program; each module has the functions of NumPy's that it uses."""
    functions = dict(re.findall(r"^define [^@]*@(\w+)(\(.*?^})", text, re.MULTILINE | re.DOTALL))
    return sum([body.count(" fmul ") for body in functions.values()])


def check(f: Any, *args: Any) -> None:
    for got, wanted in zip(pliant.jit(f)(*args), f(*args), strict=True):
        assert_allclose(got, wanted, rtol=1e-11, atol=1e-11)


def network(x: Any, weights: Any) -> Any:
    for w in weights:
        x = np.tanh(x @ w) * 0.5 + x
    return (x * x).sum()


def weights(layers: int) -> list[Any]:
    return [RNG.normal(size=(8, 8)) / 8 for _ in range(layers)]


def test_layers_share_their_code():
    x, gradient = RNG.normal(size=(8, 8)), pliant.value_and_grad(network, argnums=1)
    few, many = (products(code(gradient, x, weights(layers))) for layers in (MANY, 2 * MANY))
    assert few == many > 50


@pytest.mark.parametrize("n", [3, 4, 20])
def test_derivatives_of_layers(n: int):
    x, ws = RNG.normal(size=(n, n)), [RNG.normal(size=(n, n)) / n for _ in range(MANY)]
    made = pliant.grad(network, argnums=1)(x, ws)
    with pliant.disable_jit():
        wanted = pliant.grad(network, argnums=1)(x, ws)
    for got, want in zip(made, wanted, strict=True):
        assert_allclose(got, want, rtol=1e-10, atol=1e-12)


def test_windows_of_one_array_at_different_places():
    def f(x: Any, w: Any) -> Any:
        rows = [np.cumsum(np.exp(x[t] * 0.1) @ w[t] + x[t + 1]) for t in PLACES]
        return *rows, np.concatenate([row[::-1] for row in rows])

    x, w = RNG.normal(size=(MANY + 1, 150)), RNG.normal(size=(MANY, 150, 150))
    assert shared(f, x, w)
    check(f, x, w)


def test_writes_at_different_places():
    def f(x: Any) -> Any:
        y = np.zeros((3 * MANY, 16))
        for t in PLACES:
            y[2 * t] = np.sin(x[t]) + y[max(t - 3, 0)]
            y[2 * t + 1, 1:] -= np.cumsum(x[t, :-1])
        return y, y[::-1].sum(0)

    check(f, RNG.normal(size=(MANY, 16)))


def arrays(count: int) -> list[Any]:
    return [RNG.normal(size=40) for _ in range(count)]


def test_numbers_and_signs_of_zeros_are_told_apart():
    def f(*xs: Any) -> Any:
        zeros = [0.0, -0.0, 1.0, 2.0] * (MANY // 4)
        return [np.where(x > 0, z, np.cumsum(x)) for x, z in zip(xs, zeros, strict=True)]

    xs = arrays(MANY)
    for got, wanted in zip(pliant.jit(f)(*xs), f(*xs), strict=True):
        assert_allclose(got, wanted, rtol=1e-12)
        assert (np.signbit(got) == np.signbit(wanted)).all()


def test_a_product_with_itself_is_another_step():
    def f(*xs: Any) -> Any:
        return *[x @ x for x in xs[:MANY]], *[x @ y for x, y in zip(xs[MANY::2], xs[MANY + 1 :: 2], strict=True)]

    xs = [RNG.normal(size=(12, 12)) for _ in range(3 * MANY)]
    assert shared(f, *xs) == 2
    check(f, *xs)


def test_dtypes_are_told_apart():
    def f(*xs: Any) -> Any:
        return [np.cumsum(x * 3) for x in xs]

    kinds = ("f4", "f8", "i4", "i8", "c16", "u8")
    xs = [(RNG.normal(size=40) * 9 + 40).astype(kinds[n % 6]) for n in range(3 * MANY)]
    for got, wanted in zip(pliant.jit(f)(*xs), f(*xs), strict=True):
        assert_allclose(got, wanted, rtol=1e-5)
        assert got.dtype == wanted.dtype


def test_an_index_out_of_range_is_reported_where_it_is():
    def f(x: Any, *places: Any) -> Any:
        return [np.cumsum(x[i]) for i in places]

    x, places = RNG.normal(size=30), [RNG.integers(0, 30, 40) for _ in range(MANY)]
    check(f, x, *places)
    places[-2][5] = 30
    with pytest.raises(IndexError, match="30"):
        pliant.jit(f)(x, *places)


def test_short_programs_share_nothing():
    assert not shared(network, RNG.normal(size=(8, 8)), weights(2))
