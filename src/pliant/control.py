"""Control over derivatives: checkpoints, stopped gradients, the user's own rules."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any, Final, Literal

import numpy as np

from pliant.callables import also_decorator, function_of, positional
from pliant.core import ir
from pliant.core.build import abstract
from pliant.core.ir import Const, Function, Value, Values, param
from pliant.core.origin import here
from pliant.core.scope import scope
from pliant.core.types import Type
from pliant.errors import ArgumentError, DifferentiationError
from pliant.frontend.array import TracedArray, fresh, view
from pliant.frontend.closed import Closed, close, trace_closed
from pliant.frontend.convert import as_traced
from pliant.frontend.failures import note
from pliant.frontend.kinds import as_tuple, is_array
from pliant.frontend.signature import beside, containers, flatten, unflatten
from pliant.frontend.tracing import is_tracing
from pliant.frontend.twins import Twins
from pliant.frontend.view import StoppedLens
from pliant.ops.checkpoints import Treeverse, apply_of
from pliant.ops.custom import Checkpoint, CustomJvp, CustomVjp, NoDerivative
from pliant.ops.custom import stop_gradient as stop_gradient_value
from pliant.ops.splat import scalar_of
from pliant.ops.while_checkpoints import saving_less


def stop_gradient(tree: Any) -> Any:
    """The same arrays, taken as constants by every derivative. Anything outside a traced function
    is returned unchanged.

    >>> import numpy as np, pliant
    >>> pliant.grad(lambda x: x * pliant.stop_gradient(x))(3.0)
    np.float64(3.0)
    """
    if not is_tracing():
        return tree
    leaves, structure = flatten(tree)
    return unflatten(structure, [_stopped(x) for x in leaves])


def _stopped(x: Any) -> Any:
    if not isinstance(x, TracedArray | np.ndarray):
        return x
    x = as_traced(x)
    if not (x.is_scalar or x.is_weak):
        return view(x, StoppedLens())
    made = fresh(stop_gradient_value(x.value))
    return TracedArray(made.storage, is_scalar=made.is_scalar, is_weak=x.is_weak)


@also_decorator
def checkpoint(
    f: Callable[..., Any], *, save: Literal["store", "carry", "sqrt"] | Treeverse = "carry"
) -> Callable[..., Any]:
    """`f`, computed again in reverse mode rather than keeping what its derivative needs.

    The values and derivatives are those of f; memory for its intermediate results is not held
    between the forward and the backward pass. With `save="sqrt"` or `treeverse(n)` it is the loops in f
    that keep less, as for `scan`; with "store" nothing is computed again.

    >>> import numpy as np, pliant
    >>> pliant.grad(lambda x: np.sum(pliant.checkpoint(np.sin)(x)))(np.zeros(2))
    array([1., 1.])
    """
    function_of(f)
    apply_of(save)  # or an error

    @functools.wraps(f)
    def checkpointed(*args: Any, **kwargs: Any) -> Any:
        if not is_tracing():
            return f(*args, **kwargs)
        xs, closed = close(f, args, kwargs, may_draw=True, may_write=True, may_raise=True)
        operands = [x.value for x in xs]
        closed.drawn_by(operands)
        fn = closed.telling
        run = Checkpoint(fn).apply if save == "carry" else saving_less(fn, save)
        made = run(*operands, *closed.free)
        for number in made[len(closed.fn.results) :]:
            note(number)
        return closed.shown(made)

    return checkpointed


ORDERS: Final = 3
"""How often a derivative of one's own that calls the function itself is followed."""
_followed: ContextVar[tuple[Any, ...]] = ContextVar("pliant.followed", default=())  # whose derivatives are being traced


