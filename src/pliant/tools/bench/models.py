"""Statistical models: a hierarchical regression, and sums over all pairs of points."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from pliant.tools.bench.case import Array, Case

OBSERVATIONS: Final = 919
GROUPS: Final = 85


def zero_sum(xp: Any, x: Array) -> Array:
    """GROUPS numbers that sum to 0, from one free number less, by a map that keeps lengths."""
    mean = xp.sum(x) / (GROUPS**0.5 + GROUPS)
    last = mean - xp.sum(x) / GROUPS**0.5
    return xp.concatenate((x, xp.reshape(last, (1,)))) - mean


def normal_density(xp: Any, x: Array, spread: float | Array) -> Array:
    """Log-densities of numbers that are normal around 0, up to a constant."""
    return xp.sum(-0.5 * (x / spread) ** 2)


def hierarchical(xp: Any, w: Array, group: Array, floor: Array, y: Array) -> Array:
    """Log-density of a regression whose intercepts and slopes vary by group, not centred, as of radon in houses.

    w: intercept and slope, logarithms of three scales, and two times GROUPS - 1 free numbers.
    """
    free = GROUPS - 1
    scales = xp.exp(w[2:5])
    intercepts = w[0] + scales[0] * zero_sum(xp, w[5 : 5 + free])
    slopes = w[1] + scales[1] * zero_sum(xp, w[5 + free :])
    away = y - (intercepts[group] + slopes[group] * floor)
    likelihood = normal_density(xp, away, scales[2]) - OBSERVATIONS * w[4]
    groups = normal_density(xp, w[5:], 1.0)
    scale_priors = normal_density(xp, scales[:2], 1.0) - scales[2] + xp.sum(w[2:5])
    return likelihood + groups + scale_priors + normal_density(xp, w[0], 10.0) + normal_density(xp, w[1], 2.0)


def gaussian_sums(xp: Any, x: Array, y: Array, b: Array) -> Array:
    """Σ_j exp(-|x_i - y_j|²) b_j for each i."""
    return xp.exp(-xp.sum((x[:, None] - y[None]) ** 2, axis=-1)) @ b


def gaussian_sums_by_keops(keops: Any, x: Array, y: Array, b: Array) -> Array:
    """The same by KeOps."""
    far = ((keops.LazyTensor(x[:, None]) - keops.LazyTensor(y[None])) ** 2).sum(-1)
    return ((-far).exp() @ b[:, None])[:, 0]


def gaussian_energy(xp: Any, x: Array, y: Array, b: Array) -> Array:
    """The sum of all Gaussian sums."""
    return xp.sum(gaussian_sums(xp, x, y, b))


def cases(*, is_short: bool = False) -> Iterator[Case]:
    """Every model; the same numbers in every run."""
    rng = np.random.default_rng(2)
    group = np.sort(rng.integers(0, GROUPS, OBSERVATIONS))
    floor = (rng.random(OBSERVATIONS) < 0.2).astype(float)
    w = rng.standard_normal(2 * GROUPS + 3) / 4
    data = (w, group, floor, rng.standard_normal(OBSERVATIONS))
    own = {"pytensor": hierarchical}
    yield Case("models", "hierarchical", hierarchical, data, OBSERVATIONS, "gradient", own)
    n = 500 if is_short else 10_000
    x, y = (rng.standard_normal((n, 3)).astype("float32") for _ in range(2))
    b = rng.standard_normal(n).astype("float32")
    own = {"keops": gaussian_sums_by_keops, "torch": None}  # torch.compile needs gigabytes, and minutes
    yield Case("models", "gaussian_sums", gaussian_sums, (x, y, b), n, own=own)
    yield Case("models", "gaussian_sums", gaussian_energy, (x, y, b), n, "gradient", {"torch": None})
