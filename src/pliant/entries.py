"""Calls like the present one, in the words of a backend's entry: so that the next one takes no Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import CellType
from typing import Any, cast, final

import numpy as np

from pliant.backends.calls import (
    Array,
    Call,
    Choice,
    Conditions,
    Constant,
    Container,
    Front,
    Given,
    Made,
    Number,
    Part,
    Passed,
    Result,
    Target,
    View,
)
from pliant.core.frozen import frozen
from pliant.core.types import DTYPES
from pliant.frontend.alias import Group
from pliant.frontend.attributes import attributes
from pliant.frontend.guards import MISSING, Guards
from pliant.frontend.kinds import is_array, is_sequence, is_table
from pliant.frontend.memory import address_of
from pliant.frontend.outputs import Changed, Output
from pliant.frontend.placing import Pairs
from pliant.frontend.program import Program
from pliant.frontend.records import is_record
from pliant.frontend.sharing import containers
from pliant.frontend.shown import Cut, Window
from pliant.frontend.signature import WEAK, Static, converter, flatten, unflatten
from pliant.frontend.view import Lens, ReadOnlyLens, look


class NoEntryError(Exception):
    """A call that only Python can serve."""


@final
@frozen
class Sample:
    """One call of a program: its arguments, and the leaves as they were given, and as arrays and numbers. A function
    that changes containers among its arguments has changed them by now."""

    program: Program
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    names: tuple[str, ...]  # of all keywords, in order; `out` may be among them
    structure: Any  # of (args, kwargs)
    given: Sequence[Any]
    leaves: Sequence[Any]

    def param(self, leaf: int) -> int:
        """The number of a leaf's parameter."""
        return self.program.leaves.index(leaf)


def call_like(sample: Sample, out: Any, outs: Sequence[Any], pairs: Pairs) -> Call | None:
    """What an entry is told of calls like this one; None if only Python can serve them.

    out, outs: what came as `out=`, and its leaves. pairs: (parameter, result) of those that lie in an argument.
    """
    program = sample.program
    is_shared = any([isinstance(place, Group) for place, _ in program.written])
    if program.changed and len(containers((sample.args, *sample.kwargs.values()))) > 1:  # which may be one next time
        return None
    is_frozen = bool(program.changed) and flatten((sample.args, sample.kwargs))[1] != sample.structure
    if is_shared or program.groups or program.packs or is_frozen or (program.changed and out is not None):
        return None
    try:
        args, kwargs = unflatten(sample.structure, range(len(sample.leaves)))
        positional = tuple([_part(sample, a, x) for a, x in zip(args, sample.args, strict=True)])
        parts: dict[str, Part] = {"out": Constant(None)}  # unless it is another
        parts |= {name: _part(sample, kwargs[name], x) for name, x in sample.kwargs.items()}
        returned, is_plain = _returned(sample)
        if out is not None:
            parts["out"] = _targets(program, out, outs, pairs)
            returned, is_plain = Passed(len(positional) + sample.names.index("out")), True
        keywords = tuple([(name, parts[name]) for name in sample.names])
        rebuild = None if is_plain else program.structure.unflatten
        if program.changed is not None:
            returned, rebuild = _changing(sample, program.changed, returned, rebuild)
    except NoEntryError:
        return None
    first = len(program.leaves)
    return Call(
        positional, returned, keywords,
        captured=tuple([(a, _captured(program, first, n)) for n, a in enumerate(program.captured)]),
        written=tuple(_written(sample)),
        apart=apart(sample),
        conditions=conditions(program),
        rebuild=rebuild,
        failed=program.failed,
    )  # fmt: skip


def _part(sample: Sample, numbered: Any, x: Any) -> Part:
    """An argument, with its leaves' numbers in the same places."""
    kind = numbered.__class__
    if kind is int:
        return _leaf(sample, numbered, sample.given[numbered])
    if numbered is None:
        return Constant(None)
    if is_record(kind):
        numbers, held = attributes(numbered), attributes(x)
        if held is not getattr(x, "__dict__", None):
            raise NoEntryError
        return Container(kind, tuple([_part(sample, numbers[name], y) for name, y in held.items()]), tuple(held))
    return _container(x, [_part(sample, n, y) for n, y in _pairs(numbered, x)])


