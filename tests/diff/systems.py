"""The systems that tests run over: those whose package is missing are skipped, and say so."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import pytest

import pliant.diff as diff


def needs(package: str) -> Any:
    return pytest.mark.skipif(find_spec(package) is None, reason=f"needs {package}")


def of(system: Any, *marks: Any, name: str = "") -> Any:
    return pytest.param(system, id=name or system.name, marks=marks)


needs_autograd = needs("autograd")

PLIANT = of(diff.Pliant())
DIFFERENCES = of(diff.FiniteDifferences())
STEP = of(diff.ComplexStep())
AUTOGRAD = of(diff.Autograd(), needs_autograd)
JAX_ = of(diff.JAX(), pytest.mark.jax)
TORCH = of(diff.PyTorch(), pytest.mark.torch)
CASADI = of(diff.CasADi(), needs("casadi"))
SYMPY = of(diff.SymPy(), needs("sympy"))
PYTENSOR = of(diff.PyTensor(), needs("pytensor"))
TENSORFLOW = of(diff.TensorFlow(), needs("tensorflow"))
MLX = of(diff.MLX(), needs("mlx"))  # in single precision: apart from ALL
ENZYME = of(diff.EnzymeJAX(), needs("enzyme_ad"))  # experimental: scenarios only

ALL = [PLIANT, DIFFERENCES, STEP, AUTOGRAD, JAX_, TORCH, CASADI, SYMPY, PYTENSOR, TENSORFLOW]


def where(claimed: Any) -> list[Any]:
    """The systems whose abilities satisfy a condition."""
    return [param for param in ALL if claimed(param.values[0].abilities)]


TWICE = where(lambda able: able.second_order)
COMPLEX = [p for p in where(lambda able: able.complex) if p is not AUTOGRAD]  # its real part has no forward mode
IN_PLACE = where(lambda able: able.cache)
READ_ONLY = where(lambda able: able.mutation == "error")

every_system = pytest.mark.parametrize("system", ALL)
