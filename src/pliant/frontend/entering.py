"""The parameters of a program for the arguments of a function, and what the function gets for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast, final

import numpy as np

from pliant.core.data import frozen
from pliant.core.ir import Value, param
from pliant.core.origin import ParameterOrigin, at
from pliant.core.types import DTYPES, Type
from pliant.frontend import kinds
from pliant.frontend.alias import Group, Shared
from pliant.frontend.array import TracedArray, view
from pliant.frontend.growing import Growing
from pliant.frontend.needs import may_be_known
from pliant.frontend.program import back
from pliant.frontend.signature import WEAK, Layouts, argument_of, leaf_type
from pliant.frontend.tracing import Storage, Trace, strides_of
from pliant.frontend.unread import Unread, is_unreadable
from pliant.frontend.vectors import Vector, entered_vector, vectors_of
from pliant.frontend.view import Lens, look


def entered_groups(
    trace: Trace, groups: tuple[Group, ...], leaves: Sequence[Any], met: tuple[Any, ...], names: Sequence[str]
) -> dict[int, tuple[Storage, tuple[Lens, ...]]]:
    """One storage for each group; by place, what its arrays look at."""
    made: dict[int, tuple[Storage, tuple[Lens, ...]]] = {}
    for number, group in enumerate(groups):
        given = tuple(names[m.place] for m in group.members if m.place < len(leaves))
        with at(ParameterOrigin(given[:1] or ("captured",), None)):
            value = param(group.type, f"shared{number}")
        lenses = group.lenses()
        storage = Storage(trace, value, source=Shared(group, tuple(lenses)), entered=value)
        for member, lens in zip(group.members, lenses, strict=True):
            made[member.place] = storage, lens
            if member.place >= len(leaves):
                trace.shared[id(met[member.place - len(leaves)])] = storage, lens
    return made


@final
@frozen
class Parameters:
    """Those for leaves, by their numbers, and for vectors of leaves."""

    leaves: dict[int, Value]
    vectors: dict[Vector, Value]


def entered_leaves(
    trace: Trace, f: Callable[..., Any], leaves: Sequence[Any], names: Sequence[str],
    shared: dict[int, tuple[Storage, tuple[Lens, ...]]], layouts: Layouts,
) -> tuple[list[Any], Parameters]:  # fmt: skip
    """What the function gets for each leaf, and the parameters."""
    given: list[Any] = []
    params: dict[int, Value] = {}
    vectors = vectors_of(leaves, names, trace.needs.known) if layouts.lies else ()
    entered = [entered_vector(trace, vector, leaves, names) for vector in vectors]
    pairs = [p for v, (_, xs) in zip(vectors, entered, strict=True) for p in zip(v.places, xs, strict=True)]
    elements = dict(pairs)
    for i, (leaf, name) in enumerate(zip(leaves, names, strict=True)):
        if is_unreadable(leaf) and argument_of(name) != name:
            given.append(Unread(leaf, name))
            continue
        type_ = None if i in trace.needs.known else leaf_type(leaf, name)
        turn = back(layouts.orders[i]) if layouts.orders else ()
        if type_ is None or i in shared:
            given.append(_known(leaf, turn) if type_ is None else _turned(TracedArray(*shared[i]), turn))
            continue
        if i in elements:
            made = elements[i]
        else:
            made, params[i] = _entered(trace, i, leaf, type_, layouts, ParameterOrigin.of(name, f), turn)
        given.append(made)
        if may_be_known(leaf):
            trace.needs.leaves[elements[i].value if i in elements else params[i]] = i
    return given, Parameters(params, dict(zip(vectors, [value for value, _ in entered], strict=True)))


def _entered(
    trace: Trace, i: int, leaf: Any, type_: Type, layouts: Layouts, origin: ParameterOrigin, turn: tuple[Lens, ...]
) -> tuple[TracedArray, Value]:
    """What the function gets for an array or a number, and its parameter."""
    memory = layouts.memories[i] if layouts.memories else None
    name = origin.names[0]
    with at(origin):
        value = param(memory.type if memory else type_, name if name.isidentifier() else f"x{i}")
        content = memory.shown(value) if memory else value
    is_array = kinds.is_array(leaf)
    is_writeable = not is_array or leaf.flags.writeable
    storage = Storage(trace, content, index=i, writeable=is_writeable, strides=strides_of(leaf))
    storage.is_callers_wish = not is_writeable
    return TracedArray(storage, turn, is_scalar=not is_array, is_weak=type(cast("Any", leaf)) in WEAK), value


def arrays_of(
    entered: Parameters, shared: dict[int, tuple[Storage, tuple[Lens, ...]]], leaves: Sequence[Any],
    met: tuple[Any, ...], layouts: Layouts, name: str,
) -> dict[Value, Any]:  # fmt: skip
    """What the parameters for arguments, and for groups, hold."""
    memories = layouts.memories or (None,) * len(leaves)
    found = {
        value: memory.of(leaves[i]) if (memory := memories[i]) else np.asarray(leaves[i], DTYPES[value.dtype])
        for i, value in entered.leaves.items()
    }
    found |= {value: vector.array(leaves, name) for vector, value in entered.vectors.items()}
    sources = {s.entered: s.source.group for s, _ in shared.values() if s.entered is not None}
    return found | {value: group.flat([*leaves, *met]) for value, group in sources.items()}


def _known(leaf: Any, turn: tuple[Lens, ...]) -> Any:
    """What a function gets for a leaf whose value is known."""
    return leaf.stand_in if type(leaf) is Growing else look(leaf, turn)


def _turned(x: TracedArray, lenses: tuple[Lens, ...]) -> TracedArray:
    return view(x, *lenses) if lenses else x
