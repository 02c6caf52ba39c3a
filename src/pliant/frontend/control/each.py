"""What is made of one of two objects, by a condition known only at run time: of each by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from pliant.frontend.array import TracedArray
from pliant.frontend.control.branch import choose
from pliant.frontend.control.chosen import is_one_of_two, known_here
from pliant.frontend.control.signals import TRUTH
from pliant.frontend.control.states import is_member
from pliant.frontend.control.unbound import choice_of, ends_of, is_chosen
from pliant.frontend.number import is_number, with_kind


def of_each(x: Any, use: Callable[[Any], Any]) -> Any:
    """What is made of an object that is one of two, of each by itself."""
    choice = choice_of(x) if is_chosen(x) or is_member(x) else None
    if choice is None:
        return use(x)
    _, one, two = choice
    return choose(_first_of(x), lambda: of_each(one, use), lambda: of_each(two, use))


def operated(x: Any, use: Callable[[Any], Any]) -> Any:
    """What an operator makes of one of two numbers or arrays. It changes nothing: where what it makes is no one thing,
    as of a number and an array, both are computed and can be asked later."""
    made = of_each(x, use)
    if not is_chosen(made) or is_one_of_two(made) or not is_one_of_two(x) or not all(map(is_number, ends_of(x))):
        return made
    one, two = [operated(part, use) for part in x.choice[1:]]
    return choose(_first_of(x), lambda: one, lambda: two)


def _first_of(x: Any) -> TracedArray:
    """Whether what is one of two objects is the first of them."""
    return with_kind(known_here(x, cast("Any", choice_of(x))[0]), TRUTH)
