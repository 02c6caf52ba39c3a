"""Factorisations and recursions over triangles, rows masked where bounds depend on an index."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax

Array = Any


def lu(a: Array) -> Array:
    """Doolittle's elimination, rows masked to what is known."""
    n = a.shape[0]
    places = jnp.arange(n)

    def row(i: Any, a: Array) -> Array:
        def left(j: Any, line: Array) -> Array:
            known = jnp.where(places < j, line, 0.0) @ a[:, j]
            return line.at[j].set(jnp.where(j < i, (line[j] - known) / a[j, j], line[j]))

        line = lax.fori_loop(0, n, left, a[i])
        known = jnp.where(places < i, line, 0.0) @ a
        return a.at[i].set(jnp.where(places >= i, line - known, line))

    return lax.fori_loop(0, n, row, a)


def cholesky(a: Array) -> Array:
    """The Cholesky factor, rows masked to what is known."""
    n = a.shape[0]
    places = jnp.arange(n)

    def row(i: Any, a: Array) -> Array:
        def left(j: Any, line: Array) -> Array:
            known = jnp.where(places < j, line, 0.0) @ a[j]
            return line.at[j].set(jnp.where(j < i, (line[j] - known) / a[j, j], line[j]))

        line = lax.fori_loop(0, n, left, a[i])
        inner = jnp.where(places < i, line, 0.0)
        return a.at[i].set(line.at[i].set(jnp.sqrt(line[i] - inner @ inner)))

    return lax.fori_loop(0, n, row, a)


def trisolv(lower: Array, b: Array) -> Array:
    """Forward substitution; what is not known yet is still zero."""

    def row(i: Any, x: Array) -> Array:
        return x.at[i].set((b[i] - lower[i] @ x) / lower[i, i])

    return lax.fori_loop(0, b.shape[0], row, jnp.zeros_like(b))


def gramschmidt(a: Array) -> tuple[Array, Array]:
    """The modified Gram-Schmidt method, a `scan` over columns."""
    n = a.shape[1]
    places = jnp.arange(n)

    def column(a: Array, k: Any) -> Any:
        size = jnp.sqrt(a[:, k] @ a[:, k])
        q = a[:, k] / size
        r = jnp.where(places > k, q @ a, 0.0)
        return a - q[:, None] * r[None, :], (q, r.at[k].set(size))

    q, r = lax.scan(column, a, places)[1]
    return q.T, r


def durbin(r: Array) -> Array:
    """Durbin's recursion on arrays of full length, masked."""
    n = r.shape[0]
    places = jnp.arange(n)

    def step(k: Any, state: Any) -> Any:
        y, alpha, beta = state
        beta = (1.0 - alpha * alpha) * beta
        turned = jnp.where(places < k, jnp.roll(jnp.flip(y), k), 0.0)
        known = jnp.where(places < k, jnp.roll(jnp.flip(r), k), 0.0)
        alpha = -(r[k] + known @ y) / beta
        return (y + alpha * turned).at[k].set(alpha), alpha, beta

    start = jnp.zeros_like(r).at[0].set(-r[0])
    return lax.fori_loop(1, n, step, (start, -r[0], jnp.ones(())))[0]


def floyd_warshall(distance: Array) -> Array:
    """Shortest paths, a loop over the nodes between."""

    def step(k: Any, d: Array) -> Array:
        return jnp.minimum(d, d[:, k, None] + d[None, k, :])

    return lax.fori_loop(0, distance.shape[0], step, distance)


def ludcmp(a: Array, b: Array) -> Array:
    """The solution of a linear system: elimination of a matrix with its right side as a last column, a `scan`
    over pivots, then substitution backward; what is not known yet is still zero."""
    n = b.shape[0]
    places = jnp.arange(n)

    def eliminate(left: Array, k: Any) -> Any:
        row = left[k]
        factor = jnp.where(places > k, left[:, k] / row[k], 0.0)
        return left - factor[:, None] * row, row

    def substitute(x: Array, pivot: Any) -> Any:
        k, row = pivot
        return x.at[k].set((row[n] - row[:n] @ x) / row[k]), None

    rows = lax.scan(eliminate, jnp.column_stack((a, b)), places)[1]
    return lax.scan(substitute, jnp.zeros_like(b), (places, rows), reverse=True)[0]


VERSIONS = (lu, cholesky, ludcmp, trisolv, gramschmidt, durbin, floyd_warshall)
