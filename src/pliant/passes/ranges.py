"""What is known of whole numbers before they are: the range that each stays in.

A loop's index lies between 0 and its last step, so `a[i - 1]` with i from `range(1, n)` needs no test
whether the index is negative, and none whether it is in bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from pliant.core.inner import functions_of
from pliant.core.ir import Const, Function, Node, Op, Param, Value, Values
from pliant.ops.bits import BitwiseAnd, RightShift
from pliant.ops.compare import Equal, Greater, GreaterEqual, Less, LessEqual, Maximum, Minimum, NotEqual
from pliant.ops.cond import Cond
from pliant.ops.elementwise import Add, Convert, Mul, Neg, Sub
from pliant.ops.ensure import Ensure
from pliant.ops.loop import Loop
from pliant.ops.rounding import FloorDivide, Remainder
from pliant.ops.select import Select
from pliant.ops.while_loop import WhileLoop
from pliant.transforms.replace import changed_inside, replaced

Range: TypeAlias = tuple[int, int]
Ranges: TypeAlias = Mapping[Value, Range]
Memory: TypeAlias = "dict[tuple[int, tuple[tuple[Value, Range], ...]], tuple[Function, Ranges]]"
"""By a function's id and what is known of its parameters: the function, which keeps its id, and the ranges."""

TURNS: Final = 3  # steps of a loop whose ranges are followed as they are, before they are widened
MOST_TURNS: Final = 8


def ranges_of(fn: Function, given: Ranges, memory: Memory | None = None) -> Ranges:
    """The ranges of numbers of rank 0 of `fn`, with those `given` of its parameters; and those of the
    parameters of the functions that its primitives hold. memory: of what was found before, as a pass asks for the
    same functions again at each of the levels around them."""
    memory = {} if memory is None else memory
    known = {p: given[p] for p in fn.params if p in given}
    key = id(fn), tuple(known.items())
    if key not in memory:
        memory[key] = fn, _found(fn, known, memory)
    return memory[key][1]


def _found(fn: Function, found: dict[Value, Range], memory: Memory) -> Ranges:
    for node in fn.nodes:
        for param, range in _inside(node, found, memory):
            old = found.get(param, range)
            found[param] = min(old[0], range[0]), max(old[1], range[1])
        if len(node.types) != 1 or node.types[0].shape or node.types[0].dtype[0] not in "iub":
            continue
        range = _range(node, found)
        if range is not None and _fits(range, node.types[0].dtype):
            found[node.values[0]] = range
    return found


def _inside(node: Node, found: Ranges, memory: Memory) -> Iterator[tuple[Value, Range]]:
    """Ranges of parameters of functions that a primitive holds."""
    match node.op:
        case Loop() as op:
            yield op.body.params[0], (0, max(op.length - 1, 0))
            same = [kind in ("const", "count") for kind in op.ins]
            rows = [(op.body.params[1:], same)]
        case Cond() as op:
            rows, made = [], list[Ranges]()
            for branch, holds in zip(op.branches, (True, False), strict=True):
                closer = _where(node.args[0], found, holds=holds)
                pairs = zip(branch.params, node.args[1:], strict=True)
                given = {p: closer.get(a) or found[a] for p, a in pairs if a in found}
                yield from given.items()
                made.append(ranges_of(branch, given, memory) if _has_integers(node) else {})
            for value, yes, no in zip(node.values, *(branch.results for branch in op.branches), strict=True):
                if yes in made[0] and no in made[1]:
                    yield value, _around(*made[0][yes], *made[1][no])
        case WhileLoop() as op:
            same = [kind == "const" for kind in op.ins]
            rows = [(op.test.params, same), (op.body.params, same)]
            if _has_integers(node):
                yield from _carried(node, op, found, memory)
        case _:
            rows = []
    for params, kept in rows:
        for p, a, is_same in zip(params, node.args[len(node.args) - len(params) :], kept, strict=True):
            if is_same and a in found:
                yield p, found[a]


def _has_integers(node: Node) -> bool:
    """Whether a primitive makes whole numbers."""
    return any([not t.shape and t.dtype[0] in "iu" for t in node.types])


