"""What a loop reads row by row is made in the loop, of rows of what it is made of.

    ct = select(ys == m, 1/n, 0)          loop { …; ct = select(y == m, 1/n, 0); … }
    loop { each ct; … }

So the cotangent of an elementwise function of a loop's rows is never an array. What others read too is made again, if
it is cheap.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Final, final

from pliant.core.build import hint_of, trace
from pliant.core.data import mutable
from pliant.core.inner import functions_of, map_functions
from pliant.core.ir import Const, Function, Node, Op, Users, Value, Values, nodes
from pliant.ops.base import Elementwise, Movement
from pliant.ops.contract import Dot
from pliant.ops.loop import Loop
from pliant.ops.loop_form import In
from pliant.ops.reduce import Reduction
from pliant.ops.region import CHEAP, LONGEST
from pliant.ops.shape import Concatenate
from pliant.passes.row_flow import LARGE, NEAR, WIDE
from pliant.passes.row_made import RowOp, row_made
from pliant.transforms.replace import Env, replaced_in

SMALL: Final = 16  # how many times larger what is made again is than what it may read that others have made
ROOM: Final = 1 << 15  # bytes that are near the processor anyway


def rows_inside(fn: Function) -> Function:
    """`fn` with what loops read row by row made in them, also in the functions that it holds."""
    order = fn.nodes
    if not any([functions_of(n.op) for n in order]):
        return fn
    users = fn.users()
    found = {n: way for n in order if isinstance(n.op, Loop) and (way := Inward(n, n.op, users)).is_worth_it()}

    def rule(node: Node, env: Env) -> Values | None:
        op = map_functions(node.op, rows_inside)
        if node in found:
            return found[node].made(op, env)
        return None if op is node.op else op.apply(*(env[a] for a in node.args))

    return replaced_in(fn, rule)


@final
@mutable
class Inward:
    """What of the operands of a loop is made in it."""

    node: Node
    loop: Loop
    users: Users
    ops: dict[Value, RowOp] = field(default_factory=dict[Value, RowOp])  # what is made, and how; operands first

    def is_worth_it(self) -> bool:
        """Find what can be made in the loop; whether fewer bytes are made for it then."""
        rows = [a for a, kind in zip(self.node.args, self.loop.ins, strict=True) if kind == "each"]
        if sum([a.type.bytes for a in rows]) <= ROOM:
            return False
        whole = {a for a, kind in zip(self.node.args, self.loop.ins, strict=True) if kind != "each"}
        wanted, moved, order = dict.fromkeys(rows), dict[Value, RowOp](), nodes(rows)
        for node in reversed(order):
            value = node.values[0]
            found = row_made(node, self.loop.length) if value in wanted and value not in whole else None
            if found is None or not self.is_free(value, moved):
                continue
            moved[value] = found
            for a, is_row in found.reads:
                if is_row:
                    wanted[a] = None
                elif a in wanted and not isinstance(node.op, Concatenate):
                    return False
                else:
                    whole.add(a)
        self.ops = {v: moved[v] for node in order if (v := node.values[0]) in moved}
        saved = sum([a.type.bytes for a in dict.fromkeys(rows) if a in moved and self.is_alone(a)])
        new = [
            a
            for v, made in moved.items()
            for a, is_row in made.reads
            if a not in moved and (is_row or isinstance(v.op, Concatenate))
        ]
        added = [a for a in dict.fromkeys(new) if a not in rows and isinstance(a.op, Elementwise | Movement)]
        gain = saved - sum([a.type.bytes for a in added])
        return gain > (LARGE if any([self.is_slow(v) for v in moved]) else ROOM)

    def is_alone(self, value: Value) -> bool:
        """Whether nothing else needs a value as an array: others make the elements that they read."""
        others = [reader for reader in self.users[value] if reader is not self.node]
        return all([reader and isinstance(reader.op, Elementwise | Movement | Reduction) for reader in others])

    def is_free(self, value: Value, moved: dict[Value, RowOp]) -> bool:
        """Whether nothing is computed twice that takes long."""
        if all([reader is self.node or (reader and reader.values[0] in moved) for reader in self.users[value]]):
            return True
        return self.is_cheap(value)

    def is_cheap(self, value: Value) -> bool:
        """Whether a few operations make a value of what is there, arrays or what is much smaller: simple ones, if it is
        not large."""
        todo, count = [value], 0
        while todo:
            v = todo.pop()
            if not isinstance(v.op, Elementwise | Movement) or v.type.bytes * SMALL < value.type.bytes:
                continue
            count += 1
            if count > LONGEST or not (v.type.bytes > LARGE or isinstance(v.op, Movement) or v.op.name in CHEAP):
                return False
            todo.extend(v.args)
        return True

    def is_slow(self, value: Value) -> bool:
        """Whether something takes longer inside the loop."""
        if isinstance(value.op, Concatenate):
            return value.type.row.size < WIDE
        if isinstance(value.op, Elementwise):
            return value.type.row.size < WIDE and value.op.name not in CHEAP
        if not isinstance(value.op, Dot):
            return False
        return max([a.type.size for a, is_row in self.ops[value].reads if not is_row], default=0) > NEAR

    def made(self, op: Op, env: Env) -> Values:
        """The results of the loop that makes them."""
        assert isinstance(op, Loop)
        args, ins, params = self.node.args, op.ins, op.body.params
        stay = [n for n, (a, kind) in enumerate(zip(args, ins, strict=True)) if kind != "each" or a not in self.ops]
        leaves = dict.fromkeys(
            (a, is_row)
            for made in self.ops.values()
            for a, is_row in made.reads
            if a not in self.ops and not isinstance(a.op, Const)
        )
        step = self.step(op, stay, tuple(leaves))
        kinds: list[In] = ["each" if is_row else "const" for _, is_row in leaves]
        types = [a.type.row if is_row else a.type for a, is_row in leaves]
        names = [hint_of(params[0]), *(hint_of(params[n + 1]) for n in stay)]
        body = trace(step, params[0].type, *(params[n + 1].type for n in stay), *types, names=names)
        kinds = [*(op.ins[n] for n in stay), *kinds]
        given = [*(env[args[n]] for n in stay), *(env[a] for a, _ in leaves)]
        return Loop(op.length, tuple(kinds), op.outs, rows_inside(body), op.reverse).apply(*given)

    def step(self, op: Loop, stay: Sequence[int], leaves: Sequence[tuple[Value, bool]]) -> Callable[..., Values]:
        """The body: first what it is to make of rows, then what it was."""

        def run(i: Value, *xs: Value) -> Values:
            rows = dict(zip(leaves, xs[len(stay) :], strict=True))
            env = {(v, True): x for (v, is_row), x in rows.items() if is_row}
            for v, made in self.ops.items():
                read = [env[a, True] if is_row else rows.get((a, False), a) for a, is_row in made.reads]
                env[v, True] = made.how(i, read)
            given = dict(zip(stay, xs, strict=False))
            return op.body(i, *(given[n] if n in given else env[a, True] for n, a in enumerate(self.node.args)))

        return run
