"""A block of an array that is read forward and backward is read once, and what was read is flipped.

    y[:k] + a * flip(y[:k])          z = y[:k];  z + a * flip(z)

The derivative of a loop keeps what was read at each step: it then keeps one of the two.
"""

from __future__ import annotations

from pliant.core.inner import functions_of, map_functions
from pliant.core.ir import Function, Node, Value, const
from pliant.ops.block import ReadBlock
from pliant.ops.elementwise import sub
from pliant.passes.places import Form, Scene, form_of
from pliant.transforms.replace import Env, replaced_in


def flipped(fn: Function) -> Function:
    """`fn` with such blocks read once, in the functions that its primitives hold too."""
    order = fn.nodes
    first, kept = dict[Value, Value](), list[Value]()
    for read in [n.values[0] for n in order if isinstance(n.op, ReadBlock) and not n.op.shared]:
        other = next((r for r in kept if _is_flipped(read, r)), None)
        if other is None:
            kept.append(read)
        else:
            first[read] = other
    if not first and not any([functions_of(n.op) for n in order]):
        return fn

    def rule(node: Node, env: Env) -> Value | tuple[Value, ...] | None:
        if node.values[0] in first:
            return _again(node.values[0], first[node.values[0]], env)
        op = map_functions(node.op, flipped)
        return None if op is node.op else op.apply(*[env[a] for a in node.args])

    return replaced_in(fn, rule)


def _is_flipped(read: Value, other: Value) -> bool:
    """Whether a read takes what another one takes, along some axes the other way round."""
    op, before = read.op, other.op
    assert isinstance(op, ReadBlock)
    assert isinstance(before, ReadBlock)
    rank = len(op.step)
    is_of_same = read.args[0] is other.args[0] and read.args[rank + 1 :] == other.args[rank + 1 :]
    if not is_of_same or op.shape != before.shape or {abs(s) for s in op.step + before.step} != {1}:
        return False
    scene = Scene(read)
    places = [[form_of(a, scene) for a in r.args[1:]] for r in (read, other)]
    away = [a - b for a, b in zip(*places, strict=True)][:rank]
    lasts = [(length - 1) * step for length, step in zip(places[1][rank:], before.step, strict=True)]
    turned = [a != b for a, b in zip(op.step, before.step, strict=True)]
    return any(turned) and away == [last if t else Form() for last, t in zip(lasts, turned, strict=True)]


def _again(read: Value, other: Value, env: Env) -> Value:
    """The read, of what the other one has read."""
    op, before = read.op, other.op
    assert isinstance(op, ReadBlock)
    assert isinstance(before, ReadBlock)
    lengths = [env[n] for n in read.args[len(op.step) + 1 :]]
    turned = [a != b for a, b in zip(op.step, before.step, strict=True)]
    starts = [sub(n, 1) if t else const(0, "i64") for n, t in zip(lengths, turned, strict=True)]
    return ReadBlock(op.shape, tuple([-1 if t else 1 for t in turned]))(env[other], *starts, *lengths)
