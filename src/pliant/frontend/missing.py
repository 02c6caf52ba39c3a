"""Nothing, where a name, an item or a result may be."""

from __future__ import annotations

from typing import Final, final


@final
class Missing:
    """Nothing: a name that is not bound, an item that is not there, a result that is not returned."""

    def __repr__(self) -> str:
        return "<missing>"


MISSING: Final = Missing()
