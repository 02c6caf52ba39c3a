"""Stacks that hold what can be read again later are not made.

The derivative of a loop reads what steps have stacked. Where that was read from a carried array, or
written to it, at places that no later step writes, the array that the loop ends with holds it still; where
no earlier step wrote them, the array that it begins with does.
See Note [later].
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeAlias, final

from pliant.core.build import hint_of, trace
from pliant.core.data import frozen
from pliant.core.inner import functions_of, map_functions
from pliant.core.ir import Const, Function, Node, Param, Value, Values, const, rebuild
from pliant.core.origin import at
from pliant.ops.base import Elementwise, Movement
from pliant.ops.block import ReadBlock
from pliant.ops.custom import pick
from pliant.ops.index import Gather, ScatterSet
from pliant.ops.loop import Loop
from pliant.ops.loop_form import In
from pliant.ops.region import CHEAP
from pliant.ops.shape import Iota, Reshape, Slice, reshape
from pliant.ops.update import UpdateSlice
from pliant.passes.kept import without_copies
from pliant.passes.later import INDEX, Level, array_with
from pliant.transforms.replace import replaced_in

Env: TypeAlias = Mapping[Value, Value]

LONGEST: Final = 8  # operations instead of a load


@final
@frozen
class Saved:
    """What a stack holds: a value of the innermost of some loops, each in the body of the one before."""

    levels: tuple[Level, ...]
    value: Value


def elide(fn: Function) -> Function:
    """`fn` with stacks read again from the arrays that loops end with, where these hold them still; also
    in the functions that its primitives hold."""
    held = [n for n in fn.nodes if functions_of(n.op)]
    inner = {n: op for n in held if (op := map_functions(n.op, elide)) is not n.op}
    if inner:
        fn = replaced_in(fn, lambda n, env: inner[n].apply(*[env[a] for a in n.args]) if n in inner else None)
    fn = without_copies(fn)
    slots = {n: found for n in fn.nodes if (found := slots_of(n))}
    return replaced_in(fn, lambda n, env: _without_stacks(n, slots[n], env) if n in slots else None) if slots else fn


def _without_stacks(node: Node, slots: Mapping[int, Saved], env: Env) -> Values:
    sources = dict.fromkeys(source for saved in slots.values() for source in sources_of(saved) or ())
    frame = Frame((), {source: env[source] for source in sources})
    return frame.loop(node, [env[a] for a in node.args], slots)


# --- which stacks


def slots_of(node: Node) -> dict[int, Saved]:
    """The operands of a loop that are stacks which it can do without."""
    found = dict[int, Saved]()
    for n, (a, kind) in enumerate(zip(node.args, node.op.ins, strict=True) if isinstance(node.op, Loop) else ()):
        if kind == "each" and isinstance(a.op, Loop) and a.op.outs[a.index] == "stack":
            saved = saved_of(a)
            if can_read((node,), n, saved) and sources_of(saved) is not None:
                found[n] = saved
    return found


def saved_of(stack: Value) -> Saved:
    """What was stacked."""
    levels = list[Level]()
    while isinstance(stack.op, Loop) and stack.op.outs[stack.index] == "stack":
        levels.append(Level(stack.node, stack.op))
        stack = stack.op.body.results[stack.index]
    return Saved(tuple(levels), stack)


def can_read(path: Sequence[Node], n: int, saved: Saved) -> bool:
    """Whether the n-th operand of the last of some loops inside each other, rows of a stack, is only used
    by the same steps as those that made it."""
    depth, node = len(path) - 1, path[-1]
    loop, made = node.op, saved.levels[depth]
    assert isinstance(loop, Loop)
    above = [level.node for level in saved.levels[:depth]]
    if loop.length != made.loop.length or _count(node, path[:-1]) != _count(made.node, above):
        return False
    if len(saved.levels) == len(path):
        return True
    param = loop.body.params[n + 1]
    uses = [(user, k) for user in loop.body.nodes for k, a in enumerate(user.args) if a is param]
    return param not in loop.body.results and all(
        [
            isinstance(user.op, Loop) and user.op.ins[k] == "each" and can_read((*path, user), k, saved)
            for user, k in uses
        ]
    )


def _count(node: Node, above: Sequence[Node]) -> Hashable:
    """What says how many steps a loop runs, the same for two loops that run as many; None if all."""
    loop = node.op
    assert isinstance(loop, Loop)
    return _form(node.args[loop.ins.index("count")], above) if "count" in loop.ins else None


def _form(value: Value, path: Sequence[Node]) -> Hashable:
    """A value in the body of the last of some loops inside each other, by what it is made from."""
    if not path or isinstance(value.op, Const):
        return value.op if isinstance(value.op, Const) else value
    if not isinstance(value.op, Param):
        return (value.op, value.index, *[_form(a, path) for a in value.args])
    loop = path[-1].op
    assert isinstance(loop, Loop)
    n = loop.body.params.index(value)
    if not n:
        return len(path)
    return _form(path[-1].args[n - 1], path[:-1]) if loop.ins[n - 1] in ("const", "count") else value


# --- how what they hold is made again


def sources_of(saved: Saved) -> set[Value] | None:
    """The values outside all loops that it can be made from again, given the loops' indices; None if it
    cannot."""
    sources, count, todo = set[Value](), 0, [saved.value]
    indices = [level.index for level in saved.levels]
    while todo:
        value = todo.pop()
        op = value.op
        if isinstance(op, Const) or value in indices:
            continue
        count += 1
        read = None if isinstance(op, Param) else reading(value, saved.levels)
        if isinstance(op, Param):
            given, is_outside = given_to(value, saved.levels)
            sources.update([given] if given and is_outside else [])
            todo.extend([given] if given and not is_outside else [])
            if given is None:
                return None
        elif read is not None:
            sources.add(read.array)
            todo.extend(read.places)
        elif not isinstance(op, Movement | Iota) and not (isinstance(op, Elementwise) and op.name in CHEAP):
            return None
        else:
            todo.extend(value.args)
        if count > LONGEST:
            return None
    return sources


def given_to(param: Value, levels: Sequence[Level]) -> tuple[Value | None, bool]:
    """What a parameter of one of the loops is at every step, and whether that lies outside all loops; None if
    it changes from step to step."""
    for depth, level in enumerate(levels):
        if param in level.loop.body.params:
            n = level.loop.body.params.index(param) - 1
            return (level.node.args[n] if level.loop.ins[n] in ("const", "count") else None), depth == 0
    return None, False


@final
@frozen
class Reading:
    """A value that is at some places in an array which the outermost loop ends with, or begins with.

    written: the write that put it there, if it was not read.
    """

    array: Value
    places: Values
    value: Value
    written: Value | None = None

    def again(self, array: Value, places: Values) -> Value:
        """The value read from that array."""
        if self.written is None:
            return self.value.op(array, *places)
        op, u = self.written.op, self.written.args
        window = op.window(u[1].shape) if isinstance(op, UpdateSlice) else Gather(0, unique=True)
        return reshape(window(array, *places), self.value.shape)


def reading(value: Value, levels: Sequence[Level]) -> Reading | None:
    """How the value can be read later, if it can."""
    if isinstance(value.op, Slice | Gather | ReadBlock):
        array = array_with(value, value.args[0], levels)
        return None if array is None else Reading(array, value.args[1:], value)
    for write in levels[-1].writes():
        op, args = write.op, write.args
        is_point = isinstance(op, ScatterSet) and all([i.type.size == 1 for i in args[1:-1]])
        if not is_point and not isinstance(op, UpdateSlice):
            continue
        u = args[1] if isinstance(op, UpdateSlice) else args[-1]
        while isinstance(u.op, Reshape) and u is not value:
            u = u.args[0]
        if u is value:
            array = array_with(write, write, levels)
            return None if array is None else Reading(array, args[1:-1] if is_point else (), value, write)
    return None


@final
@frozen
class Frame:
    """Where a body finds the indices of the loops around it, and the values outside all loops."""

    indices: Values
    outside: Mapping[Value, Value]

    def loop(self, node: Node, args: Sequence[Value | None], slots: Mapping[int, Saved]) -> Values:
        """The results of a loop that makes again what its operands at `slots` held."""
        op = node.op
        assert isinstance(op, Loop)
        keep = [n not in slots for n in range(len(args))]
        given = [*pick([a for a in args], keep), *self.indices, *self.outside.values()]
        ins: list[In] = [*pick(op.ins, keep), *("const" for _ in range(len(given) - sum(keep)))]
        params, operands = op.body.params, tuple([a for a in given if a is not None])

        def step(i: Value, *xs: Value) -> Values:
            known, rest = xs[: sum(keep)], xs[sum(keep) :]
            count = len(self.indices)
            frame = Frame((*rest[:count], i), dict(zip(self.outside, rest[count:], strict=True)))
            env = {params[0]: i, **dict(zip(pick(params[1:], keep), known, strict=True))}
            return frame.body(op.body, env, {params[n + 1]: saved for n, saved in slots.items()})

        types = [x.type.row if kind == "each" else x.type for x, kind in zip(operands, ins, strict=True)]
        names = ["i", *(hint_of(p) for p in pick(params[1:], keep))]
        return replace(op, ins=tuple(ins), body=trace(step, INDEX, *types, names=names)).apply(*operands)

    def body(self, fn: Function, env: dict[Value, Value], held: Mapping[Value, Saved]) -> Values:
        """The results of a body whose parameters `held` are made again, here or in a loop inside."""
        depth = len(self.indices)
        env.update({p: self.again(s.value, s.levels) for p, s in held.items() if len(s.levels) == depth})
        deeper = {p: s for p, s in held.items() if len(s.levels) > depth}
        for node in fn.nodes:
            if node.values[0] in env or isinstance(node.op, Param):
                continue
            slots = {n: deeper[a] for n, a in enumerate(node.args) if a in deeper}
            with at(node.origin):
                if slots:
                    outs = self.loop(node, [env.get(a) for a in node.args], slots)
                else:
                    outs = rebuild(node, tuple([env[a] for a in node.args]))
            env.update(zip(node.values, outs, strict=True))
        return tuple([env[r] for r in fn.results])

    def again(self, value: Value, levels: Sequence[Level]) -> Value:
        """The value of a step of some loops, made again in the same step of this one."""
        op, indices = value.op, [level.index for level in levels]
        if isinstance(op, Const):
            return const(op.value, op.dtype)
        if value in indices:
            return self.indices[indices.index(value)]
        if isinstance(op, Param):
            given, is_outside = given_to(value, levels)
            assert given is not None
            return self.outside[given] if is_outside else self.again(given, levels)
        read = reading(value, levels)
        if read is not None:
            return read.again(self.outside[read.array], tuple([self.again(p, levels) for p in read.places]))
        return op(*[self.again(a, levels) for a in value.args])
