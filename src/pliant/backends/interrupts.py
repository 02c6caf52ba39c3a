"""Interrupts (Ctrl-C) that Python meets where native code calls it, and drops before the first line of what is called;
and what the handler of a signal raised when native code asked for signals.

The first are counted, the second is kept, and who asks next raises it.
"""

from __future__ import annotations

import ctypes
import threading
from typing import Final

COUNT: Final = ctypes.c_int64(0)
"""How many there were; native code adds to it."""
RAISED: Final = (ctypes.c_void_p * 3)()
"""What the handler of a signal raised, as PyErr_Fetch has it: native code in the main thread leaves it here."""
_restore: Final = ctypes.PYFUNCTYPE(None, *[ctypes.c_void_p] * 3)(("PyErr_Restore", ctypes.pythonapi))


def raise_dropped() -> None:
    """KeyboardInterrupt if there was one; what the handler of a signal raised."""
    if RAISED[0] and threading.get_ident() == threading.main_thread().ident:
        error = RAISED[:]
        RAISED[:] = [None] * 3
        _restore(*error)
    if COUNT.value:
        COUNT.value = 0
        raise KeyboardInterrupt
