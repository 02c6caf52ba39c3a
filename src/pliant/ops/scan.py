"""Scans: running sums, products and extrema along one axis, and the recurrence that differentiates them."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, final

from pliant.core import ir
from pliant.core.data import frozen
from pliant.core.ir import Namespace, Op, Tangents, Value, Values, const
from pliant.core.types import Type
from pliant.errors import DTypeError, ShapeError
from pliant.ops.base import KINDS, Linear
from pliant.ops.compare import Maximum, Minimum, equal, not_zero
from pliant.ops.elementwise import Add, Mul, Sub, conj
from pliant.ops.in_jax import jax_module
from pliant.ops.select import Find, Select, select
from pliant.ops.shape import broadcast, concatenate, lift, slice_axis


class Sequential(Op):
    """Goes along `axis`, from its end if `reverse`: each element of the result from the one before."""

    axis: int
    reverse: bool
    idle: ClassVar[Any] = None
    """What leaves the element before as it is, if there is such a number."""

    def fill(self, k: Any, out: Any, *xs: Any) -> None:
        """The first element, then the others in order; no more than anybody looks at."""
        axis, shape = self.axis, out.type.shape
        n = shape[axis]
        ends, rest = k.looked() or [None] * len(shape), k.ends(xs[-1])
        if self.reverse and (rest is None or rest[0][axis] is not ends[axis] or rest[1] != self.idle):
            ends[axis] = None
        end = k.scalar(Minimum(), ends[axis], k.const(n, "i64")) if ends[axis] is not None else None
        others = None if end is None else k.scalar(Sub(), end, k.const(1, "i64"))

        def at(j: Any, begin: int) -> Any:
            if not self.reverse:
                place = k.affine(j[axis], 1, begin)
            elif end is None:
                place = k.affine(j[axis], -1, n - 1 - begin)
            else:
                place = k.affine(j[axis], -1, -1 - begin) + k.index(end)
            return (*j[:axis], place, *j[axis + 1 :])

        def start(j: Any) -> None:
            k.store(out, at(j, 0), self.first(k, at(j, 0), *xs))

        def go_on(j: Any) -> None:
            k.store(out, at(j, 1), self.following(k, at(j, 1), k.load(out, at(j, 0)), *xs))

        if n:
            k.loop((*shape[:axis], 1, *shape[axis + 1 :]), start, (*ends[:axis], end, *ends[axis + 1 :]))
            k.loop((*shape[:axis], n - 1, *shape[axis + 1 :]), go_on, (*ends[:axis], others, *ends[axis + 1 :]))

    @abstractmethod
    def first(self, k: Any, i: Any, *xs: Any) -> Any:
        """The element where the scan begins."""

    @abstractmethod
    def following(self, k: Any, i: Any, before: Any, *xs: Any) -> Any:
        """The element at index `i`, given the one before."""


class Scan(Sequential):
    """Combines the elements so far along `axis`, from its end if `reverse`: the shape stays."""

    domain: ClassVar[str] = "iufc"
    combines: ClassVar[Op]

    def infer(self, x: Type) -> Type:
        if not 0 <= self.axis < x.rank:
            raise ShapeError(f"{self.name}: {x} has no axis {self.axis}")
        if x.kind not in self.domain:
            raise DTypeError(f"{self.name} is not defined for {KINDS[x.kind]}s: {x}")
        return x

    def array(self, xp: Namespace, x: Any) -> Any:
        if not self.reverse:
            return self.forward(xp, x)
        return xp.flip(self.forward(xp, xp.flip(x, axis=self.axis)), axis=self.axis)

    def jax(self, jnp: Namespace, x: Any) -> Any:
        # XLA on CPUs (jaxlib 0.10) fuses a write to a window of x into a scan of it, and reads what it has overwritten:
        # cumsum(y.at[1:3].set(y[0:2])) is wrong. See tests/backends/test_jax.py.
        return self.array(jnp, jax_module("lax").optimization_barrier(x))

    @abstractmethod
    def forward(self, xp: Namespace, x: Any) -> Any:
        """The scan from the front."""

    def batch(self, n: int, batched: tuple[bool, ...], x: Value) -> Value:
        return type(self)(self.axis + 1, self.reverse)(x)  # type: ignore[call-arg]

    def first(self, k: Any, i: Any, *xs: Any) -> Any:
        return k.load(xs[0], i)

    def following(self, k: Any, i: Any, before: Any, *xs: Any) -> Any:
        return k.scalar(self.combines, before, k.load(xs[0], i))


@final
@frozen
class Cumsum(Scan, Linear):
    """Running sum along `axis`: `y[k] = y[k-1] + x[k]`."""

    axis: int
    reverse: bool = False
    combines, idle = Add(), 0

    def forward(self, xp: Namespace, x: Any) -> Any:
        return xp.cumsum(x, axis=self.axis, dtype=x.dtype)

    def transpose(self, ct: Value, x: Value | Type) -> Tangents:
        return (cumsum(ct, self.axis, reverse=not self.reverse),)

    def support_of(self, value: Value, find: Find) -> Value | None:
        return None if find(value.args[0]) is None else not_zero(value)


@final
@frozen
class Cumprod(Scan):
    """Running product along `axis`: `y[k] = y[k-1]·x[k]`. Derivatives are right at zeros."""

    axis: int
    reverse: bool = False
    combines, idle = Mul(), 1

    def forward(self, xp: Namespace, x: Any) -> Any:
        return xp.cumprod(x, axis=self.axis, dtype=x.dtype)

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        (x,), (dx,), (y,) = xs, dxs, self.apply(*xs)
        if dx is None or not y.type.is_float:
            return (y,), (None,)
        before = shift(y, self.axis, 1, reverse=self.reverse)
        return (y,), (recur(x, before * dx, self.axis, reverse=self.reverse),)


class CumulativeExtremum(Scan):
    """Running extremum; NaN from the first NaN on. Of elements that tie, the first has the derivative."""

    domain = "biuf"

    def jax(self, jnp: Namespace, x: Any) -> Any:
        lax = jax_module("lax")
        rows = lax.optimization_barrier(jnp.asarray(x, dtype=jnp.int8) if x.dtype == bool else x)  # see above
        return jnp.asarray(getattr(lax, self.name)(rows, axis=self.axis, reverse=self.reverse), x.dtype)

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        (x,), (dx,), (y,) = xs, dxs, self.apply(*xs)
        if dx is None or not y.type.is_float or not x.shape[self.axis]:
            return (y,), (None,)
        n, axis = x.shape[self.axis], self.axis
        keep = equal(slice_axis(y, axis, 0, n - 1), slice_axis(y, axis, 1, n - 1))
        keep = _join(ir.operators.zeros(_edge(keep.type, axis)), keep, axis, self.reverse)
        new = select(keep, ir.operators.zeros(dx.type), dx)
        return (y,), (recur(keep, new, axis, reverse=self.reverse),)


def running(scan: Any, flip: Any, x: Any, axis: int, reverse: bool) -> Any:
    """The running extremum by one of PyTorch's functions, which also return where it is found."""
    return flip(scan(flip(x, (axis,)), axis).values, (axis,)) if reverse else scan(x, axis).values


