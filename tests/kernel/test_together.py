"""Sums into the same places: NumPy's values in one loop, whatever else the sums are made from."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from pliant.backends import backend_named
from pliant.kernel.ir import Fill
from pliant.ops.index import ScatterAdd

N, GROUPS = 60, 7


def sums(places, *updates, shape=(GROUPS,)):
    found = []
    for update in updates:
        total = np.zeros(shape)
        np.add.at(total, places, update)
        found.append(total)
    return tuple(found)


PROGRAMS = {
    "two": lambda i, j, x, y: sums(i, x, y),
    "of one array": lambda i, j, x, y: sums(i, x, np.sqrt(abs(x)) * y),
    "five": lambda i, j, x, y: sums(i, x, y, x * y, x + y, x - y),
    "rows": lambda i, j, x, y: sums(i, x[:, None] * np.ones(3), y[:, None] + np.arange(3), shape=(GROUPS, 3)),
    "two indices": lambda i, j, x, y: sums((i, j), x, y, shape=(GROUPS, GROUPS)),
    "of other places": lambda i, j, x, y: (*sums(i, x, y), *sums(j, x, y)),
    "one made from the other": lambda i, j, x, y: (lambda a: (a, *sums(i, a[i] * y, y)))(sums(i, x)[0]),
    "each from another's place": lambda i, j, x, y: (lambda a, b: (*sums(i, b[j]), *sums(j, a[i])))(
        sums(i, x)[0], sums(j, y)[0]
    ),
}


def inputs():
    rng = np.random.default_rng(0)
    i, j = rng.integers(-GROUPS, GROUPS, (2, N))
    return i, j, rng.normal(size=N), rng.normal(size=N)


def scatters(f, *args):
    program = backend_named("llvm").compile(pliant.trace(f, *args)).program
    return [step for step in program.steps if isinstance(step, Fill) and isinstance(step.node.op, ScatterAdd)]


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_are_numpys_bit_for_bit(name):
    args = inputs()
    for got, want in zip(pliant.jit(PROGRAMS[name])(*args), PROGRAMS[name](*args), strict=True):
        np.testing.assert_array_equal(got, want)


def test_two_sums_share_a_loop():
    assert len(scatters(PROGRAMS["two"], *inputs())) == 1
    assert len(scatters(PROGRAMS["of other places"], *inputs())) == 2


def test_a_sum_made_from_another_comes_after_it():
    assert len(scatters(PROGRAMS["one made from the other"], *inputs())) >= 2


def test_an_index_out_of_range_is_reported():
    i, j, x, y = inputs()
    i[3] = GROUPS
    with pytest.raises(IndexError, match="index 7 is out of"):
        pliant.jit(PROGRAMS["two"])(i, j, x, y)


def test_the_gradient_of_two_gathers_adds_in_one_loop():
    def f(a, b, i, x):
        return np.sum(np.tanh(a[i] + b[i] * x))

    i, _, x, _ = inputs()
    a, b = np.ones(GROUPS), np.arange(GROUPS) / 7
    derived = pliant.grad(f, argnums=(0, 1))
    assert len(scatters(derived, a, b, i, x)) == 1
    slope = 1 - np.tanh(a[i] + b[i] * x) ** 2
    for got, want in zip(derived(a, b, i, x), sums(i, slope, slope * x), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12)
