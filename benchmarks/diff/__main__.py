"""`python -m benchmarks.diff`: measure, print tables, write out/diff.json."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, Final

import pliant.diff as diff
from benchmarks.diff import by_hand, by_operator, contexts, overhead, sparse
from pliant.diff.testing import Scenario, benchmark_differentiation
from pliant.tools.bench.table import duration

OUT = Path("out/diff.json")
SYSTEMS = (
    diff.Pliant(), diff.JAX(), diff.PyTorch(), diff.CasADi(), diff.PyTensor(), diff.TensorFlow(), diff.MLX(),
    diff.Autograd(), diff.SymPy(), diff.ComplexStep(), diff.FiniteDifferences(),
)  # fmt: skip


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
    parser.add_argument("--only", nargs="+", choices=TABLES, default=list(TABLES), help="tables to make")
    options = parser.parse_args()
    overhead.use_one_thread()
    made = {name: TABLES[name](options) for name in options.only}
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps(made, indent=1, ensure_ascii=False))


def of_calls(options: Any, title: str, settings: Any) -> list[Any]:
    """What a prepared call adds."""
    rows = overhead.rows(settings, options.rounds)
    head = (f"Rosenbrock, n = 100: {title}", "by hand", "prepared", "overhead", "with prep=")
    table(head, [(r.name, r.direct, r.prepared, r.overhead, r.checked) for r in rows])
    return list(map(asdict, rows))


def of_contexts(options: Any) -> list[Any]:
    """What contexts save."""
    rows = contexts.rows()
    table(("", "naive", "pliant.diff"), [(r.name, r.naive, r.with_context) for r in rows])
    return list(map(asdict, rows))


def of_sparse(options: Any) -> list[Any]:
    """Colours and times of sparse matrices."""
    sizes = [n for n in (1_000, 5_000, 10_000, 20_000, 100_000) if n <= options.largest]
    found = [sparse.row(problem, n) for problem in sparse.PROBLEMS for n in sizes]
    head = (
        "matrix", "n", "colours", "largest first", "SciPy", "networkx", "prepare", "sparse", "JAX, our colours",
        "dense JAX", "difference",
    )  # fmt: skip
    errors = [f"{r.error:.0e}" for r in found]
    table(head, [(*list(asdict(r).values())[:-1], error) for r, error in zip(found, errors, strict=True)])
    return list(map(asdict, found))


def of_systems(options: Any) -> list[Any]:
    """Calls of f, time and bytes of one gradient by every system."""
    costs = benchmark_differentiation(SYSTEMS, [Scenario("gradient", "vector", "number", "Constant", prepared=True)])
    print(f"\n{costs}\n{costs.skipped}")
    return list(map(asdict, costs.rows))


TABLES: Final[Mapping[str, Callable[[Any], list[Any]]]] = {
    "overhead": partial(of_calls, title="value and gradient", settings=by_hand.SETTINGS),
    "operators": partial(of_calls, title="the other operators", settings=by_operator.settings()),
    "contexts": of_contexts,
    "sparse": of_sparse,
    "systems": of_systems,
}


if __name__ == "__main__":
    main()