@also_decorator
def custom_derivative(
    f: Callable[..., Any],
    *,
    jvp: Callable[..., Any] | None = None,
    forward: Callable[..., Any] | None = None,
    backward: Callable[..., Any] | None = None,
) -> Callable[..., Any]:
    """`f` with a derivative of your own, for both modes.

    Either `jvp(primals, tangents) -> tangent of the result`, linear in the tangents (a tuple, None
    for an argument that is no float); or `forward(*args) -> (result, residuals)` with
    `backward(residuals, ct) -> cotangents`, one per argument, linear in ct; None is a zero. What f reads from
    enclosing scopes counts as constant; what it writes is differentiated as it is written. In a traced function its
    results are new arrays, also where f returns views. A rule may call the function itself, for derivatives of
    derivatives: up to the third; DifferentiationError of more. Of a call with keywords the rules get all arguments by
    position, defaults too.

    >>> import numpy as np, pliant
    >>> clipped = pliant.custom_derivative(np.abs, jvp=lambda xs, dxs: 10 * dxs[0])
    >>> pliant.grad(clipped)(2.0)
    np.float64(10.0)
    """
    function_of(f)
    if (jvp is None) == (forward is None) or (forward is None) != (backward is None):
        raise ArgumentError("custom_derivative: expected either jvp=, or both forward= and backward=")
    for given in (jvp, forward, backward):
        if given is not None:
            function_of(given)
    rule = functools.partial(_with_jvp, jvp) if jvp else functools.partial(_with_vjp, forward, backward)

    @functools.wraps(f)
    def customised(*args: Any, **kwargs: Any) -> Any:
        args = positional(f, args, kwargs, "custom_derivative") if kwargs else args
        if not is_tracing():
            return f(*args)
        xs, closed = close(f, args, {}, may_write=True)
        before, operands = _followed.get(), [x.value for x in xs]
        if before.count(customised) == ORDERS:
            made = _underivable(f, xs, closed)
        else:
            _followed.set((*before, customised))
            try:
                made = rule(args, xs, closed)
            finally:
                _followed.set(before)
        closed.drawn_by(operands)
        return made

    return customised


def _underivable(f: Callable[..., Any], xs: Sequence[TracedArray], closed: Closed) -> Any:
    """What f returns, whose derivatives are an error: its rule has been followed as often as it is."""
    mark = NoDerivative(
        f"{getattr(f, '__name__', 'f')}: its own derivative calls it, and is followed {ORDERS} times, for derivatives "
        f"of derivatives; this is one of order {ORDERS + 1}"
    )
    made = closed.fn(*[x.value for x in xs], *closed.free)
    return closed.rebuild([mark(y) if y.type.is_float else y for y in made])


def _check_linear(tangent: Closed) -> None:
    """DifferentiationError for tangents that are the same numbers, and not zeros, whatever a rule is given."""
    for x in [leaf for leaf in tangent.leaves if type(leaf) is TracedArray]:
        one = scalar_of(x.value) if x.concrete is None else None
        is_literal = one is not None and isinstance(one.op, Const) and one.op.value != 0
        if is_literal or (x.concrete is not None and x.concrete.any()):
            raise DifferentiationError(
                f"jvp returns {x.type} whose elements do not depend on the tangents, so it is not linear in them",
                hint="where there is no derivative, return zeros",
            ).at(("here", here()))


def _with_jvp(rule: Callable[..., Any], args: Any, xs: Sequence[TracedArray], closed: Closed) -> Any:
    leaves, structure = flatten(args)
    dxs = unflatten(structure, [x if type(x) is TracedArray and x.type.is_float else None for x in leaves])
    given, rule_structure = flatten(((args, dxs), {}))
    active = [type(x) is TracedArray for x in given]
    tangent = trace_closed(rule, given, rule_structure, active, twins=Twins.of(((args, dxs), {})), marks=active)
    floats = [y.type for y in closed.fn.results if y.type.is_float]
    if [t.type for t in tangent.fn.results] != floats:
        raise _unlike("jvp", _tree(tangent), f"a tangent of the result, {_named(floats)}", "zeros where it has none")
    _check_linear(tangent)
    free = tuple(dict.fromkeys((*closed.free, *tangent.free)))
    operands: Values = (*(x.value for x in xs), *free)
    count = len(xs)
    with scope():
        ps = tuple(param(v.type) for v in operands)
        ds = tuple(param(v.type) for v in operands if v.type.is_float)
        place = dict(zip(free, ps[count:], strict=True))
        body = Function(closed.fn.name, ps, closed.fn(*ps[:count], *(place[v] for v in closed.free)))
        active = ds[: sum(x.type.is_float for x in xs)]
        made = tangent.fn(*ps[:count], *active, *(place[v] for v in tangent.free))
        rule_fn = Function("tangent", (*ps, *ds), made)
    return closed.rebuild(CustomJvp(body, rule_fn).apply(*operands))


