"""The derivatives of a function that another system differentiates, as a closed set of maps.

Such a function y = f(x) is seen through five maps, each made by its own system on NumPy arrays:

    value(x)        f(x)                                      like y
    push(x, u)      the derivative of f along u               like y
    pull(x, c)      the gradient of ⟨c, f(x)⟩                  like x
    bend(x, u, v)   the second derivative of f along u and v  like y
    curve(x, c, v)  the Hessian of ⟨c, f(x)⟩ times v           like x

All are linear in what follows x. The derivative of one along an operand, and its transpose, are
others: a library that is told so differentiates f twice, in any order of its modes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, final

import numpy as np

from pliant.errors import UnsupportedError

Kind = Literal["value", "push", "pull", "bend", "curve"]
Term = tuple[Kind, tuple[int, ...]]  # a map, and which operands it takes: NEW is the tangent or cotangent
NEW: Final = -1

# by operand, x first: what a tangent of it becomes; nothing for third derivatives
_TANGENTS: Final[Mapping[Kind, tuple[Term | None, ...]]] = {
    "value": (("push", (0, NEW)),),
    "push": (("bend", (0, 1, NEW)), ("push", (0, NEW))),
    "pull": (("curve", (0, 1, NEW)), ("pull", (0, NEW))),
    "bend": (None, ("bend", (0, NEW, 2)), ("bend", (0, 1, NEW))),
    "curve": (None, ("curve", (0, NEW, 2)), ("curve", (0, 1, NEW))),
}
# by operand after x: what a cotangent of the result becomes
_COTANGENTS: Final[Mapping[Kind, tuple[Term, ...]]] = {
    "push": (("pull", (0, NEW)),),
    "pull": (("push", (0, NEW)),),
    "bend": (("curve", (0, NEW, 2)), ("curve", (0, NEW, 1))),
    "curve": (("bend", (0, 2, NEW)), ("curve", (0, 1, NEW))),
}


def only(how: str) -> UnsupportedError:
    """The error for derivatives that are not among the maps."""
    return UnsupportedError(
        f"a function that another system differentiates can be differentiated only {how}",
        hint="use one system for all, or SecondOrder(FiniteDifferences(), system)",
    )


@final
@dataclass(frozen=True)
class Map:
    """One of the maps of a function: a `DifferentiateWith`."""

    function: Any
    kind: Kind

    @property
    def count(self) -> int:
        """How many operands it has; constants follow them."""
        return len(_TANGENTS[self.kind])

    @property
    def is_like_x(self) -> bool:
        """Whether its result is like x, and not like y."""
        return self.kind in ("pull", "curve")

    def on_numpy(self, *xs: Any) -> Any:
        """Its value for NumPy arrays, operands and constants."""
        return np.asarray(getattr(self.function, self.kind)(*xs))

    def on_conjugate(self, *xs: Any) -> Any:
        """The same where the convention for complex cotangents is conjugate to ours."""
        return self.on_numpy(*xs) if self.kind != "pull" else np.conj(self.on_numpy(xs[0], np.conj(xs[1]), *xs[2:]))

    def tangent(self, n: int, operands: Sequence[Any], new: Any) -> Other:
        """What a tangent of the n-th operand becomes."""
        term = _TANGENTS[self.kind][n]
        if term is None:
            raise only("twice")
        if term[0] in ("bend", "curve"):
            self.function.check_twice(operands[0])
        return self._other(term, operands, new)

    def transposed(self, n: int, operands: Sequence[Any], new: Any) -> Other:
        """What a cotangent of the result becomes at the n-th operand, in which it is linear."""
        return self._other(_COTANGENTS[self.kind][n - 1], operands, new)

    def cotangent(self, n: int, operands: Sequence[Any], new: Any) -> Other:
        """What a cotangent of the result becomes at the n-th operand, linear in it or not."""
        pushed, given = self.tangent(n, operands, None)
        return pushed.transposed(next(i for i, x in enumerate(given) if x is None), given, new)

    def _other(self, term: Term, operands: Sequence[Any], new: Any) -> Other:
        kind, which = term
        return Map(self.function, kind), [new if i == NEW else operands[i] for i in which]


Other = tuple[Map, list[Any]]  # a map of the same function, and its operands
