"""Small programs whose names exchange views of their arrays, in loops counted at run time; x: f64[9], n: int."""

from __future__ import annotations

from typing import Any


def reversed_and_swapped(x: Any, n: int) -> Any:
    y = x * 0.5
    for _ in range(n):
        x, y = y[::-1], x
    return x


def reversed_by_the_way_back(x: Any, n: int) -> Any:
    y = x * 0.5
    for _ in range(n):
        x, y = y, x[::-1]
    return x * 2, y


def reversed_before(x: Any, n: int) -> Any:
    y = x * 0.5
    for _ in range(n):
        y = y[::-1]
        x, y = y, x
    return x, y


def transposed(x: Any, n: int) -> Any:
    u = x.reshape(3, 3)
    v = u * 0.5
    for _ in range(n):
        u, v = v.T, u
    return u


def swapped_in_a_while(x: Any, n: int) -> Any:
    y = x * 0.5
    k = 0.0
    while k < n and x[0] < 2.9:
        k = k + 1
        x, y = y[::-1], x
    return (x * x).sum() + y[0]


def written_after(x: Any, n: int) -> Any:
    y = x * 0.5
    for _ in range(n):
        x, y = y[::-1], x
    x[0] += 5
    return y.sum()


def written_inside(x: Any, n: int) -> Any:
    y = x * 0.5
    for _ in range(n):
        x, y = y[::-1], x
        x[0] += 5
    return x.sum() - y[3]


SWAPPED = [
    reversed_and_swapped, reversed_by_the_way_back, reversed_before, transposed, swapped_in_a_while,
    written_after, written_inside,
]  # fmt: skip
