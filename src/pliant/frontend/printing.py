"""`print` in a traced function: it prints whenever the program comes to it.

How much was printed is state from outside, like that of a generator, which the function changes: so what is printed in
loops and branches, in derivatives and by the rows of a batch comes in its order, as often as in Python.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from functools import partial
from typing import Any, Final, NoReturn, final

import numpy as np

from pliant.core.ir import Value
from pliant.core.origin import OURS, here
from pliant.errors import TracedValueError, UnsupportedError
from pliant.frontend.array import TracedArray
from pliant.frontend.control.copies import scopes_of
from pliant.frontend.convert import value_of
from pliant.frontend.failures import is_going_on, is_trial
from pliant.frontend.number import Kind, with_kind
from pliant.frontend.signature import flatten
from pliant.frontend.text import Either, Number, Whole, is_unknown, pieces_of, shown, unmarked
from pliant.frontend.tracing import Trace, current, is_tracing
from pliant.frontend.whose import is_users
from pliant.ops.show import Piece, Print, Target

PRINTED: Final = np.zeros(1, np.int64)
"""How many times something was printed."""
_WRITING: Final = frozenset(("write", "writelines", "write_text", "writerow", "writerows", "put", "put_nowait"))
GONE: Final = "…"
"""What is printed in place of the number of a step or branch that has ended."""


def printed(*args: Any, sep: Any = None, end: Any = None, file: Any = None, flush: bool = False, **more: Any) -> None:
    """`print`."""
    is_wrong = more or not all([x is None or isinstance(x, str) for x in (sep, end)])
    if is_wrong or not is_tracing():
        print(*args, sep=sep, end=end, file=file, flush=flush, **more)
        return
    between, last = " " if sep is None else shown(sep), "\n" if end is None else shown(end)
    made = between.join([shown(str(x)) for x in args]) + last
    if is_apart(current()):
        if not is_trial():
            print(unmarked(made), end="", file=file, flush=flush)
        return
    if sys.stdout is not current().outermost.stdout or file not in (None, sys.stdout, sys.stderr):
        raise UnsupportedError(
            "print to a file of its own inside a traced function would write while tracing, not at every call",
            hint="print(...) and print(..., file=sys.stderr) print at every call; or write the file after the call",
        ).at(("here", here()))
    noted_line(made, ("error",) if file is sys.stderr else (), flush=bool(flush))


def noted_line(made: str, target: Target, *, flush: bool = False) -> None:
    """Have the program write text when it comes to it."""
    current().outermost.lines.append("" if target else made)
    operands = dict[Value, int]()
    pieces = read(made, operands)
    count = TracedArray(*current().enter(PRINTED))
    count.storage.is_effect = True
    is_on = value_of(is_going_on(), "bool")
    after = Print(pieces, target, flush)(count.value, is_on, *operands)
    count[...] = with_kind(after, Kind(after.type))


def stream_method(holder: Any, name: str) -> Callable[..., Any] | None:
    """`sys.stdout.write`, `.writelines` and `.flush`, which write at every call; None for anything else."""
    if holder is not sys.stdout and holder is not sys.stderr:
        return None
    if name == "flush":
        return partial(printed, end="", file=holder, flush=True)
    return {"write": partial(_streamed, holder), "writelines": partial(_lines_streamed, holder)}.get(name)


@final
class _Length:
    """How many characters were written of text that is known only at run time: an error where it is used."""


def _no_length(*_: Any) -> NoReturn:
    raise TracedValueError(
        "the number of characters that were written is needed while tracing, of text that is known only at run time",
        hint="do not use what write returns, or write after the call",
    ).at(("needed here", here()))


_ASKED: Final = "add radd sub rsub mul rmul eq ne lt le gt ge bool int index float str format hash"
for _name in _ASKED.split():
    setattr(_Length, f"__{_name}__", _no_length)
_LENGTH: Final = _Length()


def _streamed(stream: Any, made: Any, /) -> Any:
    """`stream.write(text)`, which returns how many characters it has written."""
    if not isinstance(made, str):
        raise TypeError(f"write() argument must be str, not {type(made).__name__}")
    printed(made, end="", file=stream)
    return _LENGTH if is_unknown(made) else len(made)


def _lines_streamed(stream: Any, lines: Any, /) -> None:
    """`stream.writelines(texts)`."""
    for line in lines:
        _streamed(stream, line)


def is_writing(fn: Any) -> bool:
    """Whether a function is a method, of what is not the user's, that keeps what it is given: of a file, of a queue."""
    if not isinstance(fn, types.MethodType | types.BuiltinMethodType) or getattr(fn, "__name__", "") not in _WRITING:
        return False
    if isinstance(fn.__self__, type | types.ModuleType | None):
        return False
    return not isinstance(fn, types.MethodType) or not is_users(fn.__func__)


def written(fn: Any, /, *args: Any, **options: Any) -> Any:
    """A call of such a method; an error if it is given what is known only at run time."""
    if any([type(x) is TracedArray or is_unknown(x) for x in flatten((args, options))[0]]):
        raise UnsupportedError(
            f".{fn.__name__} of a {type(fn.__self__).__name__} inside a traced function is called while tracing, not "
            "at every call, with numbers that are known only at run time",
            hint="print(...) and sys.stdout.write print at every call; or return the numbers, and write after the call",
        ).at(("here", here()))
    return fn(*args, **options)


def read(made: str, operands: dict[Value, int]) -> tuple[Piece, ...]:
    """Text as pieces of `Print`. operands: what these need, with their numbers, to which they are added."""
    visible = scopes_of(current())

    def number(value: Value) -> int:
        return operands.setdefault(value, len(operands))

    def piece(content: Any) -> Piece:
        match content:
            case Number(value, is_scalar, is_weak, steps, lengths):
                if any([v is not None and v.node.scope not in visible for v in (value, *lengths)]):
                    return GONE
                ends = tuple([-1 if v is None else number(v) for v in lengths])
                return "of", number(value), is_scalar, is_weak, ends, steps
            case Either(condition, one, two):
                if condition.node.scope not in visible:
                    return GONE
                return "if", number(condition), read(one, operands), read(two, operands)
            case Whole(text, steps):
                return "text", read(text, operands), steps
            case _:
                return content

    return tuple([piece(content) for content in pieces_of(made)])


def is_apart(trace: Trace | None) -> bool:
    """Whether a function is traced of which nothing is left but its results: one that is given to `scan`, or has a
    derivative of its own."""
    while trace is not None and not trace.is_apart:
        trace = trace.parent
    return trace is not None


def left_over(lines: list[str]) -> None:
    """Print what a function printed until it could not be traced any further."""
    sys.stdout.write("".join(map(unmarked, lines)))


def callers_frame(level: int) -> types.FrameType:
    """The user's frame, or as many calls out; the parts of one function count once."""
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame.f_back is not None and (OURS[frame.f_code.co_filename] or level > 1):
        before, frame = frame, frame.f_back
        names = [(f.f_code.co_filename, f.f_code.co_qualname) for f in (before, frame)]
        is_part = names[0] == names[1]
        level -= not OURS[before.f_code.co_filename] and not is_part
    return frame
