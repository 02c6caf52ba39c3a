"""Machine code kept on disk, so that a new process need not ask LLVM again.

An entry is named by the digest of all that the code depends on. It holds a digest of its name and the code, then the
code. Entries are trusted because nobody else can write them: a folder or a file of another owner, or
one that others may write, is not looked at. What is damaged is not loaded.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import stat
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Final, final

VARIABLE: Final = "PLIANT_CACHE"  # a folder; empty: nothing is kept
LIMIT: Final = 256 << 20  # bytes; beyond it, what was not used for longest is dropped
SUFFIX: Final = ".object"  # of machine code
PROGRAM: Final = ".program"  # of what says how to call it
DIGEST: Final = hashlib.sha256().digest_size
_SIZE: Final = 8  # bytes of the size of a piece of code
_EVERY: Final = 64  # how many entries are written between looks at the size of all


@final
class Store:
    """A folder of entries."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._written = itertools.count(1)

    def get(self, key: str, suffix: str = SUFFIX) -> bytes | None:
        """What is kept for a key; None if there is nothing that is whole and ours."""
        path = self.folder / (key + suffix)
        try:
            if not (is_ours(self.folder) and is_ours(path)):
                return None
            content = path.read_bytes()
        except OSError:
            return None
        code = content[DIGEST:]
        if digest_of(key + suffix, code) != content[:DIGEST]:
            return None
        with suppress(OSError):
            os.utime(path)  # used now
        return code

    def put(self, key: str, code: bytes, suffix: str = SUFFIX) -> None:
        """Keep code, or a program. A folder that cannot be written, or is not ours, stays as it is."""
        with suppress(OSError):
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not is_ours(self.folder):
                return
            number, name = tempfile.mkstemp(dir=self.folder, suffix=".new")  # readable by its owner only
            with os.fdopen(number, "wb") as file:
                file.write(digest_of(key + suffix, code) + code)
            Path(name).replace(self.folder / (key + suffix))
            if next(self._written) % _EVERY == 0:
                self.shrink(LIMIT)

    def entries(self) -> list[tuple[Path, os.stat_result]]:
        """Every entry, that used last at the end."""
        found = list[tuple[Path, os.stat_result]]()
        for path in [*self.folder.glob("*" + SUFFIX), *self.folder.glob("*" + PROGRAM)]:
            with suppress(OSError):  # another process may have dropped it
                found.append((path, path.stat()))
        return sorted(found, key=lambda entry: entry[1].st_mtime)

    def shrink(self, limit: int) -> int:
        """Drop what was not used for longest until `limit` bytes are left; how many pieces of code went."""
        entries = self.entries()
        total, dropped = sum([s.st_size for _, s in entries]), 0
        for path, status in entries:
            if total <= limit:
                break
            with suppress(OSError):
                path.unlink()
                total, dropped = total - status.st_size, dropped + (path.suffix == SUFFIX)
        return dropped


def digest_of(name: str, code: bytes) -> bytes:
    """What tells whether a file is whole, and in its place."""
    return hashlib.sha256(name.encode() + b"\0" + code).digest()


def is_ours(path: Path) -> bool:
    """Whether a file or folder belongs to this user, and nobody else may write to it."""
    status = path.lstat()
    if stat.S_ISLNK(status.st_mode):
        return False
    if sys.platform == "win32":
        return True  # a user's own folder is protected by its access list
    return status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def folder() -> Path | None:
    """Where entries are kept: `$PLIANT_CACHE`, or the user's cache folder; None if nothing is to be kept."""
    given = os.environ.get(VARIABLE)
    if given is not None:
        return Path(given).expanduser() if given else None
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "pliant"


def store() -> Store | None:
    """The store of this process, as the environment says now; None if nothing is to be kept."""
    try:
        found = folder()
    except RuntimeError:  # no home folder is known
        return None
    return _store(found) if found else None


@lru_cache
def _store(found: Path) -> Store:
    return Store(found)


def key_of(*parts: str) -> str:
    """The name of an entry: a digest of all that the code depends on."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def packed(codes: Sequence[bytes]) -> bytes:
    """Pieces of code as one, each behind its size."""
    return b"".join([len(code).to_bytes(_SIZE, "little") + code for code in codes])


def unpacked(code: bytes) -> list[bytes]:
    """The pieces of `packed`."""
    found, at = list[bytes](), 0
    while at < len(code):
        end = at + _SIZE + int.from_bytes(code[at : at + _SIZE], "little")
        found.append(code[at + _SIZE : end])
        at = end
    return found
