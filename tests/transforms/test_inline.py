"""Held functions are opened, however deep, and keep the user's names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from pliant.core.build import trace
from pliant.core.ir import Function, Op, nodes
from pliant.core.types import Type
from pliant.ops.custom import Checkpoint
from pliant.ops.transcendental import exp
from pliant.transforms.inline import inline
from tests.programs.programs import f64

F3 = f64(3)


@final
@dataclass(frozen=True)
class Twice(Op):
    """Holds a function and is not opened."""

    body: Function

    def infer(self, x: Type) -> Type:
        return x


def test_a_program_without_calls_is_returned_as_it_is() -> None:
    fn = trace(lambda x: exp(x), F3)
    assert inline(fn) is fn


def test_calls_in_calls_are_opened() -> None:
    inner = trace(lambda x: exp(x), F3)
    outer = trace(lambda x: Checkpoint(inner)(x) * x, F3)
    assert inline(trace(lambda x: Checkpoint(outer)(x), F3)) == trace(lambda x: exp(x) * x, F3)


def test_calls_in_functions_that_stay_held_are_opened() -> None:
    inner = trace(lambda x: exp(x), F3)
    body = trace(lambda x: Checkpoint(inner)(x), F3)
    new = inline(trace(lambda x: Twice(body)(x), F3))
    (op,) = [n.op for n in nodes(new.results) if isinstance(n.op, Twice)]
    assert op.body == inner


def test_opened_functions_keep_names() -> None:
    def body(x):
        energy = exp(x)
        return energy

    held = trace(body, F3)
    assert "%energy: f64[3] = exp(%x)" in str(inline(trace(lambda x: Checkpoint(held)(x), F3)))
