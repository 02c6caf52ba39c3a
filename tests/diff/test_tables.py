"""The guide shows the ability table that the code has."""

from __future__ import annotations

from pathlib import Path

import pliant.diff as diff

SYSTEMS = [
    diff.Pliant(), diff.JAX(), diff.PyTorch(), diff.TensorFlow(), diff.MLX(), diff.PyTensor(), diff.CasADi(),
    diff.SymPy(), diff.Autograd(), diff.EnzymeJAX(), diff.FiniteDifferences(), diff.ComplexStep(),
]  # fmt: skip


def test_the_guide_shows_the_ability_table():
    guide = (Path(__file__).parents[2] / "docs" / "diff.md").read_text()
    assert diff.ability_table(SYSTEMS) in guide, diff.ability_table(SYSTEMS)


def test_every_system_of_the_package_is_in_the_table():
    assert {type(s).__name__ for s in SYSTEMS} == set(diff.systems.__all__)
