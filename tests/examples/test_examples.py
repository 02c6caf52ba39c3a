"""The examples run and say what they promise."""

from __future__ import annotations

from pathlib import Path

import pytest

from examples import diff_backends, digits, fit


def test_digits_reach_95_percent(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert digits.main(epochs=15, out=tmp_path / "digits.png") >= 0.95
    assert (tmp_path / "digits.png").stat().st_size > 10_000
    printed = capsys.readouterr().out
    assert "with NumPy alone" in printed
    assert "epoch  15" in printed


def test_fit_finds_the_known_answer() -> None:
    assert fit.main() < 1e-6


def test_every_system_gives_the_same_gradient_on_real_data(capsys: pytest.CaptureFixture[str]) -> None:
    assert diff_backends.main() < 1e-6
    assert "FiniteDifferences" in capsys.readouterr().out
