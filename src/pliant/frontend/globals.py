"""Global names as a traced function sees them."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator, Mapping
from types import CellType
from typing import Any, cast, final

from pliant.frontend.missing import MISSING
from pliant.frontend.tracing import is_tracing


@final
class TracedGlobals(dict[str, Any]):
    """Globals that show arrays as traced ones: `show(value, globals, name)` makes what is seen. Python looks names up
    through `__getitem__` because this is no plain dict. cells: of names that traced
    functions bind, which hold what these bind until the call ends. bind: that of a name which is to be bound. instead:
    of builtins, for code that is not rewritten."""

    __slots__ = ("bind", "cells", "instead", "real", "show")

    def __init__(
        self, real: dict[str, Any], show: Callable[[Any, Any, str], Any], cells: Mapping[str, CellType],
        bind: Callable[[str], CellType], instead: dict[str, Any],
    ) -> None:  # fmt: skip
        super().__init__({"__builtins__": real.get("__builtins__", __builtins__), "__name__": real.get("__name__")})
        self.real, self.show, self.cells, self.bind, self.instead = real, show, cells, bind, instead

    def __getitem__(self, name: str) -> Any:
        if not is_tracing():
            return self.real[name]  # to a function that has outlived the call which made it
        if name in self.cells:
            return content_of(self.cells[name], name)
        try:
            value = self.real[name]
        except KeyError:
            if not hasattr(builtins, name):
                self.show(MISSING, self.real, name)  # it may be there later
            if name in self.instead:
                return self.instead[name]
            raise
        return self.show(value, self.real, name)

    def __setitem__(self, name: str, value: Any) -> None:
        self.bind(name).cell_contents = value

    def __delitem__(self, name: str) -> None:
        cell = self.bind(name)
        content_of(cell, name)
        del cell.cell_contents

    def __contains__(self, name: object) -> bool:
        return self.cells[cast("str", name)] != CellType() if name in self.cells else name in self.real

    def __iter__(self) -> Iterator[str]:
        names = {**self.real, **self.cells}
        return iter([name for name in names if name in self])

    def __len__(self) -> int:
        return sum([name in self for name in {**self.real, **self.cells}])

    def get(self, name: str, default: Any = None) -> Any:
        """`globals().get(name)`."""
        try:
            return self[name]
        except KeyError:
            return default


def content_of(cell: CellType, name: str, error: type[Exception] = KeyError) -> Any:
    """What a cell has; an error if that is nothing."""
    try:
        return cell.cell_contents
    except ValueError:
        raise error(name) from None
