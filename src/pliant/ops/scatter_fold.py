"""Updates in order at places chosen at run time, NumPy's `ufunc.at`: `v[i] = step(v[i], u)`, one i and u after
the other.

A place that is named several times gets all of its updates. See Note [trails of updates] for the derivatives.
"""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections.abc import Sequence
from math import prod
from typing import Any, ClassVar, final

from pliant.core import ir
from pliant.core.data import frozen
from pliant.core.ir import Const, Function, Namespace, Param, Tangents, Value, Values
from pliant.core.types import Type
from pliant.errors import DTypeError, ShapeError
from pliant.ops.base import fit
from pliant.ops.custom import Holder
from pliant.ops.elementwise import Add, Mul, conj
from pliant.ops.in_jax import jax_module
from pliant.ops.index import Indexed, Scatter, gather, scatter_set
from pliant.ops.shape import lift, move_axis, reshape, slice_axis
from pliant.transforms.evaluate import evaluate
from pliant.transforms.jvp import push

NOT_ANALYTIC = frozenset(("abs", "absolute", "conj", "imag", "real", "sign"))


class Stepped(Holder, Indexed):
    """Holds the step: a function of two numbers, what the place holds and what is given."""

    step: Function

    def next_type(self, x: Type, rest: Sequence[Type]) -> Type:
        """The type of the elements at the places, the operands and the step being right for each other."""
        *indices, u = rest
        picked = self.picked(x, *indices)
        if picked.shape != u.shape:
            raise ShapeError(f"{self.name}: {u} does not fit the places {picked} of {x}")
        ins, outs = [p.type for p in self.step.params], [r.type for r in self.step.results]
        if ins != [Type(x.dtype), Type(u.dtype)] or outs != [Type(x.dtype)]:
            raise DTypeError(f"{self.name}: a step from {ins} to {outs} does not fit {x} and {u}")
        return picked


@final
@frozen
class ScatterFold(Stepped, Scatter):
    """x after `x[i] = step(x[i], u)` for each i and u, in row-major order of the indices."""

    step: Function
    shared: int = 0
    unique: bool = False

    def infer(self, x: Type, *rest: Type) -> Type:
        self.next_type(x, rest)
        return x

    def array(self, xp: Namespace, x: Any, *rest: Any) -> Any:
        return xp.reshape(ScatterTrail(self.step, self.shared).replayed(xp, x, *rest)[0], x.shape)

    def jax(self, jnp: Namespace, x: Any, *rest: Any) -> Any:
        return jnp.reshape(ScatterTrail(self.step, self.shared).replayed_in_jax(jnp, x, *rest)[0], x.shape)

    def numpy(self, np: Namespace, x: Any, *rest: Any) -> Any:
        self.places(np, x, rest[:-1])
        return self.array(np, x, *rest)

    def batch(self, n: int, batched: tuple[bool, ...], *xs: Value) -> Value:
        moved, shared, is_inner = _moved(self, n, batched, xs, 1)
        y = ScatterFold(self.step, shared, self.unique)(*moved)
        return move_axis(y, self.shared + len(xs) - 2, 0) if is_inner else y

    def written(self, k: Any, out: Any, place: Any, new: Any) -> Any:
        return taken(k, self.step, k.load(out, place), new)

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        if not xs[0].type.is_float or (dxs[0] is None and dxs[-1] is None):
            return (self(*xs),), (None,)
        trail = ScatterTrail(self.step, self.shared)
        (t,), (dt,) = trail.jvp(xs, dxs)
        return (trail.after(t, xs[0].type),), (None if dt is None else trail.after(dt, xs[0].type),)


