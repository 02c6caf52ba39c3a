"""What calls like the present one return, and leave in containers, in the words of a backend's entry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast, final

import numpy as np

from pliant.backends.calls import (
    Came,
    Choice,
    Constant,
    Container,
    Element,
    Elements,
    Front,
    Given,
    Made,
    Part,
    Passed,
    Put,
    Result,
    View,
    Whole,
    looped,
)
from pliant.core.data import frozen
from pliant.core.types import DTYPES
from pliant.frontend.attributes import attributes
from pliant.frontend.changed import Changed
from pliant.frontend.kinds import is_array, is_of, is_sequence, is_table
from pliant.frontend.memory import address_of
from pliant.frontend.outputs import Output
from pliant.frontend.program import Program
from pliant.frontend.sharing import containers
from pliant.frontend.shown import Cut, Window
from pliant.frontend.signature import flatten, unflatten
from pliant.frontend.view import Lens, ReadOnlyLens, look


class NoEntryError(Exception):
    """A call that only Python can serve."""


@final
@frozen
class Sample:
    """One call of a program: the objects from outside that it has as arguments, its own arguments, and the leaves as
    they were given, and as arrays and numbers. A function that changes containers has changed them by now."""

    program: Program
    outside: tuple[Any, ...]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    names: tuple[str, ...]  # of all keywords, in order; `out` may be among them
    structure: Any  # of ((*outside, *args), kwargs)
    given: Sequence[Any]
    leaves: Sequence[Any]
    containers: list[Part]  # those that can be changed, in order, once they are known
    returned: list[Made]  # the leaves, likewise

    @property
    def whole(self) -> tuple[Any, ...]:
        """All arguments without a keyword."""
        return (*self.outside, *self.args)

    def param(self, leaf: int) -> int:
        """The number of a leaf's parameter."""
        return self.program.leaves.index(leaf)

    @property
    def vectors(self) -> int:
        """The number of the first parameter whose elements are leaves."""
        return len(self.program.leaves) + len(self.program.captured)


def returned_by(sample: Sample) -> tuple[Made, bool]:
    """What is made of the results, and whether that is all that is returned: else it is the leaves of it."""
    program = sample.program
    leaves = sample.returned
    for output in program.outputs:
        leaves.append(_made(sample, output))
    if program.spreads:
        return Container(tuple, tuple(leaves)), False
    try:
        return _tree(unflatten(program.structure, leaves), Counter(map(id, leaves))), True
    except NoEntryError:
        return Container(tuple, tuple(leaves)), False


def rebuilding(program: Program) -> Callable[[Any], Any]:
    """What makes of the leaves what the function returns."""
    if not program.spreads:
        return program.structure.unflatten

    def rebuilt(leaves: Any) -> Any:
        made = [*leaves]
        for n, elements in program.spreads.items():
            made[n] = elements.made(made[n])
        return program.tree(made)

    return rebuilt


def changing(
    sample: Sample, changed: Changed, returned: Made, rebuild: Callable[[Any], Any] | None
) -> tuple[Made, Callable[[Any], Any]]:
    """What is made of the results where the function changes containers: what is returned, what they get, and the
    arguments; and what changes them by that, and returns the first."""
    new = [Constant(None) if o.kind == "leaf" else _made(sample, o) for o in changed.outputs]
    count, names = len(sample.args), sample.names
    arguments = [Passed(n) for n in range(count + len(names))]

    def change(made: Any) -> Any:
        answer, items, *passed = made
        tree = (*sample.outside, *passed[:count]), dict(zip(names, passed[count:], strict=True))
        given = flatten(tree)[0]
        items = [_item(o, given, x) for o, x in zip(changed.outputs, items, strict=True)]
        changed.put(containers(tree), items, given)
        return answer if rebuild is None else rebuild(answer)

    return Container(tuple, (returned, Container(tuple, tuple(new)), *arguments)), change


def _item(output: Output, given: Sequence[Any], made: Any) -> Any:
    """What a container gets: an argument, or what was made."""
    if output.kind == "leaf":
        return given[output.place]
    return output.place.made(made) if output.kind == "spread" else made


