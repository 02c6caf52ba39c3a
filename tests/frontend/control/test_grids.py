"""Lists of lists at places known only at run time: what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import TracedValueError, UnboundError

X = np.array([1.0, 2.0, 0.0])


def test_a_row_that_was_read_before_its_lists_were_written_is_an_error() -> None:
    def f(x: Any) -> Any:
        table = [[0.0] * 3 for _ in range(3)]
        row = table[int(x[0])]
        table[0][0] = 4.0
        return row[0]

    with pytest.raises(UnboundError, match=r"a row of a list of lists was read .* before the lists were written"):
        pliant.jit(f)(X)


@pytest.mark.usefixtures("for_all_data")
def test_lists_that_are_one_list_are_no_table() -> None:
    def f(x: Any) -> Any:
        table = [[0.0] * 3] * 3
        table[int(x[0])][0] = 4.0
        return table[0][0]

    with pytest.raises(TracedValueError, match="Python needs an int here"):
        pliant.jit(f)(X)


def test_rows_of_other_lengths_by_a_condition() -> None:
    def f(x: Any) -> Any:
        table = [[1.0, 2.0], [3.0, 4.0]]
        if x[0] > 0:
            table[0].append(5.0)
        else:
            table[int(x[1]) % 2][0] = 7.0
        return table[0][1] + len(table[0])

    for x in (X, -X):
        assert pliant.jit(f)(x) == f(x)
