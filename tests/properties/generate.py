"""Random programs: arguments, then lines that NumPy accepted one after the other."""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from tests.properties.grammar import fill, templates
from tests.properties.programs import NAMES, Line, Program, noisy, quiet

DTYPES = ("float64",) * 5 + ("int64",) * 3 + (
    "bool", "bool", "complex128", "float32", "float32", "int32", "uint8", "int8", "complex64", "float16", "uint64", "int16", "uint16", "uint32",
)  # fmt: skip
SMOOTH_DTYPES = ("float64",) * 8 + ("complex128", "int64", "bool")
EXTENTS = (0, 1, 1, 2, 2, 3, 3, 3, 4, 5)
LARGE = (7, 17, 33, 101, 130)
ATTEMPTS = 40  # lines tried for each that is kept


@dataclass(frozen=True)
class Options:
    """What programs may hold."""

    is_large: bool = False  # extents beyond a vector's width, with odd tails
    is_smooth: bool = False  # float64, no special numbers: for derivatives
    has_special: bool = False  # NaN, infinities, extreme integers
    has_overlaps: bool = False  # arguments that are views of others
    lines: int = 7
    arguments: int = 3


def program(seed: int, options: Options | None = None) -> Program:
    """The random program of a seed."""
    with quiet():
        return _program(Random(seed), options, seed)


def _program(rng: Random, options: Options | None, seed: int) -> Program:
    options = options or Options(has_special=rng.random() < 0.15, is_large=rng.random() < 0.15)
    arguments = arguments_of(rng, options, rng.randint(1, options.arguments))
    if options.has_overlaps:
        arguments = _overlapping(rng, arguments)
    made = Program(arguments, (), ())
    env = dict(zip((n for n, _ in arguments), made.inputs(), strict=True))
    lines: list[Line] = []
    for number in range(rng.randint(1, options.lines)):
        line = _line(rng, options, env, f"y{number}")
        if line is not None:
            lines.append(line)
    names = [n for n in env if n not in ("helper", "write")]
    results = rng.sample(names, min(len(names), rng.randint(1, 3)))
    if lines and f"y{len(lines) - 1}" in env and f"y{len(lines) - 1}" not in results:
        results.append(f"y{len(lines) - 1}")
    return Program(arguments, tuple(lines), tuple(results), seed)


@functools.cache
def _choices(is_smooth: bool) -> tuple[list[float], list[str]]:
    weights, texts = zip(*templates(is_smooth=is_smooth), strict=True)
    return list(itertools.accumulate(weights)), list(texts)


def _line(rng: Random, options: Options, env: dict[str, Any], fresh: str) -> Line | None:
    """A line that NumPy runs on what `env` holds, which it changes; None if none was found."""
    weights, texts = _choices(options.is_smooth)
    for _ in range(ATTEMPTS):
        line = line_of(rng.choices(texts, cum_weights=weights)[0], rng, options, env, fresh)
        if line is not None:
            run(line, env)
            for name in [n for n in env if not _is_operand(env[n])]:
                del env[name]
            return line
    return None


def line_of(template: str, rng: Random, options: Options, env: dict[str, Any], fresh: str) -> Line | None:
    """A line of a template that NumPy runs on what `env` holds, which is left as it is; None if the one drawn is not."""
    try:
        line = fill(template, rng, env, fresh)
    except LookupError:
        return None
    return line if _is_fine(line, _copied(env), options) else None


def run(line: Line, env: dict[str, Any]) -> None:
    """Run a line on names; new ones are added."""
    scope: dict[str, Any] = {**NAMES, "noisy": noisy}
    with quiet():
        exec(line.plain(), scope, env)


def _copied(env: dict[str, Any]) -> dict[str, Any]:
    """Names with copies of their arrays; views of one array become copies of their own."""
    return {n: x.copy() if isinstance(x, np.ndarray) and x.flags.writeable else x for n, x in env.items()}


def _is_operand(x: Any) -> bool:
    """Whether later lines and results may use it."""
    if isinstance(x, np.ndarray):
        return x.dtype.kind in "biufc" and x.dtype.itemsize <= 16 and x.size <= 6000 and x.ndim <= 5
    return isinstance(x, bool | int | float | complex | np.generic)


def _is_fine(line: Line, env: dict[str, Any], options: Options) -> bool:
    """Whether NumPy runs the line, and makes numbers that the options allow."""
    before = set(env)
    try:
        with np.errstate(all="ignore", invalid="raise" if _casts(line) else "ignore"):
            exec(line.plain(), dict(NAMES), env)
    except Exception:
        return False
    made = [env[n] for n in env if n not in before]
    if any((isinstance(x, np.ndarray | list | tuple) and not _is_operand(x)) or type(x) is complex for x in made):
        return False
    numbers = [np.asarray(x) for x in env.values() if _is_operand(x)]
    if any(
        x.dtype.kind in "iu" and isinstance(y, int) and not -(2**62) < y < 2**62
        for x, y in zip(numbers, env.values(), strict=False)
    ):
        return False
    if not options.is_smooth:
        return True
    return all(
        np.all(np.isfinite(x)) and (not x.size or np.max(np.abs(x)) < 1e3) for x in numbers if x.dtype.kind in "fc"
    )


def _casts(line: Line) -> bool:
    """Whether floats may become integers, which is undefined for NaN and numbers out of range."""
    return any(t in line.plain() for t in ("astype", "] =", "fill", "copyto", "put", "place", "round", ".at("))


