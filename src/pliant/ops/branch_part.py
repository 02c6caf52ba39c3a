"""A branch, linearised: what it makes, what its derivative reads of that, and the derivative.

Both branches of a `Cond` leave what they keep in the same slots; those that a branch does not use are `Unset`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

from pliant.core.build import hint_of, trace
from pliant.core.data import frozen
from pliant.core.ir import Function, Namespace, Op, Value, Values, substitute
from pliant.core.scope import scope
from pliant.core.types import DTYPES, Type
from pliant.ops.custom import pick
from pliant.ops.region import cut, read_with
from pliant.transforms.jvp import instantiate
from pliant.transforms.transpose import linearize


@final
@frozen
class Unset(Op):
    """Memory that nobody reads, as a value of a type: what a branch leaves where the other one keeps something.

    number: tells those of one branch apart. Problems in a batch may take both branches, and read it
    before they choose: there it is zero.
    """

    dtype: str
    shape: tuple[int, ...]
    number: int

    def infer(self, *xs: Type) -> Type:
        return Type(self.dtype, self.shape)

    def array(self, xp: Namespace, *xs: Any) -> Any:
        return xp.zeros(self.shape, dtype=getattr(xp, DTYPES[self.dtype]))

    def fill(self, k: Any, out: Any) -> None:
        """Nothing."""


@final
@frozen
class Part:
    """A branch, linearised: its results, what the derivative reads, the derivative."""

    fn: Function
    ys: Values
    saved: Values
    dxs: Values
    dys: Values

    @classmethod
    def of(cls, fn: Function, active: Sequence[bool], moved: Sequence[bool]) -> Part:
        with scope():
            ys, dxs, pushed = linearize(fn, fn.params, tuple(active))
            dys = pick(instantiate(ys, pushed), moved)
            return cls(fn, ys, cut(read_with(dys, dxs), set(fn.params)), dxs, dys)

    def ahead(self, slots: Sequence[Type]) -> Function:
        """`(x…) → (y…, residual or nothing per slot…)`."""
        places = _places(self.saved, slots)

        def step(*xs: Value) -> Values:
            made = substitute((*self.ys, *self.saved), dict(zip(self.fn.params, xs, strict=True)))
            found = dict(zip(places, made[len(self.ys) :], strict=True))
            kept = [found[n] if n in found else Unset(t.dtype, t.shape, n)() for n, t in enumerate(slots)]
            return *made[: len(self.ys)], *kept

        return trace(step, *(p.type for p in self.fn.params), names=[hint_of(p) for p in self.fn.params])

    def linear(self, slots: Sequence[Type]) -> Function:
        """`(residual per slot…, x…, dx…) → (dy…)`."""
        places = _places(self.saved, slots)

        def step(*args: Value) -> Values:
            rest = iter(args[len(slots) :])
            env = {s: args[n] for s, n in zip(self.saved, places, strict=True)}
            env.update((p, next(rest)) for p in (*self.fn.params, *self.dxs))
            return substitute(self.dys, env)

        return trace(step, *slots, *(p.type for p in (*self.fn.params, *self.dxs)))


def slots_of(saved: Sequence[Values]) -> list[Type]:
    """Types that hold either branch's residuals."""
    slots = list[Type]()
    for values in saved:
        free = list(slots)
        for v in values:
            if v.type in free:
                free.remove(v.type)
            else:
                slots.append(v.type)
    return slots


def _places(saved: Values, slots: Sequence[Type]) -> list[int]:
    """The slot of each residual: the first free one of its type."""
    taken = list[int]()
    for v in saved:
        taken.append(next(n for n, t in enumerate(slots) if t == v.type and n not in taken))
    return taken
