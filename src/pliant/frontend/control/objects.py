"""Trees of what names are bound to, in which objects are taken apart too.

state = State(0.0, v)           a step that binds `state` anew carries the fields: whether two names are bound
for x in xs:                    to one frozen object or to equal ones does not matter, as nobody can write to them
    state = State(state.s + x, state.v)

Other objects are taken apart where that is asked for: those that a step or a block has made, whose attributes are all
there is of them. Where one may be two by a condition, it is a copy: what is set of it is set of the others (`copies`).
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any, Final, TypeAlias, cast, final

from optree.utils import total_order_sorted

from pliant.core.data import frozen
from pliant.frontend import signature
from pliant.frontend.array import TracedArray
from pliant.frontend.attributes import attributes
from pliant.frontend.control.ornone import OrNone
from pliant.frontend.control.region import born
from pliant.frontend.control.states import State, one_of_words
from pliant.frontend.control.unbound import Unbound
from pliant.frontend.number import Kind, is_number
from pliant.frontend.records import is_record
from pliant.frontend.tracing import current, is_tracing, thread
from pliant.frontend.whose import is_plain

Opened: TypeAlias = Callable[[Any], bool]  # whether an object that can be changed is taken apart
NUMBERS: Final = frozenset((TracedArray, bool, int, float, complex))
"""Types of leaves."""
LEAF: Final = signature.flatten(0)[1]


@final
@frozen
class Parts:
    """An object: the structure of its attributes, as a tuple, and how many leaves they have."""

    kind: Any
    names: tuple[str, ...]
    structure: Any
    count: int

    def made(self, leaves: Any) -> Any:
        """An object with these leaves; it is not initialised, as what it is made of was."""
        if self.kind is Unbound:
            return Unbound.local(*unflatten(self.structure, leaves))
        if self.kind is State:
            return one_of_words(*unflatten(self.structure, leaves))
        if self.kind is OrNone:
            return OrNone(*unflatten(self.structure, leaves))
        x = object.__new__(self.kind)
        for name, content in zip(self.names, unflatten(self.structure, leaves), strict=True):
            object.__setattr__(x, name, content)
        return x if _is_frozen(x) else born(x)


@final
@frozen
class Structure:
    """That of a tree with objects: of the tree around them, and of each; None for other leaves."""

    outer: Any
    parts: tuple[Parts | None, ...]

    def is_leaf(self) -> bool:
        """Whether the tree is one leaf."""
        return False


def flatten(tree: Any, opened: Opened | None = None) -> tuple[list[Any], Any]:
    """The leaves of a tree, and its structure."""
    if type(tree) in NUMBERS:  # as most are: lists have many
        return [tree], LEAF
    leaves, outer = signature.flatten(tree)
    names = [_names_of(x, opened) for x in leaves]
    if not any([n is not None for n in names]):
        return leaves, outer
    parts: list[Parts | None] = []
    made: list[Any] = []
    for x, own in zip(leaves, names, strict=True):
        if own is None:
            made.append(x)
            parts.append(None)
            continue
        inner, structure = flatten(tuple([getattr(x, name) for name in own]), opened)
        made += inner
        parts.append(Parts(cast("Any", type(x)), own, structure, len(inner)))
    return made, Structure(outer, tuple(parts))


def with_nones(x: Any, other: Any, flag: Callable[[bool], Any], nothing: Callable[[Any], Any]) -> Any:
    """A tree in which numbers and None may be None, by a flag, where they are or may be in another one. flag: says
    whether there is a number; nothing: makes what lies in its place."""
    if OrNone in (type(x), type(other)) or (x is None) is not (other is None):
        inner = other.pliant_value if type(other) is OrNone else other
        own = x.pliant_value if type(x) is OrNone else x
        if not isinstance(inner if own is None else own, Kind) and not is_number(own):
            return x
        is_there = x.pliant_flag if type(x) is OrNone else flag(x is not None)
        return OrNone(is_there, nothing(inner) if own is None else own)
    kind = cast("Any", type(x))
    if kind is not type(other) or kind in (Unbound, State):
        return x
    if is_tuple(kind) and len(x) == len(other):
        parts: Any = [with_nones(a, b, flag, nothing) for a, b in zip(x, other, strict=True)]
        return cast("Any", kind(parts) if kind is tuple else kind(*parts))
    names = _names_of(x, is_own)
    if names is None or names != _names_of(other, is_own):
        return x
    contents = tuple([with_nones(getattr(x, n), getattr(other, n), flag, nothing) for n in names])
    leaves, structure = flatten(contents, is_own)
    return Parts(kind, names, structure, len(leaves)).made(leaves)


def is_told_by_leaves(structure: Any) -> bool:
    """Whether trees of a structure are equal if their leaves are: none has objects that can be changed, or None."""
    parts = structure.parts if isinstance(structure, Structure) else ()
    return all([p is None or (_is_frozen_class(p.kind) and is_told_by_leaves(p.structure)) for p in parts])


def flatten_like(tree: Any, structure: Any) -> list[Any]:
    """The leaves of a tree of a structure for which objects of the trace may have been taken apart."""
    leaves, found = flatten(tree)
    return leaves if found == structure else flatten(tree, is_own)[0]


def unflatten(structure: Any, leaves: Any) -> Any:
    """The inverse of `flatten`; its lists and dicts are new ones."""
    if structure.is_leaf():
        return signature.unflatten(structure, leaves)
    if isinstance(structure, Structure):
        rest = iter(leaves)
        made = signature.unflatten(structure.outer, [_taken(part, rest) for part in structure.parts])
    else:
        made = signature.unflatten(structure, leaves)
    for x in containers(made):
        born(x)
    return made


def _taken(part: Parts | None, rest: Iterator[Any]) -> Any:
    return next(rest) if part is None else part.made([next(rest) for _ in range(part.count)])


def is_own(x: Any) -> bool:
    """Whether the traced function has made an object."""
    return thread.trace is not None and thread.trace.outermost.own.get(id(x)) is x


def in_region(made: dict[int, Any]) -> Opened:
    """Whether an object is one of those that were made in a region."""
    return lambda x: made.get(id(x)) is x


def containers(tree: Any, *, tuples: bool = False) -> Iterator[Any]:
    """The lists, dicts and objects of a tree that can be changed, and the tuples."""
    kind = cast("Any", type(tree))
    if kind is OrNone:
        yield from containers(tree.pliant_value, tuples=tuples)
    elif kind in (list, dict, OrderedDict, defaultdict, deque) or is_tuple(kind):
        if tuples or not is_tuple(kind):
            yield tree
        parts: list[Any] = [*(tree if kind in (list, deque) or is_tuple(kind) else _values(tree))]
        for part in parts:
            yield from containers(part, tuples=tuples)
    elif is_record(kind) or _is_frozen(tree) or (is_plain(kind) and is_own(tree)):
        if not _is_frozen(tree):
            yield tree
        for part in attributes(tree).values():
            yield from containers(part, tuples=tuples)


def _values(table: dict[Any, Any]) -> list[Any]:
    """What a dict holds, in the order in which `flatten` goes over it."""
    keys = table if isinstance(table, OrderedDict) else total_order_sorted(table)
    return [table[key] for key in keys]


def is_tuple(kind: Any) -> bool:
    """Whether a class is that of tuples, or of named ones."""
    return kind is tuple or (issubclass(kind, tuple) and hasattr(cast("Any", kind), "_fields"))


def keep(tree: Any) -> None:
    """Note that the objects of a tree are copies, or that there are copies of them."""
    kept = current().outermost.kept
    kept.update({id(x): x for x in containers(tree) if not isinstance(x, list | dict | deque)})


def is_kept(x: Any) -> bool:
    """Whether an object is a copy, or has copies."""
    return current().outermost.kept.get(id(x)) is x


def seal(tree: Any) -> None:
    """Note that lists have copies of the objects of a tree, or that these are such: who changes them is traced again,
    without such lists."""
    top = current().outermost
    found = {id(x): x for x in containers(tree) if not isinstance(x, list | dict | deque)}
    top.sealed.update(found)
    top.lengths.are_unknown |= bool(found)


def is_sealed(x: Any) -> bool:
    """Whether lists have copies of an object, or it is one."""
    return is_tracing() and current().outermost.sealed.get(id(x)) is x


def has_objects(elements: Any) -> bool:
    """Whether some of the elements of a list are objects that can be changed, or hold some."""
    return any([next(containers(x), None) is not None for x in elements if type(x) not in NUMBERS])


def is_value(tree: Any) -> bool:
    """Whether nothing of a tree can be changed but arrays."""
    kind = cast("Any", type(tree))
    if kind is OrNone:
        return is_value(tree.pliant_value)
    if kind is tuple:
        return all(map(is_value, cast("tuple[Any, ...]", tree)))
    if _is_frozen(tree):
        return all([is_value(getattr(tree, name)) for name in _names_of(tree, None) or ()])
    if is_plain(kind) and is_own(tree):
        return all(map(is_value, attributes(tree).values()))
    return kind not in (list, dict, set)


def _names_of(x: Any, opened: Opened | None) -> tuple[str, ...] | None:
    """The attributes of an object that is taken apart; None for other leaves."""
    if _is_frozen(x):
        return tuple([f.name for f in fields(x) if hasattr(x, f.name)])
    if type(x) is Unbound and x.is_flagged:
        return "name", "flag", "value"
    if type(x) is OrNone:
        return OrNone.__slots__
    if type(x) is State:
        return State.__slots__
    if opened is None or not is_plain(cast("Any", type(x))) or not opened(x):
        return None
    return tuple(attributes(x))


def _is_frozen(x: Any) -> bool:
    """Whether something is a frozen dataclass that nothing but its fields makes up."""
    return _is_frozen_class(cast("Any", type(x)))


def _is_frozen_class(kind: Any) -> bool:
    params = getattr(kind, "__dataclass_params__", None)
    if params is None or not params.frozen:
        return False
    is_own = kind.__setattr__.__qualname__ == f"{kind.__qualname__}.__setattr__"  # else it may have other attributes
    return is_own and not kind.__module__.startswith("pliant.")
