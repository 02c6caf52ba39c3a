"""What a differentiation system has to offer: two primitives on flat tuples, and a few services.

Everything else (gradients, Jacobians, second order, contexts, containers) is made from them in
`programs.py`. A function here is *flat*: it takes a tuple of arrays and returns a tuple of arrays
and a tuple of auxiliary objects.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol, final

import numpy as np

Arrays = tuple[Any, ...]
Flat = Callable[[Arrays], tuple[Arrays, Arrays]]
Pushed = tuple[Arrays, Arrays, Arrays]
Bound = Callable[[Arrays], Flat]  # constants to the flat function for them
Way = Callable[..., Any]  # a call of a preparation, with arguments as users give them
Linear = Callable[[Arrays], Arrays]  # a derivative at one point, of the leaves of one seed
Mode = Literal["forward", "reverse", "both"]
SEEDED: Final = ("pushforward", "pullback", "hvp")  # operators that take a tuple of seeds


def is_ndarray(x: Any) -> bool:
    """Whether x is a NumPy array (and no scalar)."""
    return isinstance(x, np.ndarray)


def is_numpy(x: Any) -> bool:
    """Whether x is a NumPy array or scalar."""
    return isinstance(x, np.ndarray | np.generic)


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
    derivatives too. mutation: what a write to x does. complex: complex x. doubles: computes in 64
    bits. tolerance: relative, of first and of second derivatives.
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
    doubles: bool = True
    tolerance: tuple[float, float] = (1e-10, 1e-10)


class System(Protocol):
    """A differentiation system. Implementations are frozen dataclasses, compared by value.

    Three more methods are optional. `direct(operator, program, functional, way)` is a shorter way
    where there is one, and goes the given way otherwise; `bind(way)` compiles a way as a whole;
    `at_point(bound, xs, constants, is_forward)` is the derivative at one point, f not run again.
    """

    @property
    def name(self) -> str:
        """What errors and tables call it."""
        ...

    @property
    def abilities(self) -> Abilities:
        """What it can do."""
        ...

    @property
    def mode(self) -> Mode:
        """Which primitive Jacobians use; "both" chooses by the shapes."""
        ...

    @property
    def plain(self) -> bool:
        """Whether functions are plain NumPy, and Pliant's program of them is run."""
        ...

    @property
    def namespace(self) -> Any:
        """The module of its arrays."""
        ...

    def require(self) -> None:
        """Raise UnavailableError, with the pip line, unless the package is installed."""
        ...

    def call(self, f: Callable[..., Any], args: Arrays, guarded: Arrays) -> Any:
        """`f(*args)`; MutationError where f writes to one of the guarded arrays among args."""
        ...

    def guard(self, x: Any) -> Any:
        """An array whose value matters, as f is given it: read-only, or a copy."""
        ...

    def pushforward(self, fn: Flat, xs: Arrays, dxs: Arrays, is_many: bool) -> Pushed:
        """(ys, aux, tangents of ys) for tangents dxs of xs; if is_many, dxs and the tangents
        returned have a leading axis over which the map is repeated."""
        ...

    def pullback(self, fn: Flat, xs: Arrays, seed: Callable[[Arrays], Arrays], is_many: bool) -> Pushed:
        """(ys, aux, cotangents of xs) for cotangents seed(ys) of ys: ct[i] * conj(dy[i]/dx)
        summed over i; leading axes as for `pushforward`."""
        ...

    def compile(self, program: Callable[..., Any]) -> Callable[..., Any]:
        """`run(xs, seeds, constants, key)`: the program, made fast if that can be; key is hashable,
        and calls with different keys may be different programs."""
        ...

    def array(self, x: Any) -> Any:
        """An array or number as the system's own array."""
        ...

    def numpy(self, x: Any) -> Any:
        """One of the system's arrays as a NumPy array or scalar."""
        ...

    def owns(self, x: Any) -> bool:
        """Whether x is one of the system's own arrays (never true for NumPy's)."""
        ...

    def eye(self, n: int, like: Any) -> Any:
        """The unit matrix of n rows, of the dtype of an array."""
        ...

    def zeros(self, shape: tuple[int, ...], like: Any) -> Any:
        """Zeros of the dtype of an array."""
        ...

    def cast(self, x: Any, like: Any) -> Any:
        """An array with the dtype of another."""
        ...

    def buffer(self, template: Any) -> Any:
        """Memory like a NumPy array, for the function to write."""
        ...

    def read(self, buffer: Any) -> Any:
        """What was written to a buffer."""
        ...
