"""Programs kept on disk with their code, so that a new process neither plans nor emits them.

The code itself is an entry of its own, named by the LLVM IR that it was made from. The entry of a program is named
by its text, and by all else that planning and emission depend on; it says which code it is, and what its callers
need to know. Programs that call Python, or whose operations are not all Pliant's own, are not kept; nor is any while a
switch of the environment has them verified, or made differently.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from pliant.backends.base import Pairs
from pliant.backends.llvm.abi import Executable
from pliant.backends.llvm.called import PREFIX
from pliant.backends.llvm.frame import Frame, Segment
from pliant.backends.llvm.jit import VERSIONS, Code, host_target
from pliant.backends.store import PROGRAM, key_of, store
from pliant.core.inner import functions_of
from pliant.core.ir import Function, Node, Op, nodes
from pliant.core.print import format_function, parameters
from pliant.core.types import Type
from pliant.kernel.site import Site

if TYPE_CHECKING:
    from pliant.kernel.ir import Program

_SWITCHES = {
    "PLIANT_VERIFY": "0",
    "PLIANT_POISON": "0",
    "PLIANT_SHARING": "1",
    "PLIANT_MATH": "",
}  # set to anything else, all is made anew
_PLAIN = (str, int, float, complex, type(None), Type, Function)
_OWN_SYMBOL = re.compile(r"^declare .*@(pliant_\w+)\(", re.MULTILINE)
_BLAS = re.compile(r"pliant_([a-z0-9]+)_(i32|i64)")


def key_of_program(fn: Function, pinned: Pairs, free: Sequence[int]) -> str:
    """The name of a program's entry; empty if none is to be kept."""
    source = sources() if store() is not None else ""
    is_usual = all([os.environ.get(name, usual) == usual for name, usual in _SWITCHES.items()])
    if not source or not is_usual or not all([is_ours(node.op) for node in all_nodes(fn)]):
        return ""
    target = host_target()
    machine = f"{target.triple} {target.cpu} {target.features} {target.vectors}"
    text = format_function(fn, canonical=True)
    return key_of(VERSIONS, np.__version__, source, machine, repr((*pinned, None, *free)), text)


def is_ours(op: Op) -> bool:
    """Whether an operation is Pliant's own, and its text says all about it."""
    return type(op).__module__.startswith("pliant.") and all([_is_plain(x) for x in parameters(op).values()])


def _is_plain(x: Any) -> bool:
    return all([_is_plain(y) for y in cast("tuple[Any, ...]", x)]) if isinstance(x, tuple) else isinstance(x, _PLAIN)


def all_nodes(fn: Function) -> Iterator[Node]:
    """The nodes of a function and of those that it holds, in one order for equal functions."""
    todo = [fn]
    while todo:
        for node in nodes(todo.pop().results):
            yield node
            todo += functions_of(node.op).values()


@lru_cache
def sources() -> str:
    """The files of Pliant, by their names, sizes and times; empty if they are in no folder."""
    root, found = os.path.dirname(import_module("pliant").__file__ or ""), list[str]()
    for folder, folders, names in os.walk(root):
        folders[:] = sorted([name for name in folders if name != "__pycache__"])
        for name in sorted([name for name in names if name.endswith(".py")]):
            status = os.stat(os.path.join(folder, name))
            found.append(f"{os.path.relpath(folder, root)}/{name} {status.st_size} {status.st_mtime_ns}")
    return "\n".join(found)


def keep(key: str, fn: Function, made: Executable, text: str) -> None:
    """Keep a program. text: the LLVM IR of its code."""
    kept, origins = store(), {node.origin: n for n, node in reversed([*enumerate(all_nodes(fn))])}
    segments = [step for step in made.order if isinstance(step, Segment)]
    known = all([site.origin in origins for site in made.frame.sites])
    if kept is None or made.code is None or len(segments) < len(made.order) or not known or made.program.fault:
        return
    if "inttoptr (i64" in text or f"@{PREFIX}" in text:  # what is of this process only
        return
    entry = {
        "code": made.code.key,
        "params": [[t.dtype, t.shape] for t in made.frame.params],
        "results": [[t.dtype, t.shape] for t in made.frame.results],
        "pinned": [*made.frame.pinned.items()],
        "arena": made.frame.arena,
        "sites": [[s.axis, s.extent, origins[s.origin], s.name, s.failure, s.count] for s in made.frame.sites],
        "segments": [[segment.name, segment.work] for segment in segments],
        "symbols": _OWN_SYMBOL.findall(text),
    }
    kept.put(key, json.dumps(entry).encode(), PROGRAM)


def kept_program(key: str, fn: Function, planned: Callable[[], Program]) -> Executable | None:
    """The program that was kept for a key, if its code was kept too."""
    kept = store()
    content = kept.get(key, PROGRAM) if kept else None
    if kept is None or content is None:
        return None
    entry: dict[str, Any] = json.loads(content)
    code = kept.get(entry["code"])
    if code is None or not all([_is_there(symbol) for symbol in entry["symbols"]]):
        return None
    origins: list[Any] = [node.origin for node in all_nodes(fn)] if entry["sites"] else []
    frame = Frame(
        params=tuple([Type(dtype, tuple(shape)) for dtype, shape in entry["params"]]),
        results=tuple([Type(dtype, tuple(shape)) for dtype, shape in entry["results"]]),
        pinned=dict(entry["pinned"]),
        arena=entry["arena"],
        sites=tuple([Site(axis, extent, origins[n], *rest) for axis, extent, n, *rest in entry["sites"]]),
    )
    order = [Segment(name, work) for name, work in entry["segments"]]
    return Executable(frame, Code("", made=code), [*order], _entry_of_arrays, planned)


def _entry_of_arrays(made: Executable) -> Callable[..., Any] | None:
    return import_module("pliant.backends.llvm.entry").entry_of_arrays(made)


_MAKERS: Final = {
    "pliant_sort_": "sorting", "pliant_order_": "sorting", "pliant_arrange_": "sorting", "pliant_product_": "gemm",
    "pliant_fourier_": "fourier",
}  # fmt: skip
"""How names of functions begin, and the module whose `function_named` knows them."""


def _is_there(symbol: str) -> bool:
    """Whether this process has a function that code asks for by a name of ours; from now on code finds it."""
    if symbol == "pliant_parallel":
        return import_module("pliant.backends.llvm.pool").parallel() == symbol
    if symbol in ("pliant_tape_more", "pliant_tape_back"):
        return symbol in import_module("pliant.backends.llvm.tapes").tape_functions()
    if symbol == "pliant_signals":
        return import_module("pliant.backends.llvm.signals").signals() == symbol
    for prefix, maker in _MAKERS.items():
        if symbol.startswith(prefix):
            return import_module(f"pliant.backends.llvm.{maker}").function_named(symbol) == symbol
    blas = import_module("pliant.backends.llvm.blas")
    if symbol in ("pliant_blas_threads", "pliant_set_blas_threads"):
        return symbol in (blas.threads_of_blas() or ())
    routine = _BLAS.fullmatch(symbol)
    return routine is not None and blas.routine(routine[1])[0] == symbol
