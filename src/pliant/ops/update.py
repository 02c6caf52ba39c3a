"""Writes to windows: `x[start:stop:step] = u` and `+= u` as new values, and reads of what was written."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from itertools import accumulate
from math import gcd
from typing import Any, ClassVar, TypeAlias, cast, final

from pliant.core import ir
from pliant.core.data import frozen
from pliant.core.ir import Namespace, Number, Tangents, Value, const
from pliant.core.types import Type
from pliant.errors import ShapeError
from pliant.ops.base import Elementwise, Linear
from pliant.ops.compare import not_zero_of_written
from pliant.ops.elementwise import Add, Sub, neg
from pliant.ops.in_jax import adding
from pliant.ops.select import Find, is_zero
from pliant.ops.shape import SHORT_ROW, Broadcast, Permute, Slice, broadcast, concatenate, lift, permute
from pliant.rewrite.rule import rewrite

LARGE = 256  # elements
FAR = 64  # how many writes a read looks back through


class Window(Linear):
    """Combines `u` with the elements `start + step·j` of `x`: `t[n…], t[m…] → t[n…]`."""

    start: tuple[int, ...]
    step: tuple[int, ...]
    linear = (0, 1)
    update_operand: ClassVar[int] = 1

    def infer(self, x: Type, u: Type) -> Type:
        if self.window(u.shape).infer(x) != u:
            raise ShapeError(f"{self.name}: {u} does not fit into {x}")
        return x

    def place(self, k: Any, j: Any) -> Any:
        """The index in x of the element at index `j` of the window."""
        return tuple(k.affine(part, step, start) for part, step, start in zip(j, self.step, self.start, strict=True))

    def window(self, shape: tuple[int, ...]) -> Slice:
        """The slice of x that changes."""
        return Slice(self.start, self.step, shape)

    @abstractmethod
    def part(self, k: Any, j: Any, x: Any, u: Any) -> Any:
        """The new element of x at index `j` of the window."""

    def kernel(self, k: Any, i: Any, x: Any, u: Any) -> Any:
        inside, j = k.inside(i, self.start, self.step, u.type.shape)
        return k.choose(inside, lambda: self.part(k, j, x, u), lambda: x(i))

    def batch(self, n: int, batched: tuple[bool, ...], x: Value, u: Value) -> Value:
        x, u = (v if b else lift(v, n) for v, b in zip((x, u), batched, strict=True))
        return type(self)((0, *self.start), (1, *self.step))(x, u)  # type: ignore[call-arg]

    def at_places(self, known: Value, x: Value, u: Value) -> Value | None:
        return self.window(u.shape)(known)

    def support_of(self, value: Value, find: Find) -> Value | None:
        """Where numbers were put that may differ from zero."""
        put = UpdateSlice(self.start, self.step)
        return not_zero_of_written(value, find, put, adds=isinstance(self, AddSlice), unique=True)


@final
@frozen
class UpdateSlice(Window):
    """`x` with the elements `start + step·j` replaced by `u`: `t[n…], t[m…] → t[n…]`."""

    start: tuple[int, ...]
    step: tuple[int, ...]

    def array(self, xp: Namespace, x: Any, u: Any) -> Any:
        y = xp.asarray(x, copy=True)
        y[self.window(tuple(u.shape)).slices()] = u
        return y

    def jax(self, jnp: Namespace, x: Any, u: Any) -> Any:
        return x.at[self.window(u.shape).slices()].set(u)

    def torch(self, torch: Namespace, x: Any, u: Any) -> Any:
        return _torch_put(torch, self.window(u.shape), x, u, accumulate=False)

    def transpose(self, ct: Value, x: Value | Type, u: Value | Type) -> Tangents:
        dx = None
        if isinstance(x, Type):
            zeros = ir.operators.zeros(u if isinstance(u, Type) else u.type)
            dx = update_slice(ct, zeros, self.start, self.step)
        return dx, self.window(u.shape)(ct) if isinstance(u, Type) else None

    def part(self, k: Any, j: Any, x: Any, u: Any) -> Any:
        return u(j)


@final
@frozen
class AddSlice(Window):
    """`x` with `u` added to the elements `start + step·j`: `t[n…], t[m…] → t[n…]`."""

    start: tuple[int, ...]
    step: tuple[int, ...]

    def array(self, xp: Namespace, x: Any, u: Any) -> Any:
        y = xp.asarray(x, copy=True)
        y[self.window(tuple(u.shape)).slices()] += u
        return y

    def jax(self, jnp: Namespace, x: Any, u: Any) -> Any:
        return getattr(x.at[self.window(u.shape).slices()], adding(x))(u)

    def torch(self, torch: Namespace, x: Any, u: Any) -> Any:
        return _torch_put(torch, self.window(u.shape), x, u, accumulate=True)

    def transpose(self, ct: Value, x: Value | Type, u: Value | Type) -> Tangents:
        du = self.window(u.shape)(ct) if isinstance(u, Type) else None
        return ct if isinstance(x, Type) else None, du

    def part(self, k: Any, j: Any, x: Any, u: Any) -> Any:
        return k.scalar(Add(), x(self.place(k, j)), u(j))


def _torch_put(torch: Namespace, window: Slice, x: Any, u: Any, *, accumulate: bool) -> Any:
    """`x` with `u` put or added at a window; PyTorch's own slices have no negative steps."""
    if not u.ndim:
        return x + u if accumulate else u.clone()
    index = [torch.arange(n) * d + s for s, d, n in zip(window.start, window.step, u.shape, strict=True)]
    return x.index_put(torch.meshgrid(*index, indexing="ij"), u, accumulate=accumulate)


