"""NumPy programs in: what a traced function sees, and the tables of NumPy's functions."""

from pliant.frontend.array import TracedArray
from pliant.frontend.bounded import Bounded
from pliant.frontend.dispatch import Tables
from pliant.frontend.functions.bounded import FUNCTIONS, METHODS, REDUCTIONS, UFUNCS
from pliant.frontend.places import updated_at

TracedArray.dispatch = Tables()
Bounded.functions, Bounded.methods, Bounded.ufuncs, Bounded.reductions = FUNCTIONS, METHODS, UFUNCS, REDUCTIONS
Bounded.update_at = staticmethod(updated_at)

__all__ = ["TracedArray"]
