"""NumPy programs in: what a traced function sees, and the tables of NumPy's functions."""

from pliant.frontend.array import TracedArray
from pliant.frontend.dispatch import Tables

TracedArray.dispatch = Tables()

__all__ = ["TracedArray"]
