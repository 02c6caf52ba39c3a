"""What a differentiation system has to offer: two primitives on flat tuples, and a few services.

Everything else (gradients, Jacobians, second order, contexts, containers) is made from them in
`programs.py`. A function here is *flat*: it takes a tuple of arrays and returns a tuple of arrays
and a tuple of auxiliary objects.
"""

from __future__ import annotations

import math
from abc import ABC
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, cast, final

import numpy as np

from pliant.diff.optional import package
from pliant.errors import MutationError, UnsupportedError
from pliant.frontend.kinds import is_array

Arrays = tuple[Any, ...]
Flat = Callable[[Arrays], tuple[Arrays, Arrays]]
Pushed = tuple[Arrays, Arrays, Arrays]
Bound = Callable[[Arrays], Flat]  # constants to the flat function for them
Way = Callable[..., Any]  # a call of a preparation, with arguments as users give them
Linear = Callable[[Arrays], Arrays]  # a derivative at one point, of the leaves of one seed
AtPoint = Callable[[Arrays, Arrays], Linear]  # xs and constants to the derivative there
Mode = Literal["forward", "reverse", "both"]


def is_numpy(x: Any) -> bool:
    """Whether x is a NumPy array or scalar."""
    return isinstance(x, np.ndarray | np.generic)


def native(x: Any) -> Any:
    """x in this machine's byte order, which is the only one that other libraries know."""
    return x.astype(x.dtype.newbyteorder("=")) if is_array(x) and not x.dtype.isnative else x


def shape(x: Any) -> tuple[int, ...]:
    """The extents of an array of any system, known when a program is made."""
    found: Any = x.shape
    is_known = hasattr(found, "__len__")  # PyTensor's shapes are symbols; their types know
    return tuple(found if is_known else x.type.shape)


def dtype_name(x: Any) -> str:
    """NumPy's name of an array's dtype, whatever library it is of; expressions are `float64`."""
    name = str(getattr(x.dtype, "name", x.dtype)).rpartition(".")[2]
    return "float64" if name == "object" else name


def is_sparse(x: Any) -> bool:
    """Whether x is a compressed sparse matrix."""
    return hasattr(x, "indptr")


def kind(x: Any) -> tuple[Any, Any, Any]:
    """The type of a leaf, in a form that is made and compared quickly."""
    return (x.__class__, x.dtype, x.shape) if hasattr(x, "dtype") else (x.__class__, None, None)


def unboxed(x: Any) -> Any:
    """A NumPy array; of rank 0 a scalar, as NumPy's own results are."""
    return x if x.shape else x[()]


@final
@dataclass(frozen=True)
class Abilities:
    """What a system claims; the scenario suite checks every claim.

    forward, reverse: whether the primitive exists; the other is then derived. is_traced: f runs
    once per signature on stand-ins, not at every call. bakes: what f reads from outside would stay
    what it was then; `captured.py` makes inputs of it. cache: `Cache` and in-place functions work.
    second_order: over itself. over_any: it differentiates any NumPy function, other systems'
    derivatives too. mutation: what a write to x does. complex: complex x.
    tolerance: relative, of first and of second derivatives.
    """

    forward: bool
    reverse: bool
    is_traced: bool = False
    bakes: bool = False
    cache: bool = True
    second_order: bool = True
    over_any: bool = False
    mutation: Literal["local", "error"] = "error"
    complex: bool = True
    tolerance: tuple[float, float] = (1e-10, 1e-10)


@final
@dataclass(frozen=True)
class Form:
    """What a call of a preparation takes and returns: `(x, *constants) → (y, *derivatives)`.

    operator: its name. has_seeds: their tuple comes after x, and the last derivative is a tuple of one per seed.
    is_alone: only the last derivative is returned.
    """

    operator: str
    has_seeds: bool
    is_alone: bool


