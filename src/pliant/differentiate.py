"""Derivatives of Python functions, written on traced arrays; `api` compiles them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, cast, final

from pliant.active import EVERY, activate
from pliant.compiled import Compiled
from pliant.core.build import abstract
from pliant.core.data import frozen
from pliant.core.ir import Function, Value, Values, const, nodes, param
from pliant.core.origin import CodeOrigin, Origin, here, returned_by
from pliant.core.types import REAL_OF, Type
from pliant.errors import ArgumentError, DifferentiationError, DTypeError, ShapeError
from pliant.frontend.array import TracedArray, fresh
from pliant.frontend.closed import Closed
from pliant.frontend.convert import as_traced, cast_value
from pliant.frontend.kinds import is_traced
from pliant.frontend.signature import containers, flatten, places, pruned, selected, unflatten
from pliant.ops.compare import equal
from pliant.ops.complex import complex as as_complex
from pliant.ops.complex import real
from pliant.ops.elementwise import convert
from pliant.ops.shape import broadcast, iota, permute, reshape
from pliant.transforms.jvp import instantiate, push
from pliant.transforms.transpose import linearize, pull
from pliant.transforms.vmap import vmap


def value_and_grad(
    f: Callable[..., Any], argnums: Any, has_aux: bool, args: Any, kwargs: Any, name: str = "grad"
) -> tuple[Any, Any]:
    """((value, aux) or value, gradient) of a scalar function. name: what is asked for, in errors."""
    active = activate(f, args, kwargs, argnums, name)
    closed = active.closed
    value = _value(f, closed, has_aux, name)
    ys, dxs, dys = linearize(closed.fn, active.operands, active.flags)
    if not ys or ys[0].shape != () or not ys[0].type.is_float or not is_traced(value):
        given = ys[0].type if ys and is_traced(value) else type(value).__name__
        raise DifferentiationError(
            f"{name}: expected a function that returns one float, this one returns {given}",
            hint=_instead(name, ys[0].type if ys and is_traced(value) else None),
        ).at(("returned here", _returned(f, ys if is_traced(value) else ())))
    if _is_complex(ys[0]):
        raise DifferentiationError(
            f"{name}: expected a real result, got {ys[0].type}", hint="take .real, or use pliant.vjp with a cotangent"
        ).at(("returned here", _returned(f, ys)))
    cts = (const(1, ys[0].dtype), *(None for _ in ys[1:]))
    back = instantiate(tuple(x.value for x in active.xs), pull(dys, dxs, cts))
    gradient = active.tree([_wrap(g, x) for g, x in zip(back, active.xs, strict=True)], argnums)
    made = closed.rebuild(ys)
    return made, gradient


def _instead(name: str, given: Type | None) -> str:
    """What to do where the result of a function is not one float."""
    if given is None:
        return "return a float that is computed from the arguments"
    if not given.shape:
        what = "a truth value" if given.kind == "b" else "an integer"
        return f"{what} has no derivative: return a float, not a count, an index or a comparison"
    reduced = "reduce it, for example with .sum()"
    return reduced if name == "hessian" else f"{reduced}; or use pliant.jacobian or pliant.vjp"


def _returned(f: Callable[..., Any], ys: Values) -> Origin:
    """Where the user's code made the result of f; where f returns, if it is an argument or no array."""
    made = ys[0].origin if ys else None
    return made if isinstance(made, CodeOrigin) else returned_by(f) or made or here()


def _value(f: Callable[..., Any], closed: Closed, has_aux: bool, name: str) -> Any:
    """The returned leaf to differentiate, after checking `has_aux` and the structure."""
    leaves = closed.leaves
    made = unflatten(closed.structure, list(leaves))
    if has_aux:
        return _parted(f, made, name)[0]
    if len(leaves) != 1 or made is not leaves[0]:
        hint = "does it end with return?" if made is None else "return one of its parts, or their sum"
        raise DifferentiationError(
            f"{name}: expected a function that returns one float, this one returns {_described(made)}",
            hint="has_aux=True lets it return (value, aux)" if made is not None and name == "grad" else hint,
        ).at(("returned here", _returned(f, ())))
    return made


def _parted(f: Callable[..., Any], made: Any, name: str) -> tuple[Any, Any]:
    """What a function returns with has_aux: what is differentiated, and what is not."""
    if type(made) is not tuple or len(cast("tuple[Any, ...]", made)) != 2:
        expected = f"{name}: has_aux=True expects a function that returns (value, aux)"
        raise DifferentiationError(
            f"{expected}, this one returns {_described(made)}", hint="without has_aux it returns the value alone"
        ).at(("returned here", _returned(f, ())))
    return cast("tuple[Any, Any]", made)


