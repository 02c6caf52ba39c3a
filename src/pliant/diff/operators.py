"""The operators: derivatives of f by a system at x, given contexts.

All take `(f, system, x, *contexts)`, those with seeds `(f, system, x, t, *contexts)` where t is a
tuple of tangents (like x) or cotangents (like y). Options: prep, a preparation; out, an array or
container that receives the derivative and is returned; y, memory that f fills: then f is called as
`f(y, x, *contexts)`; has_aux, where f returns `(y, aux)` and the operator's `value_and_` form
`((y, aux), derivative)`, its plain form `(derivative, aux)`. If some context is `Active`,
derivatives are tuples, x's first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np

from pliant.diff.calls import OPERATORS, call
from pliant.diff.layout import flatten
from pliant.diff.prepare import Prep, prepared
from pliant.diff.same_point import PointPrep
from pliant.diff.system import is_ndarray, is_sparse
from pliant.errors import ShapeError, UnsupportedError


@final
class Run:
    """One call of an operator: value, auxiliary result, derivatives."""

    def __init__(
        self, operator: str, f: Any, system: Any, x: Any, t: Any, contexts: Sequence[Any], y: Any,
        prep: Prep | PointPrep | None, out: Any, has_aux: bool,
    ) -> None:  # fmt: skip
        self.has_aux = has_aux
        if prep is not None and t is None and y is None and out is None and len(OPERATORS[operator].results) == 1:
            made = prep.quick(operator, f, system, x, contexts) if not has_aux else None
            if made is not None:
                self.y, self.aux, self.parts = made[0], (), (made[1],)
                return
        of = call(operator, f, system, x, t, contexts, y, has_aux)
        prep, of = (prepared(of), of) if prep is None else prep.fitted(of)
        self.y, self.aux, self.parts = prep.apply(of.given.actives, of.seeds, of.given.constants)
        if y is not None:
            self.y = _filled(y, self.y, "y")
        if out is not None:
            self.parts = (*self.parts[:-1], _filled(out, self.parts[-1], "out"))

    @property
    def value(self) -> Any:
        """y, or (y, aux)."""
        return (self.y, self.aux) if self.has_aux else self.y

    @property
    def derivative(self) -> Any:
        """The last part, or (last part, aux)."""
        return (self.parts[-1], self.aux) if self.has_aux else self.parts[-1]


def _filled(out: Any, made: Any, name: str) -> Any:
    """`out`, holding what was made."""
    if is_sparse(out) and is_sparse(made):
        if not (np.array_equal(out.indptr, made.indptr) and np.array_equal(out.indices, made.indices)):
            raise ShapeError(
                f"{name}= has another sparsity pattern than the result", hint="use a result of the same call"
            )
        out.data[...] = made.data
        return out
    targets, structure = flatten(out)
    leaves, wanted = flatten(made)
    if structure != wanted or [tuple(t.shape) for t in targets] != [tuple(np.shape(leaf)) for leaf in leaves]:
        shapes = [", ".join(str(list(np.shape(a))) for a in arrays) for arrays in (targets, leaves)]
        raise ShapeError(f"{name}= has shape {shapes[0]}, the result {shapes[1]}")
    for target, leaf in zip(targets, leaves, strict=True):
        if is_ndarray(target):
            np.copyto(target, leaf, casting="same_kind")
        elif hasattr(target, "copy_"):
            target.copy_(leaf)
        else:
            raise UnsupportedError(f"{name}= cannot be written: {type(target).__name__} is immutable")
    return out


def pushforward(
    f: Any,
    system: Any,
    x: Any,
    t: Any,
    *contexts: Any,
    y: Any = None,
    prep: Prep | PointPrep | None = None,
    out: Any = None,
    has_aux: bool = False,
) -> Any:
    """Tangents of y, one for each tangent of x in the tuple t.

    >>> import numpy as np, pliant.diff as diff
    >>> diff.pushforward(np.sin, diff.Pliant(), np.zeros(2), (np.array([1.0, 2.0]),))
    (array([1., 2.]),)
    """
    return Run("pushforward", f, system, x, t, contexts, y, prep, out, has_aux).derivative


def value_and_pushforward(
    f: Any,
    system: Any,
    x: Any,
    t: Any,
    *contexts: Any,
    y: Any = None,
    prep: Prep | PointPrep | None = None,
    out: Any = None,
    has_aux: bool = False,
) -> Any:
    """`(y, pushforward)`; see `pushforward`."""
    made = Run("pushforward", f, system, x, t, contexts, y, prep, out, has_aux)
    return made.value, made.parts[-1]


def pullback(
    f: Any,
    system: Any,
    x: Any,
    t: Any,
    *contexts: Any,
    y: Any = None,
    prep: Prep | PointPrep | None = None,
    out: Any = None,
    has_aux: bool = False,
) -> Any:
    """Cotangents of x, one for each cotangent of y in the tuple t: the sum over i of t[i]·conj(∂y[i]/∂x).

    >>> import numpy as np, pliant.diff as diff
    >>> diff.pullback(np.sin, diff.Pliant(), np.zeros(2), (np.array([1.0, 2.0]),))
    (array([1., 2.]),)
    """
    return Run("pullback", f, system, x, t, contexts, y, prep, out, has_aux).derivative


def value_and_pullback(
    f: Any,
    system: Any,
    x: Any,
    t: Any,
    *contexts: Any,
    y: Any = None,
    prep: Prep | PointPrep | None = None,
    out: Any = None,
    has_aux: bool = False,
) -> Any:
    """`(y, pullback)`; see `pullback`."""
    made = Run("pullback", f, system, x, t, contexts, y, prep, out, has_aux)
    return made.value, made.parts[-1]


def derivative(
    f: Any,
    system: Any,
    x: Any,
    *contexts: Any,
    y: Any = None,
    prep: Prep | PointPrep | None = None,
    out: Any = None,
    has_aux: bool = False,
) -> Any:
    """The derivative of y in one number x, like y.

    >>> import numpy as np, pliant.diff as diff
    >>> diff.derivative(lambda x: np.array([x, x**2]), diff.Pliant(), 3.0)
    array([1., 6.])
    """
    return Run("derivative", f, system, x, None, contexts, y, prep, out, has_aux).derivative


def value_and_derivative(
    f: Any,
    system: Any,
    x: Any,
    *contexts: Any,
    y: Any = None,
    prep: Prep | PointPrep | None = None,
    out: Any = None,
    has_aux: bool = False,
) -> Any:
    """`(y, derivative)`; see `derivative`."""
    made = Run("derivative", f, system, x, None, contexts, y, prep, out, has_aux)
    return made.value, made.parts[-1]


def gradient(
    f: Any,
    system: Any,
    x: Any,
    *contexts: Any,
    prep: Prep | PointPrep | None = None,
    out: Any = None,
    has_aux: bool = False,
) -> Any:
    """The gradient of a function that returns one real number, like x.

    For complex x it is ∂f/∂Re x + i·∂f/∂Im x.

    >>> import numpy as np, pliant.diff as diff
    >>> diff.gradient(lambda x: np.sum(x**2), diff.Pliant(), np.array([1.0, 2.0]))
    array([2., 4.])
    """
    return Run("gradient", f, system, x, None, contexts, None, prep, out, has_aux).derivative


def value_and_gradient(
    f: Any,
    system: Any,
    x: Any,
    *contexts: Any,
    prep: Prep | PointPrep | None = None,
    out: Any = None,
    has_aux: bool = False,
) -> Any:
    """`(y, gradient)`; see `gradient`."""
    made = Run("gradient", f, system, x, None, contexts, None, prep, out, has_aux)
    return made.value, made.parts[-1]


def jacobian(
    f: Any,
    system: Any,
    x: Any,
    *contexts: Any,
    y: Any = None,
    prep: Prep | PointPrep | None = None,
    out: Any = None,
    has_aux: bool = False,
) -> Any:
    """All first derivatives: shape `y.shape + x.shape`; for containers y's of x's.

    >>> import numpy as np, pliant.diff as diff
    >>> diff.jacobian(lambda x: np.array([x[0] * x[1], x[0]]), diff.Pliant(), np.array([2.0, 3.0]))
    array([[3., 2.],
           [1., 0.]])
    """
    return Run("jacobian", f, system, x, None, contexts, y, prep, out, has_aux).derivative


def value_and_jacobian(
    f: Any,
    system: Any,
    x: Any,
    *contexts: Any,
    y: Any = None,
    prep: Prep | PointPrep | None = None,
    out: Any = None,
    has_aux: bool = False,
) -> Any:
    """`(y, jacobian)`; see `jacobian`."""
    made = Run("jacobian", f, system, x, None, contexts, y, prep, out, has_aux)
    return made.value, made.parts[-1]


def second_derivative(
    f: Any,
    system: Any,
    x: Any,
    *contexts: Any,
    prep: Prep | PointPrep | None = None,
    out: Any = None,
    has_aux: bool = False,
) -> Any:
    """The second derivative of y in one number x, like y.

    >>> import numpy as np, pliant.diff as diff
    >>> diff.second_derivative(lambda x: x**3, diff.Pliant(), 2.0)
    np.float64(12.0)
    """
    return Run("second_derivative", f, system, x, None, contexts, None, prep, out, has_aux).derivative


def value_derivative_and_second_derivative(
    f: Any,
    system: Any,
    x: Any,
    *contexts: Any,
    prep: Prep | PointPrep | None = None,
    out: Any = None,
    has_aux: bool = False,
) -> Any:
    """`(y, derivative, second derivative)`; out= receives the last."""
    made = Run("second_derivative", f, system, x, None, contexts, None, prep, out, has_aux)
    return made.value, *made.parts


def hvp(
    f: Any,
    system: Any,
    x: Any,
    t: Any,
    *contexts: Any,
    prep: Prep | PointPrep | None = None,
    out: Any = None,
    has_aux: bool = False,
) -> Any:
    """Products of the Hessian of a scalar function with the tangents in the tuple t.

    >>> import numpy as np, pliant.diff as diff
    >>> diff.hvp(lambda x: np.sum(x**3), diff.Pliant(), np.array([1.0, 2.0]), (np.array([1.0, 0.0]),))
    (array([6., 0.]),)
    """
    return Run("hvp", f, system, x, t, contexts, None, prep, out, has_aux).derivative


def gradient_and_hvp(
    f: Any,
    system: Any,
    x: Any,
    t: Any,
    *contexts: Any,
    prep: Prep | PointPrep | None = None,
    out: Any = None,
    has_aux: bool = False,
) -> Any:
    """`(gradient, products)`; see `hvp`."""
    made = Run("hvp", f, system, x, t, contexts, None, prep, out, has_aux)
    return (*made.parts, made.aux) if has_aux else made.parts


def value_gradient_and_hvp(
    f: Any,
    system: Any,
    x: Any,
    t: Any,
    *contexts: Any,
    prep: Prep | PointPrep | None = None,
    out: Any = None,
    has_aux: bool = False,
) -> Any:
    """`(y, gradient, products)`; see `hvp`."""
    made = Run("hvp", f, system, x, t, contexts, None, prep, out, has_aux)
    return made.value, *made.parts


def hessian(
    f: Any,
    system: Any,
    x: Any,
    *contexts: Any,
    prep: Prep | PointPrep | None = None,
    out: Any = None,
    has_aux: bool = False,
) -> Any:
    """All second derivatives of a scalar function: shape `x.shape + x.shape`.

    >>> import numpy as np, pliant.diff as diff
    >>> diff.hessian(lambda x: x[0] ** 2 * x[1], diff.Pliant(), np.array([1.0, 2.0]))
    array([[4., 2.],
           [2., 0.]])
    """
    return Run("hessian", f, system, x, None, contexts, None, prep, out, has_aux).derivative


def value_gradient_and_hessian(
    f: Any,
    system: Any,
    x: Any,
    *contexts: Any,
    prep: Prep | PointPrep | None = None,
    out: Any = None,
    has_aux: bool = False,
) -> Any:
    """`(y, gradient, hessian)`; out= receives the last."""
    made = Run("hessian", f, system, x, None, contexts, None, prep, out, has_aux)
    return made.value, *made.parts


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
