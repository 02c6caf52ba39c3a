"""What one thread of this machine can do at best: how fast it copies, and how fast it multiplies and adds.

Measured once, and kept with the code.
"""

from __future__ import annotations

import ctypes
import json
import platform
import time
from collections.abc import Callable
from dataclasses import asdict
from functools import lru_cache, partial
from typing import Any, Final, final

import numpy as np

from pliant.backends.llvm.jit import VERSIONS, Code, host_target
from pliant.backends.llvm.values import llvm_type
from pliant.backends.store import key_of, store
from pliant.core.data import frozen

COPIES: Final = (1 << 14, 1 << 18, 1 << 21, 1 << 23, 1 << 26)  # bytes: in the caches, then in none
CHAINS: Final = 12  # sums at a time, since an addition takes some cycles and a core has several adders
TURNS: Final = 20_000
LEAST: Final = 5  # runs


@final
@frozen
class Roofline:
    """copies: (bytes that are read and written, bytes per second). flops: operations per second by dtype."""

    copies: tuple[tuple[int, float], ...]
    flops: dict[str, float]

    def seconds(self, bytes: int, flops: int, dtype: str) -> float:
        """The least time for moving so many bytes, as near as they can lie, and for so many operations."""
        speed = next((speed for size, speed in self.copies if bytes <= size), self.copies[-1][1])
        return max(bytes / speed, flops / self.flops[dtype])


@lru_cache
def machine() -> Roofline:
    """The roofline of this machine."""
    kept = store()
    key = key_of(VERSIONS, "roofline", platform.node(), host_target().cpu)
    found = kept.get(key) if kept else None
    if found is None:
        found = json.dumps(asdict(measured())).encode()
        if kept:
            kept.put(key, found)
    numbers: dict[str, Any] = json.loads(found)
    return Roofline(tuple([(size, speed) for size, speed in numbers["copies"]]), numbers["flops"])


def measured() -> Roofline:
    """The same, measured now."""
    features = host_target().has
    width = 64 if "avx512f" in features else 32 if "avx" in features else 16
    lanes = {"f32": width // 4, "f64": width // 8}
    code = Code("\n".join([copier(), *[chains(n, dtype) for dtype, n in lanes.items()], attributes()]), keep=False)
    copies = tuple([(2 * size, 2 * size / copied(code, size)) for size in COPIES])
    numbers = np.ones(64)
    flops = dict[str, float]()
    for dtype, n in lanes.items():
        run = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(code.address(f"chains_{dtype}"))
        flops[dtype] = 2 * n * CHAINS * TURNS / best(partial(run, numbers.ctypes.data))
    return Roofline(copies, flops)


def copied(code: Code, size: int) -> float:
    """Seconds that a copy of so many bytes takes, in memory that exists."""
    both, times = np.ones(2 * size + 1024, np.uint8), max((1 << 20) // size, 1)
    source, target = both[:size], both[size + 1024 :]  # apart by no multiple of a page, which some copies mind
    run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, *[ctypes.c_int64] * 2)(code.address("copies"))
    return best(partial(run, target.ctypes.data, source.ctypes.data, size, times)) / times


def best(run: Callable[[], object]) -> float:
    """Seconds of the fastest of many runs."""
    found, end = list[float](), time.process_time() + 0.05
    while len(found) < LEAST or time.process_time() < end:
        start = time.process_time()
        run()
        took = time.process_time() - start
        if took > 0:  # a clock of coarse steps may stand still
            found.append(took)
    return min(found)


def copier() -> str:
    """LLVM IR that copies memory several times."""
    return f"""target triple = "{host_target().triple}"
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
define void @copies(ptr %target, ptr %source, i64 %size, i64 %times) #0 {{
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %j, %loop ]
  call void @llvm.memcpy.p0.p0.i64(ptr %target, ptr %source, i64 %size, i1 true)
  %j = add i64 %i, 1
  %again = icmp ult i64 %j, %times
  br i1 %again, label %loop, label %end
end:
  ret void
}}
"""


def chains(lanes: int, dtype: str) -> str:
    """LLVM IR that multiplies and adds in several registers at once."""
    vector, name = f"<{lanes} x {llvm_type(dtype)}>", f"@llvm.fma.v{lanes}{dtype}"
    starts = "\n".join([f"  %x{n} = load volatile {vector}, ptr %p, align 8" for n in range(CHAINS)])
    sums = "\n".join([f"  %s{n} = phi {vector} [ %x{n}, %start ], [ %t{n}, %loop ]" for n in range(CHAINS)])
    steps = "\n".join(
        [f"  %t{n} = call {vector} {name}({vector} %s{n}, {vector} %x0, {vector} %x0)" for n in range(CHAINS)]
    )
    stores = "\n".join([f"  store volatile {vector} %t{n}, ptr %p, align 8" for n in range(CHAINS)])
    return f"""declare {vector} {name}({vector}, {vector}, {vector})
define void @chains_{dtype}(ptr %p) #0 {{
start:
{starts}
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %j, %loop ]
{sums}
{steps}
  %j = add i64 %i, 1
  %again = icmp ult i64 %j, {TURNS}
  br i1 %again, label %loop, label %end
end:
{stores}
  ret void
}}
"""


def attributes() -> str:
    """The attributes of the functions."""
    target = host_target()
    machine = f'"target-cpu"="{target.cpu}" "target-features"="{target.features}" "prefer-vector-width"="512"'
    return f"attributes #0 = {{ {machine} }}"
