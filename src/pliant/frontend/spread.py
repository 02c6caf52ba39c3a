"""Lists that are returned, of which it is known only at run time how many elements they have: made of a number and of
arrays with room for as many as there may be.

primes = []
for i in range(2, n):
    if is_prime(i): primes.append(i)
return primes                     the results are the count, and an array of n integers
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any, cast, final

from pliant.core.data import frozen
from pliant.frontend.kinds import is_of, is_table


@final
@frozen
class Elements:
    """What the first elements of a list are: the structure of one, and of each of its leaves whether it is one of
    Python's numbers, one of NumPy's, or an array."""

    structure: Any
    kinds: tuple[str, ...]

    def made(self, columns: Sequence[Any]) -> Spread:
        """These, of arrays that hold their leaves."""
        parts = [x.tolist() if kind == "python" else [*x] for x, kind in zip(columns, self.kinds, strict=True)]
        if self.structure.is_leaf():
            return Spread(parts[0])
        return Spread([self.structure.unflatten(row) for row in zip(*parts, strict=True)])


@final
class Spread:
    """Elements in place of which one thing stands in a list."""

    __slots__ = ("items",)

    def __init__(self, items: list[Any]) -> None:
        self.items = items


def spread_out(parts: Iterable[Any]) -> list[Any]:
    """The parts of a list with the elements in place of what stands for them."""
    return [y for x in parts for y in (x.items if type(x) is Spread else (x,))]


def spread(tree: Any) -> Any:
    """A tree with the elements in place of what stands for them; its lists and dicts are changed."""
    if is_table(tree):
        for key, part in [*tree.items()]:
            tree[key] = spread(part)
    elif is_of(tree, list | tuple | deque):
        parts = spread_out([x if type(x) is Spread else spread(x) for x in tree])
        if is_of(tree, tuple):
            kind = cast("Any", type(tree))
            return getattr(kind, "_make", kind)(parts)
        tree.clear()
        tree.extend(parts)
    return tree
