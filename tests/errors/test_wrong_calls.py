"""Every mistaken call is refused with what is wrong and what to do."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.errors.wrong_calls import WRONG_CALLS


@pytest.mark.parametrize("name", sorted(WRONG_CALLS))
def test_message_of(name: str, golden: Callable[[str, str], None]) -> None:
    call, args = WRONG_CALLS[name]
    with pytest.raises((TypeError, ValueError, NotImplementedError, AttributeError, IndexError)) as caught:
        call(*args)
    golden(f"golden/{name}", f"{type(caught.value).__name__}\n{caught.value}\n")
