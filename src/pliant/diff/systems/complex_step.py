"""The complex step: the imaginary part of f(x + i·h·dx) / h, exact to rounding for analytic f."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from pliant.diff.system import Abilities, Arrays, Flat, Pushed, System, mutation_error
from pliant.diff.systems.finite_differences import FiniteDifferences
from pliant.diff.systems.steps import cast, moved, tables
from pliant.errors import DifferentiationError, MutationError

STEP: Final = {"float64": 1e-100, "float32": 1e-18, "float16": 1e-3}
_COMPLEX: Final = {"float64": np.complex128, "float32": np.complex64}


@final
@dataclass(frozen=True)
class ComplexStep(System):
    """Derivatives by one evaluation at a complex point.

    f must be analytic and keep complex numbers: abs, max and comparisons drop the derivative, and
    no error can tell. DifferentiationError where NumPy tells, as of complex numbers in a real array; and for
    results that are complex for real x, which a call of f at x itself tells, before the first derivative.

    >>> import numpy as np, pliant.diff as diff
    >>> diff.derivative(np.exp, diff.ComplexStep(), 0.0)
    np.float64(1.0)
    """

    abilities = Abilities(forward=True, reverse=False, complex=False, second_order=False, tolerance=(1e-12, 1e-5))

    def pushforward(self, fn: Flat, xs: Arrays, dxs: Arrays, is_many: bool) -> Pushed:
        """One evaluation per tangent; y itself comes with a zero tangent."""
        self._check(xs)
        if is_many:
            zeros = tuple([np.zeros(x.shape, x.dtype) for x in xs])
            ys, aux, _ = self._step(fn, xs, zeros)
            made = [self._step(fn, xs, tuple([dx[n] for dx in dxs]))[2] for n in range(len(dxs[0]))]
            return ys, aux, tuple([np.stack(parts) for parts in zip(*made, strict=True)])
        return self._step(fn, xs, dxs)

    def columns(self, fn: Flat, xs: Arrays, i: int, scale: complex = 1) -> Pushed:
        """One evaluation per element of x, at points where only that has moved."""
        self._check(xs)
        h = _step_of(xs)
        points = tuple([x.astype(_COMPLEX[x.dtype.name]) for x in xs])
        values, aux = _kept(fn, points)
        ys = tuple([np.array(np.real(y).astype(_real(y)))[()] for y in values])
        made = tables(xs[i].size, ys)
        for n, point in enumerate(moved(points, i, [1j * h] * xs[i].size)):
            for table, y in zip(made, _kept(fn, point)[0], strict=True):
                table[n] = y.imag
        return ys, tuple(map(_without_step, aux)), tuple([cast(t / h, y) for t, y in zip(made, ys, strict=True)])

    def compile_of(self, functional: Any, program: Callable[..., Any]) -> Callable[..., Any]:
        """The program; before its first run f is called at x itself, which tells whether its results are real."""
        run = self.compile(program)
        is_checked = False

        def checked(xs: Arrays, seeds: Any, constants: Arrays, key: Any) -> Any:
            nonlocal is_checked
            if not is_checked:
                self._check(xs)
                _check_memory(functional, xs)
                _check_results(functional, xs, constants)
                is_checked = True
            return run(xs, seeds, constants, key)

        return checked

    def _check(self, xs: Arrays) -> None:
        for x in xs:
            if x.dtype.name not in _COMPLEX:
                expected = "real x" if x.dtype.kind == "c" else "float32 or float64"
                raise DifferentiationError(
                    f"ComplexStep: expected {expected}, got {x.dtype}", hint="use Pliant() or another system"
                )

    def _step(self, fn: Flat, xs: Arrays, dxs: Arrays) -> Pushed:
        h = _step_of(xs)
        ys, aux = _kept(
            fn,
            tuple(
                [x + (1j * h * np.asarray(dx)).astype(_COMPLEX[x.dtype.name]) for x, dx in zip(xs, dxs, strict=True)]
            ),
        )
        made = [(np.real(y).astype(t), (np.imag(y) / h).astype(t)) for y, t in ((y, _real(y)) for y in ys)]
        return tuple([y[()] for y, _ in made]), tuple(map(_without_step, aux)), tuple([dy[()] for _, dy in made])

    def buffer(self, template: Any) -> Any:
        """Complex memory: the step must not be dropped."""
        return np.empty(template.shape, _COMPLEX.get(template.dtype.name, template.dtype))


def _step_of(xs: Arrays) -> float:
    """A step that the least accurate of x can take."""
    return max([STEP[x.dtype.name] for x in xs], default=STEP["float64"])


def _check_memory(functional: Any, xs: Arrays) -> None:
    """DifferentiationError where f is to write into an array in which the step would be 0."""
    h = _step_of(xs)
    for template in (*functional.caches, *(functional.y or ((), None))[0]):
        name = np.dtype(template.dtype).name
        if STEP.get(name, h) > h:
            raise DifferentiationError(
                f"ComplexStep: a Cache, or y=, of {name} is too short for the steps of x, of {xs[0].dtype}",
                hint=f"give one of {xs[0].dtype}, or use Pliant() or another system",
            )


def _check_results(functional: Any, xs: Arrays, constants: Arrays) -> None:
    """DifferentiationError if f returns complex numbers: their imaginary parts would be taken for derivatives."""
    try:
        with np.errstate(all="ignore"):
            ys, _ = functional.on(FiniteDifferences()).bind(constants)(xs)
    except MutationError as error:
        cause = error.__cause__
        raise mutation_error("ComplexStep", cause or "") from cause
    for y in ys:
        if y.dtype.kind == "c":
            raise DifferentiationError(
                f"ComplexStep: expected a function that returns real numbers, this one returns {y.dtype}"
                f"{list(y.shape)}",
                hint="take real and imaginary parts apart, or use Pliant() or another system",
            )


def _kept(fn: Flat, point: Arrays) -> Any:
    """f at a complex point; an error if NumPy tells of an imaginary part that is dropped."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", np.exceptions.ComplexWarning)
        try:
            return fn(point)
        except np.exceptions.ComplexWarning as warning:
            raise DifferentiationError(
                "ComplexStep: f drops the imaginary part of complex numbers, and so the derivative",
                hint="arrays of its own like x, as in np.empty_like(x), or another system",
            ) from warning


def _real(y: Any) -> Any:
    return np.zeros((), y.dtype).real.dtype


def _without_step(aux: Any) -> Any:
    return aux.real if getattr(getattr(aux, "dtype", None), "kind", "") == "c" else aux
