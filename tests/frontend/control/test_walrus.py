"""Names that a function binds for another one around it belong to its call, and not to the loop that makes this."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import pliant
from tests.frontend.control.flows_walrus import HELPED
from tests.frontend.control.laws import X, name_of


@pytest.mark.parametrize("f", HELPED, ids=name_of)
def test_a_loop_that_calls_it_stays_one(f: Callable[..., Any]) -> None:
    assert "unrolled" not in str(pliant.explain(f, X, 5))
