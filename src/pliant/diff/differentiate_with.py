"""One system inside another: a function whose derivatives a system of its own makes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import numpy as np

from pliant.core.types import Type
from pliant.diff.bridges import BRIDGES
from pliant.diff.contexts import Constant
from pliant.diff.foreign import only
from pliant.diff.layout import leaf_type
from pliant.diff.namespace import namespace
from pliant.diff.operators import hvp, jvp, second_derivative, value_and_pushforward, vjp
from pliant.diff.programs import refuse_second_order
from pliant.diff.second_order import parts_of
from pliant.diff.system import dtype_name, is_numpy
from pliant.errors import ArgumentError, UnsupportedError
from pliant.frontend.instrumented import callee
from pliant.frontend.tracing import current, is_tracing, untraced
from pliant.transforms.evaluate import short_dtype


@final
class DifferentiateWith:
    """f of one float array x and constants, differentiated by `system` wherever it is called.

    It may be called by functions that Pliant, JAX, PyTorch, autograd or MLX differentiate or compile,
    by the complex step and finite differences, and with NumPy's arrays. Derivatives with respect to
    x, of first order and, for real x and a system that has them, of second.

    >>> import numpy as np, pliant.diff as diff
    >>> inner = diff.DifferentiateWith(lambda x, c: c * np.sin(x), diff.ComplexStep())
    >>> diff.gradient(lambda x: np.sum(inner(x, 2.0) ** 2), diff.Pliant(), np.array([0.0, np.pi / 4]))
    array([0., 4.])
    """

    def __init__(self, f: Callable[..., Any], system: Any) -> None:
        self.f, self.system = f, system
        self.types: dict[Any, Type] = {}  # of results, by those of the arguments
        self.__name__ = getattr(f, "__name__", type(f).__name__)

        def along(s: Any, x: Any, dx: Any, *constants: Any) -> Any:
            return _seen(f)(x + s * dx, *constants)

        def against(x: Any, ct: Any, *constants: Any) -> Any:
            return namespace(x).sum(ct * _seen(f)(x, *constants))

        self._along, self._against = along, against

    def __call__(self, x: Any, *constants: Any) -> Any:
        """f(x, *constants), in the arrays of x."""
        if isinstance(x, float | complex) or is_numpy(x):
            return self._on_numpy(np.asarray(x), constants)
        found = BRIDGES.get(type(x).__module__.partition(".")[0])
        if found is None:
            raise ArgumentError(f"DifferentiateWith: expected an array x, got {type(x).__name__}")
        own, bridge = found
        is_same = isinstance(self.system, own) and not self.system.plain  # plain functions take no arrays of others
        return _seen(self.f)(x, *constants) if is_same else bridge(self, x, constants)

    def _on_numpy(self, x: Any, constants: tuple[Any, ...]) -> Any:
        """The value; of a complex x from the complex step, with the tangent in the imaginary part."""
        first, _ = parts_of(self.system, order=1, is_forward=True)
        if x.dtype.kind != "c" or (first.abilities.complex and not _is_step(x)):
            return self.value(x, *constants)
        return self.value(x.real, *constants) + 1j * self.push(x.real, x.imag, *constants)

    # --- the maps of `foreign.py`, on NumPy arrays: what the bridges call

    def value(self, x: Any, *constants: Any) -> Any:
        """f(x)."""
        x = np.asarray(x)
        y, _ = value_and_pushforward(self.f, self.system, x, (np.zeros_like(x),), *map(Constant, constants))
        if not is_numpy(y):
            raise UnsupportedError(
                f"DifferentiateWith: expected a function that returns one array, this one returns {type(y).__name__}",
                hint="concatenate the results into one",
            )
        return y

    def push(self, x: Any, dx: Any, *constants: Any) -> Any:
        """The tangent of y."""
        return jvp(self.f, self.system, np.asarray(x), np.asarray(dx), *map(Constant, constants))

    def pull(self, x: Any, ct: Any, *constants: Any) -> Any:
        """The cotangent of x."""
        return vjp(self.f, self.system, np.asarray(x), np.asarray(ct), *map(Constant, constants))

    def curve(self, x: Any, ct: Any, dx: Any, *constants: Any) -> Any:
        """The Hessian of ⟨ct, f(x)⟩ times dx."""
        x, ct, dx = map(np.asarray, (x, ct, dx))
        (made,) = hvp(self._against, self.system, x, (dx,), *map(Constant, (ct, *constants)))
        return made

    def bend(self, x: Any, dx: Any, other: Any, *constants: Any) -> Any:
        """The second derivative of f along two directions, from those along their sum and difference."""
        x, dx, other = map(np.asarray, (x, dx, other))
        scale, other_scale = (float(np.linalg.norm(np.reshape(d, -1))) or 1.0 for d in (dx, other))
        u, v = dx / x.dtype.type(scale), other / x.dtype.type(other_scale)  # of one length: nothing cancels
        zero = np.zeros((), x.dtype)[()]
        sums = [
            second_derivative(self._along, self.system, zero, *map(Constant, (x, w, *constants)))
            for w in (u + v, u - v)
        ]
        return x.dtype.type(scale * other_scale / 4) * (sums[0] - sums[1])

    def check_twice(self, x: Any) -> None:
        """UnsupportedError if f has no second derivatives at an x like this."""
        refuse_second_order(*parts_of(self.system, order=2, is_forward=True))
        if str(x.dtype).rpartition(".")[2].startswith("c"):
            raise only("once where x is complex")

    def result_type(self, x: Any, constants: tuple[Any, ...]) -> Type:
        """The type of y, from a run at ones."""
        key = tuple(map(leaf_type, (x, *constants)))
        if key not in self.types:
            with untraced():
                y = self.value(*map(_example, (x, *constants)))
            self.types[key] = Type(short_dtype(y.dtype), y.shape)
        return self.types[key]


def _seen(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function as a trace, if there is one, calls it: with its branches and loops."""
    return callee(f, current()) if is_tracing() else f


def _example(x: Any) -> Any:
    """Ones like an array; a number itself."""
    return np.ones(tuple(x.shape), dtype_name(x)) if hasattr(x, "dtype") else x


def _is_step(x: Any) -> bool:
    """Whether the imaginary part is that of a complex step."""
    return bool(np.all(np.abs(x.imag) < 1e-12 * (1 + np.abs(x.real))))
