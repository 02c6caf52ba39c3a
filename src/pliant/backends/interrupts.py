"""Interrupts (Ctrl-C) that Python meets where native code calls it, before the first line of what is called: Python drops
them there. Native code counts them, and who asks next raises one."""

from __future__ import annotations

import ctypes
from typing import Final

COUNT: Final = ctypes.c_int64(0)
"""How many were dropped; native code adds to it."""


def raise_dropped() -> None:
    """KeyboardInterrupt if one was dropped."""
    if COUNT.value:
        COUNT.value = 0
        raise KeyboardInterrupt
