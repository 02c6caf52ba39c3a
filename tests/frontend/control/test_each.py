"""What is one of two objects, and operators of it: a number that becomes an array under a condition."""

import numpy as np
import pytest

import pliant
from pliant.testing import check_gradient

rng = np.random.default_rng(3)


def discounted(r, gamma=0.9):
    out = np.zeros_like(r)
    running = 0
    for t in reversed(range(r.size)):
        if r[t] > 0.5:
            running = 0
        running = running * gamma + r[t]
        out[t] = running
    return out


def cubes(r):
    d = discounted(r)
    return ((d - d.mean()) ** 3).sum()


def advantages(rewards, values, dones):
    out = np.zeros_like(rewards)
    last = 0
    for t in reversed(range(len(rewards))):
        if dones[t]:
            following = last = 0
        else:
            following = values[t + 1] if t + 1 < len(rewards) else 0
        last = rewards[t] + 0.9 * following - values[t] + 0.8 * last
        out[t] = last
    return out


def negated(x, c):
    y = 0.0
    if c:
        y = x[:1]
    return (2 - -(y**2)) / np.array([1.0, 2.0])


@pytest.mark.parametrize("shape", [(40,), (40, 1)])
def test_a_number_that_becomes_a_row_in_a_loop(shape):
    r = rng.choice([0.0, 0, 0, 1, -1], size=shape)
    np.testing.assert_array_equal(pliant.jit(discounted)(r), discounted(r))
    check_gradient(cubes, r)


@pytest.mark.parametrize("shape", [(12,), (12, 1)])
def test_two_names_of_which_each_may_be_a_number(shape):
    rewards, values = rng.normal(size=(2, *shape))
    for dones in (rng.random(shape) < 0.3, np.zeros(shape, bool)):
        got = pliant.jit(advantages)(rewards, values, dones)
        np.testing.assert_allclose(got, advantages(rewards, values, dones), rtol=1e-14)


@pytest.mark.parametrize("c", [True, False])
def test_operators_of_a_number_or_an_array(c):
    x = np.array([3.0, 4.0])
    np.testing.assert_array_equal(pliant.jit(negated)(x, np.array(c)), negated(x, c))
