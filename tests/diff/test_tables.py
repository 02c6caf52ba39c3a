"""The guide shows the ability table that the code has."""

from __future__ import annotations

import subprocess
import sys
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


def test_importing_the_package_loads_no_compiler_and_no_other_library():
    code = "import sys, pliant.diff; print({'llvmlite', 'jax', 'torch', 'numba', 'tensorflow'} & {*sys.modules})"
    made = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert made.stdout.strip() == "set()"
