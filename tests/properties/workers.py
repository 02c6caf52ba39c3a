"""Work by several processes in turn; one that crashes ends it, instead of being waited for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def done_by(workers: int, check: Callable[[Item], Result], items: Sequence[Item], most: int) -> Iterator[Result]:
    """check(item) of each item, in order. most: what one process does, before another one takes its place."""
    for first in range(0, len(items), most * workers):
        part, done = items[first : first + most * workers], 0
        with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
            try:
                for found in pool.map(check, part):
                    yield found
                    done += 1
            except BrokenProcessPool:
                raise SystemExit(f"a process crashed at one of {part[done : done + workers]}") from None
