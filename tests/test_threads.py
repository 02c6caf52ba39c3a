"""The number of threads is told and set."""

from __future__ import annotations

import pytest

import pliant
from pliant.errors import ArgumentError


def test_the_number_stays_what_it_was_set_to():
    before = pliant.threads()
    assert [pliant.threads(2), pliant.threads(), pliant.threads(before)] == [2, 2, before]


@pytest.mark.parametrize("count", [0, -1, 1.5, "2"])
def test_other_numbers_are_refused(count: object):
    with pytest.raises(ArgumentError, match="a count of at least 1"):
        pliant.threads(count)  # pyright: ignore[reportArgumentType]