def slice_window(x: Value, start: Sequence[int], step: Sequence[int], length: Sequence[int]) -> Value:
    """`Slice` as a function; nothing is made where it would change nothing."""
    window = Slice(tuple(start), tuple(step), tuple(length))
    return x if covers(window, x.shape) else window(x)


def update_slice(x: Value, u: Value, start: Sequence[int], step: Sequence[int] | None = None) -> Value:
    """`UpdateSlice` as a function; where the window is all of `x`, just `u`."""
    put = UpdateSlice(tuple(start), tuple(step or (1,) * len(start)))
    return u if covers(put.window(u.shape), x.shape) else put(x, u)


def add_slice(x: Value, u: Value, start: Sequence[int], step: Sequence[int] | None = None) -> Value:
    """`AddSlice` as a function; where the window is all of `x`, a plain sum."""
    put = AddSlice(tuple(start), tuple(step or (1,) * len(start)))
    return x + u if covers(put.window(u.shape), x.shape) else put(x, u)


def pad(x: Value, low: Sequence[int], high: Sequence[int], value: Value | Number = 0) -> Value:
    """`x` with `low` and `high` elements `value` around it, along each axis."""
    shape = tuple(a + n + b for a, n, b in zip(low, x.shape, high, strict=True))
    fill = value if isinstance(value, Value) else const(value, x.dtype)
    return update_slice(broadcast(fill, shape, ()), x, low)


def covers(window: Slice, shape: tuple[int, ...]) -> bool:
    """Whether the window is all of an array of `shape`, in order."""
    in_order = all(d == 1 or n == 1 for d, n in zip(window.step, window.length, strict=True))
    return window.length == shape and in_order


Progression: TypeAlias = "tuple[int, int, int]"  # start, step, length


def within(outer: Slice, inner: Slice) -> Slice | None:
    """The window `inner` in the coordinates of `outer`; None unless all of it lies inside."""
    axes = [_within(a, b) for a, b in zip(_axes(outer), _axes(inner), strict=True)]
    found = [a for a in axes if a is not None]
    return Slice(*map(tuple, zip(*found, strict=True))) if found and len(found) == len(axes) else None


def apart(a: Slice, b: Slice) -> bool:
    """Whether two windows are known to have no element in common."""
    return _apart_axes(zip(a.start, a.step, a.length, b.start, b.step, b.length, strict=True))


