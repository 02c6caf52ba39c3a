"""Threads of this process that compile: how many there may be, and a list of things done by them."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

T = TypeVar("T")
W = TypeVar("W")
R = TypeVar("R")
MOST: Final = 256
"""Threads at most."""


def available() -> int:
    """PLIANT_THREADS, or the number of cores that this process may use."""
    given = os.environ.get("PLIANT_THREADS", "")
    if given.isdecimal() and int(given):
        return min(int(given), MOST)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, MOST)


def in_parallel(call: Callable[[T, W], R], items: Sequence[T], workers: Sequence[W]) -> list[R]:
    """`call(item, worker)` for all items, each worker on a thread of its own, the first on this one."""
    results: dict[int, R] = {}
    errors = list[BaseException]()
    todo = iter(enumerate(items))
    lock = threading.Lock()

    def work(worker: W) -> None:
        try:
            while not errors:
                with lock:
                    n, item = next(todo, (-1, None))
                if item is None:
                    return
                results[n] = call(item, worker)
        except BaseException as error:  # raised again by the thread that asked
            errors.append(error)

    threads = [threading.Thread(target=work, args=(worker,), daemon=True) for worker in workers[1:]]
    started = [thread for thread in threads if _starts(thread)]
    work(workers[0])
    for thread in started:
        try:
            thread.join()
        except BaseException as error:  # an interrupt: what the thread uses is free only when it has ended
            errors.append(error)
            thread.join()
    if errors:
        raise errors[0]
    return [results[n] for n in range(len(items))]


def _starts(thread: threading.Thread) -> bool:
    """Start a thread, if the process may have another: not at its end."""
    try:
        thread.start()
    except RuntimeError:
        return False
    return True
