"""Values know the user's line, its columns and the variable it assigns."""

from __future__ import annotations

from pliant.core.build import trace
from pliant.core.ir import param
from pliant.core.origin import DerivedOrigin, TextOrigin, at, derived, here
from pliant.core.types import Type
from pliant.ops.elementwise import add
from pliant.ops.transcendental import exp, log

F3 = Type("f64", (3,))


def test_a_value_is_named_after_the_variable_it_is_assigned_to() -> None:
    x = param(F3)
    total = add(x, x)
    assert total.origin.names == ("total",)
    assert total.origin.short.startswith("test_origin.py:")


def test_an_inner_expression_has_no_name() -> None:
    x = param(F3)
    y = exp(log(x))
    assert y.origin.names == ("y",)
    assert y.args[0].origin.names == ()


def test_carets_are_under_the_expression() -> None:
    x = param(F3)
    y = exp(x) + log(x)
    place, line, carets = y.args[1].origin.render("here").split("\n")
    assert place.endswith("in test_carets_are_under_the_expression: here")
    assert line.strip() == "y = exp(x) + log(x)"
    assert line[carets.index("^") : carets.rindex("^") + 1] == "log(x)"


def test_carets_count_characters_not_bytes() -> None:
    αβγ = param(F3)
    y = αβγ + log(αβγ)
    _, line, carets = y.args[1].origin.render("").split("\n")
    assert line[carets.index("^") : carets.rindex("^") + 1] == "log(αβγ)"


def test_at_sets_the_origin_and_restores_it() -> None:
    origin = TextOrigin(("k",), 7, "k = 1")
    with at(origin):
        assert here() is origin
    assert here() is not origin


def test_derived_origins_do_not_nest() -> None:
    once = derived(TextOrigin(("k",), 7, "k = 1"))
    assert derived(once) == once
    assert derived(once).short == "IR line 7 (derived)"
    assert isinstance(once, DerivedOrigin)
    assert once.names == ()


def test_printed_programs_use_the_names() -> None:
    def f(x):
        y = exp(x)
        z = y * y
        return z + y

    assert str(trace(f, F3)).splitlines()[1:4] == [
        "  %y: f64[3] = exp(%x)",
        "  %z: f64[3] = mul(%y, %y)",
        "  %3: f64[3] = add(%z, %y)",
    ]
