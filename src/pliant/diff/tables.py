"""The ability table, as text: what the guide shows is what the suite checks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pliant.diff.system import Abilities

_COLUMNS = {
    "forward": "forward",
    "reverse": "reverse",
    "second order": "second_order",
    "Cache, y=": "cache",
    "complex x": "complex",
    "over any": "over_any",
}


def ability_table(systems: Iterable[Any]) -> str:
    """What each system can do, as a Markdown table.

    >>> import pliant.diff as diff
    >>> print(ability_table([diff.ComplexStep()]))
    | system | forward | reverse | second order | Cache, y= | complex x | over any | writes to x | tolerance |
    |---|---|---|---|---|---|---|---|---|
    | ComplexStep | ✓ | by columns | – | ✓ | – | – | error | 1e-12, 1e-05 |
    """
    lines = [
        f"| system | {' | '.join(_COLUMNS)} | writes to x | tolerance |",
        "|" + "---|" * (len(_COLUMNS) + 3),
    ]
    return "\n".join([*lines, *[_line(system.name, system.abilities) for system in systems]])


def _line(name: str, able: Abilities) -> str:
    derived = {"forward": "by rows", "reverse": "by columns"}
    cells = ["✓" if getattr(able, flag) else derived.get(flag, "–") for flag in _COLUMNS.values()]
    return f"| {name} | {' | '.join(cells)} | {able.mutation} | {able.tolerance[0]:g}, {able.tolerance[1]:g} |"
