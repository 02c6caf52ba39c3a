"""scipy.stats inside traced functions: values as SciPy's, gradients as differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy
import scipy.stats as st
from scipy.stats import multivariate_normal, norm

import pliant
from pliant.errors import ArgumentError, DTypeError, ShapeError, TracedValueError, UnsupportedError
from pliant.frontend.functions.scipys.distributions import CONTINUOUS, DISCRETE, has
from pliant.testing import check_gradient

RNG = np.random.default_rng(0)
SHAPES: dict[str, tuple[float, ...]] = {
    "t": (3.5,), "gamma": (2.5,), "chi2": (3.0,), "invgamma": (2.0,), "beta": (2.0, 3.0), "lognorm": (0.7,),
    "weibull_min": (1.5,), "pareto": (2.5,), "poisson": (3.0,), "bernoulli": (0.3,), "binom": (7, 0.3),
    "nbinom": (4.0, 0.3), "geom": (0.3,),
}  # fmt: skip
WRONG: dict[str, tuple[float, ...]] = {
    "gamma": (-1.0,), "beta": (2.0, 0.0), "poisson": (-1.0,), "bernoulli": (1.5,), "binom": (2.5, 0.3), "geom": (0.0,),
}  # fmt: skip
REAL = np.concatenate([RNG.normal(size=8) * 3, [0, 1, 2, 0.5, 1.5, -1, np.inf, -np.inf, np.nan, 30.0, -30]])
WHOLE = np.array([-1, 0, 1, 2, 3, 7, 8, 20, 2.5, np.nan])
PART = np.array([-0.1, 0, 1e-5, 0.3, 0.5, 0.7, 1, 1.2, np.nan])
METHODS = [(name, which) for name in (*CONTINUOUS, *DISCRETE) for which in has(name)]


def given(name: str, which: str) -> Any:
    real = REAL[~np.isinf(REAL)] if which in ("logpdf", "pdf") else REAL  # SciPy's are NaN there for some
    return PART if which in ("ppf", "isf") else WHOLE if name in DISCRETE else real


@pytest.mark.parametrize(("name", "which"), METHODS)
def test_values(name: str, which: str) -> None:
    shapes, x = SHAPES.get(name, ()), given(name, which)
    options = {"loc": 1} if name in DISCRETE else {"loc": 0.3, "scale": 1.7}

    def plain(x: Any) -> Any:
        return getattr(getattr(st, name), which)(x, *shapes)

    def moved(x: Any) -> Any:
        return getattr(getattr(st, name), which)(x, *shapes, **options)

    with np.errstate(all="ignore"):
        for f in (plain, moved):
            np.testing.assert_allclose(pliant.jit(f)(x), f(x), rtol=1e-10, atol=1e-300)
            assert type(pliant.jit(f)(x[3])) is type(f(x[3]))
            np.testing.assert_allclose(pliant.jit(f)(x.astype("f4")), f(x.astype("f4")), rtol=2e-3, atol=1e-30)


@pytest.mark.parametrize(("name", "which"), METHODS)
def test_gradients_by_all_arguments(name: str, which: str) -> None:
    inside = {"beta": 0.35, "uniform": 0.35, "pareto": 2.2, "bernoulli": 0.0}.get(
        name, 3.0 if name in DISCRETE else 0.8
    )
    x, shapes = (0.3 if which in ("ppf", "isf") else inside), [float(s) for s in SHAPES.get(name, ())]
    moved = [0.0] if name in DISCRETE else [0.01, 1.1]
    args = [np.asarray(v) for v in (x, *shapes, *moved)]
    fixed = {0, len(args) - 1, *((1,) if name == "binom" else ())} if name in DISCRETE else set()
    for n in range(len(args)):
        if n not in fixed:
            check_gradient(lambda *a: getattr(getattr(st, name), which)(*a) * 1.0, *args, argnums=n, rtol=1e-5)


@pytest.mark.parametrize("name", WRONG)
def test_parameters_that_are_none_make_nan(name: str) -> None:
    which = has(name)[0]
    assert np.isnan(pliant.jit(lambda x: getattr(getattr(st, name), which)(x, *WRONG[name]))(1.0))
    assert np.isnan(pliant.jit(lambda x: norm.logpdf(x, scale=-1))(1.0))


FIXED = norm(0.5, 2.0)
SPREAD = multivariate_normal(np.array([1.0, 2.0]), np.array([[2.0, 0.3], [0.3, 1.0]]))
SINGULAR = multivariate_normal(np.zeros(2), np.ones((2, 2)), allow_singular=True)
DIRICHLET = st.dirichlet(np.array([1.5, 2.0, 3.5]))
OUTSIDE = np.array([0.5, -0.5, 1.0])
COV = np.array([[2.0, 0.3], [0.3, 1.0]])

FORMS: dict[str, Callable[[Any], Any]] = {
    "given before": lambda x: FIXED.logpdf(x),
    "given inside": lambda x: norm(x[0], scale=np.exp(x[1])).logpdf(OUTSIDE),
    "given by name": lambda x: scipy.stats.gamma.logpdf(x=np.exp(x), a=2.0, scale=3.0),
    "broadcast": lambda x: st.norm.pdf(x[:, None], OUTSIDE),
    "in a loop": lambda x: sum(st.norm.logpdf(v, v * 2) for v in x),
    "normal vectors": lambda x: multivariate_normal.logpdf(np.stack([x, x * x], 1), [0.0, 1.0], COV),
    "one vector": lambda x: multivariate_normal.logpdf(x[:2], x[1:], COV * np.exp(x[0])),
    "equal spread": lambda x: multivariate_normal.pdf(x, OUTSIDE, 2.0),
    "spread of each": lambda x: multivariate_normal.logpdf(x, OUTSIDE, np.exp(x)),
    "of numbers": lambda x: multivariate_normal.logpdf(x, 0.5, 2.0),
    "no mean": lambda x: multivariate_normal.logpdf(x[:2], cov=COV),
    "normal vectors given before": lambda x: SPREAD.logpdf(x[:2]),
    "normal vectors given inside": lambda x: multivariate_normal(x[:2], COV).pdf(OUTSIDE[:2]),
    "dirichlet": lambda x: st.dirichlet.logpdf(np.exp(x) / np.exp(x).sum(), [1.0, 2.0, 3.5]),
    "dirichlet without the last": lambda x: st.dirichlet.pdf((np.exp(x) / np.exp(x).sum())[:2], np.exp(OUTSIDE)),
    "quantile by name": lambda x: norm(x, 2.0).ppf(q=0.2) + FIXED.cdf(x=x),
    "dirichlet given before": lambda x: DIRICHLET.logpdf(np.exp(x) / np.exp(x).sum()),
    "dirichlet given inside": lambda x: st.dirichlet(np.exp(x)).logpdf(np.array([0.2, 0.3, 0.5])),
    "of what is known": lambda x: x * norm.cdf(1.0) + norm(0, 1).ppf(0.3),
}


@pytest.mark.parametrize("f", FORMS.values(), ids=FORMS)
def test_forms(f: Callable[[Any], Any]) -> None:
    x = np.array([0.3, -1.2, 0.7])
    made, wanted = pliant.jit(f)(x), f(x)
    np.testing.assert_allclose(made, wanted, rtol=1e-11)
    assert np.shape(made) == np.shape(wanted)
    check_gradient(lambda x: np.sum(f(x)), x, rtol=1e-5)
    np.testing.assert_allclose(pliant.vmap(f)(np.stack([x, x + 0.1])), np.stack([f(x), f(x + 0.1)]), rtol=1e-11)


REFUSED: dict[str, tuple[Callable[[Any], Any], type[Exception], str]] = {
    "no formula": (lambda x: st.t.cdf(x, 3), UnsupportedError, "(?s)scipy.stats.t.cdf is not .*of t there are"),
    "draws": (lambda x: norm(x, 1).rvs(3), UnsupportedError, "scipy.stats.norm.rvs is not supported"),
    "too many": (lambda x: norm.pdf(x, 1, 2, 3), ArgumentError, "scipy.stats.norm.pdf takes x, loc, scale, each once"),
    "another name": (lambda x: norm.pdf(x, mean=1), ArgumentError, "scipy.stats.norm.pdf takes x, loc, scale"),
    "no shape": (lambda x: st.gamma.pdf(x), ArgumentError, "scipy.stats.gamma.pdf takes x, a, loc, scale"),
    "singular": (
        lambda x: multivariate_normal.logpdf(x, cov=COV, allow_singular=True), UnsupportedError, "allow_singular=True",
    ),
    "singular, given before": (lambda x: SINGULAR.logpdf(x[:2]), UnsupportedError, "allow_singular=True"),
    "draws by name": (lambda x: norm(x, 1).rvs(size=3), UnsupportedError, "scipy.stats.norm.rvs is not supported"),
    "two later": (lambda x: norm(x, 1).pdf(x, 2), ArgumentError, "scipy.stats.norm.pdf takes one argument where"),
    "none later": (lambda x: norm(x, 1).pdf(), ArgumentError, "scipy.stats.norm.pdf takes one argument where"),
    "another later": (lambda x: norm(x, 1).pdf(y=x), ArgumentError, "scipy.stats.norm.pdf takes one argument where"),
    "complex": (lambda x: norm.pdf(x * 1j), DTypeError, "distributions are of real numbers"),
    "vectors": (lambda x: multivariate_normal.logpdf(x, cov=COV), ShapeError, "do not fit together"),
    "another distribution": (lambda x: st.levy.pdf(x), TracedValueError, "SciPy, whose functions are not traced"),
}  # fmt: skip


@pytest.mark.parametrize(("f", "kind", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_is_told_at_the_users_line(f: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message) as caught:
        pliant.jit(f)(np.ones(3))
    assert "test_scipy_stats.py" in str(caught.value)
