"""Which rests nobody looks at: what lies in a row of a stack beyond its length, where who takes the row has the same.

    ys = loop(i) { stack x[:i] }             row i has i elements, and the rest of it, zeros, is not read
    loop(i) { y = ys[i]; … y[:i] … }

Such rests are not filled. They hold anything, so all that is made of them must be masked before it is looked at.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final, final

from pliant.core.frozen import frozen
from pliant.core.ir import Function, Node, Value
from pliant.kernel.lengths import Limits
from pliant.ops.base import Elementwise
from pliant.ops.block import BlockWrite, ReadBlock
from pliant.ops.later import INDEX
from pliant.ops.loop import Loop
from pliant.ops.places import Form, Scene, form_of
from pliant.ops.select import Select

ROW: Final = "row"  # the number of a step, in the loop that makes rows and in those that take them


def unread_rests(fn: Function) -> dict[int, frozenset[int]]:
    """The results of loops' bodies, by the body's identity, of which nobody looks at the rest."""
    found = dict[int, frozenset[int]]()
    users = _users(fn)
    for node in fn.nodes:
        op = node.op
        if isinstance(op, Loop):
            stacks = [n for n, kind in enumerate(op.outs) if kind == "stack"]
            rows = frozenset([n for n in stacks if _is_unread(node, n, users)])
            found[id(op.body)] = found.get(id(op.body), rows) & rows
    return {body: rows for body, rows in found.items() if rows}


def spared(fn: Function, results: Collection[int]) -> frozenset[Value]:
    """Those results of a body that nothing else in it looks at beyond their length."""
    body = _Body(fn, {p: Form.of(("parameter", n)) for n, p in enumerate(fn.params[1:]) if p.type == INDEX})
    rows = [fn.results[n] for n in results]
    found = [(v, length) for v in rows if (length := body.length_of(v))]
    return frozenset([v for v, length in found if body.is_masked(v, length, rows.count(v))])


def _is_unread(node: Node, n: int, users: dict[Value, list[Node | None]]) -> bool:
    op, stack = node.op, node.values[n]
    assert isinstance(op, Loop)
    row, body = op.body.results[n], _Body.of(node, op)
    length = body.length_of(row)
    if length is None or not body.is_masked(row, length, 1):
        return False
    return all([user is not None and _takes(user, stack, op.length, length) for user in users.get(stack, ())])


def _takes(user: Node, stack: Value, rows: int, length: Form) -> bool:
    """Whether a node takes a stack row by row, and of row i no more than its length."""
    op = user.op
    if not isinstance(op, Loop) or op.length != rows:
        return False
    body, params = _Body.of(user, op), op.body.params[1:]
    taken = [(p, kind) for p, a, kind in zip(params, user.args, op.ins, strict=True) if a is stack]
    return all([kind == "each" and body.is_masked(p, length, 0) for p, kind in taken])


@final
@frozen
class _Body:
    """The body of a loop, in which numbers are compared as functions of the number of the step, and of given ones."""

    fn: Function
    given: Mapping[Value, Form]

    @classmethod
    def of(cls, node: Node, op: Loop) -> _Body:
        """The body of a loop, given what is the same at every step."""
        rows = zip(op.body.params[1:], node.args, op.ins, strict=True)
        return cls(op.body, {p: Form.of(a) for p, a, kind in rows if kind in ("const", "count") and p.type == INDEX})

    def form(self, value: Value) -> Form:
        """A number, in terms of the step's."""
        return form_of(value, Scene(self.fn, {**self.given, self.fn.params[0]: Form.of(ROW)}))

    def length_of(self, value: Value) -> Form | None:
        """How many elements, or rows, of a float array are made, if that depends on nothing but the step."""
        if not value.type.is_float or not value.shape:
            return None
        op, length = value.op, None
        if isinstance(op, ReadBlock):
            ends = Limits().of(value)
            length = ends[0][0] if ends and not any(ends[0][1:]) else None
        elif isinstance(op, Loop) and "count" in op.ins and op.outs[value.node.values.index(value)] == "stack":
            length = value.args[op.ins.index("count")]
        form = self.form(length) if length else None
        known = {ROW, *(variable for given in self.given.values() for variable in given.terms)}
        return form if form and {*form.terms} <= known else None

    def is_masked(self, value: Value, length: Form, returned: int) -> bool:
        """Whether nothing depends on what is in a value beyond a length, but so many results that are the value."""
        users = _users(self.fn)
        todo, seen = [value], set[Value]()
        while todo:
            x = todo.pop()
            if x in seen:
                continue
            seen.add(x)
            left = [user for user in users.get(x, ()) if user is not None]
            ends = len(users.get(x, ())) - len(left)
            if ends != (returned if x is value else 0):
                return False
            for user in left:
                if self.looks_within(user, x, length):
                    continue
                made = user.values[0]
                is_plain = isinstance(user.op, Elementwise) and not hasattr(user.op, "failure")
                if not is_plain or made.shape != value.shape or not made.type.is_float:
                    return False
                todo.append(made)
        return True

    def looks_within(self, user: Node, x: Value, length: Form) -> bool:
        """Whether a node looks at an operand only below a length."""
        op, places = user.op, [n for n, a in enumerate(user.args) if a is x]
        match op:
            case Select() if places == [1]:
                end = Limits().masks.of(user.args[0]).get(0)
                return end is not None and self.is_at_most(end, length)
            case ReadBlock(step=step) if places == [0] and not op.shared:
                start, count = (self.form(user.args[1 + k]) for k in (0, len(step)))
                last = start + (count - 1) * step[0] if step[0] > 0 else start
                return _is_no_more(last + 1, length)
            case BlockWrite() if places == [1] and not op.shared:
                return self.is_at_most(op.lengths(user.args[2:])[0], length)
            case Loop() if "count" in op.ins:
                is_taken = all([op.ins[n] == "each" for n in places])
                return is_taken and self.is_at_most(user.args[op.ins.index("count")], length)
            case _:
                return False

    def is_at_most(self, number: Value, length: Form) -> bool:
        """Whether a number is never more than a length."""
        return _is_no_more(self.form(number), length)


def _is_no_more(number: Form, length: Form) -> bool:
    away = length - number
    return not away.terms and away.start >= 0


def _users(fn: Function) -> dict[Value, list[Node | None]]:
    """What uses each value, once for each use; None for a result."""
    found: dict[Value, list[Node | None]] = {}
    for node in fn.nodes:
        for a in node.args:
            found.setdefault(a, []).append(node)
    for r in fn.results:
        found.setdefault(r, []).append(None)
    return found
