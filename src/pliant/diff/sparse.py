"""Sparse Jacobians and Hessians: a pattern, a colouring, and as many derivatives as there are colours.

The pattern is that of Pliant's program of f (or given); the derivatives are any system's. Each entry
of the matrix is read directly from one of the compressed derivatives.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol, cast, final

import numpy as np

from pliant.compiled import Compiled
from pliant.diff import programs
from pliant.diff.coloring import Order, column_colors, row_colors, star_colors
from pliant.diff.functional import Functional
from pliant.diff.layout import Given
from pliant.diff.pattern import dependence, sp
from pliant.diff.system import Arrays, Flat, System, shape
from pliant.diff.systems.pliant import Pliant
from pliant.errors import DifferentiationError, ShapeError, UnsupportedError


class Detector(Protocol):
    """Finds sparsity patterns: boolean csr_arrays of raveled results by raveled x."""

    def pattern(self, functional: Functional, given: Given, order: int) -> Any:
        """Of the Jacobian (order 1) or the Hessian (order 2) of a function."""
        ...


@final
@dataclass(frozen=True)
class FromProgram:
    """The pattern of Pliant's program of f: no entry is missed, and none depends on x's values.

    f must be one that Pliant can trace, whatever system differentiates it.
    """

    def pattern(self, functional: Functional, given: Given, order: int) -> Any:
        """Of the Jacobian or the Hessian."""
        system = Pliant()
        functional = Functional(
            functional.f, functional.layout, system, functional.has_aux, functional.y, functional.caches
        )

        def traced(xs: Arrays, constants: Arrays) -> Any:
            fn: Flat = functional.bind(constants)
            return (fn(xs) if order == 1 else programs.gradient_of(system, fn)(xs))[0]

        # at ones: a program has one pattern, but indices that are constants have their values
        program = Compiled(traced).program(given.actives, given.constants)
        arrays = program.arguments([*given.actives, *given.constants])
        (pattern,) = dependence(program.fn, arrays, len(given.actives))
        return pattern


@final
@dataclass(frozen=True, eq=False)
class KnownPattern:
    """A pattern that the caller knows: anything whose non-zeros are the entries."""

    matrix: Any

    def pattern(self, functional: Functional, given: Given, order: int) -> Any:
        """The matrix."""
        return sp.csr_array(self.matrix) != 0


@final
@dataclass(frozen=True)
class Sparse:
    """`system`, with `jacobian` and `hessian` as `scipy.sparse.csr_array`s of raveled y and x.

    detector: where the pattern comes from. order: of the greedy colouring. verify: every call
    compares the matrix with one more derivative, along a random direction; this finds patterns
    that miss an entry.

    >>> import numpy as np, pliant.diff as diff
    >>> def f(x):
    ...     return x[1:] * x[:-1]
    >>> prep = diff.prepare_jacobian(f, diff.Sparse(diff.Pliant()), np.zeros(1000))
    >>> prep.sparsity.ncolors, prep.sparsity.pattern.nnz
    (2, 1998)
    >>> diff.jacobian(f, diff.Sparse(diff.Pliant()), np.array([1.0, 2.0, 3.0])).toarray()
    array([[2., 1., 0.],
           [0., 3., 2.]])
    """

    system: System
    detector: Detector = FromProgram()
    order: Order = "natural"
    verify: bool = False

    @property
    def name(self) -> str:
        """Sparse, and the system's name."""
        return f"Sparse({self.system.name})"


SPARSE_OPERATORS: Final = ("jacobian", "hessian")


@final
@dataclass(frozen=True, eq=False)
class Sparsity:
    """What a sparse preparation knows: the pattern, the colours, and where each entry is read.

    seeds: one row per colour. take: entry k of the matrix is element take[k] of the raveled
    compressed derivatives, of shape (colours, rows) or (colours, columns).
    """

    pattern: Any
    colors: Any
    is_forward: bool
    seeds: Any
    take: Any

    @property
    def ncolors(self) -> int:
        """How many derivatives one matrix takes."""
        return len(self.seeds)

    def matrix(self, compressed: Any) -> Any:
        """The matrix of the compressed derivatives."""
        data = compressed.reshape(-1)[self.take]
        return sp.csr_array((data, self.pattern.indices, self.pattern.indptr), shape=self.pattern.shape)


def jacobian_sparsity(pattern: Any, order: Order, mode: str) -> Sparsity:
    """Columns or rows together, whichever takes fewer colours in the modes there are."""
    pattern = _canonical(pattern)
    choices: list[tuple[Any, bool]] = []
    if mode != "reverse":
        choices.append((column_colors(pattern, order), True))
    if mode != "forward":
        choices.append((row_colors(pattern, order), False))
    colors, is_forward = min(choices, key=lambda choice: _count(choice[0]))
    rows, columns = _row_numbers(pattern), pattern.indices
    take = colors[columns] * pattern.shape[0] + rows if is_forward else colors[rows] * pattern.shape[1] + columns
    return Sparsity(pattern, colors, is_forward, _seeds(colors), take)


def hessian_sparsity(pattern: Any, order: Order) -> Sparsity:
    """Star colouring: entry (i, j) is read from j's colour in row i, or from i's in row j."""
    pattern = _canonical(pattern + pattern.T)
    colors = star_colors(pattern, order)
    rows, columns, n = _row_numbers(pattern), pattern.indices, pattern.shape[0]
    place = rows * max(_count(colors), 1) + colors[columns]
    _, inverse, counts = np.unique(place, return_inverse=True, return_counts=True)
    alone = counts[inverse] == 1  # no other column of that colour meets this row
    take = cast("Any", np.where(alone, colors[columns] * n + rows, colors[rows] * n + columns))
    return Sparsity(pattern, colors, True, _seeds(colors), take)


