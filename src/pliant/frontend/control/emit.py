"""A captured step as a loop of the program."""

from __future__ import annotations

import functools
from typing import Any

from pliant.core.ir import Value, Values, const, param
from pliant.core.types import Type
from pliant.frontend.control.plan import Captured
from pliant.frontend.control.signals import (
    BREAK,
    CODE,
    CONTINUE,
    FELL,
    RETURN,
    Signal,
    code_of,
    possible_of,
    without,
)
from pliant.frontend.convert import value_of
from pliant.frontend.missing import MISSING
from pliant.frontend.number import with_kind
from pliant.ops.bits import logical_and
from pliant.ops.compare import equal, less
from pliant.ops.elementwise import add
from pliant.ops.loop import Loop
from pliant.ops.loop_form import In, Out
from pliant.ops.while_loop import WhileLoop


def counted(found: Captured, length: int, count: Value | None = None) -> None:
    """A loop of a known number of steps that are all taken; or of `count` steps, and no more than `length`."""
    ends = [c.end for c in found.carries]
    free = found.region.free((*ends, *found.stacks))
    n = len(found.carries)
    counts: Values = () if count is None else (count,)
    unused: Values = tuple([param(c.type, "count") for c in counts])
    body = found.region.function("step", (found.index, *(c.param for c in found.carries), *unused),
                                 (*ends, *found.stacks), free)  # fmt: skip
    ins: list[In] = ["carry" for _ in range(n)]
    ins.extend("count" for _ in counts)
    ins.extend("const" for _ in free)
    outs: tuple[Out, ...] = ("last",) * n + ("stack",) * len(found.stacks)
    results = Loop(length, tuple(ins), outs, body).apply(*(c.start() for c in found.carries), *counts, *free)
    found.leave(results)


def repeated(found: Captured, count: Any, holds: Any = True) -> Signal | None:
    """A loop that goes on while its number is below `count`, as long as its condition holds, or both."""
    region, carries = found.region, found.carries
    with region.inside():
        signal = without(found.signal, CONTINUE)
    has_code = bool(possible_of(signal) & {BREAK, RETURN})
    starts = [] if count is None else [const(0, "i64")]
    starts += [] if found.extra is None else [value_of(holds, "bool")]
    starts += [const(FELL, "i64")] * has_code
    with region.inside():
        test, more = _conditions(found, count, signal, has_code=has_code)
    params: Values = (*(p for p, _ in more), *(c.param for c in carries))
    ends: Values = (*(e for _, e in more), *(c.end for c in carries))
    free = region.free((test, *ends))
    going, step = region.function("test", params, (test,), free), region.function("step", params, ends, free)
    loop = WhileLoop(going, step, ("carry",) * len(params) + ("const",) * len(free))
    results = loop.apply(*starts, *(c.start() for c in carries), *free)
    last = results[len(more) :]
    found.leave(last)
    if not has_code:
        return None
    value = found.returned(last) if found.returned is not None else MISSING
    return Signal(possible_of(signal) | {FELL}, with_kind(results[len(more) - 1], CODE), value)


def _conditions(
    found: Captured, count: Any, signal: Signal | None, *, has_code: bool
) -> tuple[Value, list[tuple[Value, Value]]]:
    """Whether there is a next step, and the parameters that say so with what a step makes of them."""
    more: list[tuple[Value, Value]] = []
    tests: list[Value] = []
    if count is not None:
        more.append((found.index, add(found.index, const(1, "i64"))))
        tests.append(less(found.index, value_of(count, "i64")))
    if found.extra is not None:
        going = param(Type("bool"), "going")
        more.append((going, value_of(found.extra, "bool")))
        tests.append(going)
    if has_code:
        code = param(Type("i64"), "code")
        more.append((code, value_of(code_of(signal), "i64")))
        if count is not None:
            tests.append(equal(code, const(FELL, "i64")))
    return functools.reduce(logical_and, tests), more
