"""Programs in JAX: what the reference says, in value, dtype and derivative, primitive by primitive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import pytest

import pliant
from pliant.backends import backend_named
from pliant.core.build import trace
from pliant.core.ir import Function, Op
from pliant.core.types import DTYPES, Type
from pliant.errors import MissingRuleError
from pliant.ops.base import Unary
from pliant.pipeline import for_backend, optimise
from pliant.testing import run
from tests.ops.elementwise_cases import DTYPES_OF_KIND, PRIMITIVES
from tests.programs.programs import PROGRAMS

pytestmark = pytest.mark.jax


def arguments(fn: Function) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    made = [rng.uniform(0.2, 1.5, p.type.shape) for p in fn.params]
    return [(x if p.type.is_float else x * 2).astype(DTYPES[p.dtype]) for x, p in zip(made, fn.params, strict=True)]


def agree(fn: Function, xs: Any, rtol: float = 1e-10) -> None:
    made = backend_named("jax").compile(for_backend(fn, "jax"))(xs)
    for got, want in zip(made, run(fn, tuple(xs)), strict=True):
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        assert got.flags.writeable
        assert got.flags.c_contiguous
        np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_do_what_the_reference_does(name: str):
    fn = PROGRAMS[name]()
    agree(fn, arguments(fn))


def test_sums_of_bools_at_places_are_ors():
    def f(x: Any, u: Any, i: Any) -> Any:
        y = x.copy()
        y[::2] += u
        np.add.at(x, i, u)
        return x, y

    given = [np.array([True, False, False, True]), np.array([True, True]), np.array([1, 1])]
    want = f(given[0].copy(), *given[1:])
    for backend in ("llvm", "torch", "jax"):
        if backend == "torch":
            pytest.importorskip("torch")
        got = pliant.jit(f, backend=backend)(given[0].copy(), *given[1:])
        for x, y in zip(got, want, strict=True):
            np.testing.assert_array_equal(x, y, strict=True)


def test_a_gradient_of_parts_runs():
    def f(x: Any) -> Any:
        a, b = np.exp(x)
        return a**2 - b

    x = np.array([0.5, 0.25])
    np.testing.assert_allclose(pliant.jit(pliant.grad(f), backend="jax")(x), pliant.grad(f)(x), rtol=1e-12)


def test_whole_numbers_over_zero_are_zero():
    def f(x: Any, y: Any) -> Any:
        return x // y, x % y, np.fmod(x, y)

    x, y = np.array([7, -7, 0, 5]), np.array([0, 2, 0, -3])
    with np.errstate(all="ignore"):
        wanted = f(x, y)
    for got, want in zip(pliant.jit(f, backend="jax")(x, y), wanted, strict=True):
        np.testing.assert_array_equal(got, want)


def test_a_gradient_of_a_loop_of_unknown_length_runs_its_steps_again():
    def f(x: Any) -> Any:
        while np.sum(x) < 1e4:
            x = x * 1.01 + np.sin(x) * 0.001
        return np.sum(x * x)

    def gradient(x: Any) -> Any:
        return pliant.grad(f)(x)

    x = np.array([0.1, 0.2, 0.3])
    np.testing.assert_allclose(pliant.jit(gradient, backend="jax")(x), pliant.grad(f)(x), rtol=1e-10)


def test_a_tape_is_none_of_jax():
    def f(x: Any) -> Any:
        while x < 100.0:
            x = x * x
        return x

    fn = optimise(pliant.trace(pliant.grad(f), 3.0))
    with pytest.raises(MissingRuleError, match="'record' has no 'jax' rule"):
        backend_named("jax").compile(fn)([np.array(3.0)])


@pytest.mark.parametrize("scan", [np.cumsum, np.cumprod, np.maximum.accumulate])
def test_scans_read_what_was_written_before(scan: Any):
    def f(x: Any) -> Any:  # XLA itself is wrong here, of `jnp.cumsum(y.at[1:3].set(y[0:2] * 3))`
        y = np.sin(x)
        y[1:3] = y[0:2] * 3
        return scan(y)

    x = np.array([1.0, 2.0, 5.0, 7.0])
    np.testing.assert_allclose(pliant.jit(f, backend="jax")(x), f(x), rtol=1e-12)


def test_written_arguments_reach_the_caller():
    def f(x: Any) -> None:
        x[1:] += x[:-1].copy()

    x = np.arange(4.0)
    pliant.jit(f, backend="jax")(x)
    np.testing.assert_array_equal(x, [0.0, 1.0, 3.0, 5.0])


def test_random_numbers_are_numpys():
    def f(seed: int) -> Any:
        return np.random.default_rng(seed).normal(size=5)

    np.testing.assert_allclose(pliant.jit(f, backend="jax")(3), f(3), rtol=1e-12)


@final
@dataclass(frozen=True)
class Lonely(Unary):
    """Has a type, and nothing else."""

    def array(self, xp: Any, *xs: Any) -> Any:
        return Op.array(self, xp, *xs)


def test_a_primitive_without_rules_is_named():
    fn = trace(Lonely(), Type("f64", (3,)))
    with pytest.raises(MissingRuleError, match="lonely"):
        backend_named("jax").compile(fn)([np.ones(3)])


def drawn(rng: np.random.Generator, t: Type) -> np.ndarray:
    """Numbers of both signs, zeros too, where the dtype has them."""
    x = rng.integers(-3, 4, t.shape) if t.kind in "biu" else rng.normal(size=t.shape)
    x = np.abs(x) if t.kind == "u" else x + 1j * rng.normal(size=t.shape) if t.kind == "c" else x
    return np.asarray(x, DTYPES[t.dtype])


ELEMENTWISE = [(name, d) for name, op in PRIMITIVES.items() for k in op.domain for d in DTYPES_OF_KIND[k]]


@pytest.mark.parametrize(("name", "dtype"), ELEMENTWISE)
def test_elementwise_primitives(name: str, dtype: str):
    op, rng = PRIMITIVES[name], np.random.default_rng(1)
    types = [Type(dtype, (12,))] * op.arity
    if name in ("select", "ldexp"):
        types[0 if name == "select" else 1] = Type("bool" if name == "select" else "i32", (12,))
    fn = trace(op.apply, *types)
    xs = [drawn(rng, t) for t in types]
    if "shift" in name or (name == "pow" and dtype[0] == "i"):
        xs[1] = np.abs(xs[1])
    narrow = {"f16": 2e-3, "f32": 1e-5, "c64": 1e-4}
    agree(fn, xs, narrow.get(dtype, 1e-10))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_powers_of_two_are_exact(dtype: str):
    x = np.arange(-30, 31).astype(dtype)
    np.testing.assert_array_equal(pliant.jit(np.exp2, backend="jax")(x), np.exp2(x))
