"""Operations of `jax.lax` with all of their parameters."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import pliant

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402
from jax import lax  # noqa: E402

pytestmark = pytest.mark.jax

RNG = np.random.default_rng(1)
X, A = RNG.normal(size=7), RNG.normal(size=(5, 6))
IMAGE, KERNEL = RNG.normal(size=(2, 4, 7, 6)), RNG.normal(size=(6, 2, 3, 2))
NHWC = ("NHWC", "HWIO", "NHWC")
I32 = np.arange(-6, 6, dtype=np.int32)


def conv(**options: Any) -> Any:
    given: dict[str, Any] = {"window_strides": (1, 1), "padding": "SAME", "feature_group_count": 2, **options}
    return partial(lax.conv_general_dilated, **given)


def window(monoid: Any, start: float, **options: Any) -> Any:
    return lambda a: lax.reduce_window(a, start, monoid, **options)


CASES: dict[str, tuple[Any, ...]] = {
    "conv": (conv(), IMAGE, KERNEL),
    "conv with steps": (conv(window_strides=(2, 3), padding="VALID"), IMAGE, KERNEL),
    "conv dilated": (conv(rhs_dilation=(2, 1), padding=((1, 2), (0, 3))), IMAGE, KERNEL),
    "conv of a dilated image": (conv(lhs_dilation=(2, 3), padding=((2, 1), (1, 1))), IMAGE, KERNEL),
    "conv cut": (conv(padding=((-1, 0), (0, -2))), IMAGE, KERNEL),
    "conv with features last": (
        conv(feature_group_count=1, dimension_numbers=NHWC), np.moveaxis(IMAGE, 1, 3), RNG.normal(size=(3, 2, 4, 5)),
    ),
    "conv of a line": (
        partial(lax.conv, window_strides=(2,), padding="SAME"), IMAGE[:, :, 0], KERNEL[:, :, :, 0].repeat(2, 1),
    ),
    "sums of windows": (window(lax.add, 0.0, window_dimensions=(2, 3), window_strides=(1, 2), padding="SAME"), A),
    "greatest of windows": (
        window(lax.max, -jnp.inf, window_dimensions=(2, 2), window_strides=(2, 1), padding=((1, 0), (0, 1)),
               window_dilation=(2, 1)), A,
    ),
    "least of windows": (window(lax.min, jnp.inf, window_dimensions=(5, 1), window_strides=(1, 1), padding="VALID"), A),
    "padded": (lambda a: lax.pad(a, 2.0, ((1, 2, 1), (-1, -2, 2))), A),
    "padded and cut": (lambda a: lax.pad(a, 0.5, ((-2, 1, 2), (3, -4, 0))), A),
    "parts": (lambda a: jnp.split(a, 2, 1)[1] + jnp.array_split(a, 4, 1)[0][:, :1] + jax.nn.glu(a), A),
    "slices with steps": (lambda a: lax.slice(a, (1, 0), (5, 6), (3, 4)), A),
    "places beyond the end, sliced": (lambda x: lax.dynamic_slice(x, (jnp.argmax(x) + 5,), (3,)), X),
    "places beyond the end, written": (lambda x: lax.dynamic_update_slice(x, x[:2], (jnp.argmax(x) - 9,)), X),
    "columns and rows": (lambda a: a[jnp.array([[0, 1], [4, 2]]), jnp.array([0, 5])], A),
    "columns between axes": (lambda a: a.reshape(5, 2, 3)[jnp.array([0, 3]), :, jnp.array([2, 1])], A),
    "slices at places": (lambda a: a[1:4, jnp.array([0, -1, 2])], A),
    "places beyond the end, read": (lambda a: a[jnp.array([1, 7, -9]), 1:] + a[:, jnp.array([8])][:3], A),
    "rows in batches": (lambda a: jax.vmap(lambda r, i: lax.dynamic_slice(r, (i,), (3,)))(a, jnp.arange(5)), A),
    "along an axis": (lambda a: jnp.take_along_axis(a, jnp.argsort(a, axis=0), axis=0), A),
    "put along an axis": (lambda a: jnp.put_along_axis(a, jnp.argmax(a, 1, keepdims=True), 9.0, 1, inplace=False), A),
    "writes of blocks": (lambda a: a.at[jnp.array([0, 2]), 1:4].set(a[:2, :3] * 2), A),
    "writes left out as promised": (
        lambda a: a.at[jnp.array([0, 9])].set(a[:2], mode="promise_in_bounds").at[jnp.array([9])].add(1.0), A,
    ),
    "writes left out": (lambda a: a.at[jnp.array([0, 9]), jnp.array([0, 1])].add(a[0, :2]), A),
    "writes with places clipped": (lambda a: a.at[jnp.array([0, 9])].set(a[:2], mode="clip"), A),
    "the last of writes": (lambda a: a.at[jnp.array([1, 1, 1])].set(a[2:5]), A),
    "writes in batches": (lambda a: jax.vmap(lambda r, i: r.at[i].multiply(r[0]))(a, jnp.arange(5)), A),
    "least at places": (lambda a: a.at[jnp.array([1, 9, 1])].min(-a[2:5]), A),
    "subtracted at places": (lambda a: a.at[jnp.array([1, 1, 0])].subtract(a[2:5]), A),
    "orders by several keys": (lambda a: lax.sort((jnp.sign(a), a, a * 2), dimension=0, num_keys=2)[2], A),
    "running sums backward": (lambda a: lax.cumsum(a, 1, reverse=True) + lax.cumlogsumexp(a, 0, reverse=True), A),
    "products in batches": (
        lambda a: lax.dot_general(a.reshape(5, 2, 3), a.reshape(5, 3, 2), (((2,), (1,)), ((0,), (0,)))), A,
    ),
    "transforms of both axes": (lambda a: jnp.fft.irfft2(jnp.fft.rfft2(a) * 2, s=a.shape), A),
    "rounded": (lambda x: lax.round(x * 4) + jnp.round(x * 4) + jnp.trunc(x) + jnp.sign(x), X),
    "powers": (lambda x: x**5 + x**-2 + x**0 + jnp.abs(x) ** 0.5 + lax.rsqrt(x * x), X),
    "a scan backward": (lambda a: lax.scan(lambda c, r: (c * 0.5 + r, c.sum()), a[0], a, reverse=True), A),
    "loops in loops": (
        lambda x: lax.fori_loop(0, 3, lambda i, u: lax.fori_loop(0, i + 1, lambda j, v: jnp.sin(v) + j, u), x), X,
    ),
    "loops of a batch": (
        jax.vmap(lambda x, w: lax.while_loop(lambda s: s[0] < 4, lambda s: (s[0] * 2 + 1, s[1] * w), (x * x, w))[1]),
        X, np.stack([X, X + 1], 1),
    ),
    "loops of batches of batches": (
        jax.vmap(jax.vmap(lambda x: lax.while_loop(lambda s: s < 9, lambda s: s * 2 + 1, jnp.abs(x)))), A,
    ),
    "integrals": (lambda x: jax.scipy.special.exp1(x * x + 0.1) + jax.scipy.special.expi(x), X),
    "folds": (lambda a: lax.reduce(a, 1.0, lambda p, q: p * q + 0 * p, (0,)) + lax.reduce(a, 0.0, jnp.hypot, (1, 0)), A),
    "folds of several": (
        lambda a: lax.reduce((a, a * a), (0.0, 1.0), lambda p, q: (p[0] + q[0], p[1] * q[1]), (1,)), A,
    ),
    "on a device": (lambda x: jax.device_put(x) * jnp.asarray(2.0), X),
    "conjugate gradients": (
        lambda x: jax.scipy.sparse.linalg.cg(jnp.diag(jnp.arange(1.0, 8)), x, maxiter=20)[0], X,
    ),
    "associative": (lambda x: lax.associative_scan(lambda a, b: (a[0] * b[0], a[1] * b[0] + b[1]), (x, x + 1))[1], X),
    "systems of the left": (lambda a: lax.linalg.triangular_solve(a[:, :5] + 5 * jnp.eye(5), a[:2, :5], lower=True), A),
    "systems transposed": (
        lambda a: lax.linalg.triangular_solve(
            a[:, :5] + 5 * jnp.eye(5), a[:, :2], left_side=True, lower=False, transpose_a=True, unit_diagonal=True
        ), A,
    ),
    "factors": (lambda a: [jnp.abs(m) for m in jnp.linalg.svd(a, full_matrices=False)], A),
    "rows exchanged": (lambda a: [m * 1.0 for m in jax.lax.linalg.lu(a[:, :5])], A),
}  # fmt: skip
UNDERIVED = (
    "writes in batches", "places beyond the end, read", "rows exchanged", "greatest of windows", "loops in loops",
    "loops of a batch", "loops of batches of batches",
)  # fmt: skip
"""Whose derivatives JAX has not, or not of the values that it has."""
WHOLE: dict[str, Any] = {
    "quotients": lambda n: lax.div(n, jnp.int32(4)) + lax.rem(n, jnp.int32(4)) * 10 + n // 4 + n % 4,
    "shifts": lambda n: lax.shift_right_logical(n, n * 0 + 3) + lax.shift_right_arithmetic(n, n * 0 + 1) + (n << 2),
    "bits": lambda n: (n & 5) | (n ^ 3) | ~n | lax.population_count(n),
    "casts": lambda n: lax.bitcast_convert_type(n, jnp.float32).astype(jnp.int16) + n.astype(jnp.int8),
    "choices": lambda n: lax.select_n(jnp.clip(n, 0, 2), n, n * 2, n * 3),
    "order": lambda n: lax.top_k(n, 3)[1] + jnp.argmin(n) + jnp.cumsum(n)[:3].astype(jnp.int32),
    "parities": lambda n: lax.reduce_xor_p.bind(n, axes=(0,)) + lax.reduce(n[:9], np.int32(0), lax.bitwise_xor, (0,)),
    "truths": lambda n: jnp.any(n > 3) & jnp.all(n > -9) | (jnp.max(n) == 5) & (n[0] < n[1]),
}


@pytest.fixture(autouse=True)
def wide():
    with jax.enable_x64(True):
        yield


@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients(name: str):
    g, *xs = CASES[name]
    f = pliant.from_jax(g)
    for got, want in zip(jax.tree.leaves(f(*xs)), jax.tree.leaves(g(*map(jnp.asarray, xs))), strict=True):
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-10)
    if name in UNDERIVED:
        return

    def loss(h: Any, xp: Any) -> Any:
        return lambda *xs: sum(xp.sum(xp.sin(y)) for y in jax.tree.leaves(h(*xs)))

    numbers = tuple(range(len(xs)))
    wanted = jax.grad(loss(g, jnp), numbers)(*map(jnp.asarray, xs))
    for got, want in zip(pliant.grad(loss(f, np), numbers)(*xs), wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", WHOLE)
def test_whole_numbers(name: str):
    got, want = pliant.from_jax(WHOLE[name])(I32), WHOLE[name](jnp.asarray(I32))
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("given", ["float16", "float32", "float64"])
def test_floats_become_the_nearest_integers(given: str, dtype: str):
    x = np.array([1.5, -1.5, 300, -300, 5e4, 3e9, -3e9, 1e30, -1e30, np.nan, np.inf, -np.inf])
    with np.errstate(over="ignore"):
        x = x.astype(given)
    np.testing.assert_array_equal(pliant.from_jax(lambda x: x.astype(dtype))(x), jnp.asarray(x).astype(dtype))