def _apart_axes(axes: Iterable[tuple[int, int, int, int, int, int]]) -> bool:
    return any([s != t if n == m == 1 else _apart((s, d, n), (t, e, m)) for s, d, n, t, e, m in axes])


def misses(write: Value, window: Slice) -> bool:
    """Whether a write is known not to touch the window."""
    op = cast("Window", write.op)
    axes = zip(op.start, op.step, write.args[1].shape, window.start, window.step, window.length, strict=True)
    return _apart_axes(axes)


def _axes(window: Slice) -> list[Progression]:
    return list(zip(window.start, window.step, window.length, strict=True))


def _within(outer: Progression, inner: Progression) -> Progression | None:
    start, step, length = inner
    first, rest = divmod(start - outer[0], outer[1])
    stride, uneven = divmod(step, outer[1]) if length > 1 else (1, 0)
    if not length:
        return 0, 1, 0
    last = first + stride * (length - 1)
    if rest or uneven or not (0 <= first < outer[2] and 0 <= last < outer[2]):
        return None
    return first, stride, length


def _apart(a: Progression, b: Progression) -> bool:
    if not a[2] or not b[2]:
        return True
    (low, high), (lower, higher) = (sorted((p[0], p[0] + p[1] * (p[2] - 1))) for p in (a, b))
    stride = gcd(*(p[1] for p in (a, b) if p[2] > 1))
    return high < lower or higher < low or (stride > 1 and (a[0] - b[0]) % stride != 0)


def _written(write: Value) -> Slice:
    """The window that a value made by a `Window` has changed."""
    return cast("Window", write.op).window(write.args[1].shape)


@rewrite(Slice, reads=(Window,))
def slice_of_update(value: Value) -> Value | None:
    """Read what was written last, or what was there before: `slice(update_slice(x, u))` is a slice
    of u if it lies in the window, of x if it lies outside."""
    window, (x,) = value.op, value.args
    assert isinstance(window, Slice)
    for _ in range(FAR):
        if not isinstance(x.op, Window) or not misses(x, window):
            break
        x = x.args[0]
    else:
        return None  # so far back that looking would cost more than it saves
    inner = within(_written(x), window) if isinstance(x.op, Window) else None
    # A large array that is computed is read from where it was written to rather than computed again.
    if inner is not None and not (isinstance(x.args[1].op, Elementwise) and value.type.size >= LARGE):
        new = slice_window(x.args[1], inner.start, inner.step, inner.length)
        return new if isinstance(x.op, UpdateSlice) else window(x.args[0]) + new
    return window(x) if x is not value.args[0] else None


@rewrite(Window)
def write_of_everything(value: Value) -> Value | None:
    """`update_slice(x, u)` is u, and `add_slice(x, u)` is x + u, where the window is all of x."""
    x, u = value.args
    if not covers(_written(value), x.shape):
        return None
    return u if isinstance(value.op, UpdateSlice) else x + u


@rewrite(UpdateSlice, reads=(Slice,))
def update_of_own_slice(value: Value) -> Value | None:
    """`x[w] = x[w]` changes nothing."""
    x, u = value.args
    return x if is_own(u, value) else None


def is_own(read: Value, write: Value) -> bool:
    """Whether a value is the window of x, as it is before the write, that `write` changes."""
    x, window = write.args[0], _written(write)
    for _ in range(FAR):
        if read.args == (x,) or not isinstance(x.op, Window) or not misses(x, window):
            break
        x = x.args[0]
    return read.op == window and read.args == (x,)


@rewrite(UpdateSlice, reads=(Add, Sub))
def update_of_own_sum(value: Value) -> Value | None:
    """`x[w] = x[w] + u` is `x[w] += u`, and `x[w] = x[w] - u` is `x[w] += -u`, if nothing has to be repeated to
    x[w]'s shape."""
    x, total = value.args
    if not isinstance(total.op, Add | Sub):
        return None
    orders = (total.args, total.args[::-1]) if isinstance(total.op, Add) else (total.args,)
    for old, u in orders:
        if is_own(old, value) and u.shape == total.shape:
            added = u if isinstance(total.op, Add) else neg(u)
            return AddSlice(value.op.start, value.op.step)(x, added)  # type: ignore[attr-defined]
    return None


