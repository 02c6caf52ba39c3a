"""The operators: derivatives of f by a system at x, given contexts.

All take `(f, system, x, *contexts)`, those with seeds `(f, system, x, t, *contexts)` where t is a
tuple of tangents (like x) or cotangents (like y). What may be said beside is listed in `Options`. If
some context is `Active`, derivatives are tuples, x's first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict, Unpack

import numpy as np

from pliant.diff.calls import call
from pliant.diff.keywords import keywords, refuse
from pliant.diff.layout import flatten
from pliant.diff.prepare import Prep, prepared
from pliant.diff.same_point import PointPrep
from pliant.diff.system import is_sparse
from pliant.errors import ArgumentError, DTypeError, ReadOnlyError, ShapeError, UnsupportedError
from pliant.frontend.kinds import is_array


class Options(TypedDict, total=False):
    """Keywords of every operator.

    prep: a preparation, made for arguments like these. out: an array (or tensor, or reference of JAX) or container
    that receives the derivative and is returned. has_aux: f returns `(y, aux)`, the operator's `value_and_` form
    `((y, aux), derivative)`, its plain form `(derivative, aux)`.
    """

    prep: Prep | PointPrep | None
    out: Any
    has_aux: bool


class FillOptions(Options, total=False):
    """Keywords of operators that also take functions which fill their result.

    y: memory for it; f is called as `f(y, x, *contexts)`.
    """

    y: Any


@keywords(FillOptions)
def pushforward(f: Any, system: Any, x: Any, t: Any, *contexts: Any, **options: Unpack[FillOptions]) -> Any:
    """Tangents of y, one for each tangent of x in the tuple t.

    >>> import numpy as np, pliant.diff as diff
    >>> diff.pushforward(np.sin, diff.Pliant(), np.zeros(2), (np.array([1.0, 2.0]),))
    (array([1., 2.]),)
    """
    return _last(_results("pushforward", f, system, x, t, contexts, options), options)


@keywords(FillOptions)
def value_and_pushforward(f: Any, system: Any, x: Any, t: Any, *contexts: Any, **options: Unpack[FillOptions]) -> Any:
    """`(y, pushforward)`; see `pushforward`."""
    return _results("pushforward", f, system, x, t, contexts, options)


@keywords(FillOptions)
def pullback(f: Any, system: Any, x: Any, t: Any, *contexts: Any, **options: Unpack[FillOptions]) -> Any:
    """Cotangents of x, one for each cotangent of y in the tuple t: the sum over i of t[i]·conj(∂y[i]/∂x).

    >>> import numpy as np, pliant.diff as diff
    >>> diff.pullback(np.sin, diff.Pliant(), np.zeros(2), (np.array([1.0, 2.0]),))
    (array([1., 2.]),)
    """
    return _last(_results("pullback", f, system, x, t, contexts, options), options)


@keywords(FillOptions)
def value_and_pullback(f: Any, system: Any, x: Any, t: Any, *contexts: Any, **options: Unpack[FillOptions]) -> Any:
    """`(y, pullback)`; see `pullback`."""
    return _results("pullback", f, system, x, t, contexts, options)


@keywords(FillOptions)
def derivative(f: Any, system: Any, x: Any, *contexts: Any, **options: Unpack[FillOptions]) -> Any:
    """The derivative of y in one number x, like y.

    >>> import numpy as np, pliant.diff as diff
    >>> diff.derivative(lambda x: np.array([x, x**2]), diff.Pliant(), 3.0)
    array([1., 6.])
    """
    return _last(_results("derivative", f, system, x, None, contexts, options), options)


@keywords(FillOptions)
def value_and_derivative(f: Any, system: Any, x: Any, *contexts: Any, **options: Unpack[FillOptions]) -> Any:
    """`(y, derivative)`; see `derivative`."""
    return _results("derivative", f, system, x, None, contexts, options)


@keywords(Options)
def gradient(f: Any, system: Any, x: Any, *contexts: Any, **options: Unpack[Options]) -> Any:
    """The gradient of a function that returns one real number, like x.

    For complex x it is ∂f/∂Re x + i·∂f/∂Im x.

    >>> import numpy as np, pliant.diff as diff
    >>> diff.gradient(lambda x: np.sum(x**2), diff.Pliant(), np.array([1.0, 2.0]))
    array([2., 4.])
    """
    return _last(_results("gradient", f, system, x, None, contexts, options), options)


@keywords(Options)
def value_and_gradient(f: Any, system: Any, x: Any, *contexts: Any, **options: Unpack[Options]) -> Any:
    """`(y, gradient)`; see `gradient`."""
    return _results("gradient", f, system, x, None, contexts, options)


@keywords(FillOptions)
def jacobian(f: Any, system: Any, x: Any, *contexts: Any, **options: Unpack[FillOptions]) -> Any:
    """All first derivatives: shape `y.shape + x.shape`; for containers y's of x's.

    >>> import numpy as np, pliant.diff as diff
    >>> diff.jacobian(lambda x: np.array([x[0] * x[1], x[0]]), diff.Pliant(), np.array([2.0, 3.0]))
    array([[3., 2.],
           [1., 0.]])
    """
    return _last(_results("jacobian", f, system, x, None, contexts, options), options)


@keywords(FillOptions)
def value_and_jacobian(f: Any, system: Any, x: Any, *contexts: Any, **options: Unpack[FillOptions]) -> Any:
    """`(y, jacobian)`; see `jacobian`."""
    return _results("jacobian", f, system, x, None, contexts, options)


@keywords(Options)
def second_derivative(f: Any, system: Any, x: Any, *contexts: Any, **options: Unpack[Options]) -> Any:
    """The second derivative of y in one number x, like y.

    >>> import numpy as np, pliant.diff as diff
    >>> diff.second_derivative(lambda x: x**3, diff.Pliant(), 2.0)
    np.float64(12.0)
    """
    return _last(_results("second_derivative", f, system, x, None, contexts, options), options)


@keywords(Options)
def value_derivative_and_second_derivative(
    f: Any, system: Any, x: Any, *contexts: Any, **options: Unpack[Options]
) -> Any:
    """`(y, derivative, second derivative)`; out= receives the last."""
    return _results("second_derivative", f, system, x, None, contexts, options)


@keywords(Options)
def hvp(f: Any, system: Any, x: Any, t: Any, *contexts: Any, **options: Unpack[Options]) -> Any:
    """Products of the Hessian of a scalar function with the tangents in the tuple t.

    >>> import numpy as np, pliant.diff as diff
    >>> diff.hvp(lambda x: np.sum(x**3), diff.Pliant(), np.array([1.0, 2.0]), (np.array([1.0, 0.0]),))
    (array([6., 0.]),)
    """
    return _last(_results("hvp", f, system, x, t, contexts, options), options)


@keywords(Options)
def gradient_and_hvp(f: Any, system: Any, x: Any, t: Any, *contexts: Any, **options: Unpack[Options]) -> Any:
    """`(gradient, products)`; see `hvp`."""
    value, *parts = _results("hvp", f, system, x, t, contexts, options)
    return (*parts, value[1]) if options.get("has_aux") else tuple(parts)


@keywords(Options)
def value_gradient_and_hvp(f: Any, system: Any, x: Any, t: Any, *contexts: Any, **options: Unpack[Options]) -> Any:
    """`(y, gradient, products)`; see `hvp`."""
    return _results("hvp", f, system, x, t, contexts, options)


@keywords(Options)
def hessian(f: Any, system: Any, x: Any, *contexts: Any, **options: Unpack[Options]) -> Any:
    """All second derivatives of a scalar function: shape `x.shape + x.shape`.

    >>> import numpy as np, pliant.diff as diff
    >>> diff.hessian(lambda x: x[0] ** 2 * x[1], diff.Pliant(), np.array([1.0, 2.0]))
    array([[4., 2.],
           [2., 0.]])
    """
    return _last(_results("hessian", f, system, x, None, contexts, options), options)


@keywords(Options)
def value_gradient_and_hessian(f: Any, system: Any, x: Any, *contexts: Any, **options: Unpack[Options]) -> Any:
    """`(y, gradient, hessian)`; out= receives the last."""
    return _results("hessian", f, system, x, None, contexts, options)


def jvp(f: Any, system: Any, x: Any, dx: Any, *contexts: Any, prep: Prep | PointPrep | None = None) -> Any:
    """The tangent of y for one tangent of x: `pushforward` of one seed.

    >>> import numpy as np, pliant.diff as diff
    >>> diff.jvp(np.sin, diff.Pliant(), 0.0, 2.0)
    np.float64(2.0)
    """
    return pushforward(f, system, x, (dx,), *contexts, prep=prep)[0]


def vjp(f: Any, system: Any, x: Any, dy: Any, *contexts: Any, prep: Prep | PointPrep | None = None) -> Any:
    """The cotangent of x for one cotangent of y: `pullback` of one seed.

    >>> import numpy as np, pliant.diff as diff
    >>> diff.vjp(np.sin, diff.Pliant(), np.zeros(2), np.ones(2))
    array([1., 1.])
    """
    return pullback(f, system, x, (dy,), *contexts, prep=prep)[0]


def _results(
    operator: str, f: Any, system: Any, x: Any, t: Any, contexts: Sequence[Any], options: Any
) -> tuple[Any, ...]:
    """What the operator's `value_and_` form returns: y or (y, aux), and the derivatives."""
    prep = options.get("prep")
    if prep.__class__ is Prep and (len(options) == 1 or (len(options) == 2 and options.get("out") is not None)):
        made = prep.quick(operator, f, system, x, t, contexts)
        if made is not None:
            return made if len(options) == 1 else (*made[:-1], _filled(options["out"], made[-1], "out"))
    return _checked_results(operator, f, system, x, t, contexts, **options)