VIEWS = ("{}", "{}", "{}[:]", "{}[::-1]", "{}.T", "{}[1:]", "{}[:-1]", "{}[..., ::2]", "{}[..., 1:]", "{}[:, :1]", "{}[:2, 1:]", "{}[None]",
         "{}[-1]", "{}[..., 0]", "{}.reshape(-1)[1:]", "{}[::2, ::-1]", "{}[0, ...]")  # fmt: skip


def _overlapping(rng: Random, arguments: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """The arguments, with views of the first array put for and after others."""
    given = Program(arguments, (), ()).inputs()
    arrays = [(n, x) for (n, _), x in zip(arguments, given, strict=True) if isinstance(x, np.ndarray) and x.ndim]
    if not arrays:
        return arguments
    name, array = arrays[0]
    made = [a for a in arguments if a[0] == name or rng.random() < 0.6]
    for number in range(rng.randint(1, 2)):
        text = rng.choice(VIEWS).format(name)
        try:
            view = eval(text, {name: array})
        except IndexError:
            continue
        if isinstance(view, np.ndarray):
            made.append((f"v{number}", text))
    return tuple(made)


def arguments_of(rng: Random, options: Options, count: int) -> tuple[tuple[str, str], ...]:
    """So many names, and the texts that make their values."""
    return tuple([_argument(rng, options, f"x{i}") for i in range(count)])


def _argument(rng: Random, options: Options, name: str) -> tuple[str, str]:
    """A name and the text that makes its value."""
    dtype = rng.choice(SMOOTH_DTYPES if options.is_smooth else DTYPES)
    if rng.random() < 0.12:
        return name, rng.choice(
            [
                f"{_number(rng, 'float64', options)}",
                f"np.{dtype}({_number(rng, dtype, options)})",
                str(rng.randint(-3, 3)),
            ]
        ).replace("np.bool(", "np.bool_(")
    rank = rng.choice([0, 1, 1, 1, 2, 2, 2, 3, 4])
    shape = [rng.choice(EXTENTS if rank < 3 else EXTENTS[:-4]) for _ in range(rank)]
    if options.is_large and rank:
        shape = [
            rng.choice(LARGE[: 5 - rank]) if i == rank - 1 or rng.random() < 0.3 else n for i, n in enumerate(shape)
        ]
    if rng.random() < 0.3 and rank > 1:
        shape = [shape[0] or 2] * rank if rank == 2 else shape
    return name, _laid_out(rng, options, dtype, shape)


def _laid_out(rng: Random, options: Options, dtype: str, shape: list[int]) -> str:
    """An array of this shape: contiguous, strided, reversed, transposed, or broadcast."""
    layouts = ["plain"] * 6 + ["strided", "reversed", "transposed", "fortran"]
    layouts += [] if options.is_smooth else ["broadcast"]  # numbers that are equal and move apart are at a kink
    layout = rng.choice(layouts) if shape else "plain"
    if layout == "strided":
        return f"{_array(rng, options, dtype, [*shape[:-1], 2 * shape[-1]])}[..., ::2]"
    if layout == "reversed":
        return f"{_array(rng, options, dtype, shape)}[::-1]"
    if layout == "transposed":
        return f"{_array(rng, options, dtype, shape[::-1])}.T"
    if layout == "fortran":
        return f"np.asfortranarray({_array(rng, options, dtype, shape)})"
    if layout == "broadcast":
        return f"np.broadcast_to({_array(rng, options, dtype, shape[1:])}, {tuple(shape)})"
    return _array(rng, options, dtype, shape)


def _array(rng: Random, options: Options, dtype: str, shape: list[int]) -> str:
    count = int(np.prod(shape, dtype=int))
    if count > 60 and options.is_smooth and np.dtype(dtype).kind in "fc":
        return f"np.cos(np.arange({count}) * {rng.uniform(1, 3):.3f}).reshape({tuple(shape)}).astype(np.{dtype})"  # no ties
    if count > 60:
        return f"(np.arange({count}) % 7 - 3).reshape({tuple(shape)}).astype(np.{dtype})"
    if not count:
        return f"np.zeros({tuple(shape)}, dtype=np.{dtype})"
    numbers = ", ".join(_number(rng, dtype, options) for _ in range(count))
    made = f"np.array([{numbers}], dtype=np.{dtype})"
    return made if len(shape) == 1 else f"{made}.reshape({tuple(shape)})"


def _number(rng: Random, dtype: str, options: Options) -> str:
    """A literal of a dtype."""
    kind = np.dtype(dtype).kind
    special = options.has_special and rng.random() < 0.25
    if kind == "b":
        return rng.choice(["True", "False"])
    if kind in "iu":
        limits = np.iinfo(dtype)
        if special:
            return str(rng.choice([limits.min, limits.max, limits.max - 1]))
        return str(rng.randint(0 if kind == "u" else -4, 5))
    if kind == "c":
        return (
            f"({_number(rng, 'float64', Options())}{rng.choice('+-')}{abs(float(_number(rng, 'float64', Options())))}j)"
        )
    if special:
        return rng.choice(["nan", "inf", "-inf", "-0.0", "0.0", "1e30" if dtype != "float16" else "1e4"])
    if options.is_smooth:
        return f"{rng.uniform(-2, 2):.3f}"
    return rng.choice([f"{rng.uniform(-3, 3):.2f}", f"{rng.uniform(-3, 3):.2f}", str(float(rng.randint(-3, 3)))])
