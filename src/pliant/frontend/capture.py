"""See what a user's function reads from outside: arrays, NumPy itself, other functions.

The function runs with globals and closure cells that hand out traced arrays for NumPy arrays and
Pliant's makers for NumPy's (`np.zeros` inside a traced function makes a traced array). Everything
it read, and what can be reached from there, becomes a guard that is tested before the compiled
program is used again: a rebound name or attribute is never missed.
"""

from __future__ import annotations

import functools
import sys
import sysconfig
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, final

import numpy as np

from pliant.frontend.array import TracedArray
from pliant.frontend.creation import NumPyNamespace, made_by
from pliant.frontend.tracing import Trace

REACH: Final = 400  # how many entries of containers and objects are guarded per program

_STANDARD: Final = sysconfig.get_path("stdlib")
_LIBRARIES: Final = tuple(
    f"{sep}{name}{sep}" for sep in "/\\" for name in ("numpy", "scipy", "pliant", "optree", "jax", "torch")
)
_MISSING: Final = object()


def is_users(fn: types.FunctionType) -> bool:
    """Whether to look into a function: not into Python's own and NumPy's."""
    name = fn.__code__.co_filename
    in_standard = name.startswith(_STANDARD) and "site-packages" not in name
    package = (fn.__module__ or "").partition(".")[0]
    is_library = any(part in name for part in _LIBRARIES) and package in sys.modules
    library = package in ("numpy", "scipy", "pliant", "optree", "jax", "torch")
    return not in_standard and not (is_library and library) and not name.startswith("<frozen")


def instrument(fn: Any, trace: Trace) -> Any:
    """`fn` with its outside seen by the trace; anything but a user's Python function unchanged."""
    if isinstance(fn, types.MethodType):
        trace.roots[id(fn.__self__), ""] = (_Box(fn.__self__), "", fn.__self__)
        return types.MethodType(instrument(fn.__func__, trace), fn.__self__)
    if isinstance(fn, functools.partial):
        return functools.partial(instrument(fn.func, trace), *fn.args, **fn.keywords)
    if not isinstance(fn, types.FunctionType) or not is_users(fn) or isinstance(fn.__globals__, TracedGlobals):
        return fn
    top = trace.outermost
    known = top.instrumented.get(id(fn))
    if known is None:
        code = fn.__code__
        names = TracedGlobals(fn.__globals__, top) if not _writes_globals(code) else fn.__globals__
        cells = tuple(_seen_cell(c, n, top) for c, n in zip(fn.__closure__ or (), code.co_freevars, strict=True))
        made = types.FunctionType(code, names, fn.__name__, fn.__defaults__, cells or fn.__closure__)
        made.__kwdefaults__ = fn.__kwdefaults__
        known = top.instrumented[id(fn)] = (made, fn)  # fn too: its id must not be used again
    return known[0]


def _writes_globals(code: types.CodeType) -> bool:
    """Whether the code assigns global names: then it must have the real ones."""
    return any(op in (_STORE_GLOBAL, _DELETE_GLOBAL) for op in code.co_code[::2])


_STORE_GLOBAL: Final = __import__("dis").opmap["STORE_GLOBAL"]
_DELETE_GLOBAL: Final = __import__("dis").opmap["DELETE_GLOBAL"]


@final
@dataclass
class _Box:
    """A holder of one object, for guards on what is no global and no cell."""

    content: Any


@final
class TracedGlobals(dict[str, Any]):
    """Globals that show arrays as traced ones. Python looks names up through `__getitem__`
    because this is no plain dict."""

    __slots__ = ("real", "trace")

    def __init__(self, real: dict[str, Any], trace: Trace) -> None:
        super().__init__({"__builtins__": real.get("__builtins__", __builtins__), "__name__": real.get("__name__")})
        self.real, self.trace = real, trace

    def __getitem__(self, name: str) -> Any:
        return seen(self.real[name], self.real, name, self.trace)


def _seen_cell(cell: types.CellType, name: str, trace: Trace) -> types.CellType:
    """A cell that shows its content as the trace sees it; an empty one unchanged."""
    try:
        content = cell.cell_contents
    except ValueError:
        return cell
    shown = seen(content, cell, name, trace)
    return cell if shown is content else types.CellType(shown)


def seen(value: Any, owner: Any, name: str, trace: Trace) -> Any:
    """What the traced function gets for a name: its value, or a traced stand-in."""
    if value is np:
        return NumPyNamespace()
    if isinstance(value, np.ndarray):
        trace.roots[id(owner), name] = (owner, name, value)
        return TracedArray(trace.capture(value))
    if isinstance(value, types.ModuleType | type):
        return value
    maker = made_by(value)
    if maker is not None:
        return maker
    trace.roots[id(owner), name] = (owner, name, value)
    return instrument(value, trace)


@final
@dataclass
class Guards:
    """What a compiled program assumes about the world outside its arguments."""

    named: list[tuple[dict[Any, Any], Any, Any]] = field(default_factory=list[tuple[dict[Any, Any], Any, Any]])
    others: list[tuple[Any, Any, Any]] = field(default_factory=list[tuple[Any, Any, Any]])

    @property
    def entries(self) -> list[tuple[Any, Any, Any]]:
        """(owner, name, object) of all of them."""
        return self.named + self.others

    def hold(self) -> bool:
        """Whether every name, cell, attribute and item still has the same object."""
        for names, name, value in self.named:
            if names.get(name, _MISSING) is not value:
                return False
        return not self.others or all([_look(owner, name) is value for owner, name, value in self.others])


def guards_of(trace: Trace) -> Guards:
    """The names a trace read, and the entries of the containers and objects they hold."""
    entries = list(trace.roots.values())
    found, queue, seen_ids = list(entries), [v for _, _, v in entries], {id(v) for _, _, v in entries}
    while queue and len(found) < REACH:
        holder = queue.pop(0)
        for owner, name, value in _entries(holder):
            found.append((owner, name, value))
            if id(value) not in seen_ids:
                seen_ids.add(id(value))
                queue.append(value)
    named = [e for e in found if type(e[0]) is dict]
    return Guards(named, [e for e in found if type(e[0]) is not dict])


def _entries(holder: Any) -> list[tuple[Any, Any, Any]]:
    """(owner, key, value) of a mutable container's items or an object's attributes."""
    if isinstance(holder, dict):
        return [(holder, k, v) for k, v in holder.items()]
    if isinstance(holder, list | tuple):
        return [(holder, i, v) for i, v in enumerate(holder)]
    plain = (types.ModuleType, type, types.FunctionType, types.BuiltinFunctionType, np.ndarray, np.generic)
    if isinstance(holder, plain) or not hasattr(holder, "__dict__"):
        return []
    return [(holder.__dict__, k, v) for k, v in holder.__dict__.items()]


def _look(owner: Any, name: Any) -> Any:
    """What an owner holds under a name now."""
    if isinstance(owner, types.CellType):
        try:
            return owner.cell_contents
        except ValueError:
            return _MISSING
    if isinstance(owner, _Box):
        return owner.content
    try:
        return owner[name]
    except (KeyError, IndexError):
        return _MISSING


Callback = Callable[..., Any]
