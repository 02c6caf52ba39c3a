"""Enzyme-JAX, experimental: JAX's interface, with derivatives that Enzyme makes of compiled code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

from pliant.diff.system import Abilities, Arrays, Flat, Mode, Pushed, System
from pliant.diff.systems.jax import OnJAX


@final
@dataclass(frozen=True)
class EnzymeJAX(OnJAX):
    """Forward and reverse mode of Enzyme on JAX's functions: first derivatives of real functions.

    mode, plain: as for `JAX`.
    """

    abilities = Abilities(
        forward=True, reverse=True, is_traced=True, bakes=True, cache=False, second_order=False, complex=False
    )
    modules = ("jax", "enzyme_ad.jax")
    pip = "enzyme-ad"
    mode: Mode = "both"
    plain: bool = False

    def _compiled(self, fn: Flat, xs: Arrays) -> Flat:
        """fn with Enzyme's derivatives. What fn closes over must be arguments of what Enzyme compiles."""
        closed, structure = self.jax.make_jaxpr(fn, return_shape=True)(xs)
        tree, evaluate = self.jax.tree_util.tree_structure(structure), self.jax.core.eval_jaxpr

        @self.module("enzyme_ad.jax").enzyme_jax_ir()
        def compiled(constants: Arrays, *xs: Any) -> Any:
            return evaluate(closed.jaxpr, constants, *xs)

        return lambda xs: self.jax.tree_util.tree_unflatten(tree, compiled(tuple(closed.consts), *xs))

    def pushforward(self, fn: Flat, xs: Arrays, dxs: Arrays, is_many: bool) -> Pushed:
        """`jax.jvp` of the compiled function; many in a loop, which is unrolled."""
        compiled = self._compiled(fn, xs)
        parts = [tuple([d[n] for d in dxs]) for n in range(len(dxs[0]))] if is_many else [dxs]
        made = [OnJAX.pushforward(self, compiled, xs, part, False) for part in parts]
        return made[0][0], made[0][1], self._stacked([dys for _, _, dys in made]) if is_many else made[0][2]

    def pullback(self, fn: Flat, xs: Arrays, seed: Callable[[Arrays], Arrays], is_many: bool) -> Pushed:
        """`jax.vjp` of the compiled function; many in a loop, which is unrolled."""
        ys, pull, aux = self.jax.vjp(self._compiled(fn, xs), xs, has_aux=True)
        cts = seed(ys)
        parts = [tuple([ct[n] for ct in cts]) for n in range(len(cts[0]))] if is_many else [cts]
        made = [pull(part)[0] for part in parts]
        return ys, aux, self._stacked(made) if is_many else made[0]

    def buffer(self, template: Any) -> Any:
        """None: Enzyme knows no references."""
        return System.buffer(self, template)

    def _stacked(self, parts: list[Arrays]) -> Arrays:
        return tuple([self.jnp.stack(leaves) for leaves in zip(*parts, strict=True)])
