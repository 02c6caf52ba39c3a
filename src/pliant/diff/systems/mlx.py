"""MLX: f runs on its arrays, in single precision."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from pliant.diff.system import Abilities, Arrays, Flat, Mode, Pushed, is_numpy, unboxed
from pliant.diff.systems.base import package

_ABILITIES: Final = Abilities(
    forward=True, reverse=True, mutation="local", complex=False, doubles=False, tolerance=(1e-5, 1e-4)
)


@final
@dataclass(frozen=True)
class MLX:
    """Forward and reverse mode of MLX. Arrays of 64 bits are computed with in 32.

    mode: what Jacobians and Hessians are made with; "both" takes the cheaper by the shapes.
    """

    mode: Mode = "both"

    @property
    def name(self) -> str:
        """MLX."""
        return "MLX"

    @property
    def abilities(self) -> Abilities:
        """Everything, for real x, to single precision."""
        return _ABILITIES

    @property
    def plain(self) -> bool:
        """Functions are written with `mlx.core`."""
        return False

    @property
    def namespace(self) -> Any:
        """Its NumPy."""
        return package("mlx.core", self.name, "mlx[cpu]")

    def require(self) -> None:
        """The package mlx, with its library for this machine."""
        assert self.namespace

    def call(self, f: Callable[..., Any], args: Arrays, guarded: Arrays) -> Any:
        """`f(*args)`."""
        return f(*args)

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

    def compile(self, program: Callable[..., Any]) -> Callable[..., Any]:
        """The program, run anew at every call on MLX's lazy arrays."""

        def own(x: Any) -> Any:
            return self.array(x) if is_numpy(x) else x

        def run(xs: Arrays, seeds: Any, constants: Arrays, key: Any) -> Any:
            seeds = tuple([tuple(map(own, s)) for s in seeds])
            return program(tuple(map(own, xs)), seeds, tuple(map(own, constants)))

        return run

    def array(self, x: Any) -> Any:
        """An array of MLX; NumPy's memory is copied."""
        return x if self.owns(x) else self.namespace.array(x)

    def numpy(self, x: Any) -> Any:
        """A NumPy array or scalar."""
        return unboxed(np.array(x))

    def owns(self, x: Any) -> bool:
        """Whether x is one of MLX's arrays."""
        return isinstance(x, self.namespace.array)

    def eye(self, n: int, like: Any) -> Any:
        """The unit matrix."""
        return self.namespace.eye(n, dtype=like.dtype)

    def zeros(self, shape: tuple[int, ...], like: Any) -> Any:
        """Zeros."""
        return self.namespace.zeros(shape, dtype=like.dtype)

    def cast(self, x: Any, like: Any) -> Any:
        """`astype`."""
        return x.astype(like.dtype)

    def buffer(self, template: Any) -> Any:
        """Fresh zeros."""
        return self.namespace.zeros(template.shape)

    def read(self, buffer: Any) -> Any:
        """The array itself."""
        return buffer


def _listed(fn: Flat) -> Callable[..., list[Any]]:
    """fn as MLX takes functions."""

    def listed(*xs: Any) -> list[Any]:
        return list(fn(xs)[0])

    return listed
