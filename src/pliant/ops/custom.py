"""Primitives that say how to differentiate: nothing, later, or by the user's own rule.

They hold functions or stand for the identity, compute nothing of their own, and are opened by
`transforms.inline` once derivatives have been taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar, cast, final

from pliant.core import ir
from pliant.core.build import expanded, trace
from pliant.core.data import frozen
from pliant.core.inner import functions_of
from pliant.core.ir import Function, Namespace, Node, Op, Tangents, Value, Values
from pliant.core.parse import Parser
from pliant.core.print import Printer, parameters
from pliant.core.scope import scope
from pliant.core.types import Type
from pliant.errors import DifferentiationError, ShapeError
from pliant.ops import in_jax
from pliant.ops.base import Movement
from pliant.transforms.jvp import instantiate, jvp, push
from pliant.transforms.transpose import pull, vjp
from pliant.transforms.vmap import vmap, vmap_apart

T = TypeVar("T")


class Marked(Op):
    """x itself; what says how it is differentiated."""

    spares = True

    def infer(self, x: Type) -> Type:
        return x

    def array(self, xp: Namespace, x: Any) -> Any:
        return x

    def batch(self, n: int, batched: tuple[bool, ...], x: Value) -> Value:
        return self(x)

    def inline(self, x: Value) -> Values:
        """Nothing is left of it once derivatives are taken."""
        return (x,)


@final
class StopGradient(Marked):
    """x, as if it did not depend on anything."""

    def jax(self, jnp: Namespace, x: Any) -> Any:
        return in_jax.jax_module("lax").stop_gradient(x)

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        return self.apply(*xs), (None,)


@final
@frozen
class NoDerivative(Marked):
    """x, which nobody may differentiate; reason: why not."""

    reason: str

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        raise DifferentiationError(self.reason).at(("differentiated here", xs[0].origin))


@final
class Barrier(Movement):
    """x, known to no rewrite rule as x: what is made from it is computed anew.

    A checkpoint recomputes from such operands, or equal expressions would be one value, which
    lives from the first use to the last: the memory that a checkpoint is there to save.
    """

    def infer(self, x: Type) -> Type:
        return x

    def array(self, xp: Namespace, x: Any) -> Any:
        return x

    def jax(self, jnp: Namespace, x: Any) -> Any:
        return in_jax.jax_module("lax").optimization_barrier(x)

    def transpose(self, ct: Value, x: Value | Type) -> Tangents:
        return (ct,)

    def batch(self, n: int, batched: tuple[bool, ...], x: Value) -> Value:
        return self(x)

    def source(self, k: Any, i: Any, x: Type) -> Any:
        return i


class Holder(Op):
    """Holds functions in some of its fields; the text form shows them whole, in order."""

    def write(self, node: Node, names: Sequence[str], to: Printer) -> None:
        """`%y: type = op(operands, parameters) {`, its functions, `}`."""
        held = functions_of(self)
        left = ", ".join(map(to.bind, node.values, names))
        args = [to.use(a) for a in node.args]
        args += [f"{k}={v!r}" for k, v in parameters(self).items() if k not in held]
        with to.block(f"{left} = {self.name}({', '.join(args)})"):
            for fn in held.values():
                to.function(fn)

    @classmethod
    def read(cls, text: Parser) -> Values:
        """Parse what `write` wrote, from after the primitive's name."""
        xs, settings = text.call()
        text.take(text="{")
        held: list[Function] = []
        while not text.accept("}"):
            outer, text.scope = text.scope, {}  # held functions are closed
            with scope():
                held.append(text.function())
            text.scope = outer
        return cls(*held, **settings).apply(*xs)


class Wrapper(Holder):
    """Holds functions for the sake of derivatives: opened once these are taken."""

    def inline(self, *xs: Value) -> Values:
        """What it expands to."""
        out = self.expand(*xs)
        return out if isinstance(out, tuple) else (out,)


