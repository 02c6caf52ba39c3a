"""`heapq` for lists of what is known only at run time: a trace looks into these functions as into the user's.

Elements lie as Python's functions leave them: a parent is never greater than its children, which of n are those at
2 n + 1 and 2 n + 2.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any, Final


def push(heap: list[Any], item: Any) -> None:
    """`heapq.heappush`."""
    heap.append(item)
    _up(heap, 0, len(heap) - 1, item)


def pop(heap: list[Any]) -> Any:
    """`heapq.heappop`."""
    if not heap:
        raise IndexError("index out of range")
    last = heap.pop()
    return replace(heap, last) if heap else last


def replace(heap: list[Any], item: Any) -> Any:
    """`heapq.heapreplace`."""
    if not heap:
        raise IndexError("index out of range")
    least = heap[0]
    _down(heap, 0, item)
    return least


def push_pop(heap: list[Any], item: Any) -> Any:
    """`heapq.heappushpop`."""
    return replace(heap, item) if heap and heap[0] < item else item


def heapify(heap: list[Any]) -> None:
    """`heapq.heapify`."""
    for n in range(len(heap) // 2 - 1, -1, -1):
        _down(heap, n, heap[n])


def _up(heap: list[Any], top: int, place: int, item: Any) -> None:
    """Puts an element where it belongs, between a place and one above."""
    while place > top:
        parent = (place - 1) // 2
        if not item < heap[parent]:
            break
        heap[place] = heap[parent]
        place = parent
    heap[place] = item


def _down(heap: list[Any], top: int, item: Any) -> None:
    """Puts an element where it belongs, at a place or below, where another one goes away: the lesser children go up to
    the end, and from there it goes back up."""
    place, child = top, 2 * top + 1
    while child < len(heap):
        if child + 1 < len(heap) and not heap[child] < heap[child + 1]:
            child = child + 1
        heap[place] = heap[child]
        place, child = child, 2 * child + 1
    _up(heap, top, place, item)


HEAPS: Final[dict[Any, Callable[..., Any]]] = {
    heapq.heappush: push, heapq.heappop: pop, heapq.heapreplace: replace, heapq.heappushpop: push_pop,
    heapq.heapify: heapify,
}  # fmt: skip
