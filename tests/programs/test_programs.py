"""Whole programs: their text after tracing, derivation and optimisation is reviewed, not guessed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from pliant import ops
from pliant.core.ir import Function
from pliant.core.parse import parse
from pliant.core.verify import verify
from pliant.pipeline import before_derivatives, optimise
from pliant.transforms.evaluate import evaluate
from tests.programs.programs import PROGRAMS, gradient

GOLDEN = ["logistic_loss", "softmax", "updates", "checkpoint", "custom_vjp"]
SHORT = ["elementwise", "logistic_loss", "softmax", "movement", "updates", "branches", "linear_algebra", "checkpoint"]


@pytest.mark.parametrize("name", GOLDEN)
def test_the_text_of_every_stage(name: str, golden: Callable[[str, str], None]) -> None:
    fn = PROGRAMS[name]()
    stable = before_derivatives(fn, check=True)
    derived = gradient(stable)
    stages = {
        "traced": fn,
        "before derivatives": stable,
        "gradient": derived,
        "optimised": optimise(derived, check=True),
    }
    golden(name, "\n".join(f"# {stage}\n{text}" for stage, text in stages.items()))


def arguments(fn: Function) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    made = [rng.uniform(0.2, 1.5, p.type.shape) for p in fn.params]
    return [x if p.type.is_float else (x * 2).astype("i8") for x, p in zip(made, fn.params, strict=True)]


@pytest.mark.parametrize("name", PROGRAMS)
def test_optimised_programs_compute_the_same(name: str) -> None:
    fn = verify(PROGRAMS[name]())
    if any(p.type.kind in "cu" for p in fn.params):
        pytest.skip("its arguments are not drawn here")
    new = optimise(fn, check=True)
    for got, want in zip(evaluate(new, (*arguments(fn),), np), evaluate(fn, (*arguments(fn),), np), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", PROGRAMS)
def test_optimising_twice_changes_nothing(name: str) -> None:
    once = optimise(PROGRAMS[name]())
    assert optimise(once) == once


@pytest.mark.parametrize("name", PROGRAMS)
def test_optimised_programs_parse(name: str) -> None:
    fn = optimise(PROGRAMS[name]())
    assert parse(str(fn), ops.ALL) == fn