@final
@frozen
class Checkpoint(Wrapper):
    """The results of `body`, whose derivative keeps nothing but the operands.

    Reverse mode computes the body again, from `Barrier` of its operands.
    """

    body: Function

    def infer(self, *xs: Type) -> tuple[Type, ...]:
        return types_of(self, self.body, xs)

    def expand(self, *xs: Value) -> Values:
        return self.body(*xs)

    def jax(self, jnp: Namespace, *xs: Any) -> tuple[Any, ...]:
        return in_jax.checkpoint(self.body, jnp, xs)

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        active = [d is not None for d in dxs]
        floats = [r.type.is_float for r in self.body.results]
        out = Checkpoint(jvp(self.body, tuple(active))).apply(*xs, *present(dxs))
        return out[: len(floats)], spread(out[len(floats) :], floats)

    def linearize(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        """The results, and tangents that read the operands only."""
        return self.apply(*xs), pushforward(self.body, xs, dxs)

    def batch(self, n: int, batched: tuple[bool, ...], *xs: Value) -> Values:
        return Checkpoint(vmap_apart(self.body, n, batched)[0]).apply(*xs)


@final
@frozen
class Pushforward(Wrapper):
    """Tangents of the float results of `body`: `(x…, dx of active…) → (dy…)`, linear in the dx."""

    body: Function
    active: tuple[bool, ...]

    def infer(self, *xs: Type) -> tuple[Type, ...]:
        given = xs[: len(self.active)]
        if xs[len(given) :] != pick(given, self.active):
            raise ShapeError(f"pushforward: tangents {', '.join(map(str, xs[len(given) :]))} do not fit the operands")
        return tuple(t for t in types_of(self, self.body, given) if t.is_float)

    def expand(self, *args: Value) -> Values:
        xs = args[: len(self.active)]
        ys, dys = push(self.body, xs, spread(args[len(xs) :], self.active))
        return tuple(d for y, d in zip(ys, instantiate(ys, dys), strict=True) if y.type.is_float)

    def linearize(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        """As for a checkpoint: derivatives of derivatives save memory too."""
        return self.apply(*xs), pushforward(expanded(self, *(x.type for x in xs)), xs, dxs)

    def transpose(self, ct: Tangents | Value, *args: Value | Type) -> Tangents:
        xs = cast("Values", args[: len(self.active)])
        wanted = [isinstance(a, Type) for a in args[len(xs) :]]
        positions = iter(wanted)
        active = tuple(a and next(positions) for a in self.active)
        cts = iter(ct if isinstance(ct, tuple) else (ct,))
        full = tuple(next(cts) if r.type.is_float else None for r in self.body.results)

        def back(*args: Value) -> Values:
            operands, rest = args[: len(xs)], iter(args[len(xs) :])
            given = tuple(None if c is None else next(rest) for c in full)
            return instantiate(pick(operands, active), pick(vjp(self.body, operands, given, active)[1], active))

        fn = trace(back, *(x.type for x in xs), *(c.type for c in present(full)))
        dxs = Checkpoint(fn).apply(*map(Barrier(), xs), *present(full))
        return (None,) * len(xs) + spread(dxs, wanted)

    def batch(self, n: int, batched: tuple[bool, ...], *args: Value) -> Values:
        m = len(self.active)
        flags = [x or (d or False) for x, d in zip(batched[:m], spread(batched[m:], self.active), strict=True)]
        wanted = (*flags, *pick(flags, self.active))
        return Pushforward(vmap(self.body, n, tuple(flags)), self.active).apply(*lifted(n, args, batched, wanted))


@final
@frozen
class CustomJvp(Wrapper):
    """The results of `body`; their tangents by the user's rule.

    tangent: `(x…, dx of float operands…) → (dy of float results…)`, linear in the dx.
    """

    body: Function
    tangent: Function

    def infer(self, *xs: Type) -> tuple[Type, ...]:
        types = types_of(self, self.body, xs)
        made = types_of(self, self.tangent, (*xs, *(x for x in xs if x.is_float)))
        require(self, "tangents", made, [t for t in types if t.is_float])
        return types

    def expand(self, *xs: Value) -> Values:
        return self.body(*xs)

    def jax(self, jnp: Namespace, *xs: Any) -> tuple[Any, ...]:
        return in_jax.custom_jvp(self, jnp, xs)

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        ys = self.apply(*xs)
        full = [d for x, d in zip(xs, instantiate(xs, dxs), strict=True) if x.type.is_float]
        return ys, spread(self.tangent(*xs, *full), [y.type.is_float for y in ys])

    def batch(self, n: int, batched: tuple[bool, ...], *xs: Value) -> Values:
        flags = (*batched, *(b for b, p in zip(batched, self.body.params, strict=True) if p.type.is_float))
        return CustomJvp(vmap(self.body, n, batched), vmap(self.tangent, n, flags)).apply(*xs)


@final
@frozen
class CustomVjp(Wrapper):
    """The results of `body`; their cotangents by the user's rule.

    forward: `(x…) → (y…, residual…)`; backward: `(residual…, ct of float results…) → (ct of float
    operands…)`, linear in the ct.
    """

    body: Function
    forward: Function
    backward: Function

    def infer(self, *xs: Type) -> tuple[Type, ...]:
        types = types_of(self, self.body, xs)
        made = types_of(self, self.forward, xs)
        require(self, "forward results", made[: len(types)], types)
        cts = types_of(self, self.backward, (*made[len(types) :], *(t for t in types if t.is_float)))
        require(self, "cotangents", cts, [x for x in xs if x.is_float])
        return types

    def expand(self, *xs: Value) -> Values:
        return self.body(*xs)

    def jax(self, jnp: Namespace, *xs: Any) -> tuple[Any, ...]:
        return in_jax.custom_vjp(self, jnp, xs)

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        ys = self.apply(*xs)
        residuals = self.forward(*xs)[len(ys) :]
        full = [d for x, d in zip(xs, instantiate(xs, dxs), strict=True) if x.type.is_float]
        dys = CustomTangent(self.backward, len(residuals)).apply(*residuals, *full) if full else ()
        floats = [y.type.is_float for y in ys]
        return ys, spread(dys, floats) if dys else (None,) * len(ys)

    def batch(self, n: int, batched: tuple[bool, ...], *xs: Value) -> Values:
        flags = tuple(b or x.type.is_float for b, x in zip(batched, xs, strict=True))  # as their cotangents are
        body, forward = vmap(self.body, n, flags), vmap(self.forward, n, flags)
        backward = vmap(self.backward, n, (True,) * len(self.backward.params))
        return CustomVjp(body, forward, backward).apply(*lifted(n, xs, batched, flags))


@final
@frozen
class CustomTangent(Wrapper):
    """The transpose of a user's `backward`: `(residual…, dx…) → (dy…)`, linear in the dx.

    Reverse mode transposes it again and finds `backward` as it was written; only forward mode needs
    every primitive in it to have a transpose.
    """

    backward: Function
    residuals: int

    def infer(self, *xs: Type) -> tuple[Type, ...]:
        require(self, "tangents", xs[self.residuals :], [r.type for r in self.backward.results])
        params = [p.type for p in self.backward.params]
        require(self, "residuals", xs[: self.residuals], params[: self.residuals])
        return tuple(params[self.residuals :])

    def expand(self, *xs: Value) -> Values:
        fn, known = self.backward, xs[: self.residuals]
        cts = fn.params[self.residuals :]
        results = Function(fn.name, fn.params[: self.residuals], fn.results)(*known)
        return instantiate(cts, pull(results, cts, xs[self.residuals :]))

    def transpose(self, ct: Tangents | Value, *xs: Value | Type) -> Tangents:
        given = ct if isinstance(ct, tuple) else (ct,)
        known = cast("Values", xs[: self.residuals])
        cts = instantiate(self.backward.params[self.residuals :], given)
        back = self.backward(*known, *cts)
        wanted = [isinstance(x, Type) for x in xs[self.residuals :]]
        return (None,) * self.residuals + tuple(b if w else None for b, w in zip(back, wanted, strict=True))

    def batch(self, n: int, batched: tuple[bool, ...], *xs: Value) -> Values:
        m = self.residuals
        backward = vmap(self.backward, n, (*batched[:m], *(True for _ in self.backward.params[m:])))
        wanted = (*batched[:m], *(True for _ in xs[m:]))
        return CustomTangent(backward, m).apply(*lifted(n, xs, batched, wanted))


def stop_gradient(x: Value) -> Value:
    """x, as if it did not depend on anything."""
    return StopGradient()(x)


def pushforward(body: Function, xs: Values, dxs: Tangents) -> Tangents:
    """Tangents of all results of `body`, as one linear primitive."""
    floats = [r.type.is_float for r in body.results]
    if not any(floats):
        return (None,) * len(floats)
    active = tuple(d is not None for d in dxs)
    return spread(Pushforward(body, active).apply(*xs, *present(dxs)), floats)


def types_of(op: Op, fn: Function, xs: Sequence[Type]) -> tuple[Type, ...]:
    """Result types of a held function, whose parameters must have the types `xs`."""
    require(op, "operands", xs, [p.type for p in fn.params])
    return tuple(r.type for r in fn.results)


def require(op: Op, what: str, given: Sequence[Type], wanted: Sequence[Type]) -> None:
    """Raise ShapeError unless the types agree."""
    if tuple(given) != tuple(wanted):
        raise ShapeError(f"{op.name}: {what} are ({texts(given)}), expected ({texts(wanted)})")


def texts(types: Sequence[Type]) -> str:
    """Types separated by commas."""
    return ", ".join(map(str, types))


def pick(xs: Iterable[T], keep: Iterable[bool]) -> tuple[T, ...]:
    """The xs whose flag is set."""
    return tuple(x for x, k in zip(xs, keep, strict=True) if k)


def spread(xs: Sequence[T], places: Sequence[bool]) -> tuple[T | None, ...]:
    """The inverse of `pick`: xs at the set flags, None elsewhere."""
    rest = iter(xs)
    return tuple(next(rest) if p else None for p in places)


def present(dxs: Tangents) -> Values:
    """The tangents that are not an exact zero."""
    return tuple(d for d in dxs if d is not None)


def lifted(n: int, xs: Values, batched: Sequence[bool], wanted: Sequence[bool]) -> Values:
    """The operands, those that must be batched and are not repeated along a new axis 0."""
    rows = zip(xs, batched, wanted, strict=True)
    return tuple(ir.operators.lift(x, n) if w and not b else x for x, b, w in rows)


RULES = ()
