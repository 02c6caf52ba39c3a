"""Arguments that a trace has to know: the Python integers and truth values from which is computed what it asked for.

n = 5; f(x, n):  np.zeros(n // 2)      asks for a number that is computed from n alone: f is traced again, n known
                 np.zeros(int(x[0]))   asks for one that depends on data: see `decided`
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from pliant.core.ir import Param, Value
from pliant.errors import PliantError
from pliant.frontend.tracing import Needs, current


def may_be_known(leaf: Any) -> bool:
    """Whether an argument can be what a program is made for: an integer or a truth value, Python's or NumPy's."""
    return isinstance(leaf, int | np.integer | np.bool_)


def asked(*values: Value) -> None:
    """Note what else fails may depend on: conditions, numbers of steps, extents."""
    current().outermost.needs.asked += values


def sized(values: Iterable[Value]) -> None:
    """Note what an extent is computed from."""
    needs = current().outermost.needs
    needs.extents.update(dict.fromkeys(values))
    needs.asked += values


def can_be_known(value: Value) -> bool:
    """Whether a value is computed from integers among the arguments alone."""
    return bool(_behind(value, current().outermost.needs))


def guessed(needs: Needs) -> frozenset[int]:
    """The arguments that extents of a trace are computed from, if a program for their values is wanted."""
    if not (needs.guesses and needs.leaves):
        return frozenset()
    return frozenset([leaf for leaf in _sources(needs.extents, needs) if leaf is not None])


@contextmanager
def needing(value: Value) -> Generator[None]:
    """What fails inside might not if this value was known."""
    asked(value)
    try:
        yield
    except PliantError as error:
        error.needs = (*error.needs, value)
        raise


def leaves_needed(error: Exception, needs: Needs) -> tuple[frozenset[int], bool]:
    """The arguments without which a trace failed, and whether that is sure: else it is all that it asked for."""
    for value in values_of(error):
        found = _behind(value, needs)
        if found:
            return found, True
    return frozenset[int]().union(*[_behind(value, needs) for value in needs.asked]), False


def values_of(error: BaseException) -> Iterator[Value]:
    """What would have to be known, the innermost first: errors are replaced by others on their way. Of a function that
    calls itself without an end, the outermost first: it is the same expression, of what is computed sooner."""
    chain: list[BaseException] = []
    link: BaseException | None = error
    while link is not None and link not in chain:
        chain.append(link)
        link = link.__cause__ or link.__context__
    needed = [value for link in reversed(chain) for value in getattr(link, "needs", ())]
    yield from reversed(needed) if any([isinstance(link, RecursionError) for link in chain]) else needed


def _behind(value: Value, needs: Needs) -> frozenset[int]:
    """The arguments that a value is computed from; none if it depends on anything else."""
    found: set[int] = set()
    for leaf in _sources([value], needs):
        if leaf is None:
            return frozenset()
        found.add(leaf)
    return frozenset(found)


def _sources(values: Iterable[Value], needs: Needs) -> Iterator[int | None]:
    """The arguments that values are computed from; None for anything else."""
    seen: set[int] = set()
    stack = [*values]
    while stack:
        value = stack.pop()
        leaf = needs.leaves.get(value)
        if leaf is not None:
            yield leaf
        elif value in needs.same:
            stack.append(needs.same[value])
        elif isinstance(value.op, Param) and value not in needs.made:
            yield None
        elif id(value.node) not in seen:
            seen.add(id(value.node))
            stack.extend(value.args)
