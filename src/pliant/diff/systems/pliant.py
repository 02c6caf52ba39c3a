"""Pliant itself: f is traced once per signature, value and derivatives are one compiled program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from pliant import differentiate
from pliant.active import once
from pliant.api import LinearFunction, jit, vmap
from pliant.compiled import Compiled
from pliant.diff.system import Abilities, Arrays, AtPoint, Bound, Flat, Linear, Mode, Pushed, System, Way
from pliant.frontend.array import fresh, fresh_concrete
from pliant.frontend.convert import as_traced, short
from pliant.frontend.instrumented import callee, of_object
from pliant.frontend.tracing import current
from pliant.ops.compare import equal
from pliant.ops.elementwise import convert
from pliant.ops.shape import broadcast, iota


@final
@dataclass(frozen=True)
class Pliant(System):
    """Forward and reverse mode on Pliant's programs, compiled.

    mode: what Jacobians and Hessians are made with; "both" takes the cheaper by the shapes.

    >>> import numpy as np, pliant.diff as diff
    >>> diff.gradient(lambda x: np.sum(x**2), diff.Pliant(), np.array([1.0, 2.0]))
    array([2., 4.])
    """

    abilities = Abilities(forward=True, reverse=True, is_traced=True, mutation="local")
    mode: Mode = "both"

    @property
    def name(self) -> str:
        """Pliant, and its mode if there is only one."""
        return "Pliant" if self.mode == "both" else f"Pliant({self.mode})"

    def call(self, f: Callable[..., Any], args: Arrays, guarded: Arrays) -> Any:
        """f, with the arrays it captures as inputs of the program."""
        return callee(f, current())(*args)

    def guard(self, x: Any) -> Any:
        """A copy, which vanishes in the compiler: writes do not reach the caller."""
        return x.copy() if getattr(x, "shape", ()) else x

    def static(self, x: Any) -> Any:
        """As a name of f's outside: what is drawn from a generator is drawn at every call."""
        return of_object(x, current())

    def pushforward(self, fn: Flat, xs: Arrays, dxs: Arrays, is_many: bool) -> Pushed:
        """Tangents are pushed; many as a batch, beside which f's own values are computed once."""
        if is_many:
            ys, aux = fn(xs)
            return ys, aux, vmap(lambda *dxs: differentiate.jvp(_spread(fn), xs, dxs)[1][0])(*dxs)
        (ys, aux), (dys, _) = differentiate.jvp(_spread(fn), xs, dxs)
        return ys, aux, dys

    def pullback(self, fn: Flat, xs: Arrays, seed: Callable[[Arrays], Arrays], is_many: bool) -> Pushed:
        """The linearised program, transposed."""
        (ys, aux), residuals, linear = differentiate.vjp(_spread(fn), xs, True)
        cts = seed(ys)
        if not is_many:
            return ys, aux, linear(residuals, cts)
        gs = vmap(lambda *cts: linear(residuals, cts))(*cts)
        return ys, aux, gs

    def once(self, fn: Flat, xs: Arrays) -> Flat:
        """The program of fn: random numbers are drawn, and what it prints is printed, once."""
        recorded = once(_spread(fn), xs)
        return lambda xs: recorded(*xs)

    def compile_of(self, functional: Any, program: Callable[..., Any]) -> Callable[..., Any]:
        """As `pliant.jit`, which sees for itself what f captures; what f raises is what it raises in Python."""

        def plain(xs: Arrays, seeds: Any, constants: Arrays) -> None:
            functional.run_plainly(xs, constants)

        jitted = Compiled(program, original=program, plain=plain)

        def run(xs: Arrays, seeds: Any, constants: Arrays, key: Any) -> Any:
            return jitted(xs, seeds, constants)

        return run

    def at_point(self, bound: Bound, is_forward: bool) -> AtPoint:
        """The linear program, and what it needs of f's own values, computed once at each point."""

        def values(xs: Arrays, constants: Arrays) -> Any:
            return bound(constants)(xs)

        def parts(xs: Arrays, constants: Arrays) -> Any:
            f = _spread(bound(constants))
            return (differentiate.linearized if is_forward else differentiate.vjp)(f, xs, True)[1:]

        compiled = Compiled(parts, original=values, plain=values)

        def at(xs: Arrays, constants: Arrays) -> Linear:
            residuals, linear = compiled(xs, constants)
            derivative = LinearFunction.of(linear, residuals)
            return (lambda dxs: derivative(*dxs)) if is_forward else derivative

        return at

    def bind(self, way: Way) -> Way:
        """A preparation's call as one compiled function: nothing is taken apart when it runs."""

        def whole(*args: Any) -> Any:
            return way(*args)  # of a method itself, every call would look at its owner again

        return jit(whole)

    def array(self, x: Any) -> Any:
        """A traced array; a Python number, known or traced, as a float of 64 bits."""
        if not hasattr(x, "dtype"):
            return fresh_concrete(np.asarray(x)[()])
        made = as_traced(x)
        if not made.is_weak:
            return made
        return fresh(made.value if made.dtype.kind == "c" else convert(made.value, "f64"))

    def eye(self, n: int, like: Any) -> Any:
        """The unit matrix, made inside the program."""
        i = iota(n)
        same = equal(broadcast(i, (n, n), (0,)), broadcast(i, (n, n), (1,)))
        return fresh(convert(same, short(like.dtype)), is_array=True)

    def zeros(self, shape: tuple[int, ...], like: Any) -> Any:
        """Zeros with known content."""
        return fresh_concrete(np.zeros(shape, like.dtype)[()])

    def buffer(self, template: Any) -> Any:
        """Memory inside the program."""
        return fresh_concrete(np.zeros(template.shape, template.dtype))


def _spread(fn: Flat) -> Callable[..., tuple[Arrays, Arrays]]:
    """fn of separate arguments."""

    def spread(*xs: Any) -> tuple[Arrays, Arrays]:
        return fn(xs)

    return spread
