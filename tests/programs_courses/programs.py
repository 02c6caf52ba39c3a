"""Exercises of courses on scientific computing, as they are written there: nothing here is written for Pliant."""

# ruff: noqa: B007, B905, RET505, PERF401, PIE808
# pyright: basic

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

RANDOM = np.random.default_rng(0)
PROGRAMS: dict[str, tuple[Any, tuple[Any, ...], bool]] = {}
"""Each function with arguments, and whether it may be differentiated by the first one."""


def prog(*args: Any, grad: bool = True) -> Callable[[Any], Any]:
    """Add a program."""

    def add(f: Any) -> Any:
        PROGRAMS[f.__name__] = f, args, grad
        return f

    return add


@prog(np.array([60.0, 100.0, 120.0, 30.0, 44.0, 12.0]), np.array([1, 2, 3, 5, 2, 2]))
def knapsack_1d(values, weights):
    capacity = 10
    dp = np.zeros(capacity + 1)
    for v, w in zip(values, weights):
        for c in range(capacity, w - 1, -1):
            dp[c] = max(dp[c], dp[c - w] + v)
    return dp[capacity]


@prog(RANDOM.integers(0, 4, 12), RANDOM.integers(0, 4, 14), grad=False)
def edit_distance(a, b):
    m, n = len(a), len(b)
    d = np.zeros((m + 1, n + 1), dtype=int)
    d[:, 0] = np.arange(m + 1)
    d[0, :] = np.arange(n + 1)
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + cost)
    return d[m, n]


@prog(RANDOM.integers(0, 4, 12), RANDOM.integers(0, 4, 14), grad=False)
def lcs_lists(a, b):
    dp = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            if x == y:
                dp[i + 1][j + 1] = dp[i][j] + 1
            else:
                dp[i + 1][j + 1] = max(dp[i + 1][j], dp[i][j + 1])
    return dp[-1][-1]


@prog(RANDOM.integers(0, 4, 9), RANDOM.integers(0, 4, 7), grad=False)
def edit_two_rows(s, t):
    prev = list(range(len(t) + 1))
    for i, cs in enumerate(s):
        cur = [i + 1]
        for j, ct in enumerate(t):
            cur.append(min(cur[j] + 1, prev[j + 1] + 1, prev[j] + (cs != ct)))
        prev = cur
    return prev[-1]


@prog(RANDOM.normal(size=(30, 2)), RANDOM.normal(size=(3, 2)))
def kmeans(X, centers):
    centers = centers.copy()
    k = len(centers)
    for it in range(10):
        dist = np.linalg.norm(X[:, None] - centers[None], axis=2)
        labels = np.argmin(dist, axis=1)
        new = np.array([X[labels == j].mean(axis=0) for j in range(k)])
        if np.allclose(new, centers):
            break
        centers = new
    return centers


@prog(RANDOM.normal(size=(5, 5)))
def power_iteration(A):
    A = A @ A.T + 5 * np.eye(5)
    v = np.ones(A.shape[0])
    lam_old = 0
    for _ in range(200):
        w = A @ v
        v = w / np.linalg.norm(w)
        lam = v @ A @ v
        if abs(lam - lam_old) < 1e-12:
            break
        lam_old = lam
    return lam, v * np.sign(v[0])


@prog(RANDOM.normal(size=(5, 4)))
def householder_qr(A):
    m, n = A.shape
    R_ = A.copy()
    Q = np.eye(m)
    for k in range(n):
        x = R_[k:, k]
        e = np.zeros_like(x)
        e[0] = np.copysign(np.linalg.norm(x), x[0])
        v = x + e
        v = v / np.linalg.norm(v)
        R_[k:, k:] -= 2 * np.outer(v, v @ R_[k:, k:])
        Q[:, k:] -= 2 * np.outer(Q[:, k:] @ v, v)
    return Q, R_


