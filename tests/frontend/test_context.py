"""Context variables that a compiled function reads."""

from __future__ import annotations

from contextvars import ContextVar, copy_context
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import UnsupportedError

scale: ContextVar[Any] = ContextVar("scale", default=1.0)
maybe: ContextVar[Any] = ContextVar("maybe")


def scaled(x: Any) -> Any:
    return x * scale.get()


def scaled_if_set(x: Any) -> Any:
    try:
        return x * maybe.get()
    except LookupError:
        return -x


def scaled_or_tripled(x: Any) -> Any:
    return x * maybe.get(3.0)


@pytest.mark.parametrize("wrapped", [pliant.jit, pliant.vmap, pliant.jacobian])
def test_they_are_read_at_every_call(wrapped: Any):
    f, x = wrapped(scaled), np.arange(3.0)
    expected = np.eye(3) if wrapped is pliant.jacobian else x
    for value in (2.0, 5.0, np.float64(0.5), 2.0):
        token = scale.set(value)
        np.testing.assert_array_equal(f(x), expected * value)
        scale.reset(token)
    np.testing.assert_array_equal(f(x), expected)


def test_arrays_in_them_are_arguments_that_are_read_again():
    f, held = pliant.jit(scaled), np.ones(3)
    token = scale.set(held)
    np.testing.assert_array_equal(f(np.arange(3.0)), [0, 1, 2])
    held[:] = 2
    np.testing.assert_array_equal(f(np.arange(3.0)), [0, 2, 4])
    scale.reset(token)


def test_of_one_that_is_not_set_the_default_is_taken_until_it_is():
    f, g = pliant.jit(scaled_if_set), pliant.jit(scaled_or_tripled)

    def inside() -> None:
        assert (f(2.0), g(2.0)) == (-2.0, 6.0)
        maybe.set(10.0)
        assert (f(2.0), g(2.0)) == (20.0, 20.0)

    copy_context().run(inside)
    assert (f(2.0), g(2.0)) == (-2.0, 6.0)


def test_changing_one_is_refused_and_leaves_nothing():
    def kept(x: Any) -> Any:
        maybe.set(2 * x)
        return x

    with pytest.raises(UnsupportedError, match="the context variable 'maybe' is changed inside a traced function"):
        pliant.jit(kept)(2.0)
    assert maybe.get(None) is None
