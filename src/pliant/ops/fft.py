"""Discrete Fourier transforms along the last axis."""

from __future__ import annotations

from typing import Any, final

from pliant.core.data import frozen
from pliant.core.ir import Namespace, Tangents, Value, const
from pliant.core.types import COMPLEX_OF, Type, real_dtype
from pliant.errors import DTypeError, ShapeError
from pliant.ops.base import Linear
from pliant.ops.shape import broadcast, concatenate, permute, slice_axis
from pliant.ops.update import pad

INVERSE = {"fft": "ifft", "ifft": "fft", "rfft": "irfft", "irfft": "rfft"}


@final
@frozen
class Fft(Linear):
    """The transform `kind` of `length` points, along the last axis; inverse ones divide by the length.

    fft, ifft: `c[…, n] → c[…, n]`; rfft: `f[…, n] → c[…, n//2 + 1]`, the half that determines the rest;
    irfft: the way back, which ignores the imaginary part of what must be real.
    """

    kind: str
    length: int

    def infer(self, x: Type) -> Type:
        if self.length < 1 or not x.shape or x.shape[-1] != self.points(self.kind == "irfft"):
            raise ShapeError(f"{self.kind} of {self.length} points does not fit {x}")
        if x.dtype not in (("f32", "f64") if self.kind == "rfft" else ("c64", "c128")):
            raise DTypeError(f"{self.kind} is not defined for {x}")
        dtype = {"rfft": COMPLEX_OF.get(x.dtype, ""), "irfft": real_dtype(x.dtype)}.get(self.kind, x.dtype)
        return Type(dtype, (*x.shape[:-1], self.points(self.kind == "rfft")))

    def points(self, half: bool) -> int:
        """Extent of the last axis; of the half that determines the rest, if `half`."""
        return self.length // 2 + 1 if half else self.length

    def array(self, xp: Namespace, x: Any) -> Any:
        return getattr(xp.fft, self.kind)(x, n=self.length)

    def torch(self, torch: Namespace, x: Any) -> Any:
        if x.numel():
            return self.array(torch, x)
        dtypes = {"rfft": x.dtype.to_complex, "irfft": x.dtype.to_real}
        shape = (*x.shape[:-1], self.points(self.kind == "rfft"))
        return torch.zeros(shape, dtype=dtypes[self.kind]() if self.kind in dtypes else x.dtype)

    def into(self, xp: Namespace, out: Any, x: Any) -> None:
        """The result, in an array that is given."""
        getattr(xp.fft, self.kind)(x, n=self.length, out=out)

    def transpose(self, ct: Value, x: Value | Type) -> Tangents:
        # The adjoint of a transform is its inverse without the division; what the half spectrum
        # leaves out counts twice.
        back = Fft(INVERSE[self.kind], self.length)
        if self.kind == "rfft":
            return (back(self.weighted(ct, 0.5)) * self.length,)
        if self.kind == "irfft":
            return (self.weighted(back(ct), 2.0) * (1 / self.length),)
        return (back(ct) * (self.length if self.kind == "fft" else 1 / self.length),)

    def weighted(self, x: Value, weight: float) -> Value:
        """A half spectrum with all but its real coefficients, the first and for even lengths the last, weighted."""
        h = x.shape[-1]
        last = int(self.length % 2 == 0 and self.length > 1)
        pieces = ((1.0, 1), (weight, h - 1 - last), (1.0, last))
        weights = tuple(broadcast(const(c, x.dtype), (n,), ()) for c, n in pieces if n)
        return x * broadcast(concatenate(weights, 0), x.shape, (x.type.rank - 1,))

    def batch(self, n: int, batched: tuple[bool, ...], x: Value) -> Value:
        return self(x)


def fft(x: Value, kind: str, *, length: int, axis: int) -> Value:
    """The transform `kind` of `length` points along `axis`, from as many elements as it needs: the
    axis is cut or filled up with zeros."""
    op = Fft(kind, length)
    n, rank = op.points(kind == "irfft"), x.type.rank
    x = slice_axis(x, axis, 0, min(n, x.shape[axis]))
    missing = tuple(n - x.shape[axis] if a == axis else 0 for a in range(rank))
    x = pad(x, (0,) * rank, missing) if any(missing) else x
    order = (*(a for a in range(rank) if a != axis), axis)
    back = (*range(axis), rank - 1, *range(axis, rank - 1))
    return permute(op(permute(x, order)), back)


RULES = ()