@final
class Puts:
    """What containers are given that stay what and where they are. Tuples are put anew where a part is another."""

    def __init__(self, sample: Sample, changed: Changed, arguments: Sequence[tuple[Any, Part]]) -> None:
        self.sample = sample
        self.outputs: dict[int, Output] = dict(enumerate(changed.outputs))
        self.parts: dict[int, Part] = {}  # by the leaf's number
        for numbered, part in arguments:
            self.gather(numbered, part)
        inside = [put for numbered, part in arguments for put in self.into(numbered, part)]
        self.all = (*inside, *self.appended(changed))

    def gather(self, numbered: Any, part: Part) -> None:
        if numbered.__class__ is int:
            self.parts[numbered] = part
        elif isinstance(part, Container):
            for _, inner, of in _inside(numbered, part):
                self.gather(inner, of)

    def into(self, numbered: Any, part: Part) -> Iterator[Put]:
        if numbered.__class__ is int or not isinstance(part, Container):
            return
        is_tuple = issubclass(cast("Any", part.kind), tuple)
        for key, inner, of in _inside(numbered, part):
            if self.is_new(inner) and not is_tuple:
                yield Put(part, key, self.content(inner, of))
            yield from self.into(inner, of)

    def appended(self, changed: Changed) -> Iterator[Put]:
        numbers = range(changed.structure.num_leaves, len(changed.outputs))
        for leaf, new in zip(changed.ends, unflatten(changed.more, numbers)[0], strict=True):
            for numbered in new:
                yield Put(cast("Whole", self.parts[leaf]), None, self.anew(numbered))

    def anew(self, numbered: Any) -> Made:
        """A new object of these leaves."""
        if numbered is None:
            return Constant(None)
        if numbered.__class__ is int:
            return self.content(numbered, Constant(None))
        return container_like(numbered, [self.anew(inner) for inner, _ in pairs_of(numbered, numbered)])

    def is_new(self, numbered: Any) -> bool:
        """Whether a leaf, or one of a tuple, is another than before."""
        if numbered.__class__ is int:
            return self.outputs[numbered] != Output("leaf", numbered)
        return is_of(numbered, tuple) and any(map(self.is_new, numbered))

    def content(self, numbered: Any, part: Part) -> Made:
        if numbered.__class__ is int:
            output = self.outputs[numbered]
            return Came(self.parts[output.place]) if output.kind == "leaf" else _made(self.sample, output)
        if is_of(numbered, tuple) and isinstance(part, Container):
            return Container(part.kind, tuple([self.content(inner, of) for _, inner, of in _inside(numbered, part)]))
        return Came(part)


def _inside(numbered: Any, part: Container) -> list[tuple[Any, Any, Part]]:
    """The keys of a container, with the leaves' numbers and what is known of each part."""
    if not part.parts:  # an object without attributes is not gone over
        return []
    if not part.keys:
        return [(n, x, of) for n, (x, of) in enumerate(zip(numbered, part.parts, strict=True))]
    held = numbered if is_table(numbered) else attributes(numbered)
    return [(key, held[key], of) for key, of in zip(part.keys, part.parts, strict=True)]


def _tree(tree: Any, uses: Counter[int]) -> Made:
    if isinstance(tree, Result | Element | Given | Came | View | Front | Constant | Choice):
        return tree
    if tree is None:
        return Constant(None)
    return _row(container_like(tree, [_tree(part, uses) for part, _ in pairs_of(tree, tree)]), uses)


def _row(made: Container, uses: Counter[int]) -> Made:
    """A container, or what is made by a loop if its parts are alike. uses: of views, by their ids."""
    are_lone = made.kind in (list, tuple) and all([_is_lone(x, uses) for x in made.parts])
    item = looped(made.parts) if are_lone else None
    return made if item is None else Elements(made.kind, len(made.parts), item)


