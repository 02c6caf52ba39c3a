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


def high_product(x: Any, y: Any) -> Any:
    """The upper 64 bits of a product of two words of 64."""
    x_low, x_high, y_low, y_high = x & WORD, x >> U64(32), y & WORD, y >> U64(32)
    left, right = x_high * y_low, x_low * y_high
    middle = (x_low * y_low >> U64(32)) + (left & WORD) + (right & WORD)
    return x_high * y_high + (left >> U64(32)) + (right >> U64(32)) + (middle >> U64(32))


def word(x: Any) -> Any:
    """A whole number, as a word of 64 bits."""
    return np.asarray(x).astype(np.uint64)[()]
