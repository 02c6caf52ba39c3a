"""What the user's function changes in place: items, attributes, whole containers. A trial takes it back."""

from __future__ import annotations

import types
from collections import ChainMap, OrderedDict, UserDict, UserList, deque
from collections.abc import Callable, Iterator, MutableMapping, MutableSequence, Sequence
from typing import Any, Final, cast

from pliant.core.ir import Value
from pliant.core.origin import here
from pliant.errors import UnsupportedError
from pliant.frontend.array import TracedArray
from pliant.frontend.attributes import attributes, put_attribute, slots_of
from pliant.frontend.control import lists
from pliant.frontend.control.branch import choose
from pliant.frontend.control.chosen import is_one_of_two
from pliant.frontend.control.copies import Same, seen_too
from pliant.frontend.control.each import of_each
from pliant.frontend.control.fronts import array_of_list, front_of
from pliant.frontend.control.grids import row_of, write, written_apart
from pliant.frontend.control.keyed import is_among, is_asked, new_key, place_among, taken_by_index
from pliant.frontend.control.oneof import One, one_of, taken
from pliant.frontend.control.ornone import (
    OrNone,
    holder_of_attribute,
    holder_of_item,
    place_or_error,
    updated_operand,
)  # fmt: skip
from pliant.frontend.control.perhaps import ASKING, all_overwritten, in_known_order, overwritten
from pliant.frontend.control.region import Place, born, cells_of, in_loop, note, note_name, on_trial, place_of
from pliant.frontend.control.specials import updated
from pliant.frontend.control.tables import written
from pliant.frontend.control.unbound import Unbound
from pliant.frontend.control.walked import going_on
from pliant.frontend.guards import special
from pliant.frontend.kinds import is_of
from pliant.frontend.tracing import Storage, current, is_tracing

CHANGING: Final = frozenset((
    "append extend insert pop remove clear sort reverse update setdefault popitem add discard appendleft "
    "extendleft popleft rotate subtract move_to_end difference_update intersection_update symmetric_difference_update"
).split())  # fmt: skip
"""Methods that change a container."""

CHANGING_MODULES: Final = frozenset(("_heapq", "_bisect"))
"""Modules whose functions change a list that they are given."""

CONTAINERS: Final = (list, dict, set, deque)

_PLAIN: Final[Any] = (dict.__setitem__, OrderedDict.__setitem__)  # type: ignore[reportUnknownMemberType]

_CHAINED: Final[Any] = ChainMap.__setitem__  # type: ignore[reportUnknownMemberType]
_WRAPPED: Final[Any] = (UserDict.__setitem__, UserList.__setitem__)  # type: ignore[reportUnknownMemberType]


def store(value: Any, holder: Any, key: Any) -> None:
    """`holder[key] = value`."""
    holder = _within(holder_of_item(holder))
    kind = cast("Any", type(holder))
    method = special(holder, "__setitem__")
    if method is not None:
        method(key, value)
        return
    if kind is list and (one := one_of(holder)) is not None:
        _store_in(one, place_or_error(key), value)
        return
    if (one := one_of(value)) is not None and one.is_read_from(holder, key):  # `lists[k] += x`
        return
    key = place_or_error(key) if kind is list else key
    if kind is list and is_tracing() and current().outermost.rows:
        row = row_of(holder)
        if row is not None and not lists.is_slice(key) and write(row, key, value):
            return
        written_apart(holder)
    if kind is list and is_tracing() and lists.put(holder, key, value):
        return
    lists.checked(holder, key)
    if kind is list and type(key) is TracedArray and key.concrete is None and not key.shape:
        elements = written(holder, key, value)
        if elements is not None:
            seen_too(holder, is_item=False)
            note(place_of("whole", holder))
            holder[:] = elements
            return
    is_table = _is_table(kind)
    if is_table and (owner := _owner(holder, key)) is not None:
        _put_attribute(value, owner, str(key), put_attribute, is_plain=True)
        return
    if is_table and is_asked(holder, key):
        _put(holder, key, value)
        return
    if is_table and is_one_of_two(key):
        of_each(key, lambda one: store(value, holder, one))
        return
    if is_table:
        hash(key)  # of a traced number there is none: an error at the user's line, not of the place
    if type(holder) is TracedArray:
        key, value = array_of_list(key), array_of_list(value)
    others: list[Same] = []
    if type(holder) is not TracedArray and is_tracing():
        others = seen_too(holder, is_item=key in holder if is_table else isinstance(key, int))
        if any([len(o.holder) != len(holder) or front_of(o.holder) is not None for o in others]):
            seen_too(holder, is_item=False)
        if is_table:
            overwritten(holder, key)
        if is_table or (kind is list and isinstance(key, int)):
            note(_item(holder, key))
        elif isinstance(holder, CONTAINERS):
            note(place_of("whole", holder))
        elif isinstance(holder, MutableMapping | MutableSequence):
            only_for_sure(f"item {key!r} of {kind.__name__}")
    cast("Any", holder)[key] = value
    for other in others:
        _store_if(other, key, value)


