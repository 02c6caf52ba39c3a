"""scipy.linalg: linear equations in matrices, solved as one large system; and such of Toeplitz and banded matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, cast

from pliant.frontend.functions.common import known, unsupported
from pliant.frontend.functions.scipys.common import adjoint, floats, xp
from pliant.frontend.functions.scipys.matrices import toeplitz

MOST: Final = 2500  # unknowns: their system has as many squared coefficients


def solve_sylvester(a: Any, b: Any, q: Any) -> Any:
    """x with a x + x b = q."""
    a, b, q = floats(a), floats(b), floats(q)
    m, n = a.shape[-1], b.shape[-1]
    one_m, one_n = xp.eye(m, dtype=b.dtype), xp.eye(n, dtype=a.dtype)
    return _solved(lambda: xp.kron(a, one_n) + xp.kron(one_m, b.T), q, "solve_sylvester")


def solve_continuous_lyapunov(a: Any, q: Any) -> Any:
    """x with a x + x aᴴ = q."""
    a = floats(a)
    return solve_sylvester(a, adjoint(a), q)


def solve_discrete_lyapunov(a: Any, q: Any, method: Any = None) -> Any:
    """x with a x aᴴ − x + q = 0, by the direct method."""
    a, q = floats(a), floats(q)
    return _solved(lambda: xp.eye(q.size, dtype=a.dtype) - xp.kron(a, xp.conj(a)), q, "solve_discrete_lyapunov")


def _solved(system: Callable[[], Any], q: Any, name: str) -> Any:
    if q.size > MOST:
        raise unsupported(
            f"scipy.linalg.{name} of {q.type} is not supported: it is solved directly, for at most {MOST} unknowns",
            "iterate the equation in a loop",
        )
    return xp.linalg.solve(system(), q.reshape(-1)).reshape(q.shape)


def solve_toeplitz(c_or_cr: Any, b: Any) -> Any:
    """scipy.linalg.solve_toeplitz, by the factors of a general matrix."""
    given = cast("tuple[Any, ...]", c_or_cr if isinstance(c_or_cr, tuple) else (c_or_cr,))
    return xp.linalg.solve(floats(toeplitz(*given)), floats(b))


def solve_banded(l_and_u: Any, ab: Any, b: Any) -> Any:
    """scipy.linalg.solve_banded, by the factors of a general matrix."""
    below, above = known(l_and_u, "l_and_u")
    bands = floats(ab)
    n = bands.shape[-1]
    parts = [xp.diag(bands[above - k, max(k, 0) : n + min(k, 0)], k) for k in range(-below, above + 1) if abs(k) < n]
    return xp.linalg.solve(sum(parts[1:], parts[0]), floats(b))


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {f.__name__: f for f in (
    solve_sylvester, solve_continuous_lyapunov, solve_discrete_lyapunov, solve_toeplitz, solve_banded,
)}  # fmt: skip
