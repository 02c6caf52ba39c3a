"""The workers: each part is run once, in children of a fork too, and processes end."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import pliant
from pliant.backends.llvm.jit import Code, host_target
from pliant.backends.llvm.pool import MOST, available, pool, serial_text

TASK = """target triple = "{triple}"
define void @task(ptr %table, ptr %frame, i64 %n) {{
  %place = getelementptr i64, ptr %frame, i64 %n
  %before = load i64, ptr %place
  %after = add i64 %before, 1
  store i64 %after, ptr %place
  ret void
}}
"""


def run_parts(count: int, times: int, code: Code) -> np.ndarray:
    """How often each part was run."""
    task = Code(TASK.format(triple=host_target().triple))
    call = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3, ctypes.c_int64)(code.address("pliant_parallel"))
    seen = np.zeros(count, np.int64)
    for _ in range(times):
        call(task.address("task"), None, seen.ctypes.data, count)
    return seen


@pytest.mark.parametrize("threads", [1, 2, 8])
@pytest.mark.parametrize("count", [1, 2, 100])
def test_each_part_is_run_once(threads: int, count: int):
    before = pliant.threads()
    pliant.threads(threads)
    assert set(run_parts(count, 500, pool().code)) == {500}
    pliant.threads(before)


def test_systems_without_posix_threads_run_parts_in_turn():
    assert set(run_parts(9, 3, Code(serial_text()))) == {3}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")  # of JAX, where another test has loaded it
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_child_of_a_fork_has_workers_of_its_own():
    before = pliant.threads()
    pliant.threads(3)
    run_parts(50, 5, pool().code)
    child = os.fork()
    if not child:
        os._exit(0 if set(run_parts(50, 100, pool().code)) == {100} else 1)
    assert os.waitpid(child, 0)[1] == 0
    pliant.threads(before)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")  # of JAX, where another test has loaded it
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_child_compiles_though_another_thread_was_compiling():
    stop, kept = threading.Event(), list[Code]()

    def compile_much() -> None:
        while not stop.is_set():
            kept.append(Code(TASK.format(triple=host_target().triple), keep=False))

    other = threading.Thread(target=compile_much)
    other.start()
    ends = list[int]()
    for _ in range(5):
        child = os.fork()
        if not child:
            signal.alarm(10)  # ends it if it waits for ever
            Code(TASK.format(triple=host_target().triple), keep=False)
            os._exit(0)
        ends.append(os.waitpid(child, 0)[1])
    stop.set()
    other.join()
    assert ends == [0] * 5


PROGRAM = """
import sys, numpy as np, pliant
assert pliant.threads() == 3
f = pliant.jit(lambda x: np.sum(np.exp(x)))
x = np.ones(1_000_000)
assert [f(x) for _ in range(5)][-1] == f(x)
"""


def test_a_process_with_workers_ends_by_itself():
    subprocess.run([sys.executable, "-c", PROGRAM], env={**os.environ, "PLIANT_THREADS": "3"}, check=True, timeout=60)


@pytest.mark.parametrize(("given", "wanted"), [("3", 3), ("100000", MOST)])
def test_the_environment_sets_the_number(given: str, wanted: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PLIANT_THREADS", given)
    assert available() == wanted


@pytest.mark.parametrize("given", ["", "0", "many"])
def test_without_a_number_all_cores_are_used(given: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PLIANT_THREADS", given)
    assert available() == min(len(os.sched_getaffinity(0)), MOST)
