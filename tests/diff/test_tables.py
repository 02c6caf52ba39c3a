"""The guide shows the ability table that the code has."""

from __future__ import annotations

from pathlib import Path

from pliant.diff import JAX, Autograd, ComplexStep, FiniteDifferences, Pliant, PyTorch, ability_table

SYSTEMS = [Pliant(), JAX(), PyTorch(), Autograd(), FiniteDifferences(), ComplexStep()]


def test_the_guide_shows_the_ability_table():
    guide = (Path(__file__).parents[2] / "docs" / "diff.md").read_text()
    assert ability_table(SYSTEMS) in guide, ability_table(SYSTEMS)
