"""A random program of loops and branches as data: a tree of statements, its source text, and what is smaller."""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

_numbers = itertools.count()


@dataclass(frozen=True)
class Statement:
    """A line, or a head with a block, and perhaps a second head with another block. A step is what ends a `while`: without
    it a program may run for ever."""

    head: str
    body: tuple[Statement, ...] = ()
    other: str = ""
    orelse: tuple[Statement, ...] = ()
    is_step: bool = False

    def lines(self, indent: int, returned: str = "") -> Iterator[str]:
        """Its text, with `returned` after what a `return` of the program says; those of a function inside are its own."""
        yield "    " * indent + self.head + (returned if self.head.startswith("return ") else "")
        inside = "" if self.head.startswith("def ") else returned
        for part in self.body:
            yield from part.lines(indent + 1, inside)
        if self.orelse:
            yield "    " * indent + self.other
        for part in self.orelse:
            yield from part.lines(indent + 1, inside)

    def smaller(self) -> Iterator[tuple[Statement, ...]]:
        """What may stand in its place."""
        if self.is_step:
            return
        yield ()
        if self.body:
            yield self.body
        if self.orelse:
            yield self.orelse
            yield (replace(self, other="", orelse=()),)
        for body in smaller_blocks(self.body):
            if body:
                yield (replace(self, body=body),)
        for block in smaller_blocks(self.orelse):
            if block:
                yield (replace(self, orelse=block),)


def smaller_blocks(block: tuple[Statement, ...]) -> Iterator[tuple[Statement, ...]]:
    """The block with one of its statements made smaller."""
    for i in reversed(range(len(block))):
        for made in block[i].smaller():
            yield block[:i] + made + block[i + 1 :]


@dataclass(frozen=True)
class Flow:
    """A function `f(x, y, a, n, z)` of two arrays of a dtype and a shape, a number and two integers. It returns `s`, or what an early
    return says, and the results."""

    dtype: str
    statements: tuple[Statement, ...]
    results: tuple[str, ...]
    seed: int = 0
    shape: tuple[int, ...] = (6,)
    layouts: tuple[str, str] = ("{x}", "{x}")  # how the arrays lie in memory

    def source(self) -> str:
        """The text of the function."""
        rest = ", ".join(["", *self.results]) or ","
        lines = [line for statement in (*self.statements, Statement("return s")) for line in statement.lines(1, rest)]
        return "\n".join(["def f(x, y, a, n, z):", *lines]) + "\n"

    def script(self) -> str:
        """What to paste to see a failure."""
        made = [f"x = {self._text(0)}", f"y = {self._text(1)}", "args = x, y, 0.3, 4, 0"]
        calls = ["print(f(*args))", *made, "print(pliant.jit(f)(*args))"]
        return "\n".join(["import numpy as np, pliant", "", self.source(), *made, *calls])

    def function(self, changed: Callable[[str], str] = str) -> Callable[..., Any]:
        """The function itself, whose text, perhaps changed, Python can show."""
        text, name = changed(self.source()), f"<random flow {next(_numbers)}>"
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        scope: dict[str, Any] = {"np": np}
        exec(compile(text, name, "exec"), scope)
        return scope["f"]

    def inputs(self, which: int = 0) -> list[Any]:
        """The arguments, made anew; `which` of several."""
        arrays = [eval(self._text(i + 2 * which), {"np": np}) for i in range(2)]
        return [*arrays, 0.3 - 0.45 * which, 4, 0]

    def _text(self, which: int) -> str:
        return self.layouts[which % 2].format(x=self._array(which))

    def _array(self, which: int) -> str:
        size = int(np.prod(self.shape))
        shaped = f".reshape({self.shape})" if len(self.shape) > 1 else ""
        if np.dtype(self.dtype).kind in "iu":
            return f"(np.arange({size}) * {which + 3} % 7 - 2).astype('{self.dtype}'){shaped}"
        return f"np.cos(np.arange({size}.0) * {1.3 + which} + {which}).astype('{self.dtype}'){shaped}"

    def smaller(self) -> Iterator[Flow]:
        """Programs with something left out."""
        for made in smaller_blocks(self.statements):
            yield replace(self, statements=made)
        for i in range(len(self.results)):
            yield replace(self, results=self.results[:i] + self.results[i + 1 :])


def shrunk(flow: Flow, fails: Callable[[Flow], bool], limit: int = 300) -> Flow:
    """The smallest program found that still fails."""
    tried, changed = 0, True
    while changed:
        changed = False
        for smaller in flow.smaller():
            tried += 1
            if tried > limit:
                return flow
            if fails(smaller):
                flow, changed = smaller, True
                break
    return flow
