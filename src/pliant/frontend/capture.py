"""See what a user's function reads from outside: arrays, NumPy itself, other functions.

The function runs with globals and closure cells that hand out traced arrays for NumPy arrays and
Pliant's makers for NumPy's (`np.zeros` inside a traced function makes a traced array). Everything
it read, and what can be reached from there, becomes a guard that is tested before the compiled
program is used again: a rebound name or attribute is never missed.
"""

from __future__ import annotations

import functools
import random
import types
from collections.abc import Callable, Sequence
from typing import Any, Final, cast, final

import numpy as np
from numpy.random import Generator, RandomState

from pliant.frontend import text
from pliant.frontend.array import TracedArray
from pliant.frontend.attributes import attributes
from pliant.frontend.calls import joined_text, spread
from pliant.frontend.context import of_context
from pliant.frontend.control import lists, methods, oneof
from pliant.frontend.control.branch import in_order
from pliant.frontend.control.builtins import BUILTINS
from pliant.frontend.control.chosen import is_one_of_two
from pliant.frontend.control.classes import class_of
from pliant.frontend.control.copies import related
from pliant.frontend.control.deques import deque_method
from pliant.frontend.control.each import of_each, operated
from pliant.frontend.control.effects import (
    CHANGING,
    augmented,
    changed_by,
    changes,
    changing,
    changing_method,
    dict_of,
    only_for_sure,
    put_item,
    set_plainly,
    taken_back,
)
from pliant.frontend.control.heaps import HEAPS
from pliant.frontend.control.iterators import is_called, is_known, plain
from pliant.frontend.control.keyed import is_traced
from pliant.frontend.control.ordering import sort_in_place
from pliant.frontend.control.ornone import holder_of_attribute, presenting
from pliant.frontend.control.perhaps import in_known_order
from pliant.frontend.control.pushed import Pushed
from pliant.frontend.control.runtime import CALLS
from pliant.frontend.control.specials import binary, class_attribute, descriptor_method, reads_item, writes_item
from pliant.frontend.control.states import is_member
from pliant.frontend.control.syntax import runtime
from pliant.frontend.control.walked import Walked, going_on
from pliant.frontend.creation import Maker, NumPyNamespace, UfuncMaker, class_called, made_by
from pliant.frontend.draws import drawing, drawn_once, of_numpy
from pliant.frontend.elements import Elements
from pliant.frontend.evaluated import evaluated
from pliant.frontend.flat import Flat
from pliant.frontend.functions.of_numbers import attribute as number_or_array
from pliant.frontend.functions.scipys.others import plainly
from pliant.frontend.globals import content_of
from pliant.frontend.guards import (
    Slot,
    held_by,
    names_of,
    note_class,
    note_members,
    special,
    telling,
)
from pliant.frontend.instrumented import (
    PLAIN,
    bound_cell,
    callee,
    instrument,
    is_dispatched,
    kind_of,
    of_element,
    of_object,
    rebound_cell,
    seen,
)
from pliant.frontend.kinds import is_of, stood_for
from pliant.frontend.missing import MISSING
from pliant.frontend.newborn import constructed, inherit, making, new_or_known
from pliant.frontend.once import note_environment, note_once
from pliant.frontend.printing import is_writing, printed, stream_method, written
from pliant.frontend.random.generator import TracedGenerator
from pliant.frontend.reference import Ref
from pliant.frontend.source import READERS
from pliant.frontend.told import telling_of
from pliant.frontend.tracing import Trace, is_tracing
from pliant.frontend.unread import Unread, is_unreadable
from pliant.frontend.whose import is_librarys, is_plain, is_stateful, is_users

_VIEWS: Final[Any] = (type({0: 0}.values()), type({0: 0}.items()))


def readers_of(trace: Trace) -> dict[str, types.CellType]:
    """What rewritten code reads objects with; see `source`."""
    if not trace.readers:
        reader = Reader(trace)
        trace.see = functools.partial(instrument, trace=trace)
        calls = CALLS | {r: getattr(reader, r) for r in READERS if hasattr(reader, r)}
        trace.readers.update({runtime(r): types.CellType(calls[r]) for r in READERS})
    return trace.readers


_PYTHONS: Final = random.random.__self__  # the generator whose methods are the functions of the module


