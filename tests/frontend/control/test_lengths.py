"""Lists of unlike certainty: data decide how many elements some have, and the numbers of the steps how many others. Where
it has to be known, the loops of these alone are unrolled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import UnsupportedError
from tests.frontend.control.flows_lengths import LENGTHS, positive
from tests.frontend.control.laws import (
    GIVEN,
    assert_a_batch_is_a_loop,
    assert_derivatives_are_differences,
    assert_is_pythons,
    name_of,
)


@pytest.mark.parametrize("backend", ["reference", "llvm"])
@pytest.mark.parametrize("f", LENGTHS, ids=name_of)
def test_it_does_what_python_does(f: Callable[..., Any], backend: str) -> None:
    assert_is_pythons(f, backend)


@pytest.mark.parametrize("f", LENGTHS, ids=name_of)
def test_its_derivatives_are_those_of_differences(f: Callable[..., Any]) -> None:
    assert_derivatives_are_differences(f)


@pytest.mark.parametrize("f", LENGTHS, ids=name_of)
def test_a_batch_is_a_loop(f: Callable[..., Any]) -> None:
    assert_a_batch_is_a_loop(f)


def columns(f: Callable[..., Any]) -> Callable[[Any], Any]:
    """A function of x alone, of whose results the numbers are in one list or array."""
    return lambda x: [e[1] if isinstance(e, tuple) else e for e in made] if isinstance(made := f(x, 5), list) else made


@pytest.mark.parametrize("f", LENGTHS, ids=name_of)
def test_a_batch_returns_the_lists_of_a_loop(f: Callable[..., Any]) -> None:
    rows = np.stack([*GIVEN.values()])
    made = pliant.vmap(columns(f))(rows)
    made = np.stack(made, 1) if isinstance(made, list) else made
    np.testing.assert_allclose(made, [columns(f)(x) for x in rows], rtol=1e-12, atol=1e-12)


def test_a_list_of_which_data_decide_the_length_is_no_result_of_a_batch() -> None:
    def f(x: Any) -> Any:
        return list(positive(x))

    with pytest.raises(UnsupportedError, match=r"a list that is the result of a function inside .* a known number"):
        pliant.vmap(f)(np.stack([*GIVEN.values()]))
