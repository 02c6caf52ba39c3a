"""Signatures of functions of arrays, as `np.vectorize` has them: "(m,n),(n)->(m)" names the last axes of each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, TypeAlias

from pliant.core.origin import here
from pliant.errors import ShapeError

Core: TypeAlias = list[str]
_CORES: Final = re.compile(r"\s*\([\w\s,]*\)\s*(,\s*\([\w\s,]*\)\s*)*")
_CORE: Final = re.compile(r"\(([^()]*)\)")


def cores_of(text: Any) -> list[Core]:
    """The names of the axes in each pair of parentheses; none if a text is no list of these."""
    if not isinstance(text, str) or not _CORES.fullmatch(text):
        return []
    return [[name.strip() for name in core.split(",") if name.strip()] for core in _CORE.findall(text)]


def checked(cores: Sequence[Core], shapes: Sequence[Sequence[int]], sizes: dict[str, int], what: str) -> None:
    """Note how long the axes are that cores name, of what `vectorize` has for arguments or results, of some shapes, of
    which they are the last ones; an error if one name has two lengths. what: which of both, in errors."""
    for number, (core, shape) in enumerate(zip(cores, shapes, strict=True)):
        last = shape[len(shape) - len(core) :]
        for name, size in zip(core, last, strict=True):
            if sizes.setdefault(name, size) != size:
                raise ShapeError(
                    f"vectorize: axis {name!r} has {size} elements in {what} {number}, and {sizes[name]} before",
                    hint="axes of one name are equally long",
                ).at(("here", here()))