def _described(made: Any) -> str:
    """What a function returns, in messages."""
    if made is None or is_traced(made):
        return str(made.type if is_traced(made) else made)
    name = type(made).__name__
    return f"a {name} of {len(cast('Any', made))}" if isinstance(made, tuple | list | dict) else f"a {name}"


def _wrap(value: Value, x: TracedArray) -> TracedArray:
    """A derivative in the form of what it is a derivative of."""
    return fresh(value, is_array=not (x.is_scalar or x.is_weak))


def jvp(
    f: Callable[..., Any], primals: tuple[Any, ...], tangents: tuple[Any, ...], has_aux: bool = False, name: str = "jvp"
) -> tuple[Any, Any]:
    """(f(*primals), its directional derivative along tangents). name: what is asked for, in errors."""
    if len(primals) != len(tangents):
        raise ArgumentError(f"jvp: expected one tangent per primal, got {len(primals)} and {len(tangents)}")
    active = activate(f, primals, {}, EVERY, name)
    dxs = _seeds(tangents, active.tree(active.xs, (0,)), [x.value for x in active.xs], f"{name}: tangent")
    fn = active.closed.fn
    ys, dys = push(fn, active.operands, (*dxs, *(None for _ in active.closed.free)))
    made = active.closed.rebuild(ys)
    dmade = active.closed.rebuild(instantiate(ys, dys))
    if has_aux:
        _parted(f, made, name)
        return made, dmade[0]
    return made, dmade


def _seeds(given: Any, like: Any, values: Sequence[Value], name: str) -> tuple[Value, ...]:
    """Tangents or cotangents as values of the types they belong to; none where `like` is None, whatever is given."""
    leaves, structure = flatten(given)
    _, wanted = flatten(like)
    if structure != wanted:
        leaves, structure = flatten(pruned(given, like))
    if structure != wanted:
        raise ArgumentError(
            f"{name}s have structure {containers(structure)}, expected {containers(wanted)}",
            hint="* is an array or a number",
        )
    is_tangent = not name.endswith("cotangent")
    whose = "its argument" if is_tangent else "the result"
    made: list[Value] = []
    for leaf, x, place in zip(leaves, values, places(structure, f"{name}s" if is_tangent else name), strict=True):
        value = as_traced(leaf, name).value
        if value.shape != x.shape:
            raise ShapeError(
                f"{place} has type {value.type}, expected {x.type}", hint=f"it has the shape of {whose}"
            ).at(("here", here()))
        if _is_complex(value) and not _is_complex(x):
            raise DTypeError(
                f"{place} has type {value.type}, expected {x.type}", hint=f"it is real where {whose} is: take .real"
            ).at(("here", here()))
        made.append(cast_value(value, x.dtype))
    return tuple(made)


@final
class Linearized:
    """A linear function cut out of a trace: IR, and how its trees map to it. Static to programs."""

    def __init__(self, fn: Function, count: int, in_like: Any, out_like: Any, name: str) -> None:
        self.fn, self.count, self.name = fn, count, name
        self.in_leaves, self.in_structure = flatten(in_like)
        self.out_leaves, self.out_structure = flatten(out_like)

    @cached_property
    def compiled(self) -> Compiled:
        """This function of (residuals, *given) on NumPy arrays."""
        return Compiled(self, original=self)

    def __call__(self, residuals: Sequence[Any], *given: Any) -> Any:
        """Apply it to traced arrays."""
        if self.name == "cotangent" and len(given) != 1:
            raise ArgumentError(
                f"vjp: the pullback takes one cotangent, like what f returns; got {len(given)}",
                hint="a tuple of them, if f returns a tuple",
            ).at(("here", here()))
        tree = given if self.name != "cotangent" else given[0]
        like = unflatten(self.in_structure, self.in_leaves)
        seeds = _seeds(tree, like, self.fn.params[self.count :], self.name)
        ys = self.fn(*(as_traced(r).value for r in residuals), *seeds)
        rest = iter(ys)
        made = [x.value if type(x) is Kept else _as_kind(next(rest), x) for x in self.out_leaves]
        return unflatten(self.out_structure, made)


@final
@frozen
class Kept:
    """Text or another object in a result, which its derivative has in the same place."""

    value: Any


