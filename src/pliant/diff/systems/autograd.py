"""HIPS autograd: functions written with `autograd.numpy`, or NumPy's functions that know its boxes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from pliant.diff.system import Abilities, Arrays, Flat, Pushed
from pliant.diff.systems.base import OnNumPy, mutation_error, package
from pliant.errors import UnsupportedError

_ABILITIES: Final = Abilities(forward=True, reverse=True, cache=False)


@final
@dataclass(frozen=True)
class Autograd(OnNumPy):
    """Forward and reverse mode of HIPS autograd. Nothing may be assigned in place."""

    @property
    def name(self) -> str:
        """Autograd."""
        return "Autograd"

    @property
    def abilities(self) -> Abilities:
        """Both modes, no writes to memory."""
        return _ABILITIES

    def require(self) -> None:
        """The package autograd."""
        self._core()

    def _core(self) -> Any:
        return package("autograd.core", self.name, "autograd")

    def call(self, f: Callable[..., Any], args: Arrays, guarded: Arrays) -> Any:
        """`f(*args)`; a box has no assignment."""
        try:
            return f(*args)
        except TypeError as error:
            if "item assignment" not in str(error):
                raise
            raise mutation_error(self.name, error) from error
        except ValueError as error:
            if "read-only" not in str(error):
                raise
            raise mutation_error(self.name, error) from error

    def _boxed(self, fn: Flat, kept: list[Any]) -> Callable[[Arrays], Any]:
        """fn from an autograd tuple to an autograd tuple; auxiliary results go to `kept`."""
        unboxed = package("autograd.tracer", self.name, "autograd").getval
        make = package("autograd.builtins", self.name, "autograd").tuple

        def boxed(xs: Any) -> Any:
            ys, aux = fn(tuple([xs[i] for i in range(len(xs))]))
            kept[:] = [_plain(unboxed, a) for a in aux]
            return make((*ys, xs[0]))  # some result depends on x: autograd warns otherwise

        return boxed

    def pushforward(self, fn: Flat, xs: Arrays, dxs: Arrays, is_many: bool) -> Pushed:
        """`make_jvp`; many tangents in a loop."""
        aux: list[Any] = []
        push = self._core().make_jvp(self._boxed(fn, aux), xs)
        made = [push(_part(dxs, n, xs)) for n in range(len(dxs[0]))] if is_many else [push(dxs)]
        ys = tuple(made[0][0])[:-1]
        tangents = [_known(dys, ys) for _, dys in made]
        return ys, tuple(aux), tuple(map(np.stack, zip(*tangents, strict=True))) if is_many else tangents[0]

    def pullback(self, fn: Flat, xs: Arrays, seed: Callable[[Arrays], Arrays], is_many: bool) -> Pushed:
        """`make_vjp`; many cotangents in a loop. autograd's convention is conjugate to ours."""
        aux: list[Any] = []
        pull, ys = self._core().make_vjp(self._boxed(fn, aux), xs)
        ys = tuple(ys)[:-1]
        cts = tuple([_conj(ct) for ct in seed(ys)])
        none = np.zeros(xs[0].shape, xs[0].dtype)[()]
        made = [pull((*_part(cts, n, ys), none)) for n in range(len(cts[0]))] if is_many else [pull((*cts, none))]
        gradients = [tuple([_conj(g) for g in _known(gs, xs)]) for gs in made]
        return ys, tuple(aux), tuple(map(np.stack, zip(*gradients, strict=True))) if is_many else gradients[0]

    def buffer(self, template: Any) -> Any:
        """Refused: what is assigned to NumPy's memory has no derivative."""
        raise UnsupportedError(
            f"{self.name} differentiates no writes: no Cache, no in-place functions",
            hint="use Pliant(), or return new arrays",
        )


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
