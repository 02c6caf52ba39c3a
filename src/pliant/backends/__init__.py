"""Code from programs: one package or file per target."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from pliant.backends.base import Backend
from pliant.errors import ArgumentError

_PLACES = {name: f"pliant.backends.{name}" for name in ("reference", "llvm", "jax", "torch")}


@cache
def backend_named(name: str) -> Backend:
    """The backend of a name, imported when it is first asked for."""
    if name not in _PLACES:
        raise ArgumentError(f"expected a backend among {', '.join(_PLACES)}; got {name!r}")
    return import_module(_PLACES[name]).BACKEND
