"""The differentiation systems, one file each. A foreign package is imported at its first use."""

from pliant.diff.systems.autograd import Autograd
from pliant.diff.systems.complex_step import ComplexStep
from pliant.diff.systems.finite_differences import FiniteDifferences
from pliant.diff.systems.jax import JAX
from pliant.diff.systems.pliant import Pliant
from pliant.diff.systems.torch import PyTorch

__all__ = ["JAX", "Autograd", "ComplexStep", "FiniteDifferences", "Pliant", "PyTorch"]
