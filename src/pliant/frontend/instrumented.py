"""Functions of the user as a trace sees them: their names, cells and defaults hand out traced arrays for NumPy's.

What they read becomes a guard; see `capture`.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import sys
import types
from typing import Any, Final, cast

import numpy as np

from pliant.core.origin import CodeOrigin, at, here
from pliant.errors import DTypeError, TracedValueError, UnsupportedError
from pliant.frontend.array import TracedArray
from pliant.frontend.control.builtins import BUILTINS
from pliant.frontend.control.classes import class_of
from pliant.frontend.control.outside import note_unseen
from pliant.frontend.control.region import note_name, place_of
from pliant.frontend.control.specials import managed
from pliant.frontend.control.vectorized import vectorized
from pliant.frontend.creation import Maker, UfuncMaker, made_by, namespace_of
from pliant.frontend.definitions import stored_globals
from pliant.frontend.draws import entered
from pliant.frontend.functions.scipys import written_anew
from pliant.frontend.globals import TracedGlobals
from pliant.frontend.guards import (
    MISSING,
    Box,
    note_class,
    note_names,
)
from pliant.frontend.joiners import joiner_of
from pliant.frontend.kinds import is_of, stood_for
from pliant.frontend.members import plain_member
from pliant.frontend.needs import can_be_known
from pliant.frontend.once import note_environment
from pliant.frontend.printing import printed
from pliant.frontend.reference import Ref, traced
from pliant.frontend.source import rewritten
from pliant.frontend.tracing import Trace, current
from pliant.frontend.whose import is_stateful, is_users

_CACHED: Final = type(functools.cache(len))
_MANAGER: Final[Any] = contextlib.contextmanager(cast("Any", iter))  # all that it makes have one code
_DECORATED: Final[Any] = contextlib.ContextDecorator()(cast("Any", iter))  # so have all that it decorates
MOST_ANEW: Final = 64  # calls of a function that has a cache
_DESCRIPTORS: Final = (types.MethodDescriptorType, types.WrapperDescriptorType)
PLAIN: Final = frozenset({types.BuiltinFunctionType, np.ufunc, UfuncMaker, type})  # these read nothing of users


def instrument(fn: Any, trace: Trace) -> Any:
    """`fn` with its outside seen by the trace; anything but a user's Python function unchanged."""
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
    known = top.instrumented.get(id(fn))
    if known is None:
        code, instead = rewritten(fn.__code__, fn.__qualname__), dict[str, Any]()
        if code is None:
            code, instead["print"] = fn.__code__, printed
        cells = top.rebound.setdefault(id(fn.__globals__), {})
        bind = functools.partial(bound_cell, top, fn.__globals__)
        names: Any = TracedGlobals(fn.__globals__, functools.partial(seen, trace=top), cells, bind, instead)
        stored = stored_globals(code)
        if stored:  # it must have the real ones
            names = top.cells[id(fn.__globals__)] = fn.__globals__
            note_names(top, names, code)
        for part, name, offset in stored:
            with at(CodeOrigin(part, offset)):
                note_name(place_of("item", names, name))
        real = dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))
        later = {n: types.CellType() for n, c in real.items() if _holds_function(c)}  # they may lead back to fn
        outside = {n: _seen_cell(c, n, top) for n, c in real.items() if n not in later} | later | Trace.readers_of(top)
        defaults = tuple(of_element(d, top) for d in fn.__defaults__) if fn.__defaults__ else fn.__defaults__
        new = [n for n in code.co_freevars if n not in outside and n not in cells]
        cells |= {n: _global_cell(fn.__globals__, n, top) for n in new}
        outside = cells | outside
        top.cells |= {id(outside[n]): outside[n] for n in code.co_freevars}
        made = types.FunctionType(code, names, fn.__name__, defaults, tuple(outside[n] for n in code.co_freevars))
        made.__dict__ = fn.__dict__  # attributes of a function are shared with it
        made.__kwdefaults__ = fn.__kwdefaults__ and {k: of_element(d, top) for k, d in fn.__kwdefaults__.items()}
        made = made if code is not fn.__code__ else _watched(made, fn, top, {part[1] for part in stored})
        known = top.instrumented[id(fn)] = (made, fn)  # fn too: its id must not be used again
        for n, cell in later.items():
            cell.cell_contents = seen(real[n].cell_contents, real[n], n, top)
        for n in new:
            _fill_global(cells[n], fn.__globals__, n, top)
    return known[0]


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
    if (own := written_anew(fn)) is not None:
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


def _holds_function(cell: types.CellType) -> bool:
    try:
        return isinstance(cell.cell_contents, types.FunctionType | types.MethodType | functools.partial)
    except ValueError:
        return False


def _seen_cell(cell: types.CellType, name: str, trace: Trace) -> types.CellType:
    """A cell that shows its content as the trace sees it; an empty one unchanged."""
    try:
        content = cell.cell_contents
    except ValueError:
        return cell
    shown = seen(content, cell, name, trace)
    if shown is content:
        return cell
    made = types.CellType(shown)
    trace.behind[id(made)] = made, place_of("name", cell, name)
    return made


def _global_cell(names: dict[str, Any], name: str, trace: Trace) -> types.CellType:
    """An empty cell for a global name that a traced function binds."""
    made = types.CellType()
    trace.behind[id(made)] = made, place_of("item", names, name)
    return made


def bound_cell(trace: Trace, names: dict[str, Any], name: str) -> types.CellType:
    """The cell of a global name that is about to be bound."""
    cells = trace.rebound[id(names)]
    if name not in cells:
        cells[name] = _global_cell(names, name, trace)
        _fill_global(cells[name], names, name, trace)
    trace.cells[id(cells[name])] = cells[name]
    note_name(place_of("name", cells[name], name))
    return cells[name]


def rebound_cell(trace: Trace, module: types.ModuleType, name: str) -> types.CellType | None:
    """The cell of a name of a module that a traced function binds; None if none does."""
    return trace.rebound.get(id(module.__dict__), {}).get(name)


def _fill_global(cell: types.CellType, names: dict[str, Any], name: str, trace: Trace) -> None:
    """Have a cell show what a global name holds, as the trace sees it."""
    shown = seen(names.get(name, getattr(builtins, name, MISSING)), names, name, trace)
    if shown is not MISSING:
        cell.cell_contents = shown


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
