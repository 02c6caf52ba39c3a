"""JAX: the program as one of its functions, in operations of `jax.numpy` and `jax.lax` alone.

A primitive is run by its rule named `jax`, else by its `array` rule on JAX's arrays, else by what it expands to. What
is made is of the inferred types: 64 bits where the program says so. Derivatives of what is emitted are JAX's, of rules
that are Pliant's: see `Emission`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import cache, cached_property, lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from pliant.backends.base import Executable, Pairs
from pliant.core.build import trace
from pliant.core.data import frozen
from pliant.core.inner import functions_of
from pliant.core.ir import Function, Op
from pliant.core.types import DTYPES, Type
from pliant.errors import UnavailableError, VerifyError
from pliant.ops.in_jax import with_tangents
from pliant.transforms.evaluate import evaluate, run_rule, short_dtype, stepper
from pliant.transforms.jvp import jvp


@cache
def jax_package(name: str = "jax") -> Any:
    """JAX, or a module of it; UnavailableError if it is not installed."""
    try:
        return import_module(name)
    except ImportError as error:
        raise UnavailableError(f"JAX needs the package 'jax': {error}", hint="pip install pliant[jax]") from None


@cache
def is_told() -> bool:
    """Tell JAX that no line of Pliant is one of its users'."""
    import_module("jax.extend.source_info_util").register_exclusion(str(Path(__file__).parents[1]))
    return True


def wide() -> AbstractContextManager[Any]:
    """Inside, JAX's arrays may have 64 bits, as NumPy's have."""
    return jax_package().enable_x64(True)


def has_wide() -> bool:
    """Whether JAX's arrays may have 64 bits."""
    return bool(jax_package().dtypes.canonicalize_dtype(np.float64) == np.float64)


@final
class Emission:
    """`jax.numpy`, with Pliant's way to run a primitive on arrays of it.

    is_derived: whether JAX may differentiate what is made. Then a primitive that is not linear, and holds no function,
    is a `jax.custom_jvp` with its own `jvp` for a rule: ties, kinks and ends of domains are as in Pliant. What is
    linear in an operand is left to JAX, and so are loops and branches, whose steps are made of the same.
    """

    __name__: Final = "jax.numpy"

    def __init__(self, *, is_derived: bool) -> None:
        self.is_derived = is_derived

    @cached_property
    def numpy(self) -> Any:
        """Its NumPy."""
        return jax_package("jax.numpy")

    def matmul(self, x: Any, y: Any) -> Any:
        """A product in all the bits of its operands, on devices too that would rather have fewer."""
        return self.numpy.matmul(x, y, precision="highest")

    def exp2(self, x: Any) -> Any:
        """2 to a power: exact where that is whole, which JAX's, an `exp` of products, is not."""
        return self.numpy.power(self.numpy.asarray(2, x.dtype), x)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.numpy, name)

    def pliant_run(self, op: Op, args: Sequence[Any]) -> tuple[Any, ...]:
        """One primitive, on arrays of JAX."""
        types = tuple([Type(short_dtype(a.dtype), tuple(a.shape)) for a in args])
        is_own = self.is_derived and has_own_derivative(type(op)) and any([t.is_float for t in types]) and is_plain(op)
        with wide():
            return _with_derivative(op, types)(*args) if is_own else self.plain(op, types, args)

    def plain(self, op: Op, types: tuple[Type, ...], args: Sequence[Any]) -> tuple[Any, ...]:
        """One primitive, whose derivative is JAX's own. JAX's integers may be narrower than ours: they are widened."""
        made, wanted = run_rule(op, self, [*args]), op.infer(*types)
        wanted = wanted if isinstance(wanted, tuple) else (wanted,)
        return tuple([_of_type(op, y, t) for y, t in zip(made, wanted, strict=True)])


def _of_type(op: Op, y: Any, type: Type) -> Any:
    """A result in the inferred dtype."""
    if str(y.dtype) == DTYPES[type.dtype] and tuple(y.shape) == type.shape:
        return y
    if tuple(y.shape) != type.shape or y.dtype.kind not in "iu" or type.kind not in "iu":
        raise VerifyError(f"{op.name}: on JAX it made {y.dtype}{list(y.shape)}, `infer` says {type}")
    return y.astype(DTYPES[type.dtype])


@cache
def has_own_derivative(kind: type[Op]) -> bool:
    """Whether tangents of a primitive are no linear use of the same primitive."""
    return kind.has("jvp") and not kind.has("transpose")


def is_plain(op: Op) -> bool:
    """Whether a primitive holds no functions, whose primitives have derivatives of their own."""
    return not functions_of(op)


@lru_cache(maxsize=4096)
def _with_derivative(op: Op, types: tuple[Type, ...]) -> Callable[..., Any]:
    """A primitive on operands of these types, with Pliant's derivative."""
    active = tuple([t.is_float for t in types])

    @cache
    def pushed() -> Callable[..., Any]:
        return stepper(jvp(trace(op.apply, *types), active), DERIVED)

    def primal(*xs: Any) -> tuple[Any, ...]:
        return DERIVED.plain(op, types, xs)

    def rule(xs: Any, dxs: Any) -> Any:
        ys = primal(*xs)
        made = pushed()((*xs, *[d for d, a in zip(dxs, active, strict=True) if a]))
        return made[: len(ys)], with_tangents(ys, made[len(ys) :])

    made = jax_package().custom_jvp(primal)
    made.defjvp(rule)
    return made


PLAIN: Final = Emission(is_derived=False)
DERIVED: Final = Emission(is_derived=True)


def emitted(fn: Function) -> Callable[..., tuple[Any, ...]]:
    """A program as a function of arrays of JAX, compiled by it, that has derivatives and batches there."""

    def program(*xs: Any) -> tuple[Any, ...]:
        return evaluate(fn, xs, DERIVED)

    program.__name__ = fn.name
    return jax_package().jit(program)


@final
@frozen
class JaxBackend:
    """Runs programs on NumPy arrays by XLA, through JAX."""

    name: str = "jax"

    def compile(self, fn: Function, *, pinned: Pairs = (), free: Sequence[int] = ()) -> Executable:
        """The function as a callable from arrays to fresh arrays of exactly the inferred types."""
        dtypes = [np.dtype(DTYPES[p.type.dtype]) for p in fn.params]

        def program(*xs: Any) -> tuple[Any, ...]:
            return evaluate(fn, xs, PLAIN)

        run = jax_package().jit(program)

        def call(arrays: Sequence[Any]) -> list[Any]:
            with wide():
                ys = run(*[np.asarray(x, dtype) for x, dtype in zip(arrays, dtypes, strict=True)])
                return [np.array(y, order="C") for y in ys]

        return call


BACKEND: Final = JaxBackend()