def _canonical(pattern: Any) -> Any:
    made = sp.csr_array(pattern, dtype=bool)
    made.sum_duplicates()
    made.eliminate_zeros()
    made.sort_indices()
    return made


def _count(colors: Any) -> int:
    return int(colors.max(initial=-1)) + 1


def _row_numbers(pattern: Any) -> Any:
    counts = pattern.indptr[1:] - pattern.indptr[:-1]
    return cast("Any", np.arange(pattern.shape[0])).repeat(counts)


def _seeds(colors: Any) -> Any:
    """One 0/1 row per colour."""
    return (colors[None, :] == np.arange(_count(colors))[:, None]).astype(np.float64)


Run = Callable[[Arrays, Any, Arrays, Any], Any]


def sparse_program(
    of: Sparse, operator: str, parts: tuple[System, System], functional: Functional, given: Given
) -> tuple[Run, Sparsity]:
    """The program with the matrix as its last part, and what it knows."""
    if operator not in SPARSE_OPERATORS:
        raise UnsupportedError(f"{of.name}: {operator} has no sparse form", hint="use the system itself")
    if len(given.actives) != 1 or str(given.actives[0].dtype).startswith("complex"):
        raise UnsupportedError(f"{of.name}: expected one real array x, and no Active", hint="use the system itself")
    outer, inner = parts
    pattern = of.detector.pattern(functional, given, 1 if operator == "jacobian" else 2)
    if pattern.shape[1] != np.size(given.actives[0]):
        raise ShapeError(
            f"{of.name}: the pattern has {pattern.shape[1]} columns, x has {np.size(given.actives[0])} elements"
        )
    if operator == "jacobian":
        able = outer.abilities
        mode = outer.mode if able.forward and able.reverse else "forward" if able.forward else "reverse"
        sparsity = jacobian_sparsity(pattern, of.order, mode)
        program = _compressed_jacobian(outer, functional, sparsity.is_forward)
    else:
        sparsity = hessian_sparsity(pattern, of.order)
        program = _compressed_hessian(outer, inner, functional)
    return _run(of, outer, outer.compile(program), sparsity), sparsity


def _run(of: Sparse, outer: System, compiled: Run, sparsity: Sparsity) -> Run:
    """Compress, differentiate, decompress, and with verify= compare along one more direction."""
    seeds = sparsity.seeds
    if of.verify:
        seeds = np.concatenate([seeds, np.random.default_rng(0).normal(size=(1, seeds.shape[1]))])

    def run(xs: Arrays, _: Any, constants: Arrays, key: Any) -> Any:
        dtype = str(xs[0].dtype).rpartition(".")[2]
        ys, aux, parts = compiled(xs, ((seeds.astype(dtype),),), constants, key)
        compressed = np.asarray(outer.numpy(parts[-1][0]))
        compressed = compressed.reshape(len(seeds), -1)
        matrix = sparsity.matrix(compressed[: sparsity.ncolors])
        if of.verify:
            along = matrix @ seeds[-1] if sparsity.is_forward else matrix.T @ seeds[-1]
            _compare(along, compressed[-1], outer.abilities.tolerance[1])
        return ys, aux, (*parts[:-1], (matrix,))

    return run


def _compare(along: Any, expected: Any, tolerance: float) -> None:
    scale = max(1.0, float(np.max(np.abs(expected), initial=0.0)))
    wrong = np.flatnonzero(np.abs(along - expected) > max(tolerance, 1e-8) * scale)
    if wrong.size:
        raise DifferentiationError(
            f"the sparsity pattern misses entries: line {wrong[0]} of the matrix times a vector differs from the "
            f"derivative along it ({along[wrong[0]]:.6g} against {expected[wrong[0]]:.6g})",
            hint="give a pattern with all entries that can be non-zero",
        )


def _compressed_jacobian(system: System, functional: Functional, is_forward: bool) -> programs.Program:
    def program(xs: Arrays, seeds: Any, constants: Arrays) -> Any:
        fn = functional.bind(constants)
        (stack,) = seeds[0]
        if is_forward:
            ys, aux, made = system.pushforward(fn, xs, (_unraveled(system, stack, xs[0]),), True)
        else:
            ys, aux, made = system.pullback(fn, xs, lambda ys: (_unraveled(system, stack, ys[0]),), True)
        if len(ys) != 1:
            raise UnsupportedError(f"{system.name}: a sparse Jacobian needs one array y, got {len(ys)}")
        return ys, aux, (made,)

    return program


def _unraveled(system: System, stack: Any, like: Any) -> Any:
    """Rows of seeds, each in the shape of an array."""
    return system.namespace.reshape(stack, (shape(stack)[0], *shape(like)))


def _compressed_hessian(outer: System, inner: System, functional: Functional) -> programs.Program:
    bind = programs.over(outer, inner, functional, programs.gradient_of, programs.gradient)

    def program(xs: Arrays, seeds: Any, constants: Arrays) -> Any:
        fn = bind(constants)
        (stack,) = seeds[0]
        gs, rest, made = outer.pushforward(fn, xs, (_unraveled(outer, stack, xs[0]),), True)
        return rest[:1], rest[1:], (gs, made)

    return program
