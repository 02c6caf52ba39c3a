"""What a function raises by what arrays hold is raised by every operator, as Python says it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
import pliant.diff as diff
from tests.frontend.failing import asserted, checked

GOOD, BAD = np.array([0.5, 1.0]), np.array([6.0, 7.0])
PLIANT = diff.Pliant()


def of_a_type(x: Any) -> Any:
    if x.sum() > 10:
        raise TypeError(f"{x[0]} is of no type")
    return (x * x).sum()


OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "gradient": lambda f, x: diff.gradient(f, PLIANT, x),
    "value_and_gradient": lambda f, x: diff.value_and_gradient(f, PLIANT, x),
    "forward": lambda f, x: diff.pushforward(f, PLIANT, x, (x,)),
    "reverse": lambda f, x: diff.pullback(f, PLIANT, x, (1.0,)),
    "jacobian": lambda f, x: diff.jacobian(f, PLIANT, x),
    "rows": lambda f, x: diff.jacobian(f, diff.Pliant("reverse"), x),
    "hvp": lambda f, x: diff.hvp(f, PLIANT, x, (x,)),
    "hessian": lambda f, x: diff.hessian(f, PLIANT, x),
    "sparse": lambda f, x: diff.hessian(f, diff.Sparse(PLIANT), x).toarray(),
    "differences of gradients": lambda f, x: diff.hessian(f, diff.SecondOrder(diff.FiniteDifferences(), PLIANT), x),
    "prepared": lambda f, x: diff.prepare_gradient(f, PLIANT, GOOD)(x),
    "at a point": lambda f, x: diff.prepare_pullback(f, PLIANT, GOOD, (1.0,))(x, (1.0,)),
    "a tree": lambda f, x: diff.gradient(lambda tree: f(tree["x"]), PLIANT, {"x": x}),
    "a context": lambda f, x: diff.gradient(lambda x, c: f(x + c), PLIANT, x, diff.Constant(0.0)),
    "a function": lambda f, x: diff.gradient(lambda x, g: g(x), PLIANT, x, diff.Constant(f)),
}


@pytest.mark.parametrize("f", [checked, of_a_type, asserted], ids=lambda f: f.__name__)
@pytest.mark.parametrize("operator", OPERATORS.values(), ids=OPERATORS)
def test_operators_raise_what_the_function_raises(operator: Callable[[Any, Any], Any], f: Callable[[Any], Any]) -> None:
    with pytest.raises((ValueError, TypeError, AssertionError)) as wanted:
        f(BAD)
    for _ in range(3):
        operator(f, GOOD)
        with pytest.raises(type(wanted.value)) as info:
            operator(f, BAD)
        assert info.value.args == wanted.value.args


def test_functions_that_fill_their_result_or_a_cache_raise_it_too() -> None:
    def filling(y: Any, x: Any, cache: Any) -> None:
        cache[...] = x * 2
        if cache[0] > 10:
            raise ValueError(f"{cache[0]} is large")
        y[...] = cache * x

    given, y = (PLIANT, GOOD, diff.Cache(np.zeros(2))), np.zeros(2)
    np.testing.assert_allclose(diff.jacobian(filling, *given, y=y), np.diag(4 * GOOD))
    with pytest.raises(ValueError, match=r"^12\.0 is large$"):
        diff.jacobian(filling, PLIANT, BAD, given[2], y=y)


def test_what_a_function_that_raises_sets_is_taken_back() -> None:
    class Model:
        count = 0

        def loss(self, x: Any) -> Any:
            self.count += 1
            return checked(x)

    model = Model()
    for x in (GOOD, BAD, BAD):
        try:
            diff.gradient(model.loss, PLIANT, x)
        except ValueError:
            assert x is BAD
        assert model.count == 0


def test_operators_run_without_compiling() -> None:
    with pliant.disable_jit():
        np.testing.assert_allclose(diff.gradient(lambda x: (x * x).sum(), PLIANT, GOOD), 2 * GOOD)
