"""Arrays walked in strides again and again: NumPy's values, from arrays that are transposed first."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from pliant.backends import backend_named
from pliant.kernel.ir import Affine, Nest, Var
from pliant.kernel.pack import LEAST_LENGTH, LEAST_TURNS, WIDEST, fits, moved

N, M = 2 * LEAST_LENGTH, 2 * LEAST_TURNS


def distances(x, y):
    return ((x[:, None] - y[None]) ** 2).sum(-1)


PROGRAMS = {
    "distances": distances,
    "backward": lambda x, y: np.exp(-distances(x, y[:, ::-1])),
    "one coordinate": lambda x, y: x[:, :1] * y[:, 1],
    "every other point": lambda x, y: distances(x, y[::2]),
    "later points": lambda x, y: distances(x, y[3:]),
    "sum over points": lambda x, y: np.exp(-distances(x, y)).sum(1),
    "nearest": lambda x, y: distances(x, y).argmin(1),
    "made here": lambda x, y: distances(np.sin(x), np.cos(y)),
}


def inputs(width, dtype="float64"):
    rng = np.random.default_rng(0)
    return rng.normal(size=(M, width)).astype(dtype), rng.normal(size=(N, width)).astype(dtype)


def nests(f, *args):
    program = backend_named("llvm").compile(pliant.trace(f, *args)).program
    return [step for step in program.steps if isinstance(step, Nest)]


@pytest.mark.parametrize("width", [2, 3, 4, WIDEST, WIDEST + 1])
@pytest.mark.parametrize("name", PROGRAMS)
def test_values_are_numpys(name, width):
    args = inputs(width)
    np.testing.assert_allclose(pliant.jit(PROGRAMS[name])(*args), PROGRAMS[name](*args), rtol=1e-12, atol=1e-12)


def test_points_are_transposed_once():
    first, second = nests(distances, *inputs(3))
    assert first.roots[0].value.op.name == "permute"
    assert first.space == (3, N) and second.space[:2] == (M, N)


def test_nothing_is_transposed_that_is_read_once():
    assert len(nests(lambda x, y: np.exp(y[:, 0]), *inputs(3))) == 1


def test_a_written_array_keeps_its_place():
    def move(x, y):
        y -= distances(y, x).min(1)[:, None]

    x, y = inputs(3)
    expected = y - distances(y, x).min(1)[:, None]
    pliant.jit(move)(x, y)
    np.testing.assert_allclose(y, expected, rtol=1e-12)


def test_offsets_move_with_their_elements():
    step, place = Var(5), Var(3)
    offset = Affine(4, ((step, 3), (place, 1)))
    assert not fits(offset, 3) and fits(Affine(4, ((step, 3),)), 3)
    assert moved(Affine(4, ((step, 3),)), 3, 10) == Affine(11, ((step, 1),))
    rows = np.arange(30).reshape(10, 3)
    for start in range(3):
        for n in range(5):
            target = moved(Affine(start, ((step, 3),)), 3, 10)
            assert rows.T.ravel()[target.start + n] == start + 3 * n
