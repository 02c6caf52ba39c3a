"""Programs run on arrays of any array-API namespace; a primitive without `array` runs its `expand`."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from pliant.core.build import trace
from pliant.ops.custom import Checkpoint
from pliant.ops.transcendental import exp
from pliant.transforms.evaluate import evaluate
from tests.programs.programs import PROGRAMS, f64
from tests.transforms.test_jvp import arguments

F3 = f64(3)


def test_a_primitive_without_an_array_rule_runs_its_expand() -> None:
    body = trace(lambda x: (exp(x), x * 2.0), F3)
    fn = trace(lambda x: Checkpoint(body).apply(x), F3)
    x = np.arange(3.0)
    np.testing.assert_array_equal(evaluate(fn, (x,), np), [np.exp(x), 2 * x])


def test_values_are_dropped_when_they_have_been_read_for_the_last_time() -> None:
    x, many = np.ones(100_000), 30

    def chain(y):
        for _ in range(many):
            y = exp(y * -0.5)
        return y

    fn = trace(chain, f64(100_000))
    evaluate(fn, (x,), np)
    tracemalloc.start()
    try:
        evaluate(fn, (x,), np)
        assert tracemalloc.get_traced_memory()[1] < 4 * x.nbytes
    finally:
        tracemalloc.stop()


@pytest.mark.jax
@pytest.mark.parametrize("name", ["elementwise", "softmax", "movement", "updates"])
def test_the_same_program_runs_on_jax(name: str) -> None:
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    check(name, jax.numpy, jax.numpy.asarray)


@pytest.mark.torch
@pytest.mark.parametrize("name", ["elementwise", "softmax", "movement", "updates"])
def test_the_same_program_runs_on_torch(name: str) -> None:
    torch = pytest.importorskip("torch")
    check(name, torch, torch.asarray)


def check(name, xp, as_array) -> None:
    fn, xs = PROGRAMS[name](), arguments(name)
    got = evaluate(fn, tuple(map(as_array, xs)), xp)
    for g, w in zip(got, evaluate(fn, tuple(xs), np), strict=True):
        np.testing.assert_allclose(np.asarray(g), w, rtol=1e-12)
