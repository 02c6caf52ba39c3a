"""NumPy programs in: what a traced function sees, and the tables of NumPy's functions."""

from pliant.frontend.array import TracedArray
from pliant.frontend.bounded import Bounded
from pliant.frontend.dispatch import Tables
from pliant.frontend.functions import bounded, bounded_order, bounded_products
from pliant.frontend.functions.bounded_at import updated_at

TracedArray.dispatch = Tables()
Bounded.functions = bounded.FUNCTIONS | bounded_order.FUNCTIONS | bounded_products.FUNCTIONS
Bounded.methods = bounded.METHODS | bounded_order.METHODS | bounded_products.METHODS
Bounded.ufuncs, Bounded.reductions = bounded_products.UFUNCS, bounded.REDUCTIONS
Bounded.update_at = staticmethod(updated_at)

__all__ = ["TracedArray"]
