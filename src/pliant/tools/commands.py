"""The commands of `python -m pliant`."""

from __future__ import annotations

import argparse
import inspect
import os
import re
import runpy
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

import pliant
from pliant.core.types import DTYPES
from pliant.errors import ArgumentError, PliantError
from pliant.tools.coverage import coverage_markdown, coverage_text

ONE_THREAD: Final = {
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"),
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}
_TYPE = re.compile(r"([a-z]+\d*)\[([\d, ]*)\]")


def main(words: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    top = parser()
    chosen, chosen.rest = top.parse_known_args(words)
    if chosen.rest and chosen.command != "bench":
        top.error(f"unrecognized arguments: {' '.join(chosen.rest)}")
    try:
        print(COMMANDS[chosen.command](chosen))
    except (PliantError, OSError) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 2
    return 0


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser("python -m pliant", description="Look at what Pliant supports and what it makes.")
    commands = top.add_subparsers(dest="command", required=True)
    coverage = commands.add_parser("coverage", help="primitives and their rules, and the functions of NumPy")
    coverage.add_argument("--markdown", action="store_true", help="as a page of the documentation")
    kept = commands.add_parser("cache", help="the machine code that is kept on disk")
    kept.add_argument("--clear", action="store_true", help="drop it")
    commands.add_parser("bench", help="measure Pliant beside the libraries that are installed", add_help=False)
    for name, what in (("dump", "the program a function is traced to"), ("explain", "what is done to a program")):
        command = commands.add_parser(name, help=what)
        command.add_argument("function", help="FILE.py:function")
        command.add_argument("types", nargs="*", help="type of each argument, e.g. 'f64[3, 4]'")
    return top


def coverage(chosen: argparse.Namespace) -> str:
    """The tables of `tools.coverage`."""
    return coverage_markdown() if chosen.markdown else coverage_text()


def dump(chosen: argparse.Namespace) -> str:
    """The traced program."""
    f, arrays = called(chosen)
    return str(pliant.trace(f, *arrays))


def explain(chosen: argparse.Namespace) -> str:
    """Passes, rules, kernels."""
    f, arrays = called(chosen)
    return str(pliant.explain(f, *arrays))


def cache(chosen: argparse.Namespace) -> str:
    """What is kept on disk, or how much of it was dropped."""
    if chosen.clear:
        return f"{pliant.cache.clear()} programs dropped"
    found = pliant.cache.info()
    return f"{found.programs} programs, {found.bytes} bytes, in {found.folder or 'no folder: the cache is off'}"


def bench(chosen: argparse.Namespace) -> str:
    """The suite of `tools.bench`, in a process of its own, since libraries choose their threads as they are loaded."""
    command = [sys.executable, "-m", "pliant.tools.bench", *chosen.rest]
    run = subprocess.run(command, env=os.environ | ONE_THREAD, check=False)
    if run.returncode:
        sys.exit(run.returncode)
    return ""


COMMANDS: Final[dict[str, Callable[[argparse.Namespace], str]]] = {
    "bench": bench,
    "cache": cache,
    "coverage": coverage,
    "dump": dump,
    "explain": explain,
}


def called(chosen: argparse.Namespace) -> tuple[Callable[..., Any], list[Any]]:
    """The function that is looked at, and arrays that it can take."""
    f, arrays = function_at(chosen.function), [zeros(text) for text in chosen.types]
    try:
        inspect.signature(f).bind(*arrays)
    except (TypeError, ValueError) as error:
        raise ArgumentError(
            f"{chosen.function}: {error}", hint="give the type of each argument, like f64[3, 4]"
        ) from error
    return f, arrays


def function_at(place: str) -> Callable[..., Any]:
    """The function `FILE.py:name` stands for."""
    path, _, name = place.rpartition(":")
    found = runpy.run_path(path).get(name) if path.endswith(".py") else None
    if not callable(found):
        raise ArgumentError(f"{place!r} names no function", hint="write FILE.py:function")
    return found


def zeros(text: str) -> Any:
    """An array of zeros of the type written, e.g. `f64[3, 4]`."""
    match = _TYPE.fullmatch(text.strip())
    if match is None or match[1] not in DTYPES:
        raise ArgumentError(f"{text!r} is no type", hint="write a dtype and a shape, like f64[3, 4]")
    return np.zeros([int(n) for n in match[2].split(",") if n.strip()], DTYPES[match[1]])
