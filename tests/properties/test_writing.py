"""Programs that write in all the ways of NumPy: results, the caller's arrays and what shares memory are NumPy's, to the
last bit; derivatives and batches leave the caller's arrays alone."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import PliantError
from tests.properties import writing_algorithms, writing_methods, writing_views
from tests.properties.programs import quiet

CASES = (*writing_views.CASES, *writing_methods.CASES, *writing_algorithms.CASES)


def leaves(x: Any) -> list[Any]:
    """What nested lists, tuples and dicts hold, in order."""
    if isinstance(x, dict):
        return leaves([*x.values()])
    return [z for y in x for z in leaves(y)] if isinstance(x, list | tuple) else [x]


def effects(f: Callable[..., Any], args: list[Any]) -> tuple[Any, ...]:
    """What a call returned and left: bits, and which arrays share memory. An error by its kind."""
    with quiet():
        try:
            results = leaves(f(*args))
        except (TypeError, ValueError) as error:
            return ("error", isinstance(error, TypeError))
    found = results + leaves(args)
    arrays = [x for x in found if isinstance(x, np.ndarray)]
    bits = [(type(x), str(np.asarray(x).dtype), np.shape(x), np.asarray(x).tobytes()) for x in found]
    return bits, [[bool(np.shares_memory(x, y)) for y in arrays] for x in arrays]


@pytest.mark.parametrize(("f", "given"), CASES, ids=[f.__name__ for f, _ in CASES])
def test_a_program_that_writes_does_what_numpy_does(f: Callable[..., Any], given: Callable[[], list[Any]]) -> None:
    compiled, wanted = pliant.jit(f), effects(f, given())
    for _ in range(2):  # the second call runs no Python
        assert effects(compiled, given()) == wanted


@pytest.mark.parametrize(("f", "given"), CASES, ids=[f.__name__ for f, _ in CASES])
def test_derivatives_and_batches_leave_arguments_alone(f: Callable[..., Any], given: Callable[[], list[Any]]) -> None:
    def loss(*args: Any) -> Any:
        made = [y for y in leaves(f(*args)) if hasattr(y, "dtype") and y.dtype.kind == "f"]
        return sum([np.sum(np.sin(y)) for y in made], np.sum(args[0] * 0.5))

    args = given()
    if not isinstance(args[0], np.ndarray) or args[0].dtype != float:
        pytest.skip("no array to differentiate by")
    axes = (0, *(None for _ in args[1:]))
    batch = np.stack([args[0]] * 2)
    for call in (
        lambda: pliant.grad(loss)(*args),
        lambda: pliant.vjp(lambda a: loss(a, *args[1:]), args[0])[1](1.0),
        lambda: pliant.vmap(f, in_axes=axes)(batch, *args[1:]),
    ):
        with quiet(), suppress(PliantError):  # writes to arguments that overlap are refused: they would be local
            call()
        for x, y in zip((*leaves(args), batch), (*leaves(given()), np.stack([given()[0]] * 2)), strict=True):
            np.testing.assert_array_equal(x, y)
