"""The scenario suite: every claim of a system's ability table, as data that pytest runs.

    test_mine = test_differentiation([MySystem()], scenarios())

is a full check of a new system, and `benchmark_differentiation` a table of what its calls cost.
Skips derive from the ability table and say why.
"""

from pliant.diff.testing.benchmark import Cost, Costs, benchmark_differentiation
from pliant.diff.testing.check import cases, check, test_differentiation
from pliant.diff.testing.scenarios import Scenario, scenarios, skip_reason, thinned

__all__ = [
    "Cost",
    "Costs",
    "Scenario",
    "benchmark_differentiation",
    "cases",
    "check",
    "scenarios",
    "skip_reason",
    "test_differentiation",
    "thinned",
]
