"""vmap is a Python loop."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.core.build import trace
from pliant.core.verify import verify
from pliant.ops.transcendental import exp
from pliant.transforms.evaluate import evaluate
from pliant.transforms.vmap import vmap
from tests.programs.programs import PROGRAMS, f64

NAMES = [n for n in PROGRAMS if "." not in n]


def arguments(name: str, seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    made = {
        "f": lambda s: rng.uniform(0.2, 1.5, s),
        "c": lambda s: rng.normal(size=s) + 1j,
        "b": lambda s: rng.random(s) < 0.5,
    }
    of_int = {"i64": lambda s: rng.integers(0, 3, s), "u8": lambda s: rng.integers(0, 255, s).astype("u1")}
    return [of_int.get(p.type.dtype, made.get(p.type.kind))(p.type.shape) for p in PROGRAMS[name]().params]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("which", ["all", "first", "last"])
def test_batched_program_is_a_python_loop(name: str, which: str) -> None:
    fn = PROGRAMS[name]()
    count = len(fn.params)
    batched = tuple(which == "all" or i == (0 if which == "first" else count - 1) for i in range(count))
    rows = [arguments(name, seed) for seed in range(3)]
    xs = [np.stack([r[i] for r in rows]) if b else rows[0][i] for i, b in enumerate(batched)]
    got = evaluate(verify(vmap(fn, 3, batched)), tuple(xs), np)
    for k in range(3):
        want = evaluate(fn, tuple(x[k] if b else x for x, b in zip(xs, batched, strict=True)), np)
        for g, w in zip(got, want, strict=True):
            np.testing.assert_allclose(g[k], w, rtol=1e-12, atol=1e-12)


def test_what_does_not_depend_on_the_batch_is_computed_once() -> None:
    fn = vmap(trace(lambda x, y: exp(x) * y, f64(3), f64(3)), 2, (False, True))
    assert "%2: f64[3] = exp(%x)" in str(fn)


def test_a_result_that_is_not_batched_is_repeated() -> None:
    fn = vmap(trace(lambda x, y: x, f64(3), f64(3)), 2, (False, True))
    assert fn.results[0].shape == (2, 3)
