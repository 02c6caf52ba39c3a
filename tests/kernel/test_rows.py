"""Nests over the same rows share their outer loop, and give the same results."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.backends.llvm import BACKEND
from pliant.backends.reference import reference
from pliant.core.build import trace
from pliant.core.types import Type
from pliant.kernel import rows
from pliant.kernel.ir import Nest, Rows
from pliant.ops.elementwise import div, mul, sub
from pliant.ops.reduce import ReduceMax, reduce_sum
from pliant.ops.shape import broadcast
from pliant.ops.transcendental import Exp
from pliant.testing import sample
from tests.backends.llvm.random_programs import random_program


def softmax(x):
    e = Exp()(sub(x, broadcast(ReduceMax((1,))(x), x.shape, (0,))))
    return div(e, broadcast(reduce_sum(e, (1,)), x.shape, (0,)))


def test_softmax_is_one_loop_over_rows_and_keeps_one_row():
    compiled = BACKEND.compile(trace(softmax, Type("f64", (100, 300))))
    (step,) = compiled.program.steps
    assert isinstance(step, Rows)
    assert len(step.nests) == 3
    assert compiled.program.arena < 4096
    x = np.random.default_rng(0).normal(size=(100, 300))
    e = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(compiled([x])[0], e / e.sum(1, keepdims=True), rtol=1e-13)


def test_a_column_sum_ends_a_group():
    def centred(x):
        return sub(x, broadcast(reduce_sum(mul(x, x), (0,)), x.shape, (1,)))

    compiled = BACKEND.compile(trace(centred, Type("f64", (100, 300))))
    assert [type(step) for step in compiled.program.steps] == [Nest, Nest]
    x = np.random.default_rng(0).normal(size=(100, 300))
    np.testing.assert_allclose(compiled([x])[0], x - (x * x).sum(0), rtol=1e-12)


def test_random_programs_agree_with_every_possible_group(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(rows, "LEAST_ROW", 2)
    monkeypatch.setattr(rows, "LEAST_SIZE", 0)
    groups = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        fn = random_program(rng, 40)
        xs = [sample(rng, p.type) for p in fn.params]
        compiled = BACKEND.compile(fn)
        groups += sum(isinstance(step, Rows) for step in compiled.program.steps)
        with np.errstate(all="ignore"):
            wanted = reference.compile(fn)(xs)
        for y, z in zip(compiled(xs), wanted, strict=True):
            if y.dtype.kind in "fc" and y.size:
                finite = np.abs(z[np.isfinite(z)])
                scale = float(finite.max()) if finite.size else 1.0
                assert np.allclose(y, z, rtol=1e-3, atol=1e-3 * scale, equal_nan=True)
    assert groups > 5
