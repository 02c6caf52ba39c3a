"""What fired, where, and why a rule did not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, final

from pliant.core.ir import Value
from pliant.core.origin import Origin
from pliant.rewrite.match import Miss, match_value

if TYPE_CHECKING:
    from pliant.rewrite.rule import Rule

_PLACES = 3


@final
class Log:
    """Counts what fired, and remembers the first few places of each rule."""

    def __init__(self) -> None:
        self.fired: Counter[str] = Counter()
        self.places: dict[str, list[Origin]] = {}
        self.notes: list[str] = []  # what searches say of themselves

    def record(self, name: str, origin: Origin) -> None:
        """`name` fired on a value that `origin` made."""
        self.fired[name] += 1
        places = self.places.setdefault(name, [])
        if len(places) < _PLACES and origin not in places:
            places.append(origin)

    def join(self, other: Log) -> None:
        """Add what another log has."""
        self.fired.update(other.fired)
        self.notes += [note for note in other.notes if note not in self.notes]
        for name, places in other.places.items():
            mine = self.places.setdefault(name, [])
            mine += [p for p in places if p not in mine][: _PLACES - len(mine)]

    def __str__(self) -> str:
        return "\n".join(
            f"{name} ×{times}: {', '.join(place.short for place in self.places[name])}"
            for name, times in self.fired.most_common()
        )


def explain_rule(rule: Rule, values: Iterable[Value]) -> str:
    """Why `rule` leaves all of `values` alone: its nearest miss, with carets."""
    rooted = [v for v in values if isinstance(v.op, rule.root)]
    if not rooted:
        return f"{rule.name}: there is no {rule.root.name} here"
    if rule.sides is None:
        return f"{rule.name}: declined {len(rooted)} × {rule.root.name}\n{rooted[0].origin.render('for example')}"
    tries = [(v, match_value(rule.left, v)) for v in rooted]
    misses = [t for _, t in tries if isinstance(t, Miss)]
    refused = [v for v, t in tries if not isinstance(t, Miss) and rule.where is not None and not rule.where(**t)]
    if refused:
        return f"{rule.name}: `where` refuses\n{refused[0].origin.render('this match')}"
    if len(misses) < len(tries):
        return f"{rule.name}: matches"
    miss = max(misses, key=lambda m: m.depth)
    return f"{rule.name}: {miss.reason}\n{miss.value.origin.render('nearest miss')}"
