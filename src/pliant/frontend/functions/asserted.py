"""np.testing in traced functions: what it asserts is asked at run time, where it raises AssertionError."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from pliant.frontend.array import TracedArray
from pliant.frontend.convert import as_traced, broadcast_shapes
from pliant.frontend.failures import fail_if
from pliant.frontend.functions.common import xp
from pliant.ops.bits import logical_not


def _assert(holds: Any, message: str, err_msg: Any) -> None:
    """Raise where a condition does not hold. err_msg: what the caller has to say."""
    text = f"\n{message}" + (f"\n{err_msg}" if err_msg else "")
    fail_if(logical_not(as_traced(xp.all(holds)).value), AssertionError(text))


def _pair(x: Any, y: Any, message: str, *, strict: bool) -> tuple[TracedArray, TracedArray]:
    """Both as arrays of one shape, if neither is a number."""
    a, b = as_traced(x), as_traced(y)
    is_number = not strict and (not a.shape or not b.shape)
    if (a.shape != b.shape and not is_number) or (strict and a.dtype != b.dtype):
        raise AssertionError(f"\n{message}\n(shapes {a.shape}, {b.shape} mismatch)")
    broadcast_shapes(a.shape, b.shape)
    return a, b


def _same(a: Any, b: Any, close: Any, *, equal_nan: bool = True) -> Any:
    """Where elements are near, or equal, or both no number."""
    made = close | (a == b)
    return made | (xp.isnan(a) & xp.isnan(b)) if equal_nan and {a.type.kind, b.type.kind} <= {*"fc"} else made


def assert_allclose(
    actual: Any, desired: Any, rtol: Any = 1e-7, atol: Any = 0, equal_nan: bool = True, err_msg: Any = "",
    verbose: bool = True, *, strict: bool = False,
) -> None:  # fmt: skip
    """np.testing.assert_allclose."""
    message = f"Not equal to tolerance rtol={rtol:g}, atol={atol:g}"
    a, b = _pair(actual, desired, message, strict=strict)
    _assert(xp.isclose(a, b, rtol, atol, equal_nan), message, err_msg)


def assert_array_equal(
    actual: Any, desired: Any, err_msg: Any = "", verbose: bool = True, *, strict: bool = False
) -> None:
    """np.testing.assert_array_equal, and assert_equal of arrays."""
    a, b = _pair(actual, desired, "Arrays are not equal", strict=strict)
    _assert(_same(a, b, a == b), "Arrays are not equal", err_msg)


def assert_array_almost_equal(
    actual: Any, desired: Any, decimal: int = 6, err_msg: Any = "", verbose: bool = True
) -> None:
    """np.testing.assert_array_almost_equal."""
    message = f"Arrays are not almost equal to {decimal} decimals"
    a, b = _pair(actual, desired, message, strict=False)
    _assert(_same(a, b, abs(a - b) < 1.5 * 10.0**-decimal), message, err_msg)


def assert_almost_equal(actual: Any, desired: Any, decimal: int = 7, err_msg: Any = "", verbose: bool = True) -> None:
    """np.testing.assert_almost_equal."""
    assert_array_almost_equal(actual, desired, decimal, err_msg)


def assert_array_less(x: Any, y: Any, err_msg: Any = "", verbose: bool = True, *, strict: bool = False) -> None:
    """np.testing.assert_array_less."""
    a, b = _pair(x, y, "Arrays are not strictly ordered `x < y`", strict=strict)
    _assert(a < b, "Arrays are not strictly ordered `x < y`", err_msg)


def assert_(val: Any, msg: Any = "") -> None:
    """np.testing.assert_."""
    _assert(as_traced(val) != 0, "", msg)


def traced(function: Any) -> Callable[..., None] | None:
    """The same of traced arrays, if it is a function of np.testing: by name, as that takes a while to import."""
    is_testing = (getattr(function, "__module__", None) or "").startswith("numpy.testing")
    return _NAMED.get(function.__name__) if is_testing else None


_NAMED: Final[dict[str, Callable[..., None]]] = {
    "assert_equal": assert_array_equal,
    **{
        asserted.__name__: asserted
        for asserted in (
            assert_allclose,
            assert_array_equal,
            assert_array_almost_equal,
            assert_almost_equal,
            assert_array_less,
            assert_,
        )
    },
}