def _kind(x: Any) -> Any:
    if not is_traced(x):
        return Kept(x)
    return "scalar" if x.is_scalar or x.is_weak else "array"


def _as_kind(value: Value, kind: str) -> TracedArray:
    return fresh(value, is_array=bool(value.shape) or kind == "array")


def _cut(results: Values, seeds: Values) -> tuple[Function, Values]:
    """`results` as a function of (residuals…, seeds…): what they read that no seed is needed for."""
    depends = set(seeds)
    residuals: dict[Value, None] = {}
    for node in nodes(results, stop=()):
        if any(a in depends for a in node.args):
            depends.update(node.values)
    for node in nodes(results):
        if node.values[0] in depends and node.args:
            residuals.update((a, None) for a in node.args if a not in depends and a.args)
            residuals.update((a, None) for a in node.args if a not in depends and not a.args and _is_param(a))
    residuals.update((r, None) for r in results if r not in depends)
    kept = tuple(residuals)
    return abstract(results, (*kept, *seeds)), kept


def _is_param(value: Value) -> bool:
    return hasattr(value.op, "uid") and hasattr(value.op, "hint")


def vjp(f: Callable[..., Any], args: tuple[Any, ...], has_aux: bool) -> tuple[Any, list[Any], Linearized]:
    """f(*args), residuals, and the pullback as a linear function of a cotangent of the result."""
    active = activate(f, args, {}, EVERY, "vjp")
    ys, dxs, dys = linearize(active.closed.fn, active.operands, active.flags)
    made = active.closed.rebuild(ys)
    head = _parted(f, made, "vjp")[0] if has_aux else made
    flags = [is_traced(x) for x in flatten(head)[0]]
    count = sum(flags)
    cts = tuple(param(y.type, "ct") for y in ys[:count])
    pulled = instantiate(tuple(x.value for x in active.xs), pull(dys[:count], dxs, cts))
    fn, residuals = _cut(pulled, cts)
    kinds_in = unflatten(flatten(selected(head, flags))[1], ["array"] * count)
    kinds_out = active.tree([_kind(x) for x in active.xs], (0,))
    linear = Linearized(fn, len(residuals), kinds_in, kinds_out, "cotangent")
    return made, [fresh(r, is_array=True) for r in residuals], linear


def linearized(f: Callable[..., Any], args: tuple[Any, ...], has_aux: bool) -> tuple[Any, list[Any], Linearized]:
    """f(*args), residuals, and the derivative as a linear function of tangents of the arguments."""
    active = activate(f, args, {}, EVERY, "linearize")
    ys, dxs, dys = linearize(active.closed.fn, active.operands, active.flags)
    made = active.closed.rebuild(ys)
    leaves, structure = flatten(_parted(f, made, "linearize")[0] if has_aux else made)
    fn, residuals = _cut(instantiate(ys, dys)[: sum(map(is_traced, leaves))], dxs)
    kinds_in = active.tree(["array"] * len(active.xs), (0,))
    linear = Linearized(fn, len(residuals), kinds_in, unflatten(structure, [_kind(x) for x in leaves]), "tangent")
    return made, [fresh(r, is_array=True) for r in residuals], linear


def jacobian(
    f: Callable[..., Any], argnums: Any, mode: str, has_aux: bool, args: Any, kwargs: Any, *, is_hessian: bool = False
) -> Any:
    """∂ result / ∂ argument for every pair of leaves: shapes result + argument; with has_aux `(that, aux)`.
    is_hessian: f is a gradient."""
    name = "hessian" if is_hessian else "jacobian"
    active = activate(f, args, kwargs, argnums, name)
    closed = active.closed
    leaves, structure = closed.leaves, closed.structure
    if has_aux:
        leaves, structure = flatten(_parted(f, unflatten(structure, list(leaves)), name)[0])
    count = sum(map(is_traced, leaves))
    if not count:
        raise DifferentiationError(
            "jacobian: expected a function that returns arrays, this one returns none", hint="does it end with return?"
        ).at(("returned here", _returned(f, ())))
    ys, dxs, dys = linearize(closed.fn, active.operands, active.flags)
    aux = closed.rebuild(ys)[1] if has_aux else None
    xs, ys, dys = tuple(x.value for x in active.xs), ys[:count], dys[:count]
    if not is_hessian:
        _refuse_real_parts(f, (xs, dxs), (ys, dys))
    sizes = sum(x.type.size for x in xs), sum(y.type.size * (1 + _is_complex(y)) for y in ys)
    forward = mode == "forward" or (mode == "auto" and sizes[0] <= sizes[1])
    if forward:
        fn, residuals = _cut(instantiate(ys, dys), dxs)
        rows = [_probe(fn, residuals, dxs, i) for i in range(len(xs))]  # rows[i][j]: [size of x_i, *shape of y_j]
        table = [[_axis_last(rows[i][j], xs[i].shape) for i in range(len(xs))] for j in range(len(ys))]
    else:
        cts = tuple(param(y.type, "ct") for y in ys)
        fn, residuals = _cut(instantiate(xs, pull(dys, dxs, cts)), cts)
        rows = [_rows(fn, residuals, cts, j) for j in range(len(ys))]  # rows[j][i]: [size of y_j, *shape of x_i]
        table = [[reshape(rows[j][i], (*ys[j].shape, *xs[i].shape)) for i in range(len(xs))] for j in range(len(ys))]
    rest = iter(table)
    made = [
        active.tree([_entry(v, leaf, x) for v, x in zip(next(rest), active.xs, strict=True)], argnums)
        if is_traced(leaf)
        else leaf
        for leaf in leaves
    ]
    tree = unflatten(structure, made)
    return (tree, aux) if has_aux else tree


