"""The differentiation systems, one file each. A foreign package is imported at its first use."""

from pliant.diff.systems.autograd import Autograd
from pliant.diff.systems.casadi import CasADi
from pliant.diff.systems.complex_step import ComplexStep
from pliant.diff.systems.enzyme import EnzymeJAX
from pliant.diff.systems.finite_differences import FiniteDifferences
from pliant.diff.systems.jax import JAX
from pliant.diff.systems.mlx import MLX
from pliant.diff.systems.pliant import Pliant
from pliant.diff.systems.pytensor import PyTensor
from pliant.diff.systems.sympy import SymPy
from pliant.diff.systems.tensorflow import TensorFlow
from pliant.diff.systems.torch import PyTorch

__all__ = [
    "JAX",
    "MLX",
    "Autograd",
    "CasADi",
    "ComplexStep",
    "EnzymeJAX",
    "FiniteDifferences",
    "Pliant",
    "PyTensor",
    "PyTorch",
    "SymPy",
    "TensorFlow",
]
