"""Products of triangular and symmetric matrices, and moments of data, of whole matrices."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from benchmarks.loops.programs.products import ALPHA, BETA

Array = Any


def syr2k(a: Array, b: Array, c: Array) -> Array:
    """The rank-2k update as two products."""
    product = a @ b.T
    return jnp.where(jnp.tri(c.shape[0], dtype=bool), 1.2 * c + 1.5 * (product + product.T), c)


def trmm(a: Array, b: Array) -> Array:
    """The product with a unit triangle, of whole matrices."""
    return ALPHA * (b + jnp.tril(a, -1).T @ b)


def syrk(a: Array, c: Array) -> Array:
    """The rank-k update as one product."""
    return jnp.where(jnp.tri(c.shape[0], dtype=bool), BETA * c + ALPHA * (a @ a.T), c)


def symm(a: Array, b: Array, c: Array) -> Array:
    """The product with a symmetric matrix, made whole of its triangle."""
    return BETA * c + ALPHA * ((jnp.tril(a) + jnp.tril(a, -1).T) @ b)


def covariance(x: Array) -> Array:
    """The covariance matrix as one product."""
    x = x - x.mean(axis=0)
    return x.T @ x / (x.shape[0] - 1.0)


def correlation(x: Array) -> Array:
    """The correlation matrix as one product, with ones on its diagonal."""
    n, m = x.shape
    x = x - x.mean(axis=0)
    scale = jnp.sqrt(jnp.mean(x * x, axis=0))
    x = x / (jnp.sqrt(float(n)) * jnp.where(scale <= 0.1, 1.0, scale))
    return jnp.where(jnp.eye(m, dtype=bool), 1.0, x.T @ x)


VERSIONS = (trmm, syrk, syr2k, symm, covariance, correlation)
