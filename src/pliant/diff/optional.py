"""Packages that are imported when a system is first used."""

from __future__ import annotations

import functools
import importlib
import warnings
from typing import Any

from pliant.errors import UnavailableError


@functools.cache
def package(name: str, system: str, pip: str) -> Any:
    """An optional package; UnavailableError with the line that installs it if it is missing."""
    try:
        with warnings.catch_warnings():  # what packages do while they load is not the user's concern
            warnings.simplefilter("ignore")
            return importlib.import_module(name)
    except ImportError as error:
        raise UnavailableError(f"{system} needs the package {name!r}: {error}", hint=f"pip install {pip}") from None
