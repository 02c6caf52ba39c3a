"""A product of what a loop has made so far with a column is added up ahead, row by row.

    for j in range(n):                           t = zeros(n)
        y[j] = f(y[:j] @ a[:j, j])               for j in range(n):
                                                     y[j] = f(t[j] + y[j - 1] * a[j - 1, j])
                                                     t[j + 2:] += y[j] * a[j, j + 2:]

So rows are walked along, in derivatives too, which are derived from the right side; each sum has its terms in the same
order. The last term is added when it is needed: so what a step makes is not read at once as part of a vector, neither
here nor in derivatives, where processors would wait for it to be written. It is done where no step writes what an
earlier one has read ahead: `y` may be a row of `a`, as in eliminations.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from math import prod
from typing import Final, final

from pliant.core import ir
from pliant.core.build import hint_of, trace
from pliant.core.data import frozen
from pliant.core.inner import functions_of
from pliant.core.ir import Const, Function, Node, Param, Value, Values, const, substitute
from pliant.ops.block import AddBlock, ReadBlock, read_block
from pliant.ops.compare import Less, minimum
from pliant.ops.elementwise import Mul, add, mul, sub
from pliant.ops.index import gather
from pliant.ops.loop import Loop
from pliant.ops.reduce import ReduceSum
from pliant.ops.select import Select, is_zero
from pliant.ops.shape import Iota, Permute, Reshape, broadcast, reshape
from pliant.passes.accesses import is_one, is_write, starts_of
from pliant.passes.known import changed
from pliant.passes.places import Scene, form_of, is_possible
from pliant.transforms.replace import Env, replaced_in

SHORTEST: Final = 8  # steps that are worth it


def added_ahead(fn: Function, outside: Scene | None = None) -> Function:
    """`fn` with such products added up ahead, in the functions that it holds too. outside: what is known of it."""
    scene = Scene(fn) if outside is None else outside
    if not any([functions_of(n.op) for n in fn.nodes]):
        return fn

    def rule(node: Node, env: Env) -> Values | None:
        if not functions_of(node.op):
            return None
        args = [env[a] for a in node.args]
        if isinstance(node.op, Loop):
            found = products_of(node, node.op, args, scene)
            if found:
                return _ahead(node.op, found, args)
        op = changed(node, scene, added_ahead)
        return None if op is node.op else op.apply(*args)

    return replaced_in(fn, rule)


# --- which products


@final
@frozen
class Line:
    """The elements 0, …, j - 1 of an array along an axis, in step j; its other indices are `starts`."""

    read: Value
    axis: int

    @property
    def array(self) -> Value:
        """What is read."""
        return self.read.args[0]

    @property
    def starts(self) -> Values:
        """The index of the first element."""
        return self.read.args[1 : 1 + self.array.type.rank]


@final
@frozen
class Product:
    """A sum of products in the body of a loop: of what it has made, and of a column."""

    total: Value
    made: Line
    column: Line


def products_of(node: Node, loop: Loop, args: Sequence[Value], scene: Scene) -> list[Product]:
    """The products in a loop that can be added up ahead. args: what it will be given."""
    if loop.reverse or loop.length < SHORTEST or not _is_bounded(node, loop, scene):
        return []
    fixed = _fixed(loop)
    sums = [n.values[0] for n in loop.body.nodes if isinstance(n.op, ReduceSum)]
    found = [p for p in [_product(loop, total, fixed) for total in sums] if p]
    return [p for p in found if _is_steady(loop, p) and not _is_turned(loop, p.column, args)]


def _is_bounded(node: Node, loop: Loop, scene: Scene) -> bool:
    """Whether a loop's count, if it has one, is never more than its length."""
    if "count" not in loop.ins:
        return True
    count = form_of(node.args[loop.ins.index("count")], scene)
    return not is_possible([*scene.facts, count - loop.length - 1])


def _fixed(loop: Loop) -> set[Value]:
    """Numbers in the body that are the same in every step."""
    params = zip(loop.body.params[1:], loop.ins, strict=True)
    found = {p for p, kind in params if kind in ("const", "count")}
    for node in loop.body.nodes:
        is_plain = isinstance(node.op, Const) or (node.args and all([a in found for a in node.args]))
        found.update(node.values if is_plain and not functions_of(node.op) else ())
    return found


def _product(loop: Loop, total: Value, fixed: Collection[Value]) -> Product | None:
    """A sum as such a product."""
    index, term = loop.body.params[0], total.args[0]
    if total.shape or term.type.rank != 1 or total.dtype not in ("f64", "c128"):
        return None
    if isinstance(term.op, Select):
        condition, term, other = term.args
        if not is_zero(other) or not isinstance(condition.op, Less):
            return None
        place, limit = condition.args
        if not isinstance(place.op, Iota) or limit is not index:
            return None
    if not isinstance(term.op, Mul):
        return None
    lines = [_line(loop, a) for a in term.args]
    for made, column in (lines, lines[::-1]):
        if made and column and _is_column(column, index):
            others = [*_others(made), *_others(column)[:-1]]  # beside the column's own number
            if all([s in fixed for s in others]):
                return Product(total, made, column)
    return None


