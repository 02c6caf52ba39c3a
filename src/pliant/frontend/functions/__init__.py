"""NumPy's functions, ufuncs and methods as tables over primitives."""

from __future__ import annotations

from pliant.frontend.functions import fft, index, join, linalg, norms, products, reduce, shape
from pliant.frontend.functions.at import AT
from pliant.frontend.functions.methods import METHODS, PROPERTIES
from pliant.frontend.functions.ufuncs import NAMED_UFUNCS, UFUNCS

MODULES = (reduce, shape, join, index, products, linalg, norms, fft)
FUNCTIONS = {function: ours for module in MODULES for function, ours in module.FUNCTIONS.items()}
REDUCTIONS = {}
ACCUMULATIONS = {}

__all__ = ["ACCUMULATIONS", "AT", "FUNCTIONS", "METHODS", "NAMED_UFUNCS", "PROPERTIES", "REDUCTIONS", "UFUNCS"]