@final
class Reader(Elements):
    """Reads attributes, items and elements for a trace: arrays as implicit arguments, functions
    instrumented. What is read becomes a guard."""

    slice = slice
    evaluated = staticmethod(evaluated)

    def __init__(self, trace: Trace) -> None:
        super().__init__(trace)

    def attribute(self, holder: Any, name: str) -> Any:
        """`holder.name`."""
        kind = kind_of(holder)
        if name == "__class__" and is_tracing():
            return class_of(holder)
        if kind is TracedArray and is_tracing():
            if is_member(holder) and not hasattr(stood_for(holder), name):
                return of_each(holder, lambda one: self.attribute(one, name))
            return number_or_array(holder, name)
        if kind is TracedArray or kind is NumPyNamespace or not is_tracing():
            return getattr(holder, name)
        if is_one_of_two(holder):
            return of_each(holder, lambda one: self.attribute(one, name))
        if name == "__dict__" and hasattr(holder, name):
            dict_of(holder)
        if kind is TracedGenerator:
            return drawing(holder, name, self.trace)
        if kind is Generator or kind is RandomState:
            raise drawn_once(f"np.random.{name}")
        if (stream := stream_method(holder, name)) is not None:
            return stream
        if is_stateful(kind):
            only_for_sure(f".{name} of {kind.__name__}")
        if is_of(holder, types.ModuleType) and (cell := rebound_cell(self.trace, holder, name)) is not None:
            return content_of(cell, name, AttributeError)
        found = class_attribute(kind, name)
        reader = self.reader_of(holder, kind, found, name)
        if reader is not None:
            note_class(self.trace, kind, name)
            return reader()
        if is_of(found, types.MemberDescriptorType):
            slot = None if id(holder) in self.own else Slot(holder)
            return self.known(held_by(self.trace, holder, name, kind), slot, name)
        if name in oneof.CHANGING and (one := oneof.one_of(holder)) is not None:
            return functools.partial(oneof.changed, one, lambda each: self.callee(self.attribute(each, name)), name)
        changing(holder, name)
        if (method := deque_method(holder, name) or methods.method(holder, name)) is not None:
            method = telling(method, self.counted, holder if name in methods.ASKING else None)
            return functools.partial(changed_by, holder, name, method) if name in CHANGING else method
        if kind is str and name in text.MAKING:
            made = text.method(holder, name)
            return telling(functools.partial(joined_text, made), self.counted) if name == "join" else made
        if name == "get" and is_of(holder, dict):
            return functools.partial(self.get, holder)
        if name == "sort" and is_of(holder, list):
            return functools.partial(sort_in_place, holder)
        held: Any = None if is_of(holder, type) else getattr(holder, "__dict__", None)
        read = special(holder, "__getattr__") if found is None and name not in (held or ()) else None
        if read is not None:
            note_class(self.trace, kind, name)
            if held is not None and id(holder) not in self.own:
                self.trace.roots.setdefault((id(held), name), (held, name, MISSING))
            return self.known(read(name), None, name)
        value = held_by(self.trace, holder, name, kind)
        if name in getattr(holder, "__dict__", ()) and self.own.get(id(holder)) is holder:
            return self.known(value, None, name)
        if is_of(holder, types.ModuleType) and is_librarys(holder):
            return made_by(value) or note_environment(value, self.trace)
        return self.owned(value, holder, kind, name)

    def owned(self, value: Any, holder: Any, kind: type, name: str) -> Any:
        """An attribute just read, with guards on it where it is held, and on what would be found before."""
        held: Any = None if is_of(holder, type) else getattr(holder, "__dict__", None)
        classes: type = holder if is_of(holder, type) else kind
        above: Any = kind.__mro__ if classes is holder else ()
        owners: list[Any] = [*([] if held is None else [held]), *map(names_of, (*classes.__mro__, *above))]
        for owner in owners:
            content = owner.get(name, MISSING)
            if content is value:
                return self.known(value, owner, name)
            if is_of(owner, dict) and not (owner is held and id(holder) in self.own):
                self.trace.roots.setdefault((id(owner), name), (owner, name, content))
            if content is not MISSING:
                break
        return self.known(value, None, name)

    def reader_of(self, holder: Any, kind: type, found: Any, name: str) -> Callable[[], Any] | None:
        """What reads an attribute by a property, or a descriptor of the user's, that its class has; None if it is one
        of the object's own."""
        if is_of(found, property) and is_of(found.fget, types.FunctionType):
            return functools.partial(instrument(found.fget, self.trace), holder)
        read = descriptor_method(found, "__get__")
        if read is None or (name in attributes(holder) and not hasattr(found, "__set__")):
            return None
        return functools.partial(instrument(read, self.trace), found, holder, kind)

    def getattr(self, holder: Any, name: str, *default: Any) -> Any:
        """`getattr(holder, name, default)`."""
        try:
            return self.attribute(holder, name)
        except AttributeError:
            if not default:
                raise
            return default[0]

    def hasattr(self, holder: Any, name: str) -> bool:
        """`hasattr(holder, name)`."""
        return self.getattr(holder, name, MISSING) is not MISSING

    def assign(self, value: Any, holder: Any, name: str) -> None:
        """`holder.name = value`."""
        holder = holder_of_attribute(holder, name)
        if is_of(holder, types.ModuleType) and rebound_cell(self.trace, holder, name) is not None:
            bound_cell(self.trace, holder.__dict__, name).cell_contents = value
            return
        found: Any = class_attribute(kind_of(holder), name) if is_tracing() else None
        write = found.fset if is_of(found, property) else None
        if is_of(write, types.FunctionType):
            instrument(write, self.trace)(holder, value)
        elif (put := descriptor_method(found, "__set__")) is not None:
            instrument(put, self.trace)(found, holder, value)
        else:
            for x in (holder, *(related(holder) if is_tracing() else ())):
                inherit(x, name, self.attribute)
            CALLS["assign"](value, holder, name)

    def known(self, value: Any, owner: Any, name: Any) -> Any:
        """A value just read, as the trace sees it; a guard, unless it is new at every reading."""
        if type(value) is TracedArray or value is MISSING:
            return value
        if is_of(value, np.ndarray):
            if is_unreadable(value):
                raise Unread(value, str(name)).error
            if owner is not None:
                self.trace.roots.setdefault((id(owner), name), (owner, name, value))
            return TracedArray(*self.trace.enter(value))
        if owner is None:
            return of_object(value, self.trace)
        return seen(value, owner, name, self.trace)

    def each(self, elements: Any, is_walked: bool = False, is_whole: bool = False) -> Any:
        """What is iterated over, with its elements as the trace sees them. is_walked: now, and by the trace. is_whole:
        to its end, before anything else happens."""
        if not is_tracing() or isinstance(elements, TracedArray | str | range):
            return elements
        going_on(elements)
        if is_whole and type(elements) is Pushed and elements.running is None:
            return self.all_of(elements)
        made = special(elements, "__iter__") if is_walked and not is_whole else None
        if made is not None:
            return self.each(made())
        if is_of(elements, dict):
            in_known_order(elements)
            self.counted(elements)
            owner: Any = None if id(elements) in self.own else elements
            changed = {k: self.known(v, owner, k) for k, v in elements.items()}
            return changed if any(changed[k] is not v for k, v in elements.items()) else elements
        if is_of(elements, list | tuple):
            self.counted(elements)
            return of_element(elements, self.trace)
        if is_of(elements, _VIEWS):
            holder: Any = elements.mapping
            in_known_order(holder)
            self.counted(holder)  # the items have guards through `reach`
            return [of_element(e, self.trace) for e in elements]
        if isinstance(elements, np.ndarray):
            return TracedArray(*self.trace.enter(elements))
        if type(elements) is Flat:
            return elements.elements
        if is_of(elements, (zip, map, enumerate, reversed, filter, types.GeneratorType)):
            return Walked(elements, functools.partial(of_element, trace=self.trace))
        return elements

    def all_of(self, elements: Pushed) -> list[Any]:
        """What a generator yields, to its end."""
        made: list[Any] = self.born([])

        def add(item: Any) -> None:
            self.callee(self.attribute(made, "append"))(item)  # read each time: a trial takes back what follows

        elements.push(add)
        return made

    def compare(self, kinds: Sequence[str], first: Any, *others: Callable[[], Any]) -> Any:
        """`first < a < b`; guards on what `first in container` depends on."""
        if kinds[0] in ("In", "NotIn") and is_tracing():
            container = others[0]()
            if is_one_of_two(container):
                return of_each(container, lambda one: self.compare(kinds, first, lambda: one, *others[1:]))
            if is_of(container, str | bytes) and is_one_of_two(first):
                return of_each(first, lambda one: self.compare(kinds, one, lambda: container, *others[1:]))
            note_members(self.trace, container, first, is_open=is_traced(first))
            others = (lambda: container, *others[1:])
        if kinds[0] in ("Is", "IsNot") or not is_tracing():
            return CALLS["compare"](kinds, first, *others)
        return CALLS["compare"](kinds, self.noted(first), *[functools.partial(self.found, one) for one in others])

    def found(self, ask: Callable[[], Any]) -> Any:
        """What is compared, when it is asked for."""
        return self.noted(ask())

    def augmented(self, name: str, before: Any, y: Any) -> Any:
        """`name op= y`."""
        return CALLS["augmented"](name, before, self.noted(y))

    def items(self, fn: Any, /, *args: Any, **options: Any) -> Any:
        """What a loop goes over: a call of `range`, `zip`, `map`, of functions of `itertools`."""
        if not is_known(fn):
            return self.callee(fn)(*map(plain, args), **options)
        if fn is not range:
            args = tuple([self.callee(a) if is_called(fn, n, a) else self.each(a) for n, a in enumerate(args)])
        return CALLS["items"](fn, *args, **options)

    def loop(self, elements: Any, *rest: Any) -> Any:
        """A `for` statement."""
        return CALLS["loop"](self.each(elements, is_walked=True), *rest)

    def called(self, fn: Any, /, *args: Any, **options: Any) -> Any:
        """`fn(...)` of a function that may be one of two."""
        return of_each(fn, lambda one: self.callee(one)(*args, **options))

    def callee(self, fn: Any) -> Any:
        """A function to be called, instrumented. A method that changes a list, dict or set is read again at the call:
        what it changes is noted where that is done."""
        if not is_tracing():
            return fn
        again = changing_method(fn)
        return self.function(fn) if again is None else functools.partial(self.change, *again)

    def change(self, name: str, holder: Any, /, *args: Any, **options: Any) -> Any:
        """`holder.name(...)`."""
        for x in args:
            self.counted(x)
            if name == "update":
                in_known_order(x)
        return self.function(self.attribute(holder, name))(*args, **options)

    def function(self, fn: Any) -> Any:
        """A function as the trace sees it."""
        if fn is object.__setattr__:
            return set_plainly
        if is_one_of_two(fn):
            return functools.partial(self.called, fn)
        note_once(fn, self.trace)
        if (tell := telling_of(fn, self.trace)) is not None:
            return tell
        if is_writing(fn):
            return functools.partial(written, fn)
        if (bound := reads_item(fn)) is not None:
            return functools.partial(self.element, *bound)
        if (holder := writes_item(fn)) is not None:
            return functools.partial(put_item, holder)
        if getattr(fn, "__self__", None) is _PYTHONS:
            raise drawn_once(f"random.{fn.__name__}", "use np.random, which draws at every call, or ")
        if (draw := of_numpy(fn, self.trace) or of_context(fn, self.trace, self.known)) is not None:
            return draw
        if is_of(fn, type) and is_plain(fn):
            return functools.partial(constructed, fn, functools.partial(instrument, trace=self.trace))
        fn = fn.__origin__ if is_of(fn, types.GenericAlias) else fn  # list[float](x) is list(x)
        if fn is getattr or fn is hasattr:
            return functools.partial(spread, self.getattr if fn is getattr else self.hasattr)
        if is_of(fn, functools.partial) and type(fn.func) in PLAIN:
            return functools.partial(self.callee(fn.func), *fn.args, **fn.keywords)
        if type(fn) in PLAIN:
            if fn is print:
                return printed
            if fn in HEAPS:
                return functools.partial(lists.on_heap, lists.knowing(taken_back(fn)), callee(HEAPS[fn], self.trace))
            known = BUILTINS.get(fn) or class_called(fn) or (fn if type(fn) is UfuncMaker else None)
            if known is None and (fn in lists.ASKING or changes(fn)):
                return making(fn, lists.knowing(taken_back(fn)))
            made = making(fn, known or lists.knowing(fn))
            run = telling(made, self.counted, getattr(fn, "__self__", None))
            return functools.partial(spread, run)
        if type(fn) is Maker:
            return telling(fn, self.counted)
        if is_of(fn, types.FunctionType) and fn in BUILTINS:
            return telling(BUILTINS[fn], self.counted)
        made = callee(fn, self.trace)
        if is_of(fn, type):
            return making(fn, plainly(fn) if made is fn else made)
        is_others = is_of(fn, types.FunctionType) and not is_users(fn) and not is_dispatched(fn)
        if is_others and made is fn:
            return making(fn, telling(presenting(new_or_known(lists.knowing(plainly(fn)))), self.counted))
        return lists.knowing(fn) if made is fn and kind_of(fn).__module__.startswith("jaxlib") else made

    def binary(self, name: str, x: Any, y: Any) -> Any:
        """`x op y`."""
        if is_one_of_two(x):
            return operated(x, lambda one: self.binary(name, one, y))
        if is_one_of_two(y):
            return operated(y, lambda one: self.binary(name, x, one))
        x, y = self.noted(x), self.noted(y)
        made = lists.combined(name, x, y) if name in _JOINING else None
        if name == "mod" and type(x) is str:
            return text.text(text.percent(x, y))
        if made is None:
            made = in_order(name, x, y) if name in _ORDERING else binary(name, x, y)
        if type(made) is str:
            return text.text(made)
        return self.born(made) if name in _JOINING else made  # of lists, dicts and sets, a new one

    def inplace(self, name: str, before: Any, y: Any) -> Any:
        """`before op= y`, where `before` was read as the trace sees it: what to store."""
        made = augmented(name, before, self.noted(y))
        if made is before and type(made) is TracedArray and not made.lenses:
            source = made.storage.source
            return cast("Any", source) if isinstance(source, np.ndarray) else made
        return made.source if type(made) is Ref and made.source is not None else made


_ORDERING: Final = ("lt", "le", "gt", "ge")
_JOINING: Final = ("add", "mul", "or", "and", "sub", "xor")
