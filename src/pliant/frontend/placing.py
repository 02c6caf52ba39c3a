"""Where the results of a call lie for which the caller gave arrays: there, if nothing else does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from pliant.core.ir import Function, Value
from pliant.core.scope import scope
from pliant.core.types import DTYPES, Type
from pliant.frontend.memory import address_of
from pliant.frontend.outputs import Output
from pliant.frontend.program import Program
from pliant.frontend.view import PermuteLens
from pliant.ops.shape import permute
from pliant.transforms.replace import copied

Pairs: TypeAlias = "tuple[tuple[int, int], ...]"


def row_major(program: Program) -> Program:
    """The program with results in the order of their axes, as arrays of the caller's mostly are; itself if all are."""
    changed = program.changed.outputs if program.changed else ()
    uses = Counter([o.place for o in (*program.outputs, *changed) if o.is_result])
    turned = [o for o in program.outputs if is_turned(o) and uses[o.place] == 1]
    if not turned:
        return program
    fn = program.fn
    with scope():
        results: list[Value] = [*copied(fn.results, {p: p for p in fn.params})]
        for o in turned:
            (lens,) = o.lenses
            assert isinstance(lens, PermuteLens)
            number: int = o.place
            results[number] = permute(results[number], lens.order)
        fn = Function(fn.name, fn.params, tuple(results))
    outputs = tuple([replace(o, lenses=()) if o in turned else o for o in program.outputs])
    return replace(program, fn=fn, outputs=outputs)


def is_turned(output: Output) -> bool:
    """Whether an array is a result with its axes in another order."""
    return output.kind == "array" and len(output.lenses) == 1 and isinstance(output.lenses[0], PermuteLens)


def written_over(program: Program, arguments: Sequence[Any], outs: Sequence[Any]) -> Pairs:
    """(parameter, result) where the array for a result is an argument itself, which no other overlaps, and of
    which no result is a view."""
    pairs: dict[int, int] = {}
    taken = {p for p, _ in program.pinned} | shown(program)
    for output, out in zip(program.outputs, outs, strict=True):
        near = [p for p, a in enumerate(arguments) if np.may_share_memory(out, a)]
        if is_whole(output, out) and len(near) == 1 and not taken & {*near} and is_same(out, arguments[near[0]]):
            taken.update(near)
            pairs.setdefault(output.place, near[0])
    return tuple((p, r) for r, p in pairs.items())


def shown(program: Program) -> set[int]:
    """The parameters that results are views of."""
    met = len(program.leaves) + len(program.groups)
    params = {leaf: p for p, leaf in enumerate(program.leaves)}
    params |= {m.place: len(program.leaves) + n for n, group in enumerate(program.groups) for m in group.members}
    params |= {id(array): met + n for n, array in enumerate(program.captured)}
    places = [side.place for o in program.outputs for side in o.sides if side.kind == "source"]
    return {params[place if isinstance(place, int) else id(place)] for place in places}


def targets(
    program: Program, arguments: Sequence[Any], outs: Sequence[Any], scratch: dict[int, Any], *, is_sure: bool
) -> list[Any]:
    """For each result the array that it is computed in, or None for a new one.

    One of `outs` where it is contiguous, aligned and apart from all arguments, if the call is sure not to
    fail midway. Else an array of `scratch`, to be copied: that is kept from call to call.
    """
    made: list[Any] = [None] * len(program.fn.results)
    kept = {o.place for o in program.changed.outputs if o.is_result} if program.changed else set[int]()
    for output, out in zip(program.outputs, outs, strict=True):
        if not output.is_result or output.place in kept:
            continue
        if is_sure and is_whole(output, out) and not any(np.may_share_memory(out, a) for a in arguments):
            made[output.place] = out
        elif made[output.place] is None:
            if output.place not in scratch:
                scratch[output.place] = empty(program.fn.results[int(output.place)].type)
            made[output.place] = scratch[output.place]
    return made


def packed(program: Program) -> tuple[list[Any], dict[int, Any]]:
    """New vectors, and the part of one that each packed result is, by its number."""
    types = [r.type for r in program.fn.results]
    vectors = [empty(pack.type) for pack in program.packs]
    parts = [pack.parts(v, types) for pack, v in zip(program.packs, vectors, strict=True)]
    return vectors, {n: part for some in parts for n, part in some.items()}


def filled(vectors: Sequence[Any], parts: Mapping[int, Any], results: Sequence[Any]) -> Sequence[Any]:
    """The vectors, the last first, with all results in their parts: those too that were made elsewhere."""
    for number, part in parts.items():
        if results[number] is not part:
            np.copyto(part, results[number])
    return vectors[::-1]


def empty(type: Type) -> Any:
    """A new array of a type."""
    return np.empty(type.shape, DTYPES[type.dtype])


def is_whole(output: Output, out: Any) -> bool:
    """Whether an array is just what a result of the program fills, laid out as that."""
    return output.is_result and not output.lenses and bool(out.flags.carray)


def is_same(a: Any, b: Any) -> bool:
    """Whether two contiguous arrays are the same elements of the same type."""
    is_alike = a.shape == b.shape and a.dtype == b.dtype and bool(b.flags.carray)
    return is_alike and address_of(a) == address_of(b)
