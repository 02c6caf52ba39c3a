"""Names that are one of several arrays: swapped, turned and bound anew in loops that are unrolled."""

import numpy as np
import pytest

import pliant


def turned(u, v, x, i):
    return (u[::-1] if x > i else u), v


def one_of_both(u, v, x, i):
    return (u if x > i else v), v


def both_turned(u, v, x, i):
    return (u[:, ::-1] if x > i else u), (v[::-1] if x < i else v)


CHOICES = [turned, one_of_both, both_turned]


def loop(choose, steps):
    """A loop that is unrolled, for it appends to a list, and writes to what names are bound to by then."""

    def f(a, b, x):
        u, v, steps_done = a.copy(), b, []
        for i in range(steps):
            steps_done.append(i)
            u, v = v, u
            u, v = choose(u, v, x, i)
            v[0] += u[1]
            u[-1, 0] *= 0.5
        return u, v

    return f


@pytest.mark.parametrize("x", [-1.0, 1.5, 9.0])
@pytest.mark.parametrize("choose", CHOICES)
def test_names_that_swap_by_conditions_write_to_the_array_that_they_are(choose, x):
    a, b = np.arange(9.0).reshape(3, 3), np.ones((3, 3))
    f, mine, theirs = loop(choose, 5), b.copy(), b.copy()
    expected, got = f(a, theirs, x), pliant.jit(f)(a, mine, x)
    for p, q in zip((*expected, theirs), (*got, mine), strict=True):
        np.testing.assert_array_equal(q, p)


@pytest.mark.parametrize("choose", CHOICES)
def test_each_step_that_swaps_names_by_conditions_adds_as_much_to_the_program(choose):
    a, b = np.arange(9.0).reshape(3, 3), np.ones((3, 3))
    sizes = [len(str(pliant.trace(loop(choose, n), a, b, 1.5)).splitlines()) for n in (6, 12, 24)]
    assert sizes[2] - sizes[1] <= 2.5 * (sizes[1] - sizes[0])
