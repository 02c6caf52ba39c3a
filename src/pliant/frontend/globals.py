"""Global names as a traced function sees them."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from typing import Any, final

from pliant.frontend.guards import MISSING


@final
class TracedGlobals(dict[str, Any]):
    """Globals that show arrays as traced ones: `show(value, globals, name)` makes what is seen. Python looks names up
    through `__getitem__` because this is no plain dict. instead: of builtins, for code that is not rewritten."""

    __slots__ = ("instead", "real", "show")

    def __init__(
        self, real: dict[str, Any], show: Callable[[Any, Any, str], Any], instead: dict[str, Any] | None = None
    ) -> None:
        super().__init__({"__builtins__": real.get("__builtins__", __builtins__), "__name__": real.get("__name__")})
        self.real, self.show, self.instead = real, show, instead or {}

    def __getitem__(self, name: str) -> Any:
        try:
            value = self.real[name]
        except KeyError:
            if not hasattr(builtins, name):
                self.show(MISSING, self.real, name)  # it may be there later
            if name in self.instead:
                return self.instead[name]
            raise
        return self.show(value, self.real, name)

    def __contains__(self, name: object) -> bool:
        return name in self.real

    def __iter__(self) -> Iterator[str]:
        return iter(self.real)

    def __len__(self) -> int:
        return len(self.real)

    def get(self, name: str, default: Any = None) -> Any:
        """`globals().get(name)`."""
        return self[name] if name in self.real else default
