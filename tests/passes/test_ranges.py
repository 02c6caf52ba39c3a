"""Ranges of whole numbers hold, and choices that they decide vanish."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.core.build import trace
from pliant.core.inner import functions_of
from pliant.core.ir import Function, Value, const, nodes
from pliant.core.types import Type
from pliant.ops.bits import bitwise_and, right_shift
from pliant.ops.compare import equal, greater, less, less_equal, maximum, minimum
from pliant.ops.cond import Cond
from pliant.ops.loop import Loop
from pliant.ops.rounding import floor_divide, remainder
from pliant.ops.select import Select, select
from pliant.passes.ranges import decide, ranges_of
from pliant.pipeline import optimise
from pliant.testing import run

RNG = np.random.default_rng(0)
I64 = Type("i64")


def wrapped(i: Value, n: int) -> Value:
    """A position counted from the end where it is negative."""
    return select(less(i, const(0, "i64")), i + const(n, "i64"), i)


def choices(fn: Function) -> int:
    held = [f for node in nodes(fn.results) for f in functions_of(node.op).values()]
    return sum(isinstance(node.op, Select) for node in nodes(fn.results)) + sum(map(choices, held))


def summed(term: Callable[[Value], Value], steps: int) -> Function:
    """Σ term(i) for i < steps."""
    body = trace(lambda i, total: total + term(i), I64, I64)
    return trace(lambda start: Loop(steps, ("carry",), ("last",), body).apply(start), I64)


TERMS: dict[str, tuple[Callable[[Value], Value], int]] = {
    "the index itself": (lambda i: wrapped(i, 5), 0),
    "one more": (lambda i: wrapped(i + const(1, "i64"), 7), 0),
    "one less may be negative": (lambda i: wrapped(i - const(1, "i64"), 5), 1),
    "downward": (lambda i: wrapped(const(4, "i64") - i, 5), 0),
    "always negative": (lambda i: wrapped(i - const(9, "i64"), 9), 0),
    "products": (lambda i: wrapped(i * const(3, "i64"), 20), 0),
    "bits in common": (lambda i: wrapped(bitwise_and(i - const(9, "i64"), const(3, "i64")), 4), 0),
    "bits in common with what may be negative": (
        lambda i: wrapped(bitwise_and(i - const(9, "i64"), const(-2, "i64")), 99),
        1,
    ),
    "remainders": (lambda i: wrapped(remainder(i * i - const(9, "i64"), const(3, "i64")), 3), 0),
    "remainders of a negative divisor": (lambda i: wrapped(remainder(i, const(-3, "i64")), 3), 1),
    "quotients": (lambda i: wrapped(floor_divide(i, const(2, "i64")), 3), 0),
    "quotients of what may be negative": (lambda i: wrapped(floor_divide(i - const(1, "i64"), const(9, "i64")), 3), 1),
    "shifts": (lambda i: wrapped(right_shift(i + const(9, "i64"), const(1, "i64")), 9), 0),
    "between bounds": (
        lambda i: wrapped(maximum(minimum(i - const(2, "i64"), const(3, "i64")), const(0, "i64")), 5),
        0,
    ),
}


@pytest.mark.parametrize("name", TERMS)
def test_decided_choices_vanish_and_results_stay(name: str) -> None:
    term, left = TERMS[name]
    fn = summed(term, 5)
    made = decide(fn)
    assert choices(made) == left
    assert run(made, [np.int64(3)]) == run(fn, [np.int64(3)])


def test_constants_of_a_loop_keep_their_range() -> None:
    inner = trace(lambda i, row, total: total + wrapped(row, 5), I64, I64, I64)
    body = trace(lambda i, total: Loop(3, ("const", "carry"), ("last",), inner).apply(i, total), I64, I64)
    fn = trace(lambda start: Loop(4, ("carry",), ("last",), body).apply(start), I64)
    assert choices(decide(fn)) == 0


def test_sums_that_might_wrap_around_have_no_range() -> None:
    fn = trace(lambda x, y: x + y, Type("i8"), Type("i8"))
    assert fn.results[0] not in ranges_of(fn, dict.fromkeys(fn.params, (100, 100)))
    assert ranges_of(fn, dict.fromkeys(fn.params, (-60, 60)))[fn.results[0]] == (-120, 120)


KEYS: dict[str, Callable[[Any, Any], None]] = {
    "a row's middle": lambda a, i: a.__setitem__((i, slice(1, -1)), 2.0 * a[i, 1:-1] + a[i, :-2]),
    "a column": lambda a, i: a.__setitem__((slice(None), i), a[:, i] + a[:, i - 1]),
    "every other of a column": lambda a, i: a.__setitem__((slice(None, None, 2), i), a[1::2, i]),
    "a column backward": lambda a, i: a.__setitem__((slice(None), i), a[::-1, i]),
    "an element of a known column": lambda a, i: a.__setitem__((i, 2), a[i, 3] * a[1, i]),
}


@pytest.mark.parametrize("name", KEYS)
def test_slices_beside_a_traced_integer(name: str) -> None:
    write = KEYS[name]

    def step(i: Any, a: Any) -> Any:
        a = a.copy()
        write(a, i)
        return a

    def loop(a: Any) -> Any:
        return pliant.fori_loop(0, 4, step, a)

    a, way = RNG.uniform(size=(6, 6)), RNG.normal(size=(6, 6))
    np.testing.assert_allclose(pliant.jit(loop)(a), loop(a), rtol=1e-14)
    _, tangent = pliant.jvp(loop, (a,), (way,))
    np.testing.assert_allclose(tangent, (loop(a + 1e-6 * way) - loop(a - 1e-6 * way)) / 2e-6, rtol=1e-6, atol=1e-8)
    values, pull = pliant.vjp(loop, a)
    (pulled,) = pull(np.ones_like(values))
    np.testing.assert_allclose(np.sum(pulled * way), np.sum(tangent), rtol=1e-10)


CONDITIONS: dict[str, tuple[Callable[[Value], Value], int, int]] = {
    "less": (lambda i: less(i, const(1, "i64")), 5, 0),
    "at most": (lambda i: less_equal(i, const(0, "i64")), 5, 0),
    "greater, the other way round": (lambda i: greater(const(1, "i64"), i), 5, 0),
    "equal to the first": (lambda i: equal(i, const(0, "i64")), 5, 0),
    "equal to another": (lambda i: equal(i, const(2, "i64")), 5, 1),
}


@pytest.mark.parametrize("name", CONDITIONS)
def test_branches_know_their_condition(name: str) -> None:
    """Where the condition does not hold, i - 1 is not negative."""
    condition, steps, left = CONDITIONS[name]
    then = trace(lambda i: i, I64)
    otherwise = trace(lambda i: wrapped(i - const(1, "i64"), 5), I64)
    fn = summed(lambda i: Cond(then, otherwise).apply(condition(i), i)[0], steps)
    made = decide(fn)
    assert str(made).count("select(") == left
    assert run(made, [np.int64(3)]) == run(fn, [np.int64(3)])


def inserted(a: Any) -> Any:
    """Sorted; neither a place that is read nor one that is written is ever negative."""
    a = a.copy()
    for i in range(1, a.shape[0]):
        x, j = a[i], i - 1
        while j >= 0 and a[j] > x:
            a[j + 1] = a[j]
            j = j - 1
        a[j + 1] = x
    return a


def bisected(a: Any) -> Any:
    """How many elements are below 0.5, by halves."""
    low, high = 0, a.shape[0]
    while low < high:
        middle = (low + high) // 2
        if a[middle] < 0.5:
            low = middle + 1
        else:
            high = middle
    return low


def climbed(a: Any) -> Any:
    """Behind the last element greater than 0.2, from the end: only there is a place negative."""
    j = -1
    while a[j] > 0.2:
        j = j - 1
    return a[j]


def doubled(a: Any) -> Any:
    """A place that grows faster than any bound: no range is known of it."""
    j = 1
    while a[j % a.shape[0]] > 0.2:
        j = j * 3
    return j


WHILES: dict[Callable[[Any], Any], int] = {inserted: 0, bisected: 0, climbed: 3, doubled: 0}


@pytest.mark.parametrize("f", WHILES)
def test_what_loops_of_unknown_length_carry_has_a_range(f: Callable[[Any], Any]) -> None:
    for n in (3, 9):
        a = np.linspace(0.0, 1.0, n)
        a = RNG.permutation(a) if f is inserted else a
        np.testing.assert_array_equal(pliant.jit(f)(a), f(a))
    assert choices(optimise(pliant.trace(f, np.zeros(9)))) <= WHILES[f]
