"""What PyTorch gives has no history of parameters that the function has of its own, unless it is being differentiated."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant.diff as diff
from pliant.diff.layout import flatten

pytestmark = pytest.mark.torch

OPERATORS = ["gradient", "hessian", "hvp", "jacobian", "pushforward", "pullback"]


@pytest.fixture
def f() -> Any:
    import torch

    layer = torch.nn.Linear(3, 2).double()
    return {False: lambda x: layer(x).pow(2), True: lambda x: layer(x).pow(2).sum()}


def seeds(operator: str, x: Any) -> Any:
    return {"hvp": ((x,),), "pushforward": ((x,),), "pullback": ((x[:2],),)}.get(operator, ())


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("is_leaf", [False, True])
def test_results_have_no_history_of_parameters(f: Any, operator: str, is_leaf: bool):
    import torch

    x = torch.ones(3, dtype=torch.float64, requires_grad=is_leaf)
    of, given = f[operator in ("gradient", "hessian", "hvp")], seeds(operator, x.detach())
    prep = getattr(diff, f"prepare_{operator}")(of, diff.PyTorch(), x, *given)
    for _ in range(3):
        made = [prep(x, *given), prep.value_and(x, *given)]
        made.append(getattr(diff, operator)(of, diff.PyTorch(), x, *given, prep=prep))
        assert not any([leaf.requires_grad for leaf in flatten(made)[0]])


@pytest.mark.parametrize("operator", ["pushforward", "pullback"])
def test_results_at_a_point_have_none_either(f: Any, operator: str):
    import torch

    x = torch.ones(3, dtype=torch.float64)
    given = seeds(operator, x)
    prep = getattr(diff, f"prepare_{operator}_same_point")(f[False], diff.PyTorch(), x, *given)
    assert not any([leaf.requires_grad for leaf in flatten(prep.value_and(*given))[0]])


def test_derivatives_of_derivatives_keep_what_they_need(f: Any):
    import torch

    x, system = torch.ones(3, dtype=torch.float64), diff.PyTorch()
    made = diff.gradient(lambda x: (diff.gradient(f[True], system, x) ** 2).sum(), system, x)
    expected = 2 * diff.hessian(f[True], system, x) @ diff.gradient(f[True], system, x)
    np.testing.assert_allclose(made, expected, rtol=1e-12)
