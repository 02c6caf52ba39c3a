"""Clocks and files that a traced function reads: once, and a warning says so."""

from __future__ import annotations

import datetime
import os
import time
import warnings
from collections.abc import Callable
from os import environ
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import TracedOnceWarning

HERE = Path(__file__)


def timed(x: Any) -> Any:
    return x * 2, time.perf_counter()


def dated(x: Any) -> Any:
    return x + datetime.datetime.now().year


def in_a_helper(x: Any) -> Any:
    return x + _clock()


def _clock() -> float:
    tick = time.monotonic
    return tick()


def opened(x: Any) -> Any:
    with open(HERE) as file:
        return x + len(file.readline())


def read(x: Any) -> Any:
    return x + len(HERE.read_text())


def exists(x: Any) -> Any:
    return x + 1 if os.path.exists(HERE) else x


def in_a_loop(x: Any) -> Any:
    for _ in range(len(x)):
        x = x + time.time() * 0
    return x


def in_a_branch(x: Any) -> Any:
    if x[0] > 0:
        x = x + time.time() * 0
    return x


@pytest.mark.parametrize(
    ("fn", "name"),
    [
        (timed, "time.perf_counter"),
        (dated, "datetime.datetime.now"),
        (in_a_helper, "time.monotonic"),
        (opened, "open"),
        (read, "pathlib.Path.read_text"),
        (exists, "os.path.exists"),
        (in_a_loop, "time.time"),
        (in_a_branch, "time.time"),
    ],
)
def test_what_is_read_once_is_told(fn: Callable[..., Any], name: str) -> None:
    x, compiled = np.arange(3.0), pliant.jit(fn)
    with pytest.warns(
        TracedOnceWarning, match=rf"^{name} is called while \w+ is traced: calls that need no new trace use"
    ) as told:
        compiled(x)
    assert told[0].filename == __file__
    assert "hint: call it before the function, and pass what it gives as an argument" in str(told[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled(x)


def test_arrays_in_files_are_read_once(tmp_path: Path) -> None:
    np.savetxt(tmp_path / "gain.txt", [2.0])
    scaled = pliant.jit(lambda x: x * np.loadtxt(tmp_path / "gain.txt"))
    with pytest.warns(TracedOnceWarning, match=r"numpy\.loadtxt is called while"):
        assert scaled(3.0) == 6
    np.save(tmp_path / "gain.npy", 4.0)
    scaled = pliant.grad(lambda x: x * np.load(tmp_path / "gain.npy"))
    with pytest.warns(TracedOnceWarning, match=r"numpy\.load is called while"):
        assert scaled(3.0) == 4


def test_one_line_is_told_of_once() -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        compiled = pliant.jit(timed)
        compiled(np.ones(2))
        compiled(np.ones(3))
    assert len(told) == 1


def test_clocks_outside_are_not_told_of() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        begin = time.time()
        assert pliant.jit(lambda x, t: x + t)(1.0, begin) == 1.0 + begin


@pytest.mark.parametrize(
    "read",
    [
        lambda x: x * float(os.environ.get("PLIANT_TEST_SCALE", "1")),
        lambda x: x * float(os.environ["PLIANT_TEST_SCALE"] if "PLIANT_TEST_SCALE" in os.environ else "1"),  # noqa: SIM401
        lambda x: x * float(os.getenv("PLIANT_TEST_SCALE", "1")),
        lambda x: x * float(environ.get("PLIANT_TEST_SCALE", "1")),
    ],
)
def test_the_environment_is_that_of_each_call(read: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    scaled = pliant.jit(read)
    assert [scaled(1.0), scaled(1.0)] == [1, 1]
    monkeypatch.setenv("PLIANT_TEST_SCALE", "2")
    assert [scaled(1.0), scaled(1.0)] == [2, 2]
    monkeypatch.setenv("PLIANT_TEST_SCALE", "3")
    assert scaled(1.0) == 3
    monkeypatch.delenv("PLIANT_TEST_SCALE")
    assert scaled(1.0) == 1
