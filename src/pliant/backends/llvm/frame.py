"""What a call needs to know of a native program: what goes in and out, and where it may stop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

from pliant.core.data import frozen
from pliant.core.types import Type
from pliant.kernel.site import Site


@final
@frozen
class Segment:
    """Native code between two host calls: the LLVM function's name and about how long it runs."""

    name: str
    work: int


@final
@frozen
class Frame:
    """A program as its callers see it."""

    params: tuple[Type, ...]
    results: tuple[Type, ...]
    pinned: Mapping[int, int]  # results that lie in the memory of a parameter: result number -> parameter number
    arena: int  # bytes of workspace
    sites: tuple[Site, ...]
