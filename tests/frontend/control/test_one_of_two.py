"""What is set of an object that is one of two, by a condition known only at run time, is set of that one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.frontend.control.flows_one_of_two import ONE_OF_TWO
from tests.frontend.control.laws import (
    assert_a_batch_is_a_loop,
    assert_derivatives_are_differences,
    assert_is_pythons,
    name_of,
)


@pytest.mark.parametrize("backend", ["reference", "llvm"])
@pytest.mark.parametrize("f", ONE_OF_TWO, ids=name_of)
def test_the_one_that_it_is_changes(f: Callable[..., Any], backend: str) -> None:
    assert_is_pythons(f, backend)


@pytest.mark.parametrize("f", ONE_OF_TWO, ids=name_of)
def test_its_derivatives_are_those_of_what_was_set(f: Callable[..., Any]) -> None:
    assert_derivatives_are_differences(f)


@pytest.mark.parametrize("f", ONE_OF_TWO, ids=name_of)
def test_a_batch_is_a_loop(f: Callable[..., Any]) -> None:
    assert_a_batch_is_a_loop(f)