class Trail(Indexed):
    """Updates of x in order, or in the opposite one if `reverse`. The result has what the places hold at last, and
    then what each update found: `t[b…, N + M, r…]` for N places and M updates, both in row-major order."""

    reverse: bool
    updates: ClassVar[int]

    def infer(self, x: Type, *rest: Type) -> Type:
        picked = self.next_type(x, rest)
        count = len(rest) - self.updates
        b, end, rank = self.shared, self.shared + count, rest[0].rank
        return x.with_shape((*x.shape[:b], prod(x.shape[b:end]) + prod(rest[0].shape[b:]), *picked.shape[rank:]))

    @abstractmethod
    def next_type(self, x: Type, rest: Sequence[Type]) -> Type:
        """The type of the elements at the places, the operands being right for each other."""

    @abstractmethod
    def stepped(self, k: Any, old: Any, us: Sequence[Any]) -> Any:
        """What a place holds after an update, in a kernel."""

    @abstractmethod
    def moved_on(self, xp: Namespace, old: Any, us: Sequence[Any]) -> Any:
        """What places hold after an update of each, as arrays."""

    def split(self, xs: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """Indices and updates among the operands that follow x."""
        return [*xs[: -self.updates]], [*xs[-self.updates :]]

    def after(self, trail: Value, x: Type) -> Value:
        """What the places hold at last, in the shape of x."""
        rank = trail.type.rank - self.shared - 1
        size = prod(x.shape[self.shared : x.rank - rank])
        return reshape(slice_axis(trail, self.shared, 0, size), x.shape)

    def found(self, trail: Value, u: Type) -> Value:
        """What each update found, in the shape of the updates."""
        rank = trail.type.rank - self.shared - 1
        size = prod(u.shape[self.shared : u.rank - rank])
        return reshape(slice_axis(trail, self.shared, trail.shape[self.shared] - size, size), u.shape)

    def array(self, xp: Namespace, *xs: Any) -> Any:
        return xp.concatenate(self.replayed(xp, *xs), axis=self.shared)

    def numpy(self, np: Namespace, x: Any, *rest: Any) -> Any:
        self.places(np, x, self.split(rest)[0])
        return self.array(np, x, *rest)

    def jax(self, jnp: Namespace, *xs: Any) -> Any:
        return jnp.concatenate(self.replayed_in_jax(jnp, *xs), axis=self.shared)

    def flat(self, xp: Namespace, x: Any, rest: Sequence[Any]) -> tuple[Any, list[Any], Any, list[Any]]:
        """Places and updates with one axis for all updates of a problem, x with one for all places, the problems."""
        indices, us = self.split(rest)
        b, end, rank = self.shared, self.shared + len(indices), indices[0].ndim
        outer, extents, inner = tuple(x.shape[:b]), tuple(x.shape[b:end]), tuple(x.shape[end:])
        count = prod(indices[0].shape[b:])
        flat = xp.reshape(sum(i * prod(extents[n + 1 :]) for n, i in enumerate(indices)), (*outer, count))
        rows = [xp.reshape(u, (*outer, count, *u.shape[rank:])) for u in us]
        state = xp.reshape(xp.asarray(x, copy=True), (*outer, prod(extents), *inner))
        return flat, rows, state, [xp.reshape(xp.arange(n), (-1, *(1,) * (b - 1 - a))) for a, n in enumerate(outer)]

    def replayed_in_jax(self, jnp: Namespace, x: Any, *rest: Any) -> tuple[Any, Any]:
        """`replayed` as a scan; what is not in range is left out, or read as NaN."""
        flat, rows, state, problems = self.flat(jnp, x, rest)
        indices, b = self.split(rest)[0], self.shared
        pairs = zip(indices, x.shape[b:], strict=False)
        is_inside = functools.reduce(jnp.logical_and, [(i >= 0) & (i < n) for i, n in pairs])
        flat = jnp.where(jnp.reshape(is_inside, flat.shape), flat, state.shape[b])

        def step(state: Any, given: tuple[Any, list[Any]]) -> tuple[Any, Any]:
            at = state.at[(*problems, given[0])]
            old = at.get(mode="fill", wrap_negative_indices=False)
            return at.set(self.moved_on(jnp, old, given[1]), mode="drop", wrap_negative_indices=False), old

        given = jnp.moveaxis(flat, b, 0), [jnp.moveaxis(u, b, 0) for u in rows]
        state, found = jax_module("lax").scan(step, state, given, reverse=self.reverse)
        return state, jnp.moveaxis(found, 0, b)

    def replayed(self, xp: Namespace, x: Any, *rest: Any) -> tuple[Any, Any]:
        """Both parts of the result, flat."""
        flat, rows, state, problems = self.flat(xp, x, rest)
        b, count = self.shared, flat.shape[-1]
        every, found = (slice(None),) * b, list[Any]()
        for j in range(count):
            j = count - 1 - j if self.reverse else j
            place = (*problems, flat[..., j])
            found.append(xp.asarray(state[place], copy=True))  # the next update may find the same place
            state = _put(state, place, self.moved_on(xp, found[-1], [u[(*every, j)] for u in rows]))
        noted = xp.stack(found[::-1] if self.reverse else found, axis=b) if found else state[(*every, slice(0, 0))]
        return state, noted

    def fill(self, k: Any, out: Any, x: Any, *rest: Any) -> None:
        """Copy x, then update in order, noting what was there."""
        indices, us = self.split(rest)
        b, end, rank = self.shared, self.shared + len(indices), indices[0].type.rank
        extents, counts = x.type.shape[b:end], us[0].type.shape[b:rank]

        def copy(j: Any) -> None:
            k.store(out, (*j[:b], _flat(k, j[b:end], extents, 0), *j[end:]), x(j))

        def update(j: Any) -> None:
            s = [k.affine(part, -1, n - 1) for part, n in zip(j[b:rank], counts, strict=True)]
            here = (*j[:b], *(s if self.reverse else j[b:rank]))
            at = [k.checked(k.index(i(here)), n, b + a) for a, (i, n) in enumerate(zip(indices, extents, strict=True))]
            place = (*j[:b], _flat(k, at, extents, 0), *j[rank:])
            old = k.load(out, place)
            k.store(out, (*j[:b], _flat(k, here[b:], counts, prod(extents)), *j[rank:]), old)
            k.store(out, place, self.stepped(k, old, [u((*here, *j[rank:])) for u in us]))

        k.loop(x.type.shape, copy)
        k.loop(us[0].type.shape, update)


@final
@frozen
class ScatterTrail(Stepped, Trail):
    """What `ScatterFold` leaves at the places, and then what each of its updates found."""

    step: Function
    shared: int = 0
    reverse: bool = False
    updates = 1

    def stepped(self, k: Any, old: Any, us: Sequence[Any]) -> Any:
        return taken(k, self.step, old, us[0])

    def moved_on(self, xp: Namespace, old: Any, us: Sequence[Any]) -> Any:
        return evaluate(self.step, (xp.asarray(old), xp.asarray(us[0])), xp)[0]

    def batch(self, n: int, batched: tuple[bool, ...], *xs: Value) -> Value:
        moved, shared, is_inner = _moved(self, n, batched, xs, 1)
        y = ScatterTrail(self.step, shared, self.reverse)(*moved)
        return move_axis(y, self.shared + 1, 0) if is_inner else y

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        (x, *indices, u), dx, du = xs, dxs[0], dxs[-1]
        trail = self(*xs)
        if not trail.type.is_float or (dx is None and du is None):
            return (trail,), (None,)
        old = self.found(trail, x.type.with_shape(u.shape))
        keeps, adds = self.partials(old, u, du)
        start = ir.operators.zeros(x.type) if dx is None else dx
        return (trail,), (ScatterAffine(self.shared, self.reverse)(start, *indices, keeps, adds),)

    def partials(self, old: Value, u: Value, du: Value | None) -> tuple[Value, Value]:
        """The derivative of each step by what it found, and its tangent by what was given."""
        if old.type.kind == "c" and any([n.op.name in NOT_ANALYTIC for n in self.step.nodes]):
            raise DTypeError(f"{self.name}: this update of complex numbers has no complex derivative")
        one = fit(ir.const(1, old.dtype), old.type)
        made = [push(self.step, (old, u), dxs)[1][0] for dxs in ((one, None), (None, du))]
        keeps, adds = (ir.operators.zeros(old.type) if d is None else fit(d, old.type) for d in made)
        return keeps, adds


@final
@frozen
class ScatterAffine(Trail):
    """`x[i] = a·x[i] + c` for each i, a and c in order; then what each update found. Linear in x and c."""

    shared: int = 0
    reverse: bool = False
    updates = 2

    def next_type(self, x: Type, rest: Sequence[Type]) -> Type:
        *indices, a, c = rest
        picked = self.picked(x, *indices)
        if not picked == a == c:
            raise ShapeError(f"{self.name}: {a} and {c} do not fit the places {picked} of {x}")
        return picked

    def stepped(self, k: Any, old: Any, us: Sequence[Any]) -> Any:
        return k.scalar(Add(), k.scalar(Mul(), us[0], old), us[1])

    def moved_on(self, xp: Namespace, old: Any, us: Sequence[Any]) -> Any:
        return us[0] * old + us[1]

    def batch(self, n: int, batched: tuple[bool, ...], *xs: Value) -> Value:
        moved, shared, is_inner = _moved(self, n, batched, xs, 2)
        y = ScatterAffine(shared, self.reverse)(*moved)
        return move_axis(y, self.shared + 1, 0) if is_inner else y

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        (x, *indices, a, c), (dx, da, dc) = xs, (dxs[0], *dxs[-2:])
        y = self(*xs)
        if dx is None and da is None and dc is None:
            return (y,), (None,)
        start, adds = (ir.operators.zeros(v.type) if d is None else d for v, d in ((x, dx), (c, dc)))
        if da is not None:
            adds = adds + da * self.found(y, a.type)
        return (y,), (self(start, *indices, a, adds),)

    def transpose(self, ct: Value, x: Value | Type, *rest: Any) -> Tangents:
        # The same updates backwards: each scales what it finds, which is its own cotangent.
        *indices, a, c = rest
        start = self.after(ct, x if isinstance(x, Type) else x.type)
        back = ScatterAffine(self.shared, not self.reverse)(start, *indices, conj(a), self.found(ct, a.type))
        dx = self.after(back, x) if isinstance(x, Type) else None
        return dx, *(None for _ in indices), None, self.found(back, c) if isinstance(c, Type) else None


def _put(state: Any, place: tuple[Any, ...], new: Any) -> Any:
    """`state[place] = new`, of arrays that may be written or of those that have `.at`."""
    if hasattr(state, "at"):
        return state.at[place].set(new)
    state[place] = new
    return state


def taken(k: Any, step: Function, *given: Any) -> Any:
    """A step in a kernel."""
    env = dict(zip(step.params, given, strict=True))
    for node in step.nodes:
        match node.op:
            case Param():
                pass
            case Const(value, dtype):
                env[node.values[0]] = k.const(value, dtype)
            case op:
                env[node.values[0]] = k.scalar(op, *(env[a] for a in node.args))
    return env[step.results[0]]


def _flat(k: Any, at: Sequence[Any], extents: Sequence[int], start: int) -> Any:
    """The place in row-major order of an index, counted from `start`."""
    flat = k.affine(0, 1, start)
    for axis, part in enumerate(at):
        flat = k.affine(part, prod(extents[axis + 1 :]), 0) + flat
    return flat


def _moved(op: Indexed, n: int, batched: tuple[bool, ...], xs: Values, updates: int) -> tuple[list[Value], int, bool]:
    """Operands of a batch, how many axes they share, and whether the batch is an inner axis of them: it is the
    first of those that are shared if the indices differ from problem to problem."""
    indices = xs[1:-updates]
    is_inner = not any(batched[1:-updates])
    moves = [not is_inner or j in (0, *range(len(xs) - updates, len(xs))) for j in range(len(xs))]
    full = [lift(v, n) if m and not b else v for v, b, m in zip(xs, batched, moves, strict=True)]
    if not is_inner:
        return full, op.shared + 1, False
    rank = indices[0].type.rank
    x, us = full[0], full[-updates:]
    return [move_axis(x, 0, op.shared + len(indices)), *indices, *(move_axis(u, 0, rank) for u in us)], op.shared, True


def scatter_fold(x: Value, indices: Sequence[Value], u: Value, step: Function, *, unique: bool = False) -> Value:
    """x after `x[i] = step(x[i], u)` for each i and u in order; where no place is named twice, all at once."""
    if not unique:
        return ScatterFold(step)(x, *indices, u)
    (new,) = step(gather(x, *indices, unique=True), u)
    return scatter_set(x, indices, fit(new, Type(x.dtype, u.shape)), unique=True)


# Note [trails of updates]
# ~~~~~~~~~~~~~
# An update `v[i] = f(v[i], u)` that found p has the tangent `dv[i] = a·dv[i] + c`, with a = ∂f/∂p and c = ∂f/∂u·du.
# Given all p, a and c are computed at once, so the tangent of a fold is a fold of steps that are all affine:
# `ScatterAffine`. Its transpose sends the cotangent g backwards through the same places: an update reads g[i], which
# is the cotangent of its c, and leaves conj(a)·g[i] plus the cotangent of what it found. That is a `ScatterAffine`
# again. There is no division, so zeros need no care, and no promise that a place is named once.
