"""Where in the user's program a value was made: captured cheaply, rendered late."""

from __future__ import annotations

import dis
import inspect
import linecache
import os
import re
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType, FrameType, FunctionType
from typing import Final, Protocol, cast, final

_ASSIGNED = re.compile(r"\s*([A-Za-z_]\w*(?:,\s*[A-Za-z_]\w*)*)\s*=(?!=)\s*")
_PYTHON = os.path.dirname(os.__file__) + os.sep
_PLIANT = os.path.dirname(os.path.dirname(__file__))  # `pathlib` would take a twentieth of `import pliant`


class Origin(Protocol):
    """Where a value was made: a line of user code or of IR text."""

    @property
    def names(self) -> tuple[str, ...]:
        """The variables the line assigns."""
        ...

    @property
    def short(self) -> str:
        """File and line."""
        ...

    def render(self, label: str) -> str:
        """The place, `label` and the source line with carets."""
        ...


@final
@dataclass(frozen=True, slots=True)
class TextOrigin:
    """A statement of parsed IR."""

    names: tuple[str, ...]
    line: int
    text: str

    @property
    def short(self) -> str:
        return f"IR line {self.line}"

    def render(self, label: str) -> str:
        return f"  --> IR line {self.line}: {label}\n      {self.text}"


@final
@dataclass(frozen=True, slots=True)
class Nowhere:
    """No line of its own: literals, which a trace makes once, and what no user's code made."""

    names: tuple[str, ...] = ()
    short: str = "nowhere"

    def render(self, label: str) -> str:
        return f"  --> {label}"


@final
@dataclass(slots=True, unsafe_hash=True)  # never changed; `frozen` would triple the cost of making one
class DerivedOrigin:
    """Made by a transform from what `base` made; it has no name of its own."""

    base: Origin
    names: tuple[str, ...] = ()

    @property
    def short(self) -> str:
        return f"{self.base.short} (derived)"

    def render(self, label: str) -> str:
        return self.base.render(f"derived from {label}" if label else "derived")


def derived(origin: Origin) -> DerivedOrigin:
    """The origin of what a transform makes from what `origin` made; a new object at each call."""
    return DerivedOrigin(origin.base if type(origin) is DerivedOrigin else origin)


@lru_cache(maxsize=4096)
def _positions(code: CodeType) -> tuple[tuple[int | None, int | None, int | None, int | None], ...]:
    return tuple(code.co_positions())


