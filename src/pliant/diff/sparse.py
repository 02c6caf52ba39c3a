"""Sparse Jacobians and Hessians: a pattern, a colouring, and as many derivatives as there are colours.

The pattern is that of Pliant's program of f (or given); the derivatives are any system's. Each entry
of the matrix is read directly from one of the compressed derivatives.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol, final

import numpy as np

from pliant.compiled import Compiled
from pliant.diff import programs
from pliant.diff.coloring import Order
from pliant.diff.functional import Functional
from pliant.diff.layout import Given
from pliant.diff.pattern import dependence
from pliant.diff.pattern_graph import sp
from pliant.diff.second_order import Mixed, SecondOrder, parts_of, refuse_others
from pliant.diff.sparsity import Direction, Sparsity, hessian_sparsity, jacobian_sparsity
from pliant.diff.system import Arrays, Flat, System, dtype_name, shape, size
from pliant.diff.systems.pliant import Pliant
from pliant.errors import DifferentiationError, ShapeError, UnsupportedError


@final
@dataclass(frozen=True, eq=False)
class Pattern:
    """A boolean csr_array of raveled results by raveled x, and whether it still holds for the
    constants of a call: index arrays among them decide it."""

    matrix: Any
    holds: Callable[[Arrays], bool] = lambda constants: True


class Detector(Protocol):
    """Finds sparsity patterns."""

    def pattern(self, functional: Functional, given: Given, order: int) -> Pattern:
        """Of the Jacobian (order 1) or the Hessian (order 2) of a function, given for Pliant."""
        ...


@final
@dataclass(frozen=True)
class FromProgram:
    """The pattern of Pliant's program of f: no entry is missed, and none depends on x's values.

    f must be one that Pliant can trace, whatever system differentiates it.
    """

    def pattern(self, functional: Functional, given: Given, order: int) -> Pattern:
        """Of the Jacobian or the Hessian."""
        system = functional.system

        def traced(xs: Arrays, constants: Arrays) -> Any:
            fn: Flat = functional.bind(constants)
            return (fn(xs) if order == 1 else programs.gradient_of(system, fn)(xs))[0]

        program = Compiled(traced).program(given.actives, given.constants)

        def arguments(constants: Arrays) -> list[Any]:
            return program.arguments([*given.actives, *constants])

        made = dependence(program.fn, arguments(given.constants), len(given.actives))
        found = arguments(given.constants)
        assumed = {n: np.array(found[n]) for n in made.assumed}

        def holds(constants: Arrays) -> bool:
            if not program.guards.hold() or not program.is_for([*given.actives, *constants]):
                return False
            now = arguments(constants) if assumed else ()
            return all([np.array_equal(now[n], value) for n, value in assumed.items()])

        return Pattern(made.sets[0], holds)


@final
@dataclass(frozen=True, eq=False)
class KnownPattern:
    """A pattern that the caller knows: anything whose non-zeros are the entries."""

    matrix: Any

    def pattern(self, functional: Functional, given: Given, order: int) -> Pattern:
        """The matrix."""
        return Pattern(sp.csr_array(self.matrix) != 0)


@final
@dataclass(frozen=True)
class Sparse:
    """`system`, with `jacobian` and `hessian` as `scipy.sparse.csr_array`s of raveled y and x.

    Columns, rows, or some rows and then columns are differentiated together, whichever takes fewer
    colours in the modes that the system has; `Mixed` brings a mode from each of two.

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

    system: Any
    detector: Detector = FromProgram()
    order: Order = "natural"
    verify: bool = False

    def __post_init__(self) -> None:
        refuse_others("Sparse", self.system, System | SecondOrder | Mixed)

    @property
    def name(self) -> str:
        """Sparse, and the system's name."""
        return f"Sparse({self.system.name})"


SPARSE_OPERATORS: Final = ("jacobian", "hessian")

Run = Callable[[Arrays, Any, Arrays, Any], Any]


@final
@dataclass(frozen=True, eq=False)
class SparseProgram:
    """A sparse operator, ready to run: what a preparation is made of."""

    functional: Functional
    outer: System
    run: Run
    sparsity: Sparsity


def sparse_program(
    of: Sparse, operator: str, functional_of: Callable[[System], Functional], given: Given
) -> SparseProgram:
    """A sparse operator, made anew where a pattern does not hold for the constants of a call."""
    count = len(given.constants)
    pattern, made = _found(of, operator, functional_of, given)
    latest = [(pattern, made.run)]

    def run(xs: Arrays, seeds: Any, constants: Arrays, key: Any) -> Any:
        pattern, current = latest[0]
        if not pattern.holds(constants[:count]):
            renewed = replace(given, constants=constants[:count])
            pattern, other = _found(of, operator, functional_of, renewed)
            current = other.run
            latest[0] = pattern, current
        return current(xs, seeds, constants, key)

    return replace(made, run=run)


