"""Results nobody reads are not computed, in held functions either."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from pliant.core.build import trace
from pliant.core.ir import Op, Tangents, Values, nodes
from pliant.core.types import Type
from pliant.ops.custom import Checkpoint
from pliant.ops.transcendental import cos, exp, sin
from pliant.transforms.dead import eliminate_dead
from tests.programs.programs import f64

F3 = f64(3)


@final
@dataclass(frozen=True)
class Both(Op):
    """Sine and cosine; either can be dropped."""

    def infer(self, x: Type) -> tuple[Type, ...]:
        return x, x

    def prune(self, used: tuple[bool, ...], xs: Values) -> Tangents:
        return tuple(f(*xs) if u else None for f, u in zip((sin, cos), used, strict=True))


def test_a_program_without_the_dead_is_returned_as_it_is() -> None:
    fn = trace(lambda x: exp(x), F3)
    assert eliminate_dead(fn) is fn


def test_unread_results_are_pruned() -> None:
    fn = trace(lambda x: Both().apply(x)[1] * 2.0, F3)
    assert eliminate_dead(fn) == trace(lambda x: cos(x) * 2.0, F3)


def test_held_functions_are_pruned() -> None:
    body = trace(lambda x: Both().apply(x)[0], F3)
    new = eliminate_dead(trace(lambda x: Checkpoint(body)(x), F3))
    (held,) = [n.op for n in nodes(new.results) if isinstance(n.op, Checkpoint)]
    assert held.body == trace(lambda x: sin(x), F3)