@final
@frozen
class Cummax(CumulativeExtremum):
    """Running maximum along `axis`."""

    axis: int
    reverse: bool = False
    combines = Maximum()

    def forward(self, xp: Namespace, x: Any) -> Any:
        return xp.maximum.accumulate(x, axis=self.axis)

    def torch(self, torch: Namespace, x: Any) -> Any:
        return running(torch.cummax, torch.flip, x, self.axis, self.reverse)


@final
@frozen
class Cummin(CumulativeExtremum):
    """Running minimum along `axis`."""

    axis: int
    reverse: bool = False
    combines = Minimum()

    def forward(self, xp: Namespace, x: Any) -> Any:
        return xp.minimum.accumulate(x, axis=self.axis)

    def torch(self, torch: Namespace, x: Any) -> Any:
        return running(torch.cummin, torch.flip, x, self.axis, self.reverse)


@final
@frozen
class Recur(Sequential):
    """Linear recurrence along `axis`: `y[k] = a[k]·y[k-1] + b[k]`, where y before the first is 0.

    `a, b: t[…, n, …]` → `t[…, n, …]`. It is linear in b, and its derivatives are recurrences again. Where a is a
    truth, it says whether the sum goes on: where not, `y[k] = b[k]`, whatever y[k-1] is.
    """

    axis: int
    reverse: bool = False
    idle = 0

    def infer(self, a: Type, b: Type) -> Type:
        if a not in (b, b.with_dtype("bool")) or not 0 <= self.axis < a.rank:
            raise ShapeError(f"recur: {a} and {b} do not fit together along axis {self.axis}")
        if b.kind == "b":
            raise DTypeError(f"recur is not defined for bools: {b}")
        return b

    def array(self, xp: Namespace, a: Any, b: Any) -> Any:
        rows = range(a.shape[self.axis])
        head = (slice(None),) * self.axis
        y, out = None, list[Any]()
        for j in reversed(rows) if self.reverse else rows:
            y = b[(*head, j)] if y is None else _next(xp, a[(*head, j)], y, b[(*head, j)])
            out.append(y)
        return xp.stack(out[::-1] if self.reverse else out, axis=self.axis) if out else b

    def jax(self, jnp: Namespace, a: Any, b: Any) -> Any:
        def step(y: Any, row: tuple[Any, Any]) -> tuple[Any, Any]:
            y = _next(jnp, row[0], y, row[1])
            return y, y

        rows = jnp.moveaxis(a, self.axis, 0), jnp.moveaxis(b, self.axis, 0)
        start = jnp.zeros_like(b, shape=(*b.shape[: self.axis], *b.shape[self.axis + 1 :]))
        return jnp.moveaxis(jax_module("lax").scan(step, start, rows, reverse=self.reverse)[1], 0, self.axis)

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        (a, _), (da, db), (y,) = xs, dxs, self.apply(*xs)
        terms = [d for d in (None if da is None else self.before(y) * da, db) if d is not None]
        if not terms or not y.type.is_float:
            return (y,), (None,)
        return (y,), (self(a, terms[0] if len(terms) == 1 else terms[0] + terms[1]),)

    def support_of(self, value: Value, find: Find) -> Value | None:
        return None if find(value.args[1]) is None else not_zero(value)

    def before(self, y: Value) -> Value:
        """y[k-1] at place k."""
        return shift(y, self.axis, 0, reverse=self.reverse)

    def transpose(self, ct: Value, a: Value | Type, b: Value | Type) -> Tangents:
        if isinstance(a, Type):  # linear in a only where y[k-1] does not depend on a: nowhere
            raise self.missing("transpose")
        back = Recur(self.axis, not self.reverse)
        following = shift(conj(a), self.axis, 0, reverse=not self.reverse)
        return None, back(following, ct)

    def batch(self, n: int, batched: tuple[bool, ...], a: Value, b: Value) -> Value:
        a, b = (v if is_batched else lift(v, n) for v, is_batched in zip((a, b), batched, strict=True))
        return Recur(self.axis + 1, self.reverse)(a, b)

    def first(self, k: Any, i: Any, *xs: Any) -> Any:
        return k.load(xs[1], i)

    def following(self, k: Any, i: Any, before: Any, *xs: Any) -> Any:
        a, b = k.load(xs[0], i), k.load(xs[1], i)
        if xs[0].type.kind == "b":
            return k.scalar(Select(), a, k.scalar(Add(), before, b), b)
        return k.scalar(Add(), k.scalar(Mul(), a, before), b)


