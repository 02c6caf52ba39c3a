"""Cotangents of the larger of two numbers are chosen at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant
from pliant.core.types import Type
from pliant.ops import ties
from pliant.pipeline import optimise
from pliant.rewrite.rule import Rule
from pliant.testing import check_rule

SHAPES = [(), (5,)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("rule", ties.RULES, ids=lambda rule: rule.name)
def test_parts_are_those_of_sums(rule: Rule, shape: tuple[int, ...]) -> None:
    masks = 2 if rule is ties.part_of_first else 1
    for dtype in ("f64", "f32"):
        check_rule(rule, *[Type("bool", shape)] * masks, Type(dtype, shape))


@pytest.mark.parametrize("f", [np.maximum, np.minimum, np.fmax, np.fmin], ids=lambda f: f.__name__)
@pytest.mark.parametrize("x", [np.array([1.0, 2.0, 3.0]), np.array([2.0, 2.0, np.inf])])
def test_equal_numbers_have_half_each(f: Any, x: Any) -> None:
    y = np.full(3, 2.0)
    ct = np.array([1.0, np.inf, -3.0])
    _, pull = pliant.vjp(f, x, y)
    one = f(x, y) == x
    share = np.where(x == y, ct / 2, ct)
    for got, is_chosen in zip(pull(ct), (one, f(x, y) == y), strict=True):
        np.testing.assert_array_equal(got, np.where(is_chosen, share, 0.0))


def test_no_step_of_a_dynamic_programme_adds_zeros() -> None:
    def table(s: Any) -> Any:
        f = np.zeros((9, 9))
        for i in range(8):
            for j in range(8):
                f[i + 1, j + 1] = np.maximum(np.maximum(f[i, j] + s[i, j], f[i, j + 1]), f[i + 1, j])
        return f[8, 8]

    value, made = (str(optimise(pliant.trace(f, np.ones((8, 8))))) for f in (table, pliant.grad(table)))
    # And one that looks ahead: what an element holds already, and what this step adds to it.
    assert made.count("f64[] = add(") <= value.count("f64[] = add(") + 1
    assert made.count("f64[] = mul(") == 4  # half of each cotangent, for either number
