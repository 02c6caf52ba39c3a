"""The objectives of ADBench, drawn at random in its sizes.

Source: Šrajer, Kukelova and Fitzgibbon, A benchmark of selected algorithmic differentiation tools, 2018.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from typing import Any, Final

import numpy as np

from pliant.tools.bench.case import Array, Case

Parameters = dict[str, Array]

BONES: Final = 22


def mixture(xp: Any, w: Parameters, x: Array, place: Array) -> Array:
    """Log-posterior of a mixture of Gaussians with full covariances, with a Wishart prior of γ = 1, m = 0.

    place: where the elements below the diagonal of a factor are among the numbers for them, as `below` says.
    """
    (n, d), k = x.shape, w["weight"].shape[0]
    diagonal, rest = xp.exp(w["factor"][:, :d]), w["factor"][:, d:]
    padded = xp.concatenate((rest, xp.zeros((k, 1), dtype=x.dtype)), axis=1)
    factors = padded[:, place] + diagonal[:, :, None] * xp.eye(d, dtype=x.dtype)
    away = x[:, None] - w["mean"]
    turned = xp.einsum("kij,nkj->nki", factors, away)
    log_det = xp.sum(w["factor"][:, :d], axis=1)
    terms = w["weight"] + log_det - 0.5 * xp.sum(turned * turned, axis=2)
    prior = 0.5 * (xp.sum(diagonal * diagonal) + xp.sum(rest * rest)) - (d + 1) * xp.sum(log_det)
    return xp.sum(log_sum_exp(xp, terms)) - n * xp.sum(log_sum_exp(xp, w["weight"][None])) - prior


def below(d: int) -> Array:
    """The number of each element below the diagonal, of a matrix of d rows; on it and above, how many there are."""
    place = np.full((d, d), d * (d - 1) // 2)
    place[np.tril_indices(d, -1)] = np.arange(d * (d - 1) // 2)
    return place


def log_sum_exp(xp: Any, x: Array) -> Array:
    """log Σ exp of rows."""
    top = xp.max(x, axis=1)
    return top + xp.log(xp.sum(xp.exp(x - top[:, None]), axis=1))


def cross(xp: Any, a: Array, b: Array) -> Array:
    """The cross product of two vectors."""
    return xp.stack((a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]))


def reprojection(xp: Any, camera: Array, point: Array, weight: Array, seen: Array) -> Array:
    """Where a camera sees a point less where it was seen, weighted, and the error of the weight.

    camera: rotation vector, centre, focal length, principal point, two coefficients of distortion.
    """
    away = point - camera[3:6]
    angle = xp.sqrt(xp.sum(camera[:3] * camera[:3]))
    axis = camera[:3] / angle
    turned = away * xp.cos(angle) + cross(xp, axis, away) * xp.sin(angle)
    turned = turned + axis * (xp.sum(axis * away) * (1 - xp.cos(angle)))
    plane = turned[:2] / turned[2]
    radius = xp.sum(plane * plane)
    image = plane * (1 + camera[9] * radius + camera[10] * radius * radius) * camera[6] + camera[7:9]
    return xp.concatenate((weight * (image - seen), xp.reshape(1 - weight * weight, (1,))))


def euler(xp: Any, angles: Array) -> list[list[Array]]:
    """Rotations by three angles each, as matrices of vectors."""
    (x, y, z), (cx, cy, cz) = xp.sin(angles).T, xp.cos(angles).T
    return [
        [cy * cz, -cx * z + x * y * cz, x * z + cx * y * cz],
        [cy * z, cx * cz + x * y * z, -x * cz + cx * y * z],
        [-y, x * cy, cx * cy],
    ]


def hand(xp: Any, theta: Array, bones: Parameters, base: Array, weights: Array, points: Array, place: Array) -> Array:
    """Points less the vertices of a hand that they belong to; the hand is posed by 26 numbers.

    bones: relative transforms [bone, 4, 4], inverse absolute ones. base: vertices [4, vertex].
    """
    parents, chosen = skeleton()
    padded = xp.concatenate((theta, xp.zeros(1, dtype=theta.dtype)))
    angles = padded[chosen]
    turns = xp.stack([xp.stack(row, -1) for row in euler(xp, angles)], -2)
    relative = xp.concatenate((bones["relative"][:, :, :3] @ turns, bones["relative"][:, :, 3:]), axis=2)
    absolute = list[Array]()
    for bone, parent in enumerate(parents):
        absolute.append(relative[bone] if parent < 0 else absolute[parent] @ relative[bone])
    transforms = xp.stack(absolute) @ bones["inverse"]
    moved = transforms[:, :3] @ base
    vertices = xp.sum(moved * weights[:, None, :], axis=0)
    return (turned_by(xp, theta[:3]) @ vertices + theta[3:6, None]).T[place] - points


def turned_by(xp: Any, turn: Array) -> Array:
    """The rotation matrix of a rotation vector."""
    angle = xp.sqrt(xp.sum(turn * turn))
    x, y, z = turn / angle
    c, s = xp.cos(angle), xp.sin(angle)
    rows = (
        (x * x + (1 - x * x) * c, x * y * (1 - c) - z * s, x * z * (1 - c) + y * s),
        (x * y * (1 - c) + z * s, y * y + (1 - y * y) * c, y * z * (1 - c) - x * s),
        (x * z * (1 - c) - y * s, z * y * (1 - c) + x * s, z * z + (1 - z * z) * c),
    )
    return xp.stack([xp.stack(row) for row in rows])


def skeleton() -> tuple[list[int], Any]:
    """The parent of each bone, and which parameters are its three angles; 26 stands for none."""
    parents, chosen = [-1, 0], np.full((BONES, 3), 26)
    for finger in range(5):
        for joint in range(4):
            bone = 2 + 4 * finger + joint
            parents.append(bone - 1 if joint else 1)
            if joint:
                chosen[bone, 0] = 6 + 4 * finger + joint + (joint > 1) - 1
        chosen[3 + 4 * finger, 1] = 7 + 4 * finger
    return parents, chosen


def characters(xp: Any, w: Parameters, state: Array, sequence: Array) -> Array:
    """Mean negative log-likelihood of a sequence by an LSTM whose layers act on each element alone."""
    total = 0.0
    for t in range(sequence.shape[0] - 1):
        state, predicted = step(xp, w, state, sequence[t])
        total = total + log_likelihood(xp, predicted, sequence[t + 1])
    return -total / (sequence.shape[0] - 1)


def characters_by_scan(library: str, xp: Any, w: Parameters, state: Array, sequence: Array) -> Array:
    """The same by the `scan` of a library."""

    def body(state: Array, pair: tuple[Array, Array]) -> tuple[Array, Array]:
        state, predicted = step(xp, w, state, pair[0])
        return state, log_likelihood(xp, predicted, pair[1])

    terms = import_module(library).scan(body, state, (sequence[:-1], sequence[1:]))[1]
    return -xp.sum(terms) / (sequence.shape[0] - 1)


def log_likelihood(xp: Any, predicted: Array, seen: Array) -> Array:
    """Of one character."""
    return xp.sum(seen * (predicted - xp.log(xp.sum(xp.exp(predicted)) + 2)))


def step(xp: Any, w: Parameters, state: Array, x: Array) -> tuple[Array, Array]:
    """The state after a character, and what is predicted to follow."""
    x = x * w["extra"][0]
    rows = list[Array]()
    for layer in range(state.shape[0] // 2):
        hidden, cell, b = state[2 * layer], state[2 * layer + 1], x.shape[0]
        weight, bias = w["main"][2 * layer].reshape(4, b), w["main"][2 * layer + 1].reshape(4, b)
        forget = sigmoid(xp, x * weight[0] + bias[0])
        take = sigmoid(xp, hidden * weight[1] + bias[1])
        give = sigmoid(xp, x * weight[2] + bias[2])
        cell = cell * forget + take * xp.tanh(hidden * weight[3] + bias[3])
        x = give * xp.tanh(cell)
        rows += [x, cell]
    return xp.stack(rows), x * w["extra"][1] + w["extra"][2]


def sigmoid(xp: Any, x: Array) -> Array:
    """The logistic function."""
    return 1 / (1 + xp.exp(-x))


def cases(*, is_short: bool = False) -> Iterator[Case]:
    """Every problem at its sizes; the same numbers in every run."""
    rng = np.random.default_rng(3)
    normal = rng.standard_normal
    for d, k, n in ((2, 5, 1000), (10, 25, 1000), (20, 50, 1000), (10, 25, 10_000))[: 1 if is_short else 4]:
        w = {"weight": normal(k), "mean": normal((k, d)), "factor": normal((k, d * (d + 1) // 2)) / 4}
        for kind in ("value", "gradient"):
            yield Case("adbench", f"mixture d={d} K={k}", mixture, (w, normal((n, d)), below(d)), n, kind)
    n = 100 if is_short else 31_843
    cameras = np.concatenate((normal((n, 6)) / 4, np.tile([500, 1, 1, 0.01, 0.001], (n, 1))), axis=1)
    points = normal((n, 3)) + np.array([0, 0, 8.0])
    yield Case("adbench", "bundles", reprojection, (cameras, points, normal(n), normal((n, 2))), n, "jacobian rows")
    relative = np.tile(np.eye(4), (BONES, 1, 1))
    relative[:, :3, 3] = normal((BONES, 3)) / 4
    bones = {"relative": relative, "inverse": np.linalg.inv(relative)}
    base = np.concatenate((normal((3, 544)), np.ones((1, 544))))
    weights = rng.random((BONES, 544)) / BONES
    hands = (normal(26) / 4, bones, base, weights, normal((100, 3)), rng.integers(0, 544, 100))
    for kind in ("value", "jacobian"):
        yield Case("adbench", "hand", hand, hands, 100, kind)
    b, layers, c = 14, 2, 32 if is_short else 1024
    w = {"main": normal((2 * layers, 4 * b)) / math.sqrt(b), "extra": normal((3, b))}
    words = np.eye(b)[rng.integers(0, b, c)]
    for kind in ("value", "gradient"):
        own = {
            "pliant": partial(characters_by_scan, "pliant"),
            "jax": partial(characters_by_scan, "jax.lax"),
            "torch": None,
        }
        yield Case("adbench", "lstm", characters, (w, normal((2 * layers, b)), words), c, kind, own)
