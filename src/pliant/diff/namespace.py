"""The array module of an array, for functions that run on every system."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any, Final

import numpy as np

_MODULES: Final = {"jax": "jax.numpy", "jaxlib": "jax.numpy", "torch": "torch", "autograd": "autograd.numpy"}


def namespace(*xs: Any) -> ModuleType:
    """The module whose functions take these arrays: `numpy`, `jax.numpy`, `torch` or `autograd.numpy`.

    Arrays of the differentiation systems count as the module's own; numbers fit every module.

    >>> import numpy as np, pliant.diff as diff
    >>> diff.namespace(np.ones(3)).__name__
    'numpy'
    """
    for x in xs:
        name = _MODULES.get(type(x).__module__.partition(".")[0])
        if name is not None and name in sys.modules:
            return sys.modules[name]
    return np
