"""Whose a function or a module is: the user's, or of a library that is not looked into."""

from __future__ import annotations

import array
import collections
import io
import os
import random
import sys
import types
from functools import cache
from typing import Any, Final, cast

_STANDARD: Final = os.path.dirname(os.__file__)
_STATEFUL: Final[Any] = (random.Random, io.IOBase, bytearray, array.array, collections.ChainMap)
_FOLLOWED: Final = (
    "numpy.polynomial.",
    "pliant.frontend.control.heaps",
    "pliant.frontend.control.stepwise",
    "pliant.frontend.functions.scipys.loops",
    "pliant.frontend.random.",
)
LIBRARIES: Final = ("numpy", "scipy", "pliant", "optree", "jax", "torch")
_PLACES: Final = tuple(f"{sep}{name}{sep}" for sep in "/\\" for name in LIBRARIES)


def is_users(fn: types.FunctionType) -> bool:
    """Whether to look into a function: not into Python's own and NumPy's."""
    name = fn.__code__.co_filename
    in_standard = name.startswith(_STANDARD) and "site-packages" not in name
    package = str(fn.__globals__.get("__name__") or "").partition(".")[0]  # `wraps` copies `__module__`
    is_library = any(part in name for part in _PLACES) and package in sys.modules
    library = package in LIBRARIES and not is_followed(fn)
    return not in_standard and not (is_library and library) and not name.startswith("<frozen")


def is_followed(fn: Any) -> bool:
    """Whether a library's function is looked into as the user's are: it makes arrays, and asks what is one, or is
    written for that."""
    return (getattr(fn, "__module__", None) or "").startswith(_FOLLOWED)


def is_librarys(module: types.ModuleType) -> bool:
    """Whether a module is Python's own, or of the libraries that are not looked into."""
    return _is_of_library(module.__name__)


def is_library(kind: Any) -> bool:
    """Whether a class is Python's own, or of the libraries that are not looked into."""
    return _is_of_library(kind.__module__)


def _is_of_library(name: str) -> bool:
    package = name.partition(".")[0]
    return package in LIBRARIES or package in sys.stdlib_module_names


@cache
def is_plain(kind: Any) -> bool:
    """Whether a class is the user's, and all that there is of its objects are attributes."""
    above = kind.__mro__[:-1]
    is_plain = kind.__new__ is object.__new__ and kind.__setattr__ is object.__setattr__
    is_plain = is_plain and kind.__getattribute__ is object.__getattribute__ and kind.__module__ != "builtins"
    if not is_plain or any([c.__module__ == "builtins" for c in above]):
        return False
    return bool(above) and (is_followed(kind) or not _is_of_library(kind.__module__))


@cache
def is_stateful(kind: Any) -> bool:
    """Whether objects of a class have a state that changes as they are used and nobody is told of: iterators, files.
    What stands for others while a function is traced has none."""
    is_ours = str(kind.__module__).partition(".")[0] == "pliant"
    return (hasattr(kind, "__next__") or issubclass(kind, _STATEFUL)) and not (is_ours or is_plain(kind))


def kind_of(x: Any) -> Any:
    """The class of an object."""
    return cast("Any", type(x))


def receivers(f: Any) -> list[Any]:
    """The objects whose method a function is, or the one that it is made from, or which are called themselves."""
    found = list[Any]()
    while f is not None:
        found += [f.__self__] if isinstance(f, types.MethodType) else [f] if is_plain(kind_of(f)) else []
        f = getattr(f, "__wrapped__", None)
    return found
