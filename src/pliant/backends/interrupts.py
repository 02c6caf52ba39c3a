"""Interrupts (Ctrl-C) that Python meets where native code calls it, and drops before the first line of what is called.

They are counted, and who asks next raises one.
"""

from __future__ import annotations

import ctypes
from typing import Final

COUNT: Final = ctypes.c_int64(0)
"""How many there were; native code adds to it."""


def raise_dropped() -> None:
    """KeyboardInterrupt if there was one."""
    if COUNT.value:
        COUNT.value = 0
        raise KeyboardInterrupt
