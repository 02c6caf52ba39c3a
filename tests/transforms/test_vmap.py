"""vmap is a Python loop."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.core.build import trace
from pliant.core.types import Type
from pliant.core.verify import verify
from pliant.ops.compare import less
from pliant.ops.cond import Cond
from pliant.ops.custom import Checkpoint
from pliant.ops.loop import Loop
from pliant.ops.transcendental import exp
from pliant.ops.while_loop import WhileLoop
from pliant.transforms.evaluate import evaluate
from pliant.transforms.vmap import vmap, vmap_apart
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


X, K = f64(2), Type("i64")


def once(x, k):
    return exp(x), k + k


def always(x, k):
    return less(k, 9)


def in_a_loop(x, k):
    body = trace(lambda i, x, k: (*once(x, k), k), K, X, K)
    return Loop(3, ("const", "carry"), ("sum", "last", "stack"), body).apply(x, k)


def in_a_loop_of_loops(x, k):
    return Loop(2, ("const", "carry"), ("sum", "last"), trace(lambda i, x, k: in_a_loop(x, k)[:2], K, X, K)).apply(x, k)


def in_a_branch(x, k):
    return Cond(trace(once, X, K), trace(lambda x, k: (x, k + 1), X, K)).apply(less(k, 3), x, k)


def in_a_branch_of_a_loop(x, k):
    return Loop(2, ("const", "carry"), ("sum", "last"), trace(lambda i, x, k: in_a_branch(x, k), K, X, K)).apply(x, k)


def in_a_while_loop(x, k):
    return WhileLoop(trace(always, X, K), trace(in_a_loop_of_loops, X, K), ("carry", "carry")).apply(x, k)


def in_a_checkpoint(x, k):
    return Checkpoint(trace(once, X, K)).apply(x, k)


HOLDERS = [in_a_loop, in_a_loop_of_loops, in_a_branch, in_a_branch_of_a_loop, in_a_while_loop, in_a_checkpoint]


@pytest.mark.parametrize("f", HOLDERS, ids=lambda f: f.__name__)
def test_what_a_held_function_makes_of_nothing_batched_is_not_batched(f) -> None:
    """x differs between problems and k does not, nor do the results after the first."""
    fn = trace(f, X, K)
    x, k = np.random.default_rng(0).random((4, 2)) * 0.1, np.asarray(2)
    made, apart = vmap_apart(fn, 4, (True, False))
    assert apart == (True, *(False for _ in fn.results[1:]))
    got = evaluate(verify(made), (x, k), np)
    rows = [evaluate(fn, (row, k), np) for row in x]
    np.testing.assert_allclose(got[0], [row[0] for row in rows], rtol=1e-12)
    for n, y in enumerate(got[1:], start=1):
        np.testing.assert_array_equal(y, rows[0][n])


@pytest.mark.parametrize("f", HOLDERS, ids=lambda f: f.__name__)
def test_all_that_depends_on_what_is_batched_is(f) -> None:
    x, k = np.random.default_rng(0).random(2) * 0.1, np.arange(1, 5)
    fn = trace(f, X, K)
    made, _ = vmap_apart(fn, 4, (False, True))
    types = [r.type for r in fn.results]
    got = evaluate(verify(vmap(fn, 4, (False, True))), (x, k), np)
    assert [r.type for r in made.results[1:]] == [t.stacked(4) for t in types[1:]]
    for y, row in zip(got, zip(*(evaluate(fn, (x, n), np) for n in k), strict=True), strict=True):
        np.testing.assert_allclose(y, np.stack(row), rtol=1e-12)
