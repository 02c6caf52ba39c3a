"""`print` in a traced function: it prints whenever the program comes to it.

How much was printed is state from outside, like that of a generator, which the function changes: so what is printed in
loops and branches, in derivatives and by the rows of a batch comes in its order, as often as in Python.
"""

from __future__ import annotations

import sys
from typing import Any, Final

import numpy as np

from pliant.core.ir import Value
from pliant.core.origin import here
from pliant.errors import UnsupportedError
from pliant.frontend.array import TracedArray
from pliant.frontend.convert import value_of
from pliant.frontend.failures import is_going_on, is_trial
from pliant.frontend.number import Kind, with_kind
from pliant.frontend.text import noted, parts_of, percent, pieces_of
from pliant.frontend.tracing import Trace, current, is_tracing
from pliant.ops.show import Piece, Print

PRINTED: Final = np.zeros(1, np.int64)
"""How many times something was printed."""


def printed(
    *args: Any, sep: Any = None, end: Any = None, file: Any = None, flush: bool = False
) -> None:  # fmt: skip
    """`print`."""
    if not is_tracing() or is_apart(current()):
        if not (is_tracing() and is_trial()):
            print(*args, sep=sep, end=end, file=file, flush=flush)
        return
    if file is not None and file is not sys.stdout and file is not sys.stderr:
        raise UnsupportedError(
            "print to a file of its own inside a traced function would write while tracing, not at every call",
            hint="print(...) and print(..., file=sys.stderr) print at every call; or write the file after the call",
        ).at(("here", here()))
    made = (" " if sep is None else sep).join([str(x) for x in args]) + ("\n" if end is None else end)
    texts, operands, pieces = current().outermost.texts, dict[Value, int](), list[Piece]()
    for piece in pieces_of(made):
        if isinstance(piece, str):
            pieces.append((piece, -1, False, False, ()))
            continue
        (value, is_scalar, is_weak), _, steps = texts[piece]
        pieces.append(("", operands.setdefault(value, len(operands)), is_scalar, is_weak, steps))
    count = TracedArray(*current().enter(PRINTED))
    count.storage.is_generators = True
    is_on = value_of(is_going_on(), "bool")
    after = Print(tuple(pieces), file is sys.stderr, bool(flush))(count.value, is_on, *operands)
    count[...] = with_kind(after, Kind(after.type))


def is_apart(trace: Trace | None) -> bool:
    """Whether nothing is left of a function that is traced but its results."""
    while trace is not None and not trace.is_apart:
        trace = trace.parent
    return trace is not None


def percented(template: str, given: Any) -> str:
    """`template % given`, of numbers that may be known only at run time."""
    if not any([type(x) is TracedArray for x in parts_of(given)]):
        return template % given

    def put(x: Any, spec: str) -> Any:
        if type(x) is not TracedArray or x.concrete is not None:
            return x
        return noted((x.value, x.is_scalar or x.is_weak, x.is_weak), str(x.type), ("%", spec))

    return percent(template, given, put)
