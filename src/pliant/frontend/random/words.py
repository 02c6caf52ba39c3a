"""Words of 64 bits, and what PCG64 multiplies its state with."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

U64: Final = np.uint64
MULTIPLIER: Final = 0x2360ED051FC65DA44385DF649FCCF645
HIGH: Final = U64(MULTIPLIER >> 64)
LOW: Final = U64(MULTIPLIER & (2**64 - 1))
UNIT: Final = 2.0**-53
UNIT32: Final = np.float32(2.0**-24)
WORD: Final = U64(2**32 - 1)


def word(x: Any) -> Any:
    """A whole number, as a word of 64 bits."""
    return np.asarray(x).astype(np.uint64)[()]