def _entry(value: Value, y: TracedArray, x: TracedArray) -> TracedArray:
    """Derivatives of y in x: a number, if both are."""
    return fresh(value, is_array=any([_kind(v) == "array" for v in (y, x)]))


def _axis_last(rows: Value, shape: tuple[int, ...]) -> Value:
    """`[size of x, *y]` as `[*y, *x]`."""
    rank = len(rows.shape)
    return reshape(permute(rows, (*range(1, rank), 0)), (*rows.shape[1:], *shape))


def _is_complex(value: Value) -> bool:
    return value.dtype[0] == "c"


def _refuse_real_parts(f: Callable[..., Any], xs: tuple[Values, Values], ys: tuple[Values, Sequence[Any]]) -> None:
    """DifferentiationError if a real result depends on a complex argument: no one number is its derivative in that.
    xs, ys: arguments and results, each with their tangents."""
    for y, dy in zip(*ys, strict=True):
        for x, dx in zip(*xs, strict=True):
            if _is_complex(x) and y.type.is_float and not _is_complex(y) and dy is not None and _depends(dy, dx):
                raise DifferentiationError(
                    f"jacobian: expected complex results of complex arguments, got {y.type} of {x.type}",
                    hint="pliant.grad and pliant.vjp give ∂/∂Re + i·∂/∂Im; or pass real and imaginary parts",
                ).at(("returned here", _returned(f, (y,))))


def _depends(value: Value, on: Value) -> bool:
    """Whether a value is computed of another one."""
    seen, left = {value}, [value]
    while left and on not in seen:
        new = [a for a in left.pop().args if a not in seen]
        seen.update(new)
        left += new
    return on in seen


def _rows(fn: Function, residuals: Values, cts: Values, j: int) -> Values:
    """Derivatives `[size of y_j, *x]` in the real parts of all x, by the pullback: Re⟨ct, dy⟩ sees the imaginary part
    of a complex y by cotangents i."""
    dtype = REAL_OF.get(cts[j].dtype, cts[j].dtype)
    rows = [convert(real(row), dtype) for row in _probe(fn, residuals, cts, j)]
    if _is_complex(cts[j]):
        parts = [convert(real(row), dtype) for row in _probe(fn, residuals, cts, j, 1j)]
        rows = [as_complex(*pair) for pair in zip(rows, parts, strict=True)]
    return tuple(rows)


def _probe(fn: Function, residuals: Values, seeds: Values, n: int, unit: Any = 1) -> Values:
    """The linear function at every unit vector, times `unit`, of one of its seeds: one batched call."""
    size = seeds[n].type.size
    rest = [broadcast(const(0, s.dtype), s.shape, ()) for s in seeds]
    eye = _eye(size, seeds[n].dtype)
    rest[n] = reshape(eye if unit == 1 else eye * const(unit, eye.dtype), (size, *seeds[n].shape))
    batched = tuple(m == len(residuals) + n for m in range(len(fn.params)))
    return vmap(fn, size, batched)(*residuals, *rest)


def _eye(n: int, dtype: str) -> Value:
    i = iota(n)
    same = equal(broadcast(i, (n, n), (0,)), broadcast(i, (n, n), (1,)))
    return convert(same, dtype)


__all__ = ["Linearized", "jacobian", "jvp", "linearized", "value_and_grad", "vjp"]