def _line(loop: Loop, value: Value) -> Line | None:
    """What is read, if it is the elements before the step's along one axis of an array as the step found it."""
    if isinstance(value.op, Reshape):
        (value,) = value.args
    op, index = value.op, loop.body.params[0]
    if not isinstance(op, ReadBlock) or op.shared or not isinstance(value.args[0].op, Param):
        return None
    rank = len(op.step)
    starts, lengths = value.args[1 : 1 + rank], value.args[1 + rank :]
    running = [n for n in range(rank) if lengths[n] is index]
    if len(running) != 1 or op.step[running[0]] != 1 or op.shape[running[0]] != prod(op.shape):
        return None
    axis = running[0]
    is_from_start = is_zero(starts[axis])
    is_single = all([is_one(lengths[n]) for n in range(rank) if n != axis])
    has_room = loop.length <= value.args[0].shape[axis]
    return Line(value, axis) if is_from_start and is_single and has_room else None


def _others(line: Line) -> list[Value]:
    return [s for n, s in enumerate(line.starts) if n != line.axis]


def _is_column(line: Line, index: Value) -> bool:
    """Whether a line is of the column that has the step's number."""
    last = line.array.type.rank - 1
    return line.axis != last and line.starts[last] is index


def _is_steady(loop: Loop, product: Product) -> bool:
    """Whether steps write only at their own number, along the line that was made and across the columns."""
    made, column = product.made, product.column
    last = column.array.type.rank - 1
    has_room = loop.length <= column.array.shape[last]
    pairs = ((made.array, made.axis), (column.array, last))
    return has_room and all([_writes_at_step(loop, array, axis) for array, axis in pairs])


def _writes_at_step(loop: Loop, array: Value, axis: int) -> bool:
    """Whether an array is never written, or in each step at the step's number along an axis."""
    carry = _carry(loop, array)
    if carry is None:
        return True
    version = loop.body.results[carry]
    while version is not array:
        places = list(starts_of(version)) if is_write(version.node) else []
        if not places or places[axis][0] is not loop.body.params[0] or not places[axis][1]:
            return False
        version = version.args[0]
    return True


def _carry(loop: Loop, array: Value) -> int | None:
    """The result that an array of the body is at the next step, if it changes."""
    return next((r for p, r in loop.carries if loop.body.params[p] is array), None)


def _is_turned(loop: Loop, column: Line, args: Sequence[Value]) -> bool:
    """Whether the columns of an array lie in one piece: those of a transposed one do."""
    given = args[loop.body.params.index(column.array) - 1]
    return isinstance(given.op, Permute)


# --- ahead


def _ahead(loop: Loop, found: Sequence[Product], args: Sequence[Value]) -> Values:
    """The results of a loop with products added up ahead, in carries of their own."""
    starts = [ir.operators.zeros(p.total.type.with_shape((loop.length,))) for p in found]
    params = loop.body.params

    def step(*given: Value) -> Values:
        totals = given[len(params) :]
        known = dict(zip(params, given, strict=False))
        known |= {p.total: _total(loop, p, t, known) for p, t in zip(found, totals, strict=True)}
        results = substitute(loop.body.results, known)
        more = [_added(loop, p, t, results, known) for p, t in zip(found, totals, strict=True)]
        return *results, *more

    names = [hint_of(p) for p in params] + ["ahead"] * len(starts)
    body = trace(step, *(p.type for p in params), *(s.type for s in starts), names=names)
    made = replace(
        loop, ins=loop.ins + ("carry",) * len(starts), outs=loop.outs + ("last",) * len(starts), body=body
    ).apply(*args, *starts)
    return made[: len(loop.outs)]


def _total(loop: Loop, product: Product, total: Value, known: dict[Value, Value]) -> Value:
    """What was added up ahead, and the last product: that of what the step before has made, if there was one."""
    index, one = known[loop.body.params[0]], const(1, "i64")
    pair = list[Value]()
    for line in (product.made, product.column):
        starts, rank = list(substitute(line.starts, known)), line.array.type.rank
        starts[line.axis] = sub(index, 1)
        lengths = [minimum(index, 1) if n == line.axis else one for n in range(rank)]
        pair.append(reshape(read_block(known[line.array], starts, lengths, (1,) * rank), ()))
    return add(gather(total, index, unique=True), mul(*pair))


def _added(loop: Loop, product: Product, total: Value, results: Values, known: dict[Value, Value]) -> Value:
    """What was added up before, and what the step has made times its row."""
    made, column, index = product.made, product.column, known[loop.body.params[0]]
    array, table = (_after(loop, line.array, results, known) for line in (made, column))
    (*places,) = substitute(made.starts, known)
    places[made.axis] = index
    new = gather(array, *places, unique=True)
    (*starts,) = substitute(column.starts, known)
    starts[column.axis], starts[-1] = index, add(index, 2)
    count = known[loop.body.params[loop.ins.index("count") + 1]] if "count" in loop.ins else const(loop.length, "i64")
    left, one = sub(sub(count, 2), index), const(1, "i64")
    shape = (*(1,) * (len(starts) - 1), loop.length - 2)
    row = read_block(table, starts, (*(one,) * (len(starts) - 1), left), shape)
    terms = mul(reshape(row, shape[-1:]), broadcast(new, shape[-1:], ()))
    return AddBlock((1,))(total, terms, add(index, 2), left)


def _after(loop: Loop, array: Value, results: Values, known: dict[Value, Value]) -> Value:
    """An array as the step leaves it: what it writes to a table is not in the part of the row that is read ahead, and
    an array that nobody reads any more as it was need not be copied."""
    carry = _carry(loop, array)
    return known[array] if carry is None else results[carry]
