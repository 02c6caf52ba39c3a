"""Sparse Jacobians and Hessians: colours beside other colourings, time beside dense JAX."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, final

import numpy as np
from scipy.optimize._numdiff import group_columns

import pliant.diff as diff
from benchmarks.measure import once, repeated

MEMORY = 4e9  # bytes of a dense matrix up to which JAX is asked for one; it works with three or four times as many


@final
@dataclass(frozen=True)
class Problem:
    """A function and the operator whose matrix is sparse; written for NumPy's and JAX's arrays."""

    name: str
    operator: str
    f: Callable[[Any], Any]


@final
@dataclass(frozen=True)
class Row:
    """Colours, seconds to prepare and per matrix, and the largest error beside the dense matrix, or its size if it
    is not made."""

    problem: str
    n: int
    colors: int
    scipy: int | None
    networkx: int | None
    prepare: float
    sparse: float
    dense: float | str
    error: float | None


def banded(x: Any) -> Any:
    """Three diagonals."""
    return x[1:-1] * (x[2:] - 2 * x[1:-1] + x[:-2])


def stencil(x: Any) -> Any:
    """Five points on a periodic square."""
    xp = diff.namespace(x)
    k = round(x.shape[0] ** 0.5)
    u = x.reshape(k, k)
    sides = xp.roll(u, 1, 0) + xp.roll(u, -1, 0) + xp.roll(u, 1, 1) + xp.roll(u, -1, 1)
    return (u * (sides - 4 * u)).reshape(-1)


def arrowhead(x: Any) -> Any:
    """A dense row, a dense column, and the diagonal."""
    xp = diff.namespace(x)
    return xp.concatenate([xp.reshape((x * x).sum(), (1,)), x[1:] ** 2 * x[0]])


def chain(x: Any) -> Any:
    """A scalar whose Hessian has three diagonals."""
    return ((x[1:] - x[:-1] ** 2) ** 2).sum()


def hub(x: Any) -> Any:
    """A scalar whose Hessian is an arrowhead."""
    return x[0] * (x**2).sum() + (x**4).sum()


PROBLEMS = (
    Problem("banded", "jacobian", banded),
    Problem("stencil", "jacobian", stencil),
    Problem("arrowhead", "jacobian", arrowhead),
    Problem("banded", "hessian", chain),
    Problem("arrowhead", "hessian", hub),
)


def row(problem: Problem, n: int) -> Row:
    """One problem of one size."""
    n = round(n**0.5) ** 2 if problem.name == "stencil" else n
    x = np.random.default_rng(0).normal(size=n) / 2
    prepare = getattr(diff, f"prepare_{problem.operator}")
    made: list[Any] = []
    seconds = once(lambda: made.append(prepare(problem.f, diff.Sparse(diff.Pliant()), x)))
    prep = made[0]
    matrix = prep(x)
    sparse = min(repeated(lambda: prep(x), 3) for _ in range(5))
    is_jacobian = problem.operator == "jacobian"
    others = (by_scipy(prep.sparsity.pattern), by_networkx(prep.sparsity.pattern)) if is_jacobian else (None, None)
    size = 8.0 * matrix.shape[0] * matrix.shape[1]
    dense, error = by_jax(problem, x, matrix) if size <= MEMORY else (f"({size / 1e9:.0f} GB)", None)
    return Row(f"{problem.name} {problem.operator}", n, prep.sparsity.ncolors, *others, seconds, sparse, dense, error)


def by_scipy(pattern: Any) -> int | None:
    """Groups of columns that SciPy finds; its greedy takes n² steps for an arrowhead."""
    if pattern.shape[1] > 10_000:
        return None
    return int(group_columns(pattern.astype(np.int8).tocsc()).max()) + 1


def by_networkx(pattern: Any) -> int | None:
    """Colours that networkx finds on the graph of columns that meet."""
    if find_spec("networkx") is None or pattern.shape[1] > 10_000 or np.diff(pattern.indptr).max() > 100:
        return None
    networkx = import_module("networkx")
    graph = networkx.from_scipy_sparse_array((pattern.T.astype(int) @ pattern.astype(int)) != 0)
    graph.remove_edges_from(networkx.selfloop_edges(graph))
    return max(networkx.greedy_color(graph, "largest_first").values()) + 1


def by_jax(problem: Problem, x: Any, matrix: Any) -> tuple[float, float]:
    """Seconds of JAX's dense matrix, and the largest error of the sparse one."""
    jax = import_module("jax")
    jax.config.update("jax_enable_x64", True)
    make = jax.hessian if problem.operator == "hessian" else jax.jacfwd
    compiled = jax.jit(make(problem.f))
    dense = np.asarray(compiled(x))
    error = max(
        float(np.max(np.abs(matrix[n : n + 1000].toarray() - dense[n : n + 1000]))) for n in range(0, len(x), 1000)
    )
    del dense
    return min(once(lambda: jax.block_until_ready(compiled(x))) for _ in range(4)), error
