"""Where each entry of a sparse matrix is read: a pattern, its colours, and places in what they give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, cast, final

import numpy as np

from pliant.diff.coloring import Order, bidirectional_rows, column_colors, ncolors, row_colors, star_colors
from pliant.diff.pattern_graph import sp

Direction = Literal["columns", "rows", "both"]


@final
@dataclass(frozen=True, eq=False)
class Sparsity:
    """What a sparse preparation knows: the pattern, the colours, and where each entry is read.

    columns, rows: the colour of each column and row, -1 where nothing is read by it. take: entry k of
    the matrix is element take[k] of the derivatives along the column colours, raveled, and then
    along the row colours.
    """

    pattern: Any
    columns: Any
    rows: Any
    take: Any

    @property
    def ncolors(self) -> int:
        """How many derivatives one matrix takes."""
        return ncolors(self.columns) + ncolors(self.rows)

    @property
    def seeds(self) -> tuple[Any, Any]:
        """One row of zeros and ones per colour: of columns, of rows."""
        return _seeds(self.columns), _seeds(self.rows)

    def matrix(self, compressed: Any) -> Any:
        """The matrix of the derivatives, one after the other. SciPy may write to all its arrays, read-only ones too."""
        of = self.pattern
        return sp.csr_array((compressed[self.take], of.indices.copy(), of.indptr.copy()), shape=of.shape)


def jacobian_sparsity(pattern: Any, order: Order, direction: Direction) -> Sparsity:
    """Columns together, rows together, or some rows and then columns: what takes the fewest colours."""
    pattern = _canonical(pattern)
    m, n = pattern.shape
    choices: list[Any] = []  # masks of the rows that are read by row colours
    if direction != "rows":
        choices.append(np.zeros(m, bool))
    if direction != "columns":
        choices.append(np.ones(m, bool))
    if direction == "both":
        choices.append(bidirectional_rows(pattern, order))
    made = [_colored(pattern, order, by_rows) for by_rows in choices]
    columns, rows = min(made, key=lambda pair: ncolors(pair[0]) + ncolors(pair[1]))
    i, j = _row_numbers(pattern), pattern.indices
    take = cast("Any", np.where(rows[i] >= 0, ncolors(columns) * m + rows[i] * n + j, columns[j] * m + i))
    return Sparsity(pattern, columns, rows, take)


def _colored(pattern: Any, order: Order, by_rows: Any) -> tuple[Any, Any]:
    """Colours of columns and of rows if these rows are read by row colours."""
    m, n = pattern.shape
    rows = np.full(m, -1)
    rows[by_rows] = row_colors(pattern[by_rows], order)
    columns = np.full(n, -1) if by_rows.all() else column_colors(pattern[~by_rows], order)
    return columns, rows


def hessian_sparsity(pattern: Any, order: Order) -> Sparsity:
    """Star colouring: entry (i, j) is read from j's colour in row i, or from i's in row j."""
    pattern = _canonical(pattern + pattern.T)
    colors = star_colors(pattern, order)
    rows, columns, n = _row_numbers(pattern), pattern.indices, pattern.shape[0]
    place = rows * max(ncolors(colors), 1) + colors[columns]
    _, inverse, counts = np.unique(place, return_inverse=True, return_counts=True)
    alone = counts[inverse] == 1  # no other column of that colour meets this row
    take = cast("Any", np.where(alone, colors[columns] * n + rows, colors[rows] * n + columns))
    return Sparsity(pattern, colors, np.full(n, -1), take)


def _canonical(pattern: Any) -> Any:
    made = sp.csr_array(pattern, dtype=bool)
    made.sum_duplicates()
    made.eliminate_zeros()
    made.sort_indices()
    if max(*made.shape, made.nnz) > np.iinfo(np.int32).max:
        return made
    index = (made.indices.astype(np.int32), made.indptr.astype(np.int32))  # half the memory of a matrix's places
    return sp.csr_array((made.data, *index), shape=made.shape)


def _row_numbers(pattern: Any) -> Any:
    counts = pattern.indptr[1:] - pattern.indptr[:-1]
    return cast("Any", np.arange(pattern.shape[0])).repeat(counts)


def _seeds(colors: Any) -> Any:
    """One 0/1 row per colour."""
    return (colors[None, :] == np.arange(ncolors(colors))[:, None]).astype(np.float64)
