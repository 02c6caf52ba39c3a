"""What a function leaves in the containers that it is given: how a call changes those of its arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, final

from pliant.core.data import frozen
from pliant.frontend.control.deques import as_deques
from pliant.frontend.control.fronts import check_left
from pliant.frontend.control.outside import check_strangers
from pliant.frontend.growing import Before, Growing, Grown
from pliant.frontend.outputs import Output
from pliant.frontend.sharing import Firsts, as_one, containers, origins, replace_items, sharing
from pliant.frontend.signature import flatten, unflatten
from pliant.frontend.spread import spread_out
from pliant.frontend.tracing import current


@final
@frozen
class Changed:
    """What the containers among the arguments hold after the call. Output kind "leaf": what was leaf `place`.

    more: the structure of what is appended to the lists that are the leaves `ends`, and of containers that changed and
    are in none of the arguments any more; its outputs follow.
    firsts, origins: which of them are the same, and which are those that were given, with lists of what is appended;
    see `sharing`. grown: those that are longer than before."""

    outputs: tuple[Output, ...]
    structure: Any
    more: Any
    ends: tuple[int, ...]
    firsts: Firsts
    origins: tuple[int | None, ...]
    count: int  # of containers that were given
    grown: tuple[Grown, ...]

    def is_in_place(self, structure: Any) -> bool:
        """Whether all containers are where they were in arguments of a structure, with the same keys."""
        kept, new = self.origins[: self.count], self.origins[self.count :]
        are_kept = kept == tuple(range(self.count)) and not any([n is not None for n in new])
        are_kept = are_kept and not any([o.kind == "spread" for o in self.outputs])
        return self.structure == structure and not self.firsts and are_kept

    def put(self, held: Sequence[Any], made: Sequence[Any], given: Sequence[Any]) -> list[Any]:
        """Have the caller's containers, `held`, hold leaves that were made, or given; return all that are there now."""
        wholes = [given[n].whole for n in self.ends]
        closed, count = frozenset(map(id, wholes)), self.structure.num_leaves
        made = [x.whole if type(x) is Growing else x for x in made]
        after = unflatten(self.structure, made[:count]), unflatten(self.more, made[count:])
        after = as_one(after, self.firsts, closed)
        now = replace_items(held, after, self.origins, closed)
        new, _ = after[1]
        for whole, parts in zip(wholes, new, strict=True):
            whole.extend(spread_out(parts))
        return now


@final
@frozen
class After:
    """The arguments after the trace: for each leaf its number among those given, or None if it is new."""

    places: tuple[int | None, ...]
    new: tuple[Any, ...]
    is_same: bool
    containers: Sequence[Any]  # none if all is as before
    rest: tuple[Any, ...]  # of `Changed`

    def changed(self, outputs: Sequence[Output]) -> Changed | None:
        """How to make the new leaves, if containers hold others than before."""
        new = [n for n, place in enumerate(self.places) if place is None]
        rest = iter([replace(o, place=new[o.place]) if o.kind == "again" else o for o in outputs])
        made = tuple(next(rest) if place is None else Output("leaf", place) for place in self.places)
        return None if self.is_same else Changed(made, *self.rest)


def after_of(tree: Any, structure: Any, given: Sequence[Any], held: Before) -> After:
    """What the function made of the containers it was given, which were `held`."""
    closed, new = held.ends.closed, held.ends.new(current())
    for _, x, before in held.lists:
        check_left(before, x)
    leaves, found = flatten(as_deques(tree), closed)
    gone = as_deques(held.gone(tree))
    appended, more = flatten((new, gone), closed)
    known = {id(x): i for i, x in enumerate(given)}
    is_same = found == structure and all(a is b for a, b in zip(leaves, given, strict=True)) and not any(new)
    is_same = is_same and [*map(id, containers(tree, closed))] == [*map(id, held.containers)]
    places = tuple(known.get(id(x)) for x in (*leaves, *appended))
    both = tree, (new, gone)
    now = containers(both, closed)
    check_strangers(current(), held.containers, now)
    firsts, found_at = sharing(both, closed), origins(both, held.containers, closed)
    rest = found, more, held.ends.numbers, firsts, found_at, len(held.containers), held.grown(current())
    left = tuple(x for x in (*leaves, *appended) if id(x) not in known)
    return After(places, left, is_same, [] if is_same else now, rest)
