"""Exercises of courses run unmodified: compiled, differentiated and batched they do what Python does."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import optree
import pytest

import pliant
from tests.programs_courses.notebooks import PROGRAMS

DIFFERENTIABLE = [name for name, (_, _, grad) in PROGRAMS.items() if grad]


def parts(made: Any) -> list[Any]:
    return [np.asarray(leaf) for leaf in optree.tree_leaves(made)]


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_exercise_does_what_python_does(name: str) -> None:
    f, args, _ = PROGRAMS[name]
    expected, got = parts(f(*copy.deepcopy(args))), parts(pliant.jit(f)(*copy.deepcopy(args)))
    for a, b in zip(got, expected, strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_the_gradient_of_an_exercise_equals_differences(name: str) -> None:
    f, args, _ = PROGRAMS[name]
    first: Any = args[0]
    others = args[1:]

    def total(x: Any, *rest: Any) -> Any:
        made: Any = optree.tree_leaves(f(x, *rest))
        return sum([np.sum(part * 1.0) for part in made])

    way: Any = np.linspace(-1.0, 1.0, int(first.size)).reshape(first.shape)
    step = 1e-6
    ends: list[Any] = [total(first + h * way, *copy.deepcopy(others)) for h in (step, -step)]
    gradient: Any = pliant.grad(total)(first.copy(), *copy.deepcopy(others))
    assert (gradient * way).sum() == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_batch_of_an_exercise_equals_a_python_loop(name: str) -> None:
    f, args, _ = PROGRAMS[name]
    stacked = [np.stack([a, a[::-1] if np.ndim(a) == 1 else a]) for a in map(np.asarray, args)]
    rows = [parts(f(*copy.deepcopy([s[k] for s in stacked]))) for k in range(2)]
    for got, *wanted in zip(parts(pliant.vmap(f)(*copy.deepcopy(stacked))), *rows, strict=True):
        np.testing.assert_allclose(got, np.stack(wanted), rtol=1e-9, atol=1e-9)
