"""The description of a program names its steps and the memory they take."""

from __future__ import annotations

from pliant.backends.llvm import BACKEND
from pliant.core.build import trace
from pliant.core.types import Type
from pliant.ops.elementwise import add, mul
from pliant.ops.reduce import reduce_sum
from pliant.ops.scan import Cumsum
from pliant.ops.sort import Sort


def test_each_step_has_its_line():
    def program(x):
        return reduce_sum(mul(x, x)), Cumsum(0)(add(x, 1.0)), Sort(0)(x)

    text = BACKEND.describe(trace(program, Type("f64", (100,))))
    assert "nest over 100" in text
    assert "reduce_sum: f64[], add over 1 axes → result" in text
    assert "cumsum: fills f64[100]" in text
    assert "workspace:" in text
