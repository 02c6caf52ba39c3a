"""Every refused argument is refused with what is wrong and what to do."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.errors.test_wrong_programs import message
from tests.errors.wrong_arguments import WRONG_ARGUMENTS


@pytest.mark.parametrize("name", sorted(WRONG_ARGUMENTS))
def test_message_of(name: str, golden: Callable[[str, str], None]) -> None:
    golden(f"golden/{name}", message(*WRONG_ARGUMENTS[name]))
