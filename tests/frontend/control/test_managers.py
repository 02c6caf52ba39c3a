"""`with` statements of the user's objects: what is done as they are entered and left is part of the program."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import pliant
from tests.frontend.control.flows_managers import MANAGERS
from tests.frontend.control.laws import (
    assert_a_batch_is_a_loop,
    assert_derivatives_are_differences,
    assert_is_pythons,
    name_of,
)


@pytest.mark.parametrize("backend", ["reference", "llvm"])
@pytest.mark.parametrize("f", MANAGERS, ids=name_of)
def test_it_does_what_python_does(f: Callable[..., Any], backend: str) -> None:
    assert_is_pythons(f, backend)


@pytest.mark.parametrize("f", MANAGERS, ids=name_of)
@pytest.mark.usefixtures("for_all_data")
def test_it_does_so_whatever_data_decide(f: Callable[..., Any]) -> None:
    assert_is_pythons(f, "llvm")


@pytest.mark.parametrize("f", MANAGERS, ids=name_of)
def test_its_derivatives_are_those_of_differences(f: Callable[..., Any]) -> None:
    assert_derivatives_are_differences(f)


@pytest.mark.parametrize("f", MANAGERS, ids=name_of)
def test_a_batch_is_a_loop(f: Callable[..., Any]) -> None:
    assert_a_batch_is_a_loop(f)


class Telling:
    """Says when it is entered and left."""

    def __init__(self, x: Any) -> None:
        self.x = x

    def __enter__(self) -> Any:
        print("in", self.x)
        return self.x

    def __exit__(self, *error: object) -> None:
        if self.x > 0:
            print("out", self.x)


@contextlib.contextmanager
def telling(x: Any) -> Iterator[Any]:
    print("before", x)
    yield x
    print("after", x)


@pytest.mark.parametrize("manager", [Telling, telling])
def test_what_is_printed_is_printed_at_every_call(manager: Any, capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: Any) -> Any:
        y = 0.0
        for v in x:
            with manager(v) as w:
                y += w
        return y

    compiled = pliant.jit(f)
    for x in ([1.0, -2.0], [3.0, 4.0], [-5.0, 6.0], [-7.0, 8.0]):
        f(np.array(x))
        wanted = capsys.readouterr().out
        compiled(np.array(x))
        assert capsys.readouterr().out == wanted


def test_an_exception_reaches_the_object() -> None:
    class Quiet:
        def __enter__(self) -> None:
            pass

        def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
            return kind is KeyError

    def f(x: Any, key: str) -> Any:
        with Quiet():
            x = x + {"one": 1}[key]
        return x

    compiled = pliant.jit(f)
    for key in ("one", "two"):
        assert compiled(1.5, key) == f(1.5, key)


class Around(contextlib.ContextDecorator):
    """Says when what it decorates begins and ends."""

    def __enter__(self) -> None:
        print("in")

    def __exit__(self, *error: object) -> None:
        print("out")


@contextlib.contextmanager
def around(text: str) -> Iterator[None]:
    print("before", text)
    yield
    print("after", text)


@pytest.mark.parametrize("decorated", [Around(), around("f")])
def test_functions_that_are_decorated(decorated: Any, capsys: pytest.CaptureFixture[str]) -> None:
    @decorated
    def f(x: Any, scale: float = 2.0) -> Any:
        print("inside")
        if x[0] > 0:
            return x * scale
        return x

    for g in (f, lambda x: f(x, scale=3.0)):
        compiled = pliant.jit(g)
        for x in ([1.0, 2.0], [-1.0, 2.0], [3.0, 4.0]):
            wanted = g(np.array(x))
            text = capsys.readouterr().out
            np.testing.assert_array_equal(compiled(np.array(x)), wanted)
            assert capsys.readouterr().out == text
    rows = np.array([[1.0, 2.0], [-1.0, 2.0]])
    np.testing.assert_array_equal(pliant.vmap(f)(rows), [f(row) for row in rows])


LEVEL = 2.0


@contextlib.contextmanager
def at_level(x: Any) -> Iterator[Any]:
    yield x * LEVEL


def test_what_a_manager_reads_is_a_guard(monkeypatch: pytest.MonkeyPatch) -> None:
    def f(x: Any) -> Any:
        with at_level(x) as y:
            return y

    compiled = pliant.jit(f)
    assert compiled(1.5) == 3
    monkeypatch.setitem(globals(), "LEVEL", 4.0)
    assert compiled(1.5) == 6
