"""`parse(print(f)) == f`, and what is wrong with a text is shown under a caret."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import pytest

from pliant import ops
from pliant.core.build import trace
from pliant.core.ir import Const, Function, Op, Value, const
from pliant.core.parse import parse
from pliant.core.print import format_function
from pliant.core.types import Type
from pliant.errors import ParseError
from tests.programs.programs import PROGRAMS

F3 = Type("f64", (3,))


@pytest.mark.parametrize("name", PROGRAMS)
def test_parsing_what_was_printed_gives_the_same_program(name: str) -> None:
    fn = PROGRAMS[name]()
    again = parse(str(fn), ops.ALL)
    assert again == fn
    assert str(parse(str(again), ops.ALL)) == str(again)


@pytest.mark.parametrize("name", PROGRAMS)
def test_canonical_text_parses_to_itself(name: str) -> None:
    text = format_function(PROGRAMS[name](), canonical=True)
    assert format_function(parse(text, ops.ALL), canonical=True) == text


NUMBERS = [
    0.0,
    -0.0,
    math.inf,
    -math.inf,
    math.nan,
    5e-324,
    1.7976931348623157e308,
    0.1,
    -1e-7,
    2**53 + 1,
    -3,
    True,
    False,
]
COMPLEX = [
    1 + 2j,
    -0.0 + 0j,
    complex(0.0, -0.0),
    complex(math.inf, math.nan),
    complex(math.nan, -math.inf),
    -1j,
    1e300 - 1e-300j,
]


@pytest.mark.parametrize("number", [*NUMBERS, *COMPLEX], ids=repr)
def test_literals_survive_bit_for_bit(number: complex) -> None:
    fn = trace(lambda x: (number, x), F3)
    (literal, _) = parse(str(fn), ops.ALL).results
    assert literal.op == const(number, literal.dtype).op
    assert isinstance(literal.op, Const)
    assert repr(literal.op.value) == repr(number)


@pytest.mark.parametrize("dtype", ["f16", "f32", "c64", "i8", "u64", "bool"])
def test_literals_of_every_dtype_survive(dtype: str) -> None:
    fn = trace(lambda: const(1, dtype))
    assert parse(str(fn), ops.ALL) == fn


def test_names_survive() -> None:
    def f(x):
        total = x + 1.0
        total = total * x
        return total

    fn = trace(f, F3)
    assert str(parse(str(fn), ops.ALL)) == str(fn)


def test_comments_and_layout_do_not_matter() -> None:
    text = "func @f(%x: f64[3])->(f64[3]) { # a program\n\n%y: f64[ 3 ]=exp( %x ) # eˣ\n return %y }"
    assert parse(text, ops.ALL) == trace(lambda x: ops.ALL["exp"]()(x), F3)


def message_of(text: str) -> str:
    with pytest.raises(ParseError) as caught:
        parse(text, ops.ALL)
    return str(caught.value)


WRONG = {
    "%z: f64[3] = exp(%w)": "%w is not defined\n  line 2:   %z: f64[3] = exp(%w)\n                             ^",
    "%z: f64[3] = expp(%x)": "unknown primitive 'expp'\n  line 2:   %z: f64[3] = expp(%x)\n                         ^",
    "%z: f65[3] = exp(%x)": "unknown dtype 'f65'\n  line 2:   %z: f65[3] = exp(%x)\n                ^",
    "%z: f64[] = reduce_sum(%x)": "reduce_sum missing 1 required positional argument: 'axes'\n"
    "  line 2:   %z: f64[] = reduce_sum(%x)\n            ^",
    "%z: f64[4] = exp(%x)": "exp makes f64[3]\n  line 2:   %z: f64[4] = exp(%x)\n            ^",
    "%z: f64[3] = exp(%x": "expected a value or a literal, found 'return'\n  line 3:   return %x\n            ^",
    "%z: f64[3] = exp(%x, %x)": "exp takes 1 operands, got 2\n  line 2:   %z: f64[3] = exp(%x, %x)\n            ^",
    "%z: f64[3] exp(%x)": "expected value, found exp\n  line 2:   %z: f64[3] exp(%x)\n                       ^",
    "%z: f64[3] = exp($)": "unexpected character\n  line 2:   %z: f64[3] = exp($)\n                             ^",
    "%z: f64[2] = reshape(%x, shape=(2,))": (
        "reshape: f64[3] has no shape (2,)\n  line 2:   %z: f64[2] = reshape(%x, shape=(2,))\n            ^"
    ),
}


@pytest.mark.parametrize("statement", WRONG)
def test_errors_point_at_line_and_column(statement: str) -> None:
    text = f"func @f(%x: f64[3]) -> (f64[3]) {{\n  {statement}\n  return %x\n}}\n"
    assert message_of(text) == WRONG[statement]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", "expected func"),
        ("func @f(%x: f64[3]", "expected"),
        ("func @f(%x: f64[3]) -> (f64[3])", "expected {"),
        ("func @f(%x: f64[3]) -> (f64[3]) {", "expected"),
        ("func @f(%x: f64[3]) -> (f64[3]) { return %x", "expected"),
        ("func @f(%x: f64[", "expected"),
        ("func @f(%x: f64[3]) -> (f64[3]) { %y: f64[3] = reshape(%x, shape=(3", "expected"),
        ("func @f(%x: f64[3]) -> (f64[3]) { %y: f64[3] = reshape(%x, shape=exec) return %y }", "shape"),
        ("func @f(%x: f64[3]) -> (f64[3]) { return %x } func", "expected"),
        ("func @f(%x: f64[3]) -> (f64[4]) { return %x }", "returns (f64[3])"),
        ("func @f(%x: f64[3], %x: f64[3]) -> (f64[3]) { return %x }", "defined twice"),
    ],
)
def test_texts_cut_short_are_refused(text: str, wanted: str) -> None:
    assert wanted in message_of(text)


def test_parsed_programs_blame_the_line_of_the_text() -> None:
    fn = parse("func @f(%x: f64[3]) -> (f64[3]) {\n  %y: f64[3] = exp(%x)\n  return %y\n}", ops.ALL)
    assert fn.results[0].origin.render("made here") == "  --> IR line 2: made here\n      %y: f64[3] = exp(%x)"


def test_a_users_primitive_is_parsed_when_it_is_given() -> None:
    fn = trace(lambda x: Doubled()(x), F3)
    assert parse(str(fn), {**ops.ALL, "doubled": Doubled}) == fn


@final
@dataclass(frozen=True)
class Doubled(Op):
    """2x, as a user writes a primitive."""

    def infer(self, x: Type) -> Type:
        return x

    def expand(self, x: Value) -> Value:
        return x + x


def test_names_inside_a_held_function_are_not_seen_outside() -> None:
    text = """func @f(%x: f64[3]) -> (f64[3]) {
  %y: f64[3] = checkpoint(%x) {
    func @body(%u: f64[3]) -> (f64[3]) {
      return %u
    }
  }
  return %u
}
"""
    assert message_of(text).startswith("%u is not defined\n  line 7:   return %u")


def test_a_function_is_its_text() -> None:
    fn = PROGRAMS["checkpoint"]()
    assert isinstance(fn, Function)
    assert parse(format_function(fn, canonical=True), ops.ALL) == fn
