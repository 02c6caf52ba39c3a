"""Functions that raise for some arrays x: f64[4]."""

from __future__ import annotations

from typing import Any

import numpy as np


class ConvergenceError(Exception):
    """Raised with two arguments."""


def checked(x: Any) -> Any:
    if x.sum() > 10:
        raise ValueError(f"too large: {x.sum():.3f}")
    return (x * x).sum()


def asserted(x: Any) -> Any:
    assert x.sum() < 10, f"{x.sum()} is too large"
    assert x.ndim == 1
    return (x * x).sum()


def in_a_while(x: Any) -> Any:
    t, k = x[0], 0
    while abs(t - 0.3) > 1e-6:
        t = 0.3 + (t - 0.3) * x[1] * 0.1
        k += 1
        if k > 50:
            raise ConvergenceError("no convergence", 50)
    return t


def after_a_loop(x: Any) -> Any:
    t = x[0]
    for _ in range(50):
        t = 0.3 + (t - 0.3) * x[1] * 0.1
        if abs(t - 0.3) < 1e-6:
            return t
    raise ConvergenceError("no convergence")


def in_the_else_of_a_loop(x: Any) -> Any:
    t = x[0]
    for _ in range(50):
        t = 0.3 + (t - 0.3) * x[1] * 0.1
        if abs(t - 0.3) < 1e-6:
            break
    else:
        raise ConvergenceError
    return t


def _root(v: Any) -> Any:
    if v > 7:
        raise OverflowError("too large")
    return np.sqrt(v)


def in_a_function_that_a_loop_calls(x: Any) -> Any:
    total = 0.0
    for v in x:
        total = total + _root(v)
    return total


def in_one_of_several_branches(x: Any) -> Any:
    if x[0] > 8:
        raise ValueError("first")
    if x[0] > 7:
        raise TypeError("second")
    if x[0] > 3:
        y = x * 2
    else:
        y = x * 3
    return y.sum()


def in_a_conditional_expression(x: Any) -> Any:
    return sum([_root(v) if v > 1.8 else v for v in x])


def before_an_index_that_is_out_of_range(x: Any) -> Any:
    k = int(x[0])
    if k >= len(x):
        raise KeyError(f"no element {k}")
    return x[k] * 2


def _kept(x: Any, at_most: float) -> tuple[list[Any], list[Any]]:
    ups, downs = [], []
    for v in x:
        if v > 0:
            ups.append(v)
        if 0 < v < at_most:
            downs.append(v * 2)
    return ups, downs


def lists_of_other_lengths(x: Any) -> Any:
    ups, downs = _kept(x, 10)
    total = 0.0
    for a, b in zip(ups, downs, strict=True):
        total += a * b
    return total


def a_list_shorter_than_an_array(x: Any) -> Any:
    _, downs = _kept(x, 10)
    return sum(i * a * b * c for i, (a, b, c) in enumerate(zip(x, x[::-1], downs, strict=True)))


def a_list_longer_than_the_first(x: Any) -> Any:
    ups, downs = _kept(x, 10)
    return np.array([a * b for a, b in zip(downs, ups, strict=True)]).sum()


def left_or_to_the_end(x: Any) -> Any:
    ups, downs = _kept(x, 25)
    total = x[0]
    for a, b in zip(ups, downs, strict=True):
        if a > 30:
            return a
        total += b
    return total


def after_what_decides(x: Any) -> Any:
    ups, downs = _kept(x, 10)
    low, high = (2 - x).any(), x.max() < 25
    for test in (any(a > 1.9 for a, _ in zip(ups, downs, strict=True)), all(_root(v) < 9 for v in (x[1], *x[2:]))):
        low = low and test and high
    return x[0] if low else x[1] * 2


FAILING = (
    lists_of_other_lengths, a_list_shorter_than_an_array, a_list_longer_than_the_first, left_or_to_the_end,
    after_what_decides,
    checked, asserted, in_a_while, after_a_loop, in_the_else_of_a_loop, in_a_function_that_a_loop_calls,
    in_one_of_several_branches, in_a_conditional_expression, before_an_index_that_is_out_of_range,
)  # fmt: skip
