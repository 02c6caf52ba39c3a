"""The systems that tests run over; those of an extra carry its mark."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from pliant.diff import JAX, Autograd, ComplexStep, FiniteDifferences, Pliant, PyTorch

needs_autograd = pytest.mark.skipif(find_spec("autograd") is None, reason="needs autograd")

PLIANT = pytest.param(Pliant(), id="Pliant")
DIFFERENCES = pytest.param(FiniteDifferences(), id="FiniteDifferences")
STEP = pytest.param(ComplexStep(), id="ComplexStep")
AUTOGRAD = pytest.param(Autograd(), id="Autograd", marks=needs_autograd)
JAX_ = pytest.param(JAX(), id="JAX", marks=pytest.mark.jax)
TORCH = pytest.param(PyTorch(), id="PyTorch", marks=pytest.mark.torch)

ALL = [PLIANT, DIFFERENCES, STEP, AUTOGRAD, JAX_, TORCH]
TWICE = [PLIANT, DIFFERENCES, AUTOGRAD, JAX_, TORCH]
COMPLEX = [PLIANT, DIFFERENCES, JAX_, TORCH]
FOREIGN = [DIFFERENCES, STEP, AUTOGRAD, JAX_, TORCH]
FILLING = [PLIANT, DIFFERENCES, STEP, JAX_, TORCH]

every_system = pytest.mark.parametrize("system", ALL)
