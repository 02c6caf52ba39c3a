"""Calls of Python's functions of what is one of two objects by a condition, or text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pliant.frontend.control.chosen import is_one_of_two
from pliant.frontend.control.each import of_each
from pliant.frontend.control.unbound import is_chosen


def spread(run: Any, /, *args: Any, **options: Any) -> Any:
    """A call of a function of Python's or NumPy's, of an argument that may be one of two: of each."""
    n = next((n for n, x in enumerate(args) if is_one_of_two(x)), None)
    if n is None:
        return run(*args, **options)
    return of_each(args[n], lambda one: spread(run, *args[:n], one, *args[n + 1 :], **options))


def joined_text(join: Callable[[list[Any]], str], items: Any) -> str:
    """`"".join(items)`; an error if one of them is one of two words."""
    given = list(items)
    for part in given:
        if is_chosen(part):
            raise part.refused()
    return join(given)
