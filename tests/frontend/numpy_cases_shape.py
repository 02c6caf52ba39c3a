"""Calls to compare: functions that move, join and choose elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.frontend.numpy_cases import EMPTY, LINES, ODD, REALS, Calls, M, X, arrays, filled, pairs

CUBE = arrays(("f8", "i4", "bool"), (2, 3, 4))
SQUARE = arrays(("f8", "i4", "c16", "bool"), (4, 4))
ANY_RANK = [(filled(s, "f8"),) for s in ((), (3,), (2, 3), (2, 3, 4), (1, 3, 1), (0, 2))]
TWO = pairs(("f8", "i4", "c16", "bool"), (3, 4), (3, 4))
MIXED = [(filled((3, 4), "f4"), filled((3, 4), "i4")), (filled((3, 4), "i1"), filled((3, 4), "f2"))]


def written(view_of: Callable[[Any], Any], y: Any = 5) -> Callable[[Any], Any]:
    """What is in a view and in its base after the view was written."""

    def write(x: Any) -> Any:
        x = x.copy()
        part = view_of(x)
        part[...] = y
        return part, x

    return write


def changed(change: Callable[..., Any]) -> Callable[..., Any]:
    """What a function leaves in the copy of its first argument."""

    def run(x: Any, *others: Any) -> Any:
        x = x.copy()
        change(x, *others)
        return x

    return run


CASES: dict[Any, Calls] = {
    np.reshape: (
        X + EMPTY[:1],
        [
            lambda x: np.reshape(x, (-1,)),
            lambda x: np.reshape(x, (x.size, 1), order="F"),
            lambda x: x.reshape(1, -1, order="A"),
            lambda x: np.reshape(x.T, -1),
            lambda x: np.reshape(x, (5, 5)),
            lambda x: x.T.reshape(-1, order="F"),
            written(lambda x: x.reshape(-1)),
            written(lambda x: x.T.reshape(-1)),
            written(lambda x: x[:, 1:3].reshape(-1)),
            written(lambda x: x[1:].reshape(-1)),
            written(lambda x: x.reshape(-1, order="F")),
            written(lambda x: x[:, ::2].reshape(-1, 1, 2) if x.shape[1] == 4 else x),
            written(lambda x: x[::-1].reshape(-1)),
            written(lambda x: x.reshape(-1, copy=True)),
            lambda x: x.T.reshape(-1, copy=False),
            written(lambda x: x.T.reshape(-1, order="F")),
            written(lambda x: x.T.reshape(-1, order="A")),
        ],
    ),
    np.ravel: (
        X + EMPTY,
        [
            lambda x: np.ravel(x),
            lambda x: x.ravel("F"),
            written(lambda x: x.ravel()),
            written(lambda x: x.T.ravel()),
            written(lambda x: x.T.ravel("K")),
        ],
    ),
    np.transpose: (
        CUBE + X,
        [
            lambda x: np.transpose(x),
            lambda x: x.T,
            written(lambda x: x.transpose()),
            lambda x: np.transpose(x, (1, 0, 2)),
            lambda x: x.transpose(0, 2, 1),
            lambda x: x.transpose(-1, 0),
        ],
    ),
    np.matrix_transpose: (CUBE + X + LINES, [lambda x: np.matrix_transpose(x), lambda x: x.mT]),
    np.swapaxes: (
        CUBE,
        [lambda x: np.swapaxes(x, 0, -1), written(lambda x: x.swapaxes(1, 2)), lambda x: np.swapaxes(x, 0, 3)],
    ),
    np.moveaxis: (
        CUBE,
        [
            lambda x: np.moveaxis(x, 0, -1),
            lambda x: np.moveaxis(x, (0, 1), (2, 0)),
            lambda x: np.moveaxis(x, (0, 1), (2,)),
            written(lambda x: np.moveaxis(x, 2, 0)),
        ],
    ),
    np.rollaxis: (
        CUBE,
        [
            lambda x: np.rollaxis(x, 2),
            lambda x: np.rollaxis(x, 0, 2),
            lambda x: np.rollaxis(x, 1, 3),
            lambda x: np.rollaxis(x, 2, -1),
        ],
    ),
    np.squeeze: (
        [*ANY_RANK, (np.float64(2),)],
        [
            lambda x: x.T,
            lambda x: np.squeeze(x),
            lambda x: x.T,
            lambda x: np.squeeze(x[None]),
            lambda x: np.squeeze(x[None], 0),
            lambda x: x.squeeze(-1),
            written(lambda x: x[None].squeeze()),
        ],
    ),
    np.expand_dims: (
        ANY_RANK,
        [
            lambda x: np.expand_dims(x, 0),
            lambda x: np.expand_dims(x, (0, -1)),
            lambda x: np.expand_dims(x, 9),
            written(lambda x: np.expand_dims(x, -1)),
        ],
    ),
    np.atleast_1d: (ANY_RANK, [lambda x: np.atleast_1d(x), lambda x: np.atleast_1d(x, 3.0)]),
    np.atleast_2d: (ANY_RANK, [lambda x: np.atleast_2d(x), written(lambda x: np.atleast_2d(x))]),
    np.atleast_3d: (ANY_RANK, [lambda x: np.atleast_3d(x)]),
    np.broadcast_to: (
        X,
        [
            lambda x: np.broadcast_to(x, (2, 3, 4)),
            lambda x: np.broadcast_to(x[0], (3, 4)).sum(0),
            written(lambda x: np.broadcast_to(x, (2, 3, 4))),
            lambda x: np.broadcast_to(x, (4, 4)),
            lambda x: np.broadcast_to(x, (2, 3, 4)).reshape(-1),
        ],
    ),
    np.broadcast_arrays: (X, [lambda x: np.broadcast_arrays(x, x[0], 1.0), lambda x: np.broadcast_arrays(x[:2], x)]),
    np.flip: (
        CUBE,
        [
            lambda x: np.flip(x),
            lambda x: np.flip(x, 1),
            lambda x: np.flip(x, (0, 2)),
            written(lambda x: np.flip(x, 0)[1:], 3),
        ],
    ),
    np.fliplr: (X, [lambda x: np.fliplr(x), written(lambda x: np.fliplr(x)[:, 0])]),
    np.flipud: (X, [lambda x: np.flipud(x)]),
    np.rot90: (
        X + CUBE,
        [
            *[lambda x, k=k: np.rot90(x, k) for k in range(-1, 5)],
            lambda x: np.rot90(x, 1, (1, 0)),
            written(lambda x: np.rot90(x)[0]),
        ],
    ),
    np.diagonal: (
        X + CUBE,
        [
            lambda x: np.diagonal(x),
            lambda x: x.diagonal(1),
            lambda x: np.diagonal(x, -1),
            lambda x: np.diagonal(x, 0, -1, 0),
            lambda x: np.diagonal(x, 9),
            written(lambda x: np.diagonal(x)),
        ],
    ),
    np.trace: (X + CUBE, [lambda x: np.trace(x), lambda x: x.trace(1), lambda x: np.trace(x, dtype=float)]),
    np.unstack: (CUBE, [lambda x: np.unstack(x), lambda x: np.unstack(x, axis=-1)]),
    np.array_split: (
        X,
        [lambda x: np.array_split(x, 3, 1), lambda x: np.array_split(x, [1, 2]), lambda x: np.array_split(x, 5)],
    ),
    np.split: (
        X,
        [
            lambda x: np.split(x, 2, 1),
            lambda x: np.split(x, 2),
            lambda x: np.split(x, [1, 7, 2], axis=1),
            written(lambda x: np.split(x, [1])[1]),
        ],
    ),
    np.hsplit: (X + LINES, [lambda x: np.hsplit(x, [1, 3])]),
    np.vsplit: (X + LINES, [lambda x: np.vsplit(x, 3)]),
    np.dsplit: (CUBE + X, [lambda x: np.dsplit(x, 2)]),
    np.copy: (X, [lambda x: np.copy(x), written(lambda x: np.copy(x)), written(lambda x: x.copy())]),
    np.real: (M, [lambda x: np.real(x), lambda x: x.real, written(lambda x: x.real)]),
    np.imag: (M, [lambda x: np.imag(x), lambda x: x[0].imag]),
    np.concatenate: (
        TWO + MIXED,
        [
            lambda x, y: np.concatenate((x, y)),
            lambda x, y: np.concatenate([x, y, x], axis=-1),
            lambda x, y: np.concatenate((x, y), axis=None),
            lambda x, y: np.concatenate((x, y[:2]), 1),
            lambda x, y: np.concatenate((x, y), dtype=np.complex128),
            lambda x, y: np.concatenate((x[0], [1.5])),
            lambda x, y: np.concatenate(x),
        ],
    ),
    np.stack: (
        TWO + MIXED,
        [
            lambda x, y: np.stack((x, y)),
            lambda x, y: np.stack([x, y], axis=-1),
            lambda x, y: np.stack((x, y[0])),
            lambda x, y: np.stack([x[0, 0], 1.0]),
            lambda x, y: np.stack(x),
        ],
    ),
    np.vstack: (
        TWO,
        [lambda x, y: np.vstack((x, y)), lambda x, y: np.vstack((x[0], y)), lambda x, y: np.vstack([x[0, 0], 2])],
    ),
    np.hstack: (
        TWO,
        [lambda x, y: np.hstack((x, y)), lambda x, y: np.hstack((x[0], y[1])), lambda x, y: np.hstack([x[0, 0], 2])],
    ),
    np.dstack: (TWO, [lambda x, y: np.dstack((x, y)), lambda x, y: np.dstack((x[0], y[1]))]),
    np.column_stack: (TWO, [lambda x, y: np.column_stack((x, y)), lambda x, y: np.column_stack((x[0], y[1]))]),
    np.block: (
        TWO,
        [
            lambda x, y: np.block([[x, y], [y, x]]),
            lambda x, y: np.block([x[0], 1, y[0]]),
            lambda x, y: np.block(x),
            lambda x, y: np.block([[x], [y[:1]]]),
        ],
    ),
    np.append: (
        TWO + MIXED,
        [lambda x, y: np.append(x, y), lambda x, y: np.append(x, y, axis=0), lambda x, y: np.append(x, 1)],
    ),
    np.tile: (
        X,
        [
            lambda x: np.tile(x, 2),
            lambda x: np.tile(x, (2, 1, 3)),
            lambda x: np.tile(x[0, 0], 3),
            lambda x: np.tile(x, 0),
        ],
    ),
    np.repeat: (
        X,
        [
            lambda x: np.repeat(x, 2),
            lambda x: np.repeat(x, 3, axis=0),
            lambda x: x.repeat([1, 0, 2], 0),
            lambda x: np.repeat(x[0, 0], 2),
            lambda x: np.repeat(x, -1),
        ],
    ),
    np.roll: (
        X + EMPTY,
        [
            lambda x: np.roll(x, 1),
            lambda x: np.roll(x, -5, axis=1),
            lambda x: np.roll(x, (1, 2), (0, 1)),
            lambda x: np.roll(x, 1, (0, 1)),
            lambda x: np.roll(x, x.astype(int).sum() % 7, 0),
        ],
    ),
    np.resize: (X, [lambda x: np.resize(x, 5), lambda x: np.resize(x, (5, 5)), lambda x: np.resize(x, (0, 5))]),
    np.tril: (X + CUBE + LINES, [lambda x: np.tril(x), lambda x: np.tril(x, 1), lambda x: np.tril(x, -2)]),
    np.triu: (X + CUBE + LINES, [lambda x: np.triu(x), lambda x: np.triu(x, 1), lambda x: np.triu(x, -2)]),
    np.diag: (X + LINES, [lambda x: np.diag(x), lambda x: np.diag(x, 1), lambda x: np.diag(x, -2)]),
    np.diagflat: (X + LINES, [lambda x: np.diagflat(x), lambda x: np.diagflat(x, -1)]),
    np.meshgrid: (
        LINES,
        [
            lambda x: np.meshgrid(x, x[:2]),
            lambda x: np.meshgrid(x, x[:2], [1, 2, 3], indexing="ij"),
            lambda x: np.meshgrid(x, x[:2], sparse=True),
            lambda x: np.meshgrid(x, x[:2], copy=False),
            lambda x: np.meshgrid(x, x[:2], [1, 2], sparse=True, copy=False, indexing="ij"),
        ],
    ),
    np.ix_: ([(np.array([2, 0]), np.array([1, 1, 3]))], [lambda i, j: np.ix_(i, j), lambda i, j: np.ix_(i, j, [4])]),
    np.astype: (
        M,
        [
            lambda x: np.astype(x, np.float32),
            lambda x: np.astype(x, bool),
            lambda x: x.astype("i4"),
            lambda x: x.astype(complex),
        ],
    ),
    np.where: (
        TWO + MIXED,
        [
            lambda x, y: np.where(x > y, x, y),
            lambda x, y: np.where(x, x, 1.5),
            lambda x, y: np.where(x[0] > 0, x, 0),
            lambda x, y: np.where(True, x[0, 0], y[0, 0]),
            lambda x, y: np.where(x[0, 0] > 1, 1, 2),
        ],
    ),
    np.take: (
        X,
        [
            lambda x: np.take(x, 5),
            lambda x: np.take(x, [[0, 2], [-1, 1]], axis=1),
            lambda x: x.take([9, -9], mode="clip"),
            lambda x: x.take([13, -14], mode="wrap"),
            lambda x: np.take(x, 40),
            lambda x: np.take(x, 1, axis=0),
            lambda x: np.take(x, (x.real > 0).astype(int)),
            lambda x: np.take(x, np.argmax(x.real), mode="clip"),
        ],
    ),
    np.take_along_axis: (
        X,
        [
            lambda x: np.take_along_axis(x, np.argsort(x.real, 1, stable=True), 1),
            lambda x: np.take_along_axis(x, np.argmax(x.real, 0)[None], 0),
            lambda x: np.take_along_axis(x, np.argsort(x.real, None, stable=True), None),
            lambda x: np.take_along_axis(x, (x[:1] != 0).astype(int), 0),
        ],
    ),
    np.put_along_axis: (
        X,
        [
            changed(lambda x: np.put_along_axis(x, np.argmax(x.real, 1)[:, None], 7, 1)),
            changed(lambda x: np.put_along_axis(x, np.argsort(x.real, 0, stable=True), x * 2, 0)),
        ],
    ),
    np.choose: (
        TWO,
        [
            lambda x, y: np.choose((x != 0).astype(int), [x, y]),
            lambda x, y: np.choose([[0], [1], [0]], (x, 5)),
            lambda x, y: np.choose((y != 0).astype(int) * 7, [x, y, 3], mode="wrap"),
            lambda x, y: ((x != 0) * 1).choose([y, x]),
        ],
    ),
    np.select: (
        TWO + MIXED,
        [
            lambda x, y: np.select([x > 0, y > 0], [x, y]),
            lambda x, y: np.select([x[0] > 0, y > 0], [x, y * 1], 9),
            lambda x, y: np.select([x > 0], [x, y]),
        ],
    ),
    np.clip: (
        TWO + MIXED,
        [
            lambda x, y: np.clip(x, -1, 1),
            lambda x, y: np.clip(x, None, y),
            lambda x, y: x.clip(0),
            lambda x, y: x.clip(max=1),
            lambda x, y: np.clip(x, min=y[0], max=2),
        ],
    ),
    np.copyto: (
        TWO,
        [
            changed(lambda x, y: np.copyto(x, y)),
            changed(lambda x, y: np.copyto(x, y[0], where=x != 0)),
            changed(lambda x, y: np.copyto(x, 1j)),
            changed(lambda x, y: np.copyto(x, 1)),
        ],
    ),
    np.put: (
        X,
        [
            changed(lambda x: np.put(x, [0, 5, -1], [7, 8])),
            changed(lambda x: x.put([40, -50], 1, mode="wrap")),
            changed(lambda x: np.put(x.T, [1, 2], [5, 6])),
        ],
    ),
    np.putmask: (
        TWO,
        [changed(lambda x, y: np.putmask(x, x != 0, y)), changed(lambda x, y: np.putmask(x, y != 0, [1, 0, 2]))],
    ),
    np.place: (X, [changed(lambda x: np.place(x, x != 0, 5)), changed(lambda x: np.place(x, x == 0, [2]))]),
    np.fill_diagonal: (
        SQUARE + X + arrays(("f8",), (3, 3, 3), (7, 3)),
        [
            changed(lambda x: np.fill_diagonal(x, 5)),
            changed(lambda x: np.fill_diagonal(x, [1, 2, 3])),
            changed(lambda x: np.fill_diagonal(x, 1, wrap=True)),
        ],
    ),
    np.compress: (
        X,
        [
            lambda x: np.compress([True, False, True], x, axis=0),
            lambda x: x.compress([0, 1, 1]),
            lambda x: np.compress([False], x),
        ],
    ),
    np.extract: (X, [lambda x: np.extract([[True, False, True, True]] * 3, x)]),
    np.unravel_index: (
        [(np.array([5, 11, 0]),)],
        [
            lambda i: np.unravel_index(i, (3, 4)),
            lambda i: np.unravel_index(i, (3, 4), order="F"),
            lambda i: np.unravel_index(i[0], 12),
        ],
    ),
    np.ravel_multi_index: (
        [(np.array([2, 0]), np.array([3, 1]))],
        [
            lambda i, j: np.ravel_multi_index((i, j), (3, 4)),
            lambda i, j: np.ravel_multi_index((i, j), (3, 4), order="F"),
            lambda i, j: np.ravel_multi_index((i * 7, j * 2), (3, 4), mode="wrap"),
            lambda i, j: np.ravel_multi_index((i.astype(np.uint8), [40, 50]), (200, 200)),
            lambda i, j: np.ravel_multi_index((i[0], np.int8(3)), (200, 200), mode="clip"),
        ],
    ),
    np.pad: (
        X,
        [
            lambda x: np.pad(x, 1),
            lambda x: np.pad(x, ((1, 0), (2, 3)), constant_values=7),
            lambda x: np.pad(x, (1, 2), constant_values=((1, 2), (3, 4))),
            lambda x: np.pad(x, {-1: (1, 2)}),
            *[lambda x, m=m: np.pad(x, ((1, 2), (3, 0)), mode=m) for m in ("edge", "reflect", "symmetric", "wrap")],
            *[
                lambda x, m=m: np.pad(x, ((1, 2), (7, 0)), mode=m)
                for m in ("maximum", "minimum", "mean", "median", "linear_ramp")
            ],
            lambda x: np.pad(x, 2, mode="mean", stat_length=((1, 2), (9, 1))),
            lambda x: np.pad(x, 2, mode="maximum", stat_length=0),
            lambda x: np.pad(x, (3, 2), mode="linear_ramp", end_values=((1, 2), (-3, 4))),
            *[lambda x, m=m: np.pad(x, (9, 7), mode=m, reflect_type="odd") for m in ("reflect", "symmetric")],
            lambda x: np.pad(x, -1),
        ],
    ),
    np.delete: (
        X,
        [
            lambda x: np.delete(x, 3),
            lambda x: np.delete(x, [0, -1], axis=1),
            lambda x: np.delete(x, slice(None, None, 2), 0),
            lambda x: np.delete(x, 9, 0),
        ],
    ),
    np.insert: (
        X,
        [
            lambda x: np.insert(x, 1, 5),
            lambda x: np.insert(x, [1, 1, 3], [7, 8, 9]),
            lambda x: np.insert(x, 1, [1, 2, 3], axis=1),
            lambda x: np.insert(x, [0, 2], x[:, :2], axis=1),
            lambda x: np.insert(x, 2, x[:2], axis=0),
            lambda x: np.insert(x, [1], [[1], [2], [3]], axis=1),
        ],
    ),
    np.round: (
        M + ODD,
        [lambda x: np.round(x), lambda x: np.round(x, 1), lambda x: x.round(-1), lambda x: round(x[0, 0].real, 1)],
    ),
    np.around: (X, [lambda x: np.around(x * 1.5, 2)]),
    np.fix: (arrays(REALS, (3, 4)) + ODD, [lambda x: np.fix(x)]),
    np.angle: (M, [lambda x: np.angle(x), lambda x: np.angle(x, deg=True)]),
    np.isreal: (X, [lambda x: np.isreal(x)]),
    np.iscomplex: (X, [lambda x: np.iscomplex(x), lambda x: np.iscomplex(x[0, 0])]),
    np.isposinf: (ODD + LINES[:3], [lambda x: np.isposinf(x)]),
    np.isneginf: (ODD, [lambda x: np.isneginf(x)]),
    np.nan_to_num: (
        ODD + X + [(np.array([np.nan + 1j, complex(1, np.inf)]),)],
        [
            lambda x: np.nan_to_num(x),
            lambda x: np.nan_to_num(x, nan=3, posinf=7, neginf=-7),
            changed(lambda x: np.nan_to_num(x, copy=False)),
        ],
    ),
    np.isclose: (
        TWO + MIXED + [(o[0], o[0]) for o in ODD],
        [
            lambda x, y: np.isclose(x, y),
            lambda x, y: np.isclose(x, x * (1 + 1e-6)),
            lambda x, y: np.isclose(x, y, equal_nan=True, atol=0.8),
        ],
    ),
    np.allclose: (TWO, [lambda x, y: np.allclose(x, y), lambda x, y: np.allclose(x, x)]),
    np.array_equal: (
        TWO + [(o[0], o[0]) for o in ODD],
        [
            lambda x, y: np.array_equal(x, y),
            lambda x, y: np.array_equal(x, x[0]),
            lambda x, y: np.array_equal(x, x, equal_nan=True),
        ],
    ),
    np.array_equiv: (
        TWO,
        [
            lambda x, y: np.array_equiv(x, y),
            lambda x, y: np.array_equiv(x, x[0]),
            lambda x, y: np.array_equiv(x, x[:2]),
        ],
    ),
    np.sinc: (X, [lambda x: np.sinc(x), lambda x: np.sinc(x * 0.3)]),
    np.i0: (arrays(("f8",), (3, 4)), [lambda x: np.i0(x), lambda x: np.i0(x * 10), lambda x: np.i0(x * 0.01)]),
    np.real_if_close: (X[:2], [lambda x: np.real_if_close(x)]),
    np.piecewise: (
        X[:3],
        [
            lambda x: np.piecewise(x, [x > 0, x < -1], [lambda v: v * 2, 5]),
            lambda x: np.piecewise(x, [x > 0], [1, lambda v: -v]),
            lambda x: np.piecewise(x, x > 0, [1]),
        ],
    ),
    np.vander: (LINES, [lambda x: np.vander(x), lambda x: np.vander(x, 3, increasing=True), lambda x: np.vander(x, 0)]),
    np.zeros_like: (
        M,
        [
            lambda x: np.zeros_like(x),
            lambda x: np.zeros_like(x, dtype=int, shape=(2,)),
            written(lambda x: np.zeros_like(x), 3),
        ],
    ),
    np.ones_like: (M, [lambda x: np.ones_like(x), lambda x: np.ones_like(x[0, 0])]),
    np.empty_like: (X, [lambda x: np.empty_like(x) * 0 if x.dtype.kind == "i" else np.zeros_like(x)]),
    np.full_like: (
        M,
        [
            lambda x: np.full_like(x, 1),
            lambda x: np.full_like(x, x[0, 0] * 2, shape=3),
            lambda x: np.full_like(x, 2.5, dtype="f4"),
        ],
    ),
    np.shape: (X, [lambda x: np.shape(x)]),
    np.ndim: (X, [lambda x: np.ndim(x)]),
    np.size: (X, [lambda x: np.size(x), lambda x: np.size(x, 1)]),
    np.result_type: (M, [lambda x: np.result_type(x, 1.0).name, lambda x: np.result_type(x, np.float32).name]),
    np.common_type: (X, [lambda x: np.common_type(x).__name__]),
    np.can_cast: (X, [lambda x: np.can_cast(x.dtype, np.float32)]),
    np.min_scalar_type: (X, [lambda x: np.min_scalar_type(x).name]),
    np.iscomplexobj: (X, [lambda x: np.iscomplexobj(x)]),
    np.isrealobj: (X, [lambda x: np.isrealobj(x)]),
    np.may_share_memory: (X, [lambda x: np.may_share_memory(x, x.T), lambda x: np.may_share_memory(x, x * 2)]),
    np.shares_memory: (
        X,
        [
            lambda x: np.shares_memory(x, x[0]),
            lambda x: np.shares_memory(x, x.copy()),
            lambda x: np.shares_memory(x[:, ::2], x.T[1::2]),
            lambda x: np.shares_memory(x[:, :0], x),
        ],
    ),
    np.tril_indices_from: (
        X,
        [lambda x: np.tril_indices_from(x), lambda x: np.tril_indices_from(x, 1), lambda x: x[np.tril_indices_from(x)]],
    ),
    np.triu_indices_from: (X, [lambda x: np.triu_indices_from(x, k=-1)]),
    np.diag_indices_from: (SQUARE, [lambda x: x[np.diag_indices_from(x)]]),
    np.einsum_path: (X, [lambda x: np.einsum_path("ij,ij->i", x, x)[1]]),
    np.linspace: (
        [(np.float64(1.5), np.float64(4.0)), *pairs(("u1", "f4", "i4"), (3,), (3,))],
        [
            lambda a, b: np.linspace(a, b),
            lambda a, b: np.linspace(a, b, 5, endpoint=False),
            lambda a, b: np.linspace(a, b, 4, retstep=True),
            lambda a, b: np.linspace(a, b, 6, axis=-1, dtype=int),
        ],
    ),
    np.logspace: (
        [(np.float64(0.5), np.float64(2.0))],
        [lambda a, b: np.logspace(a, b, 7), lambda a, b: np.logspace(a, b, 4, base=2)],
    ),
    np.geomspace: (
        [
            (np.float64(0.5), np.float64(2.0)),
            (np.float32(-1.5), np.float32(-8.0)),
            (filled((2,), "f8") + 9, 3.0),
            (2, 9),
        ],
        [
            lambda a, b: np.geomspace(a, b, 7),
            lambda a, b: np.geomspace(a, b, 4)[-1] == b,
            lambda a, b: np.geomspace(a, b, 3, endpoint=False, axis=-1),
            lambda a, b: np.geomspace(a, b + 1j, 4),
            lambda a, b: (np.geomspace(a, b, 1), np.geomspace(a, b, 0)),
        ],
    ),
    np.apply_along_axis: (
        X,
        [
            lambda x: np.apply_along_axis(lambda v: v.sum(), 0, x),
            lambda x: np.apply_along_axis(lambda v: v[:2] * 2, 1, x),
            lambda x: np.apply_along_axis(lambda v: v[:2], 0, x),
        ],
    ),
    np.apply_over_axes: (X, [lambda x: np.apply_over_axes(np.sum, x, (0, 1))]),
}
"""NumPy function → arguments, and calls that are made with each of them."""
