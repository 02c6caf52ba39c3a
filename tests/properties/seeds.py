"""Seeds of random programs, as Hypothesis draws them."""

from __future__ import annotations

from typing import Final

from hypothesis import Phase, settings
from hypothesis import strategies as st

SEEDS: Final = st.integers(min_value=0, max_value=2**32 - 1)


def examples(count: int) -> settings:
    """So many seeds; the program of one that fails is made smaller, the seed is not: a smaller one means another program."""
    return settings(max_examples=count, phases=(Phase.explicit, Phase.reuse, Phase.generate))