@rewrite(UpdateSlice, reads=(UpdateSlice,))
def update_of_zeros_with_update_of_zeros(value: Value) -> Value | None:
    """A window put into zeros, and that into zeros: one window of the window."""
    x, u = value.args
    if not (is_zero(x) and isinstance(u.op, UpdateSlice) and is_zero(u.args[0])):
        return None
    outer, inner = _written(value), _written(u)
    window = compose(outer, inner)
    return UpdateSlice(window.start, window.step)(x, u.args[1])


@rewrite(AddSlice, level="stable")
def add_slice_of_zeros(value: Value) -> Value | None:
    """Adding into zeros is writing into them; adding zeros changes nothing (but the sign of -0.0)."""
    x, u = value.args
    if is_zero(u):
        return x
    return UpdateSlice(value.op.start, value.op.step)(x, u) if is_zero(x) else None  # type: ignore[attr-defined]


@rewrite(Window, level="stable", reads=(Window,))
def writes_of_all_columns(value: Value) -> Value | None:
    """Short rows whose elements are written one after the other, or added to zeros, as cotangents of `x[:, 0]`,
    `x[:, 1]`, … are: they are the columns side by side (but for the sign of -0.0)."""
    axis, x, columns, is_sum = len(value.shape) - 1, value, dict[int, Value](), False
    if axis < 1 or not 1 < value.shape[axis] <= SHORT_ROW:
        return None
    while isinstance(x.op, Window):
        at = _written(x).start[axis]
        if at in columns or not _is_of_columns(x):
            return None
        columns[at], is_sum = x.args[1], is_sum or isinstance(x.op, AddSlice)
        x = x.args[0]
    parts = [columns[at] for at in sorted(columns)]
    begins = [0, *accumulate([u.shape[axis] for u in parts])]
    is_all = begins == [*sorted(columns), value.shape[axis]]
    return concatenate(tuple(parts), axis) if is_all and is_zero(x) >= is_sum and isinstance(x.op, Broadcast) else None


def _is_of_columns(write: Value) -> bool:
    """Whether a write is to whole columns side by side, in their order."""
    *lead, (_, step, length) = _axes(_written(write))
    is_whole = [part[2] for part in lead] == [*write.shape[:-1]] and all([d == 1 or n == 1 for _, d, n in lead])
    return is_whole and length > 0 and (step == 1 or length == 1)


@rewrite(Window, reads=(Permute,))
def write_of_permute(value: Value) -> Value | None:
    """`permute(x)` with a window written is x with one written, permuted: so x can be written where it lies."""
    (x, u), op = value.args, cast("Window", value.op)
    if not isinstance(x.op, Permute):
        return None
    back = x.op.inverse()
    start, step = (tuple(part[a] for a in back) for part in (op.start, op.step))
    return permute(type(op)(start, step)(x.args[0], permute(u, back)), x.op.order)  # type: ignore[call-arg]


@rewrite(Slice, reads=(Permute,))
def slice_of_permute(value: Value) -> Value | None:
    """A window of `permute(x)` is one of x, permuted."""
    (x,), op = value.args, cast("Slice", value.op)
    if not isinstance(x.op, Permute):
        return None
    back = x.op.inverse()
    start, step, length = (tuple(part[a] for a in back) for part in (op.start, op.step, op.length))
    return permute(Slice(start, step, length)(x.args[0]), x.op.order)


def compose(outer: Slice, inner: Slice) -> Slice:
    """The window that is `inner` of `outer`."""
    start = tuple(s + d * t for s, d, t in zip(outer.start, outer.step, inner.start, strict=True))
    step = tuple(d * e for d, e in zip(outer.step, inner.step, strict=True))
    return Slice(start, step, inner.length)


RULES = (
    slice_of_update,
    write_of_everything,
    update_of_own_slice,
    update_of_own_sum,
    update_of_zeros_with_update_of_zeros,
    add_slice_of_zeros,
    writes_of_all_columns,
    write_of_permute,
    slice_of_permute,
)
