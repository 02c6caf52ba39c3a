"""What systems share: the services of those that run f on NumPy arrays, and optional imports."""

from __future__ import annotations

import functools
import importlib
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.diff.system import Abilities, Arrays, Flat, Mode, Pushed, is_ndarray, unboxed
from pliant.errors import MutationError, UnavailableError


@functools.cache
def package(name: str, system: str, pip: str) -> Any:
    """An optional package; UnavailableError with the line that installs it if it is missing."""
    try:
        with warnings.catch_warnings():  # what packages do while they load is not the user's concern
            warnings.simplefilter("ignore")
            return importlib.import_module(name)
    except ImportError as error:
        raise UnavailableError(f"{system} needs the package {name!r}: {error}", hint=f"pip install {pip}") from None


def mutation_error(system: str, error: object = "") -> MutationError:
    """The error for a function that writes to x or to a constant."""
    return MutationError(
        f"{system}: the function writes to x or to a Constant{f' ({error})' if error else ''}",
        hint="let it write to a copy, or to a Cache",
    )


class OnNumPy(ABC):
    """A system whose functions get NumPy arrays, or something that stands for them."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What errors and tables call it."""

    @property
    @abstractmethod
    def abilities(self) -> Abilities:
        """What it can do."""

    @property
    def mode(self) -> Mode:
        """Forward, unless it has a reverse mode."""
        return "reverse" if self.abilities.reverse else "forward"

    @property
    def plain(self) -> bool:
        """Functions run as they are."""
        return False

    @property
    def namespace(self) -> Any:
        """NumPy."""
        return np

    def require(self) -> None:  # noqa: B027
        """Nothing to install."""

    def call(self, f: Callable[..., Any], args: Arrays, guarded: Arrays) -> Any:
        """`f(*args)`; its arrays are read-only, so that NumPy notices writes."""
        try:
            return f(*args)
        except ValueError as error:
            if "read-only" not in str(error):
                raise
            raise mutation_error(self.name, error) from error

    def guard(self, x: Any) -> Any:
        """A read-only view of an array."""
        if not is_ndarray(x):
            return x
        view = x.view()
        view.flags.writeable = False
        return view

    def compile(self, program: Callable[..., Any]) -> Callable[..., Any]:
        """The program itself: it runs anew at every call."""

        def run(xs: Arrays, seeds: Any, constants: Arrays, key: Any) -> Any:
            return program(xs, seeds, constants)

        return run

    def pullback(self, fn: Flat, xs: Arrays, seed: Callable[[Arrays], Arrays], is_many: bool) -> Pushed:
        """Not offered, unless a system has its own."""
        raise NotImplementedError

    def array(self, x: Any) -> Any:
        """A NumPy array or scalar."""
        return x if hasattr(x, "dtype") else np.asarray(x)[()]

    def numpy(self, x: Any) -> Any:
        """The array itself."""
        return unboxed(x)

    def owns(self, x: Any) -> bool:
        """It has no arrays of its own."""
        return False

    def eye(self, n: int, like: Any) -> Any:
        """The unit matrix."""
        return np.eye(n, dtype=like.dtype)

    def zeros(self, shape: tuple[int, ...], like: Any) -> Any:
        """Zeros; of rank 0 a scalar."""
        return np.zeros(shape, like.dtype)[()]

    def cast(self, x: Any, like: Any) -> Any:
        """`astype`."""
        return x if x.dtype == like.dtype else x.astype(like.dtype)

    def buffer(self, template: Any) -> Any:
        """Fresh memory, so that one evaluation does not write over another's result."""
        return np.empty(template.shape, template.dtype)

    def read(self, buffer: Any) -> Any:
        """The buffer itself."""
        return buffer
