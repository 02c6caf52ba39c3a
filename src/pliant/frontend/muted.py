"""What one thread prints, warns of and logs is dropped for a while: it did so before, and runs once more.

Streams, `warnings.showwarning` and `logging.Logger.handle` belong to all threads. In their place stands what asks
whether the thread is a muted one, for as long as there is any; filters of warnings are left alone.
"""

from __future__ import annotations

import sys
import threading
import types
import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, Final, final


class _Muted(threading.local):
    """How often this thread is muted."""

    depth: int = 0


_thread: Final = _Muted()
_lock: Final = threading.Lock()
_threads: Final[set[int]] = set()  # the muted ones


@final
class Stream:
    """A stream to which muted threads write nothing."""

    def __init__(self, plain: Any) -> None:
        self.plain = plain

    def write(self, made: str) -> Any:
        """Write text, if it is another thread's."""
        return len(made) if _thread.depth else self.plain.write(made)

    def writelines(self, lines: Any) -> None:
        """Write texts, if they are another thread's."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.plain, name)


@final
class Hook:
    """A function, or a method of what it is called on, that does nothing in muted threads."""

    def __init__(self, plain: Callable[..., Any]) -> None:
        self.plain = plain

    def __call__(self, *args: Any, **options: Any) -> Any:
        return None if _thread.depth else self.plain(*args, **options)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)


@contextmanager
def muted() -> Generator[None]:
    """What this thread prints, warns of and logs inside is dropped."""
    _thread.depth += 1
    with _lock:
        _threads.add(threading.get_ident())
        for holder, name, kind in _places():
            plain = getattr(holder, name)
            if not isinstance(plain, kind) and plain is not None:
                setattr(holder, name, kind(plain))
    try:
        yield
    finally:
        _thread.depth -= 1
        with _lock:
            if not _thread.depth:
                _threads.remove(threading.get_ident())
            for holder, name, kind in () if _threads else _places():
                found = getattr(holder, name)
                if isinstance(found, kind):
                    setattr(holder, name, found.plain)


def _places() -> list[tuple[Any, str, type[Stream | Hook]]]:
    """(holder, name, what stands there)."""
    found: list[tuple[Any, str, Any]] = [(sys, "stdout", Stream), (sys, "stderr", Stream)]
    found.append((warnings, "showwarning", Hook))
    logging: Any = sys.modules.get("logging")  # imported by those who log
    return found if logging is None else [*found, (logging.Logger, "handle", Hook)]
