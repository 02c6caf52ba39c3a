"""Identities of loops."""

from __future__ import annotations

import numpy as np

from pliant.core.build import trace
from pliant.core.ir import Value, nodes
from pliant.core.types import Type
from pliant.ops import RULES
from pliant.ops.loop import Loop
from pliant.rewrite.engine import simplify
from pliant.testing import run

NUMBER = Type("f64")


def test_what_a_loop_is_given_twice_it_is_given_once() -> None:
    body = trace(lambda i, x, y, total, z: total + x * y + z, Type("i64"), NUMBER, NUMBER, NUMBER, NUMBER)

    def f(start: Value, x: Value) -> Value:
        return Loop(3, ("const", "const", "carry", "const"), ("last",), body).apply(x, x, start, x)[0]

    fn = trace(f, NUMBER, NUMBER)
    made = simplify(fn, RULES)
    (loop,) = [node for node in nodes(made.results) if isinstance(node.op, Loop)]
    assert len(loop.args) == 2
    xs = [np.float64(1.0), np.float64(2.0)]
    assert run(made, xs) == run(fn, xs)
