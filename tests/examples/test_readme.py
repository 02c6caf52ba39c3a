"""The README's program prints what the README says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pliant

README = (Path(__file__).parents[2] / "README.md").read_text()


def test_the_program_prints_what_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = re.search(r"```python\n(.*?)```\n\n```\n(.*?)```", README, re.DOTALL)
    assert found
    source, shown = found.groups()
    path = tmp_path / "readme.py"
    path.write_text(source)
    exec(compile(source, path, "exec"), {})
    assert capsys.readouterr().out.strip() == shown.strip()


def gradient_of(f: Any, *args: Any) -> Any:
    return pliant.grad(f, argnums=len(args) - 1)(*args)


def test_claim_repeated_indices() -> None:
    def f(x: Any, y: Any) -> Any:
        z = x.copy()
        z[[1, 1]] += y
        return z @ np.array([1.0, 10.0, 100.0])

    np.testing.assert_array_equal(gradient_of(f, np.arange(3.0), np.array([5.0, 7.0])), [0, 10])


def test_claim_overwritten_stores_leave_no_nan() -> None:
    def f(x: Any) -> Any:
        y = np.zeros(1)
        y[0] = np.sqrt(x[0])
        y[0] = x[0] - 1
        return y.sum()

    np.testing.assert_array_equal(gradient_of(f, np.zeros(1)), [1])


def test_claim_the_branch_not_taken_leaves_no_nan() -> None:
    assert gradient_of(lambda x: np.where(x > 0, np.log(x), 0.0), np.array(0.0)) == 0


def test_claim_negative_steps_are_views() -> None:
    def f(x: Any) -> Any:
        v = x[::-1]
        v[0] = 9.0
        return x

    np.testing.assert_array_equal(pliant.jit(f)(np.zeros(3)), [0, 0, 9])


def test_claim_index_out_of_range() -> None:
    with pytest.raises(IndexError):
        pliant.jit(lambda x, i: x[i])(np.zeros(3), np.array(5))


def test_claim_captured_arrays_are_read_again() -> None:
    table = np.ones(2)
    f = pliant.jit(lambda x: x * table)
    assert f(np.ones(2)).sum() == 2
    table[:] = 5.0
    assert f(np.ones(2)).sum() == 10
