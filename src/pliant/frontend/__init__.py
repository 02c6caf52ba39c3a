"""NumPy programs in: what a traced function sees, and the tables of NumPy's functions."""

from pliant.frontend.array import TracedArray
from pliant.frontend.bounded import Bounded
from pliant.frontend.dispatch import Tables
from pliant.frontend.functions import bounded as parts
from pliant.frontend.functions import bounded_order, bounded_products, distinct, found
from pliant.frontend.functions.bounded_at import updated_at
from pliant.frontend.functions.bounded_index import indexed, put

TracedArray.dispatch = Tables()
Bounded.functions = (
    parts.FUNCTIONS | bounded_order.FUNCTIONS | bounded_products.FUNCTIONS | found.FUNCTIONS | distinct.FUNCTIONS
)
Bounded.methods = parts.METHODS | bounded_order.METHODS | bounded_products.METHODS | {"nonzero": found.nonzero}
Bounded.ufuncs, Bounded.reductions = bounded_products.UFUNCS, parts.REDUCTIONS
Bounded.update_at, Bounded.indexed, Bounded.put = staticmethod(updated_at), indexed, put

__all__ = ["TracedArray"]
