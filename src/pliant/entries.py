"""Calls like the present one, in the words of a backend's entry: so that the next one takes no Python."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import CellType
from typing import Any, cast

import numpy as np

from pliant.answers import NoEntryError, Puts, Sample, changing, container_like, pairs_of, rebuilding, returned_by
from pliant.backends.calls import (
    Array,
    Call,
    Conditions,
    Constant,
    Container,
    Number,
    Numbers,
    Part,
    Passed,
    Put,
    Target,
    Whole,
    looped,
)
from pliant.core.types import DTYPES, itemsize
from pliant.frontend.alias import Group
from pliant.frontend.attributes import attributes
from pliant.frontend.growing import Growing
from pliant.frontend.guards import Guards
from pliant.frontend.missing import MISSING
from pliant.frontend.outernames import LIMITS, Name
from pliant.frontend.placing import Pairs
from pliant.frontend.program import Program
from pliant.frontend.records import is_record
from pliant.frontend.signature import WEAK, Static, converter, flatten, unflatten
from pliant.frontend.unread import is_unreadable


def call_like(sample: Sample, out: Any, outs: Sequence[Any], pairs: Pairs) -> Call | None:
    """What an entry is told of calls like this one; None if only Python can serve them.

    out, outs: what came as `out=`, and its leaves. pairs: (parameter, result) of those that lie in an argument.
    """
    program, changed = sample.program, sample.program.changed
    is_shared = any([isinstance(place, Group) for place, _ in program.written])
    are_one = bool(program.layouts.firsts or program.identities)  # of objects in two places an entry looks at one
    if is_shared or are_one or program.locked or program.groups or program.packs or (changed and out is not None):
        return None
    is_in_place = changed is None or changed.is_in_place(sample.structure)
    if changed and not is_in_place and flatten((sample.whole, sample.kwargs))[1] != sample.structure:
        return None
    try:
        args, kwargs = unflatten(sample.structure, range(len(sample.leaves)))
        whole = [_part(sample, a, x) for a, x in zip(args, sample.whole, strict=True)]
        outside, positional = whole[: len(sample.outside)], whole[len(sample.outside) :]
        parts: dict[str, Part] = {"out": Constant(None)}  # unless it is another
        parts |= {name: _part(sample, kwargs[name], x) for name, x in sample.kwargs.items()}
        named = Container(dict, tuple([parts[name] for name in sample.kwargs]))
        sample.containers.extend([part for x in (*whole, named) for part in _changeable(x)] if is_in_place else [])
        returned, is_plain = returned_by(sample)
        if out is not None:
            parts["out"] = _targets(program, out, outs, pairs)
            returned, is_plain = Passed(len(positional) + sample.names.index("out")), True
        keywords = tuple([(name, parts[name]) for name in sample.names])
        rebuild = None if is_plain else rebuilding(program)
        puts: tuple[Put, ...] = ()
        if changed is not None and is_in_place:
            arguments = [*zip(args, whole, strict=True), *[(kwargs[name], parts[name]) for name in kwargs]]
            puts = Puts(sample, changed, arguments).all
        elif changed is not None:
            returned, rebuild = changing(sample, changed, returned, rebuild)
    except NoEntryError:
        return None
    first = len(program.leaves)
    return Call(
        tuple(positional), returned, keywords,
        outside=tuple(zip(sample.outside, outside, strict=True)),
        captured=tuple([(a, _captured(program, first, n)) for n, a in enumerate(program.captured)]),
        written=tuple(_written(sample)),
        puts=puts,
        are_different=changed is not None,
        apart=apart(sample),
        conditions=conditions(program),
        rebuild=rebuild,
        failed=program.failed,
        decided=None if program.decided is None else (program.decided.run, program.decided.contents),
        vectors=tuple([sample.vectors + n for n in range(len(program.vectors))]),
    )  # fmt: skip


def _changeable(part: Part) -> Iterator[Part]:
    """The containers in an argument that can be changed, in order."""
    if (
        isinstance(part, Whole)
        or (isinstance(part, Numbers) and part.kind is list)
        or (isinstance(part, Container) and not issubclass(cast("Any", part.kind), tuple))
    ):
        yield part
    for inner in part.parts if isinstance(part, Container) else ():
        yield from _changeable(inner)


def _part(sample: Sample, numbered: Any, x: Any) -> Part:
    """An argument, with its leaves' numbers in the same places."""
    kind = numbered.__class__
    if kind is int:
        return _leaf(sample, numbered, sample.given[numbered])
    if numbered is None:
        return Constant(None)
    if type(x) is Name:
        if not attributes(x):
            raise NoEntryError
        part = _part(sample, numbered.content, x.content)
        if isinstance(part, Number) and part.kind is int and part.limits is None:
            part = replace(part, limits=LIMITS)
        return Container(Name, (part,), ("content",), x.bound)
    if is_record(kind):
        numbers, held = attributes(numbered), attributes(x)
        if held is not getattr(x, "__dict__", None):
            raise NoEntryError
        return Container(kind, tuple([_part(sample, numbers[name], y) for name, y in held.items()]), tuple(held))
    return _row(container_like(x, [_part(sample, n, y) for n, y in pairs_of(numbered, x)]), sample.program)


def _row(part: Container, program: Program) -> Part:
    """A container, or its many numbers as one part, if the program neither changes nor returns containers."""
    item = None if program.has_containers or part.kind not in (list, tuple) else looped(part.parts)
    return part if item is None else Numbers(part.kind, len(part.parts), item)


def _leaf(sample: Sample, number: int, x: Any) -> Part:
    program, leaf = sample.program, sample.leaves[number]
    if isinstance(x, Growing):
        return Whole(x.is_empty)
    kind = x.__class__
    if number in program.elements:
        vector, place = program.elements[number]
        size = itemsize(program.vectors[vector].type.dtype)
        return Number(sample.vectors + vector, kind, offset=size * place)
    if number not in program.leaves:
        if is_unreadable(x):
            raise NoEntryError
        return _known(x.value if isinstance(x, Static) else x)
    param = sample.param(number)
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
    numbers = [o.place for o in program.outputs if o.is_result and not o.lenses]
    if len({*numbers}) < len(program.outputs):
        raise NoEntryError
    lies_in = {result: param for param, result in pairs}
    targets = [Target(n, _strides(a), lies_in.get(n)) for n, a in zip(numbers, outs, strict=True)]
    return _of_targets(unflatten(flatten(out)[1], targets), out)


def _of_targets(tree: Any, x: Any) -> Part:
    if type(tree) is Target:
        return tree
    if tree is None:
        return Constant(None)
    return container_like(x, [_of_targets(t, y) for t, y in pairs_of(tree, x)])


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
    keys = [e for e in sizes if type(e[1]) is tuple]
    known = {id(e) for e in (*texts, *elements, *cells, *sizes)}
    rest = Guards(
        [e for e in guards.named if id(e) not in known],
        [e for e in guards.others if id(e) not in known],
        [e for e in guards.sizes if id(e) not in known],
    )
    held = tuple([(cell, value) for cell, _, value in cells])
    counts = tuple([(x, size if isinstance(size, int) else len(size)) for x, size in sizes])
    has_more = rest.entries or rest.sizes
    return Conditions(
        tuple(items), tuple(elements), counts, tuple(keys), held, rest.hold if has_more else None,
        absent=tuple([(names, name) for names, name, _ in absent]), functions=tuple(guards.functions),
    )  # fmt: skip
