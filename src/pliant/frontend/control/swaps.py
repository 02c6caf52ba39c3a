"""Two names that exchange their arrays at each step of a loop whose steps are counted at run time.

Each name carries what its array holds; whether the number of steps was odd says, after the loop, which of
the two arrays each name is bound to, and what each array holds. Where they exchange views of their arrays,
`x, y = y[::-1], x`, that would not say which view it is: the names are bound to copies then, which nobody writes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, final

from pliant.core.data import frozen
from pliant.core.ir import Value, Values, param
from pliant.core.types import Type
from pliant.frontend.array import TracedArray
from pliant.frontend.control.either import either
from pliant.frontend.control.plan import Carry, NotInductive
from pliant.frontend.control.region import Region
from pliant.frontend.control.tables import share
from pliant.frontend.tracing import Storage, current
from pliant.ops.bits import logical_not
from pliant.ops.select import select
from pliant.ops.shape import broadcast

Recipe: TypeAlias = Callable[[Values], Any]


@final
@frozen(eq=False)
class Name:
    """A name that is bound to `first` before the loop, to all of `head` before the step and to `after`, or to a view
    of it, after it; carry n is what it holds. copy: makes an array of that which is not written."""

    first: TracedArray
    head: Storage
    after: Storage
    is_view: bool
    n: int
    copy: Recipe


@final
class Swaps:
    """The names of a loop that may exchange their arrays."""

    def __init__(self) -> None:
        self.names: dict[Storage, Name] = {}
        self.odd = -1  # the carry that says whether the number of steps is odd

    def recipe(self, name: Name, alone: Recipe) -> Recipe:
        """What a name is bound to after the loop; `alone` if it exchanges its array with no other."""
        self.names[name.head] = name

        def made(results: Values) -> Any:
            if name.after is name.head or name.after not in self.names:
                return alone(results)
            other = self.names[name.after]
            if name.is_view or other.is_view:
                return name.copy(results)
            return either(current(), results[self.odd], other.first, name.first, known=results[name.n])

        return made

    def close(self, region: Region, carries: list[Carry]) -> list[Callable[[Values], None]]:
        """Add the carry that counts; how to write what the arrays hold after the loop."""
        pairs = [(name, self.names.get(name.after)) for name in self.names.values() if name.after is not name.head]
        written, free = region.written, region.free([c.end for c in carries])
        writes: list[Callable[[Values], None]] = []
        for name, other in pairs:
            if other is None:
                continue
            storage = name.first.storage
            if other.after is not name.head or other.first.storage is storage:
                raise NotInductive("its names are bound to other arrays at each step")
            if storage in written or storage.value in free:
                raise NotInductive("an array that its names exchange is used under another name, too")
            if not (name.is_view or other.is_view):
                writes.append(self.write(name, other))
            elif name.head.is_touched or other.head.is_touched:
                raise NotInductive("its names exchange views of arrays that are written")
            else:
                share([name.first])
        if writes:
            odd = param(Type("bool"), "odd")
            self.odd = len(carries)
            carries.append(Carry(odd, False, logical_not(odd)))
        return writes

    def write(self, name: Name, other: Name) -> Callable[[Values], None]:
        """How to write what the array holds that a name was bound to before the loop."""

        def run(results: Values) -> None:
            mine, others = results[name.n], results[other.n]
            odd: Value = broadcast(results[self.odd], mine.shape, ())
            name.first.replace(select(odd, others, mine))

        return run
