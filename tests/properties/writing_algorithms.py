"""Programs that write as users do: loops of algorithms, containers and objects, masks, places of run time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.properties.writing_arrays import drawn, ramp, table


def loop_views(x: Any) -> Any:
    for row in x:
        row -= row.mean()
        row[0] = 1
    for i, col in enumerate(x.T):
        col *= i
    return x


def unpack_rows(x: Any) -> Any:
    a, b, c = x
    a += b
    b[:] = c
    c *= 0
    return a


def tree_write(t: Any) -> Any:
    t[0] -= 0.5
    t[1]["w"] *= 2
    t[1]["new"] = t[0][1:]
    t.append(t[0][:2])
    return t[0][::2]


def dict_rebind(d: Any) -> Any:
    d["a"] = d["a"] + 1
    d["b"] += 1
    c = d.pop("b")
    d["c"] = c[::-1]
    return c


def slice_assign_through_list(x: Any) -> Any:
    rows = [x[i] for i in range(4)]
    rows[0] += rows[1]
    rows[2][:] = rows[3][::-1]
    return rows


def dict_of_views(x: Any) -> Any:
    d = {"a": x[0], "b": x[:, 1]}
    d["a"] += 1
    d["b"] *= 2
    return d


def qr_inplace_loops(x: Any) -> Any:
    n = 5
    for k in range(n - 1):
        p = k + np.argmax(np.abs(x[k:, k]))
        x[[k, p]] = x[[p, k]]
        x[k + 1 :, k] /= np.where(x[k, k] == 0, 1, x[k, k])
        x[k + 1 :, k + 1 :] -= np.outer(x[k + 1 :, k], x[k, k + 1 :])
    return x


def bubble(x: Any) -> Any:
    n = x.shape[0]
    for i in range(n):
        for j in range(n - 1 - i):
            if x[j] > x[j + 1]:
                x[j], x[j + 1] = (x[j + 1], x[j])
    return x[0]


def game_of_life(x: Any) -> Any:
    g = (x > 0).astype(np.int64)
    for _ in range(3):
        n = sum(np.roll(np.roll(g, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1)) - g
        g[(n < 2) | (n > 3)] = 0
        g[n == 3] = 1
    x[...] = g
    return g


def stack_machine(x: Any) -> Any:
    top = 0
    s = np.zeros(8)
    for v in x:
        if v > 0:
            s[top] = v
            top += 1
        elif top > 0:
            top -= 1
            s[top] = 0
    x[:] = s
    return top


def histogram_loop(h: Any, i: Any) -> Any:
    for k in i:
        h[k] += 1
    h[i] *= 2
    return h[i[0]]


def traced_slices(x: Any, k: Any) -> Any:
    x[k:] += 1
    x[:k] *= 2
    x[k : k + 2] = x[k - 1 : k + 1]
    x[k] = x[-k]
    return x.sum()


def traced_view_write(x: Any, k: Any) -> Any:
    v = x[k : k + 4]
    v[::2] = -1
    w = x[k, ...]
    w[...] = 50
    return v.sum()


def traced_row_view(x: Any, k: Any) -> Any:
    r = x[k]
    r += 1
    x[k + 1] = r[::-1]
    c = x[:, k]
    c *= 2
    return (r, c)


def masks(x: Any, m: Any) -> Any:
    x[m] *= -1
    x[:, m] += 1
    x[m, 0] = 100
    x[~m] = x[~m] * 2
    x[m & (x[:, 0] > 3)] = 0
    return x[m].sum()


def scalars_copy(x: Any) -> Any:
    s = x[2]
    x[2] = 9
    t = x[3, ...]
    x[3] = 8
    u = x.max()
    x[:] = 0
    return (s, t, u)


def walrus_chain(x: Any) -> Any:
    a = b = x
    b += 1
    c = (d := x[1:]) + 0
    d *= 2
    a, b = (b[::-1], a[:2])
    a[0] = 7
    return (a, b, c, d)


def default_and_star(x: Any) -> Any:

    def g(y, *rest, z=None):
        y[0] = 5
        for r in rest:
            r += 1
        if z is not None:
            z[-1] = 99
        return y[::-1]

    return g(x[1:], x[2:4], x[::2], z=x)


def generator_and_comp(x: Any) -> Any:
    parts = [p for p in (x[:2], x[2:4], x[4:])]
    for p in parts:
        p *= 2
    [p.fill(i) for i, p in enumerate(parts) if i]
    return sum(parts)


def object_state(x: Any) -> Any:

    class C:
        pass

    c = C()
    c.v = x
    c.v[1:3] += 1
    c.w = c.v[::-1]
    c.w[0] = 9
    c.v = c.v * 2
    c.v[0] = -1
    return (c.v, c.w)


def while_shrink(x: Any) -> Any:
    n = x.shape[0]
    while n > 1:
        x[: n // 2] += x[n - n // 2 : n]
        n -= n // 2
    return x[0]


def fft_butterfly(x: Any) -> Any:
    n = 8
    h = 1
    while h < n:
        for i in range(0, n, 2 * h):
            a = x[i : i + h] + x[i + h : i + 2 * h]
            b = x[i : i + h] - x[i + h : i + 2 * h]
            x[i : i + h] = a
            x[i + h : i + 2 * h] = b
        h *= 2
    return x


def try_finally(x: Any) -> Any:
    try:
        x[0] = 5
        return x[1:]
    finally:
        x[1] = 7


def swap_args(x: Any, y: Any) -> Any:
    x[:], y[:] = (y.copy(), x.copy() + 10)
    x, y = (y, x)
    x[0] = -5
    return (x, y)


def triu_indices(x: Any) -> Any:
    x[np.triu_indices(3, 1)] = 0
    x[np.diag_indices(3)] += 5
    x[np.tril_indices(3, -1)] *= -1
    x[np.ix_([0, 2], [0, 2])] += 100
    return x


CASES: tuple[tuple[Callable[..., Any], Callable[[], list[Any]]], ...] = (
    (loop_views, lambda: [table(3, 3)]),
    (unpack_rows, lambda: [table(3, 3)]),
    (tree_write, lambda: [[ramp(4), {"w": ramp(3)}]]),
    (dict_rebind, lambda: [{"a": ramp(3), "b": ramp(3)}]),
    (slice_assign_through_list, lambda: [table(4, 4)]),
    (dict_of_views, lambda: [table(4, 4)]),
    (qr_inplace_loops, lambda: [drawn(5, 5)]),
    (bubble, lambda: [drawn(16)]),
    (game_of_life, lambda: [drawn(9, 9)]),
    (stack_machine, lambda: [drawn(8)]),
    (histogram_loop, lambda: [np.zeros(10), np.array([3, 1, 3, 9, 0])]),
    (traced_slices, lambda: [ramp(10), np.array(3)]),
    (traced_view_write, lambda: [ramp(10), np.array(3)]),
    (traced_row_view, lambda: [table(5, 5), np.array(2)]),
    (masks, lambda: [table(5, 5), np.array([True, False, True, True, False])]),
    (scalars_copy, lambda: [ramp(6)]),
    (walrus_chain, lambda: [ramp(6)]),
    (default_and_star, lambda: [ramp(6)]),
    (generator_and_comp, lambda: [ramp(6)]),
    (object_state, lambda: [ramp(6)]),
    (while_shrink, lambda: [ramp(6)]),
    (fft_butterfly, lambda: [table(8, 8)]),
    (try_finally, lambda: [ramp(10)]),
    (swap_args, lambda: [ramp(5), ramp(5)]),
    (triu_indices, lambda: [table(3, 3)]),
)
"""Programs, and what makes the arguments of each anew."""
