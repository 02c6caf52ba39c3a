"""JAX: f runs on its tracers, compiled by XLA; in-place functions write to its references."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from pliant.backends.jax import DERIVED
from pliant.diff.system import (
    Abilities,
    Arrays,
    AtPoint,
    Bound,
    Flat,
    Form,
    Mode,
    Pushed,
    System,
    Way,
    entered,
    native,
    unboxed,
)
from pliant.diff.systems import jax_calls
from pliant.errors import UnsupportedError


class OnJAX(System):
    """A system whose functions get JAX's arrays, under `jax.jit`."""

    @property
    def jax(self) -> Any:
        """The package."""
        return self.module("jax")

    @property
    def jnp(self) -> Any:
        """Its NumPy."""
        return self.module("jax.numpy")

    @property
    def namespace(self) -> Any:
        """Its NumPy, with Pliant's way to run programs on it."""
        return DERIVED

    def pushforward(self, fn: Flat, xs: Arrays, dxs: Arrays, is_many: bool) -> Pushed:
        """`jax.jvp`; for many `jax.linearize`, then vmap of the linear part."""
        if is_many:
            ys, linear, aux = self.jax.linearize(fn, xs, has_aux=True)
            return ys, aux, self.jax.vmap(linear)(dxs)
        ys, dys, aux = self.jax.jvp(fn, (xs,), (dxs,), has_aux=True)
        return ys, aux, dys

    def pullback(self, fn: Flat, xs: Arrays, seed: Callable[[Arrays], Arrays], is_many: bool) -> Pushed:
        """`jax.vjp`; many by vmap. JAX's convention for complex numbers is conjugate to ours."""
        with self.reversing():
            ys, pull, aux = self.jax.vjp(fn, xs, has_aux=True)
            cts = tuple([self.conj(ct) for ct in seed(ys)])
            (gs,) = self.jax.vmap(pull)(cts) if is_many else pull(cts)
        return ys, aux, tuple([self.conj(g) for g in gs])

    @contextmanager
    def reversing(self) -> Generator[None]:
        """Inside, what JAX says of loops of a plain function, which it cannot go back over, is our error."""
        try:
            yield
        except ValueError as error:
            if not self.plain or "Reverse-mode differentiation does not work" not in str(error):
                raise
            raise UnsupportedError(
                f"{self.name} has no reverse mode of a loop whose number of steps depends on what arrays hold",
                hint="use Pliant(); or forward mode; or a for loop of at most 1024 steps with a break",
            ) from error

    def conj(self, x: Any) -> Any:
        """The conjugate; of real arrays they themselves."""
        return self.jnp.conj(x) if self.jnp.iscomplexobj(x) else x

    def compile(self, program: Callable[..., Any]) -> Callable[..., Any]:
        """`jax.jit`; with 64 bits where NumPy arrays come in, as NumPy users expect."""
        jitted, enable, config, array = self._jit(program), self.jax.enable_x64, self.jax.config, self.jax.Array

        def run(xs: Arrays, seeds: Any, constants: Arrays, key: Any) -> Any:
            xs, seeds, constants = entered(native, xs, seeds, constants)
            if config.jax_enable_x64 or all([isinstance(x, array) for x in xs]):
                return jitted(xs, seeds, constants, key)
            with enable(True):
                return jitted(xs, seeds, constants, key)

        return run

    def _jit(self, program: Callable[..., Any]) -> Callable[..., Any]:
        """One compiled program per key."""

        def keyed(xs: Arrays, seeds: Any, constants: Arrays, key: Any) -> Any:
            return program(xs, seeds, constants)

        return self.jax.jit(keyed, static_argnums=3)

    def direct(self, form: Form, program: Callable[..., Any], functional: Any, way: Way) -> Way:
        """One call of what `jax.jit` made; JAX's arrays in give JAX's arrays."""
        return jax_calls.direct(self, form, program, functional, way)

    def at_point(self, bound: Bound, is_forward: bool) -> AtPoint:
        """The linear functions that `jax.linearize` or `jax.vjp` returns, compiled."""
        return jax_calls.at_point(self, bound, is_forward)

    def array(self, x: Any) -> Any:
        """`jnp.asarray`."""
        return self.jnp.asarray(x)

    def numpy(self, x: Any) -> Any:
        """A NumPy array or scalar."""
        return unboxed(np.array(x))

    def owns(self, x: Any) -> bool:
        """Whether x is a JAX array."""
        return isinstance(x, self.jax.Array)

    def buffer(self, template: Any) -> Any:
        """A reference, which f may write with `buffer[...] = value` of the full shape."""
        return self.jax.new_ref(self.jnp.zeros(template.shape, template.dtype))

    def read(self, buffer: Any) -> Any:
        """What the reference holds."""
        return buffer[...]


@final
@dataclass(frozen=True)
class JAX(OnJAX):
    """Forward and reverse mode of JAX, under `jax.jit`. NumPy arguments keep their 64 bits.

    mode: what Jacobians and Hessians are made with; "both" takes the cheaper by the shapes. plain:
    f is written in plain NumPy; Pliant traces it and JAX runs the program.
    """

    abilities = Abilities(forward=True, reverse=True, is_traced=True, bakes=True)
    modules = ("jax",)
    pip = "jax"
    mode: Mode = "both"
    plain: bool = False
