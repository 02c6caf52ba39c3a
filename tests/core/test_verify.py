"""The verifier finds programs that no pass should make."""

from __future__ import annotations

import pytest

from pliant.core.build import trace
from pliant.core.ir import Function, Node, param
from pliant.core.types import Type
from pliant.core.verify import verify
from pliant.errors import VerifyError
from pliant.ops.custom import Checkpoint
from pliant.ops.elementwise import Add
from pliant.ops.transcendental import exp

F3 = Type("f64", (3,))


def test_a_good_program_passes_unchanged() -> None:
    f = trace(lambda x: exp(x) + 1.0, F3)
    assert verify(f) is f


def test_a_parameter_of_no_one_is_found() -> None:
    x = param(F3, "lost")
    with pytest.raises(VerifyError, match="@f after pass 'dead': parameter 'lost' is not in scope"):
        verify(Function("f", (), (exp(x),)), "dead")


def test_a_parameter_that_occurs_twice_is_found() -> None:
    x = param(F3)
    with pytest.raises(VerifyError, match="a parameter occurs twice"):
        verify(Function("f", (x, x), (x,)))


def test_a_type_that_is_not_inferred_is_found() -> None:
    x = param(F3)
    (y,) = Node.make(Add(), (x, x), (Type("f64", (4,)),))
    with pytest.raises(VerifyError, match="add has types"):
        verify(Function("f", (x,), (y,)))


def test_operands_that_do_not_fit_are_found() -> None:
    x, y = param(F3), param(Type("f64", (4,)))
    (z,) = Node.make(Add(), (x, y), (F3,))
    with pytest.raises(VerifyError, match="do not fit together"):
        verify(Function("f", (x, y), (z,)))


def test_held_functions_are_verified() -> None:
    x = param(F3)
    (z,) = Node.make(Add(), (x, x), (Type("f64", (4,)),))
    body = Function("body", (x,), (z,))
    a = param(F3)
    bad = Node.make(Checkpoint(body), (a,), (Type("f64", (4,)),))
    with pytest.raises(VerifyError, match="@body"):
        verify(Function("f", (a,), bad))


def test_what_was_right_is_not_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    f = verify(trace(lambda x: x + x, F3))
    monkeypatch.setattr(Add, "infer", lambda *_: Type("f64", (4,)))
    assert verify(f) is f
    with pytest.raises(VerifyError, match="add has types"):
        verify(Function("g", f.params, f.results))
