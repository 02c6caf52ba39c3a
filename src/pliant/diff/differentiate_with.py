"""One system inside another: a function whose derivatives a system of its own makes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Final, final

import numpy as np

from pliant.core.origin import here
from pliant.core.types import Type
from pliant.diff.bridges import BRIDGES
from pliant.diff.contexts import Constant
from pliant.diff.foreign import only
from pliant.diff.layout import flatten, is_number, leaf_type
from pliant.diff.namespace import namespace
from pliant.diff.operators import hvp, jvp, second_derivative, value_and_pushforward, vjp
from pliant.diff.programs import refuse_second_order
from pliant.diff.second_order import parts_of
from pliant.diff.system import dtype_name, is_numpy
from pliant.errors import ArgumentError, PliantError, UnsupportedError
from pliant.frontend.instrumented import callee
from pliant.frontend.signature import static, unflatten
from pliant.frontend.tracing import current, is_tracing, untraced
from pliant.transforms.evaluate import short_dtype


@final
class DifferentiateWith:
    """f of one float array x and constants, differentiated by `system` wherever it is called.

    It may be called by functions that Pliant, JAX, PyTorch, autograd or MLX differentiate or compile,
    by the complex step and finite differences, and with NumPy's arrays. Derivatives with respect to
    x, of first order and, for real x and a system that has them, of second.

    like: an array like y, or anything with its shape and dtype. What compiles the caller has to know them before it
    runs f: if it is not told, f is run once for the values at hand, or at ones.

    >>> import numpy as np, pliant.diff as diff
    >>> inner = diff.DifferentiateWith(lambda x, c: c * np.sin(x), diff.ComplexStep())
    >>> diff.gradient(lambda x: np.sum(inner(x, 2.0) ** 2), diff.Pliant(), np.array([0.0, np.pi / 4]))
    array([0., 4.])
    """

    def __init__(self, f: Callable[..., Any], system: Any, *, like: Any = None) -> None:
        self.f, self.system = f, system
        self.like = like if like is None or hasattr(like, "dtype") else np.asarray(like)
        self.types: dict[Any, Type] = {}  # of results, by those of the arguments
        self.of_numbers: dict[Any, DifferentiateWith] = {}  # the same for constants that are no numbers
        self.__name__ = getattr(f, "__name__", type(f).__name__)

        def along(s: Any, x: Any, dx: Any, *constants: Any) -> Any:
            return _seen(f)(x + s * dx, *constants)

        def against(x: Any, ct: Any, *constants: Any) -> Any:
            return namespace(x).sum(ct * _seen(f)(x, *constants))

        self._along, self._against = along, against

    def __call__(self, x: Any, *constants: Any, **keywords: Any) -> Any:
        """f(x, *constants, **keywords), in the arrays of x."""
        if keywords or not all(map(is_number, constants)):
            same, numbers = self._of_numbers(constants, keywords)
            return same(x, *numbers)
        if isinstance(x, float | complex) or is_numpy(x):
            return self._on_numpy(np.asarray(x), constants)
        found = BRIDGES.get(type(x).__module__.partition(".")[0])
        if found is None:
            raise ArgumentError(f"DifferentiateWith: expected an array x, got {type(x).__name__}")
        own, bridge = found
        is_same = isinstance(self.system, own) and not self.system.plain  # plain functions take no arrays of others
        return _seen(self.f)(x, *constants) if is_same else bridge(self, x, constants)

    def _of_numbers(self, constants: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[DifferentiateWith, list[Any]]:
        """The same as a function of x and the numbers among the constants; and these."""
        leaves, structure = flatten((constants, keywords))
        flags = tuple(map(is_number, leaves))
        fixed = tuple([None if is_free else static(leaf) for leaf, is_free in zip(leaves, flags, strict=True)])
        key, f = (structure, fixed), self.f
        if key not in self.of_numbers:

            def of_numbers(x: Any, *numbers: Any) -> Any:
                rest = iter(numbers)
                args, options = unflatten(structure, [next(rest) if c is None else c.value for c in fixed])
                return _seen(f)(x, *args, **options)

            while len(self.of_numbers) >= MOST:
                self.of_numbers.pop(next(iter(self.of_numbers)), None)
            same = functools.update_wrapper(of_numbers, f)  # what f reads from outside is looked for in it
            self.of_numbers[key] = DifferentiateWith(same, self.system, like=self.like)
        return self.of_numbers[key], [leaf for leaf, is_free in zip(leaves, flags, strict=True) if is_free]

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

    def result_type(self, x: Any, constants: tuple[Any, ...], held: Callable[[Any], Any]) -> Type:
        """The type of y: as `like` says, or from a run. held: what an argument holds, None if that is not known."""
        if self.like is not None:
            return Type(short_dtype(self.like.dtype), tuple(self.like.shape))
        args = (x, *constants)
        key = tuple(map(leaf_type, args))
        if key not in self.types:
            found = [held(a) if hasattr(a, "dtype") else a for a in args]
            self.types[key] = self._type_at(*([found] if not any([a is None for a in found]) else []), _ones(args))
        return self.types[key]

    def _type_at(self, given: Sequence[Any], *others: Sequence[Any]) -> Type:
        """The type of y at the first arguments with which f runs."""
        try:
            with untraced():
                y = self.value(*given)
        except PliantError:
            raise
        except Exception as error:  # whatever f raises
            if others:
                return self._type_at(*others)
            raise ArgumentError(
                f"{self.__name__} is run at ones to find the type of its result, and raises {type(error).__name__}: "
                f"{error}",
                hint="tell the type: DifferentiateWith(f, system, like=...), an array, or what has its shape and dtype",
            ).at(("called here", here())) from error
        return Type(short_dtype(y.dtype), y.shape)


MOST: Final = 64  # sets of constants that are no numbers, which are kept


def _ones(args: Sequence[Any]) -> list[Any]:
    """Ones like arrays; numbers themselves."""
    return [np.ones(tuple(x.shape), dtype_name(x)) if hasattr(x, "dtype") else x for x in args]


def _seen(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function as a trace, if there is one, calls it: with its branches and loops."""
    return callee(f, current()) if is_tracing() else f


def _is_step(x: Any) -> bool:
    """Whether the imaginary part is that of a complex step."""
    return bool(np.all(np.abs(x.imag) < 1e-12 * (1 + np.abs(x.real))))
