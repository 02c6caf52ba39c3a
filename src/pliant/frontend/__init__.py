"""NumPy programs in: what a traced function sees, and the tables of NumPy's functions."""

from pliant.frontend.array import TracedArray
from pliant.frontend.bounded import Bounded
from pliant.frontend.dispatch import Tables
from pliant.frontend.functions import bounded_order
from pliant.frontend.functions.bounded import FUNCTIONS, METHODS, REDUCTIONS, UFUNCS
from pliant.frontend.functions.bounded_at import updated_at

TracedArray.dispatch = Tables()
Bounded.functions, Bounded.methods = FUNCTIONS | bounded_order.FUNCTIONS, METHODS | bounded_order.METHODS
Bounded.ufuncs, Bounded.reductions = UFUNCS, REDUCTIONS
Bounded.update_at = staticmethod(updated_at)

__all__ = ["TracedArray"]
