"""Every system against the scenarios it claims: a sample, or with PLIANT_SCENARIOS=all the matrix."""

from __future__ import annotations

import os
from typing import Any

import pytest

import pliant.diff as diff
from pliant.diff import JAX, Autograd, ComplexStep, FiniteDifferences, Pliant, PyTorch, SecondOrder
from pliant.diff.testing import Scenario, scenarios, skip_reason, test_differentiation, thinned
from tests.diff.systems import needs_autograd

ALL = scenarios()


def some(of: list[Scenario], step: int) -> list[Scenario]:
    return of if os.environ.get("PLIANT_SCENARIOS") == "all" else thinned(of, step)


test_numpy_systems = test_differentiation([FiniteDifferences(), ComplexStep(), Autograd()], some(ALL, 11))
test_pliant = test_differentiation([Pliant()], some(ALL, 41))
test_pliant_in_one_mode = test_differentiation([Pliant("forward"), Pliant("reverse")], some(ALL, 149))
test_mixed_second_order = test_differentiation(
    [SecondOrder(FiniteDifferences(), Pliant()), SecondOrder(FiniteDifferences(), ComplexStep())],
    some(scenarios(operators=("second_derivative", "hvp", "hessian")), 43),
)
test_single_precision = test_differentiation(
    [Pliant(), FiniteDifferences(), ComplexStep()], some(scenarios(dtypes=("float32",)), 211)
)
test_casadi = test_differentiation([diff.CasADi(), diff.CasADi(plain=False)], some(ALL, 41))
test_sympy = test_differentiation([diff.SymPy()], some(ALL, 149))
test_mlx = test_differentiation([diff.MLX()], some(ALL, 11))
test_tensorflow = test_differentiation([diff.TensorFlow()], some(ALL, 41))
test_slow_compilers = test_differentiation([diff.PyTensor(), diff.EnzymeJAX()], some(ALL, 149))
test_jax = pytest.mark.jax(test_differentiation([JAX()], some(ALL, 41)))
test_pytorch = pytest.mark.torch(test_differentiation([PyTorch()], some(ALL, 41)))


class ReverseOnly(diff.System):
    """As short as a new system can be."""

    abilities = diff.Abilities(forward=False, reverse=True, second_order=False, cache=False, complex=False)

    def pullback(self, fn: Any, xs: Any, seed: Any, is_many: bool) -> Any:
        return Autograd().pullback(fn, xs, seed, is_many)


class ForwardOnly(diff.System):
    abilities = diff.Abilities(forward=True, reverse=False, second_order=False, cache=False, complex=False)

    def pushforward(self, fn: Any, xs: Any, dxs: Any, is_many: bool) -> Any:
        return Autograd().pushforward(fn, xs, dxs, is_many)


test_new_systems = needs_autograd(test_differentiation([ReverseOnly(), ForwardOnly()], some(ALL, 11)))


@pytest.mark.parametrize("system", [Pliant(), JAX(), PyTorch()], ids=lambda s: s.name)
def test_full_systems_claim_at_least_900_scenarios(system: object) -> None:
    assert sum(not skip_reason(system, s) for s in ALL) >= 900
