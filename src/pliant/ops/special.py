"""The error function and the logarithm of the gamma function, real, with all their derivatives."""

from __future__ import annotations

import math
from importlib import import_module
from typing import Any, ClassVar, final

from pliant.core.data import frozen
from pliant.core.ir import Namespace, Value
from pliant.ops.base import Unary
from pliant.ops.transcendental import exp

SLOPE = 2 / math.sqrt(math.pi)


class Special(Unary):
    """A function of `scipy.special`."""

    domain = "f"
    scipy: ClassVar[str] = ""

    def array(self, xp: Namespace, *xs: Any, **no: Any) -> Any:
        from scipy import special  # takes as long to import as all of Pliant

        return getattr(special, self.scipy or self.name)(*self.leading, *xs).astype(xs[-1].dtype, copy=False)

    def jax(self, jnp: Namespace, x: Any) -> Any:
        special = import_module("jax.scipy.special")  # only there when a program is run by JAX
        return getattr(special, self.scipy or self.name)(*self.leading, x)

    def torch(self, torch: Namespace, x: Any) -> Any:
        return getattr(torch.special, self.scipy or self.name)(*self.leading, x)

    @property
    def leading(self) -> tuple[Any, ...]:
        """Arguments before the operand."""
        return ()


@final
class Erf(Special):
    """2/√π ∫₀ˣ e^(−t²) dt."""

    def tangent(self, y: Value, x: Value, dx: Value) -> Value:
        return dx * (SLOPE * exp(-(x * x)))


@final
class Erfc(Special):
    """1 − erf x, exact to the last digits where that is tiny."""

    def tangent(self, y: Value, x: Value, dx: Value) -> Value:
        return dx * (-SLOPE * exp(-(x * x)))


@final
class LogGamma(Special):
    """log |Γ(x)|."""

    scipy = "gammaln"

    def tangent(self, y: Value, x: Value, dx: Value) -> Value:
        return dx * Polygamma(0)(x)


@final
@frozen
class Polygamma(Special):
    """The derivative number `order` of the digamma function."""

    order: int

    def tangent(self, y: Value, x: Value, dx: Value) -> Value:
        return dx * Polygamma(self.order + 1)(x)

    @property
    def leading(self) -> tuple[Any, ...]:
        return (self.order,)


erf, erfc, log_gamma, digamma = Erf(), Erfc(), LogGamma(), Polygamma(0)

RULES = ()
