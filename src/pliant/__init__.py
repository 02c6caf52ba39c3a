"""Pliant: plain NumPy in, compiled values, gradients and batches out."""

from importlib import import_module
from typing import Any

from pliant import cache, folds
from pliant.api import (
    evaluate,
    grad,
    hessian,
    hvp,
    jacobian,
    jit,
    jvp,
    linearize,
    parse,
    trace,
    value_and_grad,
    vectorize,
    vjp,
    vmap,
)
from pliant.associative import associative_scan
from pliant.branches import cond, switch
from pliant.compiled import disable_jit
from pliant.control import checkpoint, custom_derivative, stop_gradient
from pliant.control_flow import fori_loop, map, reduce, scan, while_loop
from pliant.errors import PliantError
from pliant.exchange import from_jax, to_jax
from pliant.explain import explain
from pliant.frontend.reference import Ref
from pliant.improvement import RULES, optimize
from pliant.indexed import at
from pliant.of_torch import from_torch
from pliant.on_torch import to_torch
from pliant.rules import rule
from pliant.saving import reversible, treeverse
from pliant.threads import threads

__version__ = "0.1.0"

__all__ = [
    "RULES",
    "PliantError",
    "Ref",
    "associative_scan",
    "at",
    "cache",
    "checkpoint",
    "cond",
    "custom_derivative",
    "disable_jit",
    "evaluate",
    "explain",
    "folds",
    "fori_loop",
    "from_jax",
    "from_torch",
    "grad",
    "hessian",
    "hvp",
    "jacobian",
    "jit",
    "jvp",
    "linearize",
    "map",
    "optimize",
    "parse",
    "reduce",
    "reversible",
    "rule",
    "scan",
    "stop_gradient",
    "switch",
    "threads",
    "to_jax",
    "to_torch",
    "trace",
    "treeverse",
    "value_and_grad",
    "vectorize",
    "vjp",
    "vmap",
    "while_loop",
]


def __getattr__(name: str) -> Any:
    """`testing`, which is loaded when it is asked for."""
    if name != "testing":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module("pliant.testing")