def _next(xp: Namespace, a: Any, before: Any, b: Any) -> Any:
    """The element of a recurrence after `before`."""
    return xp.where(a, before + b, b) if "bool" in str(a.dtype) else a * before + b


def _edge(type: Type, axis: int) -> Type:
    return type.with_shape((*type.shape[:axis], 1, *type.shape[axis + 1 :]))


def _join(first: Value, others: Value, axis: int, reverse: bool) -> Value:
    """`first` where a scan begins, then the others."""
    return concatenate((others, first) if reverse else (first, others), axis)


def shift(x: Value, axis: int, value: float, *, reverse: bool = False) -> Value:
    """The element before each along `axis`, in the direction of the scan; `value` before the first."""
    n = x.shape[axis]
    if not n:
        return x
    first = broadcast(const(value, x.dtype), _edge(x.type, axis).shape, ())
    return _join(first, slice_axis(x, axis, 1 if reverse else 0, n - 1), axis, reverse)


def exclusive_cumprod(x: Value, axis: int, *, reverse: bool = False) -> Value:
    """Product of the elements before each along `axis`: `[1, x0, x0·x1, …]`."""
    return cumprod(shift(x, axis, 1, reverse=reverse), axis, reverse=reverse)


def cumsum(x: Value, axis: int, *, reverse: bool = False) -> Value:
    """Running sum along `axis`, from its end if `reverse`."""
    return Cumsum(axis, reverse)(x)


def cumprod(x: Value, axis: int, *, reverse: bool = False) -> Value:
    """Running product along `axis`, from its end if `reverse`."""
    return Cumprod(axis, reverse)(x)


def cummax(x: Value, axis: int, *, reverse: bool = False) -> Value:
    """Running maximum along `axis`, from its end if `reverse`."""
    return Cummax(axis, reverse)(x)


def cummin(x: Value, axis: int, *, reverse: bool = False) -> Value:
    """Running minimum along `axis`, from its end if `reverse`."""
    return Cummin(axis, reverse)(x)


def recur(a: Value, b: Value, axis: int, *, reverse: bool = False) -> Value:
    """The linear recurrence `y[k] = a[k]·y[k-1] + b[k]` along `axis`, from its end if `reverse`."""
    return Recur(axis, reverse)(a, b)


RULES = ()
