"""Programs that write through views of views, other dtypes, other layouts, and arguments that overlap."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.properties.writing_arrays import ramp, table


def neg_view_of_view(x: Any) -> Any:
    y = x[::-1]
    z = y[1:9:2]
    w = z[::-1]
    w[0] = 100
    w[1:] += z[:-1]
    return (y, z, w)


def neg_offset(x: Any) -> Any:
    y = x[-2:2:-3]
    y -= x[: y.shape[0]]
    return y


def both_neg(x: Any) -> Any:
    y = x[::-1, ::-1]
    y[1:] = y[:-1]
    x += y
    return y


def neg_T(x: Any) -> Any:
    y = x[::-1].T[::-2]
    y *= 2
    y[0] = x[:, 0]
    return y


def inplace_transpose(x: Any) -> Any:
    x.T[1:] += x[:-1]
    x.T[0] = x[0]
    return x.T


def aug_T_of_slice(x: Any) -> Any:
    y = x[1:3, 1:3]
    y.T[:] += y
    y += y.T[::-1]
    return y


def swapaxes_writes(x: Any) -> Any:
    y = x.swapaxes(0, 2)
    y[0] = -1
    z = np.moveaxis(x, 0, -1)
    z[..., 1] *= 3
    return (y, z)


def rollaxis(x: Any) -> Any:
    y = np.rollaxis(x, 2)
    y[1:] += y[:-1]
    return y


def overlap_rev(x: Any, y: Any) -> Any:
    x += y
    y -= x[0]
    return (x * 1, y)


def overlap_three(x: Any, y: Any, z: Any) -> Any:
    z += 1
    x[2] = z
    y[0] *= 2
    return (x @ y, z)


def interleaved_args(x: Any, y: Any) -> Any:
    x += y
    y[...] = x[::-1]
    return x - y


def interleaved_and_whole(x: Any, y: Any, b: Any) -> Any:
    x[:] = y
    b[1:] = b[:-1]
    y *= 2
    return x.sum() + y.sum()


def dtype_view(x: Any) -> Any:
    y = x.view(np.int32)
    y[::2] += 5
    z = x.view(np.uint8).reshape(8, 8)
    z[:, 1] = 1
    return (y, z, x.view(np.float64))


def dtype_view_wider(x: Any) -> Any:
    y = x.view(np.uint64)
    y[0] = 0
    y >>= np.uint64(1)
    return y


def complex_parts(x: Any) -> Any:
    x.real += 1
    x.imag[1:] = x.real[:-1]
    x.T.imag *= 2
    y = x[::-1].imag
    y[0] = 9
    return (y, x.real)


def complex_view(x: Any) -> Any:
    y = x.view(np.float64)
    y[:, 1::2] = y[:, ::2]
    z = y.reshape(3, 4, 2)[..., 1]
    z -= 1
    return (z, y)


def cast_inplace(x: Any) -> Any:
    x += np.int8(3)
    x *= True
    x //= 2
    x **= 2
    x %= 7
    x <<= 1
    x ^= 3
    x |= 8
    x &= 13
    return x


def f32_store(x: Any) -> Any:
    x[:] = np.linspace(0, 1, 6) * np.pi
    x[1] = 1e300
    x += np.float64(1e-09)
    return x


def tuple_swap(x: Any) -> Any:
    x[0], x[1:3], x[4] = (x[4], x[:2], x[0])
    (a, b), c = (x[:2], x[3])
    return (a, b, c)


def swap_rows_views(x: Any) -> Any:
    a = x[0]
    b = x[1]
    a[:], b[:] = (b, a.copy())
    x[[0, 2]] = x[[2, 0]]
    return (a, b)


def split_views(x: Any) -> Any:
    a, b = np.split(x, 2, axis=1)
    a += b
    c, d = np.vsplit(x, 2)
    c[:] = d
    return (a, b, c)


def as_strided_like(x: Any) -> Any:
    w = np.lib.stride_tricks.sliding_window_view(x, 3)
    x[3] = 100
    return (w.sum(axis=1), w)


def expand_squeeze(x: Any) -> Any:
    y = np.expand_dims(x, (0, 2))
    y[0, 1:3, 0] = 7
    z = np.squeeze(y)
    z[-1] = 3
    return (z, np.atleast_2d(x))


def atleast(x: Any) -> Any:
    y = np.atleast_3d(x[2:5])
    y += 1
    z = np.atleast_1d(x[0])
    z += 5
    return (y, z)


def broadcast_arrays(x: Any) -> Any:
    a, b = np.broadcast_arrays(x[0], x)
    x += 1
    return (a, b)


def diag_ro(x: Any) -> Any:
    d = np.diagonal(x)
    x += 1
    return (d, np.diag(x), x.diagonal(1))


def diag_write(x: Any) -> Any:
    d = x.diagonal()
    d[0] = 1
    return d


def einsum_view(x: Any) -> Any:
    d = np.einsum("ii->i", x)
    d *= -1
    t = np.einsum("ij->ji", x)
    t[0] += 5
    return (d, t)


def asarray_is_view(x: Any) -> Any:
    y = np.asarray(x)
    y[0] = 0
    z = np.asarray(x, dtype=float)
    z[1] = 1
    w = np.array(x)
    w[:] = 9
    return (y, z, w)


def ascontig(x: Any) -> Any:
    y = np.ascontiguousarray(x)
    y[0] = 5
    z = np.ascontiguousarray(x.T)
    z[0] = 7
    w = np.asfortranarray(x)
    w[1] = 8
    return (y, z, w)


def astype_nocopy(x: Any) -> Any:
    y = x.astype(float, copy=False)
    y[0] = 5
    z = x.astype(np.float32, copy=False)
    z[:] = 1
    return (y, z)


def ravel_orders(x: Any) -> Any:
    a = x.ravel()
    a[0] = -1
    b = x.T.ravel(order="F")
    b[1] = -2
    c = x.ravel(order="F")
    c[2] = -3
    d = x[::-1].ravel()
    d[3] = -4
    return (a, b, c, d)


def f_order_arg(x: Any) -> Any:
    a = x.ravel()
    a[0] = -1
    b = x.reshape(-1, order="F")
    b[1] = -2
    c = x.T.reshape(2, 6)
    c[0, 2] = -3
    x.sort(axis=0)
    return (a, b, c)


def f_and_c_mixed(x: Any, y: Any) -> Any:
    z = x + y
    w = z.reshape(-1)
    w[0] = 5
    u = np.zeros_like(x)
    v = u.ravel()
    v[1] = 3
    x[...] = y
    y.T[...] = x.T * 2
    return (z, w, u, v)


def neg_arg(x: Any) -> Any:
    a = x.reshape(-1)
    a[0] = 9
    x[0] = x[1]
    x += x[:, ::-1]
    return a


def strided_arg(x: Any) -> Any:
    x[1:] -= x[:-1]
    y = x.T.copy()
    y[0] = 1
    x.T[:] = y
    return x[::-1]


def field_view(x: Any) -> Any:
    x[1:] = 3
    x[:, 0] += np.arange(4)
    return x.T


def matmul_aug(x: Any) -> Any:
    x @= x.T
    x @= np.eye(4)[::-1]
    return x


def rot(x: Any) -> Any:
    y = np.rot90(x)
    y[0] = -1
    z = np.flipud(x)
    z[0, 0] = -2
    w = np.fliplr(x)
    w[2] = -3
    v = np.flip(x)
    v[1, 1] = 50
    return (y, z, w, v)


def conj_inplace(x: Any) -> Any:
    np.conjugate(x, out=x)
    x *= 1j
    x.real[:] = x.imag
    x[0] = 1 + 2j
    x.imag = 0
    x.real *= x.real
    return x.real[::2]


def zero_d(x: Any, i: Any) -> Any:
    x += 1
    x[...] = x * 2
    x[()] = x - 1
    y = x.reshape(1)
    y += 3
    x.fill(x + i)
    return (y, x[()])


CASES: tuple[tuple[Callable[..., Any], Callable[[], list[Any]]], ...] = (
    (neg_view_of_view, (lambda: [ramp(12)])),
    (neg_offset, (lambda: [ramp(12)])),
    (both_neg, (lambda: [table(4, 5)])),
    (neg_T, (lambda: [table(4, 5)])),
    (inplace_transpose, (lambda: [table(4, 4)])),
    (aug_T_of_slice, (lambda: [table(4, 4)])),
    (swapaxes_writes, lambda: [np.arange(24.0).reshape(2, 3, 4)]),
    (rollaxis, lambda: [np.arange(24.0).reshape(2, 3, 4)]),
    (overlap_rev, lambda: (lambda b: [b, b[::-1]])(ramp(9))),
    (overlap_three, lambda: (lambda b: [b, b.T, b[1]])(table(4, 4))),
    (interleaved_args, lambda: (lambda b: [b[:, ::2], b[:, 1::2]])(table(3, 6))),
    (interleaved_and_whole, lambda: (lambda b: [b[::2], b[1::2], b])(ramp(10))),
    (dtype_view, lambda: [np.arange(8, dtype=np.int64)]),
    (dtype_view_wider, lambda: [np.arange(8, dtype=np.float32)]),
    (complex_parts, lambda: [table(3, 4, np.complex128)]),
    (complex_view, lambda: [table(3, 4, np.complex128)]),
    (cast_inplace, lambda: [ramp(6, np.int32)]),
    (f32_store, lambda: [ramp(6, np.float32)]),
    (tuple_swap, lambda: [ramp(5)]),
    (swap_rows_views, lambda: [table(3, 3)]),
    (split_views, lambda: [table(4, 6)]),
    (as_strided_like, lambda: [ramp(12)]),
    (expand_squeeze, lambda: [ramp(12)]),
    (atleast, lambda: [ramp(12)]),
    (broadcast_arrays, lambda: [table(3, 4)]),
    (diag_ro, lambda: [table(3, 4)]),
    (diag_write, lambda: [table(3, 4)]),
    (einsum_view, lambda: [table(4, 4)]),
    (asarray_is_view, lambda: [table(3, 4)]),
    (ascontig, lambda: [table(3, 4)]),
    (astype_nocopy, lambda: [table(3, 4)]),
    (ravel_orders, lambda: [table(3, 4)]),
    (f_order_arg, lambda: [np.asfortranarray(table(3, 4))]),
    (f_and_c_mixed, lambda: [np.asfortranarray(table(3, 4)), table(3, 4)]),
    (neg_arg, lambda: [table(3, 4)[:, ::-1]]),
    (strided_arg, lambda: [table(6, 8)[::2, 1::3]]),
    (field_view, lambda: [np.zeros((4,), [("a", "f8"), ("b", "f8", (2,))])["b"]]),
    (matmul_aug, lambda: [table(4, 4)]),
    (rot, lambda: [table(3, 3)]),
    (conj_inplace, lambda: [ramp(5, np.complex64)]),
    (zero_d, lambda: [np.array(5.0), np.array(2)]),
)
"""Programs, and what makes the arguments of each anew."""
