"""What a process has one of, whichever of its threads comes first: code that others know by its address."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import wraps
from typing import Final, TypeVar, TypeVarTuple

T = TypeVar("T")
A = TypeVarTuple("A")

lock: Final = threading.RLock()  # LLVM's global context is not safe from several threads
if hasattr(os, "register_at_fork"):  # no other thread is in LLVM then, for the child would wait for it forever
    os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)


def made_once(make: Callable[[*A], T]) -> Callable[[*A], T]:
    """`make`, called once for the same arguments; what it made lives as long as the process.

    `lru_cache` calls it in each thread that comes before the first has an answer, and keeps one of these: code in the
    others would be freed while its address is in use.
    """
    made: dict[tuple[*A], T] = {}

    @wraps(make)
    def once(*args: *A) -> T:
        if args not in made:
            with lock:
                if args not in made:  # another thread may have been faster
                    made[args] = make(*args)
        return made[args]

    return once