@final
@dataclass(slots=True, unsafe_hash=True)  # never changed; `frozen` would triple the cost of making one
class CodeOrigin:
    """A point in user code: the code object and the instruction that ran.

    Line and columns are looked up only when an error or a dump needs them.
    """

    code: CodeType
    instruction: int

    @property
    def span(self) -> tuple[int, int, int]:
        """(line, first column, last column), 1-based line, 0-based columns."""
        line, last, start, stop = _positions(self.code)[max(self.instruction, 0) // 2]
        line, start, stop = line or 0, start or 0, stop or 0
        if last != line:
            stop = len(linecache.getline(self.code.co_filename, line).rstrip())
        return line, start, stop

    @property
    def text(self) -> str:
        """The user's source line, without its newline."""
        return linecache.getline(self.code.co_filename, self.span[0]).rstrip()

    @property
    def names(self) -> tuple[str, ...]:
        line, start, stop = self.span
        return _assigned(self.text, start, stop) if line else ()

    @property
    def short(self) -> str:
        return f"{os.path.basename(self.code.co_filename)}:{self.span[0]}"

    def render(self, label: str) -> str:
        line, start, stop = self.span
        where = f"  --> {os.path.basename(self.code.co_filename)}:{line}, in {self.code.co_name}"
        where += f": {label}" if label else ""
        text = self.text
        if not text:
            return where
        # co_positions counts bytes; carets must count characters
        start = len(text.encode()[:start].decode(errors="replace"))
        stop = len(text.encode()[:stop].decode(errors="replace"))
        margin = len(text) - len(text.lstrip())
        carets = " " * (start - margin) + "^" * max(stop - start, 1)
        return f"{where}\n      {text.lstrip()}\n      {carets}"


@final
@dataclass(slots=True, unsafe_hash=True)
class ParameterOrigin:
    """A parameter of a user's function."""

    names: tuple[str, ...]
    code: CodeType | None

    @classmethod
    def of(cls, name: str, function: object) -> ParameterOrigin:
        """Of a function, or of the one that it is made from."""
        return cls((name,), getattr(inspect.unwrap(cast("FunctionType", function)), "__code__", None))

    @property
    def short(self) -> str:
        return f"{os.path.basename(self.code.co_filename)}:{self.code.co_firstlineno}" if self.code else "an argument"

    def render(self, label: str) -> str:
        what = f"parameter {self.names[0]!r}" if self.names else "a parameter"
        if self.code is None:
            return f"  --> {what}: {label}"
        return f"  --> {self.short}, {what} of {self.code.co_name}: {label}"


def returned_by(function: object) -> CodeOrigin | None:
    """Where a function written in Python returns, the last place if there are several; None if it has no code."""
    code = getattr(inspect.unwrap(cast("FunctionType", function)), "__code__", None)
    if code is None or (end := _last_return(code)) is None:
        return None
    return CodeOrigin(code, end)


@lru_cache(maxsize=4096)
def _last_return(code: CodeType) -> int | None:
    """Where code returns at last."""
    return max([i.offset for i in dis.get_instructions(code) if i.opname.startswith("RETURN_")], default=None)


@lru_cache(maxsize=65536)
def _assigned(text: str, start: int, stop: int) -> tuple[str, ...]:
    """The variables assigned if columns `start:stop` are the whole right-hand side."""
    match = _ASSIGNED.match(text)
    if not match or text[start:stop] != text[match.end() :].partition("#")[0].strip():
        return ()
    return tuple(name.strip() for name in match[1].split(","))


class _State(threading.local):
    """The origin that overrides frames, per thread."""

    override: Origin | None = None


_state = _State()
NOWHERE = Nowhere()


def swap(origin: Origin | None) -> Origin | None:
    """Set the origin of what is made next, None for the user's frame; returns the one before.

    Prefer `at`; this is for loops that run once per node.
    """
    before = _state.override
    _state.override = origin
    return before


@contextmanager
def at(origin: Origin) -> Generator[None]:
    """Values made inside come from `origin`: derived code keeps its source."""
    before = swap(origin)
    try:
        yield
    finally:
        swap(before)


def here(skipped: int = 0) -> Origin:
    """The innermost frame outside Pliant, NumPy and SciPy, or the one set by `at`; looks beyond `skipped` callers."""
    override = _state.override
    if override is not None:
        return override
    frame: FrameType | None = sys._getframe(skipped + 1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None:
        if not OURS[frame.f_code.co_filename]:
            return CodeOrigin(frame.f_code, frame.f_lasti)
        frame = frame.f_back
    return NOWHERE


def runs_in(library: str) -> bool:
    """Whether the user's innermost frame has called a function of a library, in which this happens."""
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None and OURS[name := frame.f_code.co_filename]:
        if any([f"{sep}{library}{sep}" in name for sep in "/\\"]):
            return True
        frame = frame.f_back
    return False


@final
class _Ours(dict[str, bool]):
    def __missing__(self, name: str) -> bool:
        inside = name.startswith((_PLIANT, "<frozen", "<__array_function__"))
        is_pythons = name.startswith(_PYTHON) and "-packages" not in name
        libraries = ("numpy", "scipy", "optree", "site-packages/jax", "site-packages\\jax")
        inside = inside or any([f"{sep}{library}{sep}" in name for sep in "/\\" for library in libraries])
        self[name] = made = inside or is_pythons
        return made


OURS: Final = _Ours()  # this is asked for every value
"""Whether a file, by name, belongs to Pliant, NumPy, SciPy, optree, JAX or Python itself."""
