"""What is an object, or None, by a condition known only at run time: it is used as Python uses it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import optree
import pytest

import pliant
from pliant.errors import PliantError
from tests.frontend.control.flows_equal_nones import EQUAL_NONES
from tests.frontend.control.flows_found import OR_NONE
from tests.frontend.control.flows_narrowed import NARROWED
from tests.frontend.control.flows_nones import NONES
from tests.frontend.control.laws import (
    X,
    assert_a_batch_is_a_loop,
    assert_derivatives_are_differences,
    assert_is_pythons,
    name_of,
)

FLOWS = (*NONES, *NARROWED, *EQUAL_NONES, *OR_NONE)


@pytest.mark.parametrize("backend", ["reference", "llvm"])
@pytest.mark.parametrize("f", FLOWS, ids=name_of)
def test_it_is_used_as_python_uses_it(f: Callable[..., Any], backend: str) -> None:
    assert_is_pythons(f, backend)


@pytest.mark.parametrize("f", FLOWS, ids=name_of)
def test_its_derivatives_are_those_of_what_was_used(f: Callable[..., Any]) -> None:
    assert_derivatives_are_differences(f)


@pytest.mark.parametrize("f", FLOWS, ids=name_of)
def test_a_batch_is_a_loop(f: Callable[..., Any]) -> None:
    assert_a_batch_is_a_loop(f)


def test_what_is_none_fails_with_pythons_words() -> None:
    @pliant.jit
    def f(x: Any) -> Any:
        best = None
        for v in x:
            if v > 1:
                best = v
        return best + 1.0  # type: ignore[operator]

    assert f(np.array([0.5, 1.5])) == 2.5
    with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for \+: 'NoneType' and 'float'"):
        f(np.array([0.5, 0.25]))


def test_a_checkpointed_function_that_may_return_none_says_so_where_it_does() -> None:
    def f(x: Any) -> Any:
        for v in x:
            if v > 1:
                return v
        return None

    compiled = pliant.jit(pliant.checkpoint(f))
    assert compiled(np.array([1.0, 2.0, 3.0])) == 2.0
    with pytest.raises(PliantError, match=r"the function returns None by a condition[\s\S]*for v in x"):
        compiled(np.array([1.0, 0.5, 0.0]))


def test_a_list_has_nothing_at_none() -> None:
    def f(x: Any, writes: bool) -> Any:
        values, at = [0.0] * 3, None
        for n in range(3):
            if x[n] > 2:
                at = n
        if writes:
            values[at] = 5.0
        return values, values[at]

    for writes in (False, True):
        compiled = pliant.jit(f, static="writes")
        for x in ([1.0, 3, 1], [5.0, 0, 0], [0.0, 0, 9]):
            assert compiled(np.array(x), writes) == f(x, writes)
        with pytest.raises(TypeError, match="list indices must be integers or slices, not NoneType"):
            compiled(np.zeros(3), writes)


def test_a_call_that_returns_none_says_so() -> None:
    @pliant.jit
    def f(x: Any) -> Any:
        for v in x:
            if v > 1:
                return v
        return None

    assert f(np.array([0.5, 1.5])) == 1.5
    with pytest.raises(PliantError, match="the function returns None by a condition"):
        f(np.array([0.5, 0.25]))


def test_a_loop_with_it_stays_one() -> None:
    def f(x: Any) -> Any:
        best = None
        for i in range(9):
            if x[i] > 1 and (best is None or x[i] > best[1]):
                best = i, x[i]
        return 0.0 if best is None else best[0] * best[1]

    assert "unrolled" not in str(pliant.explain(f, X))


def test_none_has_its_class() -> None:
    def f(x: Any) -> Any:
        return x[0] if type(None) is type(None) else x[1]

    assert pliant.jit(f)(X) == f(X)


def test_numpys_types_cast_what_may_be_none() -> None:
    def first_above(xs: Any, limit: float) -> Any:
        k = 0
        while True:
            if xs[k] > limit:
                return k
            k += 1

    def f(xs: Any, limit: float) -> Any:
        return np.float32(first_above(xs, limit)), np.int64(first_above(xs, limit))

    made = pliant.jit(f)(np.arange(5.0), 2.5)
    assert made == (3, 3)
    assert type(made[0]) is np.float32


def test_functions_of_other_libraries_are_given_the_object() -> None:
    def found(x: Any) -> Any:
        best = None
        for i in range(x.shape[0]):
            if x[i] > 1.0 and (best is None or x[i] < best[0]):
                best = (x[i], x[i] * i)
        return sum(optree.tree_leaves(best))

    compiled = pliant.jit(found)
    assert compiled(np.array([0.0, 3.0, 2.0])) == 6.0
    with pytest.raises(TypeError):
        compiled(np.zeros(3))


class Controller:
    """What remembers the last error."""

    def __init__(self) -> None:
        self.last = None


def test_a_number_of_pythons_that_may_be_none_stays_one() -> None:
    def simulated(gain: Any, goal: Any, n: Any) -> Any:
        held, y = Controller(), 0.0
        for _ in range(n):
            error = goal - y
            slope = 0.0 if held.last is None else error - held.last
            held.last = error
            y += gain * (error + slope)
        return y

    for gain in (np.float32(0.5), 0.5, np.float64(0.5)):
        for n in (1, 3, 40):
            made, wanted = pliant.jit(simulated)(gain, 1.0, n), simulated(gain, 1.0, n)
            assert type(made) is type(wanted)
            np.testing.assert_allclose(made, wanted, rtol=1e-5)


def _twice(x: Any, low: Any) -> Any:
    return None if x < low else 2.0 * x


def _three(x: Any, low: Any) -> Any:
    return None if x < low else 3


NUMBERS: dict[str, Callable[[Any, Any], Any]] = {
    "float": lambda x, low: float(_twice(x, low)),
    "int": lambda x, low: int(_twice(x, low)),
    "bool": lambda x, low: bool(_twice(x, low)),
    "round": lambda x, low: np.arange(10)[round(_twice(x, low))],
    "round to digits": lambda x, low: round(_twice(x, low), 1),
    "complex": lambda x, low: complex(1.0, _twice(x, low)),
    "divmod": lambda x, low: (*divmod(_twice(x, low), 2), *divmod(7, _twice(x, low))),
    "pow": lambda x, low: pow(_three(x, low), 2, 5),
    "sqrt": lambda x, low: math.sqrt(_twice(x, low)),
    "atan2": lambda x, low: math.atan2(_twice(x, low), _twice(x + 1, low)),
    "hypot": lambda x, low: math.hypot(1.0, _twice(x, low), x),
    "floor": lambda x, low: math.floor(_twice(x, low)),
    "fsum": lambda x, low: math.fsum([_twice(x, low), 1.0]),
    "gcd": lambda x, low: math.gcd(_three(x, low), 6),
}


@pytest.mark.parametrize("f", NUMBERS.values(), ids=NUMBERS)
def test_functions_of_numbers_make_of_it_what_python_makes(f: Callable[[Any, Any], Any]) -> None:
    made, wanted = pliant.jit(f)(1.5, 0.0), f(1.5, 0.0)
    assert type(made) is type(wanted)
    np.testing.assert_allclose(made, wanted, rtol=1e-12)


@pytest.mark.parametrize("f", [f for name, f in NUMBERS.items() if name not in ("bool", "fsum")])
def test_functions_of_numbers_fail_with_pythons_words(f: Callable[[Any, Any], Any]) -> None:
    with pytest.raises(TypeError) as wanted:
        f(1.5, 2.0)
    with pytest.raises(TypeError, match=re.escape(str(wanted.value))):
        pliant.jit(f)(1.5, 2.0)


def test_functions_of_numbers_have_derivatives_and_batches_of_it() -> None:
    f = NUMBERS["atan2"]
    x = np.array([1.5, 2.5])
    np.testing.assert_allclose(pliant.vmap(f)(x, np.zeros(2)), [f(v, 0.0) for v in x])
    np.testing.assert_allclose(pliant.grad(f)(1.5, 0.0), (f(1.5 + 1e-6, 0.0) - f(1.5 - 1e-6, 0.0)) / 2e-6, rtol=1e-6)
