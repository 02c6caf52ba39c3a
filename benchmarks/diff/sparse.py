"""Sparse Jacobians and Hessians: colours beside other colourings, time beside JAX, compressed by hand and dense."""

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
from pliant.diff.sparsity import hessian_sparsity, jacobian_sparsity

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
    """Colours, seconds to prepare and per matrix, and the largest difference from JAX's.

    scipy, networkx: colours of columns alone; of a Hessian too, whose symmetry they do not use. None where their
    steps grow as n². compressed: by JAX alone, along our colours. dense: by JAX; its size where that is too much.
    """

    problem: str
    n: int
    natural: int
    largest: int
    scipy: int | None
    networkx: int | None
    prepare: float
    sparse: float
    compressed: float
    dense: float | str
    error: float


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
    prep, pattern = made[0], made[0].sparsity.pattern
    is_jacobian = problem.operator == "jacobian"
    recolored = jacobian_sparsity(pattern, "largest", "both") if is_jacobian else hessian_sparsity(pattern, "largest")
    matrix = prep(x)
    sparse = min(repeated(lambda: prep(x), 3) for _ in range(5))
    compressed, error = by_compressed_jax(problem, x, prep.sparsity, matrix)
    size = 8.0 * matrix.shape[0] * matrix.shape[1]
    dense: float | str = f"({size / 1e9:.0f} GB)"
    if size <= MEMORY:
        dense, other = by_jax(problem, x, matrix)
        error = max(error, other)
    others = by_scipy(pattern), by_networkx(pattern)
    colors = prep.sparsity.ncolors, recolored.ncolors
    return Row(f"{problem.name} {problem.operator}", n, *colors, *others, seconds, sparse, compressed, dense, error)


def has_long_row(pattern: Any) -> bool:
    """Whether the graph of columns that meet has about n² edges, and n is large."""
    return int(np.diff(pattern.indptr).max()) > 100 and pattern.shape[1] > 10_000


def by_scipy(pattern: Any) -> int | None:
    """Groups of columns that SciPy finds."""
    if has_long_row(pattern):
        return None
    return int(group_columns(pattern.astype(np.int8).tocsc()).max()) + 1


def by_networkx(pattern: Any) -> int | None:
    """Colours that networkx finds on the graph of columns that meet."""
    if find_spec("networkx") is None or np.diff(pattern.indptr).max() > 100:
        return None
    networkx = import_module("networkx")
    graph = networkx.from_scipy_sparse_array((pattern.T.astype(int) @ pattern.astype(int)) != 0)
    graph.remove_edges_from(list(networkx.selfloop_edges(graph)))
    return max(networkx.greedy_color(graph, "largest_first").values()) + 1


def by_compressed_jax(problem: Problem, x: Any, sparsity: Any, matrix: Any) -> tuple[float, float]:
    """Seconds of a matrix that JAX makes from products with our colours' seeds, and the largest difference."""
    jax = import_module("jax")
    jax.config.update("jax_enable_x64", True)
    of = jax.grad(problem.f) if problem.operator == "hessian" else problem.f
    columns, rows = sparsity.seeds

    @jax.jit
    def entries(x: Any, columns: Any, rows: Any, take: Any) -> Any:
        parts: list[Any] = []
        if len(columns):
            parts.append(jax.vmap(jax.linearize(of, x)[1])(columns).reshape(-1))
        if len(rows):
            parts.append(jax.vmap(jax.vjp(of, x)[1])(rows)[0].reshape(-1))
        return jax.numpy.concatenate(parts)[take]

    given = [jax.numpy.asarray(a) for a in (columns, rows, sparsity.take)]

    def call() -> Any:
        return np.array(entries(x, *given))

    error = float(np.max(np.abs(call() - matrix.data)))
    return min(repeated(call, 3) for _ in range(5)), error


def by_jax(problem: Problem, x: Any, matrix: Any) -> tuple[float, float]:
    """Seconds of JAX's dense matrix, and the largest error of the sparse one."""
    jax = import_module("jax")
    make = jax.hessian if problem.operator == "hessian" else jax.jacfwd
    compiled = jax.jit(make(problem.f))
    dense = np.asarray(compiled(x))
    error = max(
        float(np.max(np.abs(matrix[n : n + 1000].toarray() - dense[n : n + 1000]))) for n in range(0, len(x), 1000)
    )
    del dense
    return min(once(lambda: jax.block_until_ready(compiled(x))) for _ in range(4)), error
