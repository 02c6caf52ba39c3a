"""Random programs of loops and branches end, and so does what is made of them by leaving parts out."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from tests.properties.flows import Flow, Statement
from tests.properties.fuzz_flows import DRAWN

SEEDS = range(150)


def whiles(block: tuple[Statement, ...]) -> Iterator[Statement]:
    """The `while` statements of a block, and of the blocks inside."""
    for statement in block:
        if statement.head.startswith("while "):
            yield statement
        yield from whiles(statement.body)
        yield from whiles(statement.orelse)


def ends(statement: Statement) -> bool:
    """Whether a `while` counts, in its test or by a step that is always taken."""
    return ":=" in statement.head or any([s.is_step for s in statement.body])


@pytest.mark.parametrize("of", DRAWN)
def test_smaller_programs_keep_what_ends_their_loops(of: str) -> None:
    drawn = [DRAWN[of](seed) for seed in SEEDS]
    loops = [w for flow in drawn for f in (flow, *flow.smaller()) for w in whiles(f.statements)]
    assert loops
    assert all(map(ends, loops))


@pytest.mark.parametrize("of", DRAWN)
def test_the_count_of_a_loop_bounds_all_of_its_test(of: str) -> None:
    tests = [w.head.removeprefix("while ").rstrip(":") for s in SEEDS for w in whiles(DRAWN[of](s).statements)]
    parsed = [ast.parse(test, mode="eval").body for test in tests]
    assert not [p for p in parsed if isinstance(p, ast.BoolOp) and isinstance(p.op, ast.Or)]


def test_functions_inside_return_what_they_say() -> None:
    inner = Statement("def g(p):", (Statement("return p * 2"),))
    branch = Statement("if a > 0:", (Statement("return s"),))
    source = Flow("float64", (Statement("s = a"), inner, branch), ("x",)).source()
    assert re.findall("return .*", source) == ["return p * 2", "return s, x", "return s, x"]
