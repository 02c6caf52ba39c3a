"""Machine code kept on disk between processes: look at it, and clear it.

Code is kept in the user's cache folder, readable by its owner only, named by all that it depends
on: the program, the processor, the versions of LLVM and Pliant. `PLIANT_CACHE` names another
folder; set to nothing, it turns the cache off.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, final

from pliant.core.data import frozen

if TYPE_CHECKING:
    from pathlib import Path

    from pliant.backends.store import Store


@final
@frozen
class Info:
    """What is kept: in which folder (None: the cache is off), how many programs, bytes in all."""

    folder: Path | None
    programs: int
    bytes: int


def info() -> Info:
    """What is kept now.

    >>> import pliant
    >>> pliant.cache.info().programs >= 0
    True
    """
    kept = _store()
    entries = kept.entries() if kept else []
    programs = [path for path, _ in entries if path.suffix == ".object"]
    return Info(kept.folder if kept else None, len(programs), sum([status.st_size for _, status in entries]))


def clear() -> int:
    """Drop everything that is kept, on disk and with functions; how many programs on disk that were. What is loaded
    stays usable."""
    import_module("pliant.cached").forget()
    kept = _store()
    return kept.shrink(-1) if kept else 0


def _store() -> Store | None:
    """The store; its digests and temporary files are not loaded by `import pliant`."""
    return import_module("pliant.backends.store").store()
