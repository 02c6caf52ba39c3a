"""Long loops in machine code end where the handler of a signal raises, and go on where it does not."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.backends.llvm import jit

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers")


class HandlerError(Exception):
    """What a handler raises."""


@pytest.fixture
def after() -> Iterator[Callable[[float, Callable[..., Any]], None]]:
    """Has a function called as the handler of a signal that comes in some seconds."""
    before = signal.getsignal(signal.SIGALRM)

    def start(seconds: float, handler: Callable[..., Any]) -> None:
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, seconds)

    yield start
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def raising(*_: object) -> None:
    raise HandlerError


def endless(x: Any) -> Any:
    while x > 0:
        x = x + 1
    return x


def stepwise(x: Any) -> Any:
    for i in range(200_000_000_000):
        x = x * 0.999999 + i
    return x


def inside(x: Any) -> Any:
    """A loop that ends, in steps of one of many."""
    total = 0.0
    for _ in range(4_000_000_000):
        y = x
        while y < 1000.0:
            y = y + 1.0
        total += y
    return total


def around(x: Any) -> Any:
    """A loop that ends, in steps of one that does not."""
    while x > 0:
        y = 0.0
        while y < 1000.0:
            y = y + x
        x = x + y
    return x


def arrays(x: Any) -> Any:
    y = x * np.ones(1000)
    while y[0] > 0:
        y = np.sin(y) + 3.0
    return y


def tape(x: Any) -> Any:
    return pliant.while_loop(lambda y: y > 0, lambda y: np.sin(y) + 3.0, x)


@pytest.mark.parametrize("f", [endless, stepwise, inside, around, arrays, pliant.value_and_grad(tape)])
@pytest.mark.parametrize("calls", [1, 5])
def test_what_a_handler_raises_ends_a_loop(after: Any, f: Any, calls: int) -> None:
    """Also where an entry in machine code answers calls."""
    compiled = pliant.jit(f)
    for _ in range(calls):
        after(0.2, raising)
        with pytest.raises(HandlerError):
            compiled(1.0)


def test_ctrl_c_ends_a_loop_and_is_raised_once(after: Any) -> None:
    compiled = pliant.jit(endless)
    after(0.2, signal.default_int_handler)
    with pytest.raises(KeyboardInterrupt):
        compiled(1.0)
    assert compiled(-1.0) == -1.0


def test_a_loop_goes_on_after_a_handler_that_raises_nothing(after: Any) -> None:
    def halves(x: Any) -> Any:
        while x > 0.5:
            x = x * (1 - 1e-8 * np.exp(-x)) - 1e-9 * np.sin(x)
        return x

    compiled, seen = pliant.jit(halves), list[float]()
    start = time.perf_counter()
    after(0.1, lambda *_: seen.append(time.perf_counter() - start))
    got = compiled(1.0)
    assert len(seen) == 1
    assert seen[0] < time.perf_counter() - start
    assert 0.499 < got <= 0.5


def test_what_is_written_is_of_the_caller_when_a_loop_has_ended(after: Any) -> None:
    def f(a: Any) -> None:
        a[0] = 5.0
        while a[1] >= 0:
            a[1] = np.sin(a[1]) ** 2 + np.exp(-a[1])

    compiled, a = pliant.jit(f), np.zeros(3)
    for _ in range(4):
        after(0.2, raising)
        with pytest.raises(HandlerError):
            compiled(a)
        assert a[2] == 0.0
        assert np.isfinite(a).all()


def test_another_thread_may_run_meanwhile(after: Any) -> None:
    compiled = pliant.jit(endless)
    after(60, raising)
    thread = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGALRM))
    thread.start()
    with pytest.raises(HandlerError):
        compiled(1.0)
    thread.join()


def test_a_call_in_another_thread_is_not_asked(after: Any) -> None:
    compiled, found = pliant.jit(stops), list[float]()
    thread = threading.Thread(target=lambda: found.append(compiled(5e-8)))
    after(0.2, lambda *_: None)
    thread.start()
    thread.join()
    assert found[0] <= 0.5


def stops(x: Any) -> Any:
    """Some 10 million steps for 5e-8."""
    y = 1.0
    while y > 0.5:
        y = y - x * (np.sin(y) ** 2 + np.exp(-y))
    return y


def counting(x: Any, n: Any) -> Any:
    total = 0
    for i in range(n):
        total += i * n
    return total + x


def searching(x: Any, n: Any) -> Any:
    i, y = 0, np.arange(1000.0)
    while i < n and y[i] < x:
        i += 1
    return i


def escaping(c: Any, n: Any) -> Any:
    z, i = 0j, 0
    while abs(z) < 2 and i < n:
        z = z * z + c
        i += 1
    return i


@pytest.mark.parametrize("f", [counting, searching, escaping])
def test_loops_that_compare_integers_do_not_ask(monkeypatch: pytest.MonkeyPatch, f: Any) -> None:
    """They were up to 8 times slower."""
    texts, compile = list[str](), jit.compiled
    monkeypatch.setenv("PLIANT_CACHE", "")
    monkeypatch.setattr(jit, "compiled", lambda text, *args: texts.append(text) or compile(text, *args))
    pliant.jit(endless)(-1.0)
    assert any(["@pliant_signals" in text for text in texts])
    texts.clear()
    pliant.jit(f)(1.0, 10)
    assert texts
    assert not any(["@pliant_signals" in text for text in texts])
