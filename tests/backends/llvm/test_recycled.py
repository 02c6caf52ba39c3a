"""The memory of large results is used again, and their arrays are as any others."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from numpy._core.multiarray import get_handler_name  # type: ignore[attr-defined]

import pliant
from pliant.backends.llvm.recycled import LARGE, ROOM, SLOTS

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="how Linux gives memory")

COUNT = LARGE // 8


def filled(count: int = COUNT) -> Any:
    """A compiled function that returns `count` numbers, by its entry."""
    fn = pliant.jit(lambda x: x + np.ones(count))
    for _ in range(3):
        fn(0.0)
    return fn


def place(x: Any) -> int:
    return x.__array_interface__["data"][0]


def test_a_result_takes_the_place_of_one_that_is_gone():
    fn = filled()
    first = fn(1.0)
    at = place(first)
    assert get_handler_name(first) == "pliant: recycled"
    assert first.flags.owndata and first.base is None
    del first
    again = fn(2.0)
    assert place(again) == at
    np.testing.assert_array_equal(again, 3.0)


def test_what_is_alive_is_not_touched():
    fn = filled()
    results = [fn(float(n)) for n in range(SLOTS + 2)]
    assert len({place(r) for r in results}) == len(results)
    assert [r[0] for r in results] == [r[-1] for r in results] == [n + 1.0 for n in range(SLOTS + 2)]


def test_small_results_and_other_arrays_are_not_ours():
    assert get_handler_name(filled(COUNT - 1)(1.0)) == "default_allocator"
    kept = filled()(1.0)
    assert get_handler_name(kept.copy()) == get_handler_name(np.empty(COUNT)) == "default_allocator"


def test_such_arrays_can_be_resized():
    x = filled()(1.0)
    x.resize(2 * COUNT, refcheck=False)
    np.testing.assert_array_equal(x[:COUNT], 2.0)
    np.testing.assert_array_equal(x[COUNT:], 0.0)
    x.resize(10, refcheck=False)
    np.testing.assert_array_equal(x, 2.0)


def test_python_knows_of_the_memory():
    fn = filled()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        x = fn(1.0)
        assert tracemalloc.get_traced_memory()[0] - before >= x.nbytes
        del x
        assert tracemalloc.get_traced_memory()[0] - before < LARGE
    finally:
        tracemalloc.stop()


def test_what_is_kept_has_an_end():
    fn = filled(ROOM // 8 // 2)
    results = [fn(1.0) for _ in range(3)]
    del results
    assert fn(1.0)[-1] == 2.0
    assert filled(COUNT)(2.0)[-1] == 3.0


def test_several_threads_at_once():
    fn = filled()
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda n: fn(float(n))[::COUNT].item(), range(24)))
    assert found == [n + 1.0 for n in range(24)]


def test_arrays_may_outlive_everything():
    text = f"""
import numpy as np, pliant
fn = pliant.jit(lambda x: x + np.ones({COUNT}))
fn(0.0), fn(0.0)
class Held:
    kept = [fn(1.0), fn(2.0)]
    def __del__(self):
        self.kept.clear()
cycle = Held()
cycle.itself = cycle
"""
    subprocess.run([sys.executable, "-c", text], check=True)
