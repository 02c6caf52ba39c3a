"""A block that is read forward and backward is read once, and means the same; others are left alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.core.build import trace
from pliant.core.ir import Function, Value, nodes
from pliant.core.types import Type
from pliant.core.verify import verify
from pliant.ops.block import ReadBlock
from pliant.passes.flipped import flipped
from pliant.testing import run

I64, N = Type("i64"), 7


def two_reads(
    start: Callable[[Value, Value], Value], step: int, length: Callable[[Value], Value] = lambda n: n
) -> Function:
    """y[j] = x[i + j] and z[j] = x[start + step·j], n of each or `length`."""

    def f(x: Value, i: Value, n: Value) -> tuple[Value, ...]:
        return (
            ReadBlock((N,), (1,))(x, i, n),
            ReadBlock((N,), (step,))(x, start(i, n), length(n)),
        )

    return trace(f, Type("f64", (N,)), I64, I64)


def arrays_read(fn: Function) -> int:
    """How many blocks are read of a parameter."""
    return sum([isinstance(n.op, ReadBlock) and n.args[0] in fn.params for n in nodes(fn.results)])


def test_the_same_block_backward_is_what_was_read_flipped() -> None:
    fn = two_reads(lambda i, n: i + n - 1, -1)
    made = verify(flipped(fn))
    assert arrays_read(made) == 1
    for i, n in ((0, 7), (2, 3), (6, 1), (4, 0)):
        xs = [np.arange(1.0, 8.0), np.int64(i), np.int64(n)]
        for got, want in zip(run(made, xs), run(fn, xs), strict=True):
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(
    "fn",
    [
        two_reads(lambda i, n: i + n - 2, -1),
        two_reads(lambda i, n: i + 1, 1),
        two_reads(lambda i, n: i + n - 1, -1, lambda n: n - 1),
        two_reads(lambda i, n: i + n + n - 2, -2),
    ],
    ids=["shifted", "forward", "shorter", "every other"],
)
def test_other_blocks_are_left_alone(fn: Function) -> None:
    assert flipped(fn) is fn


def test_planes_are_flipped_along_one_axis() -> None:
    def f(x: Any) -> Any:
        total = 0.0
        for k in range(1, x.shape[1]):
            total = total + (x[:, :k] ** 2 * np.flip(x[:, :k], 1)).sum()
        return total

    x = np.random.default_rng(0).normal(size=(3, 5))
    assert pliant.jit(f)(x) == pytest.approx(f(x), rel=1e-13)
    way, h = np.random.default_rng(1).normal(size=x.shape), 1e-6
    slope = (f(x + h * way) - f(x - h * way)) / (2 * h)
    assert (pliant.grad(f)(x) * way).sum() == pytest.approx(slope, rel=1e-6)


def test_a_gradient_keeps_one_of_them() -> None:
    def f(y: Any) -> Any:
        y = y.copy()
        for k in range(1, y.shape[0]):
            y[:k] += np.sin(y[k]) * np.flip(y[:k]) * y[:k]
        return y.sum()

    y = np.random.default_rng(0).uniform(0.1, 0.5, N)
    way, h = np.random.default_rng(1).normal(size=N), 1e-6
    assert (pliant.grad(f)(y) * way).sum() == pytest.approx((f(y + h * way) - f(y - h * way)) / (2 * h), rel=1e-6)
    text = str(pliant.explain(pliant.value_and_grad(f), y))
    program = text[text.index("after the passes") : text.index("arrays captured")]
    stacks = [line for line in program.splitlines() if "each  " in line and f"f64[{N - 1}]" in line]
    assert len(stacks) <= 1
