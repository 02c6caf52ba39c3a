"""Normal and exponential numbers by the ziggurat of Marsaglia and Tsang: layers of one area cover the density; a place
in one is nearly always below the curve.

G. Marsaglia and W. W. Tsang, The Ziggurat Method for Generating Random Variables, J. Stat. Softw. 5(8), 2000.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from pliant.frontend.random.layers import EXPONENTIAL, EXPONENTIAL_END, NORMAL, NORMAL32, NORMAL_END
from pliant.frontend.random.words import U64
from pliant.frontend.sampled import Sampled

BELOW, WIDTH, HEIGHT = NORMAL
BELOW32, WIDTH32, HEIGHT32 = NORMAL32
BELOW_E, WIDTH_E, HEIGHT_E = EXPONENTIAL
BITS: Final = U64(2**52 - 1)
BITS32: Final = U64(2**23 - 1)


@Sampled
def normal(bits: Any) -> Any:
    """A standard normal number."""
    return _normal(bits.next64, bits.uniform, np.float64, BITS, BELOW, WIDTH, HEIGHT)


@Sampled
def normal32(bits: Any) -> Any:
    """A standard normal number of 32 bits."""
    return _normal(bits.next32, bits.uniform32, np.float32, BITS32, BELOW32, WIDTH32, HEIGHT32)


def _normal(draw: Any, uniform: Any, kind: Any, most: Any, below: Any, width: Any, height: Any) -> Any:
    """A normal number of some kind, of layers for parts up to `most`."""
    while True:
        word = draw()
        layer = np.int64(word & U64(255))
        part = word >> U64(9) & most
        x = kind(part) * width[layer]
        if word >> U64(8) & U64(1):
            x = -x
        if part < below[layer]:
            return x
        if layer == 0:
            far = _beyond(uniform, kind)
            return -far if part >> U64(8) & U64(1) else far
        if (height[layer - 1] - height[layer]) * uniform() + height[layer] < np.exp(kind(-0.5) * x * x):
            return x


def _beyond(uniform: Any, kind: Any) -> Any:
    """A normal number beyond the last layer."""
    while True:
        x = -np.log1p(-uniform()) / kind(NORMAL_END)
        y = -np.log1p(-uniform())
        if y + y > x * x:
            return kind(NORMAL_END) + x


@Sampled
def exponential(bits: Any) -> Any:
    """A standard exponential number."""
    while True:
        word = bits.next64() >> U64(3)
        layer = np.int64(word & U64(255))
        part = word >> U64(8)
        x = part * WIDTH_E[layer]
        if part < BELOW_E[layer]:
            return x
        if layer == 0:
            return EXPONENTIAL_END - np.log1p(-bits.uniform())
        if (HEIGHT_E[layer - 1] - HEIGHT_E[layer]) * bits.uniform() + HEIGHT_E[layer] < np.exp(-x):
            return x
