"""Families: what primitives of one kind have in common."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

from pliant.core.ir import Const, Namespace, Number, Op, Tangents, Value, Values, const
from pliant.core.types import Type, real_dtype
from pliant.errors import DTypeError, ShapeError
from pliant.transforms.jvp import instantiate

KINDS = {"b": "bool", "i": "int", "u": "unsigned int", "f": "float", "c": "complex"}


class Elementwise(Op):
    """Acts on each element. Operands share one dtype and one shape; rank-0 operands fit any shape.

    `domain` lists the dtype kinds it takes, `makes` says what it returns: the operands' dtype,
    `bool`, or the real dtype of a complex one. `ufunc` is NumPy's name where it differs.
    """

    domain: ClassVar[str] = "fc"
    makes: ClassVar[str] = "same"  # "same", "bool" or "real"
    ufunc: ClassVar[str] = ""

    def infer(self, *xs: Type) -> Type:
        dtype, shape = xs[0].dtype, xs[0].shape
        for x in xs[1:]:
            if x.dtype != dtype:
                raise DTypeError(f"{self.name}: {' and '.join(map(str, xs))} have different dtypes")
            if x.shape != shape and x.shape:
                if shape:
                    raise ShapeError(f"{self.name}: {' and '.join(map(str, xs))} do not fit together")
                shape = x.shape
        if dtype[0] not in self.domain:
            raise DTypeError(f"{self.name} is not defined for {KINDS[dtype[0]]}s: {dtype}")
        if self.makes != "same":
            dtype = "bool" if self.makes == "bool" else real_dtype(dtype)
        return Type(dtype, shape)

    def array(self, xp: Namespace, *xs: Any) -> Any:
        return getattr(xp, self.ufunc or self.name)(*xs)

    def partials(self, y: Value, *xs: Any, **no: Any) -> Tangents:
        """∂y/∂x for each operand; None where it is zero."""
        return (None,) * len(xs)

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        y = self(*xs)
        if not y.type.is_float:
            return (y,), (None,)
        terms = [p * d for p, d in zip(self.partials(y, *xs), dxs, strict=True) if p is not None and d is not None]
        return (y,), (fit(sum_of(terms), y.type) if terms else None,)

    def batch(self, n: int, batched: tuple[bool, ...], *xs: Value) -> Value:
        return self(*align(n, batched, xs))

    def kernel(self, k: Any, i: Any, *xs: Any) -> Any:
        return k.scalar(self, *(x(i if x.type.shape else ()) for x in xs))


class Linear(Op):
    """Linear, all at once, in the operands listed in `linear`."""

    linear: ClassVar[tuple[int, ...]] = (0,)

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        ys = self.apply(*xs)
        if not ys[0].type.is_float or all(dxs[i] is None for i in self.linear):
            return ys, (None,) * len(ys)
        full = instantiate(xs, dxs)
        return ys, self.apply(*(full[i] if i in self.linear else x for i, x in enumerate(xs)))


class Movement(Linear):
    """Moves or repeats elements: never computes on them, so any dtype will do."""

    def kernel(self, k: Any, i: Any, *xs: Any) -> Any:
        (x,) = xs
        return x(self.source(k, i, x.type))

    @abstractmethod
    def source(self, k: Any, i: Any, x: Type) -> Any:
        """The index in the operand of the element at index `i` of the result."""


def like(x: Any, number: Any) -> Any:
    """A Python number as a literal of `x`'s dtype; a value unchanged."""
    return const(number, x.dtype) if isinstance(x, Value) and not isinstance(number, Value) else number


def is_const(x: Any, number: Number) -> bool:
    """Whether `x` is the literal `number` of any dtype, -0.0 not being 0.0."""
    return isinstance(x, Value) and isinstance(x.op, Const) and repr(x.op.value + 0j) == repr(number + 0j)


def sum_of(xs: list[Value]) -> Value:
    """The sum of one or more values."""
    total = xs[0]
    for x in xs[1:]:
        total = total + x
    return total


def fit(x: Value, type: Type) -> Value:
    """A scalar repeated to `type`'s shape; anything else unchanged."""
    from pliant.ops.shape import broadcast  # the families stand below the primitives they use

    return broadcast(x, type.shape, ()) if x.shape != type.shape else x


def unfit(ct: Value, x: Value | Type) -> Value:
    """The transpose of `fit`: sum back to the shape of `x`."""
    from pliant.ops.reduce import reduce_sum  # the families stand below the primitives they use

    return reduce_sum(ct) if ct.shape != x.shape else ct


def align(n: int, batched: tuple[bool, ...], xs: Values) -> Values:
    """The operands of a batched elementwise op: all of them `[n, …]`, or of rank 0."""
    from pliant.ops.shape import broadcast  # the families stand below the primitives they use

    shape = max((x.shape[b:] for x, b in zip(xs, batched, strict=True)), key=len)
    full, axes = (n, *shape), tuple(range(1, 1 + len(shape)))

    def aligned(x: Value, is_batched: bool) -> Value:
        if not is_batched:
            return broadcast(x, full, axes) if x.shape else x
        return x if len(x.shape) == len(full) else broadcast(x, full, (0,))

    return tuple(aligned(x, b) for x, b in zip(xs, batched, strict=True))
