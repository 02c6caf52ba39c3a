"""Functions of the user as a trace sees them: their names, cells and defaults hand out traced arrays for NumPy's.

What they read becomes a guard; see `capture`.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import sys
import types
from collections.abc import Sequence
from typing import Any, Final, cast

import numpy as np

from pliant.core.origin import CodeOrigin, at, here
from pliant.errors import DTypeError, TracedValueError, UnsupportedError
from pliant.frontend.array import TracedArray
from pliant.frontend.control.builtins import BUILTINS
from pliant.frontend.control.classes import class_of
from pliant.frontend.control.outside import note_unseen
from pliant.frontend.control.region import Place, note_name, place_of
from pliant.frontend.control.specials import managed
from pliant.frontend.control.vectorized import vectorized
from pliant.frontend.creation import Maker, UfuncMaker, made_by, namespace_of
from pliant.frontend.definitions import Stored, stored_globals
from pliant.frontend.draws import entered
from pliant.frontend.functions.scipys.calls import written_anew
from pliant.frontend.globals import TracedGlobals
from pliant.frontend.guards import (
    Box,
    note_class,
    note_names,
)
from pliant.frontend.joiners import joiner_of
from pliant.frontend.kinds import is_of, stood_for
from pliant.frontend.members import plain_member
from pliant.frontend.missing import MISSING
from pliant.frontend.needs import can_be_known
from pliant.frontend.once import note_environment
from pliant.frontend.printing import printed
from pliant.frontend.reference import Ref, traced
from pliant.frontend.source import rewritten
from pliant.frontend.tracing import Trace, current
from pliant.frontend.unread import Unread
from pliant.frontend.whose import is_stateful, is_users

_CACHED: Final = type(functools.cache(len))
_MANAGER: Final[Any] = contextlib.contextmanager(cast("Any", iter))  # all that it makes have one code
_DECORATED: Final[Any] = contextlib.ContextDecorator()(cast("Any", iter))  # so have all that it decorates
MOST_ANEW: Final = 64  # calls of a function that has a cache
_DESCRIPTORS: Final = (types.MethodDescriptorType, types.WrapperDescriptorType)
PLAIN: Final = frozenset({types.BuiltinFunctionType, np.ufunc, UfuncMaker, type})  # these read nothing of users


def instrument(fn: Any, trace: Trace) -> Any:
    """`fn` with its outside seen by the trace; anything but a user's Python function unchanged."""
    if type(fn) is Unread:
        raise fn.error
    if isinstance(fn, types.MethodType):
        trace.roots[id(fn.__self__), ""] = (Box(fn.__self__), "", fn.__self__)
        return types.MethodType(instrument(fn.__func__, trace), fn.__self__)
    if isinstance(fn, functools.partial):
        keywords = {k: of_element(v, trace) for k, v in fn.keywords.items()}
        return functools.partial(callee(fn.func, trace), *[of_element(a, trace) for a in fn.args], **keywords)
    if isinstance(fn, types.FunctionType) and fn.__code__ is _MANAGER.__code__:
        return contextlib.contextmanager(instrument(cast("Any", fn).__wrapped__, trace))
    if isinstance(fn, types.FunctionType) and fn.__code__ is _DECORATED.__code__:
        return _decorated(fn, trace)
    if not isinstance(fn, types.FunctionType) or not is_users(fn) or isinstance(fn.__globals__, TracedGlobals):
        return fn
    top = trace.outermost
    if id(fn) not in top.instrumented:
        _make(fn, top)
    return top.instrumented[id(fn)][0]


