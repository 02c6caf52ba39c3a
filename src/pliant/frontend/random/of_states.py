"""Methods of `np.random.RandomState`, which are the functions of `np.random`: `rng` stands for one in a trace."""

from __future__ import annotations

from typing import Any, Final

import numpy

from pliant.frontend.draws import seeds
from pliant.frontend.parameters import count_in, number_in, shape_of
from pliant.frontend.random import methods, twister
from pliant.frontend.random.checks import chances
from pliant.frontend.random.methods import random, standard_normal
from pliant.frontend.random.places import integers, likely, likely_sample, permutation
from pliant.frontend.random.seeds import any_seed

np: Any = numpy  # or what a trace has in its place

SAME: Final = frozenset((
    "beta binomial chisquare dirichlet exponential f gamma geometric gumbel laplace logistic lognormal multinomial "
    "negative_binomial normal pareto permutation poisson power random rayleigh shuffle standard_cauchy "
    "standard_exponential standard_gamma standard_normal standard_t triangular uniform weibull"
).split())  # fmt: skip
"""Methods that a `Generator` has too, of other bits."""


def seed(rng: Any, seed: Any = None) -> None:
    """Begin anew, as of a whole number of 32 bits; of none, in another state at each call."""
    if seed is None:
        seed = any_seed(seeds())
    if seed < 0 or seed > 2**32 - 1:
        raise ValueError("Seed must be between 0 and 2**32 - 1")
    key, place, has_other, other = rng.parts
    key[...] = twister.seeded(seed)
    place[0], has_other[0], other[0] = 624, 0, 0.0


def random_sample(rng: Any, size: Any = None) -> Any:
    """Numbers from 0 up to 1."""
    return random(rng, size)


ranf = sample = random_sample


def rand(rng: Any, *shape: Any) -> Any:
    """Numbers from 0 up to 1."""
    return random(rng, shape) if shape else random(rng)


def randn(rng: Any, *shape: Any) -> Any:
    """Numbers of mean 0 and variance 1."""
    return standard_normal(rng, shape) if shape else standard_normal(rng)


def randint(rng: Any, low: Any, high: Any = None, size: Any = None, dtype: Any = int) -> Any:
    """Whole numbers from `low` up to `high`."""
    return integers(rng, low, high, size, dtype)


def multivariate_normal(
    rng: Any, mean: Any, cov: Any, size: Any = None, check_valid: Any = None, tol: Any = None
) -> Any:
    """Normal numbers of a covariance."""
    return methods.multivariate_normal(rng, mean, cov, size, check_valid, tol)


def choice(rng: Any, a: Any, size: Any = None, replace: bool = True, p: Any = None) -> Any:
    """Elements, or numbers below one."""
    is_number = np.ndim(a) == 0
    count = a if is_number else np.shape(a)[0]
    wanted = number_in(size) if replace else count_in(size)
    if np.ndim(a) > 1:
        raise ValueError("a must be 1-dimensional")
    if count <= 0 and wanted:
        raise ValueError(
            "a must be greater than 0 unless no samples are taken"
            if is_number
            else "'a' cannot be empty unless no samples are taken"
        )
    if p is not None:
        p = np.asarray(p, np.float64)
        chances(p, count)
    if not replace and wanted > count:
        raise ValueError("Cannot take a larger sample than population when 'replace=False'")
    if p is not None:
        if not replace and np.sum(p > 0) < wanted:
            raise ValueError("Fewer non-zero entries in p than size")
        places = likely(rng, p, size) if replace else likely_sample(rng, p, size)
    elif replace:
        places = randint(rng, 0, count, size)
    else:
        places = permutation(rng, count)[:wanted]
        places = places[0] if size is None else places.reshape(shape_of(size, ()))
    if is_number:
        return int(places) if size is None else np.asarray(places)
    made = np.take(np.asarray(a), places, 0)
    return made if size is None else np.asarray(made)
