"""`python -m benchmarks.diff`: measure, print tables, write out/diff.json."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pliant.diff as diff
from benchmarks.diff import by_hand, by_operator, contexts, overhead, sparse
from pliant.diff.testing import Scenario, benchmark_differentiation
from pliant.tools.bench.table import duration

OUT = Path("out/diff.json")
SYSTEMS = (
    diff.Pliant(), diff.JAX(), diff.PyTorch(), diff.CasADi(), diff.PyTensor(), diff.TensorFlow(), diff.MLX(),
    diff.Autograd(), diff.SymPy(), diff.ComplexStep(), diff.FiniteDifferences(),
)  # fmt: skip
CALLS = (
    ("overhead", "value and gradient", by_hand.SETTINGS),
    ("operators", "the other operators", by_operator.settings()),
)


def table(headings: Sequence[str], lines: Sequence[Sequence[Any]]) -> None:
    """Print a Markdown table."""
    print("\n| " + " | ".join(headings) + " |")
    print("|---|" + "--:|" * (len(headings) - 1))
    for line in lines:
        print("| " + " | ".join(map(cell, line)) + " |", flush=True)


def cell(x: Any) -> str:
    """Seconds as a duration; None as nothing."""
    return "" if x is None else duration(x) if isinstance(x, float) else str(x)


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.diff")
    parser.add_argument("--rounds", type=int, default=60, help="turns of each side (default 60)")
    parser.add_argument("--largest", type=int, default=100_000, help="elements of x in sparse problems")
    options = parser.parse_args()
    overhead.use_one_thread()
    made: dict[str, Any] = {}
    for name, title, settings in CALLS:
        calls = overhead.rows(settings, options.rounds)
        made[name] = [asdict(r) for r in calls]
        head = (f"Rosenbrock, n = 100: {title}", "by hand", "prepared", "overhead", "with prep=")
        table(head, [(r.name, r.direct, r.prepared, r.overhead, r.checked) for r in calls])
    rows = contexts.rows()
    made["contexts"] = [asdict(r) for r in rows]
    table(("", "naive", "pliant.diff"), [(r.name, r.naive, r.with_context) for r in rows])
    sizes = [n for n in (1_000, 5_000, 10_000, 20_000, 100_000) if n <= options.largest]
    found = [sparse.row(problem, n) for problem in sparse.PROBLEMS for n in sizes]
    made["sparse"] = [asdict(r) for r in found]
    head = (
        "matrix", "n", "colours", "largest first", "SciPy", "networkx", "prepare", "sparse", "JAX, our colours",
        "dense JAX", "difference",
    )  # fmt: skip
    errors = [f"{r.error:.0e}" for r in found]
    table(head, [(*list(asdict(r).values())[:-1], error) for r, error in zip(found, errors, strict=True)])
    costs = benchmark_differentiation(SYSTEMS, [Scenario("gradient", "vector", "number", "Constant", prepared=True)])
    made["systems"] = [asdict(r) for r in costs.rows]
    print(f"\n{costs}\n{costs.skipped}")
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps(made, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
