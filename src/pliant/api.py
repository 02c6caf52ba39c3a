"""The public transformations: short functions over the packages below."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, ParamSpec, TypeVar, cast, overload

import numpy as np

from pliant import batch, differentiate, ops
from pliant.cached import cached, kept
from pliant.callables import also_decorator, function_of
from pliant.compiled import Compiled
from pliant.core import parse as core_parse
from pliant.core.data import frozen
from pliant.core.ir import Function
from pliant.core.origin import NOWHERE, Origin, here
from pliant.core.types import DTYPES, Type
from pliant.errors import ArgumentError, DTypeError, ShapeError, UnsupportedError
from pliant.frontend.array import TracedArray
from pliant.frontend.gradients import placed
from pliant.frontend.kinds import is_of
from pliant.frontend.tracing import is_tracing
from pliant.leading import Vectorized
from pliant.transforms.evaluate import evaluate as evaluated

P = ParamSpec("P")
R = TypeVar("R")


@overload
def jit(
    f: Callable[P, R], *, static: str | tuple[str, ...] = (), donate: str | tuple[str, ...] = (), backend: str = ""
) -> Callable[P, R]: ...


@overload
def jit(
    f: None = None, *, static: str | tuple[str, ...] = (), donate: str | tuple[str, ...] = (), backend: str = ""
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...


def jit(
    f: Any = None, *, static: str | tuple[str, ...] = (), donate: str | tuple[str, ...] = (), backend: str = ""
) -> Any:
    """`f`, compiled: the same results, and the same writes to arguments, as NumPy gives.

    f: a function of arrays, numbers and containers of them. static: names of parameters that are
    not traced but known (a number of steps); each value gets its own program. Python integers that
    have to be known, such as shapes, are so by themselves. donate: names of parameters whose memory
    the call may use: what their arrays hold after it is undefined.
    backend: "llvm" (default), "jax" (XLA), or "reference" or "torch" (NumPy or PyTorch, one primitive at a time).

    The compiled function, as every one that Pliant returns, takes `out=`: arrays in the structure
    of the results, of their shapes and dtypes, which receive them and are returned. Inputs may
    overlap them. (A parameter of f's own that is called `out` comes first.)

    Without f it is a decorator: `@pliant.jit(static="n")`.

    >>> import numpy as np, pliant
    >>> pliant.jit(lambda x: np.sin(x) ** 2 + np.cos(x) ** 2)(np.array([0.5, 1.5]))
    array([1., 1.])
    """
    names, donated = _names("static", static), _names("donate", donate)
    if f is None:
        return partial(jit, static=names, donate=donated, backend=backend)
    given = function_of(f)
    again = partial(jit, f, static=names, donate=donated, backend=backend)
    make = partial(Compiled, given, backend=backend, static=names, donate=donated, again=again)
    named = given if getattr(given, "__name__", "<lambda>") != "<lambda>" else None  # which may get attributes
    return kept(given, ("jit", names, donated, backend, named), make)


def _names(keyword: str, given: Any) -> tuple[str, ...]:
    """One name or several as a tuple."""
    names: Any = (
        (given,) if isinstance(given, str) or not isinstance(given, Iterable) else tuple(cast("Iterable[Any]", given))
    )
    if not all([isinstance(name, str) for name in names]):
        raise ArgumentError(f"{keyword}= takes names of parameters, got {given!r}", hint=f'as in {keyword}="x"')
    return names


@also_decorator
def value_and_grad(
    f: Callable[..., Any], argnums: int | tuple[int, ...] = 0, *, has_aux: bool = False,
    accumulate_into: Any = None, pack: bool = False,
) -> Callable[..., Any]:  # fmt: skip
    """A function that returns `(f(*args), gradient)`; with has_aux `((value, aux), gradient)`.

    f returns one real float. The gradient has the structure, shapes and dtypes of the arguments
    that argnums names (a tuple of gradients for a tuple), with None for text, booleans and other
    objects in containers. For complex arguments z it is ∂f/∂Re z + i·∂f/∂Im z. The caller's arrays
    are never written, but those of accumulate_into: an array or a tree like the gradient, to which
    it is added, and which is returned for it. With pack=True the gradient is `(vector, tree)`: all
    of it in one vector, and views of that in the gradient's structure; accumulate_into is then a
    vector.
    Raises DifferentiationError for arguments that are no floats or a result that is no scalar.

    >>> import numpy as np, pliant
    >>> value, g = pliant.value_and_grad(lambda x: np.sum(x**2))(np.array([1.0, 2.0]))
    >>> float(value), g
    (5.0, array([2., 4.]))
    """
    function_of(f)

    def transformed(*args: Any, **kwargs: Any) -> Any:
        value, gradient = differentiate.value_and_grad(f, argnums, has_aux, args, kwargs)
        return value, placed(gradient, accumulate_into, pack=pack)

    again = partial(value_and_grad, f, argnums, has_aux=has_aux, accumulate_into=accumulate_into, pack=pack)
    make = partial(Compiled, transformed, original=f, again=again, plain=f)
    return make() if accumulate_into is not None else kept(f, ("value_and_grad", argnums, has_aux, pack), make)


@also_decorator
def grad(
    f: Callable[..., Any], argnums: int | tuple[int, ...] = 0, *, has_aux: bool = False,
    accumulate_into: Any = None, pack: bool = False,
) -> Callable[..., Any]:  # fmt: skip
    """The gradient of a function that returns one float; with has_aux `(gradient, aux)`.

    See `value_and_grad`.

    >>> import numpy as np, pliant
    >>> pliant.grad(np.sin)(0.0)
    np.float64(1.0)
    """
    function_of(f)

    def transformed(*args: Any, **kwargs: Any) -> Any:
        value, gradient = differentiate.value_and_grad(f, argnums, has_aux, args, kwargs)
        gradient = placed(gradient, accumulate_into, pack=pack)
        return (gradient, value[1]) if has_aux else gradient

    again = partial(grad, f, argnums, has_aux=has_aux, accumulate_into=accumulate_into, pack=pack)
    make = partial(Compiled, transformed, original=f, again=again, plain=f)
    return make() if accumulate_into is not None else kept(f, ("grad", argnums, has_aux, pack), make)


def jvp(
    f: Callable[..., Any], primals: tuple[Any, ...], tangents: tuple[Any, ...], *, has_aux: bool = False
) -> tuple[Any, ...]:
    """`(f(*primals), derivative of f along tangents)`; with has_aux `(value, derivative, aux)`.

    tangents: like primals, leaf by leaf of the same shape. Those of integers, text and other objects, which have no
    derivative, are ignored: write None.

    >>> import numpy as np, pliant
    >>> y, dy = pliant.jvp(lambda x: x**3, (2.0,), (1.0,))
    >>> float(dy)
    12.0
    """

    def transformed(*primals: Any, tangents: Any) -> Any:
        made, dmade = differentiate.jvp(f, primals, tuple(tangents), has_aux)
        return (made[0], dmade, made[1]) if has_aux else (made, dmade)

    if isinstance(primals, np.ndarray) or isinstance(tangents, np.ndarray):
        raise ArgumentError("jvp: expected tuples of primals and tangents", hint="pliant.jvp(f, (x,), (dx,))")

    def plain(*primals: Any, tangents: Any) -> Any:
        return f(*primals)

    return cached(transformed, f, ("jvp", has_aux), plain)(*primals, tangents=tangents)


@frozen
class LinearFunction:
    """The derivative of a function at a point: a linear function, compiled, with its residuals."""

    linear: differentiate.Linearized
    residuals: tuple[Any, ...]
    origin: Origin = NOWHERE

    @classmethod
    def of(cls, linear: differentiate.Linearized, residuals: Iterable[Any]) -> LinearFunction:
        """The one that is made here."""
        return cls(linear, tuple(residuals), here() if is_tracing() else NOWHERE)

    def pliant_refused(self, held: TracedArray) -> UnsupportedError:
        """The error about one that a traced function returns, or leaves outside."""
        return UnsupportedError(
            f"returning the derivative at a point, which holds a traced array {held.type}",
            hint="call it inside, or return the point, and call pliant.vjp or pliant.linearize after the call",
        ).at(("made here", self.origin))

    def __reduce__(self) -> Any:
        raise ArgumentError(
            "a derivative at a point cannot be pickled",
            hint="pickle the function and its arguments, and call pliant.vjp or pliant.linearize again",
        )

    def __copy__(self, memo: Any = None) -> LinearFunction:
        return self

    __deepcopy__ = __copy__

    def __call__(self, *given: Any, out: Any = None) -> Any:
        """Apply it to tangents (of `linearize`) or to a cotangent (of `vjp`). out: as of `jit`."""
        options = {} if out is None else {"out": out}
        return self.linear.compiled(list(self.residuals), *given, **options)


def vjp(f: Callable[..., Any], *args: Any, has_aux: bool = False) -> Any:
    """`(f(*args), pullback)`; with has_aux `(value, pullback, aux)`.

    pullback(ct), with ct like the value, returns one cotangent per argument: ctᵀ·∂f/∂x; None for
    integers, text and other objects. It may be called many times; f is not run again.

    >>> import numpy as np, pliant
    >>> y, pullback = pliant.vjp(lambda x, y: x * y, 2.0, 3.0)
    >>> [float(c) for c in pullback(1.0)]
    [3.0, 2.0]
    """

    def transformed(*args: Any) -> Any:
        return differentiate.vjp(f, args, has_aux)

    made, residuals, linear = cached(transformed, f, ("vjp", has_aux))(*args)
    pullback = LinearFunction.of(linear, residuals)
    return (made[0], pullback, made[1]) if has_aux else (made, pullback)


def linearize(f: Callable[..., Any], *args: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """`(f(*args), derivative)`; with has_aux `(value, derivative, aux)`.

    derivative(*tangents) is ∂f/∂x·dx, without running f again; tangents as of `jvp`.

    >>> import numpy as np, pliant
    >>> y, derivative = pliant.linearize(np.exp, 0.0)
    >>> float(derivative(2.0))
    2.0
    """

    def transformed(*args: Any) -> Any:
        return differentiate.linearized(f, args, has_aux)

    made, residuals, linear = cached(transformed, f, ("linearize", has_aux))(*args)
    derivative = LinearFunction.of(linear, residuals)
    return (made[0], derivative, made[1]) if has_aux else (made, derivative)


@also_decorator
def jacobian(
    f: Callable[..., Any], argnums: int | tuple[int, ...] = 0, *, mode: str = "auto", has_aux: bool = False
) -> Callable[..., Any]:
    """All first derivatives: for a result of shape s and an argument of shape t, an array s + t; with has_aux
    `(derivatives, aux)`.

    mode: "forward", "reverse", or "auto" for the cheaper by the number of elements. For complex arguments z it is
    ∂f/∂Re z, in every mode: the derivative of a holomorphic f. Raises DifferentiationError for real results of complex
    arguments, which `grad` and `vjp` are for.

    >>> import numpy as np, pliant
    >>> pliant.jacobian(lambda x: np.array([x[0] * x[1], x[0]]))(np.array([2.0, 3.0]))
    array([[3., 2.],
           [1., 0.]])
    """
    if mode not in ("auto", "forward", "reverse"):
        raise ArgumentError(f"jacobian: expected mode 'auto', 'forward' or 'reverse', got {mode!r}")
    return _jacobian(f, argnums, mode, has_aux, partial(jacobian, f, argnums, mode=mode, has_aux=has_aux))


def _jacobian(
    f: Callable[..., Any], argnums: int | tuple[int, ...], mode: str, has_aux: bool, again: partial[Any]
) -> Callable[..., Any]:
    function_of(f)
    is_hessian = again.func is hessian

    def transformed(*args: Any, **kwargs: Any) -> Any:
        return differentiate.jacobian(f, argnums, mode, has_aux, args, kwargs, is_hessian=is_hessian)

    make = partial(Compiled, transformed, original=f, again=again, plain=f)
    return kept(f, ("jacobian", argnums, mode, has_aux, is_hessian), make)


@also_decorator
def hessian(f: Callable[..., Any], argnums: int | tuple[int, ...] = 0, *, has_aux: bool = False) -> Callable[..., Any]:
    """All second derivatives of a function that returns one float: forward over reverse; with has_aux
    `(derivatives, aux)`. For complex arguments z they are ∂/∂Re z of the gradient; `hvp` has those in other directions.

    >>> import numpy as np, pliant
    >>> pliant.hessian(lambda x: x[0] ** 2 * x[1])(np.array([1.0, 2.0]))
    array([[4., 2.],
           [2., 0.]])
    """
    function_of(f)

    def gradient(*args: Any, **kwargs: Any) -> Any:
        value, slope = differentiate.value_and_grad(f, argnums, has_aux, args, kwargs, "hessian")
        return (slope, value[1]) if has_aux else slope

    slope = kept(f, ("slope", argnums, has_aux), partial(Compiled, gradient, original=f, plain=f))
    return _jacobian(slope, argnums, "forward", has_aux, partial(hessian, f, argnums, has_aux=has_aux))


@also_decorator
def hvp(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function `(x, v, *rest, **options) -> H·v`, H the second derivatives of `f(x, *rest, **options)` in x.

    It costs a small multiple of f: H is never formed.

    >>> import numpy as np, pliant
    >>> pliant.hvp(lambda x: np.sum(x**3))(np.array([1.0, 2.0]), np.array([1.0, 0.0]))
    array([6., 0.])
    """
    function_of(f)

    def transformed(x: Any, v: Any, *rest: Any, **options: Any) -> Any:
        def gradient(y: Any) -> Any:
            return grad(f)(y, *rest, **options)

        return differentiate.jvp(gradient, (x,), (v,), name="hvp")[1]

    def plain(x: Any, v: Any, *rest: Any, **options: Any) -> Any:
        return f(x, *rest, **options)

    return kept(f, "hvp", partial(Compiled, transformed, original=f, more=1, again=partial(hvp, f), plain=plain))


@also_decorator
def vmap(
    f: Callable[..., Any], in_axes: Any = 0, out_axes: Any = 0, *, axis_size: int | None = None
) -> Callable[..., Any]:
    """`f` over an axis of its arguments, for all at once: as a Python loop and `np.stack`.

    in_axes: an axis per argument, None for one that is the same for all; containers follow the
    arguments' structure. out_axes: where the new axis goes in the results. Arrays that are given by keyword
    are mapped over axis 0; numbers, text and None by keyword are the same for all, and so are text and None beside an
    array in a container.

    >>> import numpy as np, pliant
    >>> pliant.vmap(np.dot, in_axes=(0, None))(np.eye(2), np.array([3.0, 4.0]))
    array([3., 4.])
    """
    function_of(f)

    def transformed(*args: Any, **kwargs: Any) -> Any:
        return batch.mapped(f, in_axes, out_axes, axis_size, args, kwargs)

    again = partial(vmap, f, in_axes, out_axes, axis_size=axis_size)
    make = partial(Compiled, transformed, original=f, again=again, plain=partial(batch.one_by_one, f, in_axes))
    return kept(f, ("vmap", in_axes, out_axes, axis_size), make)


@also_decorator
def vectorize(f: Callable[..., Any], signature: str) -> Callable[..., Any]:
    """`f` on core dimensions, broadcast over all leading ones, as `np.vectorize(signature=)`.

    Raises ShapeError where axes of one name have different lengths, or results are not as the signature says.

    >>> import numpy as np, pliant
    >>> pliant.vectorize(np.dot, "(n),(n)->()")(np.ones((4, 3)), np.ones(3))
    array([3., 3., 3., 3.])
    """
    function_of(f)
    made = Vectorized.of(f, signature)

    def transformed(*args: Any) -> Any:
        return made.over_all(*args)

    again = partial(vectorize, f, signature)
    make = partial(Compiled, transformed, original=f, again=again, plain=made.one_by_one)
    return kept(f, ("vectorize", signature), make)


def trace(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Function:
    """The program of `f` for arguments like these: print it, `parse` it back, `evaluate` it.

    Parameters are the arguments' leaves, then captured arrays; results the returned arrays and numbers,
    each of the shape that f returns it with, then the new contents of written arguments. Of an array whose
    length is known only at run time they are its extents, and one with room for the longest.
    Not optimised; see `explain` for what is run. It is one program for all data: a function that `jit` runs by
    a program for each outcome of some condition, as of what is no one kind of thing after it, is refused.

    >>> import numpy as np, pliant
    >>> print(pliant.trace(lambda x: 2 * np.sin(x), np.ones(3)))
    func @lambda(%x: f64[3]) -> (f64[3]) {
      %1: f64[3] = sin(%x)
      %2: f64[3] = mul(2.0, %1)
      return %2
    }
    <BLANKLINE>
    """
    compiled = f if isinstance(f, Compiled) else Compiled(function_of(f))
    return compiled.program(*args, **kwargs).fn


def parse(text: str) -> Function:
    """The program that a text says, in the form that `print(pliant.trace(f, *args))` shows.

    Raises ParseError, with the line, for what is no program of Pliant's primitives, ArgumentError for what is no text.

    >>> import numpy as np, pliant
    >>> fn = pliant.trace(lambda x: 2 * np.sin(x), np.ones(3))
    >>> pliant.parse(str(fn)) == fn
    True
    """
    if not is_of(text, str):
        raise ArgumentError(f"parse: expected the text of a program, got {type(text).__name__}")
    return core_parse.parse(text, ops.ALL)


def evaluate(fn: Function, *arrays: Any) -> tuple[Any, ...]:
    """The results of a program for arrays, one for each of its parameters: by NumPy, one primitive at a time.

    Raises ShapeError and DTypeError for arrays that are not as the parameters, up to dtypes of one kind.

    >>> import numpy as np, pliant
    >>> pliant.evaluate(pliant.trace(lambda x: 2 * x, np.ones(3)), np.arange(3.0))
    (array([0., 2., 4.]),)
    """
    if not is_of(fn, Function):
        raise ArgumentError(
            f"evaluate: expected a program, got {type(fn).__name__}", hint="pliant.trace(f, x) makes the program of f"
        )
    if len(arrays) != len(fn.params):
        raise ArgumentError(f"{fn.name} has {len(fn.params)} parameters, got {len(arrays)} arrays")
    pairs = enumerate(zip(arrays, fn.params, strict=True), 1)
    return evaluated(fn, tuple([_like(a, p.type, f"{fn.name}: parameter {n}") for n, (a, p) in pairs]), np)


def _like(given: Any, expected: Type, place: str) -> Any:
    """An array of the type of a parameter."""
    x, dtype = np.asarray(given), DTYPES[expected.dtype]
    if x.shape == expected.shape and np.can_cast(x.dtype, dtype, "same_kind"):
        return x.astype(dtype, copy=False)
    got = f"{place} is {expected}, got {x.dtype} of shape {x.shape}"
    raise (DTypeError(got) if x.shape == expected.shape else ShapeError(got)).at(("here", here()))


__all__ = [
    "LinearFunction", "evaluate", "grad", "hessian", "hvp", "jacobian", "jit", "jvp", "linearize", "parse", "trace",
    "value_and_grad", "vectorize", "vjp", "vmap",
]  # fmt: skip
