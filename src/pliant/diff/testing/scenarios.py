"""Scenarios as data: an operator, the shapes of x and y, and how the function takes and gives them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, final

from pliant import diff

Operator = Literal[
    "pushforward", "pullback", "derivative", "gradient", "jacobian", "second_derivative", "hvp", "hessian"
]
Context = Literal["none", "Constant", "ConstantArray", "Cache", "Caches", "ConstantOrCache", "captured", "Active"]

SHAPES: Final = {"number": (), "vector": (3,), "matrix": (2, 2)}
CONTEXTS: Final[tuple[Context, ...]] = (
    "none", "Constant", "ConstantArray", "Cache", "Caches", "ConstantOrCache", "captured", "Active",
)  # fmt: skip
VALUE_FORMS: Final = {
    "second_derivative": "value_derivative_and_second_derivative",
    "hvp": "value_gradient_and_hvp",
    "hessian": "value_gradient_and_hessian",
}


@final
@dataclass(frozen=True)
class Scenario:
    """One case: an operator, the shapes of x and y, and how the function takes and gives them.

    fills: f fills y= instead of returning it. out: the result is written to out=. seeds: how many.
    prepared: with a preparation that was made at zeros.
    """

    operator: Operator
    x: str
    y: str
    context: Context = "none"
    fills: bool = False
    out: bool = False
    seeds: int = 1
    prepared: bool = False
    dtype: str = "float64"

    @property
    def id(self) -> str:
        """A name for reports."""
        flags = [name for name in ("fills", "out", "prepared") if getattr(self, name)]
        many = [f"{self.seeds}seeds"] if self.seeds > 1 else []
        single = [self.dtype] if self.dtype != "float64" else []
        return "-".join([self.operator, f"{self.x}>{self.y}", self.context, *flags, *many, *single])

    @property
    def order(self) -> int:
        """1 or 2."""
        return 2 if self.operator in VALUE_FORMS else 1


def scenarios(
    *,
    operators: Iterable[Operator] = (
        "pushforward", "pullback", "derivative", "gradient", "jacobian", "second_derivative", "hvp", "hessian",
    ),
    contexts: Iterable[Context] = CONTEXTS,
    fills: Sequence[bool] = (False, True),
    out: Sequence[bool] = (False, True),
    seeds: Sequence[int] = (1, 2),
    prepared: Sequence[bool] = (False, True),
    dtypes: Sequence[str] = ("float64",),
) -> list[Scenario]:  # fmt: skip
    """All combinations of these values that make sense."""
    axes = (operators, SHAPES, SHAPES, contexts, fills, out, seeds, prepared, dtypes)
    return [s for s in map(Scenario, *zip(*itertools.product(*axes), strict=True)) if _makes_sense(s)]


def thinned(of: Sequence[Scenario], step: int) -> list[Scenario]:
    """Every step-th scenario: step should share no factor with the lengths of the axes."""
    return list(of[::step])


def _makes_sense(s: Scenario) -> bool:
    if s.seeds > 1 and s.operator not in ("pushforward", "pullback", "hvp"):
        return False
    if s.operator in ("derivative", "second_derivative") and (s.x != "number" or s.context == "Active"):
        return False
    if s.operator in ("gradient", "hvp", "hessian") and s.y != "number":
        return False
    if s.operator in ("jacobian", "hessian") and s.x == "number":
        return False
    return not (s.fills and (s.order == 2 or s.operator == "gradient" or s.y == "number"))


def skip_reason(system: Any, scenario: Scenario) -> str:
    """Why the system does not claim this case; "" if it does."""
    able = first_order(system).abilities
    writes = scenario.fills or scenario.context in ("Cache", "Caches", "ConstantOrCache")
    if writes and not able.cache:
        return "no writes to memory"
    if scenario.order == 2 and not (able.second_order or isinstance(system, diff.SecondOrder)):
        return "no second order"
    return ""


def first_order(system: Any) -> Any:
    """The system that f's own derivatives are made by."""
    return system.inner if isinstance(system, diff.SecondOrder) else system
