"""scipy.optimize: Rosenbrock's function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from pliant.frontend.functions.scipys.common import floats, xp


def rosen(x: Any) -> Any:
    """Σ 100 (xᵢ₊₁ − xᵢ²)² + (1 − xᵢ)²."""
    x = xp.asarray(x)
    return xp.sum(100.0 * (x[1:] - x[:-1] ** 2.0) ** 2.0 + (1 - x[:-1]) ** 2.0, axis=0)


def rosen_der(x: Any) -> Any:
    """Its gradient."""
    x = floats(x)
    slope = xp.zeros_like(x)
    slope[1:] += 200 * (x[1:] - x[:-1] ** 2)
    slope[:-1] += -400 * x[:-1] * (x[1:] - x[:-1] ** 2) - 2 * (1 - x[:-1])
    return slope


def rosen_hess(x: Any) -> Any:
    """Its Hessian."""
    x = xp.atleast_1d(floats(x))
    beside = -400 * x[:-1]
    middle = xp.zeros(len(x), x.dtype)
    middle[1:] += 200
    middle[:-1] += 1200 * x[:-1] ** 2 - 400 * x[1:] + 2
    return xp.diag(beside, 1) + xp.diag(beside, -1) + xp.diag(middle)


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {f.__name__: f for f in (rosen, rosen_der, rosen_hess)}
