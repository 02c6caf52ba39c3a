"""What a function of one array has made last, for when it is asked for the same again: a program that was made for
matrices whose eigenvalues are real asks each call whether they are, and computes them then."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final, final

from pliant.core.ir import Namespace

MOST: Final = 1 << 23  # bytes of an operand that is kept


@final
class Last(threading.local):
    """The last operand, and what was made of it, of each thread, until that is asked for again."""

    operand: Any = None
    made: Any = None

    def of(self, np: Namespace, a: Any, make: Callable[[], Any]) -> Any:
        """What `make` makes of `a`, or has made of the same numbers."""
        before, made = self.operand, self.made
        self.operand = self.made = None
        if before is not None and before.dtype == a.dtype and np.array_equal(_bytes(np, before), _bytes(np, a)):
            return made
        made = make()
        if a.nbytes <= MOST:
            self.operand, self.made = a.copy(), made
        return made


def _bytes(np: Namespace, a: Any) -> Any:
    """What tells zeros of two signs, too."""
    return np.ascontiguousarray(a).view(np.uint8)
