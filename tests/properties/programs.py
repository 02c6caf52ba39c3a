"""A random program as data: its source text, its runs by NumPy, and a shrinker for the failing ones.

A line of a program reads names as `⟦x⟧`: rendered plainly, the text is what a user would write;
rendered with noise, each read of an inexact line passes through `noisy`, which disturbs floats in
their last places. The spread of a few noisy runs tells how far a correct compiler may be off.
"""

from __future__ import annotations

import itertools
import linecache
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from scipy import special

from pliant.errors import PlanWarning

NOISE = 4  # last places that a read of a noisy run may be off
_READ = re.compile(r"⟦(.*?)⟧")
NAMES: Final[dict[str, Any]] = {
    "np": np, "special": special, "array": np.array, "nan": np.nan, "inf": np.inf,
}  # fmt: skip
"""What a program may name beside its arguments."""
_numbers = itertools.count()


@dataclass(frozen=True)
class Line:
    """One statement, perhaps of several physical lines."""

    text: str
    is_exact: bool = True  # data movement, integers, booleans: the same bits everywhere

    def plain(self) -> str:
        """As a user writes it."""
        return _READ.sub(r"\1", self.text)

    def rendered(self, with_noise: bool) -> str:
        """With reads disturbed, if it is inexact and `with_noise`."""
        return _READ.sub(r"noisy(\1)", self.text) if with_noise and not self.is_exact else self.plain()


@dataclass(frozen=True)
class Program:
    """A function of NumPy arrays in source text, with arguments to call it with."""

    arguments: tuple[tuple[str, str], ...]  # name, expression that makes it
    lines: tuple[Line, ...]
    results: tuple[str, ...]
    seed: int = 0

    def source(self, *, with_noise: bool = False, without: Sequence[str] = ()) -> str:
        """The text of the function, perhaps without some parameters."""
        names = ", ".join(n for n, _ in self.arguments if n not in without)
        body = [part for line in self.lines for part in line.rendered(with_noise).split("\n")]
        returned = ", ".join(self.results) + ("," if len(self.results) == 1 else "")
        return "\n".join([f"def f({names}):", *(f"    {part}" for part in body), f"    return {returned}"]) + "\n"

    def script(self, call: str = "pliant.jit(f)") -> str:
        """What to paste to see a failure."""
        made = [f"{name} = {text}" for name, text in self.arguments]
        names = ", ".join(n for n, _ in self.arguments)
        head = ["import numpy as np, pliant", "from numpy import array, inf, nan", "from scipy import special"]
        return "\n".join([*head, "", self.source(), *made, f"print(f({names}))", *made, f"print({call}({names}))"])

    def function(
        self,
        *,
        with_noise: bool = False,
        rng: np.random.Generator | None = None,
        captured: dict[str, Any] | None = None,
    ) -> Callable[..., Any]:
        """The function itself; its text is known to tracebacks and to `inspect`. Captured arrays are its globals."""
        text = self.source(with_noise=with_noise, without=[*(captured or {})])
        name = f"<random program {next(_numbers)}>"
        if not with_noise:
            linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        names = {**NAMES, "__name__": "program", **(captured or {})}
        if with_noise:
            names["noisy"] = lambda x: noisy(x, rng or np.random.default_rng())
        exec(compile(text, name, "exec"), names)
        return names["f"]

    def inputs(self) -> list[Any]:
        """The arguments, made anew."""
        names = dict(NAMES)
        for name, text in self.arguments:
            names[name] = eval(text, names)  # which may be a view of an argument before it
        return [names[name] for name, _ in self.arguments]


@contextmanager
def quiet() -> Iterator[None]:
    """No warnings of NumPy inside; a plan of memory that the verifier refuses is an error."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", PlanWarning)
        yield


def noisy(x: Any, rng: np.random.Generator) -> Any:
    """A float array or scalar with each element off by up to NOISE last places; anything else as it is."""
    if isinstance(x, list | tuple):
        return type(x)([noisy(y, rng) for y in x])
    if not isinstance(x, np.ndarray | np.floating | np.complexfloating | float | complex):
        return x
    dtype = np.asarray(x).dtype
    if dtype.kind not in "fc":
        return x
    off = NOISE * np.finfo(dtype).eps * rng.choice([-1.0, -0.5, 0.5, 1.0], np.shape(x))
    real = np.asarray(x).real
    made = (real + real * off).astype(real.dtype)
    if dtype.kind == "c":
        imag = np.asarray(x).imag
        other = (imag + imag * rng.permutation(off.reshape(-1)).reshape(np.shape(x))).astype(real.dtype)
        made = made + 1j * np.where(other == 0, rng.choice([0.0, -0.0], np.shape(x)), other)
    made = made.astype(dtype)
    if isinstance(x, np.ndarray):
        return made
    return type(x)(made[()])


@dataclass(frozen=True)
class Effects:
    """What a call did: what it returned, and what it left in the arguments."""

    results: tuple[Any, ...]
    inputs: tuple[Any, ...]

    @property
    def arrays(self) -> tuple[Any, ...]:
        """All of it."""
        return (*self.results, *self.inputs)


def call(f: Callable[..., Any], inputs: Sequence[Any]) -> Effects:
    """Call f; warnings of NumPy are silenced."""
    with quiet():
        return Effects(tuple(f(*inputs)), tuple(inputs))


def spread(program: Program, runs: int = 4) -> list[Any]:
    """For each result and argument, how far noisy runs are off; None if their shape or type changed."""
    exact = call(program.function(), program.inputs()).arrays
    off: list[Any] = [np.zeros(np.shape(x)) for x in exact]
    for n in range(runs):
        f = program.function(with_noise=True, rng=np.random.default_rng(n))
        try:
            made = call(f, program.inputs()).arrays
        except Exception:
            return [None] * len(off)
        for i, (x, y) in enumerate(zip(exact, made, strict=True)):
            off[i] = widened(off[i], x, y)
    return off


def widened(off: Any, x: Any, y: Any) -> Any:
    """`off` or |x-y|, elementwise; infinite where only one of them is finite."""
    x, y = np.asarray(x), np.asarray(y)
    if off is None or x.shape != y.shape:
        return None
    with quiet():
        both = np.abs(x.astype(complex) - y.astype(complex))
    same = (x == y) | ((x != x) & (y != y))
    return np.maximum(off, np.where(same, 0, np.where(np.isfinite(both), both, np.inf)))


def shrink(program: Program, fails: Callable[[Program], bool], limit: int = 400) -> Program:
    """The smallest program found by leaving out lines, results and arguments that still fails."""
    tried = 0
    changed = True
    while changed:
        changed = False
        for smaller in [*smaller_programs(program)]:
            tried += 1
            if tried > limit:
                return program
            if fails(smaller):
                program, changed = smaller, True
                break
    return program


def smaller_programs(program: Program) -> Iterator[Program]:
    """The program without a run of lines, a result, or an unused argument."""
    for width in (8, 4, 2, 1):
        for i in reversed(range(len(program.lines) - width + 1)):
            yield replace(program, lines=program.lines[:i] + program.lines[i + width :])
    if len(program.results) > 1:
        for i in range(len(program.results)):
            yield replace(program, results=program.results[:i] + program.results[i + 1 :])
    for i, (name, _) in enumerate(program.arguments):
        used = re.compile(rf"\b{name}\b")
        if len(program.arguments) > 1 and not any(
            used.search(t)
            for t in (*program.results, *(k.text for k in program.lines), *(t for _, t in program.arguments))
        ):
            yield replace(program, arguments=program.arguments[:i] + program.arguments[i + 1 :])
