"""MLX: f runs on its arrays, in single precision."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from pliant.diff.system import (
    Abilities,
    Arrays,
    Flat,
    Form,
    Mode,
    Pushed,
    System,
    Way,
    entered,
    is_numpy,
    unboxed,
)
from pliant.frontend.kinds import is_array


@final
@dataclass(frozen=True)
class MLX(System):
    """Forward and reverse mode of MLX. Arrays of 64 bits are computed with in 32.

    mode: what Jacobians and Hessians are made with; "both" takes the cheaper by the shapes.
    """

    abilities = Abilities(forward=True, reverse=True, mutation="local", complex=False, tolerance=(1e-5, 1e-4))
    modules = ("mlx.core",)
    pip = "mlx[cpu]"
    mode: Mode = "both"

    @property
    def namespace(self) -> Any:
        """Its NumPy."""
        return self.module("mlx.core")

    def guard(self, x: Any) -> Any:
        """An array of its own: what f assigns stays there."""
        return self.namespace.array(x) if self.owns(x) else x

    def pushforward(self, fn: Flat, xs: Arrays, dxs: Arrays, is_many: bool) -> Pushed:
        """`mx.jvp`; many by vmap."""
        ys, aux = fn(xs)

        def push(*dxs: Any) -> Any:
            return self.namespace.jvp(_listed(fn), list(xs), list(dxs))[1]

        return ys, aux, tuple(self.namespace.vmap(push)(*dxs) if is_many else push(*dxs))

    def pullback(self, fn: Flat, xs: Arrays, seed: Callable[[Arrays], Arrays], is_many: bool) -> Pushed:
        """`mx.vjp`; many by vmap."""
        ys, aux = fn(xs)

        def pull(*cts: Any) -> Any:
            return self.namespace.vjp(_listed(fn), list(xs), list(cts))[1]

        cts = seed(ys)
        return ys, aux, tuple(self.namespace.vmap(pull)(*cts) if is_many else pull(*cts))

    def direct(self, form: Form, program: Callable[..., Any], functional: Any, way: Way) -> Way:
        """`mx.value_and_grad`, which runs f once."""
        if form.operator != "gradient":
            return way
        own, pull = self.namespace.array, self.namespace.value_and_grad(functional.f)

        def run(*args: Any) -> Any:
            is_own = args[0].__class__ is own
            try:
                made = pull(*args) if is_own else pull(*[self.array(a) if is_numpy(a) else a for a in args])
            except ValueError:
                return way(*args)  # which says what is wrong with y
            if made[0].__class__ is not own:
                return way(*args)
            if form.is_alone:
                return made[1] if is_own else self.numpy(made[1])
            return made if is_own else tuple(map(self.numpy, made))

        return run

    def entered(self, xs: Arrays, seeds: Any, constants: Arrays) -> tuple[Arrays, Any, Arrays]:
        """NumPy's arrays as MLX's; programs run anew at every call, on lazy arrays."""
        return entered(lambda x: self.array(x) if is_numpy(x) else x, xs, seeds, constants)

    def array(self, x: Any) -> Any:
        """An array of MLX; NumPy's memory is copied."""
        if self.owns(x):
            return x
        return self.namespace.array(x.copy() if is_array(x) and min(x.strides, default=0) < 0 else x)

    def numpy(self, x: Any) -> Any:
        """A NumPy array or scalar."""
        return unboxed(np.array(x))

    def owns(self, x: Any) -> bool:
        """Whether x is one of MLX's arrays."""
        return isinstance(x, self.namespace.array)

    def buffer(self, template: Any) -> Any:
        """Fresh zeros."""
        return self.namespace.zeros(template.shape)


def _listed(fn: Flat) -> Callable[..., list[Any]]:
    """fn as MLX takes functions."""

    def listed(*xs: Any) -> list[Any]:
        return list(fn(xs)[0])

    return listed
