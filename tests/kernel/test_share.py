"""What shares memory, what is copied, and why: plans of small programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pliant.backends.llvm import lapack
from pliant.backends.llvm.compiler import can
from pliant.frontend.retrace import trace_program
from pliant.frontend.signature import flatten, leaf_names
from pliant.kernel.build import build
from pliant.kernel.ir import Copy, Nest, Product, Program
from pliant.kernel.plan import plan_of
from pliant.pipeline import optimise


def planned(f: Callable[..., Any], *xs: Any, **options: Any) -> Program:
    leaves, structure = flatten((xs, {}))
    program = trace_program(f, leaves, structure, leaf_names([f"x{i}" for i in range(len(xs))], (xs, {})))
    owned = program.pinned
    return build(optimise(program.fn), can, lapack.who_has, owned=owned, must=True, **options)


X = np.ones(2000)
M = np.ones((100, 100))


def copies(program: Program) -> list[str]:
    return [step.reason for step in program.steps if isinstance(step, Copy)]


def adam(w: Any, g: Any, m: Any, v: Any) -> None:
    m *= 0.9
    m += 0.1 * g
    v *= 0.999
    v += 0.001 * g * g
    w -= 1e-3 * m / (np.sqrt(v) + 1e-8)


def test_an_optimiser_step_is_one_nest_without_memory_of_its_own():
    program = planned(adam, X, X.copy(), X.copy(), X.copy())
    (nest,) = program.steps
    assert isinstance(nest, Nest)
    plan = plan_of(program)
    assert (plan.temporaries, plan.copies, plan.results) == ((), (), 0)


def shift(x: Any) -> None:
    x[1:] = x[:-1]


def stencil(x: Any) -> None:
    x[1:-1] += 0.25 * (x[:-2] + x[2:])


def rows(x: Any) -> None:
    x[1:-1, 1:-1] = 0.5 * (x[:-2, 1:-1] + x[2:, 1:-1])


def turned(x: Any) -> None:
    x += x.T


def kept(x: Any, y: Any) -> Any:
    z = x[::-1] * y
    x *= 2
    return z


@pytest.mark.parametrize(
    ("f", "args", "most"),
    [(shift, (X,), 0), (stencil, (X,), 2 * 512 * 8), (rows, (M,), 2 * 6 * 98 * 8), (turned, (M,), M.nbytes),
     (kept, (X, X.copy()), 0)],
)  # fmt: skip
def test_temporaries_are_no_larger_than_needed(f: Callable[..., Any], args: tuple[Any, ...], most: int):
    program = planned(f, *args)
    assert sum([life.bytes for life in plan_of(program).temporaries]) <= most
    assert program.arena <= most + 64


def test_what_needs_memory_of_its_own_says_why():
    (held,) = plan_of(planned(stencil, X)).temporaries
    assert "from both sides" in held.reason
    assert held.origin
    (reason,) = copies(planned(turned, M))
    assert reason == "x0: it is read in another order than it is written in"


def test_arguments_that_are_not_written_keep_their_content():
    def f(x: Any) -> Any:
        y = x.copy()
        y[3:] = 7
        return y

    program = planned(f, X)
    assert copies(program) == ["x0 keeps its content"]
    assert copies(planned(f, X, free=(0,))) == []


def test_products_are_added_where_the_array_lies():
    def f(g: Any, a: Any, b: Any) -> None:
        g += a.T @ b
        g += b @ a.T

    program = planned(f, M, M.copy(), M.copy())
    assert [type(step) for step in program.steps] == [Product, Product]
    assert plan_of(program).temporaries == ()

    def reads_itself(g: Any, a: Any) -> None:
        g += a @ g

    program = planned(reads_itself, M, M.copy())
    assert [type(step) for step in program.steps] == [Product, Nest]


def test_readers_come_before_what_overwrites():
    def f(x: Any) -> Any:
        x[1:] = x[:-1] * 2
        return x.sum()

    assert copies(planned(f, X)) == []


def test_updates_whose_values_come_from_overwritten_elements_are_computed_before():
    def f(x: Any) -> None:
        y, z = x[::2], x[1::2]
        y += z
        z -= y

    program = planned(f, X)
    assert copies(program) == []


@pytest.mark.parametrize("f", [shift, stencil])
def test_without_sharing_everything_has_memory_of_its_own(f: Callable[..., Any]):
    plan = plan_of(planned(f, X, sharing=False))
    assert {c.reason for c in plan.copies} == {"nothing shares memory"}
    places = [(life.buffer.offset, life.bytes) for life in plan.lives if life.place == "workspace"]
    for (a, n), (b, _) in zip(sorted(places), sorted(places)[1:], strict=False):
        assert a + n <= b


def test_long_programs_are_planned_without_copies():
    def step(x: Any, i: int) -> Any:
        x[i % 50 + 1 :] = np.sin(x[: -(i % 50) - 1])
        return x if i == 299 else step(x, i + 1)

    program = planned(lambda x: [step(x, 0)][1:], X)
    assert (len(program.steps), copies(program), plan_of(program).temporaries) == (300, [], ())


def test_an_array_put_together_from_parts_is_added_part_by_part():
    def f(total: Any, a: Any, b: Any) -> None:
        total += np.concatenate([np.sqrt(a), b.T.reshape(-1)])

    def g(total: Any, a: Any, b: Any) -> Any:
        parts = np.concatenate([np.sqrt(a), b.T.reshape(-1)])
        total += parts
        return parts

    xs = np.ones(X.size + M.size), X, M
    program = planned(f, *xs)
    assert [step.roots[0].value.op.name for step in program.steps if isinstance(step, Nest)] == ["add_slice"] * 2
    assert (program.arena, copies(program)) == (64, [])
    assert copies(planned(g, *xs)) == []  # made once, as it is also returned
