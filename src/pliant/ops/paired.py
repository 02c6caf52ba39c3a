"""A linear function given with its transpose."""

from __future__ import annotations

from typing import cast, final

from pliant.core.data import frozen
from pliant.core.ir import Function, Tangents, Value, Values
from pliant.core.types import Type
from pliant.ops.compare import not_zero_of_made
from pliant.ops.custom import Wrapper, lifted, require, types_of
from pliant.ops.select import Find
from pliant.transforms.jvp import instantiate
from pliant.transforms.vmap import vmap


@final
@frozen
class Paired(Wrapper):
    """`(residual…, dx…) → (dy…)`, linear in the dx, by `forward`.

    backward: `(residual…, ct…) → (ct of each dx…)`, its transpose. There are as many residuals as `residuals`.
    """

    forward: Function
    backward: Function
    residuals: int

    def infer(self, *xs: Type) -> tuple[Type, ...]:
        types = types_of(self, self.forward, xs)
        back = types_of(self, self.backward, (*xs[: self.residuals], *types))
        require(self, "cotangents", back, xs[self.residuals :])
        return types

    def expand(self, *xs: Value) -> Values:
        return self.forward(*xs)

    def transpose(self, ct: Tangents | Value, *xs: Value | Type) -> Tangents:
        known = cast("Values", xs[: self.residuals])
        wanted = [isinstance(x, Type) for x in xs[self.residuals :]]
        cts = instantiate(self.forward.results, ct if isinstance(ct, tuple) else (ct,))
        back = Paired(self.backward, self.forward, self.residuals).apply(*known, *cts)
        return *((None,) * len(known)), *[b if w else None for b, w in zip(back, wanted, strict=True)]

    def support_of(self, value: Value, find: Find) -> Value | None:
        """Where a result is not zero, if the function knows that it may be."""
        given = zip(self.forward.params, value.args, strict=True)
        return not_zero_of_made(value, find, given, (self.forward.results[value.index],))

    def batch(self, n: int, batched: tuple[bool, ...], *xs: Value) -> Values:
        m = self.residuals
        known = batched[:m]
        forward = vmap(self.forward, n, (*known, *[True for _ in xs[m:]]))
        backward = vmap(self.backward, n, (*known, *[True for _ in self.forward.results]))
        wanted = (*known, *[True for _ in xs[m:]])
        return Paired(forward, backward, m).apply(*lifted(n, xs, batched, wanted))


def paired(forward: Function, backward: Function, known: Values, dxs: Values) -> Values:
    """`Paired` as a function of residuals and tangents."""
    return Paired(forward, backward, len(known)).apply(*known, *dxs)
