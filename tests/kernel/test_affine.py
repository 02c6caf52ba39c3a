"""Indices as sums of loop variables."""

from __future__ import annotations

from pliant.kernel.ir import Affine, Var


def test_an_index_beside_loops_of_one_step_is_a_bare_variable() -> None:
    one, many = Var(1), Var(5)
    index = Affine(0, ((one, 5), (many, 1)))
    assert index.bare is many
    assert (index + 1).bare is None
    assert Affine(0, ((one, 1),)).bare is one
