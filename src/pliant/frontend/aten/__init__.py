"""Operators of PyTorch's graphs in terms of NumPy's functions: tables, as those of NumPy's functions are."""

from __future__ import annotations

from typing import Final

from pliant.frontend.aten.call import Call, Rule
from pliant.frontend.aten.index import INDEXED
from pliant.frontend.aten.layers import LAYERS
from pliant.frontend.aten.matrices import MATRICES
from pliant.frontend.aten.pointwise import POINTWISE
from pliant.frontend.aten.reduce import REDUCTIONS
from pliant.frontend.aten.shape import SHAPES

OPERATORS: Final[dict[str, Rule]] = {**POINTWISE, **REDUCTIONS, **SHAPES, **INDEXED, **LAYERS, **MATRICES}
"""What each operator computes, by its name, of a call of it and its operands."""

__all__ = ["OPERATORS", "Call", "Rule"]
