"""Fit a Poisson regression with SciPy's trust-region Newton method: `python examples/fit.py`.

The data are scikit-learn's bundled diabetes measurements: how far the disease went in a year (a positive count-like
score) from ten measurements. The objective is plain NumPy; its gradient and its Hessian-vector products come from
Pliant, so the method converges in a few steps. scikit-learn's own solver gives the known answer.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize
from sklearn.datasets import load_diabetes
from sklearn.linear_model import PoissonRegressor

import pliant

ALPHA = 1e-3  # weight of the ridge penalty, which spares the intercept

data = load_diabetes()
X = data.data / data.data.std(axis=0)
y = data.target


def objective(theta: Any) -> Any:
    """Half the mean Poisson deviance of exp(X @ theta[1:] + theta[0]), with a ridge penalty."""
    eta = X @ theta[1:] + theta[0]
    deviance = y * (np.log(y) - eta) - y + np.exp(eta)
    return np.mean(deviance) + ALPHA / 2 * np.sum(theta[1:] ** 2)


def fit() -> Any:
    """SciPy's result; `x` holds the intercept and then the ten weights."""
    start = np.zeros(X.shape[1] + 1)
    start[0] = np.log(y.mean())
    return minimize(
        pliant.value_and_grad(objective),
        start,
        jac=True,
        hessp=pliant.hvp(objective),
        method="trust-ncg",
        options={"gtol": 1e-6},
    )


def known_answer() -> Any:
    """The same model by scikit-learn."""
    model = PoissonRegressor(alpha=ALPHA, solver="newton-cholesky", tol=1e-12).fit(X, y)
    return np.concatenate([[model.intercept_], model.coef_])


def main() -> float:
    """Print both answers side by side; their largest difference."""
    result, known = fit(), known_answer()
    print(f"{result.message} {result.nit} steps, {result.nfev} gradients, {result.nhev} Hessian-vector products")
    print(f"{'':>10} {'Pliant':>14} {'scikit-learn':>14}")
    for name, ours, theirs in zip(["intercept", *data.feature_names], result.x, known, strict=True):
        print(f"{name:>10} {ours:14.9f} {theirs:14.9f}")
    difference = float(np.abs(result.x - known).max())
    print(f"largest difference {difference:.1e}; objective {result.fun:.9f}")
    return difference


if __name__ == "__main__":
    main()