def _with_vjp(forward: Any, backward: Any, args: Any, xs: Sequence[TracedArray], closed: Closed) -> Any:
    _, ahead = close(forward, args, {})
    made: Any = unflatten(ahead.structure, list(ahead.leaves))
    if type(made) is not tuple or len(as_tuple(made)) != 2:
        raise _unlike(
            "forward", _tree(ahead), "(result, residuals)", "residuals are what backward needs, () for nothing"
        )
    ys = [y.type for y in closed.fn.results]
    if [y.type for y in flatten(made[0])[0] if type(y) is TracedArray] != ys:
        raise _unlike("forward", _tree(ahead)[0], f"the result of f, {_named(ys)}", "f and forward compute the same")
    given, structure = flatten(((made[1], made[0]), {}))
    behind = trace_closed(backward, given, structure, [type(x) is TracedArray for x in given])
    free = tuple(dict.fromkeys((*closed.free, *ahead.free, *behind.free)))
    operands: Values = (*(x.value for x in xs), *free)
    count = len(xs)
    with scope():
        ps = tuple(param(v.type) for v in operands)
        place = dict(zip(free, ps[count:], strict=True))
        body = Function(closed.fn.name, ps, closed.fn(*ps[:count], *(place[v] for v in closed.free)))
        ahead_results = ahead.fn(*ps[:count], *(place[v] for v in ahead.free))
        forward_fn = Function("forward", ps, (*ahead_results, *(place[v] for v in behind.free)))
    back = _backward(behind, args, xs, len(ahead_results) - len(ys), operands)
    return closed.rebuild(CustomVjp(body, forward_fn, back).apply(*operands))


def _backward(back: Closed, args: Any, xs: Sequence[TracedArray], residuals: int, operands: Values) -> Function:
    """`(residual…, free…, ct…) → (ct of every float operand…)` from the user's backward, traced. residuals: their
    number."""
    wanted = [x.type for x in xs if x.type.is_float]
    ways = (_by_argument(_tree(back), args), back.fn.results)
    cts = next((way for way in ways if way is not None and _fit(way, wanted)), None)
    if cts is None:
        expected = f"a cotangent for each float argument, {_named(wanted)}"
        raise _unlike("backward", _tree(back), expected, "a tuple of one for each argument, None for a zero")
    extra = [v.type for v in operands[len(xs) :] if v.type.is_float]
    with scope():  # what f reads from enclosing scopes has zero cotangents
        zeros = [ir.operators.zeros(t) if c is None else c for c, t in zip(cts, wanted, strict=True)]
        results = (*zeros, *map(ir.operators.zeros, extra))
    known, rest = back.fn.params[:residuals], back.fn.params[residuals:]
    cts, free = rest[: len(rest) - len(back.free)], rest[len(rest) - len(back.free) :]
    return abstract(results, (*known, *free, *cts), "backward")


def _by_argument(given: Any, args: tuple[Any, ...]) -> list[Any] | None:
    """A cotangent, or None for a zero, of each float array in the arguments, of a tuple of one for each argument; None
    of another tree."""
    if given is None:  # it does not return
        return None
    pairs = beside(given if isinstance(given, tuple) else (given,), args)
    arrays = [(ct, as_traced(x)) for ct, x in pairs or () if is_array(x) or type(x) is TracedArray]
    return None if pairs is None else [ct for ct, x in arrays if x.type.is_float]


def _fit(cts: Sequence[Any], wanted: Sequence[Type]) -> bool:
    """Whether these are cotangents of arguments of some types."""
    return len(cts) == len(wanted) and all(
        [c is None or getattr(c, "type", None) == t for c, t in zip(cts, wanted, strict=True)]
    )


def _tree(closed: Closed) -> Any:
    """What a function returned, with values for its arrays."""
    rest = iter(closed.fn.results)
    return unflatten(closed.structure, [next(rest) if type(x) is TracedArray else x for x in closed.leaves])


def _named(types: Sequence[Type]) -> str:
    return ", ".join(map(str, types))


def _unlike(role: str, given: Any, expected: str, hint: str) -> ArgumentError:
    """The error about what one of the user's functions returned, as `_tree` gives it."""
    leaves, structure = flatten(given)
    types = iter([str(x.type) if isinstance(x, Value) else type(x).__name__ for x in leaves])
    text = re.sub(r"\*", lambda star: next(types, "*"), containers(structure))
    return ArgumentError(f"custom_derivative: {role} returns {text}, expected {expected}", hint=hint).at(
        ("here", here())
    )
