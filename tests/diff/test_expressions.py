"""SymPy's and CasADi's expressions as arrays: what they do in plain functions, and what they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant
import pliant.diff as diff
from pliant.diff import Constant
from pliant.diff.systems.expressions import expressions, whole
from pliant.errors import UnsupportedError
from tests.diff.systems import needs

X = np.array([1.0, 2.0, 3.0])
SYSTEMS = [
    pytest.param(kind(plain=plain), id=f"{kind.__name__}-{plain}", marks=needs(kind.__name__.lower()))
    for kind in (diff.CasADi, diff.SymPy)
    for plain in (True, False)
]
PLAIN = [p for p in SYSTEMS if p.values[0].plain]


def kinked(x: Any) -> Any:
    return np.sum(np.where(x > 1.5, x**2, -x)) * np.max(x) + np.sum(np.abs(x - 2.5) * np.minimum(x, 2.5))


def smooth(x: Any) -> Any:
    y = x[:, None] * np.exp(-x)
    return np.sum(np.tanh(y) @ x) / np.sqrt(np.sum(x * x)) + np.hypot(x[0], x[1]) + np.prod(y.diagonal())


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("f", [kinked, smooth])
def test_derivatives_equal_pliants(system: Any, f: Any):
    np.testing.assert_allclose(diff.gradient(f, system, X), diff.gradient(f, diff.Pliant(), X), rtol=1e-10)
    np.testing.assert_allclose(diff.hessian(f, system, X), diff.hessian(f, diff.Pliant(), X), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("system", PLAIN)
def test_writes_loops_and_indices_of_plain_functions(system: Any):
    def f(x: Any, i: Any) -> Any:
        y = np.zeros(3)
        y[1:] = x[i] * 2
        y[0] = pliant.fori_loop(0, 3, lambda n, c: c * x[n], 1.0)
        return np.sum(y * y)

    for i in (np.array([0, 2]), np.array([1, 1])):
        made = diff.gradient(f, system, X, Constant(i))
        np.testing.assert_allclose(made, diff.gradient(f, diff.Pliant(), X, Constant(i)), rtol=1e-12)


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("f", [lambda x: np.sum(np.sort(x)), lambda x: np.linalg.det(np.outer(x, x))])
def test_what_has_no_expression_is_refused(system: Any, f: Any):
    with pytest.raises(UnsupportedError, match="has no expression for numpy"):
        diff.gradient(f, system, X)


def test_whole_numbers_are_integers_in_expressions():
    made = whole(np.array([2.0, 2.5, -0.0, np.inf, np.nan], object))
    assert [type(e) for e in made] == [int, float, int, float, float]


def branching(x: Any) -> Any:
    y = x * 3
    if x[0] > 0 and not x[1] < 0:
        y = x**2
    elif x[2] == 3.0:
        y = x**3
    return np.sum(y)


def logarithms(x: Any) -> Any:
    s, n = 0.0, np.zeros(3, int)
    for i in range(3):
        if x[i] > 0:
            n[i] += 2
            s += np.log(x[i])
    return s + np.sum(n * x)


def ending(x: Any) -> Any:
    s = 0.0
    for i in range(4):
        if x[i % 3] < 0:
            break
        s += x[i % 3] ** 2
    return s


def writing(x: Any) -> Any:
    s = np.zeros(3)
    for i in range(7):
        s = np.tanh(s * 0.5 + x * i)
        s[i % 3] += x[0]
    return np.sum(s)


@pytest.mark.parametrize("system", PLAIN)
@pytest.mark.parametrize("f", [branching, logarithms, ending, writing])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_branches_and_loops_of_plain_functions_choose(system: Any, f: Any, sign: float):
    x = np.array([0.7, sign * 0.4, 3.0])
    np.testing.assert_allclose(diff.gradient(f, system, x), diff.gradient(f, diff.Pliant(), x), rtol=1e-10, atol=1e-12)


def halving(x: Any) -> Any:
    while np.sum(x) > 1:
        x = x / 2
    return np.sum(x)


def indexing(x: Any) -> Any:
    k = 1 if x[0] > 2 else 0
    return x[k]


def counting(x: Any) -> Any:
    n = 2 if x[0] > 2 else 3
    for _ in range(n):
        x = x * 2
    return np.sum(x)


@pytest.mark.parametrize("system", PLAIN)
@pytest.mark.parametrize(
    ("f", "what", "line"),
    [
        (halving, "a condition", "while np.sum"),
        (indexing, "an index", "return x"),
        (counting, "an integer", "for _ in"),
    ],
)
def test_what_depends_on_numbers_is_refused_at_its_line(system: Any, f: Any, what: str, line: str):
    with pytest.raises(UnsupportedError, match=f"makes expressions, and {what} of the program depends") as caught:
        diff.gradient(f, system, X)
    assert line in str(caught.value)
    assert "hint: use Pliant(); or np.where" in str(caught.value)


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=needs(kind.__name__.lower())) for kind in (diff.CasADi, diff.SymPy)]
)
def test_a_condition_of_a_function_of_expressions_is_refused(kind: Any):
    with pytest.raises(UnsupportedError, match="a condition of the program depends"):
        diff.gradient(lambda x: x[0] if x[0] > 1 else x[1], kind(plain=False), X)


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("a", [2.0, np.array(2.0)])
def test_powers_by_active_numbers(system: Any, a: Any):
    dx, da = diff.gradient(lambda x, a: np.sum(x**a), system, X, diff.Active(a))
    np.testing.assert_allclose(dx, 2 * X)
    np.testing.assert_allclose(da, np.sum(X**2 * np.log(X)))


@pytest.mark.parametrize("system", SYSTEMS)
def test_what_is_empty_has_empty_derivatives(system: Any):
    none = np.zeros(0)
    np.testing.assert_array_equal(diff.pullback(lambda x: x * x, system, none, (none,))[0], none)
    np.testing.assert_array_equal(diff.pushforward(lambda x: x * x, system, none, (none,))[0], none)
    np.testing.assert_array_equal(diff.pullback(lambda x: x[:0], system, X, (none,))[0], np.zeros(3))


@needs("sympy")
def test_derivatives_of_powers_have_no_needless_factors():
    from sympy import symbols

    system = diff.SymPy()
    x = expressions(system.kind, symbols("a b"), (2,))
    _, _, (g,) = system.pullback(lambda xs: ((np.sum(xs[0] ** 2.0),), ()), (x,), lambda ys: (system.array(1.0),), False)
    assert [str(e) for e in np.asarray(g).flat] == ["2*a", "2*b"]


@pytest.mark.parametrize("system", SYSTEMS)
def test_captured_arrays_and_numbers_are_read_again(system: Any):
    weights, factor = np.ones(3), 2.0

    def f(x: Any) -> Any:
        return np.sum(weights * x) * factor

    prep = diff.prepare_gradient(f, system, X)
    for _ in range(2):
        np.testing.assert_allclose(prep(X), [2.0, 2.0, 2.0])
    weights[0] = 4.0
    np.testing.assert_allclose(prep(X), [8.0, 2.0, 2.0])
    np.testing.assert_allclose(diff.gradient(f, system, X), [8.0, 2.0, 2.0])
    factor = 3.0
    np.testing.assert_allclose(prep(X), [12.0, 3.0, 3.0])
