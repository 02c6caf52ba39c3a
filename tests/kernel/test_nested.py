"""Small arrays that loops and branches update: written where they lie, and what NumPy makes of them."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given

import pliant
from pliant.backends.llvm import lapack
from pliant.backends.llvm.compiler import can
from pliant.frontend.retrace import trace_program
from pliant.frontend.signature import flatten, leaf_names
from pliant.kernel.carries import lies_there
from pliant.kernel.ir import Copy, Program, Run, Step
from pliant.kernel.verified import build_verified
from pliant.ops.cond import Cond
from pliant.ops.while_loop import WhileLoop
from pliant.pipeline import optimise
from tests.properties.seeds import SEEDS, examples

RNG: Final = np.random.default_rng(0)
PLACES: Final = RNG.integers(0, 3, 40)


def planned(f: Callable[..., Any], *xs: Any) -> Program:
    leaves, structure = flatten((xs, {}))
    program = trace_program(f, leaves, structure, leaf_names([f"x{i}" for i in range(len(xs))], (xs, {})))
    return build_verified(optimise(program.fn), can, lapack.who_has)


def inside(program: Program) -> Iterator[Step]:
    """The steps of all loops and branches of a program."""
    for run in [step for step in program.steps if isinstance(step, Run)]:
        for part in run.parts:
            yield from part.steps
            yield from inside(part)


def wrapped(idx: Any, c: Any) -> Any:
    c = c.copy()
    for k in range(len(idx)):
        i = idx[k]
        if c[i] < 5:
            c[i] += 1
        else:
            c[i] = 0
    return c


def skipped(idx: Any, c: Any) -> Any:
    c = c.copy()
    for k in range(len(idx)):
        if idx[k] > 1:
            c[idx[k]] += 1
    return c


def in_branches(idx: Any, c: Any) -> Any:
    c = c.copy()
    for k in range(len(idx)):
        i = idx[k]
        if c[i] < 3:
            if c[i] < 1:
                c[i] += 2
            else:
                c[i] += 1
        elif c[0] > 1:
            c[i] = 0
            c[0] -= 1
    return c


def one_place_of_two(idx: Any, c: Any) -> Any:
    c = c.copy()
    for k in range(len(idx)):
        if idx[k] > 0:
            c[1] += 1
        else:
            c[idx[k]] += 2
    return c


def carried_over(idx: Any, c: Any) -> Any:
    """A counter whose digits are those of numbers to the base three."""
    c = c.copy()
    for k in range(len(idx)):
        j = idx[k]
        while j < len(c) - 1 and c[j] >= 2:
            c[j] = 0
            j += 1
        c[j] += 1
    return c


PROGRAMS = [wrapped, skipped, in_branches, one_place_of_two, carried_over]
KINDS = [("f8", 3), ("f8", 8), ("f8", 9), ("f4", 16), ("i1", 64), ("i8", 3), ("f8", 100)]


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize(("dtype", "n"), KINDS)
def test_arrays_of_any_size_are_written_in_place(f: Callable[..., Any], dtype: str, n: int) -> None:
    given = RNG.integers(0, n, 60), np.zeros(n, dtype)
    assert [step for step in inside(planned(f, *given)) if isinstance(step, Copy)] == []
    np.testing.assert_array_equal(pliant.jit(f)(*given), f(*given))


def test_rows_of_small_matrices_are_written_in_place() -> None:
    def f(idx: Any, c: Any) -> Any:
        c = c.copy()
        for k in range(len(idx) - 1):
            i, j = idx[k] % 2, idx[k + 1]
            if c[i, j] < 5:
                c[i, j] += 1
            else:
                c[i] = c[1 - i]
        return c

    xs = PLACES, np.zeros((2, 4))
    assert [step for step in inside(planned(f, *xs)) if isinstance(step, Copy)] == []
    np.testing.assert_array_equal(pliant.jit(f)(*xs), f(*xs))


def test_inner_loops_leave_arrays_that_are_in_memory_where_they_lie() -> None:
    runs = [step for step in inside(planned(carried_over, PLACES, np.zeros(5))) if isinstance(step, Run)]
    ((run, op),) = [(run, run.node.op) for run in runs if isinstance(run.node.op, WhileLoop)]
    assert [lies_there(run, p, r, p) for p, r in op.carries if run.outs[r].type.rank] == [True]


def test_vectors_that_may_be_in_registers_are_carried_there() -> None:
    def f(x: Any, ys: Any) -> Any:
        v = x * 2.0
        for k in range(len(ys)):
            v = v * 0.5 + ys[k]
        return v

    xs = np.ones(3), np.linspace(0, 1, 50)
    (run,) = [step for step in planned(f, *xs).steps if isinstance(step, Run)]
    assert not any([lies_there(run, a + 1, r, a) for a, r in run.carries])
    np.testing.assert_allclose(pliant.jit(f)(*xs), f(*xs), rtol=1e-15)


@pytest.mark.parametrize("n", [4, 30])
def test_two_arrays_of_one_branch_are_written_where_they_lie(n: int) -> None:
    def f(p: Any, x: Any, y: Any) -> Any:
        def both(x: Any, y: Any) -> Any:
            old = x.copy()
            x[1:] = y[:-1]
            y[1:] = old[:-1]
            return x, y, x[::-1] + y

        def last(x: Any, y: Any) -> Any:
            x[1] = y[0]
            y[1] = 3.0
            return x, y, x * y

        x, y = x * 2.0, y * 3.0
        return pliant.cond(p, both, last, x, y)

    xs = np.ones(n), np.arange(1.0 * n)
    for p in (True, False):
        for got, wanted in zip(pliant.jit(f)(p, *xs), f(p, *xs), strict=True):
            np.testing.assert_array_equal(got, wanted)
    (run,) = [s for s in planned(f, True, *xs).steps if isinstance(s, Run) and isinstance(s.node.op, Cond)]
    assert len(run.carries) == 2


WRITES: Final = (
    "c[i] += 1", "c[i] = d[j]", "d[j] = c[i] + 1", "d[i] -= c[j]", "c[1] = c[j]", "c[:-1] = c[1:]", "d[1:] = d[:-1] + c[j]",
    "c = (c + d) % 7", "d = c[::-1].copy()", "c, d = d, c", "s += c[j]", "i = j", "j = (i + 1) % len(c)", "d[:2] = c[-2:]",
    "c[i], c[j] = c[j], c[i]", "c[:] = d", "e = c.copy(); c[i] = 0; s += e[i]",
)  # fmt: skip
TESTS: Final = ("c[i] < 3", "i > 0", "d[j] > c[i]", "s > 10", "c[0] < d[1]", "k % 3 == 0")
_numbers = count()


def statements(rng: np.random.Generator, depth: int) -> list[str]:
    """A few lines that update two arrays, two places and a number."""
    lines = list[str]()
    for _ in range(rng.integers(1, 4)):
        kind = int(rng.integers(0, 6)) if depth else 5
        block = [f"    {line}" for line in statements(rng, depth - 1)] if kind < 4 else []
        match kind:
            case 0 | 1:
                other = [f"    {line}" for line in statements(rng, depth - 1)]
                lines += [f"if {rng.choice(TESTS)}:", *block, "else:", *other]
            case 2:
                lines += [f"if {rng.choice(TESTS)}:", *block]
            case 3:
                lines += [f"for t{depth} in range({rng.integers(1, 4)}):", *block]
            case 4:
                lines += ["while i < len(c) - 1 and c[i] >= 2:", "    c[i] -= 2", "    i += 1"]
            case _:
                lines.append(str(rng.choice(WRITES)))
    return lines


def drawn(rng: np.random.Generator) -> Callable[..., Any]:
    """A loop of such lines."""
    head = ["def f(idx, c, d):", "    c, d, s = c.copy(), d.copy(), 0.0", "    for k in range(len(idx)):"]
    begin = ["i, j = idx[k], idx[k - 1]"]
    end = ["c = np.clip(c, -50, 50)", "d %= 11"] if rng.integers(2) else ["c %= 5", "d %= 11"]
    body = [f"        {line}" for line in (*begin, *statements(rng, 2), *end)]
    text, name = "\n".join([*head, *body, "    return c, d, s", ""]), f"<small arrays {next(_numbers)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    scope: dict[str, Any] = {"np": np}
    exec(compile(text, name, "exec"), scope)
    return scope["f"]


@examples(12)
@given(SEEDS)
def test_random_updates_are_what_numpy_makes_of_them(seed: int) -> None:
    rng = np.random.default_rng(seed)
    f = drawn(rng)
    dtype, n = [("f8", 3), ("f8", 8), ("f4", 5), ("i8", 2), ("i8", 4), ("f8", 12)][rng.integers(6)]
    xs = rng.integers(0, n, 12), rng.integers(0, 6, n).astype(dtype), rng.integers(0, 6, n).astype(dtype)
    for got, wanted in zip(pliant.jit(f)(*xs), f(*xs), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-6)
