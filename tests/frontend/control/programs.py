"""Random programs of loops and branches over a few numbers and arrays, as text."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from itertools import count
from random import Random
from typing import Any, final

import numpy as np

HEAD = ("def f(x, y, a, n):", "    s, t, k, p = 0.5, a, 0, 0.0", "    u, v = x.copy(), np.zeros(6)")
PLAIN = (
    "u, v = v, u", "u = u * 0.5 + v * 0.25", "u = np.zeros(6) + s", "v = u.copy()", "v = x", "u *= 0.5", "k += 1",
    "v = np.tanh(u)", "s, t = t, s", "p = s * 0.5", "v[1:] = u[:-1]", "x[1:] += 0.1 * x[:-1]", "y[:] = x",
    "u[::2] = v[1::2]",
)  # fmt: skip
RANGES = ("range(7)", "range(2, 9)", "range(6, -1, -1)", "range(n)", "range(3)", "range(0)", "range(1, 12, 2)")
RESULT = "return {}, t, k, p, u, v"
_numbers = count()


@final
class Program:
    """Draws the text of a program."""

    def __init__(self, draw: Random, *, dynamic: bool) -> None:
        self.draw = draw
        self.ranges = RANGES if dynamic else tuple(r for r in RANGES if r != "range(n)")
        self.dynamic = dynamic
        self.loops: list[str] = []
        self.names = count()

    def text(self) -> str:
        """The whole program."""
        body = [line for _ in range(self.draw.randint(2, 5)) for line in self.statement(1, 2, in_loop=False)]
        return "\n".join([*HEAD, *body, "    " + RESULT.format("s")])

    def expression(self, depth: int = 2) -> str:
        """A number."""
        more = self.expression
        leaves = [self.draw.choice(["s", "t", "a", "1.5", "-0.25", "2"]), f"{self.array()}[{self.index()}]"]
        if not depth:
            return self.draw.choice(leaves)
        d = depth - 1
        inner = [
            f"np.tanh({more(d)})", f"({more(d)} - 0.5 * {more(d)})", f"({more(d)} if {self.condition(d)} else {more(d)})",
            f"{self.array()}.sum() * 0.1", *leaves,
        ]  # fmt: skip
        return self.draw.choice(inner + [f"({more(d)} * 0.3 + {i})" for i in self.loops[-1:]])

    def array(self) -> str:
        """The name of an array."""
        return self.draw.choice("xyuv")

    def index(self) -> str:
        """An index of an array of six."""
        i = self.draw.choice(self.loops) if self.loops else "k"
        return self.draw.choice([str(self.draw.randrange(6)), f"{i} % 6", f"({i} + 1) % 6", f"-1 - {i} % 6"])

    def condition(self, depth: int = 1) -> str:
        """A condition."""
        e = self.expression(depth)
        return self.draw.choice([
            f"{e} > {self.expression(depth)}", "s < 0.5 and t > -0.5", f"(not s > 0.2 or {e} < 0)", f"-1 < {e} <= 0.4",
        ])  # fmt: skip

    def block(self, indent: int, depth: int, *, in_loop: bool) -> list[str]:
        """A few statements."""
        return [s for _ in range(self.draw.randint(1, 3)) for s in self.statement(indent, depth, in_loop=in_loop)]

    def statement(self, indent: int, depth: int, *, in_loop: bool) -> list[str]:
        """A statement, with those inside it."""
        p = "    " * indent
        kind = self.draw.randrange(10)
        if kind < 4 or not depth:
            made = [f"s = {self.expression()}", f"t += 0.5 * {self.expression()}", self.draw.choice(PLAIN)]
            return [p + self.draw.choice([*made, f"{self.array()}[{self.index()}] += {self.expression()}"])]
        if kind == 4 and in_loop:
            return [p + f"if {self.condition()}:", p + "    " + self.draw.choice(["break", "continue"])]
        if kind == 5 and self.draw.random() < 0.4:
            return [p + f"if {self.condition()}:", p + "    " + RESULT.format(self.expression())]
        if kind < 8:
            return self.branch(indent, depth, in_loop=in_loop)
        return self.loop(indent, depth, in_loop=in_loop)

    def branch(self, indent: int, depth: int, *, in_loop: bool) -> list[str]:
        """An `if`."""
        p = "    " * indent
        made = [p + f"if {self.condition()}:", *self.block(indent + 1, depth - 1, in_loop=in_loop)]
        if self.draw.random() < 0.6:
            made += [p + "else:", *self.block(indent + 1, depth - 1, in_loop=in_loop)]
        return made

    def loop(self, indent: int, depth: int, *, in_loop: bool) -> list[str]:
        """A `for` or `while`."""
        p, name = "    " * indent, f"i{next(self.names)}"
        if self.dynamic and self.draw.random() < 0.3:
            head = [p + f"{name} = 0", p + f"while ({self.condition()}) and {name} < 6:", p + f"    {name} += 1"]
            return head + self.block(indent + 1, depth - 1, in_loop=True)
        inner = [f"range({self.loops[-1]})"] if self.loops and self.dynamic else []
        items = self.draw.choice([f"{name} in {r}" for r in (*self.ranges, *inner)] + [f"{name}, q in enumerate(x)"])
        self.loops.append(name)
        made = [p + f"for {items}:", *self.block(indent + 1, depth - 1, in_loop=True)]
        self.loops.pop()
        if self.draw.random() < 0.2:
            made += [p + "else:", *self.block(indent + 1, depth - 1, in_loop=in_loop)]
        return made


def compiled(text: str) -> Callable[..., Any]:
    """The function of a program, whose source Python can show."""
    name = f"<random program {next(_numbers)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    scope: dict[str, Any] = {"np": np}
    exec(compile(text, name, "exec"), scope)
    return scope["f"]
