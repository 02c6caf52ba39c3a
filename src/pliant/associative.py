"""Running combinations of rows by a function that may combine them in any grouping: O(log n) calls of it.

x0   x1   x2   x3   x4      rows
  x01       x23             pairs of them, whose running combinations are every other one of all: x01, x0123
x0   x01  x012 x0123 …      the others are these and one more row
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from pliant.callables import function_of
from pliant.core.origin import here
from pliant.core.types import Type
from pliant.counts import number_of_rows
from pliant.errors import ArgumentError, ShapeError
from pliant.frontend.array import TracedArray
from pliant.frontend.signature import containers, flatten, unflatten
from pliant.frontend.tracing import type_of

Tree: TypeAlias = Any


def associative_scan(f: Callable[[Any, Any], Any], xs: Tree, reverse: bool = False) -> Tree:
    """Running combinations `x0, f(x0, x1), f(f(x0, x1), x2), …` of the rows of xs, f being associative.

    f takes and returns stacks of rows, and is called O(log n) times. ShapeError if it changes their shapes.

    >>> import numpy as np, pliant
    >>> pliant.associative_scan(np.multiply, np.array([1.0, 2.0, 3.0, 4.0]))
    array([ 1.,  2.,  6., 24.])
    """
    function_of(f)
    leaves, structure = flatten(xs)
    n = number_of_rows("associative_scan", leaves, None)
    if reverse:
        leaves = [x[::-1] for x in leaves]

    def combined(a: Sequence[Any], b: Sequence[Any]) -> list[Any]:
        if reverse:
            a, b = b, a
        made, returned = flatten(f(unflatten(structure, list(a)), unflatten(structure, list(b))))
        _check_rows(a, structure, made, returned)
        return made

    def running(rows: list[Any], count: int) -> list[Any]:
        if count < 2:
            return rows
        pairs = combined([x[: count - 1 : 2] for x in rows], [x[1::2] for x in rows])
        odd = running(pairs, count // 2)
        rest = [x[2::2] for x in rows]
        fewer = (count - 1) // 2
        even = combined([y[:fewer] for y in odd], rest) if fewer else rest
        out: list[Any] = []
        for x, y, z in zip(rows, odd, even, strict=True):
            whole = np.empty_like(x, dtype=y.dtype)
            whole[0], whole[1::2] = x[0], y
            if fewer:
                whole[2::2] = z
            out.append(whole)
        return out

    made = running(leaves, n)
    return unflatten(structure, [x[::-1] for x in made] if reverse else made)


def _check_rows(given: Sequence[Any], structure: Any, made: Sequence[Any], returned: Any) -> None:
    """Refuse what an associative function makes of stacks of rows if it is not as many, of the same shapes."""
    if returned != structure:
        message = f"associative_scan: rows enter as {containers(structure)} but leave as {containers(returned)}"
        raise ArgumentError(message, hint="return the containers that come; * is an array").at(("here", here()))
    for x, y in zip(given, made, strict=True):
        if np.shape(x) != np.shape(y):
            message = f"associative_scan: stacks of rows enter as {_type(x)} but leave as {_type(y)}"
            raise ShapeError(message, hint="combine rows one by one: the first axis numbers them").at(("here", here()))


def _type(x: Any) -> Type:
    return x.type if type(x) is TracedArray else type_of(np.asarray(x))


__all__ = ["associative_scan"]
