"""Exceptions under conditions that are known while tracing hold the numbers of the call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant

X = np.array([1.0, 2.0, 3.0])


class OwnError(Exception):
    """An exception that keeps an array."""

    def __init__(self, kept: Any) -> None:
        super().__init__("bad")
        self.kept = kept


def with_text_and_number(x: Any) -> Any:
    if x.ndim == 1:
        raise ValueError(f"need 2-d, got sum {x.sum():.1f} of {x.shape}", x[0])
    return x.sum()


def with_a_number(x: Any) -> Any:
    raise KeyError(x[0])


def asserted(x: Any) -> Any:
    assert x.ndim == 2, f"bad {x.mean()}"
    return x.sum()


def with_an_attribute(x: Any) -> Any:
    raise OwnError(x * 2)


def after_a_write(x: Any) -> Any:
    x[0] = 5
    raise ValueError([x])


def in_a_step(x: Any) -> Any:
    for _ in range(5):
        x = x + 1
        if x.ndim == 1:
            raise ValueError(f"{x[0]}")
    return x.sum()


def after_another(x: Any) -> Any:
    if x.sum() < 0:
        raise RuntimeError("below")
    raise ValueError(f"sum {x.sum()}")


def of_the_caller(x: Any) -> Any:
    try:
        return with_a_number(x)
    except KeyError as error:
        return error.args[0] * 2


def again(x: Any) -> Any:
    try:
        return with_a_number(x)
    except KeyError as error:
        raise LookupError(f"no {error.args[0]}") from error


PROGRAMS = (
    with_text_and_number, with_a_number, asserted, with_an_attribute, after_a_write, in_a_step, after_another, again,
)  # fmt: skip


def raised_by(f: Callable[[Any], Any], x: Any) -> str:
    """What a call raises, and what that holds."""
    with pytest.raises(Exception) as caught:  # noqa: PT011 (its class is compared)
        f(x.copy())
    kept = {name: held for name, held in vars(caught.value).items() if not name.startswith("__")}
    return repr((type(caught.value), caught.value.args, kept))


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_what_is_raised_for_sure_holds_numbers(f: Callable[[Any], Any]) -> None:
    compiled, slope = pliant.jit(f), pliant.grad(f)
    for x in (X, X, X + 1):
        assert raised_by(compiled, x) == raised_by(slope, x) == raised_by(f, x)
    assert raised_by(pliant.vmap(f), np.stack([X, X + 1])) == raised_by(f, X)
    assert raised_by(lambda x: pliant.jvp(f, (x,), (x,)), X) == raised_by(f, X)


def test_what_the_function_catches_stays_its_own() -> None:
    assert pliant.jit(of_the_caller)(X) == of_the_caller(X)
    np.testing.assert_array_equal(pliant.grad(of_the_caller)(X), [2.0, 0.0, 0.0])


def test_where_nothing_may_be_run_again_its_numbers_are_dots() -> None:
    assert raised_by(pliant.jit(with_a_number, donate=("x",)), X) == repr((KeyError, ("…",), {}))