def _store_in(one: One, key: Any, value: Any) -> None:
    """The same in a list that is one of several."""
    row = row_of(one.elements)
    if row is not None and not lists.is_slice(key) and write(row, key, value):
        return
    value = taken(value, lists.extend) if lists.is_slice(key) else value
    one.do(lambda member: store(value, member, key))


def _within(holder: Any) -> Any:
    """The dict or list that an item is put into where one is put into something."""
    setter: Any = getattr(cast("Any", type(holder)), "__setitem__", None)
    if setter is _CHAINED:
        return _within(holder.maps[0])
    return holder.data if setter in _WRAPPED else holder


def dict_of(*holder: Any) -> Any:
    """`vars`, and `holder.__dict__`: what is put into it is an attribute of the object."""
    found = cast("Any", vars)(*holder)
    if is_tracing() and is_of(found, dict):
        current().outermost.dicts[id(found)] = holder[0]
    return found


def _owner(holder: dict[Any, Any], key: Any) -> Any:
    """The object of whose `__dict__` a dict is, and that has such an attribute or could have it; None if it is none."""
    owner = current().outermost.dicts.get(id(holder)) if is_tracing() and type(key) is str else None
    is_its = owner is not None and owner.__dict__ is holder and key not in slots_of(cast("Any", type(owner)))
    return owner if is_its else None


def _put(holder: dict[Any, Any], key: Any, value: Any) -> None:
    """Write to a dict at a traced key that is one of its keys: each value is the new one, or that from before."""
    if in_loop() and any(k not in holder for k in taken_by_index(key)):  # each step of an unrolled loop knows its key
        raise new_key([*holder]).at(("here", here()))
    place_among([*holder], key, new_key([*holder]).at(("here", here())))
    seen_too(holder, is_item=False)
    for k, before in holder.items():
        note(_item(holder, k))
        holder[k] = choose(is_among([k], key), lambda: value, lambda before=before: before)


def _is_table(kind: Any) -> bool:
    """Whether a class is a dict's, and puts nothing but the item."""
    return issubclass(kind, dict) and kind.__setitem__ in _PLAIN  # type: ignore[reportUnknownMemberType]


def _store_if(other: Same, key: Any, value: Any) -> None:
    """The same write to a list or dict that is the one written to if a condition holds."""
    made = _by(other.condition, value, other.holder[key])
    note(_item(other.holder, key))
    other.holder[key] = made


def _by(condition: Value, new: Any, before: Any) -> Any:
    """What is new if a condition holds, and else what was before."""
    return choose(TracedArray(Storage.holding(current(), condition)), lambda: new, lambda: before)


def _item(holder: Any, key: Any) -> Place:
    return place_of("item", holder, key if isinstance(holder, dict) else key % max(len(holder), 1))


def assign(value: Any, holder: Any, name: str) -> None:
    """`holder.name = value`."""
    holder = _known(holder_of_attribute(holder, name))
    is_plain = not isinstance(cast("Any", type(holder)).__setattr__, types.FunctionType)
    _put_attribute(value, holder, name, setattr, is_plain=is_plain)


def _known(holder: Any) -> Any:
    """An object whose attribute changes; UnboundError if it is one of two, of which there is no copy."""
    if type(holder) is Unbound:
        raise holder.refused()
    return holder


def _put_attribute(value: Any, holder: Any, name: str, put: Callable[..., None], *, is_plain: bool) -> None:
    """Set an attribute. is_plain: whether nothing else is changed."""
    kind = cast("Any", type(holder))
    others: list[Same] = []
    if kind is not TracedArray and is_tracing():
        others = seen_too(holder, is_item=is_plain and name in attributes(holder))
        if hasattr(holder, "__dict__") or name in slots_of(kind):
            note(place_of("attribute", holder, name))
    put(holder, name, value)
    for other in others:
        before = attributes(other.holder)[name]
        if before is not value:  # an array that is changed in place is each one's already
            note(place_of("attribute", other.holder, name))
            put_attribute(other.holder, name, _by(other.condition, value, before))


def changing(holder: Any, name: str) -> None:
    """A method that changes a container, or looks at all of it, is about to be called."""
    if name in ASKING:
        in_known_order(holder)
    if is_tracing() and name in CHANGING and isinstance(holder, CONTAINERS):
        if (row := row_of(holder)) is not None:
            raise row.refused(name)
        if name == "update" and is_of(holder, dict):
            all_overwritten(holder)
        seen_too(holder, is_item=False)
        note(place_of("whole", holder))


def deleted(holder: Any, key: Any) -> None:
    """`del holder[key]`."""
    holder = holder_of_item(holder, "delitem")
    if (one := one_of(holder)) is not None:
        one.do(lambda member: deleted(member, key))
        return
    changing(holder, "pop")
    if type(holder) is list and is_tracing():
        lists.remove(cast("list[Any]", holder), key)
        return
    del holder[key]


