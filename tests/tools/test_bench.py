"""The benchmark suite: its cases agree with NumPy, and its rows and summaries say what was measured."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from pliant.tools.bench import adbench, elementwise, models, networks
from pliant.tools.bench.case import Case, leaves, moved
from pliant.tools.bench.growth import by_length, draw
from pliant.tools.bench.in_numba import by_numba
from pliant.tools.bench.measure import interleaved
from pliant.tools.bench.sides import by_pliant, calls
from pliant.tools.bench.table import Row, duration, line, summary

SHORT = [case for module in (networks, models, adbench) for case in module.cases(is_short=True)]


@pytest.mark.parametrize("case", list(elementwise.cases((50,))), ids=lambda case: case.title)
def test_kernels_agree_with_numpy(case: Case):
    assert set(calls(case, ["pliant", "numpy"])) == {"pliant", "numpy"}


def test_numba_takes_the_same_source():
    pytest.importorskip("numba")
    case = next(case for case in elementwise.cases((50,)) if case.name == "row_sums")
    assert set(calls(case, ["pliant", "numba"])) == {"pliant", "numba"}
    assert by_numba(next(case for case in SHORT if case.name == "softmax")) is None


@pytest.mark.parametrize("case", [c for c in SHORT if c.kind == "value"], ids=lambda case: case.title)
def test_layers_and_models_agree_with_numpy(case: Case):
    assert set(calls(case, ["pliant", "numpy"])) == {"pliant", "numpy"}


@pytest.mark.parametrize(
    "case", [c for c in SHORT if c.kind != "value" and c.dtype == "float64"], ids=lambda c: c.title
)
def test_derivatives_of_the_suite_are_finite(case: Case):
    assert all(np.isfinite(leaf).all() for leaf in leaves(by_pliant(case)()))


def test_bytes_are_those_of_arguments_and_results():
    case = next(elementwise.cases((1000,)))
    assert moved(case, np.zeros(1000, "float32")) == 3 * 4000


def test_sides_take_turns():
    turns = list[str]()
    found = interleaved({"a": lambda: turns.append("a"), "b": lambda: turns.append("b")}, rounds=2, seconds=1e-6)
    assert set(found) == {"a", "b"} and turns.count("a") > 2


def test_a_row_says_how_much_longer_the_others_take():
    row = Row("kernels", "exp", "value", "float32", 10, {"pliant": 1e-6, "jax": 2.5e-6, "numpy": 5e-7}, 0.5)
    assert row.best == 0.5
    assert "1 µs" in line(row, ["pliant", "jax"]) and "2.50×" in line(row, ["pliant", "jax"])
    (text,) = summary([row])
    assert "JAX 2.50×" in text and "exp value float32 10 0.50×" in text


def test_durations_have_three_digits():
    assert [duration(x) for x in (1.5, 0.02, 3.25e-6, 8e-10)] == ["1.5 s", "20 ms", "3.25 µs", "0.8 ns"]


def test_the_command_runs_the_suite():
    command = [sys.executable, "-m", "pliant", "bench", "axpy", "--quick", "--sides", "numpy"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "| axpy " in run.stdout and "geometric means NumPy" in run.stdout


def test_a_name_that_no_case_has_is_an_error():
    run = subprocess.run([sys.executable, "-m", "pliant", "bench", "axpi"], capture_output=True, text=True, check=False)
    assert run.returncode == 2
    assert "no group or case is called axpi; there are kernels, axpy, " in run.stderr


def test_other_commands_take_no_options_of_the_suite():
    command = [sys.executable, "-m", "pliant", "cache", "--quick"]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 2


def test_growth_is_drawn(tmp_path):
    rows = [Row("kernels", "exp", "value", "float64", n, {"pliant": 1e-9 * n}, 0.5) for n in (10, 100)]
    seconds = by_length((10, 20))
    assert {name: len(found) for name, found in seconds.items()} == {"first call": 2, "call": 2}
    draw(rows, seconds, tmp_path / "growth.svg")
    assert "<svg" in (tmp_path / "growth.svg").read_text()
