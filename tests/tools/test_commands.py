"""The commands of `python -m pliant`."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import final

import numpy as np
import pytest

import pliant
from pliant import ops
from pliant.core.ir import Op
from pliant.errors import ArgumentError, UnsupportedError
from pliant.ops.base import Linear
from pliant.tools.commands import main, zeros
from pliant.tools.coverage import RULES, numpy_groups, primitive_rows, qualified, rule_mark


@final
@dataclass(frozen=True)
class Mine(Linear):
    """A primitive with one rule of its own."""

    def infer(self, *xs: object) -> object:  # type: ignore[override]
        return xs


def test_coverage_tells_own_rules_from_those_of_the_family() -> None:
    assert [rule_mark(Mine, rule) for rule in ("infer", "jvp", "kernel", "fill")] == ["own", "linear", "-", "-"]


def test_coverage_lists_every_primitive_once() -> None:
    rows = primitive_rows()
    assert [name for name, *_ in rows] == sorted(ops.ALL)
    assert {len(row) for row in rows} == {1 + len(RULES)}


def test_every_primitive_infers_and_computes() -> None:
    for cls in ops.ALL.values():
        assert issubclass(cls, Op)
        assert cls.has("array") or cls.has("expand") or hasattr(cls, "numpy"), cls.name


def test_numpy_functions_are_listed_where_numpy_has_them() -> None:
    groups = numpy_groups()
    assert {"sin", "matmul"} <= set(groups["ufuncs"])
    assert "solve" in groups["np.linalg"]
    assert all(names == sorted(names) for names in groups.values())
    assert qualified(sorted) != "np.sorted"


def test_what_always_raises_is_not_listed_as_supported() -> None:
    groups = numpy_groups()
    refused = {name.rpartition(".")[2] for name in groups["refused functions"]}
    assert {"savez", "save"} <= refused
    assert not refused & {*groups["np"], *groups["np.linalg"]}
    assert {"ptp", "tobytes"} <= set(groups["refused methods"])
    assert not set(groups["refused methods"]) & set(groups["methods of arrays"])
    for name in groups["refused methods"]:
        with pytest.raises(UnsupportedError, match=name):
            pliant.jit(lambda x, name=name: getattr(x, name)())(np.ones(3))
    for name in groups["refused properties"]:
        with pytest.raises(UnsupportedError, match=name):
            pliant.jit(lambda x, name=name: getattr(x, name))(np.ones(3))


def test_coverage_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["coverage"]) == 0
    assert capsys.readouterr().out.startswith("primitive ")
    assert main(["coverage", "--markdown"]) == 0
    assert "| `exp` | elementwise |" in capsys.readouterr().out


FILE = "import numpy as np\n\ndef f(x):\n    y = np.exp(x)\n    return y.sum()\n"


def test_dump_prints_the_program_of_a_function_in_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.py"
    path.write_text(FILE)
    assert main(["dump", f"{path}:f", "f64[3]"]) == 0
    assert "%y: f64[3] = exp(%x)" in capsys.readouterr().out


def test_wrong_places_and_types_are_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.py"
    path.write_text(FILE)
    assert main(["dump", f"{path}:g"]) == 2
    assert "names no function" in capsys.readouterr().err
    with pytest.raises(ArgumentError, match="'f64\\(3\\)' is no type"):
        zeros("f64(3)")


def test_the_package_is_a_command() -> None:
    out = subprocess.run([sys.executable, "-m", "pliant", "--help"], capture_output=True, text=True, check=True).stdout
    assert "coverage" in out


def test_cache_tells_what_is_kept_and_drops_it(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setenv("PLIANT_CACHE", str(tmp_path / "kept"))
    pliant.jit(lambda x: x + 8.25)(np.ones(3))
    assert main(["cache"]) == 0
    assert main(["cache", "--clear"]) == 0
    shown, dropped = capsys.readouterr().out.splitlines()
    assert shown.startswith("1 programs, ")
    assert shown.endswith(str(tmp_path / "kept"))
    assert dropped == "1 programs dropped"
    monkeypatch.setenv("PLIANT_CACHE", "")
    assert main(["cache"]) == 0
    assert "the cache is off" in capsys.readouterr().out


def test_a_type_that_is_not_given_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "two.py"
    path.write_text("def f(x, y):\n    return x + y\n")
    assert main(["dump", f"{path}:f", "f64[3]"]) == 2
    shown = capsys.readouterr().err
    assert "missing a required argument: 'y'" in shown
    assert "hint: give the type of each argument, like f64[3, 4]" in shown


@pytest.mark.parametrize(
    "words", [["dump", "nowhere.py:f", "f64[2]"], ["dump", "f"], ["dump", "/:f"], ["explain", "nowhere.py:f"]]
)
def test_a_mistake_on_the_command_line_is_told_in_one_line(words: list[str], capsys) -> None:
    assert main(words) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "Error: " in shown.err
    assert "Traceback" not in shown.err
