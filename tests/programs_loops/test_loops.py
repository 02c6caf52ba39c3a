"""Plain NumPy programs made of loops: compiled they return what NumPy does, and their gradients what
differences do."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from benchmarks.loops.programs import PROGRAMS, LoopProgram

DIFFERENTIABLE = [p for p in PROGRAMS if p.wrt]


def name_of(program: LoopProgram) -> str:
    return program.name


@pytest.mark.parametrize("program", PROGRAMS, ids=name_of)
def test_compiled_program_returns_what_numpy_does(program: LoopProgram) -> None:
    run, inputs = program.of_arrays(program.small), program.inputs(program.small)
    kept = [x.copy() for x in inputs]
    expected = run(*kept)
    for got, want in zip(pliant.jit(run)(*inputs), expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("program", DIFFERENTIABLE, ids=name_of)
def test_tangents_of_program_are_differences_and_cotangents_agree_with_them(program: LoopProgram) -> None:
    run, inputs = program.of_arrays(program.small), program.inputs(program.small)
    rng = np.random.default_rng(1)
    ways = [rng.normal(size=x.shape) if n in program.wrt else np.zeros_like(x) for n, x in enumerate(inputs)]
    step = 1e-6
    above = run(*(x + step * d for x, d in zip(inputs, ways, strict=True)))
    below = run(*(x - step * d for x, d in zip(inputs, ways, strict=True)))
    _, tangents = pliant.jvp(run, inputs, tuple(ways))
    for got, high, low in zip(tangents, above, below, strict=True):
        np.testing.assert_allclose(got, (high - low) / (2 * step), rtol=1e-5, atol=1e-6)
    values, pull = pliant.vjp(run, *inputs)
    weights = tuple(rng.normal(size=np.shape(y)) for y in values)
    left = sum(np.vdot(w, t) for w, t in zip(weights, tangents, strict=True))
    right = sum(np.vdot(c, d) for c, d in zip(pull(weights), ways, strict=True))
    np.testing.assert_allclose(left, right, rtol=1e-10)
