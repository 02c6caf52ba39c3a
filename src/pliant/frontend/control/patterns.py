"""What patterns of `match` ask of a subject that is a sequence or a mapping."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pliant.frontend.control.lists import length


def fits(subject: Any, count: int, *, is_open: bool) -> Any:
    """Whether something is a sequence of so many elements, as `match` sees it, or of more."""
    if not isinstance(subject, Sequence) or isinstance(subject, str | bytes | bytearray):
        return False
    found = length(subject)
    return found >= count if is_open else found == count


def has_keys(subject: Any, *keys: Any) -> bool:
    """Whether something is a mapping with these keys."""
    return isinstance(subject, Mapping) and all([key in subject for key in keys])


def others_of(subject: Mapping[Any, Any], *keys: Any) -> dict[Any, Any]:
    """What a mapping has beside these keys."""
    return {key: x for key, x in subject.items() if key not in keys}
