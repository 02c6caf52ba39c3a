"""A call of a generator that a loop may be pushed through; else it is Python's own. See `pushing`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias, final

Push: TypeAlias = Callable[[Callable[[Any], Any]], Any]


@final
class Pushed:
    """A generator that has not begun, or that Python runs."""

    def __init__(self, plain: Callable[[], Iterator[Any]], push: Push, push_until: Push) -> None:
        self.plain, self.push, self.push_until = plain, push, push_until
        self.running: Any = None

    def __iter__(self) -> Iterator[Any]:
        return self.begun

    def __next__(self) -> Any:
        return next(self.begun)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.begun, name)  # what else a generator has

    @property
    def begun(self) -> Any:
        """Python's generator."""
        if self.running is None:
            self.running = self.plain()
        return self.running


def emitted(emit: Callable[[Any], Any], value: Any) -> Any:
    """`yield value`: whether the loop was left."""
    return emit(value)
