"""What is computed of arrays that are put together is computed piece by piece, and that is put together.

    y = f(concatenate(a, b), x)   →   y = concatenate(f(a, x[:n]), f(b, x[n:]))

So `np.roll`, `np.pad` and parts put into zeros, as cotangents of slices are, take no pass over memory of their own: in
the large middle of a stencil all of them are slices. Of a layer that is thin along one axis the others are not cut.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from itertools import accumulate, islice, pairwise
from typing import Final, TypeAlias, final

from pliant.core.data import mutable
from pliant.core.inner import functions_of
from pliant.core.ir import Function, Node, Op, Param, Value, Values, rebuild
from pliant.ops.base import Elementwise, Movement
from pliant.ops.elementwise import Add
from pliant.ops.reduce import Reduction
from pliant.ops.select import is_zero
from pliant.ops.shape import Broadcast, Concatenate, Slice, broadcast, concatenate
from pliant.ops.update import AddSlice, UpdateSlice, Window, add_slice, slice_window, update_slice
from pliant.transforms.replace import Env, changed_inside, replaced_in

LEAST: Final = 1 << 12  # elements of an array; smaller ones stay near the processor
THIN: Final = 4  # how many times as thick the thickest layer along an axis is as one that is thin
MOST: Final = 16  # pieces
SHORT: Final = 16  # elements of a row that is not cut
LONGEST: Final = 220
"""Operations that all pieces are made by: of more than about 250, those of the small pieces are not computed where they
are put together. And functions here call themselves once for each operation on the way."""
AGAIN: Final = 8
"""Times that it is looked for what consists of pieces; nothing is in pieces if that does not end."""

Place: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]  # first element, and the one behind the last
Cuts: TypeAlias = tuple[frozenset[int], ...]  # by axis, where an array changes over to another piece


def in_pieces(fn: Function) -> Function:
    """`fn` with such values computed in pieces, in the functions its primitives hold too."""
    order = fn.nodes
    has_pieces = any([n.values[0].type.size >= LEAST and isinstance(n.op, Concatenate | Window) for n in order])
    plan = _Plan(fn) if has_pieces else None
    if not (plan and plan.roots) and not any([functions_of(n.op) for n in order if not isinstance(n.op, Param)]):
        return fn

    def rule(node: Node, env: Env) -> Values | Value | None:
        if plan and node.values[0] in plan.roots:
            return plan.made(node.values[0], env)
        if plan and plan.is_shown(node):
            return sliced(env[node.args[0]], _place(node.op))
        return changed_inside(node, tuple([env[a] for a in node.args]), in_pieces)

    return replaced_in(fn, rule, keeps=True)


@final
@mutable
class _Plan:
    """Which values are computed in pieces: `roots`.

    cuts: of values that consist of pieces. moved: those of them that only show other arrays. whole: those that are to
    lie in memory, where they are read. inside: values that are read by nothing else.
    """

    fn: Function
    uses: dict[Value, list[Node]] = field(default_factory=dict[Value, "list[Node]"])
    cuts: dict[Value, Cuts] = field(default_factory=dict[Value, "Cuts"])
    moved: set[Value] = field(default_factory=set[Value])
    whole: set[Value] = field(default_factory=set[Value])
    inside: set[Value] = field(default_factory=set[Value])
    roots: set[Value] = field(default_factory=set[Value])
    known: dict[tuple[Value, Place], Value] = field(default_factory=dict[tuple[Value, Place], Value])

    def __post_init__(self) -> None:
        for node in self.fn.nodes:
            for a in dict.fromkeys(node.args):
                self.uses.setdefault(a, []).append(node)
        results, kept, whole = frozenset(self.fn.results), set[Value](), list[Value]()
        for _ in range(AGAIN):
            self.find(kept)
            whole = [v for v in self.cuts if self.is_whole(v, results)]
            known, moved = len(kept) + len(self.whole), self.moved.intersection(whole)
            kept.update(moved)
            self.whole.update(set(whole) - moved)
            if known == len(kept) + len(self.whole):
                break
        else:
            return
        members = {root: self.members(root) for root in whole}
        for group in _together(members):
            made = {m for root in group for m in members[root]}
            if self.pays(group, made, results):
                inside = self.inside_of(made, results)
                pieces = max([len([*self.places(root)]) for root in group])
                if (len(made) + len(inside)) * pieces <= LONGEST:
                    self.roots.update(group)
                    self.inside |= inside

    # --- what consists of pieces

    def find(self, kept: set[Value]) -> None:
        """Note what consists of pieces, but for what is `kept`."""
        self.cuts, self.moved = {}, set()
        for node in self.fn.nodes:
            value = node.values[0]
            if value in kept or len(node.types) != 1 or value.type.size < LEAST:
                continue
            found = _cuts(self.parts_of(node), value.shape)
            if any(found):
                self.cuts[value] = found
                if self.is_moved(node):
                    self.moved.add(value)

    def parts_of(self, node: Node) -> Iterator[Cuts]:
        """Where the parts of a value begin and end, and what these consist of."""
        match node.op:
            case Concatenate(axis):
                for at, a in zip(_corners(node), node.args, strict=True):
                    yield tuple([frozenset([n] if k == axis else []) for k, n in enumerate(at)])
                    if a in self.moved:
                        yield _shifted(self.cuts[a], at)
            case Window() as op if all([d == 1 for d in op.step]) and self.is_put(node):
                x, u = node.args
                yield tuple([frozenset([n, n + m]) for n, m in zip(op.start, u.shape, strict=True)])
                if u in self.moved:
                    yield _shifted(self.cuts[u], op.start)
                if self.is_made(x):
                    yield self.cuts[x]
            case Slice(start) as op if node.args[0] in self.moved and _is_box(op):
                yield _shifted(self.cuts[node.args[0]], [-n for n in start])
            case Elementwise():
                yield from [self.cuts[a] for a in node.args if self.is_made(a)]
            case _:
                return

    def is_put(self, node: Node) -> bool:
        """Whether a window is put into zeros, or into what consists of pieces or can be computed with it."""
        x = node.args[0]
        is_lone = isinstance(x.op, Elementwise) and len(self.uses[x]) == 1 and x not in self.fn.results
        return is_zero(x) or self.is_made(x) or is_lone

    def is_made(self, value: Value) -> bool:
        """Whether a value consists of pieces, and is made where it is read."""
        return value in self.cuts and value not in self.whole

    def is_moved(self, node: Node) -> bool:
        """Whether a value that consists of pieces only shows other arrays."""
        is_update = isinstance(node.op, UpdateSlice) and (node.args[0] in self.moved or is_zero(node.args[0]))
        return is_update or isinstance(node.op, Concatenate | Slice)

    def is_whole(self, value: Value, results: frozenset[Value]) -> bool:
        """Whether somebody needs all of a value at once."""
        return value in results or not all([self.is_through(user, value) for user in self.uses.get(value, ())])

    def is_through(self, user: Node, value: Value) -> bool:
        """Whether a node reads a value that consists of pieces piece by piece."""
        if user.values[0] not in self.cuts or value in self.whole:
            return False
        return value in self.moved or _is_added_to(user, value)

    def members(self, root: Value) -> list[Value]:
        """What a value is made of, as far as that consists of pieces."""
        found, seen = [root], {root}
        for value in found:
            new = [a for a in dict.fromkeys(value.args) if self.is_made(a) and self.is_through(value.node, a)]
            found += [a for a in new if a not in seen]
            seen.update(new)
        return found

    # --- what is computed in pieces

    def pays(self, roots: Sequence[Value], members: set[Value], results: frozenset[Value]) -> bool:
        """Whether values had better be computed in pieces, those that are made of the same together."""
        if not all([self.is_fit(root) for root in roots]):
            return False
        spared = sum([self.elements_spared(v) for v in members if v not in roots or isinstance(v.op, AddSlice)])
        more = [v for v in roots if v not in results and len(self.uses[v]) == 1 and _reads_inline(self.uses[v][0], v)]
        return spared > sum([v.type.size for v in more])

    def elements_spared(self, value: Value) -> int:
        """About how many elements are neither written nor read if a value is not made."""
        match value.op:
            case Concatenate():
                return value.type.size
            case Window():
                return value.args[1].type.size + value.type.size * is_zero(value.args[0])
            case _:
                return 0

    def is_fit(self, root: Value) -> bool:
        """Whether a value consists of one large piece and a few others, and is not what is added to an array, in which
        it is added up part by part."""
        if isinstance(root.op, Add) and any([_is_apart(*pair) for pair in (root.args, root.args[::-1])]):
            return False
        places = [*islice(self.places(root), MOST + 1)]
        sizes = [math.prod([b - a for a, b in zip(*place, strict=True)]) for place in places]
        first, last = places[sizes.index(max(sizes))]
        is_long = last[-1] - first[-1] >= min(SHORT, root.shape[-1])
        return len(places) <= MOST and 4 * max(sizes) >= 3 * root.type.size and is_long

    def inside_of(self, members: set[Value], results: frozenset[Value]) -> set[Value]:
        """What is read only by values that are computed in pieces, and can be computed there."""
        made, todo = {*members}, [*members]
        for reader in todo:
            for value in reader.args:
                is_other = value not in self.cuts and value not in results and value not in made
                if isinstance(value.op, Elementwise) and is_other and self.is_read_in(value, made):
                    made.add(value)
                    todo.append(value)
        return made - members

    def is_read_in(self, value: Value, made: set[Value]) -> bool:
        """Whether only some values read another one, each element where that is."""
        return all([user.values[0] in made and _is_added_to(user, value) for user in self.uses[value]])

    def places(self, root: Value, axis: int = 0) -> Iterator[Place]:
        """The pieces of a value, from an axis on."""
        if axis == root.type.rank:
            yield (), ()
            return
        for begin, end, is_thin in self.layers(root, axis):
            rest = root.shape[axis + 1 :]
            inner = [((0,) * len(rest), rest)] if is_thin else self.places(root, axis + 1)
            yield from [((begin, *first), (end, *last)) for first, last in inner]

    def layers(self, root: Value, axis: int) -> list[tuple[int, int, bool]]:
        """Where layers of a value along an axis begin and end, and whether they are thin."""
        edges = [*pairwise([0, *sorted(self.cuts[root][axis]), root.shape[axis]])]
        longest = max([end - begin for begin, end in edges])
        return [(begin, end, (end - begin) * THIN <= longest) for begin, end in edges]

    def made(self, root: Value, env: Env, corner: Place = ((), ())) -> Value:
        """A value from a corner on, put together of its pieces."""
        axis, pieces = len(corner[0]), list[Value]()
        if axis == root.type.rank:
            return self.part(root, corner, env)
        for begin, end, is_thin in self.layers(root, axis):
            first, last = (*corner[0], begin), (*corner[1], end)
            rest = root.shape[axis + 1 :]
            if is_thin:
                pieces.append(self.part(root, ((*first, *[0] * len(rest)), (*last, *rest)), env))
            else:
                pieces.append(self.made(root, env, (first, last)))
        return concatenate(tuple(pieces), axis)

    def is_shown(self, node: Node) -> bool:
        """Whether a node shows a part of a value that is computed in pieces, and that nobody needs as a whole."""
        if not isinstance(node.op, Slice) or node.args[0] not in self.roots or node.args[0] in self.fn.results:
            return False
        return all([isinstance(user.op, Slice) and _is_box(user.op) for user in self.uses[node.args[0]]])

    # --- one piece

    def part(self, value: Value, place: Place, env: Env) -> Value:
        """A part of a value; the same value for the same part."""
        key = (value, place)
        if key not in self.known:
            self.known[key] = self.new_part(value, place, env)
        return self.known[key]

    def new_part(self, value: Value, place: Place, env: Env) -> Value:
        """The same, made: its own node is looked through."""
        node = value.node
        match node.op:
            case Concatenate(axis):
                return self.joined(node, axis, place, env)
            case Window():
                return self.put(node, place, env)
            case Slice(start):
                return self.read(node, node.args[0], _moved(place, start), env)
            case _:
                args = [self.read(node, a, place, env) if a.shape else env[a] for a in node.args]
                return rebuild(node, tuple(args))[0]

    def read(self, user: Node, value: Value, place: Place, env: Env) -> Value:
        """A part of a value that a node reads."""
        first, last = place
        if value in self.inside or (self.is_made(value) and self.is_through(user, value)):
            return self.part(value, place, env)
        if isinstance(value.op, Broadcast):
            (x,), axes = value.args, value.op.axes
            kept = slice_window(env[x], *_window([first[a] for a in axes], [last[a] for a in axes]))
            return broadcast(kept, _window(first, last)[2], axes)
        return slice_window(env[value], *_window(first, last))

    def joined(self, node: Node, axis: int, place: Place, env: Env) -> Value:
        """A part of arrays one after the other."""
        pieces = list[Value]()
        for at, a in zip(_corners(node), node.args, strict=True):
            inner = _common(_moved(place, [-n for n in at]), ((0,) * len(at), a.shape))
            if inner:
                pieces.append(self.read(node, a, inner, env))
        return concatenate(tuple(pieces), axis)

    def put(self, node: Node, place: Place, env: Env) -> Value:
        """A part of an array with a window written to it, or added."""
        (x, u), op = node.args, node.op
        assert isinstance(op, Window)
        base = self.read(node, x, place, env)
        inner = _common(_moved(place, [-n for n in op.start]), ((0,) * x.type.rank, u.shape))
        if inner is None:
            return base
        start = [s + n - p for s, n, p in zip(op.start, inner[0], place[0], strict=True)]
        new = self.read(node, u, inner, env)
        is_first = isinstance(op, UpdateSlice) or is_zero(x)
        return update_slice(base, new, start) if is_first else add_slice(base, new, start)


def sliced(x: Value, place: Place) -> Value:
    """A part of a value; of what is put together one of its pieces, or a small part, that is put together itself."""
    if not isinstance(x.op, Concatenate):
        return slice_window(x, *_window(*place))
    parts = list[tuple[Value, Place]]()
    for at, a in zip(_corners(x.node), x.args, strict=True):
        if inner := _common(_moved(place, [-n for n in at]), ((0,) * len(at), a.shape)):
            parts.append((a, inner))
    size = math.prod([b - a for a, b in zip(*place, strict=True)])
    if len(parts) > 1 and size * THIN > x.type.size:
        return slice_window(x, *_window(*place))
    return concatenate(tuple([sliced(a, inner) for a, inner in parts]), x.op.axis)


def _together(members: dict[Value, list[Value]]) -> list[list[Value]]:
    """Values in groups, such that those that have a member in common are in the same."""
    groups: dict[Value, list[Value]] = {}  # of each member
    for root, found in members.items():
        known = {id(g): g for m in found if (g := groups.get(m))}
        group = [root, *[v for g in known.values() for v in g]]
        groups.update([(m, group) for v in group for m in members[v]])
    return [*{id(g): g for g in groups.values()}.values()]


def _is_apart(total: Value, whole: Value) -> bool:
    """Whether arrays that are put together are not parts of a parameter that they are added to."""
    is_added = isinstance(total.op, Param) and isinstance(whole.op, Concatenate)
    return is_added and not any([total in a.args for a in whole.args])


def _reads_inline(user: Node, value: Value) -> bool:
    """Whether the value that a node reads can be computed where it does."""
    return isinstance(user.op, Reduction | Movement) or (isinstance(user.op, Window) and value in user.args[1:])


def _is_added_to(user: Node, value: Value) -> bool:
    """Whether a node computes with each element of a value where that is."""
    is_base = isinstance(user.op, Window) and value not in user.args[1:]
    return is_base or isinstance(user.op, Elementwise)


def _is_box(op: Slice) -> bool:
    return all([d == 1 for d in op.step])


def _place(op: Op) -> Place:
    assert isinstance(op, Slice)
    return op.start, tuple([s + n for s, n in zip(op.start, op.length, strict=True)])


def _corners(node: Node) -> list[tuple[int, ...]]:
    """Where arrays begin that are put one after the other."""
    assert isinstance(node.op, Concatenate)
    axis, rank = node.op.axis, node.types[0].rank
    starts = accumulate([a.shape[axis] for a in node.args[:-1]], initial=0)
    return [(0,) * axis + (n,) + (0,) * (rank - axis - 1) for n in starts]


def _cuts(parts: Iterable[Cuts], shape: tuple[int, ...]) -> Cuts:
    """All that is inside of a shape."""
    found = [*parts]
    return tuple([frozenset([c for part in found for c in part[k] if 0 < c < n]) for k, n in enumerate(shape)])


def _shifted(cuts: Cuts, by: Sequence[int]) -> Cuts:
    return tuple([frozenset([c + n for c in axis]) for axis, n in zip(cuts, by, strict=True)])


def _moved(place: Place, by: Sequence[int]) -> Place:
    first, last = [tuple([a + n for a, n in zip(side, by, strict=True)]) for side in place]
    return first, last


def _common(one: Place, other: Place) -> Place | None:
    """What two boxes have in common."""
    first = tuple([max(a, b) for a, b in zip(one[0], other[0], strict=True)])
    last = tuple([min(a, b) for a, b in zip(one[1], other[1], strict=True)])
    return (first, last) if all([a < b for a, b in zip(first, last, strict=True)]) else None


def _window(first: Sequence[int], last: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """The start, steps and extents of a box."""
    return tuple(first), (1,) * len(first), tuple([b - a for a, b in zip(first, last, strict=True)])
