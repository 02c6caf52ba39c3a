"""Pliant: plain NumPy in, compiled values, gradients and batches out."""

from pliant.api import (
    grad,
    hessian,
    hvp,
    jacobian,
    jit,
    jvp,
    linearize,
    trace,
    value_and_grad,
    vectorize,
    vjp,
    vmap,
)
from pliant.compiled import disable_jit
from pliant.control import checkpoint, custom_derivative, stop_gradient
from pliant.errors import PliantError
from pliant.explain import explain
from pliant.indexed import at

__version__ = "0.1.0"

__all__ = [
    "PliantError",
    "at",
    "checkpoint",
    "custom_derivative",
    "disable_jit",
    "explain",
    "grad",
    "hessian",
    "hvp",
    "jacobian",
    "jit",
    "jvp",
    "linearize",
    "stop_gradient",
    "trace",
    "value_and_grad",
    "vectorize",
    "vjp",
    "vmap",
]
