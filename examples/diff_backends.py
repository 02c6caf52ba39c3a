"""One loss on real data, differentiated by every system that is installed: one word changes.

    python examples/diff_backends.py

Logistic regression on the breast cancer data of scikit-learn. The loss is plain NumPy; each line is
the same prepared call with another system.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer

import pliant.diff as diff
from pliant.errors import UnavailableError

SYSTEMS = (
    diff.Pliant(), diff.JAX(plain=True), diff.PyTorch(plain=True), diff.CasADi(), diff.ComplexStep(),
    diff.FiniteDifferences(),
)  # fmt: skip


def loss(w: Any, features: Any, labels: Any) -> Any:
    """Mean negative log-likelihood, with a little weight decay."""
    z = (features @ w) * labels
    return np.mean(np.log(1 + np.exp(-z))) + 1e-3 * np.sum(w * w)


def data() -> tuple[Any, Any]:
    """Standardised features with a column of ones, and labels -1 and 1."""
    features, labels = load_breast_cancer(return_X_y=True)
    features = (features - features.mean(0)) / features.std(0)
    return np.column_stack([np.ones(len(features)), features]), 2.0 * labels - 1.0


def seconds_per_call(call: Any, rounds: int = 20) -> float:
    """The fastest of some calls."""
    times: list[float] = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> float:
    """Print the table; returns the largest difference from Pliant's gradient."""
    features, labels = data()
    w = np.random.default_rng(0).normal(size=features.shape[1]) / 10
    contexts = diff.Constant(features), diff.Constant(labels)
    reference = diff.gradient(loss, diff.Pliant(), w, *contexts)
    print(f"{len(features)} patients, {len(w)} weights")
    print(f"{'system':20} {'gradient, ms':>12} {'difference':>12}")
    worst = 0.0
    for system in SYSTEMS:
        try:
            prep = diff.prepare_gradient(loss, system, w, *contexts)
        except UnavailableError as error:
            print(f"{system.name:20} {error.hint}")
            continue
        gradient = prep(w, features, labels)
        difference = float(np.max(np.abs(gradient - reference)))
        worst = max(worst, difference)
        elapsed = seconds_per_call(lambda prep=prep: prep(w, features, labels))
        print(f"{system.name:20} {1e3 * elapsed:12.3f} {difference:12.1e}")
    return worst


if __name__ == "__main__":
    main()
