"""Global names by other ways than as names: `eval` of a text, `globals()`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.testing import check_gradient

FACTOR = 3.0
WEIGHTS = np.array([1.0, 2.0, 3.0])
X = np.array([1.3, -0.4, 0.8])


def doubled_if_positive(v: Any) -> Any:
    return v * 2 if v > 0 else v


def of_a_number(x: Any) -> Any:
    return eval("FACTOR") * x[0] + eval("x[1] * 2 + FACTOR")


def of_an_array(x: Any) -> Any:
    total = 0.0
    for i in range(3):
        total += eval("WEIGHTS")[i] * x[i] + globals()["WEIGHTS"][i]
    return total


def of_a_function(x: Any) -> Any:
    total = 0.0
    for i in range(3):
        total += globals()["doubled_if_positive"](x[i]) * eval("doubled_if_positive(x[i])")
    return total


def in_a_branch(x: Any) -> Any:
    if x[0] > 0:
        return eval(" FACTOR * x[0] ")
    return x[1]


def asked_for(x: Any) -> Any:
    known = globals()
    return known.get("FACTOR", 1.0) * x[0] + ("FACTOR" in known) + known.get("nothing", 5.0) * ("nothing" in known)


def of_another_meaning(x: Any) -> Any:
    eval = lambda text: len(text)  # noqa: E731
    return eval("FACTOR") * x[0]


@pytest.mark.parametrize(
    "f",
    [of_a_number, of_an_array, of_a_function, in_a_branch, asked_for, of_another_meaning],
    ids=lambda f: f.__name__,
)
def test_a_program_sees_what_python_sees(f: Callable[..., Any]) -> None:
    for x in (X, -X):
        assert pliant.jit(f)(x) == pytest.approx(f(x), rel=1e-13)
        check_gradient(f, x)


def test_a_name_that_there_is_not_is_an_error() -> None:
    for f in (lambda x: eval("nothing") * x, lambda x: globals()["nothing"] * x):
        with pytest.raises((NameError, KeyError)):
            pliant.jit(f)(X)


def test_what_is_evaluated_is_read_anew_at_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    f = pliant.jit(of_a_number)
    before = f(X)
    monkeypatch.setitem(globals(), "FACTOR", 4.0)
    assert f(X) == of_a_number(X) != before
