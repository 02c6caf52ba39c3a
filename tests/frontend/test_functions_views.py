"""A reshape is a view just where NumPy's is, whatever the array is a view of."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from pliant.core.ir import param
from pliant.frontend.array import TracedArray
from pliant.frontend.strides import contiguous, reshaped, strides_of
from pliant.frontend.tracing import Storage, tracing, type_of
from tests.frontend.numpy_harness import compare

SHAPES = [(24,), (4, 6), (6, 4), (2, 3, 4), (2, 12), (3, 8), (1, 24, 1), (2, 2, 6), (-1,), (3, 2, 2, 2)]


def step(x: Any, choice: tuple[str, int, int]) -> Any:
    """One view of `x`."""
    kind, a, b = choice
    if kind == "transpose":
        return x.transpose(sorted(range(x.ndim), key=lambda i: (i * (a + 1) + b) % (x.ndim + 1)))
    if kind == "slice":
        return x[(slice(None),) * (a % x.ndim) + (slice(b % 2, None, 1 + b % 3),)] if x.ndim else x
    if kind == "flip":
        return x[::-1]
    if kind == "new":
        return x[:, None] if a % 2 else x[None]
    return x.swapaxes(0, a % x.ndim)


KINDS = st.sampled_from(["transpose", "slice", "flip", "new", "swap"])
STEPS = st.lists(st.tuples(KINDS, st.integers(0, 3), st.integers(0, 5)), max_size=4)


@given(st.sampled_from(SHAPES[:8]), STEPS, st.sampled_from(SHAPES), st.sampled_from("CFA"), st.data())
def test_reshape_writes_through_where_numpy_does(first: Any, steps: Any, shape: Any, order: Any, data: Any) -> None:
    def program(x: Any) -> Any:
        part = x
        for choice in steps:
            part = step(part, choice)
        size = part.size
        to = shape if -1 in shape or np.prod(shape) == size else data_shape(size)
        made = part.reshape(to, order=order)
        made[...] = 7
        return made, x

    cut = data.draw(st.integers(1, 4))

    def data_shape(size: int) -> tuple[int, ...]:
        return (cut, size // cut) if size % cut == 0 else (size,)

    compare(program, np.arange(24.0).reshape(first))


@given(st.sampled_from(SHAPES[:8]), STEPS)
def test_strides_are_those_of_numpy(first: Any, steps: Any) -> None:
    x = np.arange(24.0).reshape(first)
    with tracing() as trace:
        ours = TracedArray(Storage(trace, param(type_of(x), "x")))
        for choice in steps:
            ours, x = step(ours, choice), step(x, choice)
        found = strides_of(ours)
    assume(x.size)  # an array without elements has strides that nobody goes by
    assert found is not None
    wanted = [s // 8 for s in x.strides]
    assert [f for f, n in zip(found, x.shape, strict=True) if n > 1] == [
        w for w, n in zip(wanted, x.shape, strict=True) if n > 1
    ]


def test_strides_of_a_reshape_of_what_is_in_one_piece() -> None:
    assert reshaped((4, 6), contiguous((4, 6)), (2, 12)) == (12, 1)
    assert reshaped((6, 4), (1, 6), (24,)) is None
    assert reshaped((0, 4), (4, 1), (2, 0)) == contiguous((2, 0))
