"""Arrays that traced functions make."""

from __future__ import annotations

from typing import Any

import numpy as np

import pliant


def test_arrays_of_any_numbers_are_no_constants_of_the_program():
    def f(x: Any) -> Any:
        rows = np.empty((4, 3))
        for t in range(4):
            rows[t] = x * t
        return rows, np.empty_like(np.ones(2), dtype=np.int8)

    program = pliant.trace(f, np.ones(3))
    assert len(program.params) == 1
    np.testing.assert_array_equal(pliant.jit(f)(np.ones(3))[0], f(np.ones(3))[0])