@prog(RANDOM.normal(size=16))
def fft_recursive(x):
    def fft(x):
        n = len(x)
        if n == 1:
            return x
        even, odd = fft(x[::2]), fft(x[1::2])
        t = np.exp(-2j * np.pi * np.arange(n) / n)
        return np.concatenate([even + t[: n // 2] * odd, even + t[n // 2 :] * odd])

    X = fft(x.astype(complex))
    return np.abs(X) ** 2


@prog(np.eye(1, 31, 15, dtype=int)[0], grad=False)
def rule_30(cells):
    history = [cells]
    for _ in range(15):
        left, right = np.roll(cells, 1), np.roll(cells, -1)
        cells = left ^ (cells | right)
        history.append(cells)
    return np.array(history)


@prog(RANDOM.integers(0, 2, (8, 8)), grad=False)
def life_loops(grid):
    n, m = grid.shape
    for gen in range(5):
        new = np.zeros_like(grid)
        for i in range(n):
            for j in range(m):
                total = 0
                for di in (-1, 0, 1):
                    for dj in (-1, 0, 1):
                        if di == 0 and dj == 0:
                            continue
                        total += grid[(i + di) % n, (j + dj) % m]
                if grid[i, j] == 1 and (total < 2 or total > 3):
                    new[i, j] = 0
                elif grid[i, j] == 0 and total == 3:
                    new[i, j] = 1
                else:
                    new[i, j] = grid[i, j]
        grid = new
    return grid


@prog((RANDOM.random((6, 6)) < 0.5).astype(float))
def pagerank(links):
    n = links.shape[0]
    out = links.sum(axis=0)
    M = np.where(out > 0, links / np.where(out > 0, out, 1), 1 / n)
    d = 0.85
    r = np.ones(n) / n
    err, it = 1.0, 0
    while err > 1e-10 and it < 200:
        new = d * M @ r + (1 - d) / n
        err = np.abs(new - r).sum()
        r = new
        it += 1
    return r, it


@prog(RANDOM.integers(0, 12, (10, 2)), grad=False)
def union_find(edges):
    n = 12
    parent = list(range(n))

    def find(i):
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    components = n
    for a, b in edges:
        ra, rb = find(a), find(b)
        if ra != rb:
            parent[ra] = rb
            components -= 1
    return components


@prog(RANDOM.normal(size=60), grad=False)
def histogram_loop(x):
    lo, hi, n = -3.0, 3.0, 10
    counts = np.zeros(n, dtype=int)
    width = (hi - lo) / n
    for v in x:
        k = int((v - lo) // width)
        if 0 <= k < n:
            counts[k] += 1
    return counts


@prog(RANDOM.random((7, 7)) * 10)
def dijkstra(w):
    n = w.shape[0]
    dist = np.full(n, np.inf)
    dist[0] = 0
    visited = np.zeros(n, bool)
    for _ in range(n):
        u = -1
        best = np.inf
        for v in range(n):
            if not visited[v] and dist[v] < best:
                best = dist[v]
                u = v
        if u == -1:
            break
        visited[u] = True
        for v in range(n):
            if not visited[v]:
                alt = dist[u] + w[u, v]
                if alt < dist[v]:
                    dist[v] = alt
    return dist


class Layer:
    def __init__(self, W, b, act):
        self.W, self.b, self.act = W, b, act

    def __call__(self, x):
        z = x @ self.W + self.b
        if self.act == "relu":
            return np.maximum(z, 0)
        elif self.act == "tanh":
            return np.tanh(z)
        return z


class MLP:
    def __init__(self, layers):
        self.layers = layers

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


@prog(RANDOM.normal(size=(4, 3)), RANDOM.normal(size=(3, 5)), RANDOM.normal(size=(5, 2)))
def class_mlp(x, W1, W2):
    net = MLP([Layer(W1, np.zeros(5), "relu"), Layer(W2, np.ones(2), "tanh")])
    out = net.forward(x)
    return (out**2).mean()


@dataclass
class Particle:
    pos: np.ndarray
    vel: np.ndarray
    mass: float = 1.0

    def kinetic(self):
        return 0.5 * self.mass * (self.vel**2).sum()

    def move(self, dt, force):
        self.vel = self.vel + dt * force / self.mass
        self.pos = self.pos + dt * self.vel


@prog(RANDOM.normal(size=2), RANDOM.normal(size=2))
def dataclass_particle(p, v):
    q = Particle(p, v, 2.0)
    for _ in range(20):
        q.move(0.05, -q.pos)
    return q.pos, q.kinetic()


def make_counter():
    total = 0.0

    def add(v):
        nonlocal total
        total += v
        return total

    return add


@prog(RANDOM.normal(size=8))
def closure_counter(x):
    add = make_counter()
    out = []
    for v in x:
        out.append(add(v))
    return np.array(out)


@prog(RANDOM.normal(size=12))
def bubble_sort(x):
    a = x.copy()
    n = len(a)
    for i in range(n):
        swapped = False
        for j in range(0, n - i - 1):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
                swapped = True
        if not swapped:
            break
    return a


@prog(RANDOM.normal(size=12))
def insertion_sort(a):
    a = a.copy()
    for i in range(1, len(a)):
        key = a[i]
        j = i - 1
        while j >= 0 and a[j] > key:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = key
    return a


@prog(RANDOM.normal(size=(4, 4)) + 4 * np.eye(4), RANDOM.normal(size=4))
def gauss_pivot(A, b):
    A = A.copy()
    b = b.copy()
    n = len(b)
    for k in range(n):
        p = k + np.argmax(np.abs(A[k:, k]))
        if p != k:
            A[[k, p]] = A[[p, k]]
            b[k], b[p] = b[p], b[k]
        for i in range(k + 1, n):
            m = A[i, k] / A[k, k]
            A[i, k:] -= m * A[k, k:]
            b[i] -= m * b[k]
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - np.dot(A[i, i + 1 :], x[i + 1 :])) / A[i, i]
    return x


@prog(RANDOM.normal(size=(4, 4)) + 6 * np.eye(4), RANDOM.normal(size=4))
def conjugate_gradient(A, b):
    A = A @ A.T
    x = np.zeros_like(b)
    r = b - A @ x
    p = r.copy()
    rs = r @ r
    it = 0
    while np.sqrt(rs) > 1e-10 and it < 20:
        Ap = A @ p
        alpha = rs / (p @ Ap)
        x = x + alpha * p
        r = r - alpha * Ap
        rs_new = r @ r
        p = r + (rs_new / rs) * p
        rs = rs_new
        it += 1
    return x


State = namedtuple("State", "s i r")


@prog(np.array([0.99, 0.01, 0.0]), 0.3, 0.1)
def sir_namedtuple(y0, beta, gamma):
    st = State(*y0)
    peak = 0.0
    peak_day = -1
    for day in range(60):
        inf = beta * st.s * st.i
        rec = gamma * st.i
        st = State(st.s - inf, st.i + inf - rec, st.r + rec)
        if st.i > peak:
            peak, peak_day = st.i, day
    return peak, peak_day, np.array(st)


@prog(RANDOM.normal(size=20))
def running_stats(x):
    stats = {"n": 0, "mean": 0.0, "M2": 0.0}
    for v in x:
        stats["n"] += 1
        d = v - stats["mean"]
        stats["mean"] += d / stats["n"]
        stats["M2"] += d * (v - stats["mean"])
    return stats["mean"], stats["M2"] / (stats["n"] - 1)


@prog(RANDOM.normal(size=4), RANDOM.normal(size=(3, 4)))
def adam(x, data):
    m = np.zeros_like(x)
    v = np.zeros_like(x)
    b1, b2 = 0.9, 0.999
    for t in range(1, 21):
        g = sum(2 * (x - d) for d in data)
        m = b1 * m + (1 - b1) * g
        v = b2 * v + (1 - b2) * g**2
        x = x - 0.1 * (m / (1 - b1**t)) / (np.sqrt(v / (1 - b2**t)) + 1e-8)
    return x


@prog(np.linspace(-2, 0.5, 6), np.linspace(-1, 1, 5), grad=False)
def mandelbrot(xs, ys):
    out = np.zeros((len(ys), len(xs)), dtype=int)
    for i, y in enumerate(ys):
        for j, x in enumerate(xs):
            c = complex(x, y)
            z = 0
            n = 0
            while abs(z) <= 2 and n < 30:
                z = z * z + c
                n += 1
            out[i, j] = n
    return out


@prog(RANDOM.integers(1, 40, 5), grad=False)
def collatz(ns):
    longest = 0
    arg = 0
    for n in ns:
        steps = 0
        k = n
        while k != 1:
            k = k // 2 if k % 2 == 0 else 3 * k + 1
            steps += 1
        if steps > longest:
            longest, arg = steps, n
    return longest, arg


@prog(48, 36, grad=False)
def gcd_euclid(a, b):
    while b:
        a, b = b, a % b
    return a


@prog(RANDOM.normal(size=20), 3, grad=False)
def binary_search(x, k):
    a = np.sort(x)
    t = a[k]
    lo, hi = 0, len(a) - 1
    while lo <= hi:
        mid = (lo + hi) // 2
        if a[mid] == t:
            return mid
        if a[mid] < t:
            lo = mid + 1
        else:
            hi = mid - 1
    return -1


@prog(RANDOM.integers(0, 20, 15), grad=False)
def max_subarray(a):
    a = a - 10
    best = cur = a[0]
    start = s = end = 0
    for i in range(1, len(a)):
        if cur < 0:
            cur = a[i]
            s = i
        else:
            cur += a[i]
        if cur > best:
            best, start, end = cur, s, i
    return best, start, end


@prog(RANDOM.normal(size=8), RANDOM.normal(size=3))
def convolve_loops(x, k):
    out = np.zeros(len(x) + len(k) - 1)
    for i, a in enumerate(x):
        for j, b in enumerate(k):
            out[i + j] += a * b
    return out


@prog(RANDOM.random(5) * 5)
def tridiagonal(d):
    n = len(d)
    a, b, c = -np.ones(n - 1), 4 * np.ones(n), -np.ones(n - 1)
    cp, dp = [0] * n, [0] * n
    cp[0] = c[0] / b[0]
    dp[0] = d[0] / b[0]
    for i in range(1, n):
        den = b[i] - a[i - 1] * cp[i - 1]
        cp[i] = c[i] / den if i < n - 1 else 0
        dp[i] = (d[i] - a[i - 1] * dp[i - 1]) / den
    x = [0] * n
    x[-1] = dp[-1]
    for i in reversed(range(n - 1)):
        x[i] = dp[i] - cp[i] * x[i + 1]
    return np.array(x)


@prog(RANDOM.normal(size=(4, 3)), RANDOM.normal(size=(5, 3)), grad=False)
def knn_classify(train, query):
    labels = [0, 1, 1, 0]
    pred = []
    for q in query:
        d = [np.sqrt(((q - t) ** 2).sum()) for t in train]
        idx = np.argsort(d)[:3]
        votes = [labels[i] for i in idx]
        pred.append(1 if sum(votes) > 1 else 0)
    return np.array(pred)


@prog(RANDOM.normal(size=(5, 2)))
def polygon(p):
    area = 0.0
    n = len(p)
    for i in range(n):
        x1, y1 = p[i]
        x2, y2 = p[(i + 1) % n]
        area += x1 * y2 - x2 * y1
    return abs(area) / 2, sum(np.hypot(*(p[i] - p[i - 1])) for i in range(n))


@prog(RANDOM.random(6))
def lagrange(ys):
    xs = np.arange(6.0)

    def L(t):
        total = 0
        for i in range(len(xs)):
            term = ys[i]
            for j in range(len(xs)):
                if j != i:
                    term *= (t - xs[j]) / (xs[i] - xs[j])
            total += term
        return total

    return np.array([L(t) for t in np.linspace(0, 5, 7)])
