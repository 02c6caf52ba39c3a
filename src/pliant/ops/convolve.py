"""Discrete convolution of sequences."""

from __future__ import annotations

from typing import Any, final

from pliant.core.ir import Namespace, Op, Tangents, Value, Values
from pliant.core.types import Type
from pliant.errors import DTypeError, ShapeError
from pliant.ops.base import sum_of
from pliant.ops.complex import conj
from pliant.ops.shape import flip, lift, slice_axis


@final
class Convolve(Op):
    """`z[k] = Σ x[i]·y[k - i]` along the last axis; leading axes are a batch.

    `t[…, m], t[…, n] → t[…, m + n - 1]`, m and n at least 1.
    """

    multilinear = True

    def infer(self, x: Type, y: Type) -> Type:
        if x.dtype != y.dtype:
            raise DTypeError(f"convolve: {x} and {y} have different dtypes")
        if not x.shape or x.shape[:-1] != y.shape[:-1]:
            raise ShapeError(f"convolve: {x} and {y} do not have the same leading axes")
        if not x.shape[-1] or not y.shape[-1]:
            raise ShapeError(f"convolve: {x} and {y}: an empty sequence has no convolution")
        return x.with_shape((*x.shape[:-1], x.shape[-1] + y.shape[-1] - 1))

    def numpy(self, np: Namespace, x: Any, y: Any) -> Any:
        if x.ndim == 1:
            return np.convolve(x, y)
        rows = [np.convolve(p, q) for p, q in zip(x.reshape(-1, x.shape[-1]), y.reshape(-1, y.shape[-1]), strict=True)]
        shape = (*x.shape[:-1], x.shape[-1] + y.shape[-1] - 1)
        return np.reshape(np.stack(rows), shape) if rows else np.empty(shape, x.dtype)

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        (x, y), (dx, dy) = xs, dxs
        z = self(x, y)
        terms = [self(dx, y)] if dx is not None else []
        terms += [self(x, dy)] if dy is not None else []
        return (z,), (sum_of(terms) if terms and z.type.is_float else None,)

    def transpose(self, ct: Value, x: Value | Type, y: Value | Type) -> Tangents:
        if isinstance(x, Type):
            assert isinstance(y, Value)
            return correlate(ct, y, mode="valid"), None
        return None, correlate(ct, x, mode="valid")

    def batch(self, n: int, batched: tuple[bool, ...], x: Value, y: Value) -> Value:
        return self(*(v if b else lift(v, n) for v, b in zip((x, y), batched, strict=True)))


def convolve(x: Value, y: Value, *, mode: str = "full") -> Value:
    """The convolution; of the longer one's extent if mode is "same", without the borders if "valid"."""
    short = min(x.shape[-1], y.shape[-1])
    return _cut(Convolve()(x, y), x, y, mode, (short - 1) // 2)


def correlate(x: Value, y: Value, *, mode: str = "valid") -> Value:
    """`z[k] = Σ x[i + k]·conj(y[i])`, as NumPy's: the convolution with y reversed and conjugated."""
    m, n = x.shape[-1], y.shape[-1]
    return _cut(Convolve()(x, flip(conj(y), (y.type.rank - 1,))), x, y, mode, (n - 1) // 2 if m >= n else m // 2)


def _cut(full: Value, x: Value, y: Value, mode: str, middle: int) -> Value:
    """The part of a full convolution that `mode` asks for; "same" starts at `middle`."""
    short, long = sorted((x.shape[-1], y.shape[-1]))
    starts = {"full": (0, full.shape[-1]), "same": (middle, long), "valid": (short - 1, long - short + 1)}
    return slice_axis(full, full.type.rank - 1, *starts[mode])


RULES = ()
