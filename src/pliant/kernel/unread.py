"""Which rests nobody looks at: what lies in a row of a stack beyond its length, where who takes the row has the same.

    ys = loop(i) { stack x[:i] }             row i has i elements, and the rest of it, zeros, is not read
    loop(i) { y = ys[i]; … y[:i] … }

Such rests are not filled. They hold anything, so all that is made of them must be masked before it is looked at.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from dataclasses import field
from typing import Final, TypeAlias, final

from pliant.core.data import frozen
from pliant.core.inner import functions_of
from pliant.core.ir import Function, Node, Param, Users, Value, nodes
from pliant.kernel.lengths import Limits
from pliant.ops.base import Elementwise
from pliant.ops.block import BlockWrite, ReadBlock
from pliant.ops.loop import Loop
from pliant.ops.select import Select
from pliant.ops.shape import Permute
from pliant.passes.later import INDEX
from pliant.passes.places import Form, Scene, form_of

NAMED: Final = "named"
End: TypeAlias = tuple[int, Form]
"""An axis, and how long an array is made along it."""
ROW: Final = "row"  # the number of a step, in the loop that makes rows and in those that take them


def unread_rests(fn: Function) -> dict[int, frozenset[int]]:
    """The results of loops' bodies, by the body's identity, of which nobody looks at the rest."""
    found = dict[int, frozenset[int]]()
    users, names = fn.users(), _Names()
    for node in fn.nodes:
        op = node.op
        if isinstance(op, Loop):
            stacks = [n for n, kind in enumerate(op.outs) if kind == "stack"]
            rows = frozenset([n for n in stacks if _is_unread(node, n, users, names)])
            found[id(op.body)] = found.get(id(op.body), rows) & rows
    return {body: rows for body, rows in found.items() if rows}


def spared(fn: Function, results: Collection[int]) -> frozenset[Value]:
    """Those results of a body that nothing else in it looks at beyond their length."""
    body = _Body(fn, {p: ("parameter", n) for n, p in enumerate(fn.params[1:])}, _Names())
    rows = [fn.results[n] for n in results]
    found = [(v, end) for v in rows if (end := body.end_of(v))]
    return frozenset([v for v, end in found if body.is_masked(v, end, rows.count(v))])


def _is_unread(node: Node, n: int, users: Users, names: _Names) -> bool:
    op, stack = node.op, node.values[n]
    assert isinstance(op, Loop)
    row, body = op.body.results[n], _Body.of(node, op, names)
    end = body.end_of(row)
    if end is None or not body.is_masked(row, end, 1):
        return False
    return all([user is not None and _takes(user, stack, op.length, end, names) for user in users.get(stack, ())])


def _takes(user: Node, stack: Value, rows: int, end: End, names: _Names) -> bool:
    """Whether a node takes a stack row by row, and of row i no more than is made of it."""
    op = user.op
    if not isinstance(op, Loop) or op.length != rows:
        return False
    body, params = _Body.of(user, op, names), op.body.params[1:]
    taken = [(p, kind) for p, a, kind in zip(params, user.args, op.ins, strict=True) if a is stack]
    return all([kind == "each" and body.is_masked(p, end, 0) for p, kind in taken])


@final
@frozen(eq=False)
class _Names:
    """Numbers for expressions of several functions: equal ones for the same operations on what has the same name."""

    numbers: dict[Hashable, int] = field(default_factory=dict[Hashable, int])

    def of(self, value: Value, given: Mapping[Value, Hashable]) -> int | None:
        """The number of a value, given names of parameters; None if it depends on others, or on held functions."""
        found = dict[Value, int | None]()
        for node in nodes((value,)):
            args = tuple([found[a] for a in node.args])
            for k, v in enumerate(node.values):
                key = given.get(v) if isinstance(v.op, Param) else (node.op, k, v.type, args)
                is_known = key is not None and None not in args and not functions_of(node.op)
                found[v] = self.numbers.setdefault(key, len(self.numbers)) if is_known else None
        return found[value]


@final
@frozen
class _Body:
    """The body of a loop, in which numbers are compared as functions of the number of the step, and of what is given:
    parameters by names that do not depend on the function."""

    fn: Function
    given: Mapping[Value, Hashable]
    names: _Names

    @classmethod
    def of(cls, node: Node, op: Loop, names: _Names) -> _Body:
        """The body of a loop, given what is the same at every step."""
        rows = zip(op.body.params[1:], node.args, op.ins, strict=True)
        return cls(op.body, {p: a for p, a, kind in rows if kind in ("const", "count")}, names)

    def form(self, value: Value) -> Form:
        """A number, in terms of the step's and of numbers that have a name."""
        given = {**self.given, self.fn.params[0]: ROW}
        known = {p: Form.of((NAMED, name)) for p, name in given.items() if p.type == INDEX}
        found = form_of(value, Scene(self.fn, known))
        return Form(found.start, {self.variable(v, given): factor for v, factor in found.terms.items()})

    def variable(self, variable: Hashable, given: Mapping[Value, Hashable]) -> Hashable:
        """A variable of a form, by its name if it has one."""
        match variable:
            case (Function(), Value() as value) if (name := self.names.of(value, given)) is not None:
                return NAMED, name
            case _:
                return variable

    def is_named(self, form: Form) -> bool:
        """Whether a form is one of numbers that have a name."""
        return all([isinstance(variable, tuple) and NAMED in variable[:1] for variable in form.terms])

    def end_of(self, value: Value) -> End | None:
        """How far a float array is made, if that depends on nothing but the step, and is so along one axis."""
        if not value.type.is_float or not value.shape:
            return None
        op, found = value.op, list[tuple[int, Value]]()
        if isinstance(op, Loop):
            is_counted = "count" in op.ins and op.outs[value.node.values.index(value)] == "stack"
            found = [(0, value.args[op.ins.index("count")])] if is_counted else []
        elif ends := Limits().of(value):
            found = [(axis, length) for axis, length in enumerate(ends[0]) if length]
        made = [(axis, self.form(length)) for axis, length in found]
        return made[0] if len(made) == 1 and self.is_named(made[0][1]) else None

    def is_masked(self, value: Value, end: End, returned: int) -> bool:
        """Whether nothing depends on what is in a value beyond its end, but so many results that are the value."""
        users = self.fn.users()
        todo, seen = [(value, end)], set[tuple[Value, int]]()
        while todo:
            x, (axis, length) = item = todo.pop()
            if (x, axis) in seen:
                continue
            seen.add((x, axis))
            left = [user for user in users.get(x, ()) if user is not None]
            ends = len(users.get(x, ())) - len(left)
            if ends != (returned if x is value else 0):
                return False
            for user in left:
                if self.looks_within(user, *item):
                    continue
                made = user.values[0]
                is_plain = isinstance(user.op, Elementwise) and not hasattr(user.op, "failure")
                if isinstance(user.op, Permute):
                    todo.append((made, (user.op.order.index(axis), length)))
                    continue
                if not is_plain or made.shape != x.shape or not made.type.is_float:
                    return False
                todo.append((made, (axis, length)))
        return True

    def looks_within(self, user: Node, x: Value, end: End) -> bool:
        """Whether a node looks at an operand only where it is made."""
        op, places, (axis, length) = user.op, [n for n, a in enumerate(user.args) if a is x], end
        match op:
            case Select() if places == [1]:
                limit = Limits().masks.of(user.args[0]).get(axis)
                return limit is not None and self.is_at_most(limit, length)
            case ReadBlock(step=step) if places == [0] and not op.shared:
                start, count = (self.form(user.args[1 + axis + k]) for k in (0, len(step)))
                last = start + (count - 1) * step[axis] if step[axis] > 0 else start
                return _is_no_more(last + 1, length)
            case BlockWrite() if places == [1] and not op.shared:
                return self.is_at_most(op.lengths(user.args[2:])[axis], length)
            case Loop() if "count" in op.ins and not axis:
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