def _is_lone(x: Made, uses: Counter[int]) -> bool:
    """Whether a loop can make it: no view is returned twice, as one object, or shows what is outside."""
    if isinstance(x, View):
        return uses[id(x)] == 1 and not isinstance(x.of, Constant)
    return not isinstance(x, Container) or all([_is_lone(part, uses) for part in x.parts])


def _made(sample: Sample, output: Output) -> Made:
    """One returned leaf."""
    program, place = sample.program, output.place
    if output.kind == "static":
        return Constant(place)
    if output.kind == "same":
        return sample.returned[int(place)]
    if output.kind == "spread":
        return Container(tuple, tuple([_made(sample, column) for column in output.alternatives]))
    if output.kind == "container":
        if not sample.containers:
            raise NoEntryError
        return Came(sample.containers[int(place)])
    if output.kind in ("scalar", "python") and output.lenses:
        array = np.empty(*_form(program, place))
        seen = cast("View", _view(Result(place, "array"), array, output.lenses))
        return Element(place, output.kind, seen.offset)
    if output.is_result:
        result = Result(place, output.kind)
        if len(output.lenses) == 1 and isinstance(cut := output.lenses[0], Cut):
            return Front(result, cut.counts)
        return _view(result, np.empty(*_form(program, place)), output.lenses) if output.lenses else result
    if output.kind == "either":
        sides = [_made(sample, side) for side in output.alternatives]
        if any([isinstance(side, View | Front) for side in sides]):
            raise NoEntryError
        return Choice(place, tuple(sides))
    if output.kind != "source":  # "kept" is known when containers are changed
        raise NoEntryError
    if program.is_turned_back(output):
        return Given(sample.param(place))
    if not isinstance(place, int):
        return _view(Constant(place), place, output.lenses)
    if place >= len(sample.leaves):
        met = program.met[place - len(sample.leaves)]
        return _view(Constant(met), met, output.lenses)
    return _view(Given(sample.param(place)), sample.leaves[place], output.lenses)


def _form(program: Program, result: int) -> tuple[tuple[int, ...], str]:
    type_ = program.fn.results[result].type
    return type_.shape, DTYPES[type_.dtype]


def _view(of: Result | Given | Constant, array: Any, lenses: Sequence[Lens | Window | Cut]) -> Made:
    """What lenses show of an array: the array itself if there are none."""
    if not lenses:
        return of
    fixed = [lens for lens in lenses if not isinstance(lens, Window | Cut)]
    if len(fixed) < len(lenses):
        raise NoEntryError
    shown = look(array, tuple(fixed))
    if shown is array:
        return of
    if _owner(shown) is not _owner(array):
        raise NoEntryError
    offset = address_of(shown) - address_of(array)
    is_writeable = not any([isinstance(lens, ReadOnlyLens) for lens in fixed])
    return View(of, shown.dtype, shown.shape, shown.strides, offset, is_writeable)


def _owner(array: Any) -> Any:
    """The array that an array is a view of."""
    while is_array(array.base):
        array = array.base
    return array


def pairs_of(tree: Any, x: Any) -> list[tuple[Any, Any]]:
    """The parts of two containers of one structure, in the order of the second."""
    if is_table(x):
        return [(tree[key], y) for key, y in x.items()]
    if is_sequence(x):
        return list(zip(tree, x, strict=True))
    raise NoEntryError


def container_like(x: Any, parts: Sequence[Any]) -> Container:
    """A container like x, with other parts; a native entry knows exact dicts, lists, tuples and named tuples."""
    kind, keys = x.__class__, tuple(x) if is_table(x) else ()
    is_known = kind in (tuple, list, dict) or (issubclass(kind, tuple) and hasattr(cast("Any", kind), "_fields"))
    if not is_known or not all([_is_key(key) for key in keys]):
        raise NoEntryError
    return Container(kind, tuple(parts), keys)


def _is_key(key: Any) -> bool:
    """Whether a native entry knows a key when it sees it."""
    return key.__class__ in (str, int) or (key.__class__ is tuple and all(map(_is_key, key)))
