"""How a function with NumPy value, push and pull enters each library's own differentiation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from pliant.core.ir import Op, Tangents, Value, Values
from pliant.core.types import DTYPES, Type
from pliant.diff.optional import package
from pliant.diff.systems import JAX, MLX, Autograd, Pliant, PyTorch
from pliant.errors import UnsupportedError
from pliant.frontend.array import fresh
from pliant.frontend.convert import as_traced
from pliant.ops.base import Linear
from pliant.ops.shape import Slice, concatenate, reshape

Bridge = Callable[[Any, Any, tuple[Any, ...]], Any]  # (function, x, constants) → y


def in_pliant(function: Any, x: Any, constants: tuple[Any, ...]) -> Any:
    """A primitive that calls back."""
    values = [as_traced(c).value for c in constants]
    made = function.result_type(x, constants)
    return fresh(Foreign(function, made)(x.value, *values), is_array=True)


class Called(Op):
    """A primitive that calls back; batches row by row."""

    def batch(self, n: int, batched: tuple[bool, ...], *xs: Value) -> Value:
        rows: list[Value] = [
            self(*[_row(x, i) if b else x for x, b in zip(xs, batched, strict=True)]) for i in range(n)
        ]
        return concatenate(tuple([reshape(row, (1, *row.shape)) for row in rows]), 0)


def _row(x: Value, i: int) -> Value:
    rest = x.shape[1:]
    return reshape(Slice((i, *[0] * len(rest)), (1,) * len(x.shape), (1, *rest))(x), rest)


class Derivative(Called, Linear):
    """A derivative that calls back: linear in its first operand, and not differentiated in the others."""

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        if any([d is not None for d in dxs[1:]]):
            raise _only("once")
        return Linear.jvp(self, xs, dxs)


def _only(how: str) -> UnsupportedError:
    return UnsupportedError(
        f"a function that another system differentiates can be differentiated only {how}",
        hint="use one system for all, or SecondOrder(FiniteDifferences(), system)",
    )


@final
@dataclass(frozen=True)
class Foreign(Called):
    """`y = f(x, constants…)` by a function outside the program."""

    function: Any
    type: Type

    def infer(self, *xs: Type) -> Type:
        return self.type

    def array(self, xp: Any, x: Any, *constants: Any) -> Any:
        return np.asarray(self.function.value(x, *constants))

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        if any([d is not None for d in dxs[1:]]):
            raise _only("with respect to its first argument")
        y, dx = self(*xs), dxs[0]
        return (y,), (None if dx is None else ForeignPush(self.function, self.type)(dx, *xs),)


@final
@dataclass(frozen=True)
class ForeignPush(Derivative):
    """The tangent of a foreign function: linear in dx, of operands dx, x, constants…."""

    function: Any
    type: Type

    def infer(self, dx: Type, *xs: Type) -> Type:
        return self.type

    def array(self, xp: Any, dx: Any, x: Any, *constants: Any) -> Any:
        return np.asarray(self.function.push(x, dx, *constants))

    def transpose(self, ct: Value, dx: Value | Type, *xs: Value) -> Tangents:
        like = dx if isinstance(dx, Type) else dx.type
        return (ForeignPull(self.function, like)(ct, *xs), *(None for _ in xs))


@final
@dataclass(frozen=True)
class ForeignPull(Derivative):
    """The cotangent of a foreign function: linear in ct, of operands ct, x, constants…."""

    function: Any
    type: Type

    def infer(self, ct: Type, *xs: Type) -> Type:
        return self.type

    def array(self, xp: Any, ct: Any, x: Any, *constants: Any) -> Any:
        return np.asarray(self.function.pull(x, ct, *constants))

    def transpose(self, ct: Value, given: Value | Type, *xs: Value) -> Tangents:
        like = given if isinstance(given, Type) else given.type
        return (ForeignPush(self.function, like)(ct, *xs), *(None for _ in xs))


def in_jax(function: Any, x: Any, constants: tuple[Any, ...]) -> Any:
    """`jax.custom_vjp` of `jax.pure_callback`s."""
    jax = package("jax", "JAX", "jax")
    made = function.result_type(x, constants)
    y_like = jax.ShapeDtypeStruct(made.shape, jax.dtypes.canonicalize_dtype(DTYPES[made.dtype]))
    x_like = jax.ShapeDtypeStruct(x.shape, x.dtype)

    def back(call: Callable[..., Any], like: Any, *args: Any) -> Any:
        def on_numpy(*args: Any) -> Any:
            return np.asarray(call(*map(np.asarray, args)), like.dtype)

        return jax.pure_callback(on_numpy, like, *args, vmap_method="sequential")

    @jax.custom_vjp
    def called(x: Any, constants: Any) -> Any:
        return back(function.value, y_like, x, *constants)

    def forward(x: Any, constants: Any) -> Any:
        return called(x, constants), (x, constants)

    def backward(kept: Any, ct: Any) -> Any:
        x, constants = kept
        return back(function.pull, x_like, x, jax.numpy.conj(ct), *constants), None

    called.defvjp(forward, backward)
    return called(x, constants)


def in_torch(function: Any, x: Any, constants: tuple[Any, ...]) -> Any:
    """A `torch.autograd.Function`; batches in a loop."""
    torch = package("torch", "PyTorch", "torch")
    numbers = tuple([c.detach().numpy() if isinstance(c, torch.Tensor) else c for c in constants])

    def tensor(made: Any) -> Any:
        return torch.from_numpy(np.array(made)).to(x.dtype)

    def array(x: Any) -> Any:
        return x.detach().numpy()

    def apply(call: Callable[..., Any], *args: Any) -> Any:
        return _torch_call(torch, tensor, array, lambda *args: call(*args, *numbers)).apply(*args)

    class Tape(torch.autograd.Function):
        @staticmethod
        def forward(x: Any) -> Any:
            return tensor(function.value(array(x), *numbers))

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx: Any, ct: Any) -> Any:
            return apply(function.pull, ctx.saved_tensors[0], ct)

        @staticmethod
        def jvp(ctx: Any, dx: Any) -> Any:
            return apply(function.push, ctx.saved_tensors[0], dx)

    Tape.vmap = staticmethod(_mapped(torch, Tape.apply))
    return Tape.apply(x)


def _torch_call(torch: Any, tensor: Any, array: Any, call: Callable[..., Any]) -> Any:
    """A function whose derivative is refused, and that torch.func may batch."""

    class Plain(torch.autograd.Function):
        @staticmethod
        def forward(*args: Any) -> Any:
            return tensor(call(*map(array, args)))

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            """Nothing is kept."""

        @staticmethod
        def backward(ctx: Any, ct: Any) -> Any:
            raise _only("once")

        @staticmethod
        def jvp(ctx: Any, *dxs: Any) -> Any:
            raise _only("once")

    Plain.vmap = staticmethod(_mapped(torch, Plain.apply))
    return Plain


def _mapped(torch: Any, call: Callable[..., Any]) -> Callable[..., Any]:
    """The vmap rule of a function: a loop."""

    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        rows = [
            call(*[a if d is None else a.select(d, n) for a, d in zip(args, in_dims, strict=True)])
            for n in range(info.batch_size)
        ]
        return torch.stack(rows), 0

    return vmap


def in_autograd(function: Any, x: Any, constants: tuple[Any, ...]) -> Any:
    """A primitive of autograd."""
    extend = package("autograd.extend", "Autograd", "autograd")

    @extend.primitive
    def called(x: Any) -> Any:
        return function.value(x, *constants)

    def backward(y: Any, x: Any) -> Callable[[Any], Any]:
        return lambda ct: function.pull(x, ct, *constants)

    extend.defvjp(called, backward)
    return called(x)


def in_mlx(function: Any, x: Any, constants: tuple[Any, ...]) -> Any:
    """An `mx.custom_function`."""
    mx = package("mlx.core", "MLX", "mlx[cpu]")

    @mx.custom_function
    def called(x: Any) -> Any:
        return mx.array(function.value(np.array(x), *constants))

    @called.vjp
    def backward(x: Any, ct: Any, y: Any) -> Any:
        return mx.array(function.pull(np.array(x), np.array(ct), *constants))

    assert backward is not None
    return called(x)


BRIDGES: Final[Mapping[str, tuple[type, Bridge]]] = {
    "pliant": (Pliant, in_pliant),
    "jax": (JAX, in_jax),
    "jaxlib": (JAX, in_jax),
    "torch": (PyTorch, in_torch),
    "autograd": (Autograd, in_autograd),
    "mlx": (MLX, in_mlx),
}
