"""Functions of JAX with derivatives of their own, and solutions of linear equations, which have one too.

What tangents and cotangents are is translated when they are asked for: a rule may call the function that it is of, and
so may the rule of that, without end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from importlib import import_module
from typing import Any, Final, cast, final

from pliant.backends.from_jax.control import closed
from pliant.backends.from_jax.walk import HolderRule, Walk, type_of, unsupported
from pliant.core.build import trace
from pliant.core.data import frozen
from pliant.core.ir import Function, Namespace, Tangents, Value, Values
from pliant.core.types import DTYPES, Type
from pliant.ops.custom import CustomJvp, CustomVjp, Wrapper, lifted, pick, spread, types_of
from pliant.transforms.jvp import instantiate
from pliant.transforms.vmap import vmap

Custom = CustomJvp | CustomVjp


@final
class Rule:
    """What an operation of JAX is there, and what makes the primitive that has its derivative. Two are equal only if
    they are one."""

    def __init__(self, alone: Callable[..., Any], make: Callable[[], Custom], walk: Walk, eqn: Any) -> None:
        """alone: the operation, of arrays of JAX."""
        self.alone, self.make, self.walk, self.eqn = alone, make, walk, eqn

    @cached_property
    def made(self) -> Custom:
        """The primitive."""
        return self.make()

    def mapped(self, n: int, flags: tuple[bool, ...]) -> Rule:
        """The same for n problems; flags: which operands are stacked."""
        axes = tuple([0 if f else None for f in flags])
        alone = import_module("jax").vmap(self.alone, in_axes=axes, axis_size=n)
        return Rule(alone, lambda: _mapped(self.made, n, flags), self.walk, self.eqn)

    def transposed(self, types: Sequence[Type], linear: Sequence[bool], made: Sequence[Type]) -> Function:
        """Cotangents of the linear operands, of the others and of cotangents of what is made. JAX's are conjugate."""
        jax, known = import_module("jax"), len(linear) - sum(linear)
        conj, like = jax.numpy.conj, [jax.ShapeDtypeStruct(t.shape, DTYPES[t.dtype]) for t in types]

        def pulled(*args: Any) -> Any:
            given = args[:known]

            def of_linear(*unknown: Any) -> Any:
                rest, others = iter(unknown), iter(given)
                return self.alone(*[next(rest) if f else next(others) for f in linear])

            cts = [conj(ct) for ct in args[known:]]
            return [conj(c) for c in jax.linear_transpose(of_linear, *pick(like, linear))(cts)]

        wanted = [jax.ShapeDtypeStruct(t.shape, DTYPES[t.dtype]) for t in made]
        return _program(self.walk, self.eqn, pulled, [*pick(like, [not f for f in linear]), *wanted])

    def __repr__(self) -> str:
        return "of JAX"


@final
@frozen
class FromJax(Wrapper):
    """The results of `body`, with a derivative that a function of JAX says."""

    body: Function
    rule: Rule

    def infer(self, *xs: Type) -> tuple[Type, ...]:
        return types_of(self, self.body, xs)

    def expand(self, *xs: Value) -> Values:
        return self.body(*xs)

    def jax(self, jnp: Namespace, *xs: Any) -> tuple[Any, ...]:
        return tuple(self.rule.alone(*xs))

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        return self.rule.made.jvp(xs, dxs)

    def transpose(self, ct: Tangents | Value, *xs: Value | Type) -> Tangents:
        linear, made = [isinstance(x, Type) for x in xs], [y.type for y in self.body.results]
        pulled = self.rule.transposed([p.type for p in self.body.params], linear, made)
        cts = instantiate(self.body.results, ct if isinstance(ct, tuple) else (ct,))
        known = [x for x in xs if isinstance(x, Value)]
        return spread(pulled(*known, *cts), linear)

    def batch(self, n: int, batched: tuple[bool, ...], *xs: Value) -> Values:
        flags = tuple([b or x.type.is_float for b, x in zip(batched, xs, strict=True)])  # as cotangents are
        return FromJax(vmap(self.body, n, flags), self.rule.mapped(n, flags)).apply(*lifted(n, xs, batched, flags))


def _mapped(op: Custom, n: int, flags: tuple[bool, ...]) -> Custom:
    """The primitive for n problems."""
    body = vmap(op.body, n, flags)
    if isinstance(op, CustomJvp):
        floats = pick(flags, [p.type.is_float for p in op.body.params])
        return CustomJvp(body, vmap(op.tangent, n, (*flags, *floats)))
    return CustomVjp(body, vmap(op.forward, n, flags), vmap(op.backward, n, (True,) * len(op.backward.params)))


def custom_jvp(walk: Walk, eqn: Any, *xs: Value) -> Values:
    """What has tangents of its own."""
    body, free = walk.function(closed(eqn.params["call_jaxpr"]))
    rule = Rule(_alone(eqn), lambda: _with_tangents(walk, eqn, body), walk, eqn)
    return FromJax(body, rule).apply(*xs, *free)


