"""What is made of a loop's rows needs no array of them, nor do its derivatives beyond what steps read: counted beneath
malloc, never timed."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from benchmarks.memory.count import ONE_THREAD, interposer, missing

WORKER = """
import ctypes, json, os
import numpy as np
import pliant

T, N = 1000, 8192
PLACES = np.arange(3, 900, 60)
GRADIENTS = ("squares", "greatest", "logsumexp", "listed", "differences", "rolled", "places", "deviation", "product")
counter, out = ctypes.CDLL(None), (ctypes.c_long * 2)()

def rows(x):
    ys = []
    for t in range(T):
        x = np.cos(x) + 0.1
        ys.append(x)
    return np.stack(ys)

def listed(x):
    ys = [x]
    for t in range(T):
        ys.append(np.cos(ys[-1]) + 0.1)
    return np.array(ys)

def logsumexp(y):
    m = np.max(y)
    return m + np.log(np.sum(np.exp(y - m)))

FOLDS = {
    "squares": lambda y: np.mean((y - 0.3) ** 2), "variance": np.var, "norm": np.linalg.norm, "greatest": np.max,
    "logsumexp": logsumexp, "differences": lambda y: np.sum(np.diff(y, axis=0) ** 2),
    "product": lambda y: np.sum(np.prod(y, axis=0)), "running": lambda y: np.sum(np.cumsum(y, axis=0) ** 2),
    "tenth": lambda y: np.sum(y[::10] ** 3), "rolled": lambda y: np.sum((y - np.roll(y, 1, axis=0)) ** 2),
    "places": lambda y: np.sum(y[PLACES] ** 2), "slopes": lambda y: np.sum(np.gradient(y, axis=0) ** 2),
    "deviation": np.std, "kept": lambda y: np.sum(np.sort(y, axis=0)[T // 2]),
}

def peak(call, x):
    counter.memory_reset()
    call(x)
    counter.memory_read(out)
    return out[1] / (8 * T * N)

x = np.linspace(0.1, 1.0, N)
CASES = [(name, rows, fold) for name, fold in FOLDS.items()] + [("listed", listed, FOLDS["squares"])]
for name, make, fold in CASES:
    def f(x, make=make, fold=fold):
        return fold(make(x))
    for way, call in (("value", pliant.jit(f)), ("grad", pliant.grad(f))):
        if way == "value" or name in GRADIENTS:
            child = os.fork()  # large blocks that others have freed, or not yet, count for nobody
            if not child:
                print(json.dumps([name, way, peak(call, x)]), flush=True)
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
"""


@pytest.fixture(scope="module")
def stacks(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], float]:
    """The peak of a first call, with all that compiling it takes, in arrays of rows: of the value, of the gradient."""
    why = missing()
    if why:
        pytest.skip(why)
    file = tmp_path_factory.mktemp("rows") / "worker.py"  # loops are read from their source
    file.write_text(WORKER)
    with interposer() as library:
        given = os.environ | ONE_THREAD | {"LD_PRELOAD": os.fspath(library), "PLIANT_CACHE": "", "PLIANT_VERIFY": "0"}
        made = subprocess.run([sys.executable, os.fspath(file)], env=given, capture_output=True, text=True, check=True)
    return {(name, way): most for name, way, most in map(json.loads, made.stdout.splitlines())}


@pytest.mark.parametrize(
    "name",
    [
        "squares", "variance", "norm", "greatest", "logsumexp", "differences", "product", "running", "tenth", "listed",
        "rolled", "places", "slopes", "deviation",
    ],
)  # fmt: skip
def test_no_array_of_rows_is_made(name: str, stacks: dict[tuple[str, str], float]) -> None:
    assert stacks[name, "value"] < 0.15


def test_what_needs_all_rows_has_them(stacks: dict[tuple[str, str], float]) -> None:
    assert stacks["kept", "value"] > 0.9


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("squares", 2.3), ("greatest", 1.4), ("logsumexp", 3.3), ("listed", 2.3), ("differences", 2.3), ("rolled", 2.3),
        ("places", 2.3), ("deviation", 2.3), ("product", 3.3),
    ],
)  # fmt: skip
def test_a_gradient_keeps_what_its_steps_read(name: str, most: float, stacks: dict[tuple[str, str], float]) -> None:
    assert stacks[name, "grad"] < most
