"""HIPS autograd: functions written with `autograd.numpy`, or NumPy's functions that know its boxes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from pliant.diff.system import Abilities, Arrays, Flat, Form, Pushed, System, Way


@final
@dataclass(frozen=True)
class Autograd(System):
    """Forward and reverse mode of HIPS autograd. Nothing may be assigned in place."""

    abilities = Abilities(forward=True, reverse=True, cache=False)
    mode = "reverse"
    modules = ("autograd.core",)
    pip = "autograd"

    def _boxed(self, fn: Flat, kept: list[Any]) -> Callable[[Arrays], Any]:
        """fn from an autograd tuple to an autograd tuple; auxiliary results go to `kept`."""
        unboxed = self.module("autograd.tracer").getval
        make = self.module("autograd.builtins").tuple

        def boxed(xs: Any) -> Any:
            ys, aux = fn(tuple([xs[i] for i in range(len(xs))]))
            kept[:] = [_plain(unboxed, a) for a in aux]
            return make((*ys, xs[0]))  # some result depends on x: autograd warns otherwise

        return boxed

    def pushforward(self, fn: Flat, xs: Arrays, dxs: Arrays, is_many: bool) -> Pushed:
        """`make_jvp`; many tangents in a loop."""
        aux: list[Any] = []
        xs = tuple(map(self.guard, xs))
        push = self.module("autograd.core").make_jvp(self._boxed(fn, aux), xs)
        made = [push(_part(dxs, n, xs)) for n in range(len(dxs[0]))] if is_many else [push(dxs)]
        ys = tuple(made[0][0])[:-1]
        tangents = [_known(dys, ys) for _, dys in made]
        return ys, tuple(aux), tuple(map(np.stack, zip(*tangents, strict=True))) if is_many else tangents[0]

    def pullback(self, fn: Flat, xs: Arrays, seed: Callable[[Arrays], Arrays], is_many: bool) -> Pushed:
        """`make_vjp`; many cotangents in a loop. autograd's convention is conjugate to ours."""
        aux: list[Any] = []
        xs = tuple(map(self.guard, xs))
        pull, ys = self.module("autograd.core").make_vjp(self._boxed(fn, aux), xs)
        ys = tuple(ys)[:-1]
        cts = tuple([_conj(ct) for ct in seed(ys)])
        none = np.zeros(xs[0].shape, xs[0].dtype)[()]
        made = [pull((*_part(cts, n, ys), none)) for n in range(len(cts[0]))] if is_many else [pull((*cts, none))]
        gradients = [tuple([_conj(g) for g in _known(gs, xs)]) for gs in made]
        return ys, tuple(aux), tuple(map(np.stack, zip(*gradients, strict=True))) if is_many else gradients[0]

    def direct(self, form: Form, program: Callable[..., Any], functional: Any, way: Way) -> Way:
        """`make_vjp` of f itself, for gradients of real arrays."""
        if form.operator != "gradient":
            return way
        pullback, box = self.module("autograd.core").make_vjp, self.module("autograd.tracer").Box

        def run(x: Any, *constants: Any) -> Any:
            if x.__class__ is not np.ndarray or x.dtype.kind != "f":
                return way(x, *constants)
            fixed = tuple(map(self.guard, constants))

            def of(x: Any) -> Any:
                y = self.call(functional.f, (x, *fixed), ())
                if not isinstance(y, box) or y._trace != x._trace:
                    raise _IndependentError
                return y

            try:
                pull, y = pullback(of, x)
            except _IndependentError:
                return way(x, *constants)
            if y.__class__ is not np.float64:
                return way(x, *constants)
            return pull(_ONE) if form.is_alone else (y, pull(_ONE))

        return run


class _IndependentError(Exception):
    """f does not depend on x."""


_ONE: Final = np.float64(1)


def _conj(x: Any) -> Any:
    return np.conj(x) if np.iscomplexobj(x) else x


def _part(seeds: Arrays, n: int, like: Arrays) -> Arrays:
    """The n-th of stacked seeds: scalars where the points are."""
    return tuple([s[n] if isinstance(x, np.ndarray) else s[n][()] for s, x in zip(seeds, like, strict=True)])


def _plain(unboxed: Any, aux: Any) -> Any:
    """An auxiliary result without the boxes around it."""
    while hasattr(aux, "_value"):
        aux = unboxed(aux)
    return aux


def _known(made: Any, like: Arrays) -> Arrays:
    """Derivatives as a tuple of arrays: None, for no dependence, is zero."""
    if made is None:
        return tuple([np.zeros(x.shape, x.dtype)[()] for x in like])
    return tuple([np.zeros(x.shape, x.dtype)[()] if d is None else d for d, x in zip(made, like, strict=False)])
