"""NumPy programs in: what a traced function sees, and the tables of NumPy's functions."""

from pliant.frontend.array import TracedArray
from pliant.frontend.bounded import Bounded
from pliant.frontend.capture import readers_of
from pliant.frontend.dispatch import Tables
from pliant.frontend.functions import bounded as parts
from pliant.frontend.functions import (
    bounded_edit,
    bounded_equations,
    bounded_folds,
    bounded_lines,
    bounded_order,
    bounded_products,
    bounded_statistics,
    bounded_tables,
    distinct,
    found,
)
from pliant.frontend.functions.bounded_at import updated_at
from pliant.frontend.functions.bounded_index import indexed, put
from pliant.frontend.tracing import Trace

TracedArray.dispatch = Tables()
Trace.readers_of = readers_of
TABLES = (
    parts, bounded_folds, bounded_edit, bounded_order, bounded_products, bounded_statistics, bounded_lines,
    bounded_tables, bounded_equations, found, distinct,
)  # fmt: skip
Bounded.functions = {name: function for table in TABLES for name, function in table.FUNCTIONS.items()}
Bounded.methods = {"nonzero": found.nonzero}
for table in TABLES:
    Bounded.methods |= getattr(table, "METHODS", {})
Bounded.ufuncs, Bounded.reductions = bounded_products.UFUNCS, bounded_folds.REDUCTIONS
Bounded.update_at, Bounded.accumulated = staticmethod(updated_at), staticmethod(bounded_lines.accumulate)
Bounded.read_key, Bounded.write_key = indexed, put

__all__ = ["TracedArray"]
