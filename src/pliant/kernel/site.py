"""Where native code may find that it cannot go on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from pliant.core.data import frozen

if TYPE_CHECKING:
    from pliant.core.origin import Origin

OUT_OF_MEMORY: Final = -2
"""The axis of a site where there may be no more memory."""

CALLED: Final = -3
"""The axis of a site where Python is called, and may raise."""

INTERRUPTED: Final = -4
"""The axis of a site where a signal may have come."""


@final
@frozen
class Site:
    """A place where an index is checked, for the error; or where a routine fails, for `failure`; or, by
    its axis, where there may be no more memory, or Python raise, or a signal have come. A slice of `count` elements
    starts at the index, and `extent` is that of its array."""

    axis: int
    extent: int
    origin: Origin
    name: str
    failure: str = ""
    count: int = 0
