"""Programs that write by NumPy's methods and functions, and by `out=` that overlaps operands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.properties.writing_arrays import drawn, ramp, table


def sort_view(x: Any) -> Any:
    x[::2].sort()
    return x


def sort_rev(x: Any) -> Any:
    x[::-1].sort()
    return x[1:]


def sort_axis0(x: Any) -> Any:
    x.sort(axis=0)
    y = x.T
    y.sort(axis=0)
    return y


def sort_col(x: Any) -> Any:
    x[:, 1].sort()
    x[0].sort(kind="stable")
    return None


def partition(x: Any) -> Any:
    x.partition(2)
    return (x[2], np.sort(x[:2]), np.sort(x[3:]))


def np_partition_view(x: Any) -> Any:
    y = x[::-1]
    y.partition(3)
    return y[3]


def fill_view(x: Any) -> Any:
    x[2:5].fill(7)
    x[::3].fill(x[1])
    return x[::-1]


def fill_diag(x: Any) -> Any:
    np.fill_diagonal(x, 5)
    np.fill_diagonal(x[:2, 1:], [8, 9])
    return x


def fill_diag_wrap(x: Any) -> Any:
    np.fill_diagonal(x, -1, wrap=True)
    return x


def put_modes(x: Any) -> Any:
    x.put([0, -1, 3], [10, 20])
    np.put(x, [9, -9], 5, mode="wrap")
    np.put(x, [99, -99], 6, mode="clip")
    return x


def put_on_T(x: Any) -> Any:
    x.T.put([1, 2, 5], [100, 200, 300])
    np.put(x[:, ::2], [0, 3], -5)
    return x


def put_empty(x: Any) -> Any:
    np.put(x, [], [])
    np.put(x, [1], [])
    return x


def resize_method(x: Any) -> Any:
    y = x.copy()
    y.resize((2, 3))
    return y


def resize_grow(x: Any) -> Any:
    y = x.copy()
    y.resize(8, refcheck=False)
    y[0] = 9
    return y


def np_resize(x: Any) -> Any:
    y = np.resize(x, (3, 4))
    y[0, 0] = 9
    return y


def flat_iter(x: Any) -> Any:
    x.flat[3] = 9
    x.flat[::5] = [1, 2, 3]
    y = x.T.flat[2:7]
    y += 1
    x.T.flat = [1, 2, 3, 4, 5]
    return y


def flat_mask(x: Any) -> Any:
    x.flat[[0, 5, -1]] += 10
    x.flat[1:4] = x.flat[4:7]
    return (x.flat[:3].copy(), len(x.flat))


def flat_aug(x: Any) -> Any:
    x[:, 1:3].flat = x[:, 0]
    return x


def flat_loop(x: Any) -> Any:
    s = 0.0
    for v in x.T.flat:
        s = s * 2 + v
    for i in range(x.size):
        x.flat[i] = x.flat[i] + i
    return s


def overlap_offset_out(x: Any, y: Any) -> Any:
    np.add(x, 1, out=y[:6])
    np.multiply(y[:6], x, out=x)
    return (x, y)


def at_on_view(x: Any) -> Any:
    np.add.at(x[::-2], [0, 0, 1, 4], [1, 2, 3, 4])
    np.subtract.at(x[2:8].reshape(2, 3), ([0, 1, 0], [2, 0, 2]), 5.0)
    return x


def at_on_T(x: Any) -> Any:
    np.add.at(x.T, [1, 1, 2], x[:3])
    np.maximum.at(x[:, 1:3], (slice(None), [0, 0]), [[3.0, 20.0]])
    return x


def at_self(x: Any) -> Any:
    np.add.at(x, [0, 0, 1], x[1:])
    np.multiply.at(x, ([0, 1], [1, 2]), x[0, :2])
    return x


def at_traced_index(x: Any, i: Any) -> Any:
    np.add.at(x[::-1], i, x[i])
    x[i] += 1
    x[i, i] = -x[i, i]
    return x[i]


def out_alias_offset(x: Any) -> Any:
    np.add(x[:-2], x[2:], out=x[1:-1])
    np.subtract(x[::2], x[1::2], out=x[:5])
    np.multiply(x[:5], 2, out=x[::-1][:5])
    return x


def out_rev(x: Any) -> Any:
    np.negative(x, out=x[::-1])
    np.sqrt(np.abs(x), out=x)
    return x


def out_T(x: Any) -> Any:
    np.add(x, x.T, out=x.T)
    np.matmul(x, x.T, out=x)
    np.dot(x.copy(), x.copy(), out=x)
    return x


def out_reduce(x: Any) -> Any:
    np.sum(x, axis=1, out=x[0])
    np.max(x, axis=0, out=x[:, 1])
    np.mean(x, axis=0, out=x[2])
    return x


def out_where(x: Any) -> Any:
    np.add(x, 1, out=x, where=x > 5)
    np.sqrt(x, out=x[::-1], where=x[::-1] > 3)
    return x


def out_divmod(x: Any, y: Any) -> Any:
    np.divmod(x + 1, 3, out=(x, y))
    np.modf(y + 0.5, out=(y, x))
    return (x, y)


def out_frexp(x: Any) -> Any:
    m, e = np.frexp(x)
    x[:] = np.ldexp(m, e + 1)
    return (m, e)


def wrap_store(x: Any) -> Any:
    x[...] = np.array([300, -1, 256, 5, 6, 7])
    x[1] += np.uint8(255)
    return x


def bool_ops(x: Any) -> Any:
    x ^= True
    x[1:] |= x[:-1]
    x &= ~x[::-1]
    return x


def neg_out(x: Any, y: Any) -> Any:
    np.add(x, y, out=x)
    np.cumsum(y, out=x)
    np.multiply(x[:5], y[:5], out=x[5:])
    return x


def partition_manual(x: Any) -> Any:
    i = 0
    for j in range(x.shape[0]):
        if x[j] < 0:
            x[i], x[j] = (x[j], x[i])
            i += 1
    return i


def where_out(x: Any, y: Any) -> Any:
    np.copyto(x, y, where=x < y)
    np.maximum(x, y, out=y, where=[True, False] * 4)
    np.putmask(y, y > 3, x[::-1])
    np.place(x, x > 4, [1, 2, 3])
    return (x, y)


def take_out(x: Any) -> Any:
    np.take(x[0], [0, 0, 4], out=x[1, :3])
    x.take([1, 2], axis=1, out=x[:, 3:])
    np.choose([0, 1, 0, 1], [x[0, :4], x[1, :4]], out=x[2, :4])
    return x


def clip_round(x: Any) -> Any:
    x /= 3
    x.clip(1, 4, out=x)
    np.round(x, 1, out=x)
    x.round(0, out=x[::-1])
    np.floor(x / 2, out=x)
    return x


def linalg_out(x: Any) -> Any:
    np.matmul(x[:2], x[:, :2], out=x[2:, 2:])
    np.dot(x[:, :2].copy(), x[:2].copy(), out=x)
    np.outer(x[0], x[1], out=x)
    np.einsum("ij,jk->ik", x, x, out=x.T)
    return x


def concat_out(x: Any) -> Any:
    np.concatenate([x[0, :2], x[1, :2]], out=x[2])
    np.stack([x[0, :2], x[3, :2]], out=x[:2, 2:])
    return x


def int_pow_out(x: Any) -> Any:
    np.power(x, 2, out=x)
    x //= 3
    np.left_shift(x, 1, out=x[::-1])
    x %= np.array([3, 5, 7, 11])
    return x


def true_div_int(x: Any) -> Any:
    x /= 2
    return x


def mixed_dtype_out(x: Any) -> Any:
    o = np.zeros(6, np.float32)
    np.add(x, 0.5, out=o)
    np.add(x, 1, out=o, dtype=float, casting="unsafe")
    np.sqrt(x, out=x, casting="unsafe")
    return o


def empty_then_fill(x: Any) -> Any:
    y = np.empty_like(x)
    y[:] = x
    y[::2], y[1::2] = (0, 1)
    z = np.empty((2, 5))
    z[0] = x
    z[1] = y
    x[:] = z.sum(0)
    return z[1]


def zero_d_flat(x: Any) -> Any:
    x.flat[0] = 3
    z = x[None]
    z[0] += 1
    np.add.at(x, (), 2.0)
    return z


CASES: tuple[tuple[Callable[..., Any], Callable[[], list[Any]]], ...] = (
    (sort_view, lambda: [np.array([3.0, 1, 2, 9, 4, 5])]),
    (sort_rev, lambda: [np.array([3.0, 1, 2, 9, 4, 5])]),
    (sort_axis0, lambda: [np.array([[3.0, 1, 2], [9, 4, 5], [7, 0, 1]])]),
    (sort_col, lambda: [np.array([[3.0, 1, 2], [9, 4, 5], [7, 0, 1]])]),
    (partition, lambda: [np.array([3.0, 1, 2, 9, 4, 5])]),
    (np_partition_view, lambda: [np.array([3.0, 1, 2, 9, 4, 5])]),
    (fill_view, lambda: [ramp(10)]),
    (fill_diag, lambda: [table(3, 3)]),
    (fill_diag_wrap, lambda: [table(5, 3)]),
    (put_modes, lambda: [ramp(8)]),
    (put_on_T, lambda: [table(3, 4)]),
    (put_empty, lambda: [ramp(8)]),
    (resize_method, lambda: [ramp(6)]),
    (resize_grow, lambda: [ramp(6)]),
    (np_resize, lambda: [ramp(6)]),
    (flat_iter, lambda: [table(3, 4)]),
    (flat_mask, lambda: [table(3, 4)]),
    (flat_aug, lambda: [table(3, 4)]),
    (flat_loop, lambda: [table(3, 4)]),
    (overlap_offset_out, lambda: (lambda b: [b[:6], b[3:]])(ramp(12))),
    (at_on_view, lambda: [ramp(10)]),
    (at_on_T, lambda: [table(4, 4)]),
    (at_self, lambda: [table(4, 4)]),
    (at_traced_index, lambda: [table(4, 4), np.array([0, 2, 2])]),
    (out_alias_offset, lambda: [ramp(10)]),
    (out_rev, lambda: [ramp(10)]),
    (out_T, lambda: [table(4, 4)]),
    (out_reduce, lambda: [table(4, 4)]),
    (out_where, lambda: [table(4, 4)]),
    (out_divmod, lambda: [ramp(10), np.zeros(10)]),
    (out_frexp, lambda: [ramp(10)]),
    (wrap_store, lambda: [ramp(6, np.uint8)]),
    (bool_ops, lambda: [ramp(6, bool)]),
    (neg_out, lambda: [np.arange(20.0)[::-2], np.arange(10.0)]),
    (partition_manual, lambda: [drawn(12)]),
    (where_out, lambda: [ramp(8), ramp(8)[::-1].copy()]),
    (take_out, lambda: [table(4, 5)]),
    (clip_round, lambda: [table(4, 5)]),
    (linalg_out, lambda: [table(4, 4)]),
    (concat_out, lambda: [table(4, 4)]),
    (int_pow_out, lambda: [table(4, 4, int)]),
    (true_div_int, lambda: [ramp(6, np.int64)]),
    (mixed_dtype_out, lambda: [ramp(6, np.int64)]),
    (empty_then_fill, lambda: [ramp(5)]),
    (zero_d_flat, lambda: [np.array(5.0)]),
)
"""Programs, and what makes the arguments of each anew."""
