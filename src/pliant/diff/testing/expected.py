"""What an operator must return, from closed forms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from pliant.diff.testing.family import Family
from pliant.diff.testing.scenarios import Scenario


@final
@dataclass(frozen=True, eq=False)
class Expected:
    """What the operator must return, from closed forms."""

    scenario: Scenario
    family: Family
    x: Any
    c: Any

    @property
    def value(self) -> Any:
        """y."""
        return self.family.value(self.x, self.c)

    def _pair(self, x_part: Any, c_part: Any) -> Any:
        return (x_part, c_part) if self.scenario.context == "Active" else x_part

    def results(self, seeds: tuple[Any, ...]) -> tuple[Any, ...]:
        """Everything the value_and_ form returns after y."""
        family, x, c, rank = self.family, self.x, self.c, len(self.family.x)
        jac, slope = family.jacobian(x, c), family.slope(x, c)
        match self.scenario.operator:
            case "pushforward":
                parts = [s if self.scenario.context == "Active" else (s, 0.0) for s in seeds]
                return (tuple([np.tensordot(jac, dx, rank) + slope * dc for dx, dc in parts]),)
            case "pullback":
                m = len(family.y)
                return (tuple([self._pair(np.tensordot(s, jac, m), np.sum(slope * s)) for s in seeds]),)
            case "derivative":
                return (jac,)
            case "gradient" | "jacobian":
                return (self._pair(jac, slope),)
            case "second_derivative":
                return jac, family.hessian(x, c)
            case _:
                return self._second(jac, slope, seeds)

    def _second(self, jac: Any, slope: Any, seeds: tuple[Any, ...]) -> tuple[Any, ...]:
        """Of hvp and hessian; ∂²y/∂c² is zero."""
        family, rank = self.family, len(self.family.x)
        hess = family.hessian(self.x, self.c)
        cross = (family.weights[0] * np.cos(np.reshape(self.x, -1))).reshape(family.x)
        gradient = self._pair(jac, slope)
        if self.scenario.operator == "hessian":
            both = ((hess, cross), (cross, np.zeros(())))
            return gradient, both if self.scenario.context == "Active" else hess
        parts = [s if self.scenario.context == "Active" else (s, 0.0) for s in seeds]
        products = [self._pair(np.tensordot(hess, dx, rank) + cross * dc, np.sum(cross * dx)) for dx, dc in parts]
        return gradient, tuple(products)