def _carried(node: Node, op: WhileLoop, found: Ranges, memory: Memory) -> Iterator[tuple[Value, Range]]:
    """Ranges of what a loop carries, in its steps and behind them: those at the beginning, widened until a step leads
    to no others."""
    params, after = op.body.params, list(op.body.params)
    for n, k in op.carries:
        after[n] = op.body.results[k]
    start = _where_it_goes(op, node.args, found, memory)
    edges = {0, *(edge for range in start if range for edge in range)}
    held = {p: range for p, range in zip(params, start, strict=True) if range}
    for turn in range(MOST_TURNS):
        known = ranges_of(op.body, held, memory)
        ends = _where_it_goes(op, after, known, memory)
        new = {p: _around(*held[p], *end) for p, end in zip(params, ends, strict=True) if p in held and end}
        if new == held:
            for p, first, end in zip(params, start, ends, strict=True):
                if first and end:
                    yield p, _around(*first, *end)
            for n, k in op.carries:
                if node.args[n] in found and after[n] in known:
                    yield node.values[k], _around(*found[node.args[n]], *known[after[n]])
            return
        if turn >= TURNS:
            new = {p: wide for p, range in new.items() if (wide := _widened(range, held[p], edges))}
        held = new


def _where_it_goes(op: WhileLoop, values: Sequence[Value], known: Ranges, memory: Memory) -> list[Range | None]:
    """The ranges of a loop's operands where these values of them lead to another step."""
    params, condition = op.test.params, op.test.results[0]
    if condition in params:
        at = {**known, **_where(values[params.index(condition)], known, holds=True)}
        return [at.get(v) for v in values]
    given = {p: known[v] for p, v in zip(params, values, strict=True) if v in known}
    inside = ranges_of(op.test, given, memory)
    at = {**inside, **_where(condition, inside, holds=True)}
    return [at.get(p) for p in params]


def _widened(range: Range, before: Range, edges: Collection[int]) -> Range | None:
    """A range whose ends, where they have moved, are edges; None beyond these."""
    low, high = range
    if low < before[0]:
        low = max([edge for edge in edges if edge <= low], default=None)
    if high > before[1]:
        high = min([edge for edge in edges if edge >= high], default=None)
    return None if low is None or high is None else (low, high)


def _where(condition: Value, found: Ranges, *, holds: bool) -> dict[Value, Range]:
    """What is known of the two sides of a comparison where it holds, or where it does not; and of `a and b`, which is
    a branch on a, what is known of a."""
    op, sides = condition.op, condition.args
    if isinstance(op, Cond) and holds and _is_false(op.otherwise, condition):
        return _where(sides[0], found, holds=True)
    if len(sides) != 2 or sides[0] not in found or sides[1] not in found:
        return {}
    match op, holds:
        case (Less(), True) | (GreaterEqual(), False):
            (x, y), gap = sides, 1
        case (Greater(), True) | (LessEqual(), False):
            (y, x), gap = sides, 1
        case (LessEqual(), True) | (Greater(), False):
            (x, y), gap = sides, 0
        case (GreaterEqual(), True) | (Less(), False):
            (y, x), gap = sides, 0
        case (Equal(), _) | (NotEqual(), _):
            return _where_equal(sides[0], sides[1], found, holds=holds == isinstance(op, Equal))
        case _:
            return {}
    (a, b), (c, d) = found[x], found[y]  # x + gap ≤ y
    return {x: (a, min(b, d - gap)), y: (max(c, a + gap), d)}


def _is_false(otherwise: Function, value: Value) -> bool:
    """Whether a result of a branch is False where the condition does not hold: that, or what the condition is."""
    made, (condition, *xs) = otherwise.results[value.index], value.args
    if isinstance(made.op, Const):
        return not made.op.value
    return made in otherwise.params and xs[otherwise.params.index(made)] is condition


def _where_equal(x: Value, y: Value, found: Ranges, *, holds: bool) -> dict[Value, Range]:
    (a, b), (c, d) = found[x], found[y]
    if holds:
        both = max(a, c), min(b, d)
        return {x: both, y: both}
    if c != d:
        return {}
    return {x: (a + (a == c), b - (b == c))}


