"""Lists that two blocks left, of which one is run: as arrays, one of two for each part of their elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from pliant.core.ir import Value, Values
from pliant.frontend.control.copies import stands_for
from pliant.frontend.control.fronts import Form
from pliant.frontend.control.moved import Recipe
from pliant.frontend.control.outcomes import as_left, elements_left
from pliant.frontend.control.region import Outcome, Place, born
from pliant.frontend.control.tables import Table, are_rows, like, nested, share


class Slots(Protocol):
    """The results of a `cond` that are asked for."""

    condition: Value
    sides: tuple[Outcome, Outcome]

    def slot(self, one: Value, two: Value) -> int:
        """The number of a result that is one of two values."""
        ...


def listed(join: Slots, contents: Sequence[list[Any]], place: Place) -> Recipe | None:
    """A list as the elements of arrays, one for each of their parts; None if they are better chosen one by one."""
    is_grid = place.kind == "rows"
    if is_grid and len({len(row) for rows in contents for row in rows}) > 1:
        return None
    originals = [] if is_grid else [*contents[0], *contents[1]]
    if not is_grid:
        contents = [elements_left(side, elements) for side, elements in zip(join.sides, contents, strict=True)]
    element = nested(*contents) if is_grid else like([*contents[0], *contents[1]])
    if element is None or (element.has_arrays and not any(map(are_rows, contents))):
        return None
    table, sides = Table(place, contents[0], element), list[list[Value]]()
    for side, elements in zip(join.sides, contents, strict=True):
        with side.region.inside():
            sides.append(table.parts(elements))
    share(originals)
    slots = [join.slot(one, two) for one, two in zip(*sides, strict=True)]
    return lambda results: table.after([results[n] for n in slots])


def filled(join: Slots, contents: Sequence[list[Any]]) -> Recipe | None:
    """A list of which it is known only at run time how many elements it has; None if these are not alike."""
    left = [elements_left(side, elements) for side, elements in zip(join.sides, contents, strict=True)]
    form, sides = Form.of(*left), list[list[Value]]()
    if form is None:
        return None
    share([*contents[0], *contents[1]])
    for side, elements in zip(join.sides, left, strict=True):
        with side.region.inside():
            sides.append(form.values(elements))
    slots = [join.slot(one, two) for one, two in zip(*sides, strict=True)]
    return lambda results: form.listed([results[n] for n in slots])


def one_of_two(join: Slots, a: Any, b: Any) -> Recipe | None:
    """A copy of one of two lists that have not as many elements, or of which that is not known; None if they are no
    lists, or their elements are not alike."""
    if not type(a) is type(b) is list:
        return None
    made = filled(join, as_left(join.sides, (a, b), list))
    if made is None:
        return None

    def recipe(results: Values) -> Any:
        x = born(made(results))
        stands_for(x, join.condition, [a], [b])
        return x

    return recipe
