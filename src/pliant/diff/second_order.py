"""Two systems together: one over the other, or one per mode."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from pliant.diff.programs import refuse_second_order
from pliant.diff.system import System
from pliant.diff.systems.finite_differences import FiniteDifferences
from pliant.errors import ArgumentError


def refuse_others(whole: str, part: Any, kinds: Any) -> None:
    """ArgumentError if what a system is to be made of is no system of these kinds."""
    if isinstance(part, kinds):
        return
    given = f"the class {part.__name__}" if isinstance(part, type) else getattr(part, "name", type(part).__name__)
    raise ArgumentError(f"{whole}: expected a system, got {given}", hint="for example Pliant()")


@final
@dataclass(frozen=True)
class SecondOrder:
    """Second derivatives as `outer`'s derivative of `inner`'s. Of first derivatives, inner's.

    outer may be of the same library as inner, or finite differences over anything.

    >>> import numpy as np, pliant.diff as diff
    >>> system = diff.SecondOrder(diff.Pliant("forward"), diff.Pliant("reverse"))
    >>> diff.hessian(lambda x: x[0] ** 2 * x[1], system, np.array([1.0, 2.0]))
    array([[4., 2.],
           [2., 0.]])
    """

    outer: System
    inner: System

    def __post_init__(self) -> None:
        refuse_others("SecondOrder", self.outer, System)
        refuse_others("SecondOrder", self.inner, System)
        refuse_second_order(self.outer, self.inner)

    @property
    def name(self) -> str:
        """Both names."""
        return f"SecondOrder({self.outer.name}, {self.inner.name})"


@final
@dataclass(frozen=True)
class Mixed:
    """`forward`'s pushforwards and `reverse`'s pullbacks; sparse Jacobians use both at once."""

    forward: System
    reverse: System

    def __post_init__(self) -> None:
        refuse_others("Mixed", self.forward, System)
        refuse_others("Mixed", self.reverse, System)

    @property
    def name(self) -> str:
        """Both names."""
        return f"Mixed({self.forward.name}, {self.reverse.name})"


def parts_of(system: Any, *, order: int, is_forward: bool) -> tuple[System, System]:
    """(outer, inner) for an operator of this order; the same system twice for order one."""
    match system:
        case SecondOrder(outer, inner):
            return (outer, inner) if order == 2 else (inner, inner)
        case Mixed(forward, reverse):
            chosen = forward if is_forward else reverse
            return (forward, reverse) if order == 2 else (chosen, chosen)
        case FiniteDifferences(0.0) if order == 2:
            # the inner differences are good to 1e-10: the outer step must not resolve their noise
            return FiniteDifferences(1e-3), FiniteDifferences()
        case _:
            return system, system
