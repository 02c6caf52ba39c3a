"""The layers of the ziggurats, as NumPy has them: their widths are read off its own numbers, as they come out of words
that are chosen, since those of its normal numbers are not the nearest doubles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

import numpy as np

from pliant.frontend.random.words import MULTIPLIER

Layers: TypeAlias = tuple[Any, Any, Any]
"""Of each layer: up to which part of its width all is below the curve, the unit of its width, its height."""

NORMAL_END: Final = 3.6541528853610087963519472518
EXPONENTIAL_END: Final = 7.6971174701310497140446280481
COUNT: Final = 256
PART: Final = 1 << 40
PART32: Final = 1 << 16
"""Parts of widths: small ones, which are below the curve."""
_ONE: Final = 1 << 128


def _widths(draw: Callable[[np.random.Generator], Any], part: int, word: Callable[[int], int]) -> Any:
    """The units of widths: what is drawn for the word of a layer and a part of it, by that part."""
    bits = np.random.PCG64(0)
    generator, state = np.random.Generator(bits), bits.state
    back, more = pow(MULTIPLIER, -1, _ONE), state["state"]["inc"]
    found: list[Any] = []
    for layer in range(COUNT):  # a state whose upper half is 0 gives its lower half
        state["state"]["state"] = (word(layer) - more) * back % _ONE
        state["has_uint32"] = 0
        bits.state = state
        found.append(draw(generator))
    return np.array(found) / part


def _layers(widths: Any, bits: int, end: float, density: Callable[[Any], Any]) -> Layers:
    """The layers of these widths, whose parts have so many bits."""
    edges = widths * 2.0**bits
    below = np.empty(COUNT)
    below[0], below[1], below[2:] = end / widths[0], 0, edges[1:-1] / edges[2:] * 2.0**bits
    heights = density(edges)
    heights[0] = 1.0
    return below.astype(np.uint64), widths, heights


NORMAL: Final = _layers(
    _widths(lambda g: g.standard_normal(), PART, lambda n: PART << 9 | n),
    52,
    NORMAL_END,
    lambda x: np.exp(-0.5 * x * x),
)
_SHORT: Final = _layers(
    _widths(lambda g: g.standard_normal(dtype=np.float32), PART32, lambda n: PART32 << 9 | n), 23, NORMAL_END,
    lambda x: np.exp(-0.5 * x * x),
)  # fmt: skip
NORMAL32: Final = (_SHORT[0], _SHORT[1].astype(np.float32), _SHORT[2].astype(np.float32))
EXPONENTIAL: Final = _layers(
    _widths(lambda g: g.standard_exponential(), PART, lambda n: PART << 11 | n << 3), 53, EXPONENTIAL_END,
    lambda x: np.exp(-x),
)  # fmt: skip
