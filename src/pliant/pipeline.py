"""The named lists of passes, in the order programs meet them. Read this first.

`before_derivatives`: what a program goes through before tangents or cotangents are taken. Stores
that nobody reads vanish (so that `y[0] = sqrt(x[0]); y[0] = x[0]` has no NaN in its gradient) and
unstable expressions are replaced by stable ones, whose derivatives are stable too. Checkpoints and
custom derivatives stay closed.

`before_search`: what a program goes through before an e-graph is made of it, for `optimize`.

`compile`: what a program, derived or not, goes through before a backend makes code of it.

`emit_derivatives`, `emit`: the same for a program that another library runs, one primitive at a time: nothing that is
about memory, or about what is made in one loop.

With PLIANT_VERIFY=1 every pass is followed by the verifier; PLIANT_DUMP=simplify,dead (or `all`)
prints the program after those passes to standard error.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import Final, final

import numpy as np

from pliant import ops
from pliant.core.data import frozen
from pliant.core.ir import Const, Function, Number, Op
from pliant.core.types import DTYPES
from pliant.core.verify import verify
from pliant.ops.base import Elementwise
from pliant.ops.shape_rules import slice_of_concatenate
from pliant.passes import outward, permuted_carries
from pliant.passes.ahead import added_ahead
from pliant.passes.at_once import at_once
from pliant.passes.boxes import add_in_boxes
from pliant.passes.columns import columns_as_rows
from pliant.passes.dead_writes import drop_dead_writes
from pliant.passes.elide import elide
from pliant.passes.ends_early import with_all_steps
from pliant.passes.fewer_rows import fewer_rows
from pliant.passes.flipped import flipped
from pliant.passes.hoist import hoist
from pliant.passes.in_pieces import in_pieces
from pliant.passes.late_stacks import late_stacks
from pliant.passes.made_before import made_before
from pliant.passes.once import run_once
from pliant.passes.passed_on import passed_on
from pliant.passes.ranges import decide
from pliant.passes.rows_inside import rows_inside
from pliant.passes.short_tapes import short_tapes
from pliant.passes.sink import sink
from pliant.passes.squared_deviations import in_one_pass
from pliant.passes.start_of_sums import start_of_sums
from pliant.passes.unstack import unstack
from pliant.passes.views import through_views
from pliant.passes.written_out import written_out
from pliant.rewrite.engine import simplify
from pliant.rewrite.explain import Log
from pliant.rewrite.rule import Rule
from pliant.transforms.dead import eliminate_dead
from pliant.transforms.evaluate import run
from pliant.transforms.inline import inline

ROUNDS: Final = 4  # of permutations that move, and of what can be simplified then


@final
@frozen
class Pass:
    """One step: a name to print and blame, and what it does."""

    name: str
    run: Callable[[Function, Log], Function]


def fold(op: Op, operands: tuple[Const, ...]) -> Number | None:
    """An elementwise primitive evaluated on literals; None for any other."""
    if not isinstance(op, Elementwise):
        return None
    arrays = [np.asarray(c.value, DTYPES[c.dtype]) for c in operands]
    with np.errstate(all="ignore"):
        (out,) = run(op, np, arrays)
    return out.item()


def permuted_outside(fn: Function, log: Log, rules: Sequence[Rule] = outward.RULES) -> Function:
    """`fn` with permutations moved outwards, simplified where they have left; until that changes nothing."""
    for _ in range(ROUNDS):
        new = simplify(fn, rules, log=log)
        if new is fn:
            break
        fn = SIMPLIFY.run(new, log)
    return fn


def carries_as_taken(fn: Function, log: Log) -> Function:
    """`fn` with arrays carried in the order of axes in which steps take them, simplified if some were not: then it is
    seen which row of them a step reads or writes."""
    new = simplify(fn, permuted_carries.RULES, log=log)
    return fn if new is fn else SIMPLIFY.run(new, log)


DEFAULT_RULES: Final[tuple[Rule, ...]] = tuple(rule for rule in ops.RULES if rule.level != "algebraic")
"""The rules that never lose accuracy."""


AFTER_PIECES: Final[tuple[Rule, ...]] = tuple(rule for rule in DEFAULT_RULES if rule is not slice_of_concatenate)
"""What is put together lies in memory then."""

INLINE = Pass("inline", lambda fn, log: inline(fn))
ONCE = Pass("once", lambda fn, log: run_once(fn))
DEAD = Pass("dead", lambda fn, log: eliminate_dead(fn))
DEAD_WRITES = Pass("dead-writes", lambda fn, log: drop_dead_writes(fn))
MADE_BEFORE = Pass("made-before", lambda fn, log: made_before(fn))
RANGES = Pass("ranges", lambda fn, log: decide(fn))
VIEWS = Pass("views", lambda fn, log: through_views(fn))
BOXES = Pass("boxes", lambda fn, log: add_in_boxes(fn))
ELIDE = Pass("elide", lambda fn, log: elide(fn))
SHORT_TAPES = Pass("short-tapes", short_tapes)
HOIST = Pass("hoist", lambda fn, log: hoist(fn))
FEWER_ROWS = Pass("fewer-rows", lambda fn, log: fewer_rows(fn))
SUMS = Pass("start-of-sums", lambda fn, log: start_of_sums(fn))
AHEAD = Pass("ahead", lambda fn, log: added_ahead(fn))
COLUMNS = Pass("columns", lambda fn, log: columns_as_rows(fn))
FLIPPED = Pass("flipped", lambda fn, log: flipped(fn))
AT_ONCE = Pass("at-once", lambda fn, log: at_once(fn))
LATE_STACKS = Pass("late-stacks", lambda fn, log: late_stacks(fn))
ROWS_INSIDE = Pass("rows-inside", lambda fn, log: rows_inside(fn))
PASSED_ON = Pass("passed-on", lambda fn, log: passed_on(fn))
SINK = Pass("sink", lambda fn, log: sink(fn))
UNSTACK_EARLY = Pass("unstack", lambda fn, log: unstack(fn, log, is_derived=False))
SIMPLIFY = Pass("simplify", lambda fn, log: simplify(fn, DEFAULT_RULES, fold=fold, log=log))
ALL_STEPS = Pass("all-steps", lambda fn, log: with_all_steps(fn))
WRITTEN_OUT = Pass("written-out", lambda fn, log: fn if (new := written_out(fn)) is fn else SIMPLIFY.run(new, log))
UNSTACK = Pass("unstack", lambda fn, log: fn if (new := unstack(fn, log)) is fn else SIMPLIFY.run(new, log))
OUTWARD = Pass("outward", permuted_outside)
IN_PLACE = Pass("in-place", lambda fn, log: permuted_outside(fn, log, outward.IN_PLACE))
CARRIES = Pass("permuted-carries", carries_as_taken)
PIECES = Pass(
    "pieces", lambda fn, log: fn if (new := in_pieces(fn)) is fn else simplify(new, AFTER_PIECES, fold=fold, log=log)
)
DEVIATIONS = Pass("deviations", lambda fn, log: in_one_pass(fn))

BEFORE_DERIVATIVES = (
    DEAD, RANGES, VIEWS, SIMPLIFY, MADE_BEFORE, WRITTEN_OUT, DEAD_WRITES, UNSTACK_EARLY, FEWER_ROWS, AHEAD, COLUMNS,
    FLIPPED, HOIST, SINK, DEAD,
)  # fmt: skip
COMPILE = (
    INLINE, DEAD, ONCE, DEAD, RANGES, VIEWS, SIMPLIFY, MADE_BEFORE, WRITTEN_OUT, SUMS, DEAD_WRITES, UNSTACK, FEWER_ROWS,
    AHEAD, BOXES, ELIDE, SHORT_TAPES, COLUMNS, HOIST, CARRIES, AT_ONCE, OUTWARD, IN_PLACE, LATE_STACKS, ROWS_INSIDE,
    PASSED_ON, SINK, DEVIATIONS, PIECES, DEAD,
)  # fmt: skip
BEFORE_SEARCH = (DEAD, RANGES, VIEWS, DEAD_WRITES, DEAD)
JAX = (DEAD, RANGES, SIMPLIFY, MADE_BEFORE, WRITTEN_OUT, DEAD_WRITES, AT_ONCE, HOIST, SINK, DEAD)
"""For a compiler that has its own ideas of memory, and of which loops are one: programs on whole arrays."""
EMIT_DERIVATIVES = (DEAD, RANGES, VIEWS, SIMPLIFY, MADE_BEFORE, DEAD_WRITES, HOIST, DEAD)
EMIT = (INLINE, DEAD, ONCE, DEAD, RANGES, VIEWS, SIMPLIFY, SUMS, DEAD_WRITES, HOIST, AT_ONCE, OUTWARD, DEAD)


def before_derivatives(fn: Function, log: Log | None = None, *, check: bool | None = None) -> Function:
    """`fn` ready to be differentiated."""
    return run_passes(BEFORE_DERIVATIVES, fn, log, check=check)


def optimise(fn: Function, log: Log | None = None, *, check: bool | None = None) -> Function:
    """`fn` ready to become code."""
    return run_passes(COMPILE, fn, log, check=check)


def for_backend(fn: Function, backend: str, log: Log | None = None) -> Function:
    """`fn` as a backend wants it."""
    return run_passes((INLINE, *JAX), fn, log) if backend == "jax" else optimise(fn, log)


def for_jax(fn: Function) -> Function:
    """`fn` for JAX, which may differentiate it: checkpoints and custom derivatives stay closed, and loops that
    may end early have all their steps."""
    return run_passes((DEAD, ALL_STEPS, *JAX), fn)


def emitted(fn: Function, *, is_derived: bool = True) -> Function:
    """`fn` ready to be run by another library, or to be differentiated for that."""
    return run_passes(EMIT if is_derived else EMIT_DERIVATIVES, fn)


def run_passes(
    passes: tuple[Pass, ...], fn: Function, log: Log | None = None, *, check: bool | None = None
) -> Function:
    """`fn` after the passes, verified after each if `check` (by default, if PLIANT_VERIFY is set)."""
    log = Log() if log is None else log
    check = os.environ.get("PLIANT_VERIFY", "0") not in ("", "0") if check is None else check
    dumped = os.environ.get("PLIANT_DUMP", "").split(",")
    for step in passes:
        fn = step.run(fn, log)
        if check:
            verify(fn, step.name)
        if step.name in dumped or "all" in dumped:
            sys.stderr.write(f"after {step.name}:\n{fn}\n")
    return fn
