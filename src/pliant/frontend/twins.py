"""Containers that are given twice to a function that is traced inside another trace: one there too, or twins.

vmap(f)([row, row], xs)       one list, as in Python
grad(f)([row, row])           each place has a derivative of its own: two lists, which nobody changes
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias, final

from pliant.core.data import frozen
from pliant.core.origin import here
from pliant.errors import UnsupportedError
from pliant.frontend.sharing import Firsts, as_one, containers, sharing
from pliant.frontend.signature import flatten, unflatten
from pliant.frontend.tracing import current, is_tracing, thread

IsOne: TypeAlias = "Callable[[Any, Any], bool]"


@final
@frozen
class Twins:
    """Which containers of a tree are the same, and which of them are twins in the trace around.

    firsts: see `sharing`. names: of each container what its twins have too, 0 where it has none; nothing if none has.
    are_apart: whether nobody may change any of them, as it is not known which are the same."""

    firsts: Firsts = ()
    names: tuple[int, ...] = ()
    are_apart: bool = False

    @classmethod
    def of(cls, tree: Any) -> Twins:
        """Those of a tree."""
        firsts = sharing(tree)
        names = tuple([twin_of(x) for x in containers(tree)]) if is_tracing() else ()
        return cls(firsts, names if any(names) else ())

    def entered(self, tree: Any, is_one: IsOne = lambda _, __: True) -> Any:
        """A tree of the same nesting, of new containers, for a function that the current trace is of. is_one: whether
        leaves of two that are the same are one leaf; if any are not, the containers are twins."""
        if self.are_apart:
            for x in containers(tree):
                current().twins[id(x)] = id(x)
        if self.are_apart or not (self.firsts or self.names):
            return tree
        made = dict[int, Any]()

        def joined(first: Any, other: Any) -> Any:
            if all(map(is_one, flatten(first)[0], flatten(other)[0])):
                return first
            for x, y in zip(containers(first), containers(other), strict=True):
                twins = current().twins
                twins[id(x)] = twins[id(y)] = twins.get(id(x), id(x))
            return other

        tree = as_one(tree, self.firsts or tuple(range(len(self.names))), join=joined, made=made)
        for number, x in made.items():
            if self.names and self.names[number]:
                current().twins[id(x)] = self.names[number]
        return tree


NO_TWINS: Final = Twins()


def remade(tree: Any, leaves: Sequence[Any]) -> Any:
    """A tree like another one, with other leaves; what is the same container there is the same here."""
    made = unflatten(flatten(tree)[1], leaves)
    return Twins.of(tree).entered(made) if is_tracing() else as_one(made, sharing(tree))


def twin_of(x: Any) -> int:
    """What a container has in common with its twins; 0 if it has none."""
    trace = thread.trace
    while trace is not None:
        if id(x) in trace.twins:
            return trace.twins[id(x)]
        trace = trace.parent
    return 0


def are_twins(x: Any, y: Any) -> bool:
    """Whether two containers are one to Python."""
    return bool(name := twin_of(x)) and name == twin_of(y)


def changed(x: Any) -> UnsupportedError:
    """The error of a function that changes one of several twins."""
    return UnsupportedError(
        f"a {type(x).__name__} is changed that is given more than once, at places that have values of their own here",
        hint="the other place would miss it: pass a copy, or differentiate with regard to other arguments",
    ).at(("changed here", here()))


__all__ = ["NO_TWINS", "Twins", "are_twins", "changed", "remade", "twin_of"]