def _range(node: Node, found: Ranges) -> Range | None:
    """The range of a node's result from those of its operands."""
    op = node.op
    if isinstance(op, Const):
        return int(op.value.real), int(op.value.real)
    known = [found.get(a) for a in node.args]
    match known:
        case [cond, yes, no] if isinstance(op, Select):
            return yes if cond == (1, 1) else no if cond == (0, 0) else yes and no and _around(*yes, *no)
        case [x, y] if isinstance(op, BitwiseAnd):
            return _common_bits([r for r in (x, y) if r and r[0] >= 0])
        case [x, _] if isinstance(op, Ensure):
            return x
        case [_, (low, high)] if isinstance(op, Remainder) and low > 0:
            return 0, high - 1
        case [(_, _) as x, (low, high)] if isinstance(op, FloorDivide) and low > 0:
            return _around(*(end // by for end in x for by in (low, high)))
        case [(_, _) as x, (low, high)] if isinstance(op, RightShift) and low >= 0 and high < 64:
            return _around(*(end >> by for end in x for by in (low, high)))
        case [(_, _) as x] if type(op) in UNARY:
            return UNARY[type(op)](x)
        case [(_, _) as x, (_, _) as y] if type(op) in BINARY:
            return BINARY[type(op)](x, y)
        case _:
            return None


def _common_bits(known: Sequence[Range]) -> Range | None:
    """The range of the bits that numbers have in common, of which these are not negative."""
    return (0, min([high for _, high in known])) if known else None


def _fits(range: Range, dtype: str) -> bool:
    """Whether numbers of a range are numbers of a dtype: others wrap around."""
    if dtype == "bool":
        return range[0] >= 0 and range[1] <= 1
    bits = min(int(dtype[1:]), 63)
    low, high = (0, 2**bits) if dtype[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1))
    return low <= range[0] and range[1] < high


def _around(*numbers: int) -> Range:
    return min(numbers), max(numbers)


def _less(x: Range, y: Range) -> Range:
    return int(x[1] < y[0]), int(x[0] < y[1])


def _at_most(x: Range, y: Range) -> Range:
    return int(x[1] <= y[0]), int(x[0] <= y[1])


def _equal(x: Range, y: Range) -> Range:
    return int(x == y and x[0] == x[1]), int(x[0] <= y[1] and y[0] <= x[1])


def _not_equal(x: Range, y: Range) -> Range:
    low, high = _equal(x, y)
    return 1 - high, 1 - low


UNARY: Final[dict[type[Op], Callable[[Range], Range]]] = {
    Neg: lambda x: (-x[1], -x[0]),
    Convert: lambda x: x,
}
BINARY: Final[dict[type[Op], Callable[[Range, Range], Range]]] = {
    Add: lambda x, y: (x[0] + y[0], x[1] + y[1]),
    Sub: lambda x, y: (x[0] - y[1], x[1] - y[0]),
    Mul: lambda x, y: _around(x[0] * y[0], x[0] * y[1], x[1] * y[0], x[1] * y[1]),
    Maximum: lambda x, y: (max(x[0], y[0]), max(x[1], y[1])),
    Minimum: lambda x, y: (min(x[0], y[0]), min(x[1], y[1])),
    Less: _less,
    Greater: lambda x, y: _less(y, x),
    LessEqual: _at_most,
    GreaterEqual: lambda x, y: _at_most(y, x),
    Equal: _equal,
    NotEqual: _not_equal,
}


def decide(fn: Function, given: Ranges | None = None, memory: Memory | None = None) -> Function:
    """`fn` without choices whose condition always holds, or never, by the ranges of whole numbers; in
    the functions its primitives hold too."""
    order = fn.nodes
    memory = {} if memory is None else memory
    known = ranges_of(fn, given or {}, memory)
    decided = {v for v in known if isinstance(v.op, Select) and known.get(v.args[0]) in ((0, 0), (1, 1))}
    if not decided and not any([functions_of(n.op) for n in order if not isinstance(n.op, Param)]):
        return fn

    def inner(held: Function) -> Function:
        return decide(held, known, memory)

    def rule(node: Node, args: Values) -> Values | Value | None:
        if node.values[0] not in decided:
            return changed_inside(node, args, inner)
        return args[1 if known[node.args[0]] == (1, 1) else 2]

    return replaced(fn, rule)
