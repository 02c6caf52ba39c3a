"""Names that are one of several arrays: swapped, turned and bound anew in loops that are unrolled."""

import itertools
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import UnboundError


def turned(u, v, c):
    return (u[::-1] if c else u), v


def turned_back(u, v, c):
    return (u if c else u[::-1]), v


def one_of_both(u, v, c):
    return (u if c else v), v


def both_turned(u, v, c):
    return (u[:, ::-1] if c else u), (v if c else v[::-1])


def transposed(u, v, c):
    return (u.T if c else u), (v[:, ::-1] if c else v)


FEW_VIEWS = [turned, one_of_both, both_turned]  # however often they are turned


def loop(choose, steps):
    """A loop that is unrolled, for it appends to a list, and writes to what names are bound to by then."""

    def f(a, b, conditions):
        u, v, steps_done = a.copy(), b, []
        for i in range(steps):
            steps_done.append(i)
            u, v = v, u
            u, v = choose(u, v, conditions[i] > 0)
            v[0] += u[1]
            u[-1, 0] *= 0.5
        return u, v

    return f


@pytest.mark.parametrize(("choose", "steps"), [(turned, 4), (one_of_both, 4), (both_turned, 4), (transposed, 3)])
def test_names_that_swap_by_conditions_write_to_the_array_that_they_are(choose, steps):
    a, b = np.arange(9.0).reshape(3, 3), np.ones((3, 3))
    f = loop(choose, steps)
    compiled = pliant.jit(f)
    for conditions in itertools.product((0, 1), repeat=steps):
        mine, theirs = b.copy(), b.copy()
        expected, got = f(a, theirs, np.array(conditions)), compiled(a, mine, np.array(conditions))
        for p, q in zip((*expected, theirs), (*got, mine), strict=True):
            np.testing.assert_array_equal(q, p)


@pytest.mark.parametrize("choose", [turned, turned_back])
def test_a_name_that_is_turned_by_conditions_is_the_view_that_it_was_last(choose):
    def f(a, conditions):
        u = a.copy()
        v = u[:, :2]
        for c in conditions:
            u, v = choose(u, v, c > 0)
        u[0] *= 2
        return u, v

    a = np.arange(9.0).reshape(3, 3)
    compiled = pliant.jit(f)
    for conditions in itertools.product((0, 1), repeat=4):
        for p, q in zip(f(a, np.array(conditions)), compiled(a, np.array(conditions)), strict=True):
            np.testing.assert_array_equal(q, p)


@pytest.mark.parametrize("choose", FEW_VIEWS)
def test_each_step_that_swaps_names_by_conditions_adds_as_much_to_the_program(choose):
    a, b = np.arange(9.0).reshape(3, 3), np.ones((3, 3))
    sizes = [len(str(pliant.trace(loop(choose, n), a, b, np.ones(n))).splitlines()) for n in (6, 12, 24)]
    assert sizes[2] - sizes[1] <= 2.5 * (sizes[1] - sizes[0])


@pytest.mark.usefixtures("for_all_data")
def test_arrays_of_two_lengths_are_refused_with_what_works_in_their_place() -> None:
    def of_two(x, y):
        v = x if x[0] > 0 else y
        v *= 2.0
        return x, y

    def of_copies(x, y):
        v = x.copy() if x[0] > 0 else y.copy()
        return (v * 2.0).sum()

    with pytest.raises(UnboundError, match="make both copies"):
        pliant.jit(of_two)(np.arange(4.0), np.ones(3))
    for x in (np.arange(4.0), np.arange(4.0) + 1):
        assert pliant.jit(of_copies)(x, np.ones(3)) == of_copies(x, np.ones(3))


def test_parts_of_two_lengths_are_parts_of_the_array() -> None:
    def of_two(x):
        v = x[:2] if x[0] > 0 else x[:3]
        v *= 2.0
        return x

    for x in (np.arange(4.0), np.arange(4.0) + 1):
        np.testing.assert_array_equal(pliant.jit(of_two)(x.copy()), of_two(x.copy()))


def written_after_the_view(x: Any, a: Any) -> Any:
    p = 0.0
    if x[0] > 0:
        p = a[3, ...]
        a[3] = 9.0
    return p * 1.0


def written_before_the_view(x: Any, a: Any) -> Any:
    p = 0
    if x[0] > 0:
        np.cumsum(x, out=a)
        p = a[3:].squeeze()
    return p * 1.0


def written_after_the_branch(x: Any, a: Any) -> Any:
    p = a[3, ...] if x[0] > 0 else 2.0
    a[3] = 9.0
    return p * 1.0


def written_by_the_view(x: Any, a: Any) -> Any:
    p: Any = np.float64(1.0)
    if x[0] > 0:
        p = a[3, ...]
    p += 2.0
    return p * 1.0


def of_another_dtype(x: Any, a: Any) -> Any:
    p, n = 0.5, np.arange(4)
    if x[0] > 0:
        p = n[3, ...]
        n[3] = 9
    return p * 1.0


def in_steps(x: Any, a: Any) -> Any:
    p = 0.0
    for v in x:
        a[3] = v
        if v > 1:
            p = a[3, ...]
        a[3] = 5.0
    return p * 1.0


@pytest.mark.parametrize(
    "f",
    [written_after_the_view, written_before_the_view, written_after_the_branch, written_by_the_view,
     of_another_dtype, in_steps],
)  # fmt: skip
def test_a_view_without_axes_in_one_branch_and_a_number_in_the_other_sees_writes(f: Any):
    x = np.array([0.5, 2.0, 2.0, 1.0])
    compiled = pliant.jit(f)
    for z in (x, -x, x):
        given, wanted = x + 1, x + 1
        np.testing.assert_array_equal(compiled(z, given), f(z, wanted))
        np.testing.assert_array_equal(given, wanted)


def test_the_derivative_of_such_a_view_is_that_of_what_was_written():
    def f(x: Any) -> Any:
        a, p = x.copy(), 0.0
        if x[0] > 0:
            p = a[3:].squeeze()
            a[3] = x[0] * 5
        return p * 1.0

    x = np.array([0.5, 2.0, 2.0, 1.0])
    np.testing.assert_array_equal(pliant.grad(f)(x), [5.0, 0.0, 0.0, 0.0])
    np.testing.assert_array_equal(pliant.vmap(f)(np.stack([x, -x])), [2.5, 0.0])


def test_of_an_array_made_longer_by_a_condition_the_hint_is_room() -> None:
    def longer(x, c):
        x = np.concatenate((x, x)) if c > 0 else x
        return len(x)

    with pytest.raises(UnboundError, match=r"hint: keep one array with room for the longer one"):
        pliant.vmap(longer, in_axes=(None, 0))(np.ones(3), np.ones(2))
