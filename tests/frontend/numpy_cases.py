"""For every NumPy function that Pliant has: calls to compare, on arrays of several dtypes and shapes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

random = np.random.default_rng(7)


def filled(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """Numbers of both signs, some of them equal."""
    x = random.integers(-5, 6, shape) * 0.75
    if dtype.startswith("c"):
        x = x + 1j * random.integers(-3, 4, shape) * 0.5
    if dtype == "bool":
        return np.asarray(x > 0)
    return np.asarray(np.abs(x) if dtype.startswith("u") else x).astype(dtype)


FLOATS = ("f8", "f4", "f2")
REALS = (*FLOATS, "i8", "i4", "i1", "u1", "bool")
ALL = (*REALS, "c16", "c8")
FEW = ("f8", "f4", "i8", "c16")


def arrays(dtypes: Sequence[str], *shapes: tuple[int, ...]) -> list[tuple[Any, ...]]:
    """One argument: an array of each dtype and shape."""
    return [(filled(s, d),) for d in dtypes for s in shapes]


def pairs(dtypes: Sequence[str], first: tuple[int, ...], second: tuple[int, ...]) -> list[tuple[Any, ...]]:
    """Two arguments of each dtype."""
    return [(filled(first, d), filled(second, d)) for d in dtypes]


M = arrays(ALL, (3, 4))
R = arrays(REALS, (3, 4))
F = arrays(FLOATS, (3, 4))
X = arrays(FEW, (3, 4))
CUBES = arrays(("f8", "i4"), (2, 3, 4))
LINES = arrays(FEW, (5,))
EMPTY = [(np.zeros((0, 3)),), (np.zeros((2, 0), np.int8),), (np.zeros((0, 0)),)]
HOLES = [
    (np.array([[1.0, np.nan, 3.0], [np.nan, np.nan, np.nan], [2.0, -1.0, 0.5]], d),) for d in ("f8", "f4", "c16")
] + [(filled((3, 3), "i4"),)]
ODD = [(np.array([[1.0, np.nan, np.inf], [-np.inf, 0.0, -0.0]], d),) for d in ("f8", "f4")]

Calls = tuple[list[tuple[Any, ...]], list[Callable[..., Any]]]

REDUCE = M + CUBES + EMPTY + [(np.float64(2.5),), (np.array(3.0),)]


def reductions(f: Any, pool: list[tuple[Any, ...]] = REDUCE, has_initial: bool = True) -> Calls:
    """The forms of a reduction."""
    calls: list[Callable[..., Any]] = [
        lambda x: f(x),
        lambda x: f(x, axis=0),
        lambda x: f(x, -1, keepdims=True),
        lambda x: f(x, axis=(0, 1)),
        lambda x: f(x, axis=()),
        lambda x: f(x, keepdims=True),
        lambda x: f(x, axis=7),
    ]
    if has_initial:
        calls += [lambda x: f(x, initial=1), lambda x: f(x, axis=1, where=x != 0, initial=1)]
    return pool, calls


def ordered(x: Any) -> Any:
    """A mask that is the same for every dtype."""
    return np.asarray(x != 0)


def write(f: Callable[[Any], Any], y: Any) -> Callable[[Any], Any]:
    """Look at a view after it was written, and at its base."""

    def written(x: Any) -> Any:
        view = f(x)
        view[...] = y
        return view

    return written


def into(f: Callable[..., Any], shape: tuple[int, ...], dtype: str = "f8") -> Callable[..., Any]:
    """A call with out=."""
    return lambda x, out: f(x, out=out)


CASES: dict[Any, Calls] = {
    np.sum: reductions(np.sum),
    np.prod: reductions(np.prod),
    np.max: reductions(np.max, R + CUBES + EMPTY),
    np.min: reductions(np.min, R + CUBES + EMPTY),
    np.amax: (X[:2], [lambda x: np.amax(x, 0)]),
    np.amin: (X[:2], [lambda x: np.amin(x, 0)]),
    np.all: (
        REDUCE,
        [
            lambda x: np.all(x),
            lambda x: np.all(x, 0),
            lambda x: np.all(x, 1, keepdims=True),
            lambda x: np.all(x, where=x > 0),
        ],
    ),
    np.any: (
        REDUCE,
        [lambda x: np.any(x), lambda x: np.any(x, 0), lambda x: np.any(x, (0, 1)), lambda x: np.any(x, where=x > 0)],
    ),
    np.count_nonzero: (
        M,
        [lambda x: np.count_nonzero(x, axis=1), lambda x: np.count_nonzero(x, axis=0, keepdims=True)],
    ),
    np.ptp: (F, [lambda x: np.ptp(x), lambda x: np.ptp(x, 0), lambda x: np.ptp(x, 1, keepdims=True)]),
    np.mean: (
        REDUCE,
        [
            lambda x: np.mean(x),
            lambda x: np.mean(x, 0),
            lambda x: np.mean(x, (0, 1), keepdims=True),
            lambda x: np.mean(x, dtype=np.float32),
            lambda x: np.mean(x, 1, where=x != 0),
            lambda x: x.mean(axis=-1),
        ],
    ),
    np.average: (
        X,
        [
            lambda x: np.average(x),
            lambda x: np.average(x, 0),
            lambda x: np.average(x, 1, weights=[1, 2, 3, 4]),
            lambda x: np.average(x, 0, weights=np.abs(x) + 1.5, returned=True),
            lambda x: np.average(x, 0, keepdims=True),
        ],
    ),
    np.argmax: (
        R + CUBES + ODD + EMPTY,
        [lambda x: np.argmax(x), lambda x: np.argmax(x, 0), lambda x: np.argmax(x, 1, keepdims=True)],
    ),
    np.argmin: (
        R + CUBES + ODD + EMPTY,
        [lambda x: np.argmin(x), lambda x: np.argmin(x, 0), lambda x: np.argmin(x, 1, keepdims=True)],
    ),
    np.var: (
        M + CUBES,
        [
            lambda x: np.var(x),
            lambda x: np.var(x, 0),
            lambda x: np.var(x, 1, ddof=1, keepdims=True),
            lambda x: np.var(x, axis=(0, 1)),
            lambda x: np.var(x, correction=1),
            lambda x: np.var(x, 1, where=x != 0),
            lambda x: x.var(0, mean=np.mean(x, 0, keepdims=True)),
            lambda x: x.std(0, mean=np.mean(x)),
            lambda x: np.var(x, 0, mean=x[0] * 0.5),
        ],
    ),
    np.std: (M, [lambda x: np.std(x), lambda x: np.std(x, 0, ddof=1), lambda x: x.std(keepdims=True)]),
    np.median: (
        R + CUBES + ODD,
        [lambda x: np.median(x), lambda x: np.median(x, 0), lambda x: np.median(x, (0, 1), keepdims=True)],
    ),
    np.quantile: (
        arrays(("f8", "f4", "i8", "bool"), (3, 4), (7,)) + ODD,
        [
            lambda x: np.quantile(x, 0.3),
            lambda x: np.quantile(x, [0.1, 0.5, 1.0]),
            lambda x: np.quantile(x, 0.25, axis=0),
            lambda x: np.quantile(x, [[0.0, 0.9]], axis=-1, keepdims=True),
            lambda x: np.quantile(x, np.abs(np.tanh(x.ravel()[:2]))),
            lambda x: np.quantile(x, [0.0, 0.2, 0.5, 1.0], weights=np.isfinite(x) + 1, method="inverted_cdf"),
            lambda x: np.quantile(x, 0.6, -1, weights=np.arange(x.shape[-1]), method="inverted_cdf", keepdims=True),
            lambda x: np.quantile(x, [0.0, 0.3], 0, weights=np.ones(x.shape), method="inverted_cdf"),
            lambda x: np.quantile(x, 0.3, weights=np.ones(x.shape)),
            lambda x: np.quantile(x, 0.3, weights=[1, 2], method="inverted_cdf"),
            lambda x: np.quantile(x, 0.3, 0, weights=[1, 2], method="inverted_cdf"),
            lambda x: np.quantile(x, 0.3, 0, weights=[-1] * x.shape[0], method="inverted_cdf"),
            *[
                lambda x, m=m: np.quantile(x, [0.0, 0.31, 0.5, 0.77, 1.0], method=m)
                for m in (
                    "lower",
                    "higher",
                    "midpoint",
                    "nearest",
                    "inverted_cdf",
                    "averaged_inverted_cdf",
                    "closest_observation",
                    "interpolated_inverted_cdf",
                    "hazen",
                    "weibull",
                    "median_unbiased",
                    "normal_unbiased",
                )
            ],
        ],
    ),
    np.percentile: (
        arrays(("f8", "f4", "i8"), (3, 4)),
        [lambda x: np.percentile(x, 30), lambda x: np.percentile(x, [25, 75], 0)],
    ),
    np.nanquantile: (
        HOLES[:2] + HOLES[3:],
        [
            lambda x: np.nanquantile(x, 0.3),
            lambda x: np.nanquantile(x[:0], [0.2, 0.7], axis=0),
            lambda x: np.nanquantile(x, [0.1, 0.5, 1.0], axis=0),
            lambda x: np.nanquantile(x, 0.25, axis=1, keepdims=True),
            lambda x: np.nanquantile(x, [0.0, 0.3, 0.6], 1, method="weibull"),
            lambda x: np.nanquantile(x, [0.0, 0.3, 1.0], weights=np.ones(x.shape), method="inverted_cdf"),
            lambda x: np.nanquantile(x, [0.0, 0.6], 0, weights=np.ones(x.shape) * 2, method="inverted_cdf"),
            lambda x: np.nanquantile(x, np.abs(np.tanh(x.ravel()[:1])), 0),
        ],
    ),
    np.nanpercentile: (
        HOLES[:2] + HOLES[3:],
        [lambda x: np.nanpercentile(x, 30), lambda x: np.nanpercentile(x, [25, 75], 0)],
    ),
    np.nanmedian: (
        HOLES + M[-2:] + EMPTY,
        [lambda x: np.nanmedian(x), lambda x: np.nanmedian(x, 0), lambda x: np.nanmedian(x, 1, keepdims=True)],
    ),
    np.histogram: (
        R[:1] + R[3:7],
        [
            lambda x: np.histogram(x),
            lambda x: np.histogram(x, 3, (-1.0, 2.0)),
            lambda x: np.histogram(x, [-2, 0, 1.5, 3]),
            lambda x: np.histogram(x, 4, density=True),
            lambda x: np.histogram(x, 3, weights=x),
            lambda x: np.histogram(x * 0),
            lambda x: np.histogram(x, 0),
        ],
    ),
    np.histogram2d: (  # no number is at an edge, where counts have no derivative
        [(np.array([0.5, -1.25, 2.0, 0.5, np.nan]),), (np.arange(5),), (filled((5,), "f4"),)],
        [
            lambda x: np.histogram2d(np.nan_to_num(x), x[::-1], 3, [(-1.1, 2.2), (0.1, 3.3)]),
            lambda x: np.histogram2d(x, x * x, [[-2.1, 0.1, 1.3, 3.1], [0.1, 0.3, 4.1]]),
            lambda x: np.histogram2d(x, x, [-0.1, 0.3, 0.6, 2.2], density=True),
            lambda x: np.histogram2d(np.nan_to_num(x), np.arange(5) % 2, (2, 4), [(-1.3, 2.4), (0, 1)], weights=x),
        ],
    ),
    np.histogramdd: (
        [(filled((4, 3), "f8"),), (filled((4, 3), "f4"),), (filled((2, 3), "i8"),)],
        [
            lambda x: np.histogramdd(x, 2, [(-3.1, 4.2), (-1.9, 2.2), (-1.1, 3.3)]),
            lambda x: np.histogramdd(x, (1, 1, 1), density=True),
            lambda x: np.histogramdd([x[:, 0], x[:, 2]], [[-0.1, 1.1, 4.2], 1]),
            lambda x: np.histogramdd(x[:, 1], [4], [(-1.7, 2.9)], weights=x[:, 0]),
        ],
    ),
    np.histogram_bin_edges: (
        R[:1] + R[3:4],
        [
            lambda x: np.histogram_bin_edges(x),
            lambda x: np.histogram_bin_edges(x, 3, (0, 1)),
            lambda x: np.histogram_bin_edges(x, [0, 1, 5]),
        ],
    ),
    np.nansum: (HOLES, [lambda x: np.nansum(x), lambda x: np.nansum(x, 0), lambda x: np.nansum(x, 1, keepdims=True)]),
    np.nanprod: (HOLES, [lambda x: np.nanprod(x), lambda x: np.nanprod(x, 0)]),
    np.nanmax: (HOLES, [lambda x: np.nanmax(x), lambda x: np.nanmax(x, 0), lambda x: np.nanmax(x, 1)]),
    np.nanmin: (
        HOLES[:2] + HOLES[3:],
        [lambda x: np.nanmin(x), lambda x: np.nanmin(x, 0), lambda x: np.nanmin(x, 1, keepdims=True)],
    ),
    np.nanargmax: (HOLES, [lambda x: np.nanargmax(x), lambda x: np.nanargmax(x, 0)]),
    np.nanargmin: (HOLES[:2], [lambda x: np.nanargmin(x), lambda x: np.nanargmin(x, 0)]),
    np.nanmean: (
        HOLES,
        [lambda x: np.nanmean(x), lambda x: np.nanmean(x, 1), lambda x: np.nanmean(x, 0, keepdims=True)],
    ),
    np.nanvar: (HOLES, [lambda x: np.nanvar(x), lambda x: np.nanvar(x, 1), lambda x: np.nanvar(x, 0, ddof=1)]),
    np.nanstd: (HOLES, [lambda x: np.nanstd(x), lambda x: np.nanstd(x, 1)]),
    np.cov: (
        X + LINES,
        [
            lambda x: np.cov(x),
            lambda x: np.cov(x, bias=True),
            lambda x: np.cov(x, rowvar=False),
            lambda x: np.cov(x, x * 2, ddof=0),
            lambda x: np.cov(x, aweights=np.arange(1, 1 + x.shape[-1])),
            lambda x: np.cov(x, fweights=np.arange(1, 1 + x.shape[-1]), bias=True),
            lambda x: np.cov(x, fweights=np.ones(x.shape[-1]), aweights=np.arange(x.shape[-1]) * 0.5, ddof=0),
            lambda x: np.cov(x, fweights=np.full(x.shape[-1], 2), aweights=np.abs(x.reshape(-1, x.shape[-1])[0]) + 1),
            lambda x: np.cov(x, fweights=[0.5] * x.shape[-1]),
            lambda x: np.cov(x, aweights=[-1] * x.shape[-1]),
        ],
    ),
    np.corrcoef: (X, [lambda x: np.corrcoef(x[:2]), lambda x: np.corrcoef(x[0], x[1])]),
    np.cumsum: (
        M + EMPTY,
        [lambda x: np.cumsum(x), lambda x: np.cumsum(x, 0), lambda x: np.cumsum(x, -1, dtype=float)],
    ),
    np.cumprod: (M, [lambda x: np.cumprod(x), lambda x: np.cumprod(x, 1)]),
    np.nancumsum: (HOLES, [lambda x: np.nancumsum(x), lambda x: np.nancumsum(x, 1)]),
    np.nancumprod: (HOLES, [lambda x: np.nancumprod(x), lambda x: np.nancumprod(x, 0)]),
    np.cumulative_sum: (
        X + LINES,
        [lambda x: np.cumulative_sum(x), lambda x: np.cumulative_sum(x, axis=-1, include_initial=True)],
    ),
    np.cumulative_prod: (
        X + LINES,
        [lambda x: np.cumulative_prod(x, axis=0), lambda x: np.cumulative_prod(x, axis=0, include_initial=True)],
    ),
    np.diff: (
        M,
        [
            lambda x: np.diff(x),
            lambda x: np.diff(x, 2),
            lambda x: np.diff(x, axis=0),
            lambda x: np.diff(x, prepend=0, append=1),
            lambda x: np.diff(x, n=0),
            lambda x: np.diff(x, 9),
        ],
    ),
    np.ediff1d: (LINES, [lambda x: np.ediff1d(x), lambda x: np.ediff1d(x, to_begin=[1, 2], to_end=7)]),
    np.trapezoid: (
        X,
        [
            lambda x: np.trapezoid(x),
            lambda x: np.trapezoid(x, dx=0.5, axis=0),
            lambda x: np.trapezoid(x, [0, 1, 3, 4.5]),
        ],
    ),
    np.gradient: (
        arrays(("f8", "f4", "i8", "c16"), (4, 5)),
        [
            lambda x: np.gradient(x),
            lambda x: np.gradient(x, 0.5, axis=0),
            lambda x: np.gradient(x, 2.0, [0.0, 1, 3, 4, 7]),
            lambda x: np.gradient(x, edge_order=2),
            lambda x: np.gradient(x, [0.0, 1, 3, 4, 7], axis=1, edge_order=2),
        ],
    ),
    np.unwrap: (
        arrays(("f8", "f4", "i8"), (3, 4)),
        [lambda x: np.unwrap(x), lambda x: np.unwrap(x, axis=0), lambda x: np.unwrap(x * 3, period=4)],
    ),
    np.sort: (
        R + ODD,
        [lambda x: np.sort(x), lambda x: np.sort(x, 0), lambda x: np.sort(x, None), lambda x: np.sort(x, stable=True)],
    ),
    np.argsort: (
        R + ODD,
        [
            lambda x: np.argsort(x, stable=True),
            lambda x: np.argsort(x, 0, kind="stable"),
            lambda x: np.argsort(x, None, "stable"),
        ],
    ),
    np.partition: (R, [lambda x: np.sort(np.partition(x, 2), -1), lambda x: np.partition(x, 9)]),
    np.argpartition: (
        R[:1],
        [lambda x: np.take_along_axis(x, np.argpartition(x, 1, 0), 0)[1], lambda x: np.argpartition(x, 9)],
    ),
    np.sort_complex: (M, [lambda x: np.sort_complex(x)]),
    np.lexsort: (arrays(("f8", "i8"), (2, 9)), [lambda x: np.lexsort((x[0], x[1])), lambda x: np.lexsort(x)]),
    np.searchsorted: (
        pairs(("f8", "i8", "f4"), (6,), (3, 2)),
        [
            lambda a, v: np.searchsorted(np.sort(a), v),
            lambda a, v: np.searchsorted(np.sort(a), v, side="right"),
            lambda a, v: np.searchsorted(a, v, sorter=np.argsort(a, stable=True)),
            lambda a, v: np.sort(a).searchsorted(0.5),
        ],
    ),
    np.digitize: (
        pairs(("f8", "i8"), (6,), (3, 2)),
        [
            lambda a, v: np.digitize(v, np.sort(a)),
            lambda a, v: np.digitize(v, np.sort(a)[::-1], right=True),
            lambda a, v: np.digitize(v, [-2.0, 0.0, 1.0]),
            lambda a, v: np.digitize(v, [3.0, 1.0, -1.0]),
        ],
    ),
    np.interp: (
        pairs(("f8", "f4", "i8"), (3, 2), (4,)),
        [
            lambda x, f: np.interp(x, [-2.0, 0.0, 0.5, 3.0], f),
            lambda x, f: np.interp(x, [-2.0, 0.0, 0.5, 3.0], f, left=-1.0, right=9),
            lambda x, f: np.interp(x[0, 0], [-2.0, 0.0, 0.5, 3.0], f),
            lambda x, f: np.interp(x, [0.5, 0.1, 2.0, 1.0], f, period=2.5),
            lambda x, f: np.interp(x, [1.0], f[:1]),
            lambda x, f: np.interp(x, [-2.0, 0.0, 0.5, 3.0], f * 1j),
        ],
    ),
    np.isin: (X, [lambda x: np.isin(x, [0, 0.75, 3]), lambda x: np.isin(x, x[0], invert=True)]),
    np.bincount: (
        [(np.array([0, 2, 2, 1]), np.array([1.5, 2.0, 0.25, 4.0]))],
        [lambda i, w: np.bincount(i, minlength=3), lambda i, w: np.bincount(i, w, minlength=3)],
    ),
}
"""NumPy function → arguments, and calls that are made with each of them."""