def undone(holder: Any, name: str) -> None:
    """`del holder.name`."""
    holder = _known(holder_of_attribute(holder, name))
    if is_tracing() and hasattr(holder, "__dict__"):
        seen_too(holder, is_item=False)
        note(place_of("attribute", holder, name))
    delattr(holder, name)


def changes(function: Any) -> bool:
    """Whether a function of Python's may change a container that it is given, or is a method of."""
    return getattr(function, "__name__", "") in CHANGING or getattr(function, "__module__", None) in CHANGING_MODULES


def changing_method(function: Any) -> Any:
    """The name of a method of Python's that changes a container, and that, if it is bound to one; None for all other
    functions."""
    kind = cast("Any", type(function))
    if kind not in (types.BuiltinMethodType, types.MethodDescriptorType) or function.__name__ not in CHANGING:
        return None
    name = function.__name__
    if kind is types.MethodDescriptorType:
        return (name,)
    holder: Any = function.__self__
    return (name, holder) if isinstance(holder, CONTAINERS) else None


def changed_by(holder: Any, name: str, method: Callable[..., Any], /, *args: Any, **options: Any) -> Any:
    """A method that changes a container, called: maybe in another part of the function than it was read in."""
    changing(holder, name)
    return method(*args, **options)


def set_plainly(holder: Any, name: str, value: Any) -> None:
    """`object.__setattr__`."""
    if is_tracing() and (hasattr(holder, "__dict__") or name in slots_of(cast("Any", type(holder)))):
        seen_too(holder, is_item=False)
        note(place_of("attribute", holder, name))
    object.__setattr__(holder, name, value)


def put_item(holder: Any, key: Any, value: Any) -> None:
    """`operator.setitem`."""
    store(value, holder, key)


def taken_back(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose changes of the lists that it is given can be taken back."""
    module = getattr(function, "__module__", None)
    if module not in CHANGING_MODULES:
        return function

    def run(*args: Any, **options: Any) -> Any:
        for holder in args:
            if isinstance(holder, CONTAINERS):
                seen_too(holder, is_item=False)
                note(place_of("whole", holder))
        return function(*args, **options)

    return run


def advanced(iterator: Iterator[Any], *default: Any) -> Any:
    """`next`: what an iterator has given cannot be taken back."""
    going_on(iterator)
    if in_loop():
        raise only_once("an iterator is advanced")
    if on_trial():
        raise UnsupportedError(
            "an iterator is advanced under a condition that is known only at run time",
            hint="take its elements before the if, or index into a list of them",
        ).at(("here", here()))
    return next(iterator, *default)


def augmented(name: str, x: Any, y: Any) -> Any:
    """`x += y` and its like."""
    x = updated_operand(name, x, y)
    made = _by_operand(name, x, y)
    if made is not NotImplemented:
        return made
    if (one := one_of(x)) is not None:
        elements = taken(y, lists.extend) if name == "iadd" else y
        one.do(lambda member: augmented(name, member, elements))
        return x
    if is_of(x, CONTAINERS):
        changing(x, "update")
        in_known_order(y)
    if type(x) is list and name == "iadd":
        lists.extend(cast("Any", x), y)
        return cast("Any", x)
    return updated(name, x, y)


def _by_operand(name: str, x: Any, y: Any) -> Any:
    """What `x op= y` of a list is by the operator of y, which Python asks before it changes the list: an array, if y is
    one of NumPy; NotImplemented if y has none, or x is no list."""
    if type(x) is not list:
        return NotImplemented
    reflected = f"__r{name.removeprefix('i')}__"
    method = special(y, reflected)
    if method is not None:
        return method(x)
    kind = cast("Any", type(y))
    if kind in (OrNone, Unbound) or (kind is TracedArray and y.is_weak) or not hasattr(kind, reflected):
        return NotImplemented
    return getattr(kind, reflected)(y, x)


def rebinds(names: Sequence[str], function: Callable[[], Any]) -> None:
    """A function is run that binds names of the function around it; they are free in `function`."""
    for place in cells_of(names, function):
        note_name(place)


def owns(names: Sequence[str], function: Callable[[], Any]) -> None:
    """A function is run whose names functions inside of it bind: nobody who called it has to take that back."""
    for place in cells_of(names, function):
        born(place.holder)


def only_for_sure(what: str) -> None:
    """An error if something is done that cannot be taken back where it may have to be."""
    if in_loop():
        raise only_once(f"{what} is used")
    if on_trial():
        raise UnsupportedError(
            f"{what} is used under a condition that is known only at run time", hint="use it before the if"
        ).at(("here", here()))


def only_once(what: str) -> UnsupportedError:
    """The error of what cannot be done in a body that is traced once for all steps."""
    return UnsupportedError(
        f"{what} inside a loop, whose body is run once for all steps", hint="move it out of the loop"
    ).at(("here", here()))
