"""NumPy programs in: what a traced function sees, and the tables of NumPy's functions."""

from pliant.frontend.array import TracedArray
from pliant.frontend.bounded import Bounded
from pliant.frontend.dispatch import Tables
from pliant.frontend.functions import bounded as parts
from pliant.frontend.functions import bounded_order, bounded_products
from pliant.frontend.functions.bounded_at import updated_at

TracedArray.dispatch = Tables()
Bounded.functions = parts.FUNCTIONS | bounded_order.FUNCTIONS | bounded_products.FUNCTIONS
Bounded.methods = parts.METHODS | bounded_order.METHODS | bounded_products.METHODS
Bounded.ufuncs, Bounded.reductions = bounded_products.UFUNCS, parts.REDUCTIONS
Bounded.update_at = staticmethod(updated_at)

__all__ = ["TracedArray"]