def custom_linear_solve(walk: Walk, eqn: Any, *xs: Value) -> Values:
    """The solution of linear equations, whose derivative is that of these."""
    lengths, count = eqn.params["const_lengths"], len(xs)
    first = lengths.matvec + lengths.vecmat
    sides = first + lengths.solve + (lengths.transpose_solve or 0)
    solve, free = walk.function(eqn.params["jaxprs"].solve, "solve")

    def solved(*args: Value) -> Values:
        return solve(*args[first : first + lengths.solve], *args[sides:count], *args[count:])

    body = trace(solved, *(x.type for x in (*xs, *free)))
    rule = Rule(_alone(eqn), lambda: _with_tangents(walk, eqn, body), walk, eqn)
    return FromJax(body, rule).apply(*xs, *free)


def _with_tangents(walk: Walk, eqn: Any, body: Function) -> CustomJvp:
    """The primitive of what JAX's forward mode makes of an operation. body: its values, of its operands and of arrays
    that it holds, which have no tangents."""
    jax, alone, avals = import_module("jax"), _alone(eqn), [v.aval for v in eqn.invars]
    count, floats = len(avals), [type_of(a).is_float for a in avals]

    def pushed(*args: Any) -> Any:
        rest = iter(args[count:])
        dxs = tuple([next(rest) if f else _no_tangent(x) for x, f in zip(args[:count], floats, strict=True)])
        ys, dys = jax.jvp(alone, args[:count], dxs)
        return [d for y, d in zip(ys, dys, strict=True) if jax.numpy.issubdtype(y.dtype, jax.numpy.inexact)]

    tangent = _program(walk, eqn, pushed, [*avals, *pick(avals, floats)])
    types, width = [p.type for p in body.params], len(body.params)

    def tangents(*args: Value) -> Values:
        return tangent(*args[:count], *args[width : width + sum(floats)])

    return CustomJvp(body, trace(tangents, *types, *[t for t in types if t.is_float]))


def custom_vjp(walk: Walk, eqn: Any, *xs: Value) -> Values:
    """What has cotangents of its own."""
    own = next(eqn.params[name] for name in ("call_jaxpr", "fun_jaxpr") if name in eqn.params)
    body, free = walk.function(closed(own))
    if free:
        raise unsupported(eqn, ", of a function that holds arrays,")
    rule = Rule(_alone(eqn), lambda: _with_cotangents(walk, eqn, body), walk, eqn)
    return FromJax(body, rule).apply(*xs)


def _with_cotangents(walk: Walk, eqn: Any, body: Function) -> CustomVjp:
    """The primitive of what JAX's reverse mode makes of an operation; its cotangents of complex numbers are conjugate
    to ours."""
    jax, alone, structures, outs = import_module("jax"), _alone(eqn), list[Any](), [v.aval for v in eqn.outvars]
    floats, moved = ([type_of(v.aval).is_float for v in vs] for vs in (eqn.invars, eqn.outvars))
    conj, kept = jax.numpy.conj, list[Any]()

    def forward(*xs: Any) -> Any:
        ys, pull = jax.vjp(alone, *xs)
        residuals, structure = jax.tree_util.tree_flatten(pull)
        structures.append(structure)
        kept[:] = residuals
        return [*ys, *residuals]

    ahead = _program(walk, eqn, forward, [v.aval for v in eqn.invars])

    def backward(*args: Any) -> Any:
        pull, rest = jax.tree_util.tree_unflatten(structures[-1], args[: len(kept)]), iter(args[len(kept) :])
        cts = [conj(next(rest)) if m else _no_tangent(a) for a, m in zip(outs, moved, strict=True)]
        return [conj(d) for d, f in zip(pull(cts), floats, strict=True) if f]

    back = _program(walk, eqn, backward, [*[r.aval for r in kept], *pick(outs, moved)])
    return CustomVjp(body, ahead, back)


def _alone(eqn: Any) -> Callable[..., Any]:
    """One operation as a function of JAX; of its operands, and of others, which it does not look at."""
    count = len(eqn.invars)

    def alone(*xs: Any) -> Any:
        xs = xs[:count]
        found: Any = eqn.primitive.get_bind_params(eqn.params)
        parts, params = ((), cast("Any", found)) if isinstance(found, dict) else found
        return eqn.primitive.bind(*parts, *xs, **params)

    return alone


def _program(walk: Walk, eqn: Any, f: Callable[..., Any], avals: Sequence[Any]) -> Function:
    """The function of JAX for arrays of these types, as one of ours."""
    jax = import_module("jax")
    with jax.enable_x64(walk.is_wide):
        program = jax.make_jaxpr(f)(*[jax.ShapeDtypeStruct(a.shape, a.dtype) for a in avals])
    made, free = walk.function(program, "derivative")
    if free:
        raise unsupported(eqn, ", with a rule for its derivative that holds arrays,")
    return made


def _no_tangent(x: Any) -> Any:
    """The tangent of what has none."""
    return import_module("numpy").zeros(x.shape, import_module("jax").dtypes.float0)


HOLDERS: Final[dict[str, HolderRule]] = {
    "custom_jvp_call": custom_jvp, "custom_linear_solve": custom_linear_solve, "custom_vjp_call": custom_vjp,
    "custom_vjp_call_jaxpr": custom_vjp,
}  # fmt: skip
