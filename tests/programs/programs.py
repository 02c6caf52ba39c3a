"""Programs over many primitives: what the tests of whole passes run on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from pliant.core.build import trace
from pliant.core.ir import Function, Value, Values, const
from pliant.core.types import Type
from pliant.ops.compare import less, maximum
from pliant.ops.complex import conj
from pliant.ops.contract import dot_general
from pliant.ops.custom import Checkpoint, CustomJvp, CustomVjp, stop_gradient
from pliant.ops.elementwise import convert
from pliant.ops.index import gather, scatter_add
from pliant.ops.reduce import argmax, reduce_max, reduce_sum
from pliant.ops.scan import cumsum
from pliant.ops.select import select
from pliant.ops.shape import Iota, broadcast, concatenate, flip, permute, reshape, slice_axis
from pliant.ops.solve import solve
from pliant.ops.sort import sort
from pliant.ops.spectral import eigh
from pliant.ops.transcendental import cos, exp, log, sin, tanh
from pliant.ops.update import update_slice
from pliant.transforms.jvp import jvp
from pliant.transforms.transpose import vjp
from pliant.transforms.vmap import vmap


def f64(*shape: int) -> Type:
    """A type of doubles."""
    return Type("f64", shape)


def gradient(fn: Function, active: Sequence[bool] | None = None) -> Function:
    """Cotangents of the active operands for ones at the first result."""
    active = tuple(p.type.is_float for p in fn.params) if active is None else tuple(active)

    def back(*xs: Value) -> Values:
        ct = broadcast(const(1, fn.results[0].dtype), fn.results[0].shape, ())
        cts = (ct, *(None for _ in fn.results[1:]))
        return tuple(c for c in vjp(fn, xs, cts, active)[1] if c is not None)

    return trace(back, *(p.type for p in fn.params), names=[f"x{i}" for i in range(len(fn.params))])


def elementwise() -> Function:
    def f(x: Value, y: Value) -> Value:
        left = log(1.0 + exp(sin(x) * y))
        return left / (2.0 + cos(x)) - tanh(-y)

    return trace(f, f64(3), f64(3))


def logistic_loss() -> Function:
    def loss(w: Value, data: Value, y: Value) -> Value:
        logits = dot_general(data, w, ((1,), (0,)))
        p = 1.0 / (1.0 + exp(-logits))
        return -(reduce_sum(y * log(p) + (1.0 - y) * log(1.0 - p)) / 5.0)

    return trace(loss, f64(4), f64(5, 4), f64(5))


def softmax() -> Function:
    def f(x: Value) -> Value:
        top = broadcast(reduce_max(x, (1,)), (2, 3), (0,))
        e = exp(x - stop_gradient(top))
        return e / broadcast(reduce_sum(e, (1,)), (2, 3), (0,))

    return trace(f, f64(2, 3))


def movement() -> Function:
    def f(x: Value) -> Value:
        y = permute(flip(x, (0,)), (1, 0))
        z = concatenate((y, reshape(x, (3, 2)) * 2.0), 0)
        return slice_axis(z, 0, 5, 3, -2) + 1.0

    return trace(f, f64(2, 3))


def updates() -> Function:
    def f(x: Value, at: Value, u: Value) -> Value:
        x = scatter_add(x, (at,), u * u)
        x = update_slice(x, slice_axis(x, 0, 0, 2) * 3.0, (1,))
        return gather(cumsum(x, 0), at)

    return trace(f, f64(4), Type("i64", (3,)), f64(3))


def branches() -> Function:
    def f(x: Value) -> Values:
        is_small = less(x, 0.5)
        y = select(is_small, sin(x), 0.0)
        return maximum(y, x), argmax(x, 0), convert(is_small, "f32")

    return trace(f, f64(4))


def dtypes() -> Function:
    def f(z: Value, n: Value) -> Values:
        w = conj(z) * (1 + 2j)
        i = convert(Iota(3)(), "f32")
        return w * convert(i, "c128"), n + 1, i * -0.0, const(float("nan"), "f16")

    return trace(f, Type("c128", (3,)), Type("u8", (3,)))


def linear_algebra() -> Function:
    def f(a: Value, b: Value) -> Values:
        w, v = eigh(a + permute(a, (1, 0)))
        return solve(a, b), sort(w, 0), v

    return trace(f, f64(3, 3), f64(3, 1))


def square(x: Value, y: Value) -> Values:
    """Two results, one of them nonlinear."""
    return x * x * y, x + y


def checkpoint() -> Function:
    body = trace(square, f64(3), f64(3))
    return trace(lambda x, y: Checkpoint(body).apply(sin(x), y)[0] * x, f64(3), f64(3))


def custom_jvp() -> Function:
    body = trace(lambda x: exp(x), f64(3))
    tangent = trace(lambda x, dx: dx * exp(x), f64(3), f64(3))
    return trace(lambda x: CustomJvp(body, tangent)(x) * x, f64(3))


def custom_vjp() -> Function:
    body = trace(lambda x, y: x * sin(y), f64(3), f64(3))
    forward = trace(lambda x, y: (x * sin(y), sin(y), x * cos(y)), f64(3), f64(3))
    backward = trace(lambda a, b, ct: (ct * a, ct * b), f64(3), f64(3), f64(3))
    return trace(lambda x, y: CustomVjp(body, forward, backward)(x, y) * y, f64(3), f64(3))


SOURCES: Final[tuple[Callable[[], Function], ...]] = (
    elementwise, logistic_loss, softmax, movement, updates, branches, dtypes, linear_algebra,
    checkpoint, custom_jvp, custom_vjp,
)  # fmt: skip
SMOOTH: Final = (elementwise, logistic_loss, softmax, movement, updates, checkpoint, custom_jvp, custom_vjp)


def _derived() -> dict[str, Callable[[], Function]]:
    made: dict[str, Callable[[], Function]] = {}
    for source in SMOOTH:
        name = source.__name__
        made[f"{name}.gradient"] = lambda source=source: gradient(source())
        made[f"{name}.jvp"] = lambda source=source: jvp(source(), tuple(p.type.is_float for p in source().params))
        made[f"{name}.vmap"] = lambda source=source: vmap(source(), 2, (True, *(False for _ in source().params[1:])))
    return made


PROGRAMS: Final[dict[str, Callable[[], Function]]] = {**{f.__name__: f for f in SOURCES}, **_derived()}
"""Name → how to make the program."""
