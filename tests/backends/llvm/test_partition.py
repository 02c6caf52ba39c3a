"""Programs in several modules, compiled at the same time: the same functions, each in one module, and the same results."""

from __future__ import annotations

import re
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import pliant
from pliant.backends.llvm import jit, partition, workers
from pliant.backends.llvm.compiler import assembly, can, routine_of
from pliant.backends.llvm.jit import NEXT, SECOND
from pliant.backends.store import packed, unpacked
from pliant.kernel.verified import build_verified
from pliant.pipeline import optimise

RNG = np.random.default_rng(5)


def simulated(x: Any, w: Any) -> Any:
    """Two loops, a formula that is a function with variants in vectors, a product that is written in vectors."""
    for _ in range(20):
        x = np.tanh(w @ x) + 0.1 * np.sin(x[0])
    total = 0.0
    for i in range(len(x)):
        if x[i] > 0:
            total = total + x[i] * x[-1 - i]
    return total * np.sum(np.exp(x))


def modules(f: Any, *args: Any) -> list[str]:
    program = build_verified(optimise(pliant.trace(f, *args)), can, routine_of)
    return re.split(f"{NEXT}|{SECOND}", assembly(program)[0])


def defined(text: str) -> list[str]:
    return re.findall(r"^define (?!.*alwaysinline)[^@]*@(\w+)\(", text, re.MULTILINE)


def anew(scale: float = 1.0) -> Any:
    """A function that was not compiled before."""

    def scaled(x: Any, w: Any) -> Any:
        return simulated(x, w) * scale

    return pliant.value_and_grad(scaled, argnums=(0, 1))


GRADIENT, X, W = pliant.value_and_grad(simulated, argnums=(0, 1)), RNG.normal(size=30), RNG.normal(size=(30, 30)) / 5


def test_each_function_is_in_one_module_and_declared_where_it_is_called():
    made = modules(GRADIENT, X, W)
    assert len(made) > 2
    everywhere = [name for text in made for name in defined(text) if name.startswith(("segment", "product"))]
    assert len({*everywhere}) == len(everywhere)
    for text in made:
        there = {*re.findall(r"^(?:define|declare) [^@]*@([\w.]+)\(", text, re.MULTILINE)}
        called = {*re.findall(r"call [^@%\n]*@([\w.]+)\(", text)}
        assert {name for name in called if not name.startswith("llvm.")} <= there


def test_functions_come_before_those_that_are_inlined_into_them():
    found = list[str]()
    for text in modules(GRADIENT, X, W):
        names = re.findall(r"^define [^@]*@([\w.]+)\(", text, re.MULTILINE)
        inner = [name for name in names if "part" in name]
        found += inner
        for name in inner:
            callers = [n for n in names if n != name and re.search(rf"call void @{name}\(", of(text, n))]
            assert callers
            assert all([names.index(n) < names.index(name) for n in callers])
    assert found


def of(text: str, name: str) -> str:
    """The text of a function."""
    found = re.search(rf"^define [^@]*@{name}\(.*?^}}", text, re.MULTILINE | re.DOTALL)
    return found[0] if found else ""


def test_the_modules_do_not_depend_on_the_number_of_cores(monkeypatch: pytest.MonkeyPatch):
    made = modules(GRADIENT, X, W)
    monkeypatch.setenv("PLIANT_THREADS", "1")
    assert modules(GRADIENT, X, W) == made


@pytest.mark.parametrize("fewest", [1, 1 << 30])
@pytest.mark.parametrize("count", ["1", "2", "5"])
def test_the_same_results_from_all_modules(fewest: int, count: str, monkeypatch: pytest.MonkeyPatch):
    wanted = GRADIENT(X, W)
    monkeypatch.setenv("PLIANT_CACHE", "")
    monkeypatch.setenv("PLIANT_THREADS", count)
    monkeypatch.setattr(partition, "FEWEST", fewest)
    value, gradients = anew()(X, W)
    assert value == wanted[0]
    for got, want in zip(gradients, wanted[1], strict=True):
        assert_array_equal(got, want)


def test_many_threads_compile_at_once(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PLIANT_CACHE", "")
    wanted = GRADIENT(X, W)[0]

    def value(scale: float) -> Any:
        return anew(scale)(X, W)[0] / scale

    with ThreadPoolExecutor(4) as pool:
        assert [*pool.map(value, [1.0, 2.0, 4.0, 8.0])] == [wanted] * 4


def test_a_program_kept_on_disk_has_all_modules(tmp_path: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PLIANT_CACHE", str(tmp_path))
    first = anew()(X, W)
    with mock.patch.object(jit, "compiled", side_effect=AssertionError("LLVM was asked again")):
        again = anew()(X, W)
    assert first[0] == again[0]


@given(st.lists(st.binary(max_size=20)))
def test_pieces_of_code(codes: list[bytes]):
    assert unpacked(packed(codes)) == codes


@given(st.integers(0, 20), st.integers(1, 6))
def test_what_is_done_by_several_workers(count: int, workers_: int):
    busy = set[int]()

    def call(item: int, worker: int) -> int:
        assert worker not in busy
        busy.add(worker)
        busy.discard(worker)
        return item * item

    assert workers.in_parallel(call, range(count), range(workers_)) == [n * n for n in range(count)]


def test_the_error_of_a_worker_is_raised():
    def call(item: int, worker: int) -> None:
        raise ValueError(f"{item}")

    with pytest.raises(ValueError, match=r"[012]"):
        workers.in_parallel(call, range(3), range(2))


def test_without_more_threads_one_does_everything(monkeypatch: pytest.MonkeyPatch):
    def refused(self: Any) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refused)

    def pair(item: str, worker: int) -> tuple[str, int]:
        return item, worker

    assert workers.in_parallel(pair, "abc", [1, 2]) == [("a", 1), ("b", 1), ("c", 1)]