def _pairs(tree: Any, x: Any) -> list[tuple[Any, Any]]:
    """The parts of two containers of one structure, in the order of the second."""
    if is_table(x):
        return [(tree[key], y) for key, y in x.items()]
    if is_sequence(x):
        return list(zip(tree, x, strict=True))
    raise NoEntryError


def _container(x: Any, parts: Sequence[Any]) -> Container:
    """A container like x, with other parts; a native entry knows exact dicts, lists, tuples and named tuples."""
    kind, keys = x.__class__, tuple(x) if is_table(x) else ()
    is_known = kind in (tuple, list, dict) or (issubclass(kind, tuple) and hasattr(cast("Any", kind), "_fields"))
    if not is_known or not all([key.__class__ in (str, int) for key in keys]):
        raise NoEntryError
    return Container(kind, tuple(parts), keys)


def _leaf(sample: Sample, number: int, x: Any) -> Part:
    program, leaf = sample.program, sample.leaves[number]
    if number not in program.leaves:
        return _known(x.value if isinstance(x, Static) else x)
    param = sample.param(number)
    kind = x.__class__
    if kind in WEAK or isinstance(x, np.generic):
        limits = [np.iinfo(DTYPES[dtype]) for n, dtype in program.narrowed if n == number]
        return Number(param, kind, (int(limits[0].min), int(limits[0].max)) if limits else None)
    if not leaf.dtype.isnative:
        raise NoEntryError
    memory, convert = program.memory(number), None if kind is np.ndarray else converter(kind)
    return Array(
        param, _strides(leaf), None if kind is np.ndarray else kind, convert, program.order(number),
        shape=memory.shape if memory else None, is_aligned=bool(leaf.flags.aligned),
    )  # fmt: skip


def _known(value: Any) -> Part:
    """What equals a value, and so do the items of tuples, with their classes: (1, 2) is not (1.0, 2)."""
    return Container(tuple, tuple(map(_known, value))) if value.__class__ is tuple else Constant(value)


def _captured(program: Program, first: int, number: int) -> Array:
    """A captured array; the parameters of these begin with `first`."""
    array, memory = program.captured[number], program.captured_memory(number)
    is_aligned = bool(array.flags.aligned)
    return Array(first + number, _strides(array), shape=memory.shape if memory else None, is_aligned=is_aligned)


def _strides(array: Any) -> tuple[int, ...] | None:
    """Strides in bytes of an array that is not row-major."""
    return None if array.flags.c_contiguous else array.strides


def _targets(program: Program, out: Any, outs: Sequence[Any], pairs: Pairs) -> Part:
    """The arrays of `out=`, each with the result that it gets."""
    numbers = [o.place for o in program.outputs]
    if len({*numbers}) < len(numbers) or not all([o.is_result and not o.lenses for o in program.outputs]):
        raise NoEntryError
    lies_in = {result: param for param, result in pairs}
    targets = [Target(n, _strides(a), lies_in.get(n)) for n, a in zip(numbers, outs, strict=True)]
    return _of_targets(unflatten(flatten(out)[1], targets), out)


def _of_targets(tree: Any, x: Any) -> Part:
    if type(tree) is Target:
        return tree
    if tree is None:
        return Constant(None)
    return _container(x, [_of_targets(t, y) for t, y in _pairs(tree, x)])


def _returned(sample: Sample) -> tuple[Made, bool]:
    """What is made of the results, and whether that is all that is returned: else it is the leaves of it."""
    program = sample.program
    leaves: list[Any] = []
    for output in program.outputs:
        leaves.append(leaves[output.place] if output.kind == "same" else _made(sample, output))
    try:
        return _tree(unflatten(program.structure, leaves)), True
    except NoEntryError:
        return Container(tuple, tuple(leaves)), False