def _checked_results(
    operator: str, f: Any, system: Any, x: Any, t: Any, contexts: Sequence[Any], *, y: Any = None,
    prep: Any = None, out: Any = None, has_aux: bool = False, **others: Any,
) -> tuple[Any, ...]:  # fmt: skip
    """The same for any arguments."""
    refuse(operator, others)
    if not isinstance(prep, Prep | PointPrep | None):
        raise ArgumentError(f"{operator}: expected prep= from prepare_{operator}, got {type(prep).__name__}")
    of = call(operator, f, system, x, t, contexts, y, has_aux)
    prep, of = (prepared(of), of) if prep is None else prep.fitted(of)
    made, aux, parts = prep.apply(of.given.actives, of.seeds, of.given.constants)
    if y is not None:
        made = _filled(y, made, "y")
    if out is not None:
        parts = (*parts[:-1], _filled(out, parts[-1], "out"))
    return (made, aux) if has_aux else made, *parts


def _last(results: tuple[Any, ...], options: Any) -> Any:
    """What the operator's plain form returns: the last derivative, or that and aux."""
    return (results[-1], results[0][1]) if options.get("has_aux") else results[-1]


def _filled(out: Any, made: Any, name: str) -> Any:
    """`out`, holding what was made."""
    if out.__class__ is np.ndarray and out.__class__ is made.__class__ and out.shape == made.shape:
        _write(out, made, name)
        return out
    if is_sparse(out) and is_sparse(made):
        if not _has_places(out, made):
            raise ShapeError(
                f"{name}= has another sparsity pattern than the result", hint="use a result of the same call"
            )
        _write(out.data, made.data, name)
        return out
    if is_sparse(made):
        raise UnsupportedError(f"{name}= has to be a sparse array, as the result is, got {type(out).__name__}")
    targets, structure = flatten(out)
    leaves, wanted = flatten(made)
    if structure != wanted or [tuple(np.shape(t)) for t in targets] != [tuple(np.shape(leaf)) for leaf in leaves]:
        shapes = [", ".join(str(list(np.shape(a))) for a in arrays) for arrays in (targets, leaves)]
        raise ShapeError(f"{name}= has shape {shapes[0]}, the result {shapes[1]}")
    for target, leaf in zip(targets, leaves, strict=True):
        if is_array(target) or hasattr(target, "addupdate"):  # a reference of JAX
            _write(target, leaf, name)
        elif hasattr(target, "copy_"):
            target.copy_(leaf)
        else:
            raise UnsupportedError(f"{name}= cannot be written: {type(target).__name__} is immutable")
    return out


def _has_places(out: Any, made: Any) -> bool:
    """Whether two sparse arrays have their entries at the same places, in the same order."""
    if (out.format, out.shape, out.data.shape) != (made.format, made.shape, made.data.shape):
        return False
    return np.array_equal(out.indptr, made.indptr) and np.array_equal(out.indices, made.indices)


def _write(target: Any, leaf: Any, name: str) -> None:
    made = np.asarray(leaf)
    if is_array(target) and not target.flags.writeable:
        raise ReadOnlyError(f"{name}= cannot be written: it is read-only")
    if made.dtype != target.dtype and not np.can_cast(made.dtype, target.dtype, "same_kind"):
        raise DTypeError(f"{name}= has dtype {target.dtype}, the result {made.dtype}")
    target[...] = made if made.dtype == target.dtype else made.astype(target.dtype)
