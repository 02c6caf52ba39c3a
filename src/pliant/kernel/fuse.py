"""Decide which values come to lie in memory, and which of them are computed in one nest.

A value that is not in memory is computed where it is read. In memory are: results, operands and
results of steps that are no nests, reductions, what is costly and read more than once, and
whatever would make the body of a nest too long. Each is the root of a nest; roots over one space
that read the same things share the nest. See Note [the order of steps].
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias, final

from pliant.core import origin
from pliant.core.inner import functions_of
from pliant.core.ir import Const, Function, Node, Op, Param, Value
from pliant.core.types import Type
from pliant.kernel.accumulate import Sum, sums_of
from pliant.kernel.cost import FAR, FUNCTION, is_kept, price_of
from pliant.kernel.identities import identity_of
from pliant.kernel.ir import Buffer, Fill, FoldShape, Host, Nest, Root, Routine, Step
from pliant.kernel.late import overwritten_part
from pliant.kernel.lengths import Lengths, Limits
from pliant.kernel.nested import Build, Pairs, run_of
from pliant.kernel.probe import fold_shape
from pliant.kernel.product import is_product, product, product_of
from pliant.kernel.reach import elements_read, is_merged, is_place, reads_of, reads_once, under_reshapes
from pliant.kernel.record import fill_of
from pliant.kernel.taken import Taken
from pliant.kernel.versions import Versions
from pliant.kernel.wanted import wanted
from pliant.ops.base import Elementwise, Movement
from pliant.ops.block import BlockWrite
from pliant.ops.contract import Dot
from pliant.ops.fft import Fft
from pliant.ops.index import Scatter
from pliant.ops.reduce import ArgExtremum, Reduction
from pliant.ops.shape import Concatenate, Permute, Reshape
from pliant.ops.sort import Sort
from pliant.ops.update import UpdateSlice, Window

Can: TypeAlias = Callable[[Op, tuple[Type, ...]], bool]
Calls: TypeAlias = Callable[[Op, tuple[Type, ...]], str]  # who computes a primitive; empty if nobody does

LONGEST_CONE = 200  # scalars computed in place of one value
DEEPEST_CONE = 30  # kernel rules that call each other through movements
LONGEST_NEST = 400
CHEAP = 16  # what one element costs at most that is computed where something is filled
SHORT_FOLD = 7  # elements that are folded where their sum is read, although they lie apart: LLVM unrolls that loop
LONGEST_SCALAR_NEST = 1000


@final
class Fusion:
    """The steps of a function, made in one walk over its nodes."""

    def __init__(self, fn: Function, can: Can, calls: Calls, build: Build, owned: Pairs) -> None:
        self.can, self.calls, self.build = can, calls, build
        self.order = fn.nodes
        self.results = frozenset(fn.results)
        self.buffers: dict[Value, Buffer] = {v: Buffer(v.type, v) for v in fn.params}
        self.uses: dict[Value, list[Node]] = {}
        for node in self.order:
            for a in node.args:
                self.uses.setdefault(a, []).append(node)
        kept = frozenset(fn.params) - {fn.params[p] for p, _ in owned}
        self.versions, self.taken = Versions(self.order, kept), Taken(kept)
        self.steps: list[Step] = []
        self.made_at: dict[Value, int] = {}
        self.outside: set[Value] = set()  # read by a step that did not make it
        self.cones: dict[Value, frozenset[Value]] = {}
        self.depths: dict[Value, int] = {}
        self.limits = Limits()
        self.wanted = wanted(self.order, fn.results, self.limits)
        self.nests: dict[tuple[tuple[int, ...], Lengths], list[int]] = {}
        self.leaves: dict[int, set[Value]] = {}
        self.homes = {fn.results[r]: fn.params[p] for p, r in owned}
        self.crooked: dict[int, set[Value]] = {}  # what a nest reads elsewhere than at its own point
        self.overwritten: dict[int, set[Value]] = {}  # what it writes over
        self.read: dict[int, dict[Value, int]] = {}  # of which arrays, in what version, it reads what they hold
        self.pointwise: dict[Value, Root] = {}
        self.sums = sums_of(fn, owned, self.uses)
        passed = {node for part in self.sums.values() for node in part.passed}
        for node in self.order:
            if node not in passed:
                self.visit(node)
        kept = {r: self.buffers[fn.params[p]] for p, r in owned if fn.results[r] is fn.params[p]}
        found = enumerate(_with_seen(fn.results))
        self.out = [same(kept[n]) if n in kept else self.result(v, seen) for n, (v, seen) in found]
        self.drop_stores()

    def visit(self, node: Node) -> None:
        """Decide about the results of one node, its operands being decided."""
        op = node.op
        if isinstance(op, Param | Const):
            return
        types = tuple([a.type for a in node.args])
        if node in self.sums:
            self.accumulate(node, self.sums[node])
            return
        if functions_of(op) and not fill_of(op):
            self.nested(node)
            return
        step = product_of(node, self.materialise, self.buffers) if self.can(op, types) else None
        if step:
            self.append(step, node, (step.out,), step.reads)
        elif computer := self.calls(op, types):
            args = tuple([self.materialise(a) for a in node.args])
            outs = tuple([Buffer(v.type, v) for v in node.values])
            self.append(Routine(node, args, outs, computer, is_update=self.is_in_place(node)), node, outs, args)
        elif not self.can(op, types) or len(node.types) != 1:
            args = tuple([self.materialise(a) for a in node.args])
            outs = tuple([Buffer(v.type, v) for v in node.values])
            self.append(Host(node, args, outs), node, outs, args)
        elif isinstance(op, Window) or (isinstance(op, BlockWrite) and not op.shared):
            self.window(node)
        elif fill_of(op) and not self.is_piece(node):
            self.fill(node)
        else:
            self.pull(node)

    def is_in_place(self, node: Node) -> bool:
        """Whether a routine makes its result where its operand lies: one that sorts, or that transforms complex numbers
        which nobody else has."""
        if isinstance(node.op, Sort):
            return True
        x = node.args[0]
        is_own = not isinstance(x.op, Param) and self.uses[x] == [node] and x not in self.results
        return is_own and isinstance(node.op, Fft) and node.types[0] == x.type

    def accumulate(self, node: Node, part: Sum) -> None:
        """A product that is added to an array."""
        step = product(part.op, part.x, part.y, Buffer(node.types[0], node.values[0]), self.materialise, self.buffers)
        step.start = self.materialise(part.start)
        self.append(step, node, (step.out,), step.reads)

    def fill(self, node: Node) -> None:
        """A primitive that fills its result in an order of its own."""
        out = Buffer(node.types[0], node.values[0])
        if not node.args:
            self.append(Fill(node, out), node, (out,), ())
            return
        if isinstance(node.op, Concatenate) and (apart := self.written_apart(node)):
            self.put_together(node, out, apart)
            return
        first, *rest = node.args
        is_write = isinstance(node.op, Scatter | BlockWrite)
        ends = {a: found for a in node.args if (found := self.limits.of(a))}
        early = frozenset([a for a in rest if is_write and a in ends and self.may_fail(a)])
        for a in node.args:
            is_long = self.cost(a) >= CHEAP and a not in ends and not self.is_piece(a.node)
            is_seen = is_write and a is not first and ((a not in early and self.may_fail(a)) or self.reads(a, first))
            if is_long or is_seen:
                self.materialise(a)
        base = self.shown(first) if is_write else self.buffers.get(first)
        if base is None and is_write and (isinstance(first.op, Reshape) or (self.homes and self.cost(first))):
            base = self.materialise(first)  # where it is left if this fails
        looked = self.looked(node.values[0])
        limits = [n for lengths in (looked, *[lengths for lengths, _ in ends.values()]) for n in lengths if n]
        leaves = self.reached([*node.args, *limits])
        fill = Fill(node, out, frozenset(leaves), early=early, lengths=looked)
        if base and first.type == out.type and (is_write or first not in self.reached(rest)):
            fill.copied = base
        self.append(fill, node, (out,), ())
        self.outside.update(leaves)

    def put_together(self, node: Node, out: Buffer, apart: dict[Value, list[tuple[int, ...]]]) -> None:
        """Arrays one after the other, of which some are computed where they belong, in nests of their own."""
        value, leaves = node.values[0], self.reached([a for a, _ in self.pieces(node) if a not in apart])
        self.append(Fill(node, out, frozenset(leaves), left=frozenset(apart)), node, (out,), ())
        self.outside.update(leaves)
        for a, corners in apart.items():
            leaves = self.reached((a,))
            for corner in corners:
                with origin.at(node.origin):
                    write = UpdateSlice(corner, (1,) * len(corner))(value, a)
                root = Root(write, None, Buffer(value.type, value), out, leaves=frozenset(leaves))
                assert root.buffer
                self.append(Nest(a.shape, [root]), node, (root.buffer,), ())
                out = root.buffer
            self.outside.update(leaves)

    def written_apart(self, node: Node) -> dict[Value, list[tuple[int, ...]]]:
        """Arrays that take long to compute and become a part of another one, which has no rows in common with its other
        parts; and where they begin in it. Nothing if that may fail, where the caller could see the others."""
        found = dict[Value, list[tuple[int, ...]]]()
        is_safe = not any([self.may_fail(a) for a in node.args])
        if is_safe and self.is_of_rows(node) and not self.looked(node.values[0]):
            for a, corner in self.pieces(node):
                least = CHEAP // 2 if 2 * a.type.size >= node.types[0].size else CHEAP
                if self.cost(a) >= least and a.type.size and not self.limits.of(a):
                    found.setdefault(a, []).append(corner)
        return found

    def is_of_rows(self, node: Node) -> bool:
        """Whether arrays that are put together have no rows in common, or nobody reads these; or whether they become a
        part of such an array."""
        while isinstance(node.op, Concatenate) and node.op.axis and (user := self.larger(node)):
            node = user
        if not isinstance(node.op, Concatenate) or node.op.is_of_short_rows(node.types[0]):
            return False
        return node.op.axis == 0 or node.values[0] not in self.uses

    def pieces(self, node: Node, corner: tuple[int, ...] = ()) -> Iterator[tuple[Value, tuple[int, ...]]]:
        """What an array is put together from, and where that begins in it."""
        assert isinstance(node.op, Concatenate)
        corner = corner or (0,) * node.types[0].rank
        for a in node.args:
            if a not in self.buffers and isinstance(a.op, Concatenate):
                yield from self.pieces(a.node, corner)
            else:
                yield a, corner
            corner = tuple([n + a.shape[k] * (k == node.op.axis) for k, n in enumerate(corner)])

    def looked(self, value: Value) -> Lengths:
        """How far anybody looks at an array; nothing if that is all over."""
        reach = self.wanted.get(value)
        return tuple([reach.get(axis) for axis in range(len(value.shape))]) if reach else ()

    def is_piece(self, node: Node) -> bool:
        """Whether an array is put together only to be put together with others: its parts go where they belong then."""
        user = self.larger(node)
        return user is not None and (self.is_of_rows(user) or sum([self.cost(a) for a in node.args]) < CHEAP // 2)

    def larger(self, node: Node) -> Node | None:
        """What an array is put together for, if it is put together with others, and for nothing else."""
        value, users = node.values[0], self.uses.get(node.values[0], [])
        if not isinstance(node.op, Concatenate) or len(users) != 1 or value in self.results:
            return None
        (user,) = users
        is_long = isinstance(user.op, Concatenate) and not user.op.is_of_short_rows(user.types[0])
        return user if is_long and user.args.count(value) == 1 else None

    def may_fail(self, value: Value) -> bool:
        """Whether making a value may fail, where the caller could see what had been written until then."""
        cone = self.cones.get(value, ()) if self.homes else ()
        return any([not isinstance(v.op, Elementwise | Movement | Const) or hasattr(v.op, "failure") for v in cone])

    def reads(self, value: Value, written: Value) -> bool:
        """Whether a value must be known before `written` is written over, since it reads that."""
        return written in self.reached((value,))

    def window(self, node: Node) -> None:
        """An array with a part of it replaced: a nest over that part, in the array's memory if that is free."""
        x, u, *bounds = node.args
        whole, count = self.versions.of(x)
        if count and u not in self.buffers:
            found = [self.versions.of(v) for v in self.reached((u,))]
            if any([v is whole and n < count for v, n in found]):
                self.materialise(u)  # of what the array held before it was written to
        base = self.shown(x)
        if base is None and is_merged(x):
            base = self.materialise(x.args[0])
        if base is None:  # made for this alone
            base = Buffer(x.type, x)
            alone = Root(x, None, base)
            self.place(alone, reads_of(alone, self.buffers))
        leaves = self.reached(node.args)
        root = Root(node.values[0], None, Buffer(node.types[0], node.values[0]), base, leaves=frozenset(leaves))
        assert root.buffer
        lengths = tuple(node.op.lengths(bounds)) if isinstance(node.op, BlockWrite) else ()
        self.append(Nest(u.shape, [root], lengths), node, (root.buffer,), ())
        self.outside.update(leaves)

    def shown(self, value: Value) -> Buffer | None:
        """Where an array lies: in memory, or as another shape of one that is."""
        return self.buffers.get(under_reshapes(value, self.buffers))

    def nested(self, node: Node) -> None:
        """A primitive that holds functions: native if these are, else called on the host."""
        args = tuple([self.materialise(a) for a in node.args])
        outs = tuple([Buffer(v.type, v) for v in node.values])
        self.append(run_of(node, args, outs, self.build) or Host(node, args, outs), node, outs, args)
        self.taken.note(self.steps[-1], len(self.steps) - 1)

    def append(self, step: Step, node: Node, outs: Iterable[Buffer], args: Iterable[Buffer]) -> None:
        """A step of its own."""
        self.steps.append(step)
        for value, buffer in zip(node.values, outs, strict=True):
            self.buffers[value] = buffer
            self.made_at[value] = len(self.steps) - 1
        self.outside.update([b.value for b in args if b.value])

    def pull(self, node: Node) -> None:
        """A value with a kernel rule: computed where it is read, unless that does not pay."""
        value = node.values[0]
        inlined = [a for a in node.args if a not in self.buffers]
        cone = frozenset((value,)).union(*[self.cones[a] for a in inlined if a in self.cones])
        step = 0 if type(node.op).kernel is Elementwise.kernel else 1
        depth = max([self.depths.get(a, 0) for a in inlined], default=0) + step
        for a in self.versions.early(node, self.buffers):
            self.materialise(a)
        self.cones[value], self.depths[value] = cone, depth
        long = len(cone) > LONGEST_CONE or depth > DEEPEST_CONE
        is_read = not is_place(value) and (not value.shape or self.pays(node, value))
        part = None if is_place(value) else overwritten_part(value, self.order, self.uses, self.pays)
        is_outlived = not is_place(value) and self.versions.outlives(value, self.uses.get(value, ()))
        if long or value in self.results or is_read or is_outlived:
            self.materialise(value)
        elif part:
            self.materialise(part)

    def pays(self, node: Node, value: Value) -> bool:
        """Whether a value had better be computed once and kept."""
        users = self.uses.get(value, [])
        fold = self.fold_of(node)
        if fold:
            inner = math.prod(fold.space) // max(value.type.size, 1)
            alone = len(users) == 1 and isinstance(users[0].op, Elementwise | Reduction | ArgExtremum)
            is_near = fold.order[-1] < 0 or inner <= SHORT_FOLD
            return not (alone and is_near and inner <= 64 and value.type.size >= 4096)
        others = [u for u in users if not reads_once(u, value)]
        if others and all([isinstance(u.op, Scatter) for u in others]) and self.limits.of(value):
            return False  # few of its elements are read
        again = [u for u in others if u.types[0].size > value.type.size]
        is_long = self.cost(value) >= FUNCTION  # for the loop of a product, which is short or adds up in memory
        dots = [u for u in users if isinstance(u.op, Dot) and is_long]
        is_turned = isinstance(value.op, Permute)  # products take it as it lies
        others = [u for u in others if not (is_turned and is_product(u))]
        dots += [u for u in others if not isinstance(u.op, Movement | Scatter) and len(u.args) > 1]
        if len(users) < 2 and not again and not dots:
            return False
        cost = self.cost(value)
        if dots:
            return cost >= 1
        readers = sum([elements_read(u, value) for u in users]) / max(value.type.size, 1)
        return cost >= 1 and is_kept(cost, value.type.bytes, readers, self.share(value))

    def share(self, value: Value) -> float:
        """How much of what a far value is made of lies in memory, in elements for each of its own."""
        if value.type.bytes < FAR:
            return 0
        return sum([leaf.type.size for leaf in self.reached((value,))]) / value.type.size

    def cost(self, value: Value) -> int:
        """About how many simple operations one element takes where it is read."""
        if value in self.buffers:
            return 0
        return sum([price_of(v.node.op) for v in self.cones.get(value, ())])

    def fold_of(self, node: Node) -> FoldShape | None:
        """How a node reduces, if it does and there is something to reduce."""
        fold = fold_shape(node.op, *[a.type for a in node.args])
        return fold if fold and math.prod(fold.space) else None

    def materialise(self, value: Value) -> Buffer:
        """The memory of a value; from now on it is read from there."""
        buffer = self.buffers.get(value)
        if buffer is None:
            if is_merged(value):
                self.materialise(value.args[0])  # over its own axes: an element's place would be found by division
            buffer = Buffer(value.type, value)
            root = Root(value, self.fold_of(value.node), buffer)
            if not root.fold:
                root.owns = True
                self.pointwise[value] = root
            self.made_at[value] = self.place(root, reads_of(root, self.buffers))
            self.buffers[value] = buffer
        return buffer

    def reached(self, values: Iterable[Value]) -> set[Value]:
        """Values in memory that some values are computed from."""
        return {leaf for v in values for leaf in reads_of(Root(v), self.buffers)}

    def place(self, root: Root, leaves: dict[Value, bool]) -> int:
        """Put a root into a nest over its space, or into a new one; the nest's place."""
        space = root.fold.space if root.fold else root.value.shape
        ends = None if root.fold else self.limits.of(root.value)
        lengths = self.limits.of_fold(root.value.node, root.fold) if root.fold else ends[0] if ends else ()
        root.rest = ends[1] if ends else identity_of(root.fold.kind, root.fold.dtype) if root.fold and lengths else None
        if not root.fold and (looked := self.looked(root.value)):
            lengths = lengths or looked
            root.rest = None if lengths == looked else root.rest
        leaves = leaves | dict.fromkeys(self.reached([n for n in lengths if n]), False)
        size = len(self.cones.get(root.value, ()))
        known = self.nests.setdefault((space, lengths), [])
        over = {self.homes[root.value]} if root.value in self.homes else set[Value]()
        crooked = {v for v, straight in leaves.items() if not straight}
        for at in known[-4:]:
            nest = self.steps[at]
            assert isinstance(nest, Nest)
            is_short = nest.size + size <= (LONGEST_NEST if space else LONGEST_SCALAR_NEST)
            is_early = over.isdisjoint(self.crooked[at]) and self.overwritten[at].isdisjoint(crooked)
            if is_short and is_early and self.fits(at, space, leaves):
                break
        else:
            at, nest = len(self.steps), Nest(space, lengths=lengths)
            self.steps.append(nest)
            known.append(at)
            self.leaves[at], self.crooked[at], self.overwritten[at], self.read[at] = set(), set(), set(), {}
        self.crooked[at] |= crooked
        self.overwritten[at] |= over
        self.read[at] |= dict(map(self.versions.of, leaves))
        self.taken.join(at, leaves, self.made_at)
        root.leaves = frozenset(leaves)
        nest.roots.append(root)
        nest.size += size
        self.leaves[at].update([v for v in leaves if v.shape])
        self.leaves[at].add(root.value)
        self.outside.update([v for v in leaves if self.made_at.get(v, -1) != at])
        return at

    def fits(self, at: int, space: tuple[int, ...], leaves: dict[Value, bool]) -> bool:
        """Whether what a root reads is there when the nest at `at` runs, and the two have something in common."""
        for value, aligned in leaves.items():
            made = self.made_at.get(value, -1)
            if made > at or (made == at and not (aligned and value in self.pointwise)):
                return False
            whole, count = self.versions.of(value)
            if self.read[at].get(whole, count) != count:  # one would have to be kept for the other
                return False
        if self.taken.keeps_apart(at, leaves, self.made_at):
            return False
        return not space or not self.leaves[at].isdisjoint(leaves)

    def result(self, value: Value, seen: bool) -> Buffer:
        """The buffer of one result: the value's own, or a copy's."""
        step = self.made_at.get(value, -1)
        if not seen and step >= 0:
            self.outside.add(value)
            return self.buffers[value]
        root = Root(value, None, Buffer(value.type, value))
        self.place(root, reads_of(root, self.buffers))
        assert root.buffer
        return root.buffer

    def drop_stores(self) -> None:
        """Values that are only read where they are made need no memory."""
        for value, root in self.pointwise.items():
            if value not in self.outside:
                root.buffer = None


def same(buffer: Buffer) -> Buffer:
    """A result that is what a parameter holds, where it lies."""
    made = Buffer(buffer.type, buffer.value)
    made.shared = buffer
    return made


def no_routine(op: Op, types: tuple[Type, ...]) -> str:
    """Of `Calls`: nobody computes a primitive."""
    return ""


def _with_seen(values: Iterable[Value]) -> Iterable[tuple[Value, bool]]:
    seen: set[Value] = set()
    for v in values:
        yield v, v in seen
        seen.add(v)


# Note [the order of steps]
# A root joins a nest only if all it reads is made by earlier steps, or at the same point of the
# same nest. Its own readers come later in program order, so they find it made. Hence the list of
# steps is in order although roots join nests that began before them.
