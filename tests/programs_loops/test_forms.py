"""What loops become: gradients cost what the step reads, not what the arrays hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from benchmarks.loops.programs import PROGRAMS

READS: dict[str, Callable[[Any, Any], Any]] = {
    "a row": lambda x, i: x[i],
    "a column": lambda x, i: x[:, i],
    "a part of a row": lambda x, i: x[i, 1:-1],
    "a triangle's row": lambda x, i: x[i, :i],
    "a column of the transpose": lambda x, i: x.T[:, i],
    "an element": lambda x, i: x[i, i],
}


@pytest.mark.parametrize("name", READS)
def test_cotangent_of_what_is_read_in_part_is_carried(name: str) -> None:
    def f(x: Any) -> Any:
        total = 0.0
        for i in range(x.shape[0]):
            total = np.sin(total) + np.sum(READS[name](x, i) ** 2)  # a step needs the one before
        return total

    text = str(pliant.explain(pliant.grad(f), np.ones((20, 20))))
    loops = text[text.index("after the passes") :]
    assert "reverse=True" in loops
    assert "sum   %" not in loops


def test_cotangent_of_what_a_branch_reads_is_added_to_in_the_branch() -> None:
    def f(x: Any) -> Any:
        total = 0.0
        for i in range(x.shape[0]):
            if i % 3 == 1:
                total = total + np.sum(x[i] ** 2)
            else:
                total = total + np.sum(x[:, i] ** 3)
        return total

    x = np.arange(400.0).reshape(20, 20) / 400.0
    text = str(pliant.explain(pliant.grad(f), x))
    backward = text[text.rindex("reverse=True", 0, text.index("arrays captured")) :]
    assert "broadcast(0.0, shape=(20, 20)" not in backward[: backward.index("return")]
    wanted = np.zeros_like(x)
    for i in range(20):
        if i % 3 == 1:
            wanted[i] += 2 * x[i]
        else:
            wanted[:, i] += 3 * x[:, i] ** 2
    np.testing.assert_allclose(pliant.grad(f)(x), wanted, rtol=1e-12)


@pytest.mark.parametrize("name", ["lu", "cholesky", "ludcmp", "gramschmidt", "durbin", "syr2k", "seidel_2d"])
def test_triangular_programs_are_loops(name: str) -> None:
    (program,) = [p for p in PROGRAMS if p.name == name]
    size = dict.fromkeys(program.small, 12)
    text = str(pliant.explain(program.of_arrays(size), *program.inputs(size)))
    assert "unrolled" not in text


@pytest.mark.parametrize("steps", [50, np.array(50)])
def test_writes_under_a_condition_leave_no_copy_of_the_array_at_each_step(steps: Any) -> None:
    def f(x: Any, n: Any) -> Any:
        x = x.copy()
        for i in range(n):
            if x[i] > 0.5:
                x[(3 * i) % 400] *= 0.9
            else:
                x[i] += 0.01
        return np.sum(x**2)

    x, static = np.linspace(0.1, 1.0, 400), "n" if isinstance(steps, int) else ()
    slope = pliant.jit(pliant.grad(f), static=static)
    text = str(pliant.explain(slope, x, steps))
    text = text[text.index("after the passes") :]
    assert "f64[50, 400]" not in text  # a stack
    assert "f64[400], f64[400]" not in text  # what a step goes on with, and what it leaves on the tape
    way = np.cos(np.arange(400.0))
    wanted = (f(x + 1e-7 * way, steps) - f(x - 1e-7 * way, steps)) / 2e-7
    np.testing.assert_allclose(slope(x, steps) @ way, wanted, rtol=1e-6)
