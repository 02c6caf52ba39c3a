"""The native loop over masks touches nothing outside of its arrays, however many places there are."""

from __future__ import annotations

import ctypes
import sys

import numpy as np
import pytest

from pliant.backends.llvm.chosen import ONE_BY_ONE, TEXT, first_loop
from pliant.backends.llvm.jit import Code, host_target
from tests.backends.llvm.test_streams import Guarded

SEVERAL, DECLARED = first_loop(is_wide=64 in host_target().widths)


def code_of(loop: str) -> Code:
    """A module of the loop alone."""
    target = host_target()
    text = TEXT.format(name="positions", vectors=loop).replace("internal ", "")
    machine = f'attributes #0 = {{ nounwind "target-cpu"="{target.cpu}" "target-features"="{target.features}" }}'
    head = f'target triple = "{target.triple}"'
    memset = "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)"
    return Code("\n".join([head, *DECLARED.values(), memset, text, machine]), keep=False)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="uses mprotect")
@pytest.mark.parametrize("is_at_end", [True, False])
@pytest.mark.parametrize("loop", [SEVERAL, ONE_BY_ONE], ids=["several", "one by one"])
def test_nothing_is_touched_outside_the_mask_and_the_places(loop: str, is_at_end: bool) -> None:
    code = code_of(loop)
    find = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(code.address("positions"))
    rng = np.random.default_rng(0)
    for n in (1, 7, 8, 9, 32, 39, 100):
        for share in (0, 0.5, 1):
            guarded, mask = Guarded(), rng.random(n) < share
            given = guarded.array(mask, is_at_end=is_at_end)
            made = guarded.array(np.full(n, -1), is_at_end=is_at_end)
            try:
                find(given.ctypes.data, made.ctypes.data, n)
                found = np.flatnonzero(mask)
                np.testing.assert_array_equal(made, np.pad(found, (0, n - found.size)))
            finally:
                guarded.open()