def _make(fn: types.FunctionType, trace: Trace) -> None:
    """Make of a user's function one that the trace sees, and keep it."""
    code, instead = rewritten(fn.__code__, fn.__qualname__), dict[str, Any]()
    if code is None:
        code, instead["print"] = fn.__code__, printed
    stored = stored_globals(code)
    names = _names(fn, code, stored, trace, instead)
    cells, empty = _cells(fn, code, trace)
    trace.cells |= {id(cell): cell for cell in cells}
    defaults = tuple(of_element(d, trace) for d in fn.__defaults__) if fn.__defaults__ else fn.__defaults__
    made = types.FunctionType(code, names, fn.__name__, defaults, cells)
    made.__dict__ = fn.__dict__  # attributes of a function are shared with it
    made.__kwdefaults__ = fn.__kwdefaults__ and {k: of_element(d, trace) for k, d in fn.__kwdefaults__.items()}
    seen_as = made if code is not fn.__code__ else _watched(made, fn, trace, {name for _, name, _ in stored})
    trace.instrumented[id(fn)] = seen_as, fn  # fn too: its id must not be used again
    trace.originals[id(seen_as)] = fn
    for cell in empty:  # last, as what they hold may lead back to fn
        _fill(cell, trace)


def _names(
    fn: types.FunctionType, code: types.CodeType, stored: Sequence[Stored], trace: Trace, instead: dict[str, Any]
) -> dict[str, Any]:
    """The global names of a function as the trace sees them; the real ones if its code binds some by itself."""
    real = fn.__globals__
    cells = trace.rebound.setdefault(id(real), {})
    if not stored:
        show, bind = functools.partial(seen, trace=trace), functools.partial(bound_cell, trace, real)
        return TracedGlobals(real, show, cells, bind, instead)
    trace.cells[id(real)] = real
    note_names(trace, real, code)
    for part, name, offset in stored:
        with at(CodeOrigin(part, offset)):
            note_name(place_of("item", real, name))
    return real


def _cells(fn: types.FunctionType, code: types.CodeType, trace: Trace) -> tuple[tuple[types.CellType, ...], list[Any]]:
    """The cells that stand for the names which a function shares with others; and those of them that are empty yet."""
    around = [place_of("name", c, n) for n, c in zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True)]
    empty = [_front(place, trace) for place in around if place.number not in trace.fronts]
    shared = {place.key: trace.fronts[place.number] for place in around} | Trace.readers_of(trace)
    rebound = trace.rebound[id(fn.__globals__)]
    new = [n for n in code.co_freevars if n not in shared and n not in rebound]
    empty += [_front(place_of("item", fn.__globals__, n), trace) for n in new]
    shared = rebound | shared
    return tuple([shared[n] for n in code.co_freevars]), empty


def _decorated(fn: types.FunctionType, trace: Trace) -> Any:
    """A function that an object decorates, which is entered for each call."""
    inside = dict(zip(fn.__code__.co_freevars, [cell.cell_contents for cell in fn.__closure__ or ()], strict=True))
    function, manager = callee(inside["func"], trace), inside["self"]
    generator = getattr(manager, "gen", None) and getattr(manager, "func", None)

    def run(*args: Any, **options: Any) -> Any:
        if generator is None:
            again = manager._recreate_cm()
        else:
            again = contextlib.contextmanager(instrument(generator, trace))(*manager.args, **manager.kwds)
        with managed(again):
            return function(*args, **options)

    return run


def _watched(made: Any, fn: types.FunctionType, trace: Trace, stored: set[str]) -> Any:
    """A function without source; before each call all is remembered that it may change. stored: the global names that
    it binds, which are those of the module itself."""

    @functools.wraps(made, ("__name__", "__qualname__", "__doc__"))  # it is of this module, not the user's
    def run(*args: Any, **options: Any) -> Any:
        note_unseen(trace, fn)
        for name in sorted(stored & trace.rebound[id(fn.__globals__)].keys()):
            raise UnsupportedError(
                f"{fn.__name__}, which has no source, binds the global name {name!r}, and so do other functions",
                hint="keep it in an attribute or item, or define the function in a file",
            ).at(("called here", here()))
        for name in sorted(stored):
            note_name(place_of("item", fn.__globals__, name))
        return made(*args, **options)

    return run


def kind_of(x: Any) -> Any:
    """The class of an object."""
    return cast("Any", type(x))


