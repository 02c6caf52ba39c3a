"""A name that is bound to an array which the loop writes by another name, until a condition binds it to one that a step
makes: whether that has happened is carried, and what that one holds.

    best = pop[0]                   best is pop[0], as pop is now, or the array that a step has bound it to
    for i in range(n):
        pop[i] = trial = f(pop[i])
        if g(trial) < g(best): best = trial
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

from pliant.core.data import frozen
from pliant.core.ir import Value, const, param
from pliant.core.types import Type
from pliant.frontend.array import TracedArray
from pliant.frontend.control.either import Either, Owner, arrays, bases, chosen_of, either, is_twin
from pliant.frontend.number import Kind, kind_of, with_kind
from pliant.frontend.tracing import current


@final
@frozen
class Former:
    """The plan for such a name: of what kind the arrays are."""

    kind: Kind

    def params(self, hint: str) -> list[Value]:
        """Whether it is another array by now, and what that holds."""
        return [param(Type("bool"), "moved"), param(self.kind.type, hint)]

    def at(self, first: TracedArray, values: Sequence[Value], *, writeable: bool = True) -> TracedArray:
        """The array. first: what it is before the loop."""
        moved, content = values
        own = with_kind(content, self.kind)
        own.storage.writeable = writeable
        return either(current(), moved, own, first)

    def ends(self, first: TracedArray, x: TracedArray) -> tuple[Value, Value]:
        """The values after a step that leaves x."""
        return _has_moved(arrays(first), x), x.value


def former_of(first: TracedArray, old: TracedArray, x: TracedArray, owner: Owner) -> Former | None:
    """The plan for a name that is bound to `first` before the loop, to `old` before a step and to x after it; None if x
    is neither of these nor an array that the step has made."""
    if kind_of(first) != kind_of(x) or first.type != x.type:
        return None
    known = (*arrays(first), *arrays(old))
    for y in arrays(x):
        is_new = owner.owns(y.storage) and not any([y.storage in bases(z) for z in known])
        if not is_new and not any([is_twin(y, z) for z in known]):
            return None
    return Former(kind_of(x))


def _has_moved(first: Sequence[TracedArray], x: TracedArray) -> Value:
    """Whether an array is none of those that the first one may be."""
    storage: Any = x.storage
    if isinstance(storage, Either) and not x.lenses:
        return chosen_of(storage.condition, _has_moved(first, storage.one), _has_moved(first, storage.other))
    return const(not any([is_twin(x, y) for y in first]), "bool")