class System(ABC):
    """A differentiation system: a frozen dataclass, compared by value.

    One says what it can do in `abilities`, and has a pushforward or a pullback. All else has
    defaults, for functions of NumPy arrays:

    >>> import numpy as np, pliant.diff as diff
    >>> class Forward(diff.System):
    ...     abilities = diff.Abilities(forward=True, reverse=False, second_order=False)
    ...     def pushforward(self, fn, xs, dxs, is_many):
    ...         return diff.ComplexStep().pushforward(fn, xs, dxs, is_many)
    >>> diff.gradient(lambda x: np.sum(x**2), Forward(), np.array([1.0, 2.0]))
    array([2., 4.])
    """

    abilities: Abilities
    mode: Mode = "both"  # which primitive Jacobians use; "both" chooses by the shapes
    plain: bool = False  # whether functions are plain NumPy, and Pliant's program of them is run
    modules: tuple[str, ...] = ()  # that must be there, from the package that `pip` installs
    pip: str = ""

    @property
    def name(self) -> str:
        """What errors and tables call it."""
        return type(self).__name__

    @property
    def namespace(self) -> Any:
        """The module of its arrays."""
        return np

    def module(self, name: str) -> Any:
        """A module of its package; UnavailableError, with the pip line, unless that is installed."""
        return package(name, self.name, self.pip)

    def require(self) -> None:
        """UnavailableError unless its package is installed."""
        for name in self.modules:
            self.module(name)

    # --- the two primitives

    def pushforward(self, fn: Flat, xs: Arrays, dxs: Arrays, is_many: bool) -> Pushed:
        """(ys, aux, tangents of ys) for tangents dxs of xs; if is_many, dxs and the tangents
        returned have a leading axis over which the map is repeated."""
        raise NotImplementedError

    def pullback(self, fn: Flat, xs: Arrays, seed: Callable[[Arrays], Arrays], is_many: bool) -> Pushed:
        """(ys, aux, cotangents of xs) for cotangents seed(ys) of ys: ct[i] * conj(dy[i]/dx)
        summed over i; leading axes as for `pushforward`."""
        raise NotImplementedError

    def columns(self, fn: Flat, xs: Arrays, i: int, scale: complex = 1) -> Pushed:
        """`pushforward` for all unit tangents of leaf i, times scale. Systems that take one tangent at a time
        need not make them."""
        return self.pushforward(fn, xs, units(self, xs, i, scale), True)

    def once(self, fn: Flat, xs: Arrays) -> Flat:
        """fn for several derivatives at xs: run once for all of them, if it is not run at every call anyway."""
        return fn

    # --- calls of f, and of programs made of it

    def call(self, f: Callable[..., Any], args: Arrays, guarded: Arrays) -> Any:
        """`f(*args)`; MutationError where f writes to one of the guarded arrays among args."""
        try:
            return f(*args)
        except (TypeError, ValueError) as error:
            if not any([text in str(error) for text in ("item assignment", "read-only")]):
                raise
            raise mutation_error(self.name, error) from error

    def guard(self, x: Any) -> Any:
        """An array whose value matters, as f is given it: read-only, or a copy."""
        if not isinstance(x, np.ndarray):
            return x
        view = cast("Any", x).view()
        view.flags.writeable = False
        return view

    def static(self, x: Any) -> Any:
        """A constant that is no number, as f is given it."""
        return x

    def compile(self, program: Callable[..., Any]) -> Callable[..., Any]:
        """`run(xs, seeds, constants, key)`: the program, made fast if that can be; key is hashable,
        and calls with different keys may be different programs."""

        def run(xs: Arrays, seeds: Any, constants: Arrays, key: Any) -> Any:
            return program(*self.entered(xs, seeds, constants))

        return run

    def compile_of(self, functional: Any, program: Callable[..., Any]) -> Callable[..., Any]:
        """`compile`, of a program that is made of a function of the user's."""
        return self.compile(program)

    def entered(self, xs: Arrays, seeds: Any, constants: Arrays) -> tuple[Arrays, Any, Arrays]:
        """The arguments of a program, in the system's own arrays."""
        return xs, seeds, constants

    def direct(self, form: Form, program: Callable[..., Any], functional: Any, way: Way) -> Way:
        """A shorter way than the given one to call a preparation, in this form, of a function of single arrays and
        numbers that returns its value only; for what it does not cover it goes the given way."""
        return way

    def bind(self, way: Way) -> Way:
        """A way to call a preparation, compiled as a whole if that can be."""
        return way

    def at_point(self, bound: Bound, is_forward: bool) -> AtPoint | None:
        """What makes derivatives at points, for which f is not run again; None if they cannot be kept."""
        return None

    # --- arrays

    def array(self, x: Any) -> Any:
        """An array or number as the system's own array."""
        return x if hasattr(x, "dtype") else np.asarray(x)[()]

    def numpy(self, x: Any) -> Any:
        """One of the system's arrays as a NumPy array or scalar; what is read-only is a view of an argument."""
        return unboxed(x if not is_array(x) or x.flags.writeable else x.copy())

    def owns(self, x: Any) -> bool:
        """Whether x is one of the system's own arrays (never true for NumPy's)."""
        return False

    def eye(self, n: int, like: Any) -> Any:
        """The unit matrix of n rows, of the dtype of an array."""
        return self.namespace.eye(n, dtype=like.dtype)

    def zeros(self, shape: tuple[int, ...], like: Any) -> Any:
        """Zeros of the dtype of an array; NumPy's of rank 0 are scalars."""
        made = self.namespace.zeros(shape, dtype=like.dtype)
        return unboxed(made) if is_array(made) else made

    def cast(self, x: Any, like: Any) -> Any:
        """An array with the dtype of another."""
        return x if x.dtype == like.dtype else x.astype(like.dtype)

    def buffer(self, template: Any) -> Any:
        """Fresh memory like a NumPy array, for the function to write; UnsupportedError if it cannot."""
        if not self.abilities.cache:
            raise UnsupportedError(
                f"{self.name} differentiates no writes: no Cache, no in-place functions",
                hint="use Pliant(), or return new arrays",
            )
        return np.empty(template.shape, template.dtype)

    def read(self, buffer: Any) -> Any:
        """What was written to a buffer."""
        return buffer


def size(x: Any) -> int:
    """How many elements an array has."""
    return math.prod(shape(x))


def units(system: System, xs: Arrays, i: int, scale: complex = 1) -> Arrays:
    """All unit tangents of leaf i, times scale, stacked: zeros in the other leaves."""
    n = size(xs[i])
    eye = system.namespace.reshape(system.eye(n, xs[i]), (n, *shape(xs[i])))
    eye = eye if scale == 1 else eye * scale
    return tuple([eye if j == i else system.zeros((n, *shape(x)), x) for j, x in enumerate(xs)])


def entered(own: Callable[[Any], Any], xs: Arrays, seeds: Any, constants: Arrays) -> tuple[Arrays, Any, Arrays]:
    """The arguments of a program, each by `own`."""
    return tuple(map(own, xs)), tuple([tuple(map(own, seed)) for seed in seeds]), tuple(map(own, constants))


def mutation_error(system: str, error: object = "") -> MutationError:
    """The error for a function that writes to x or to a constant."""
    return MutationError(
        f"{system}: the function writes to x or to a Constant{f' ({error})' if error else ''}",
        hint="let it write to a copy, or to a Cache",
    )
