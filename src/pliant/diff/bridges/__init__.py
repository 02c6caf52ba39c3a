"""How a function that another system differentiates enters each library's own differentiation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from pliant.diff.bridges.autograd import in_autograd
from pliant.diff.bridges.jax import in_jax
from pliant.diff.bridges.mlx import in_mlx
from pliant.diff.bridges.pliant import in_pliant
from pliant.diff.bridges.torch import in_torch
from pliant.diff.systems import JAX, MLX, Autograd, Pliant, PyTorch

Bridge = Callable[[Any, Any, tuple[Any, ...]], Any]  # (function, x, constants) → y

BRIDGES: Final[Mapping[str, tuple[type, Bridge]]] = {
    "pliant": (Pliant, in_pliant),
    "jax": (JAX, in_jax),
    "jaxlib": (JAX, in_jax),
    "torch": (PyTorch, in_torch),
    "autograd": (Autograd, in_autograd),
    "mlx": (MLX, in_mlx),
}
