"""Every refused program says what is wrong, where in the user's code, and what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pliant.errors import PliantError
from tests.errors.wrong_loops import WRONG_LOOPS
from tests.errors.wrong_programs import WRONG
from tests.errors.wrong_python import PYTHONS

PROGRAMS = WRONG | WRONG_LOOPS | PYTHONS


def message(call: Callable[..., Any], args: tuple[Any, ...]) -> str:
    with pytest.raises((PliantError, np.exceptions.AxisError)) as caught:
        call(*args)
    kinds = [c.__name__ for c in type(caught.value).__mro__ if c not in (PliantError, Exception, BaseException, object)]
    return f"{' < '.join(kinds)}\n{caught.value}\n"


@pytest.mark.usefixtures("for_all_data")
@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_message_of(name: str, golden: Callable[[str, str], None]) -> None:
    golden(f"golden/{name}", message(*PROGRAMS[name]))