def is_dispatched(fn: Any) -> bool:
    """Whether a function is one of `functools.singledispatch`."""
    return hasattr(fn, "dispatch") and hasattr(fn, "registry")


def callee(fn: Any, trace: Trace) -> Any:
    """Anything that can be called, instrumented: objects by their `__call__`."""
    if isinstance(fn, Maker | UfuncMaker):
        return fn
    own = made_by(fn) or (BUILTINS.get(fn) if type(fn) in (*PLAIN, types.FunctionType) else None)
    if own is not None:
        return own
    if (own := written_anew(fn, functools.partial(instrument, trace=trace))) is not None:
        return own
    if is_dispatched(fn):
        return functools.partial(dispatched, fn, trace)
    if type(fn) in _DESCRIPTORS and issubclass(fn.__objclass__, np.ndarray | np.generic):
        return functools.partial(unbound, fn, trace)
    if isinstance(fn, np.vectorize) and callable(fn.pyfunc):
        return functools.partial(vectorized, fn, callee(fn.pyfunc, trace))
    method = next((c.__dict__["__call__"] for c in type(fn).__mro__ if "__call__" in c.__dict__), None)
    if isinstance(method, types.FunctionType) and is_users(method) and not isinstance(fn, types.FunctionType):
        note_class(trace.outermost, cast("type", type(fn)), "__call__")
        return types.MethodType(instrument(method, trace), fn)
    if isinstance(fn, _CACHED):
        return functools.partial(remembered, fn, trace)
    if type(fn) is TracedArray:
        raise DTypeError(f"'{stood_for(fn).__name__}' object is not callable").at(("called here", here()))
    return instrument(fn, trace)


def remembered(fn: Any, trace: Trace, /, *args: Any, **options: Any) -> Any:
    """A call of a function with `functools.cache`: of what is known only at run time nobody remembers the result."""
    given = [x for x in (*args, *options.values()) if type(x) is TracedArray and x.concrete is None]
    is_open = any([not can_be_known(x.value) for x in given])
    is_key = all([x.is_scalar or x.is_weak for x in given])
    if is_open and is_key:
        return callee(fn.__wrapped__, trace)(*args, **options)
    args, options = tuple(map(_known, args)), {k: _known(x) for k, x in options.items()}
    is_made_here = isinstance(getattr(fn.__wrapped__, "__globals__", None), TracedGlobals)
    return _recalled(fn, trace, args, options) if is_made_here else fn(*args, **options)


def _known(x: Any) -> Any:
    """An argument that is known as what it is: the function may be kept for longer than the trace."""
    return plain_member(x) if type(x) is TracedArray and x.concrete is not None else x


