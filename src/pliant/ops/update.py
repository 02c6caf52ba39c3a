"""Writes to windows: `x[start:stop:step] = u` and `+= u` as new values, and reads of what was written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

from pliant.core import ir
from pliant.core.ir import Namespace, Number, Tangents, Value, const
from pliant.core.types import Type
from pliant.errors import ShapeError
from pliant.ops.base import Linear
from pliant.ops.elementwise import Add
from pliant.ops.shape import Slice, broadcast, lift


class Window(Linear):
    """Combines `u` with the elements `start + step·j` of `x`: `t[n…], t[m…] → t[n…]`."""

    start: tuple[int, ...]
    step: tuple[int, ...]
    linear = (0, 1)

    def infer(self, x: Type, u: Type) -> Type:
        if self.window(u.shape).infer(x) != u:
            raise ShapeError(f"{self.name}: {u} does not fit into {x}")
        return x

    def window(self, shape: tuple[int, ...]) -> Slice:
        """The slice of x that changes."""
        return Slice(self.start, self.step, shape)

    def batch(self, n: int, batched: tuple[bool, ...], x: Value, u: Value) -> Value:
        x, u = (v if b else lift(v, n) for v, b in zip((x, u), batched, strict=True))
        return type(self)((0, *self.start), (1, *self.step))(x, u)  # type: ignore[call-arg]


@final
@dataclass(frozen=True)
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

    def kernel(self, k: Any, i: Any, x: Any, u: Any) -> Any:
        inside, j = k.inside(i, self.start, self.step, u.type.shape)
        return k.choose(inside, lambda: u(j), lambda: x(i))


@final
@dataclass(frozen=True)
class AddSlice(Window):
    """`x` with `u` added to the elements `start + step·j`: `t[n…], t[m…] → t[n…]`."""

    start: tuple[int, ...]
    step: tuple[int, ...]

    def array(self, xp: Namespace, x: Any, u: Any) -> Any:
        y = xp.asarray(x, copy=True)
        y[self.window(tuple(u.shape)).slices()] += u
        return y

    def jax(self, jnp: Namespace, x: Any, u: Any) -> Any:
        return x.at[self.window(u.shape).slices()].add(u)

    def torch(self, torch: Namespace, x: Any, u: Any) -> Any:
        return _torch_put(torch, self.window(u.shape), x, u, accumulate=True)

    def transpose(self, ct: Value, x: Value | Type, u: Value | Type) -> Tangents:
        du = self.window(u.shape)(ct) if isinstance(u, Type) else None
        return ct if isinstance(x, Type) else None, du

    def kernel(self, k: Any, i: Any, x: Any, u: Any) -> Any:
        inside, j = k.inside(i, self.start, self.step, u.type.shape)
        return k.choose(inside, lambda: k.scalar(Add(), x(i), u(j)), lambda: x(i))


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
