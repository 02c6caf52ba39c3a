"""What a process has one of is made by one thread, and kept."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from pliant.backends.llvm.forward import forwarding
from pliant.backends.llvm.made_once import made_once


def test_threads_that_come_together_get_the_same() -> None:
    made: list[list[int]] = []
    begin = threading.Barrier(6)

    @made_once
    def slowly(n: int) -> list[int]:
        time.sleep(0.05)
        made.append([n])
        return made[-1]

    found: list[Any] = []

    def work() -> None:
        begin.wait()
        found.append((slowly(1), slowly(2)))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(made) == [[1], [2]]
    assert all(one is found[0][0] and two is found[0][1] for one, two in found)


def test_what_fails_is_tried_again() -> None:
    left = [ValueError("not yet")]

    @made_once
    def at_second() -> str:
        if left:
            raise left.pop()
        return "made"

    with pytest.raises(ValueError, match="not yet"):
        at_second()
    assert at_second() == at_second() == "made"


def test_code_that_many_threads_ask_for_first_is_one() -> None:
    """Its address lies in objects, which do not keep it alive."""
    begin, found = threading.Barrier(8), list[Any]()

    def work() -> None:
        begin.wait()
        found.append(forwarding(1 << 20, 0))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len({id(code) for code in found}) == 1
