"""What outlives a call: what names outside of the function hold, what it is given, and what can be got to from there.

rows = []                       `rows`
class Log:
    items = []                  `Log`, as it is read by its name, and `Log.items`
update = mean.update            `mean`, whose method it is
keep = partial(put, rows)       what a `partial` calls, and hands on
"""

from __future__ import annotations

import functools
import types
from collections import deque
from collections.abc import Iterable
from typing import Any, Final, cast

from pliant.frontend.attributes import attributes, slots_of
from pliant.frontend.guards import REACH, entries_of, is_module, names_of
from pliant.frontend.kinds import is_of
from pliant.frontend.sharing import LEAVES
from pliant.frontend.tracing import Trace
from pliant.frontend.whose import is_library, is_plain

_BOUND: Final = (types.MethodType, types.BuiltinMethodType, types.MethodWrapperType)
_OF_CLASSES: Final = (
    types.FunctionType, types.BuiltinFunctionType, classmethod, property, types.GetSetDescriptorType,
    types.MemberDescriptorType, types.WrapperDescriptorType, types.MethodDescriptorType,
)  # fmt: skip
"""What classes have that is no content of theirs."""


def reached(trace: Trace, given: Iterable[Any], most: int = REACH) -> list[Any]:
    """The containers and objects that outlive a call, and functions; at most so many."""
    first = [*given, *named(trace)]
    for _, fn in trace.instrumented.values():
        first += [fn.__defaults__, fn.__kwdefaults__, fn.__dict__]
    found = {id(x): x for x in first}
    queue = deque(found.values())
    while queue and len(found) < most:
        for value in held_by(queue.popleft()):
            if value.__class__ not in LEAVES and id(value) not in found:
                found[id(value)] = value
                queue.append(value)
    return [*found.values()]


def named(trace: Trace) -> list[Any]:
    """What names outside of the function hold that it has read."""
    names = [(owner, value) for owner, _, value in trace.roots.values()]
    return [value for owner, value in names if isinstance(owner, types.CellType) or is_module(owner)]


def held_by(x: Any) -> list[Any]:
    """What can be got to from something: items, attributes, what its class has, what a function is bound to."""
    kind = cast("Any", type(x))
    if isinstance(x, _BOUND):
        return [] if is_of(x.__self__, types.ModuleType) else [x.__self__]
    if is_of(x, functools.partial):
        return [x.func, *x.args, *x.keywords.values()]
    if is_of(x, types.FunctionType):
        return [x.__dict__, x.__defaults__, x.__kwdefaults__]
    if is_of(x, type):
        return [*of_classes(x), *of_classes(kind)]
    slots = [value for name, value in attributes(x).items() if name in slots_of(kind)] if slots_of(kind) else []
    return [*slots, *[value for _, _, value in entries_of(x)], *(of_classes(kind) if is_plain(kind) else ())]


def of_classes(kind: type) -> list[Any]:
    """What a class of the user's, and those above it, have as attributes that are no methods."""
    classes = [c for c in kind.__mro__ if not is_library(c)]
    return [value for c in classes for value in names_of(c).values() if not isinstance(value, _OF_CLASSES)]
