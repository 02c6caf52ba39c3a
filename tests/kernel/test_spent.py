"""Rows of a stack that nothing else reads: what begins as one of them is made where it lies, and no other."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.backends.llvm import BACKEND
from pliant.backends.llvm.compiler import can
from pliant.core.ir import nodes
from pliant.core.parse import parse
from pliant.errors import PlanWarning
from pliant.kernel import build
from pliant.kernel.ir import Program, Run, root_of
from pliant.kernel.verified import build_verified
from pliant.ops import ALL
from pliant.ops.loop import Loop
from pliant.transforms.evaluate import evaluate

X = np.random.default_rng(0).normal(size=40)


def program(rows: str = "%2", result: str = "%8", more: str = "", total: str = "neg(%13)") -> str:
    """A program whose second loop makes running sums in place, from the rows that the first one stacks."""
    return f"""func @f(%x: f64[40]) -> (f64[4], f64[4, 40]) {{
  %1: f64[40], %2: f64[4, 40] = loop(length=4) {{
    index %i: i64[]
    carry %c: f64[40] = %x
    %4: f64[40] = sin(%c)
    last  %4
    stack %4
  }}
  %8: f64[4, 40] = broadcast(%x, shape=(4, 40), axes=(1,))
  %9: f64[4] = loop(length=4) {{
    index %i.1: i64[]
    each  %row: f64[40] = {rows}
    {more}
    %5: f64[40] = loop(length=39) {{
      index %j: i64[]
      carry %r: f64[40] = %row
      %6: i64[] = add(%j, 1)
      %7: f64[1] = read_block(%r, %j, 1, shape=(1,), step=(1,), shared=0)
      %10: f64[40] = add_block(%r, %7, %6, 1, step=(1,), shared=0)
      last  %10
    }}
    %13: f64[] = reduce_sum(%5, axes=(0,))
    %12: f64[] = {total}
    stack %12
  }}
  return %9, {result}
}}
"""


READ_LATER = program(result="%2")
ALSO_WHOLE = program(
    more="const %all: f64[4, 40] = %2\n    %11: f64[] = reduce_sum(%all, axes=(0, 1))", total="mul(%11, %13)"
)
NO_STACK = program(rows="%8")


def sums_lie_in_rows(made: Program) -> bool:
    """Whether the running sums of a step are made where the row lies that they begin as."""
    body = [step for step in made.steps if isinstance(step, Run)][-1].parts[0]
    (sums,) = [step for step in body.steps if isinstance(step, Run)]
    return root_of(sums.outs[0]) is body.params[1]


@pytest.mark.parametrize(
    ("text", "is_spent"), [(program(), True), (READ_LATER, False), (ALSO_WHOLE, False), (NO_STACK, False)]
)
def test_rows_are_overwritten_where_nothing_else_reads_them(text: str, is_spent: bool) -> None:
    fn = parse(text, ALL)
    assert sums_lie_in_rows(build_verified(fn, can)) == is_spent
    for got, wanted in zip(BACKEND.compile(fn)([X]), evaluate(fn, (X,), np), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-14)


@pytest.mark.parametrize("text", [READ_LATER, ALSO_WHOLE])
def test_the_verifier_finds_rows_that_are_overwritten_too_early(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fn = parse(text, ALL)
    bodies = [id(node.op.body) for node in nodes(fn.results) if isinstance(node.op, Loop)]

    def all_spent(_: object) -> dict[int, frozenset[int]]:
        return dict.fromkeys(bodies, frozenset([1]))

    monkeypatch.setattr(build, "spent_rows", all_spent)
    with pytest.warns(PlanWarning, match="is not in its place|is overwritten by a step"):
        build_verified(fn, can)
