"""Functions of JAX in programs: values, gradients and batches are JAX's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant
from pliant import diff

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402
from jax import lax  # noqa: E402

pytestmark = pytest.mark.jax

RNG = np.random.default_rng(0)
X, A = RNG.normal(size=5), RNG.normal(size=(4, 4))
P = A @ A.T + 4 * np.eye(4)
W = RNG.normal(size=(5, 3))


@pytest.fixture(autouse=True)
def wide():
    with jax.enable_x64(True):
        yield


@jax.custom_vjp
def cv(x):
    return jnp.sin(x)


cv.defvjp(lambda x: (jnp.sin(x), jnp.cos(x)), lambda kept, ct: (2 * ct * kept,))


CASES: dict[str, Any] = {
    "relu": (jax.nn.relu, X),
    "gelu": (jax.nn.gelu, X),
    "softmax": (jax.nn.softmax, X),
    "logsumexp": (jax.nn.logsumexp, X),
    "softplus": (jax.nn.softplus, X),
    "where": (lambda x: jnp.where(x > 0, x**3, jnp.exp(x)), X),
    "sort": (jnp.sort, X),
    "indices": (lambda x: x[jnp.array([0, 1, 1, -1])], X),
    "slices": (lambda x: x[1:4:2] * x[::-2][:2], X),
    "at_add": (lambda x: x.at[jnp.array([0, 1, 1])].add(x[:3]), X),
    "at_set_out_of_range": (lambda x: x.at[jnp.array([0, 1, 9])].set(x[:3] * 2), X),
    "at_multiply": (lambda x: x.at[jnp.array([0, 1, 1])].multiply(x[:3]), X),
    "at_max": (lambda x: x.at[jnp.array([0, 1, 1])].max(2 * x[:3]), X),
    "products": (lambda a: a @ a.T + jnp.einsum("ij,kj->ki", a, a), A),
    "solve": (lambda a: jnp.linalg.solve(a, a[0]), P),
    "inv": (jnp.linalg.inv, P),
    "cholesky": (jnp.linalg.cholesky, P),
    "det": (jnp.linalg.det, P),
    "slogdet": (lambda a: jnp.linalg.slogdet(a)[1], P),
    "eigh": (lambda a: jnp.linalg.eigh(a)[0], P),
    "svd": (lambda a: jnp.linalg.svd(a, compute_uv=False), A),
    "qr": (lambda a: jnp.abs(jnp.linalg.qr(a)[1]), A),
    "norm": (jnp.linalg.norm, X),
    "scan": (lambda x: lax.scan(lambda c, r: (c * r + 1, c * c), x[0], x), X),
    "fori_loop": (lambda x: lax.fori_loop(0, 7, lambda i, u: jnp.sin(u) * x + i, x), X),
    "while_loop": (lambda x: lax.while_loop(lambda u: jnp.sum(u**2) < 50, lambda u: u * 1.5 + 0.1, x), X),
    "cond": (lambda x: lax.cond(x[0] > 0, lambda u: u**2, lambda u: jnp.cos(u), x), X),
    "switch": (
        lambda x: (
            lax.switch(2, [jnp.sin, jnp.cos, jnp.tan], x)
            + lax.switch((x[0] > 0).astype(int) + 1, [jnp.sin, jnp.cos, jnp.tan], x)
        ),
        X,
    ),
    "cumsum": (lambda x: jnp.cumsum(x) * jnp.cumprod(x) + lax.cummax(x), X),
    "convolve": (lambda x: jnp.convolve(x, x), X),
    "interp": (lambda x: jnp.interp(x, jnp.linspace(-3, 3, 7), jnp.arange(7.0) ** 2), X),
    "top_k": (lambda x: lax.top_k(x, 3)[0], X),
    "argsort": (lambda x: x[jnp.argsort(x)], X),
    "fft": (lambda x: jnp.abs(jnp.fft.rfft(x)), X),
    "ifft": (lambda x: jnp.real(jnp.fft.ifft(x + 1j * x)), X),
    "irfft": (lambda x: jnp.fft.irfft(jnp.fft.rfft(x) * 2), X),
    "fft2": (lambda a: jnp.abs(jnp.fft.fft2(a)), A),
    "clip": (lambda x: jnp.clip(x, -0.5, 0.5), X),
    "pad": (lambda x: jnp.pad(x, (2, 3)) * jnp.pad(x, (2, 3), mode="reflect"), X),
    "roll": (lambda x: jnp.roll(x, 2) * x, X),
    "var": (jnp.var, X),
    "median": (jnp.median, X),
    "custom_vjp": (cv, X),
    "checkpoint": (jax.checkpoint(lambda x: jnp.sin(jnp.sin(x))), X),
    "captured": (lambda x: jnp.tanh(x @ jnp.asarray(W)), X),
    "kron": (lambda x: jnp.kron(x, x).reshape(5, 5).T[1:, None, :], X),
    "jit": (jax.jit(lambda x: x * 2 + jnp.mean(x)), X),
    "dynamic_slice": (lambda x: lax.dynamic_slice(x, ((x[0] > 0).astype(int) + 3,), (3,)), X),
    "dynamic_update_slice": (lambda x: lax.dynamic_update_slice(x, x[:2] * 3, ((x[0] > 0).astype(int) + 3,)), X),
    "vmap": (jax.vmap(lambda r: jnp.sum(r) * r), A),
    "vmap_of_index": (lambda a: jax.vmap(lambda r, i: r[i])(a, jnp.array([0, 1, 2, 0])), A),
    "vmap_of_slice": (lambda a: jax.vmap(lambda r, i: lax.dynamic_slice(r, (i,), (2,)))(a, jnp.array([0, 1, 2, 0])), A),
    "vmap_of_at": (lambda a: jax.vmap(lambda r, i: r.at[i].set(r[0] * r[1]))(a, jnp.array([0, 1, 2, 0])), A),
    "grad": (jax.grad(lambda x: jnp.sum(jax.nn.gelu(x) ** 2)), X),
    "hessian": (jax.hessian(lambda x: jnp.sum(x**3) * x[0]), X),
    "take_fill": (lambda x: jnp.take(x, jnp.array([0, 7]), mode="fill"), X),
    "take_clip": (lambda x: jnp.take(x, jnp.array([0, 7]), mode="clip"), X),
    "erf": (lambda x: jax.scipy.special.erf(x) + jax.scipy.special.gammaln(x**2 + 1), X),
    "log_sigmoid": (jax.nn.log_sigmoid, X),
    "elu": (jax.nn.elu, X),
    "one_hot": (lambda x: jax.nn.one_hot(jnp.argmax(x), 5) * x, X),
    "layernorm": (lambda a: jax.nn.standardize(a), A),
    "triangles": (lambda a: jnp.tril(a) @ jnp.triu(a), A),
    "bincount": (lambda x: jnp.bincount(jnp.array([0, 1, 1]), length=3) * x[:3], X),
    "segment_sum": (lambda x: jax.ops.segment_sum(x, jnp.array([0, 1, 1, 0, 2]), 3), X),
    "polyval": (lambda x: jnp.polyval(jnp.array([1.0, 2, 3]), x), X),
    "sort_by_keys": (lambda x: lax.sort((jnp.round(x), x), num_keys=2)[1], X),
    "histogram": (lambda x: jnp.histogram(x, bins=4)[0] * 1.0, X),
    "cross": (lambda x: jnp.cross(x[:3], x[1:4]), X),
    "integers": (lambda x: (jnp.arange(5) * 7 // 3 - jnp.arange(5) % 3 + jnp.array([-7, 7, -3, 4, 5]) // 2) * x, X),
    "conv": (lambda a: lax.conv_general_dilated(a[None, None], a[None, None, :2, :2], (1, 1), "SAME")[0, 0], A),
    "max_pool": (lambda a: lax.reduce_window(a, -jnp.inf, lax.max, (2, 2), (1, 1), "VALID"), A),
    "cumlogsumexp": (lambda x: lax.cumlogsumexp(x), X),
    "associative_scan": (lambda x: lax.associative_scan(jnp.multiply, x), X),
    "expm": (jax.scipy.linalg.expm, 0.1 * A),
    "quantile": (lambda x: jnp.quantile(x, 0.3), X),
    "cho_solve": (lambda a: jax.scipy.linalg.cho_solve((jnp.linalg.cholesky(a), True), a[0]), P),
    "einsum_of_three": (lambda a: jnp.einsum("ij,jk,kl->il", a, a, a), A),
    "unique": (lambda x: jnp.unique(jnp.round(x), size=3), X),
    "select": (lambda x: jnp.select([x > 1, x > 0], [x, 2 * x], -x), X),
    "piecewise": (lambda x: jnp.piecewise(x, [x < 0, x >= 0], [jnp.sin, jnp.cos]), X),
    "searchsorted": (lambda x: jnp.searchsorted(jnp.linspace(-2, 2, 9), x) * x, X),
    "sinc": (lambda x: jnp.sinc(x), X),
}
WITHOUT_GRADIENT = ("while_loop", "at_multiply")  # in JAX


def loss(f: Any, xp: Any) -> Any:
    def total(x: Any) -> Any:
        return sum(xp.sum(xp.sin(y)) if y.dtype.kind == "f" else 0.0 for y in jax.tree.leaves(f(x)))

    return total


@pytest.mark.parametrize("name", CASES)
def test_values(name: str):
    g, x = CASES[name]
    made, wanted = (jax.tree.leaves(f(x)) for f, x in ((pliant.from_jax(g), x), (g, jnp.asarray(x))))
    for got, want in zip(made, wanted, strict=True):
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("name", [n for n in CASES if n not in WITHOUT_GRADIENT])
def test_gradients(name: str):
    g, x = CASES[name]
    wanted = jax.grad(loss(g, jnp))(jnp.asarray(x))
    np.testing.assert_allclose(pliant.grad(loss(pliant.from_jax(g), np))(x), wanted, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("name", CASES)
def test_batches(name: str):
    g, x = CASES[name]
    f, xs = pliant.from_jax(g), np.stack([x, 1.1 * x])
    wanted = [jax.tree.leaves(g(jnp.asarray(row)))[0] for row in xs]
    made = pliant.vmap(lambda x: jax.tree.leaves(f(x))[0])(xs)
    np.testing.assert_allclose(made, wanted, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("name", ["gelu", "softplus", "solve", "inv", "scan", "cond", "log_sigmoid"])
def test_second_derivatives(name: str):
    g, x = CASES[name]
    wanted = jax.hessian(loss(g, jnp))(jnp.asarray(x))
    np.testing.assert_allclose(pliant.hessian(loss(pliant.from_jax(g), np))(x), wanted, rtol=1e-6, atol=1e-7)


def test_reverse_mode_of_a_while_loop():
    f = pliant.from_jax(CASES["while_loop"][0])
    _, tangent = jax.jvp(loss(CASES["while_loop"][0], jnp), (jnp.asarray(X),), (jnp.ones(5),))
    np.testing.assert_allclose(np.sum(pliant.grad(loss(f, np))(X)), tangent, rtol=1e-10)


def test_solutions_in_batches_have_second_derivatives():
    g = CASES["solve"][0]
    ps = np.stack([P, P + np.eye(4)])
    f = pliant.from_jax(g)
    made = pliant.hessian(lambda ps: np.sum(np.sin(pliant.vmap(f)(ps))))(ps)
    with_jax = jax.hessian(lambda ps: jnp.sum(jnp.sin(jax.vmap(g)(ps))))(jnp.asarray(ps))
    np.testing.assert_allclose(made, with_jax, rtol=1e-6, atol=1e-7)


def test_derivatives_of_ones_own_come_back_to_jax():
    f = pliant.to_jax(pliant.from_jax(CASES["custom_vjp"][0]))
    np.testing.assert_allclose(jax.grad(lambda x: jnp.sum(f(x)))(jnp.asarray(X)), 2 * np.cos(X), rtol=1e-12)


OF_COMPLEX = {
    "silu": jax.nn.silu, "sigmoid": jax.nn.sigmoid, "softmax": jax.nn.softmax, "log_softmax": jax.nn.log_softmax,
    "max": lambda z: jnp.max(z.reshape(2, -1), 0), "min": lambda z: jnp.min(z.reshape(2, -1), (0, 1)),
}  # fmt: skip
Z = np.array([0.3 + 0.1j, -0.2 + 0.5j, 1.0 - 2j, 1.0 + 2j, -7.0 + 3j, 1.0 + 1j])


@pytest.mark.parametrize("name", OF_COMPLEX)
def test_functions_of_complex_arrays(name: str):
    f = OF_COMPLEX[name]
    made = pliant.from_jax(f)
    np.testing.assert_allclose(made(Z), f(jnp.asarray(Z)), rtol=1e-12)
    wanted = jax.jacobian(f, holomorphic=True)(jnp.asarray(Z))
    np.testing.assert_allclose(pliant.jacobian(made)(Z), wanted, rtol=1e-12, atol=1e-14)


def test_the_logistic_function_of_complex_numbers_does_not_overflow():
    z = np.array([-800.0 + 1j, 800.0 + 1j])
    np.testing.assert_allclose(pliant.from_jax(jax.nn.sigmoid)(z), [0, 1], atol=1e-300)


@pytest.mark.parametrize("f", [jax.nn.silu, jax.nn.softmax], ids=["silu", "softmax"])
def test_complex_steps_over_functions_of_jax(f: Any):
    x = np.array([0.3, -0.2, 1.0])
    made = diff.jacobian(pliant.from_jax(f), diff.ComplexStep(), x)
    np.testing.assert_allclose(made, jax.jacobian(f)(jnp.asarray(x)), rtol=1e-12)
