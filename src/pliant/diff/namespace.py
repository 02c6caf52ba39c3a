"""The array module of an array, for functions that run on every system."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any, Final

import numpy as np

from pliant.diff.systems import PyTensor

_MODULES: Final = {
    "jax": "jax.numpy",
    "jaxlib": "jax.numpy",
    "torch": "torch",
    "autograd": "autograd.numpy",
    "mlx": "mlx.core",
    "tensorflow": "tensorflow.experimental.numpy",
}


def namespace(*xs: Any) -> Any:
    """The module whose functions take these arrays: `numpy`, `jax.numpy`, `torch`, `autograd.numpy`,
    `mlx.core`, `tensorflow.experimental.numpy` or `pytensor.tensor`.

    Arrays of the differentiation systems count as the module's own; numbers fit every module.

    >>> import numpy as np, pliant.diff as diff
    >>> diff.namespace(np.ones(3)).__name__
    'numpy'
    """
    for x in xs:
        package = type(x).__module__.partition(".")[0]
        if package == "pytensor":
            return PyTensor().namespace
        if package in _MODULES:
            return sys.modules.get(_MODULES[package]) or import_module(_MODULES[package])
    return np
