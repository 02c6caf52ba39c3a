"""The bytes that calls allocate: counted by a library that stands before the C library's allocator."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any, Final

from benchmarks.measure import calls_in, repeated

SOURCE: Final = Path(__file__).parent / "interposer.c"
WARM: Final = 4  # calls before counting: the first ones compile
COUNTED: Final = 5
ONE_THREAD: Final = {
    f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")
} | {"XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"}  # fmt: skip


@dataclass(frozen=True)
class Use:
    """Of one call in the steady state: bytes allocated in blocks of 64 KB and more, the most that is held at once
    beyond what was held before, and processor seconds."""

    bytes: float
    peak: float
    seconds: float = float("nan")


def missing() -> str:
    """Why nothing can be counted here; empty if it can."""
    if not sys.platform.startswith("linux"):
        return "bytes are counted with LD_PRELOAD, which needs Linux"
    return "" if compiler() else "bytes are counted by a small C library, and there is no C compiler (cc) to build it"


def compiler() -> str | None:
    """The C compiler."""
    return shutil.which(os.environ.get("CC", "cc"))


@contextmanager
def interposer() -> Iterator[Path]:
    """The library, built for as long as it is needed."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "interposer.so"
        command = [compiler() or "cc", "-O2", "-fPIC", "-shared", "-o", os.fspath(path), os.fspath(SOURCE)]
        subprocess.run(command, check=True)
        yield path


def in_new_process(side: str, names: Sequence[str], library: Path, *, timed: bool = True) -> Iterator[tuple[str, Use]]:
    """What the calls of one side use, each program's as soon as it is known; those that fail are missing."""
    words = [sys.executable, "-m", "benchmarks.memory.worker", side, "timed" if timed else "counted", *names]
    given = os.environ | ONE_THREAD | {"LD_PRELOAD": os.fspath(library)}
    with subprocess.Popen(words, env=given, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout
        for line in process.stdout:
            if line.startswith("{"):
                made = json.loads(line)
                yield made.pop("name"), Use(**made)


def used_by(call: Callable[[], Any], *, timed: bool) -> Use:
    """What a call uses, counted in this process: only where the library is loaded."""
    counter: Any = ctypes.CDLL(None)
    out = (ctypes.c_long * 2)()
    for _ in range(WARM):
        call()
    totals, peaks = list[int](), list[int]()
    for _ in range(COUNTED):
        counter.memory_reset()
        call()
        counter.memory_read(out)
        totals.append(out[0])
        peaks.append(out[1])
    return Use(min(totals), max(peaks), processor_seconds(call) if timed else float("nan"))


def processor_seconds(call: Callable[[], Any]) -> float:
    """Seconds of this process's threads per call: as far as it can be, those of a machine without other work."""
    count, best = calls_in(call, 0.05), float("inf")
    for _ in range(10):
        began = process_time()
        repeated(call, count)
        best = min(best, (process_time() - began) / count)
    return best