def _recalled(fn: Any, trace: Trace, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """What a function with a cache returns, if it is made in the trace: what it made in a branch or a loop is nothing
    for what comes after that. Its own cache says by its size whether it was cleared."""
    around, key = [current()], (args, *options.items())
    while around[-1].parent is not None:
        around.append(around[-1].parent)
    is_empty = not fn.cache_info().currsize
    for each in around:
        if is_empty:
            each.recalled.pop(fn, None)
        elif key in each.recalled.get(fn, ()):
            return each.recalled[fn][key]
    if is_empty:
        around[-1].recalls.pop(fn, None)
    _check_recalls(fn, key, around[-1])
    made = (fn if is_empty else callee(fn.__wrapped__, trace))(*args, **options)
    around[0].recalled.setdefault(fn, {})[key] = made
    return made


def _check_recalls(fn: Any, key: Any, top: Trace) -> None:
    """TracedValueError if too often a result was made anew that another branch has: then data may decide the conditions
    that this branch is in."""
    made = top.recalls.setdefault(fn, {})
    made[key] = made.get(key, 0) + 1
    if sum(made.values()) - len(made) > MOST_ANEW:
        raise TracedValueError(
            f"{fn.__name__} remembers what it has returned, but not what it has under a condition that is known only "
            f"at run time: it was traced anew for more than {MOST_ANEW} calls of before",
            hint="keep the results in an array that loops fill, as in table[i, j] = ...",
        ).at(("called here", here()))


def unbound(fn: Any, trace: Trace, x: Any, /, *args: Any, **options: Any) -> Any:
    """A call of a method that is read from a class of NumPy's: `np.ndarray.sum(x)`."""
    x = of_element(x, trace)
    is_traced = not is_of(x, fn.__objclass__) and issubclass(class_of(x), fn.__objclass__)
    return (getattr(x, fn.__name__) if is_traced else functools.partial(fn, x))(*args, **options)


def dispatched(fn: Any, trace: Trace, x: Any, /, *args: Any, **options: Any) -> Any:
    """A call of a function of single dispatch, by the class of what x stands for."""
    return callee(fn.dispatch(class_of(x)), trace)(x, *args, **options)


def of_element(value: Any, trace: Trace) -> Any:
    """An element of a container as the trace sees it; containers of arrays as new ones."""
    if isinstance(value, np.ndarray):
        return TracedArray(*trace.enter(value))
    if kind_of(value) is Ref and is_of(value.array, np.ndarray):
        return traced(value, TracedArray(*trace.enter(value.array)))
    if is_of(value, np.random.Generator | np.random.RandomState):
        return entered(value, trace)
    if is_of(value, list | tuple) and type(value) in (list, tuple):
        parts = [of_element(v, trace) for v in value]
        return type(value)(parts) if any(p is not v for p, v in zip(parts, value, strict=True)) else value
    return instrument(value, trace)


def of_object(value: Any, trace: Trace) -> Any:
    """An object as the trace sees it: references and generators by what stands for them; containers as they are."""
    is_stood_for = is_of(value, Ref | np.random.Generator | np.random.RandomState)
    return of_element(value, trace) if is_stood_for else instrument(value, trace)


def _front(place: Place, trace: Trace) -> types.CellType:
    """A cell that stands for a name from outside, the same one for all functions; empty yet."""
    made = types.CellType()
    trace.behind[id(made)] = made, place
    if place.kind == "name":
        trace.fronts[place.number] = made
    else:
        trace.rebound[place.number][place.key] = made
    return made


def _fill(cell: types.CellType, trace: Trace) -> None:
    """Have a cell that stands for a name show what that holds, as the trace sees it."""
    place = trace.behind[id(cell)][1]
    content = place.get()
    if content is MISSING and place.kind == "item":
        content = getattr(builtins, place.key, MISSING)
    shown = seen(content, place.holder, place.key, trace)
    if shown is not MISSING:
        cell.cell_contents = shown


def bound_cell(trace: Trace, names: dict[str, Any], name: str) -> types.CellType:
    """The cell of a global name that is about to be bound."""
    cell = trace.rebound[id(names)].get(name)
    if cell is None:
        cell = _front(place_of("item", names, name), trace)
        _fill(cell, trace)
    trace.cells[id(cell)] = cell
    note_name(place_of("name", cell, name))
    return cell


def rebound_cell(trace: Trace, module: types.ModuleType, name: str) -> types.CellType | None:
    """The cell of a name of a module that a traced function binds; None if none does."""
    return trace.rebound.get(id(module.__dict__), {}).get(name)


def seen(value: Any, owner: Any, name: str, trace: Trace) -> Any:
    """What the traced function gets for a name: its value, or a traced stand-in."""
    if isinstance(value, np.ndarray):
        trace.roots[id(owner), name] = (owner, name, value)
        return TracedArray(*trace.enter(value))
    trace.roots.setdefault((id(owner), name), (owner, name, value))
    if value is MISSING:
        return value
    if is_stateful(kind_of(value)) and value is not sys.stdout and value is not sys.stderr:
        trace.roots[id(value), ""] = ({}, "", value)  # never holds: what it gives next is other each time
    if (known := namespace_of(value) or made_by(value) or joiner_of(value)) is not None:
        return known
    return of_object(note_environment(value, trace), trace)
