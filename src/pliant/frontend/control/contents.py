"""What functions and objects hold that are no containers of a program: defaults, cells, attributes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any, cast

from pliant.frontend.array import TracedArray
from pliant.frontend.attributes import attributes
from pliant.frontend.control.region import Place, place_of

DEPTH = 3  # of objects in objects


def traced_contents(x: Any, depth: int = DEPTH) -> Iterator[tuple[Place | None, TracedArray]]:
    """The traced arrays that an object holds, each with its place if that is a name or an attribute."""
    for place, content in _contents(x):
        if type(content) is TracedArray:
            yield place, content
        elif depth:
            yield from traced_contents(content, depth - 1)


def contents(x: Any) -> list[Any]:
    """What a function or an object holds."""
    return [held for _, held in _contents(x)]


def _contents(x: Any) -> list[tuple[Place | None, Any]]:
    match x:
        case FunctionType():
            plain = [*(x.__defaults__ or ()), *(x.__kwdefaults__ or {}).values()]
            names = zip(x.__code__.co_freevars, x.__closure__ or (), strict=True)
            return [*_placeless(plain), *[(place_of("name", c, n), _content(c)) for n, c in names]]
        case partial():
            return _placeless((x.func, *x.args, *x.keywords.values()))
        case MethodType():
            return _placeless((x.__self__,))
        case list() | tuple():
            return _placeless(cast("tuple[Any, ...]", x))
        case ModuleType() | type():
            return []
        case _:
            return [(place_of("attribute", x, n), v) for n, v in attributes(x).items()]


def _placeless(values: Any) -> list[tuple[Place | None, Any]]:
    return [(None, v) for v in values]


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return None
