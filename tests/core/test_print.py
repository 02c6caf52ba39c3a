"""Printed programs: one statement per line, the user's names, literals that keep their dtype."""

from __future__ import annotations

import math

from pliant.core.build import trace
from pliant.core.print import format_function
from pliant.core.types import Type
from pliant.ops.custom import Checkpoint
from pliant.ops.transcendental import exp

F3 = Type("f64", (3,))


def test_a_name_used_twice_is_numbered() -> None:
    def f(x):
        y = exp(x)
        y = exp(y)
        return exp(y)

    assert "%y: f64[3] = exp(%x)\n  %y.1: f64[3] = exp(%y)\n" in str(trace(f, F3))


def test_canonical_text_has_no_names() -> None:
    def f(x):
        y = exp(x)
        return y

    assert format_function(trace(f, F3), canonical=True) == (
        "func @_(%0: f64[3]) -> (f64[3]) {\n  %1: f64[3] = exp(%0)\n  return %1\n}\n"
    )


def test_origins_are_comments() -> None:
    text = format_function(trace(lambda x: exp(x), F3), origins=True)
    assert "= exp(%x)  # test_print.py:" in text


def test_literals_show_dtype_where_it_is_not_pythons() -> None:
    assert "add(%x, 1.0)" in str(trace(lambda x: x + 1.0, F3))
    assert "add(%x, 1.0:f32)" in str(trace(lambda x: x + 1.0, Type("f32", (3,))))
    assert "add(%x, 1:i8)" in str(trace(lambda x: x + 1, Type("i8", (3,))))
    assert "add(%x, -0.0)" in str(trace(lambda x: x + -0.0, F3))
    assert "mul(%x, nan)" in str(trace(lambda x: x * math.nan, F3))
    assert "mul(%x, 1+2j)" in str(trace(lambda x: x * (1 + 2j), Type("c128", (3,))))


def test_held_functions_are_indented() -> None:
    body = trace(lambda x: exp(x), F3)
    text = str(trace(lambda x: Checkpoint(body).apply(x), F3))
    assert text.splitlines()[1:6] == [
        "  %1: f64[3] = checkpoint(%x) {",
        "    func @lambda(%x.1: f64[3]) -> (f64[3]) {",
        "      %3: f64[3] = exp(%x.1)",
        "      return %3",
        "    }",
    ]