def _changing(
    sample: Sample, changed: Changed, returned: Made, rebuild: Callable[[Any], Any] | None
) -> tuple[Made, Callable[[Any], Any]]:
    """What is made of the results where the function changes containers: what is returned, what they get, and the
    arguments; and what changes them by that, and returns the first."""
    new = [Constant(None) if o.kind == "leaf" else _made(sample, o) for o in changed.outputs]
    count, names = len(sample.args), sample.names
    arguments = [Passed(n) for n in range(count + len(names))]

    def change(made: Any) -> Any:
        answer, items, *passed = made
        tree = tuple(passed[:count]), dict(zip(names, passed[count:], strict=True))
        given = flatten(tree)[0]
        items = [given[o.place] if o.kind == "leaf" else x for o, x in zip(changed.outputs, items, strict=True)]
        changed.put(tree, items)
        return answer if rebuild is None else rebuild(answer)

    return Container(tuple, (returned, Container(tuple, tuple(new)), *arguments)), change


def _tree(tree: Any) -> Made:
    if isinstance(tree, Result | Given | View | Front | Constant | Choice):
        return tree
    if tree is None:
        return Constant(None)
    return _container(tree, [_tree(part) for part, _ in _pairs(tree, tree)])


def _made(sample: Sample, output: Output) -> Made:
    """One returned leaf."""
    program, place = sample.program, output.place
    if output.kind == "static":
        return Constant(place)
    if output.is_result:
        result = Result(place, output.kind)
        if len(output.lenses) == 1 and isinstance(cut := output.lenses[0], Cut):
            return Front(result, cut.counts)
        return _view(result, np.empty(*_form(program, place)), output.lenses) if output.lenses else result
    if output.kind == "either":
        sides = [_made(sample, side) for side in output.alternatives]
        if any([isinstance(side, View | Front) for side in sides]):
            raise NoEntryError
        return Choice(place, *sides)
    if output.kind != "source":
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


def _written(sample: Sample) -> Iterator[tuple[int, int]]:
    """(parameter, result) of what is written."""
    program = sample.program
    first = len(program.leaves)
    for place, result in program.written:
        if isinstance(place, int):
            yield sample.param(place), result
        else:
            yield from [(first + n, result) for n, a in enumerate(program.captured) if a is place]


def apart(sample: Sample) -> tuple[tuple[int, int], ...]:
    """Pairs of parameters that may not overlap: what is written, if only for a while, and all others."""
    count = len(sample.program.leaves) + len(sample.program.captured)
    watched = [*_watched(sample)]
    return tuple({(min(w, other), max(w, other)) for w in watched for other in range(count) if other != w})


def _watched(sample: Sample) -> Iterator[int]:
    program, number = sample.program, len(sample.leaves)
    for place in program.watched:
        if place < number:
            yield sample.param(place)
        else:
            met = program.met[place - number]
            yield from [len(program.leaves) + n for n, a in enumerate(program.captured) if a is met]


def conditions(program: Program) -> Conditions:
    """What a program assumes about names outside, sorted by who can look at it: structs tell most."""
    guards, plain = program.guards, (list, dict, tuple)
    texts = [e for e in guards.named if type(e[1]) is str]
    items, absent = ([e for e in texts if (e[2] is MISSING) == is_absent] for is_absent in (False, True))
    elements = [e for e in guards.others if type(e[0]) is list and e[2] is not MISSING]
    cells = [e for e in guards.others if isinstance(e[0], CellType) and e[2] is not MISSING]
    sizes = [e for e in guards.sizes if type(e[0]) in plain]
    known = {id(e) for e in (*texts, *elements, *cells, *sizes)}
    rest = Guards(
        [e for e in guards.named if id(e) not in known],
        [e for e in guards.others if id(e) not in known],
        [e for e in guards.sizes if id(e) not in known],
    )
    held = tuple([(cell, value) for cell, _, value in cells])
    has_more = rest.entries or rest.sizes
    return Conditions(
        tuple(items), tuple(elements), tuple(sizes), held, rest.hold if has_more else None,
        absent=tuple([(names, name) for names, name, _ in absent]), functions=tuple(guards.functions),
    )  # fmt: skip
