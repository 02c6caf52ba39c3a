"""More of them, as notebooks have them: networks and geometry by hand, optimisers that keep a history."""

# ruff: noqa: B007, B905
# pyright: basic

from __future__ import annotations

import functools
import operator

import numpy as np
from numpy import linalg as la

from tests.programs_courses.programs import PROGRAMS, RANDOM, prog

__all__ = ["PROGRAMS"]


@prog(RANDOM.normal(size=(4, 9)) * 0.3, RANDOM.normal(size=(3, 4)) * 0.3, RANDOM.normal(size=(12, 5)))
def recurrent_network_by_hand(w, v, xs):
    hs, ps = {}, {}
    hs[-1] = np.zeros(4)
    loss = 0.0
    for t, x in enumerate(xs):
        hs[t] = np.tanh(w @ np.concatenate([hs[t - 1], x]))
        logits = v @ hs[t]
        ps[t] = np.exp(logits) / np.sum(np.exp(logits))
        loss += -np.log(ps[t][t % 3])
    dv = np.zeros_like(v)
    for t in reversed(range(len(xs))):
        dy = np.copy(ps[t])
        dy[t % 3] -= 1
        dv += np.outer(dy, hs[t])
    return loss / len(xs), dv, hs[len(xs) - 1]


@prog(RANDOM.random((14, 2)))
def hull_by_monotone_chain(points):
    ordered = points[np.lexsort((points[:, 1], points[:, 0]))]

    def cross(o, a, b):
        return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])

    def half(some):
        h = []
        for p in some:
            while len(h) >= 2 and cross(h[-2], h[-1], p) <= 0:
                h.pop()
            h.append(p)
        return h

    hull = np.array(half(ordered)[:-1] + half(ordered[::-1])[:-1])
    x, y = hull.T
    return 0.5 * abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)), len(hull)


@prog(np.array([-3.0, -5.0, 0.1, 0.2]), np.array([[1.0, 1, 1, 0], [1, 3, 0, 1]]), np.array([4.0, 6.0]), grad=False)
def linear_program_by_interior_point(c, a, b):
    x, s, y = np.ones(4), np.ones(4), np.zeros(2)
    for k in range(30):
        rp, rd, mu = b - a @ x, c - a.T @ y - s, x @ s / 4
        if max(la.norm(rp), la.norm(rd), mu) < 1e-8:
            break
        rc = 0.1 * mu - x * s
        d = x / s
        dy = la.solve(a @ (d[:, None] * a.T), rp + a @ (d * rd - rc / s))
        ds = rd - a.T @ dy
        dx = (rc - x * ds) / s
        primal = min(1, 0.99 * min(-x[dx < 0] / dx[dx < 0], default=np.inf))
        dual = min(1, 0.99 * min(-s[ds < 0] / ds[ds < 0], default=np.inf))
        x, y, s = x + primal * dx, y + dual * dy, s + dual * ds
    return x, c @ x, k


@prog(np.array([0.5, -1.0, 0.3, 0.8]), RANDOM.normal(size=(4, 4)))
def descent_with_a_history(b, m):
    a = m @ m.T + np.eye(4)
    x, gaps = np.zeros(4), np.zeros(8)
    for t in range(8):
        r = b - a @ x
        gaps[t] = r @ r
        if gaps[t] < 1e-3:
            gaps = gaps[: t + 1]
            break
        x = x + gaps[t] / (r @ a @ r) * r
    return x, gaps[-1], gaps.sum()


@prog(RANDOM.random((7, 6)), grad=False)
def areas_by_flooding(image):
    mask = image > 0.4
    h, w = mask.shape
    labels, areas = np.zeros((h, w), dtype=np.int32), np.zeros(h * w, dtype=int)
    count = 0
    for i in range(h):
        for j in range(w):
            if mask[i, j] and labels[i, j] == 0:
                count += 1
                stack = [(i, j)]
                labels[i, j] = count
                while stack:
                    y, x = stack.pop()
                    areas[count] += 1
                    for dy, dx in ((0, 1), (1, 0), (0, -1), (-1, 0)):
                        r, c = y + dy, x + dx
                        if 0 <= r < h and 0 <= c < w and mask[r, c] and labels[r, c] == 0:
                            labels[r, c] = count
                            stack.append((r, c))
    return labels, count, areas.max()


class Rotation:
    def __init__(self, w, x, y, z):
        self.q = np.array([w, x, y, z])

    @classmethod
    def about(cls, axis, angle):
        return cls(np.cos(angle / 2), *(np.sin(angle / 2) * axis / la.norm(axis)))

    def __matmul__(self, other):
        (a, u), (b, v) = (self.q[0], self.q[1:]), (other.q[0], other.q[1:])
        return Rotation(a * b - u @ v, *(a * v + b * u + np.cross(u, v)))

    def of(self, v):
        u = 2 * np.cross(self.q[1:], v)
        return v + self.q[0] * u + np.cross(self.q[1:], u)


@prog(RANDOM.normal(size=(5, 3)), RANDOM.random(5), RANDOM.normal(size=3))
def chain_of_rotations(axes, angles, v):
    turned = functools.reduce(operator.matmul, [Rotation.about(a, t) for a, t in zip(axes, angles)])
    return turned.of(v), turned.q


@prog(np.array([1.0, 1, 2, 2, 2, 5, -1, -1]), grad=False)
def longest_run(x):
    ends = np.flatnonzero(np.diff(x)) + 1
    runs = np.diff(np.r_[0, ends, len(x)])
    return runs.max(), len(runs), x[np.r_[0, ends]].sum()
