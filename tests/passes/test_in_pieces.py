"""What is computed of arrays that are put together is computed in pieces, and is what it was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.core.build import trace
from pliant.core.ir import Function, Value, const, nodes
from pliant.core.types import Type
from pliant.core.verify import verify
from pliant.ops.loop import Loop
from pliant.ops.reduce import reduce_sum
from pliant.ops.shape import Concatenate, Slice, broadcast, concatenate, slice_axis
from pliant.ops.transcendental import Exp
from pliant.ops.update import UpdateSlice, add_slice, update_slice
from pliant.passes import in_pieces as pieces
from pliant.passes.in_pieces import in_pieces
from pliant.testing import run

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def _of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "LEAST", 16)


def rolled(x: Value, by: int, axis: int) -> Value:
    n = x.shape[axis]
    return concatenate((slice_axis(x, axis, n - by % n, by % n), slice_axis(x, axis, 0, n - by % n)), axis)


def zeros(shape: tuple[int, ...]) -> Value:
    return broadcast(const(0.0, "f64"), shape, ())


def agree(f: Callable[..., Any], *shapes: tuple[int, ...]) -> Function:
    """`f` in pieces, which makes the same numbers."""
    fn = trace(f, *[Type("f64", shape) for shape in shapes])
    made = verify(in_pieces(fn))
    xs = [RNG.normal(size=shape) for shape in shapes]
    for got, wanted in zip(run(made, xs), run(fn, xs), strict=True):
        np.testing.assert_array_equal(got, wanted)
    return made


def lengths(fn: Function) -> list[int]:
    """How long the arrays are that are put together, and read otherwise than to be put together."""
    order = nodes(fn.results)
    inner = {a for n in order if isinstance(n.op, Concatenate) for a in n.args}
    return sorted([n.types[0].size for n in order if isinstance(n.op, Concatenate) and n.values[0] not in inner])


def test_stencil_of_a_rolled_array_puts_only_its_result_together() -> None:
    made = agree(lambda x: rolled(x, 1, 0) - x * rolled(x, -1, 0), (100,))
    assert lengths(made) == [100]
    assert [a.shape for a in made.results[0].args] == [(1,), (98,), (1,)]


def test_thin_layers_of_a_plane_are_not_cut_along_the_other_axis() -> None:
    made = agree(lambda x: sum([rolled(x, s, a) for a in (0, 1) for s in (1, -1)], -x), (40, 50))
    top, middle, bottom = made.results[0].args
    assert (top.shape, bottom.shape) == ((1, 50), (1, 50))
    assert [a.shape for a in middle.args] == [(38, 1), (38, 48), (38, 1)]


def test_cube() -> None:
    made = agree(lambda x: sum([rolled(x, s, a) for a in (0, 1, 2) for s in (2, -1)], -x), (40, 50, 60))
    assert [a.shape for a in made.results[0].args] == [(2, 50, 60), (37, 50, 60), (1, 50, 60)]


def test_rolls_far_and_near() -> None:
    for by in (1, 3, 50, 97):
        agree(lambda x, by=by: x * 2.0 + rolled(x, by, 0) * rolled(rolled(x, 5, 0), -2, 0), (100,))


def test_slices_of_what_is_padded_are_those_of_the_array() -> None:
    def f(x: Value) -> Value:
        wide = concatenate((slice_axis(x, 0, 99, 1), x, slice_axis(x, 0, 0, 1)), 0)
        return slice_axis(wide, 0, 2, 100) - slice_axis(wide, 0, 0, 100)

    assert lengths(agree(f, (100,))) == [100]


def test_windows_in_zeros_become_pieces() -> None:
    def f(u: Value) -> Value:
        return add_slice(update_slice(zeros((100,)), u, (1,)), -u, (0,))

    made = agree(f, (99,))
    assert [a.shape for a in made.results[0].args] == [(1,), (98,), (1,)]
    assert not any([isinstance(n.op, UpdateSlice) for n in nodes(made.results)])


def test_windows_are_added_to_what_is_computed_for_that() -> None:
    def f(x: Value) -> Value:
        y = x * 0.1
        for by in (1, 2):
            u = slice_axis(y, 0, by, 100 - by)
            x = add_slice(x - y if by == 1 else x, u, (0,))
        return x

    made = agree(f, (100,))
    assert [a.shape for a in made.results[0].args] == [(98,), (1,), (1,)]


def test_a_window_is_added_in_place_to_what_is_read_elsewhere_too() -> None:
    def f(x: Value) -> tuple[Value, Value]:
        y = x * 0.1
        return add_slice(y, slice_axis(x, 0, 1, 98), (1,)), Exp()(reduce_sum(y))

    assert lengths(agree(f, (100,))) == []


def test_windows_of_a_plane_of_another_value_than_the_one_that_is_read() -> None:
    def f(u: Value) -> tuple[Value, Value]:
        first = add_slice(update_slice(zeros((41, 40)), u, (1, 0)), -u, (0, 0))
        return add_slice(update_slice(zeros((41, 42)), first, (0, 2)), -first, (0, 0)), slice_axis(first, 0, 3, 2)

    agree(f, (40, 40))


def test_parts_that_are_shown_of_what_nobody_needs_as_a_whole_are_made_alone() -> None:
    def f(x: Value) -> tuple[Value, Value]:
        y = x + rolled(x, 1, 0) * rolled(x, 2, 0)
        return slice_axis(y, 0, 0, 3), slice_axis(y, 0, 10, 40)

    assert lengths(agree(f, (100,))) == [3]


def test_value_of_two_results_that_is_one_itself() -> None:
    def f(x: Value) -> tuple[Value, Value]:
        y = x - rolled(x, 1, 0)
        return y, y * Exp()(x) + rolled(x, 1, 0)

    assert lengths(agree(f, (100,))) == [100, 100]


def test_array_that_is_needed_as_a_whole_is_read() -> None:
    def f(x: Value) -> tuple[Value, Value]:
        y = rolled(x, 1, 0)
        return y, y + x

    assert lengths(agree(f, (100,))) == [100]


def test_sum_of_one_rolled_array_gains_nothing() -> None:
    fn = trace(lambda x: reduce_sum(x * rolled(x, 1, 0)), Type("f64", (100,)))
    assert in_pieces(fn) is fn


def test_columns_side_by_side_are_left() -> None:
    fn = trace(lambda x, y: concatenate((x, y), 1) * 2.0, *[Type("f64", (100, 1))] * 2)
    assert in_pieces(fn) is fn


def test_negative_steps_are_left() -> None:
    agree(lambda x: Slice((99,), (-1,), (100,))(rolled(x, 1, 0)) + x, (100,))


def test_bodies_of_loops_too() -> None:
    body = trace(lambda i, x: x - rolled(x, 1, 0), Type("i64"), Type("f64", (100,)))
    made = agree(lambda x: Loop(3, ("carry",), ("last",), body).apply(x)[0], (100,))
    (loop,) = [n.op for n in nodes(made.results) if isinstance(n.op, Loop)]
    assert lengths(loop.body) == [100]


def drawn(x: Value, y: Value) -> Value:
    """Some operation on two arrays, at some places."""
    shape = x.shape
    axis, kind, by = (int(RNG.integers(n)) for n in (len(shape), 6, 3))
    start = [by if k == axis else 0 for k in range(len(shape))]
    part = slice_axis(y, axis, 1, shape[axis] - 2)
    match kind:
        case 0:
            return x - y
        case 1:
            return rolled(x, by + 1, axis)
        case 2:
            return add_slice(update_slice(zeros(shape), part, start), part, [0] * len(shape))
        case 3:
            return update_slice(x, part, start)
        case 4:
            return add_slice(x * 0.5, part, start)
        case _:
            return slice_axis(concatenate((x, y), axis), axis, by, shape[axis])


@pytest.mark.parametrize("number", range(60))
def test_random_programs(number: int) -> None:
    def f(x: Value) -> Value:
        made = [x, x * x]
        for _ in range(number // 6 + 2):
            made.append(drawn(*[made[int(n)] for n in RNG.integers(len(made), size=2)]))
        return made[-1] + made[-2]

    agree(f, ((60,), (12, 20), (6, 7, 8))[number % 3])


# --- as machine code


def stencil(x: Any) -> Any:
    for _ in range(3):
        x = x - 0.25 * (np.roll(x, 1) - np.roll(x, -1)) + 0.125 * (np.roll(x, 2, 0) + x * x)
    return x


def costly(x: Any) -> Any:
    return np.exp(np.roll(x, 1, 0)) * np.sin(np.roll(x, -1, -1)) + np.exp(x)


def padded(x: Any) -> Any:
    for _ in range(3):
        wide = np.pad(x, 1, mode="wrap")
        x = x + wide[(slice(2, None),) * x.ndim] * wide[(slice(None, -2),) * x.ndim] / 4
    return x


@pytest.mark.parametrize("dtype", ["f8", "f4", "c16", "i4"])
@pytest.mark.parametrize("shape", [(6000,), (70, 80), (17, 18, 19), (5000, 2), (2, 5000)])
@pytest.mark.parametrize("f", [stencil, costly, padded])
def test_numbers_are_those_of_numpy(f: Callable[[Any], Any], shape: tuple[int, ...], dtype: str) -> None:
    x = RNG.integers(0, 3, shape).astype(dtype) if dtype == "i4" else RNG.normal(size=shape).astype(dtype) / 4
    got, wanted = pliant.jit(f)(x), f(x)
    assert got.dtype == wanted.dtype
    np.testing.assert_allclose(
        got, wanted, rtol=1e-4 if dtype == "f4" else 1e-12, atol=1e-5 if dtype == "f4" else 1e-12
    )


def differences(x: Any) -> Any:
    return np.sum(np.diff(x, 2, axis=0) ** 2) + np.sum(np.sin(np.diff(x, axis=-1) * np.roll(x, 1, 0)[..., 1:]))


@pytest.mark.parametrize("shape", [(5000,), (70, 80), (17, 18, 19)])
def test_gradients_are_differences(shape: tuple[int, ...]) -> None:
    x, dx = RNG.normal(size=shape), RNG.normal(size=shape)
    slope = (differences(x + 1e-6 * dx) - differences(x - 1e-6 * dx)) / 2e-6
    np.testing.assert_allclose(np.sum(pliant.grad(differences)(x) * dx), slope, rtol=1e-6)


def test_step_of_a_stencil_is_one_pass() -> None:
    steps = str(pliant.explain(stencil, np.zeros(6000))).split("  return ")[-1].split("workspace:")[0]
    assert steps.count("f64[6000]") == 3
    assert "f64[5997]" not in steps


def test_the_way_back_of_rolled_arrays_is_one_pass() -> None:
    def f(x: Any, steps: int) -> Any:
        for _ in range(steps):
            x = x + 0.1 * (np.roll(x, 1, 0) + np.roll(x, -1, 0) + np.roll(x, 1, 1) + np.roll(x, -1, 1) - 4 * x)
        return np.sum(x * x)

    text = str(pliant.explain(pliant.grad(f), np.zeros((90, 90)), 5)).split("workspace:")[0]
    assert "add_slice: f64[90, 90]" not in text
    x, dx = RNG.normal(size=(2, 90, 90))
    slope = (f(x + 1e-6 * dx, 5) - f(x - 1e-6 * dx, 5)) / 2e-6
    np.testing.assert_allclose(np.sum(pliant.grad(f)(x, 5) * dx), slope, rtol=1e-6)


def test_costly_pieces_are_computed_where_they_belong() -> None:
    text = str(pliant.explain(costly, np.zeros((300, 300))))
    assert "nest over 299 × 299" in text
    assert "299, 299] → workspace" not in text


def test_halves_side_by_side_are_left() -> None:
    fn = trace(lambda x, y: concatenate((x, y), 1) * 2.0, *[Type("f64", (100, 50))] * 2)
    assert in_pieces(fn) is fn


def test_what_is_added_to_an_array_part_by_part_is_left() -> None:
    fn = trace(lambda x, y: x + concatenate((y, y * y), 0), Type("f64", (200,)), Type("f64", (100,)))
    assert in_pieces(fn) is fn


@pytest.mark.parametrize("count", [40, 400])
def test_long_chains_of_operations_are_left(count: int) -> None:
    """What many operations make is not made once for each piece; nor does it take as many calls of functions."""

    def chain(x: Value, is_first: bool) -> Value:
        y = x if is_first else rolled(x, 1, 0) * rolled(x, 2, 0)
        for n in range(count):
            y = y * 0.5 + float(n)
        return y * rolled(x, 1, 0) * rolled(x, 2, 0) if is_first else y + x

    for is_first in (False, True):
        fn = trace(lambda x, is_first=is_first: chain(x, is_first), Type("f64", (100,)))
        assert in_pieces(fn) is fn


def test_many_windows_are_not_listed() -> None:
    def f(x: Value) -> Value:
        z = zeros((400, 400, 400))
        for n in range(60):
            z = update_slice(z, slice_axis(x, 0, n, 2), (4 * n, 4 * n, 4 * n))
        return z * 2.0 + 1.0

    fn = trace(f, Type("f64", (100, 2, 2)))
    assert in_pieces(fn) is fn


def further(y: Any, p: Any) -> Any:
    y = y * p[:-2, 1:-1] + 0.1
    y = y * p[2:, 1:-1] + 0.2
    y = y * p[1:-1, :-2] + 0.3
    return y * p[1:-1, 2:] + 0.4


def test_long_formulas_of_a_stencil_are_computed_in_vectors() -> None:
    def f(x: Any) -> Any:
        p = np.pad(x, 1, mode="edge")
        return further(further(further(further(further(further(x, p), p), p), p), p), p)

    steps = str(pliant.explain(f, np.ones((1000, 800)))).split("  return ")[-1].splitlines()
    (line,) = [line for line in steps if "nest over 1000 × 800" in line]
    assert "no vectors" not in line
