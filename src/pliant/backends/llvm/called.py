"""Primitives by their array rules: native code calls Python for what has no native code."""

from __future__ import annotations

import ctypes
import itertools
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from pliant.backends.interrupts import COUNT, raise_dropped
from pliant.backends.llvm.jit import symbol
from pliant.backends.llvm.made_once import made_once
from pliant.core.ir import Op
from pliant.core.types import DTYPES, Type
from pliant.kernel.ir import Affine
from pliant.transforms.evaluate import ready

if TYPE_CHECKING:
    from pliant.backends.llvm.emit import Emitter
    from pliant.kernel.ir import Host

PREFIX: Final = "pliant_call_"
"""How the names of these functions begin, which are of this process only."""

_Function: Final = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_void_p))
_numbers: Final = itertools.count()


@final
class _Raised(threading.local):
    """What the latest call of a thread raised."""

    error: BaseException | None = None


_raised: Final = _Raised()


def evaluator(
    op: Op, operands: Sequence[Type], results: Sequence[Type | None]
) -> Callable[[Sequence[Any], Sequence[Any | None]], None]:
    """A primitive's array rule as a function of arrays and of arrays for its results, None for those that nobody wants.

    It must not write to its operands, which is seen to.
    """
    rule, into = ready(op, np, tuple(operands)), getattr(op, "into", None)
    has_place = len(results) == 1 and results[0] is not None

    def evaluate(arrays: Sequence[Any], outs: Sequence[Any | None]) -> None:
        for array in arrays:
            array.flags.writeable = False
        with np.errstate(all="ignore"):  # as native code: no warning says where it comes from
            if into is not None and has_place:
                into(np, outs[0], *arrays)
                return
            for out, x in zip(outs, rule(*arrays), strict=True):
                if out is not None:
                    out[...] = np.reshape(x, out.shape)

    return evaluate


def raised() -> BaseException:
    """What the call that has just failed in this thread raised."""
    raise_dropped()
    error, _raised.error = _raised.error, None
    assert error is not None
    return error


def emit_call(e: Emitter, step: Host) -> None:
    """A call of Python with the addresses of all operands and results, and one more, which it clears if all went well.
    What it returns would not tell: it may be interrupted before its first line, see `interrupts`."""
    places = [*step.args, *step.outs]
    name, _ = function(step.node.op, tuple([a.type for a in step.args]), step.node.types)
    e.module.declared[name] = f"declare void @{name}(ptr)"
    e.begin_step(())
    table = e.alloca(f"[{len(places) + 1} x ptr]")
    slots = [e.op(f"getelementptr ptr, ptr {table}, i64 {n}") for n in range(len(places) + 1)]
    for slot, buffer in zip(slots, places, strict=False):
        e.line(f"store ptr {e.address(buffer, Affine()) if buffer else 'null'}, ptr {slot}")
    e.line(f"store ptr {table}, ptr {slots[-1]}")
    e.line(f"call void @{name}(ptr {table})")
    last, dropped = e.op(f"load ptr, ptr {slots[-1]}"), symbol(f"{PREFIX}dropped", ctypes.addressof(COUNT))
    e.module.declared[dropped] = f"@{dropped} = external global i64"
    has_begun = e.op(f"icmp ne ptr {last}, {table}")
    e.unless(has_begun, lambda: e.line(f"atomicrmw add ptr @{dropped}, i64 1 monotonic"))
    e.fails(step.site, e.op(f"icmp ne ptr {last}, null"))
    e.end_step()


@made_once
def function(op: Op, operands: tuple[Type, ...], results: tuple[Type, ...]) -> tuple[str, Any]:
    """A function of addresses that evaluates a primitive, under the name by which code finds it; it clears the last,
    or leaves another there where that failed.
    """

    evaluate, count = evaluator(op, operands, results), len(operands)
    makers = [_array_at(t) for t in (*operands, *results)]

    def call(places: Any) -> None:
        try:
            places[len(makers)] = 1  # it has begun
            arrays = [make(places[n]) if places[n] else None for n, make in enumerate(makers)]
            evaluate(arrays[:count], arrays[count:])
            places[len(makers)] = None
        except KeyboardInterrupt:  # which nothing raises again where the call is done once more, for its error
            COUNT.value += 1
        except BaseException as error:  # goes on where the native code has returned
            _raised.error = error

    called = _Function(call)
    address = ctypes.cast(called, ctypes.c_void_p).value or 0
    return symbol(f"{PREFIX}{next(_numbers)}", address), called


def _array_at(type: Type) -> Callable[[int], Any]:
    """What makes the array at an address."""
    memory: Any = (ctypes.c_char * type.bytes).from_address
    shape, dtype = type.shape, np.dtype(DTYPES[type.dtype])
    return lambda place: np.ndarray(shape, dtype, memory(place))
