"""Methods of the distributions of scipy.stats, and distributions whose parameters are given once."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from types import MethodType
from typing import Any, Final, final

import numpy as np

from pliant.core.origin import here
from pliant.errors import ArgumentError
from pliant.frontend.functions.common import unsupported
from pliant.frontend.functions.scipys.common import doubles, xp
from pliant.frontend.functions.scipys.densities import CONTINUOUS, DISCRETE, Distribution, all_of
from pliant.frontend.functions.scipys.multivariate import MULTIVARIATE

ALL: Final = CONTINUOUS | DISCRETE
NAMES: Final = (*ALL, *MULTIVARIATE)


def logpdf(d: Distribution, x: Any, shapes: list[Any], loc: Any, scale: Any) -> Any:
    """The logarithm of a density, or of a probability; −∞ where there is none, NaN of parameters that are none."""
    return _density(d, x, shapes, loc, scale)[0]


def pdf(d: Distribution, x: Any, shapes: list[Any], loc: Any, scale: Any) -> Any:
    """The density, or the probability; at an end by a power, which has derivatives where it has no logarithm."""
    log, y, scale = _density(d, x, shapes, loc, scale)
    if d.end is None:
        return xp.exp(log)
    is_end, away, power, rest = d.end(y, *shapes)
    end = xp.where(is_end, away, 1.0) ** power * xp.exp(rest) / scale
    is_end = is_end & ~xp.isnan(log)
    return xp.where(is_end, end, xp.exp(xp.where(is_end, 0.0, log)))[()]


def _density(d: Distribution, x: Any, shapes: list[Any], loc: Any, scale: Any) -> tuple[Any, Any, Any]:
    """The logarithm of a density, the standard value, or one that has a density, and the scale."""
    x, loc, scale = doubles(x), doubles(loc), doubles(scale)
    y = (x - loc) / scale
    low, high = d.support(*shapes)
    is_inside = (y >= low) & (y <= high) & ((xp.floor(y) == y) if d.is_discrete else ~xp.isinf(y))
    some = xp.where(is_inside, y, _within(low, high))
    inside = d.log(some, *shapes)
    made = xp.where(is_inside, inside if d.is_discrete else inside - xp.log(scale), -np.inf)
    within = some if d.end is None else xp.where(is_inside, y, 0.5)
    return _of_valid(d, made, x, shapes, scale), within, scale


def _within(low: Any, high: Any) -> Any:
    """A value that has a density: the middle, or near an end."""
    return xp.where(xp.isinf(low), 0.0, xp.where(xp.isinf(high), xp.where(xp.isinf(low), 0.0, low) + 1.0, low))


def _of_valid(d: Distribution, made: Any, x: Any, shapes: list[Any], scale: Any) -> Any:
    is_valid = all_of(d.is_valid(*shapes), scale > 0, ~xp.isnan(x))
    return xp.where(is_valid, made, np.nan)[()]


def _part(
    which: str, ends: tuple[float, float], d: Distribution, x: Any, shapes: list[Any], loc: Any, scale: Any
) -> Any:
    """A distribution function, its rest, or the logarithm of one of them."""
    x, loc, scale = doubles(x), doubles(loc), doubles(scale)
    y = (x - loc) / scale
    y = xp.floor(y) if d.is_discrete else y
    low, high = d.support(*shapes)
    is_inside = (y >= low) & (y < high) & ~xp.isinf(y)
    inside = _applied(d, which, (xp.where(is_inside, y, _within(low, high)), *shapes))
    made = xp.where(is_inside, inside, xp.where(y < (low if d.is_discrete else high), *ends))
    return _of_valid(d, made, x, shapes, scale)


def _applied(d: Distribution, which: str, given: Sequence[Any]) -> Any:
    """What a formula makes; of a distribution without it, by its others."""
    own = getattr(d, which)
    if own is not None:
        return own(*given)
    if which.startswith("log"):
        rest = _applied(d, "sf" if which == "logcdf" else "cdf", given)
        return _log_of(_applied(d, which.removeprefix("log"), given), rest)
    if which == "isf":
        return _applied(d, "ppf", (1 - given[0], *given[1:]))
    return 1 - _applied(d, "sf" if which == "cdf" else "cdf", given)


def _log_of(x: Any, rest: Any) -> Any:
    """log x, where 1 − x is known as well."""
    is_small = x < 0.5
    return xp.where(is_small, xp.log(xp.where(is_small, x, 0.5)), xp.log1p(-xp.where(is_small, 0.5, rest)))


def _quantile(which: str, d: Distribution, q: Any, shapes: list[Any], loc: Any, scale: Any) -> Any:
    """The value of a probability, or of the rest."""
    q, loc, scale = doubles(q), doubles(loc), doubles(scale)
    low, high = d.support(*shapes)
    first, last = (low, high) if which == "ppf" else (high, low)
    is_inside = (q > 0) & (q < 1)
    inside = _applied(d, which, (xp.where(is_inside, q, 0.5), *shapes))
    made = xp.where(is_inside, inside, xp.where(q == 0, first, xp.where(q == 1, last, np.nan))) * scale + loc
    return _of_valid(d, made, q, shapes, scale)


METHODS: Final[dict[str, Callable[..., Any]]] = {
    "logpdf": logpdf,
    "pdf": pdf,
    "cdf": partial(_part, "cdf", (0.0, 1.0)),
    "sf": partial(_part, "sf", (1.0, 0.0)),
    "logcdf": partial(_part, "logcdf", (-np.inf, 0.0)),
    "logsf": partial(_part, "logsf", (0.0, -np.inf)),
    "ppf": partial(_quantile, "ppf"),
    "isf": partial(_quantile, "isf"),
}
_OF_WHOLE: Final = {"logpmf": "logpdf", "pmf": "pdf"}


def has(name: str) -> tuple[str, ...]:
    """The methods of a distribution for which there is a formula."""
    if name in MULTIVARIATE:
        return tuple(MULTIVARIATE[name])
    d = ALL[name]
    parts = ("cdf", "sf", "logcdf", "logsf") if d.cdf is not None else ()
    return (
        *(_OF_WHOLE if d.is_discrete else ("logpdf", "pdf")),
        *parts,
        *(("ppf", "isf") if d.ppf is not None else ()),
    )


def _title(name: str, which: str) -> str:
    """A method of a distribution in words, or UnsupportedError if there is no formula for it."""
    title = f"scipy.stats.{name}.{which}"
    if which not in has(name):
        raise unsupported(
            f"{title} is not supported in a traced function", f"of {name} there are {', '.join(has(name))}"
        )
    return title


_FIRST: Final = ("x", "k", "q")


def method(name: str, which: str, /, *args: Any, **options: Any) -> Any:
    """A method of a distribution, called as SciPy's is: with its shape parameters, `loc` and `scale` after the first
    argument."""
    title = _title(name, which)
    if name in MULTIVARIATE:
        return MULTIVARIATE[name][which](*args, **options)
    d = ALL[name]
    names = ("x", *d.shapes, "loc", *(() if d.is_discrete else ("scale",)))
    first = next((k for k in _FIRST if k in options), None) if not args else None
    given = dict(zip(names, args if first is None else (options.pop(first),), strict=False))
    wrong = [k for k in options if k not in names or k in given]
    given |= options
    missing = [k for k in ("x", *d.shapes) if k not in given]
    if len(args) > len(names) or wrong or missing:
        raise ArgumentError(f"{title} takes {', '.join(names)}, each once").at(("here", here()))
    shapes = [doubles(given[k]) for k in d.shapes]
    run = METHODS[_OF_WHOLE.get(which, which)]
    return run(d, given["x"], shapes, given.get("loc", 0.0), given.get("scale", 1.0))


@final
class Frozen:
    """A distribution whose parameters are given; its methods take what is left."""

    def __init__(self, name: str, args: tuple[Any, ...], options: dict[str, Any]) -> None:
        self._name, self._args, self._options = name, args, options

    def __getattr__(self, which: str) -> Callable[..., Any]:
        if which.startswith("_"):
            raise AttributeError(which)
        return partial(_later, self._name, which, self._args, self._options)


def _later(name: str, which: str, given: tuple[Any, ...], later: dict[str, Any], /, *args: Any, **options: Any) -> Any:
    title, left = _title(name, which), [*args, *[options[k] for k in _FIRST if k in options]]
    if len(left) != 1 or len(args) + len(options) != 1:
        raise ArgumentError(f"{title} takes one argument where the parameters are given before").at(("here", here()))
    return method(name, which, left[0], *given, **later)


def _frozen(name: str, /, *args: Any, **options: Any) -> Frozen:
    return Frozen(name, args, options)


_KEPT: Final = {"multivariate_normal": ("mean", "cov", "allow_singular"), "dirichlet": ("alpha",)}
"""What distributions of vectors whose parameters are given first keep of them."""


def of_distribution(fn: Any) -> Callable[..., Any] | None:
    """What stands for a method of one of SciPy's distributions, or for what gives one its parameters; None for anything
    else."""
    holder: Any = fn.__self__ if isinstance(fn, MethodType) else fn
    module = str(getattr(holder, "__module__", ""))
    if not module.startswith("scipy.stats"):
        return None
    generic = getattr(holder, "dist", getattr(holder, "_dist", holder))
    name = _name_of(generic)
    if name is None:
        return None
    if holder is fn:
        return partial(_frozen, name) if generic is holder else None
    if generic is holder:
        return partial(method, name, fn.__name__)
    if name in MULTIVARIATE:
        return partial(_later, name, fn.__name__, tuple([getattr(holder, k) for k in _KEPT[name]]), {})
    return partial(_later, name, fn.__name__, holder.args, holder.kwds)


def _name_of(generic: Any) -> str | None:
    """The name of one of SciPy's distributions for which there are formulas."""
    name = getattr(generic, "name", None) or type(generic).__name__.removesuffix("_gen")
    public = getattr(sys.modules.get("scipy.stats"), str(name), None)
    is_known = name in NAMES and type(public) is type(generic)
    return name if is_known else None
