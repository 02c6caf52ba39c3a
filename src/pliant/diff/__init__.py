"""One interface over many differentiation systems.

`gradient(f, system, x, Constant(c))` and its family give the same results whatever the system:
Pliant, JAX, PyTorch, PyTensor, CasADi and others, finite differences, the complex step.
"""

from pliant.diff.contexts import Active, Cache, Constant, ConstantOrCache
from pliant.diff.differentiate_with import DifferentiateWith
from pliant.diff.namespace import namespace
from pliant.diff.operators import (
    derivative,
    gradient,
    gradient_and_hvp,
    hessian,
    hvp,
    jacobian,
    jvp,
    pullback,
    pushforward,
    second_derivative,
    value_and_derivative,
    value_and_gradient,
    value_and_jacobian,
    value_and_pullback,
    value_and_pushforward,
    value_derivative_and_second_derivative,
    value_gradient_and_hessian,
    value_gradient_and_hvp,
    vjp,
)
from pliant.diff.preparations import (
    prepare_derivative,
    prepare_gradient,
    prepare_hessian,
    prepare_hvp,
    prepare_hvp_same_point,
    prepare_jacobian,
    prepare_pullback,
    prepare_pullback_same_point,
    prepare_pushforward,
    prepare_pushforward_same_point,
    prepare_second_derivative,
)
from pliant.diff.prepare import Prep
from pliant.diff.same_point import PointPrep
from pliant.diff.second_order import Mixed, SecondOrder
from pliant.diff.sparse import FromProgram, KnownPattern, Sparse
from pliant.diff.sparsity import Sparsity
from pliant.diff.system import Abilities, System
from pliant.diff.systems import (
    JAX,
    MLX,
    Autograd,
    CasADi,
    ComplexStep,
    EnzymeJAX,
    FiniteDifferences,
    Pliant,
    PyTensor,
    PyTorch,
    SymPy,
    TensorFlow,
)
from pliant.diff.tables import ability_table

__all__ = [
    "JAX",
    "MLX",
    "Abilities",
    "Active",
    "Autograd",
    "Cache",
    "CasADi",
    "ComplexStep",
    "Constant",
    "ConstantOrCache",
    "DifferentiateWith",
    "EnzymeJAX",
    "FiniteDifferences",
    "FromProgram",
    "KnownPattern",
    "Mixed",
    "Pliant",
    "PointPrep",
    "Prep",
    "PyTensor",
    "PyTorch",
    "SecondOrder",
    "Sparse",
    "Sparsity",
    "SymPy",
    "System",
    "TensorFlow",
    "ability_table",
    "derivative",
    "gradient",
    "gradient_and_hvp",
    "hessian",
    "hvp",
    "jacobian",
    "jvp",
    "namespace",
    "prepare_derivative",
    "prepare_gradient",
    "prepare_hessian",
    "prepare_hvp",
    "prepare_hvp_same_point",
    "prepare_jacobian",
    "prepare_pullback",
    "prepare_pullback_same_point",
    "prepare_pushforward",
    "prepare_pushforward_same_point",
    "prepare_second_derivative",
    "pullback",
    "pushforward",
    "second_derivative",
    "value_and_derivative",
    "value_and_gradient",
    "value_and_jacobian",
    "value_and_pullback",
    "value_and_pushforward",
    "value_derivative_and_second_derivative",
    "value_gradient_and_hessian",
    "value_gradient_and_hvp",
    "vjp",
]
