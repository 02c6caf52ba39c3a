"""Families: what primitives of one kind have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, TypeAlias

from pliant.core.ir import Const, Namespace, Number, Op, Operand, Pattern, Tangents, Value, Values, const
from pliant.core.types import Type, real_dtype
from pliant.errors import ArgumentError, DTypeError, ShapeError
from pliant.transforms.jvp import instantiate

Safe: TypeAlias = int | Callable[[Type], Value]
"""An operand for which there always is a result: a number, or what makes it for a type; see `guarded`."""

KINDS = {"b": "bool", "i": "int", "u": "unsigned int", "f": "float", "c": "complex number"}


class Elementwise(Op):
    """Acts on each element. Operands share one dtype and one shape; rank-0 operands fit any shape.

    `domain` lists the dtype kinds it takes, `makes` says what it returns: the operands' dtype
    (`same`), the real dtype of a complex one (`real`), or the dtype it names. `ufunc` is NumPy's
    name where it differs.
    """

    domain: ClassVar[str] = "fc"
    makes: ClassVar[str] = "same"
    ufunc: ClassVar[str] = ""
    arity: ClassVar[int] = 2

    def __call__(self, *xs: Operand | Pattern) -> Value:
        """The result; a Python number takes the dtype of the first value."""
        for x in xs:
            if type(x) is not Value:
                xs = alike(xs)
                break
        return Op.__call__(self, *xs)

    def infer(self, *xs: Any, **no: Any) -> Type:
        if len(xs) != self.arity:
            raise ArgumentError(f"{self.name} takes {self.arity} operands, got {len(xs)}")
        first = xs[0]
        dtype = first.dtype
        if self.makes == "same" and self.arity < 3 and dtype[0] in self.domain:  # the usual case, fast
            last = xs[-1]
            if last is first or (last.dtype == dtype and (not last.shape or last.shape == first.shape)):
                return first
            if last.dtype == dtype and not first.shape:
                return last
        for x in xs[1:]:
            if x.dtype != dtype:
                raise DTypeError(f"{self.name}: {' and '.join(map(str, xs))} have different dtypes")
        if dtype[0] not in self.domain:
            raise DTypeError(f"{self.name} is not defined for {KINDS[dtype[0]]}s: {dtype}")
        if self.makes != "same":
            dtype = real_dtype(dtype) if self.makes == "real" else self.makes
        shape = common_shape(self.name, xs)
        return xs[0] if shape == xs[0].shape and dtype == xs[0].dtype else Type(dtype, shape)

    def array(self, xp: Namespace, *xs: Any, **no: Any) -> Any:
        return getattr(xp, self.ufunc or self.name)(*xs)

    def partials(self, y: Value, *xs: Any, **no: Any) -> Tangents:
        """∂y/∂x for each operand; None where it is zero everywhere."""
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


class Unary(Elementwise):
    """Acts on each element of one operand."""

    arity = 1

    def tangent(self, y: Value, x: Value, dx: Value) -> Value | None:
        """The tangent of y, linear in dx; None where it is zero everywhere."""
        return None

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        (x,), (dx,) = xs, dxs
        y = self(x)
        return (y,), (None if dx is None or not y.type.is_float else self.tangent(y, x, dx),)


class Linear(Op):
    """Linear, all at once, in the operands listed in `linear`."""

    linear: ClassVar[tuple[int, ...]] = (0,)

    def linear_operands(self, count: int) -> tuple[int, ...]:
        """Which of `count` operands it is linear in."""
        return self.linear

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        ys, linear = self.apply(*xs), self.linear_operands(len(xs))
        if not ys[0].type.is_float or all(dxs[i] is None for i in linear):
            return ys, (None,) * len(ys)
        full = instantiate(xs, dxs)
        return ys, self.apply(*(full[i] if i in linear else x for i, x in enumerate(xs)))


class Movement(Linear):
    """Moves or repeats elements: never computes on them, so any dtype will do."""

    moves = True

    def support(self, find: Any, x: Value) -> Value | None:
        mask = find(x)
        return self(mask) if mask is not None and mask.shape == x.shape else mask

    def kernel(self, k: Any, i: Any, *xs: Any) -> Any:
        (x,) = xs
        return x(self.source(k, i, x.type))

    @abstractmethod
    def source(self, k: Any, i: Any, x: Type) -> Any:
        """The index in the operand of the element at index `i` of the result."""


def common_shape(name: str, xs: tuple[Type, ...]) -> tuple[int, ...]:
    """The shape of an elementwise result: the operands' own, rank 0 apart."""
    shape = xs[0].shape
    for x in xs:
        if x.shape != shape and x.shape:
            if shape:
                raise ShapeError(f"{name}: {' and '.join(map(str, xs))} do not fit together")
            shape = x.shape
    return shape


def like(x: Any, number: Any) -> Any:
    """A Python number as a literal of `x`'s dtype; a value or a pattern unchanged."""
    if not isinstance(x, Value) or not isinstance(number, bool | int | float | complex):
        return number
    is_whole = number.imag == 0 and float(number.real).is_integer()  # rules write 1.0·x for every dtype
    if not is_whole and x.dtype[0] in "biu":
        raise DTypeError(f"{number} is no {KINDS[x.dtype[0]]}: {x.dtype}")
    return const(number, x.dtype)


def alike(xs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Operands of an elementwise op: Python numbers take the dtype of the first value."""
    first = next((x for x in xs if type(x) is Value), None)
    return xs if first is None else tuple([like(first, x) for x in xs])


def is_const(x: Any, number: Number) -> bool:
    """Whether `x` is the literal `number` of any dtype, -0.0 not being 0.0."""
    return isinstance(x, Value) and isinstance(x.op, Const) and repr(complex(x.op.value)) == repr(complex(number))


def sum_of(xs: list[Value]) -> Value:
    """The sum of one or more values."""
    total = xs[0]
    for x in xs[1:]:
        total = total + x
    return total


def can_be_read(torch: Namespace, *xs: Any) -> bool:
    """Whether the numbers of PyTorch's tensors can be looked at: not in its own batches."""
    return not any([torch._C._functorch.is_batchedtensor(x) for x in xs])


def product_rule(op: Op, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
    """The result of what is linear in each of two operands, and its tangent."""
    (x, y), (dx, dy) = xs, dxs
    out = op(x, y)
    terms = [op(dx, y)] if dx is not None else []
    terms += [op(x, dy)] if dy is not None else []
    return (out,), (sum_of(terms) if terms and out.type.is_float else None,)


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
