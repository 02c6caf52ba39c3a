"""Small models as a scientist would write them: NumPy, in place, with views and loops. Each is f(x) -> float."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = Any


def heat_with_swapped_buffers(u0: Array) -> Array:
    """Explicit steps of the heat equation between two buffers that change places."""
    u, new = u0.copy(), np.empty_like(u0)
    for _ in range(20):
        new[1:-1] = u[1:-1] + 0.2 * (u[2:] - 2 * u[1:-1] + u[:-2])
        new[0], new[-1] = u[0], u[-1]
        u, new = new, u
    return np.sum(u**2)


def log_determinant_by_elimination(matrix: Array) -> Array:
    """LU without pivoting, in place."""
    a = matrix.copy()
    for k in range(len(a)):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return np.log(np.abs(np.diag(a))).sum()


def gaussian_process(theta: Array) -> Array:
    """Negative log marginal likelihood with a squared-exponential kernel."""
    place = np.linspace(0, 1, 12)[:, None]
    y = np.sin(6 * place[:, 0])
    distance = ((place[:, None] - place[None]) ** 2).sum(-1)
    kernel = np.exp(theta[0] - distance / np.exp(theta[1])) + np.exp(theta[2]) * np.eye(12)
    factor = np.linalg.cholesky(kernel)
    a = np.linalg.solve(factor, y)
    return 0.5 * a @ a + np.log(np.diag(factor)).sum()


def bodies_under_gravity(start: Array) -> Array:
    """Symplectic steps of four bodies in the plane."""
    q = start.reshape(4, 2).copy()
    v = np.zeros_like(q)
    for _ in range(5):
        r = q[:, None] - q[None]
        d = np.sqrt((r**2).sum(-1) + 0.1)
        v -= 0.01 * (r / d[..., None] ** 3).sum(1)
        q += 0.1 * v
    return np.sum(q**2) + np.linalg.norm(v)


def kalman_filter(log_noise: Array) -> Array:
    """Log-likelihood of four observations of a moving point."""
    x, cov = np.zeros(2), np.eye(2)
    move, look = np.array([[1, 0.1], [0, 1.0]]), np.array([[1.0, 0]])
    total = 0.0
    for z in np.array([0.1, 0.3, 0.2, 0.5]):
        x, cov = move @ x, move @ cov @ move.T + np.exp(log_noise[0]) * np.eye(2)
        spread, error = look @ cov @ look.T + np.exp(log_noise[1]), z - look @ x
        gain = cov @ look.T @ np.linalg.inv(spread)
        x, cov = x + gain @ error, cov - gain @ look @ cov
        total = total - 0.5 * (error @ np.linalg.solve(spread, error) + np.linalg.slogdet(spread)[1])
    return total


def edges_of_an_image(x: Array) -> Array:
    """A 3×3 convolution as a double loop over shifted views."""
    image, stencil, out = x.reshape(6, 6), np.array([[1.0, 2, 1], [0, 0, 0], [-1, -2, -1]]), np.zeros((4, 4))
    for i in range(3):
        for j in range(3):
            out += stencil[i, j] * image[i : i + 4, j : j + 4]
    return (np.maximum(out, 0) ** 2).sum()


def order_statistics(x: Array) -> Array:
    """Sorting, running sums, quantiles."""
    ordered = np.sort(x)[::-1]
    return np.cumsum(ordered) @ np.arange(len(x)) + np.median(x) + np.quantile(x, 0.3) + x.std() + np.ptp(x)


def segments(x: Array) -> Array:
    """Sums and maxima of groups, the latter by a loop over elements."""
    group, sums, tops = np.array([0, 1, 1, 2, 0, 2]), np.zeros(3), np.full(3, -np.inf)
    np.add.at(sums, group, x**2)
    for i, k in enumerate(group):
        tops[k] = np.maximum(tops[k], x[i])
    return (sums * tops).sum()


def views_of_views(x: Array) -> Array:
    """Writes through transposed, reversed and flattened views of one array."""
    y = x.copy()
    table = y.reshape(2, 3)
    columns = table.T
    columns[0] *= 2
    columns[::-1][0, 1] = table.sum()
    flat = table.ravel()
    flat[1:3] += flat[3:5]
    return (y * np.arange(6.0)).sum() + (table**2).sum()


def attention(x: Array) -> Array:
    """Softmax attention and layer normalisation."""
    q = x.reshape(4, 3)
    s = q @ q.T / np.sqrt(3)
    s -= s.max(-1, keepdims=True)
    w = np.exp(s)
    w /= w.sum(-1, keepdims=True)
    o = w @ q
    return ((o - o.mean(-1, keepdims=True)) / np.sqrt(o.var(-1, keepdims=True) + 1e-5))[..., 0].sum()


def spectrum(x: Array) -> Array:
    """Power of a signal, weighted by frequency."""
    power = np.abs(np.fft.rfft(x)) ** 2
    return (power * np.arange(len(power))).sum() + np.fft.ifft(np.fft.fft(x) * 1j).imag.sum()


def masked_pieces(x: Array) -> Array:
    """Masks, branches by `where`, and selections by order."""
    y = x.copy()
    y[y < 0] = 0
    y = np.where(y > 1, np.sqrt(y), y**2)
    return y.sum() + x[np.argmax(x)] + x[x.argsort()[:2]].sum()


def nuclear_norm(x: Array) -> Array:
    """Sum of singular values."""
    return np.linalg.svd(x.reshape(3, 4), compute_uv=False).sum()


def contractions(x: Array) -> Array:
    """Products of every kind."""
    a = x.reshape(2, 3)
    gram = np.einsum("ij,kj->ik", a, a)
    return gram.trace() + np.einsum("ij,ij", a, np.tanh(a)) + np.tensordot(a, a, 2) + np.kron(a, a).sum()


MODELS: tuple[tuple[Callable[[Array], Array], tuple[int, ...]], ...] = (
    (heat_with_swapped_buffers, (9,)),
    (log_determinant_by_elimination, (4, 4)),
    (gaussian_process, (3,)),
    (bodies_under_gravity, (8,)),
    (kalman_filter, (2,)),
    (edges_of_an_image, (36,)),
    (order_statistics, (7,)),
    (segments, (6,)),
    (views_of_views, (6,)),
    (attention, (12,)),
    (spectrum, (8,)),
    (masked_pieces, (8,)),
    (nuclear_norm, (12,)),
    (contractions, (6,)),
)
