"""Reductions that keep a short last axis: NumPy's values, one nest, and no array of all products."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from pliant.backends import backend_named
from pliant.kernel.ir import Nest
from pliant.kernel.lanes import LONG, SHORT

PROGRAMS = {
    "sum": lambda x, w: x.sum(0),
    "of a costly array": lambda x, w: np.exp(x).sum(0),
    "weighted": lambda x, w: (x * w[:, None]).sum(0),
    "greatest": lambda x, w: (x - w[:, None]).max(0),
    "array and sum": lambda x, w: (np.exp(x), np.exp(x).sum(0)),
    "spread": lambda x, w: (x - x.mean(0)).std(0),
    "backward": lambda x, w: (x[:, ::-1] ** 2).sum(0),
    "row of each place": lambda x, w: (x * np.arange(x.shape[1])).sum(0),
    "over two axes": lambda x, w: np.stack((x, -x)).sum((0, 1)) + x.sum(),
    "numbers": lambda x, w: (x > w[:, None]).sum(0),
}


def inputs(places, n=2 * LONG):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, places)), rng.normal(size=n)


def program_of(f, *args):
    return backend_named("llvm").compile(pliant.trace(f, *args)).program


@pytest.mark.parametrize("places", [1, 2, 3, SHORT, SHORT + 1])
@pytest.mark.parametrize("name", PROGRAMS)
def test_values_are_numpys(name, places):
    x, w = inputs(places)
    for got, want in zip(pliant.jit(PROGRAMS[name])(x, w), PROGRAMS[name](x, w), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)


def test_nothing_to_reduce_is_numpys():
    x = np.zeros((0, 3))
    np.testing.assert_array_equal(pliant.jit(lambda x: x.sum(0))(x), x.sum(0))


def test_the_lanes_share_a_nest():
    x, w = inputs(3)
    nests = [step for step in program_of(PROGRAMS["weighted"], x, w).steps if isinstance(step, Nest)]
    assert [(nest.space, len(nest.roots)) for nest in nests] == [((2 * LONG,), 3)]


def test_gradient_of_a_sum_over_pairs_needs_no_array_of_all_pairs():
    def energy(x, y, b):
        return (np.exp(-((x[:, None] - y[None]) ** 2).sum(-1)) @ b).sum()

    n = 2000
    rng = np.random.default_rng(1)
    x, y, b = rng.normal(size=(n, 3)), rng.normal(size=(n, 3)), rng.normal(size=n)
    for wrt in (0, 1, 2):
        assert program_of(pliant.value_and_grad(energy, argnums=wrt), x, y, b).arena < 20 * n * 8