def _found(
    of: Sparse, operator: str, functional_of: Callable[[System], Functional], given: Given
) -> tuple[Pattern, SparseProgram]:
    """The pattern, and the program with the matrix as its last part."""
    if operator not in SPARSE_OPERATORS:
        raise UnsupportedError(f"{of.name}: {operator} has no sparse form", hint="use the system itself")
    if len(given.actives) != 1 or str(given.actives[0].dtype).startswith("complex"):
        raise UnsupportedError(f"{of.name}: expected one real array x, and no Active", hint="use the system itself")
    pattern = of.detector.pattern(functional_of(Pliant()), given, 1 if operator == "jacobian" else 2)
    width, count = pattern.matrix.shape[1], size(given.actives[0])
    if width != count:
        raise ShapeError(f"{of.name}: the pattern has {width} columns, x has {count} elements")
    return pattern, (_jacobian if operator == "jacobian" else _hessian)(of, functional_of, pattern.matrix)


def _jacobian(of: Sparse, functional_of: Callable[[System], Functional], pattern: Any) -> SparseProgram:
    """One pass over f for the column colours, and one for the row colours, as far as there are any."""
    forward, _ = parts_of(of.system, order=1, is_forward=True)
    reverse, _ = parts_of(of.system, order=1, is_forward=False)
    sparsity = jacobian_sparsity(pattern, of.order, _direction(forward, reverse))
    passes: list[_Pass] = []
    for system, seeds, is_forward in zip((forward, reverse), sparsity.seeds, (True, False), strict=True):
        if len(seeds) or (is_forward and not sparsity.ncolors):  # an empty matrix too has a value to come with
            functional = functional_of(system)
            program = _compressed_jacobian(system, functional, is_forward)
            run = system.compile_of(functional, program)
            passes.append(_Pass(system, functional, run, _checked(seeds, of.verify), is_forward))
    first = passes[0]
    return SparseProgram(first.functional, first.system, _run(of, passes, sparsity), sparsity)


def _direction(forward: System, reverse: System) -> Direction:
    if not forward.abilities.forward or (forward is reverse and forward.mode == "reverse"):
        return "rows"
    if not reverse.abilities.reverse or (forward is reverse and forward.mode == "forward"):
        return "columns"
    return "both"


def _hessian(of: Sparse, functional_of: Callable[[System], Functional], pattern: Any) -> SparseProgram:
    """One product per colour."""
    outer, inner = parts_of(of.system, order=2, is_forward=True)
    sparsity, functional = hessian_sparsity(pattern, of.order), functional_of(inner)
    program = _compressed_hessian(outer, inner, functional)
    one = _Pass(outer, functional, outer.compile_of(functional, program), _checked(sparsity.seeds[0], of.verify), True)
    return SparseProgram(functional, outer, _run(of, [one], sparsity), sparsity)


@final
@dataclass(frozen=True, eq=False)
class _Pass:
    """Derivatives of f along some seeds: the colours, and one more if they are verified."""

    system: System
    functional: Functional
    compiled: Run
    seeds: Any
    is_forward: bool

    def __call__(self, xs: Arrays, constants: Arrays, key: Any) -> Any:
        """(ys, aux, earlier parts, derivatives [seeds, elements])."""
        seeds = self.seeds.astype(dtype_name(xs[0]), copy=False)
        ys, aux, parts = self.compiled(xs, ((seeds,),), constants, key)
        made = np.asarray(self.system.numpy(parts[-1][0]))
        return ys, aux, parts[:-1], made.reshape(len(made), math.prod(made.shape[1:]))


def _checked(seeds: Any, verify: bool) -> Any:
    """The seeds, with a random one below them if the pattern is verified."""
    if not verify:
        return seeds
    return np.concatenate([seeds, np.random.default_rng(0).normal(size=(1, seeds.shape[1]))])


def _run(of: Sparse, passes: Sequence[_Pass], sparsity: Sparsity) -> Run:
    """Differentiate along the colours, read the entries, and with verify= compare along one more."""
    first, *others = passes
    extra = int(of.verify)

    def run(xs: Arrays, _: Any, constants: Arrays, key: Any) -> Any:
        ys, aux, parts, made = first(xs, constants, key)
        blocks = [made]
        for other in others:
            count = first.functional.layout.roles.count("constant")
            blocks.append(other(xs, *other.functional.inputs(xs, constants[:count]))[-1])
        flat = [block[: len(block) - extra].reshape(-1) for block in blocks]
        matrix = sparsity.matrix(np.concatenate(flat) if others else flat[0])
        for one, block in zip(passes, blocks if of.verify else (), strict=of.verify):
            along = matrix @ one.seeds[-1] if one.is_forward else matrix.T @ one.seeds[-1]
            _compare(along, block[-1], one.system.abilities.tolerance[1])
        return ys, aux, (*parts, (matrix,))

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
        fn = system.once(functional.bind(constants), xs)
        (stack,) = seeds[0]
        if is_forward:
            ys, aux, made = system.pushforward(fn, xs, (_unraveled(system, stack, xs[0]),), True)
        else:
            ys, aux, parts = programs.pulled(system, fn, xs, lambda ys: (_unraveled(system, stack, ys[0]),), 0)
            made = (programs.joined([part[0] for part in parts]),)
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
        fn = outer.once(bind(constants), xs)
        (stack,) = seeds[0]
        gs, rest, made = outer.pushforward(fn, xs, (_unraveled(outer, stack, xs[0]),), True)
        return rest[:1], rest[1:], (gs, made)

    return program
