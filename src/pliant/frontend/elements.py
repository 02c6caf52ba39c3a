"""Items of containers, as a trace reads them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from typing import Any, Final

from pliant.frontend.array import TracedArray
from pliant.frontend.control import lists, oneof
from pliant.frontend.control.chosen import is_one_of_two
from pliant.frontend.control.each import of_each
from pliant.frontend.control.fronts import array_of_list
from pliant.frontend.control.grids import item
from pliant.frontend.control.keyed import is_among, is_asked, place_among, place_in
from pliant.frontend.control.ornone import place_or_error
from pliant.frontend.control.region import note, place_of
from pliant.frontend.control.runtime import CALLS
from pliant.frontend.control.specials import own_item
from pliant.frontend.control.switched import is_table, one_at
from pliant.frontend.guards import entries_of, note_size
from pliant.frontend.instrumented import of_element
from pliant.frontend.kinds import is_of
from pliant.frontend.missing import MISSING
from pliant.frontend.newborn import own_arrays
from pliant.frontend.tracing import Trace, is_tracing

_MADE: Final = (list, dict, set, bytearray)


class Elements(ABC):
    """Reads items for a trace, with guards on what containers hold that the function has not made."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.own = trace.own  # containers that the function has made, which need no guards, by id

    @abstractmethod
    def known(self, value: Any, owner: Any, name: Any) -> Any:
        """A value just read, as the trace sees it; a guard, unless it is new at every reading."""

    @abstractmethod
    def callee(self, fn: Any) -> Any:
        """A function to be called, instrumented."""

    def born(self, container: Any) -> Any:
        """What may be a list or dict that the function makes."""
        return CALLS["born"](lists.gathered(container)) if is_of(container, _MADE) else container

    def get(self, holder: dict[Any, Any], key: Any, default: Any = None) -> Any:
        """`holder.get(key, default)`."""
        if is_asked(holder, key):
            return CALLS["choose"](
                is_among(holder, key), lambda: self.item(self.values(holder), place_in(holder, key)), lambda: default
            )
        if is_one_of_two(key):
            return of_each(key, lambda one: self.get(holder, one, default))
        if key in holder:
            return self.element(holder, key)
        if id(holder) not in self.own:
            self.trace.roots.setdefault((id(holder), key), (holder, key, MISSING))
        return default

    def values(self, holder: dict[Any, Any]) -> list[Any]:
        """What a dict holds, in the order of its keys, as a list that the function makes."""
        self.counted(holder)
        return self.born([self.element(holder, k) for k in holder])

    def item(self, holder: Any, key: Any) -> Any:
        """`holder[key]`."""
        if type(holder) is TracedArray or not is_tracing():
            return holder[array_of_list(key)]
        method = own_item(holder)
        return self.element(holder, key) if method is None else self.known(method(key), None, key)

    def element(self, holder: Any, key: Any) -> Any:
        """`holder[key]` of Python's containers, whatever a subclass makes of it."""
        if is_one_of_two(holder):
            return of_each(holder, lambda one: self.item(one, key))
        if is_of(holder, list | tuple):
            key = place_or_error(key, "tuple" if is_of(holder, tuple) else "list")
        if is_of(holder, list | tuple) and is_table(holder, key):
            self.counted(holder)
            return one_at(holder, key, lambda n: self.callee(self.element(holder, n)))
        if is_of(holder, list | tuple) and oneof.is_asked(holder, key):
            self.counted(holder)
            return oneof.one_at(holder, key, [self.element(holder, n) for n in range(len(holder))])
        if is_of(holder, dict) and is_asked(holder, key):
            return self.element(self.values(holder), place_among(list(holder), key))
        if is_of(holder, dict) and is_one_of_two(key):
            return of_each(key, lambda one: self.element(holder, one))
        if is_of(holder, dict | list | tuple):
            if is_of(holder, defaultdict) and id(holder) not in self.own and key not in holder:
                note(place_of("item", holder, key))  # it is made by the reading
            value = item(holder, key)
            if is_of(key, slice | TracedArray) or is_of(holder, tuple):
                self.counted(holder)
                made = of_element(value, self.trace)
                return self.born(made) if is_of(key, slice) else made
            return self.known(value, None if id(holder) in self.own else holder, key)
        return self.known(own_arrays([holder[key]]), None, key)

    def counted(self, holder: Any) -> None:
        """A guard on how many elements a container has, and on each of them."""
        if is_of(holder, list | dict | set) and id(holder) not in self.own and is_tracing():
            note_size(self.trace, holder)
            for _, n, value in entries_of(holder):
                self.trace.roots.setdefault((id(holder), n), (holder, n, value))

    def noted(self, x: Any) -> Any:
        """The same, if it is a container with guards on all that it holds."""
        self.counted(x)
        return x
