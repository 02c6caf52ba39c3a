"""Windows added to one array that overlap become boxes that do not, each added to once.

The derivative of a stencil adds the same cotangent at several places, shifted:

    y = add_slice(add_slice(add_slice(x, u, 0), u, 1), u, 2)

takes one pass over the array for each place. Cut where windows begin and end, it is

    y[0] = x[0] + u[0],  y[1] = x[1] + u[1] + u[0],  y[2:n] = x[2:n] + (u[2:n] + u[1:n-1] + u[0:n-2]),  …

which reads and writes each element of the array once, and its large middle is one nest that gathers. Of boxes with
three axes or more, the thin layers around the middle are not cut so far: there would be a hundred of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from itertools import pairwise
from typing import Final, TypeAlias

from pliant.core.inner import functions_of
from pliant.core.ir import Function, Node, Param, Value, Values
from pliant.ops.elementwise import Div, Mul, add
from pliant.ops.select import is_zero
from pliant.ops.update import AddSlice, UpdateSlice, add_slice, slice_window, update_slice
from pliant.transforms.replace import Env, changed_inside, replaced_in

LEAST: Final = 3  # windows; two are as well added one after the other
LEAST_SIZE: Final = 256  # elements of a window; a smaller array is in cache anyway
THIN: Final = 4  # how many times as thick the thickest layer along an axis is as one that is thin
MOST: Final = 32  # boxes of the same windows, each of which is a nest of its own to compile

Place: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]  # first element, and the one behind the last
Box: TypeAlias = tuple[Place, tuple[int, ...]]  # and the windows that it lies in, by number


def add_in_boxes(fn: Function) -> Function:
    """`fn` with overlapping windows that are added to one array cut into boxes, in the functions its
    primitives hold too."""
    order = fn.nodes
    chains = dict(_chains(fn, order))
    if not chains and not any([functions_of(n.op) for n in order if not isinstance(n.op, Param)]):
        return fn

    def rule(node: Node, env: Env) -> Values | Value | None:
        chain = chains.get(node.values[0])
        if chain is not None:
            return _boxed([(env[v.args[1]], v) for v in chain], env[chain[0].args[0]])
        return changed_inside(node, tuple([env[a] for a in node.args]), add_in_boxes)

    return replaced_in(fn, rule)


def _chains(fn: Function, order: Sequence[Node]) -> Iterator[tuple[Value, list[Value]]]:
    """Values made by adding several windows to one array, and the values on the way, first to last."""
    uses = Counter(a for node in order for a in node.args)
    uses.update(fn.results)
    taken = set[Value]()
    for node in reversed(order):
        chain = list[Value]()
        value = node.values[0]
        while _is_link(value, first=False) and value not in taken and (not chain or uses[value] == 1):
            chain.append(value)
            value = value.args[0]
        if chain and _is_link(value, first=True) and value not in taken and uses[value] == 1:
            chain.append(value)
        taken.update(chain)
        if len(chain) >= LEAST and _overlap(_places(chain)):
            yield chain[0], chain[::-1]


def _is_link(value: Value, *, first: bool) -> bool:
    """Whether a value is an array with a window added; the first may also put a window into zeros."""
    op = value.op
    if not isinstance(op, AddSlice) and not (first and isinstance(op, UpdateSlice) and is_zero(value.args[0])):
        return False
    return all([step == 1 for step in op.step]) and value.args[1].type.size >= LEAST_SIZE


def _places(chain: Sequence[Value]) -> list[Place]:
    found = list[Place]()
    for value in chain:
        op = value.op
        assert isinstance(op, AddSlice | UpdateSlice)
        shape = value.args[1].shape
        found.append((op.start, tuple([s + n for s, n in zip(op.start, shape, strict=True)])))
    return found


def _overlap(places: Sequence[Place]) -> bool:
    """Whether the windows have a large part in common."""
    low = [max(starts) for starts in zip(*(first for first, _ in places), strict=True)]
    high = [min(ends) for ends in zip(*(last for _, last in places), strict=True)]
    common = reduce(lambda size, edge: size * max(edge[1] - edge[0], 0), zip(low, high, strict=True), 1)
    return common >= LEAST_SIZE // 2


def _meet(one: Place, other: Place) -> bool:
    """Whether two boxes have an element in common."""
    begins, ends = zip(one[0], other[0], strict=True), zip(one[1], other[1], strict=True)
    return all([max(begin) < min(end) for begin, end in zip(begins, ends, strict=True)])


def _groups(places: Sequence[Place], windows: tuple[int, ...], axis: int = 0) -> Iterator[list[Box]]:
    """Boxes that do not overlap, but in thin layers; first for those windows that have the same extent along the first
    axes where boxes of all would be too many."""
    boxes = list(_cut(places, windows, 0))
    if len(boxes) <= MOST or axis == len(places[0][0]):
        yield boxes
        return
    same: dict[tuple[int, int], tuple[int, ...]] = {}
    for n in windows:
        extent = places[n][0][axis], places[n][1][axis]
        same[extent] = (*same.get(extent, ()), n)
    for group in same.values():
        yield from _groups(places, group, axis + 1)


def _cut(places: Sequence[Place], windows: tuple[int, ...], axis: int) -> Iterator[Box]:
    """The boxes of some windows, from an axis on. A thin layer of planes stays in cache: windows are added to it one
    after the other, those of the same extent together."""
    left = len(places[0][0]) - axis
    if not left:
        yield ((), ()), windows
        return
    edges = sorted({side[axis] for n in windows for side in places[n]})
    longest = max([end - begin for begin, end in pairwise(edges)])
    for begin, end in pairwise(edges):
        here = tuple([n for n in windows if places[n][0][axis] <= begin and end <= places[n][1][axis]])
        is_thin = left > 2 and longest >= THIN * (end - begin)
        inside = _whole(places, here, axis + 1) if is_thin else _cut(places, here, axis + 1) if here else ()
        for (first, last), found in inside:
            yield ((begin, *first), (end, *last)), found


def _whole(places: Sequence[Place], windows: tuple[int, ...], axis: int) -> Iterator[Box]:
    """Some windows from an axis on, those of the same extent as one."""
    same: dict[Place, tuple[int, ...]] = {}
    for n in windows:
        extent = places[n][0][axis:], places[n][1][axis:]
        same[extent] = (*same.get(extent, ()), n)
    yield from same.items()


def _boxed(chain: Sequence[tuple[Value, Value]], x: Value) -> Value:
    """`x` with windows added, box by box; chain: what is added, and the value that says where."""
    places, is_empty, done = _places([value for _, value in chain]), is_zero(x), list[Place]()
    for boxes in _groups(places, tuple(range(len(chain)))):
        for (first, last), windows in boxes:
            is_first = is_empty and not any([_meet((first, last), place) for place in done])
            done.append((first, last))
            put = update_slice if is_first else add_slice
            length = [b - a for a, b in zip(first, last, strict=True)]
            common, terms = _factored([chain[n][0] for n in windows])
            parts = list[Value]()
            for n, term in zip(windows, terms, strict=True):
                start = [a - b for a, b in zip(first, places[n][0], strict=True)]
                parts.append(slice_window(term, start, (1,) * len(start), length))
            x = put(x, common(reduce(add, parts)), first)
    return x


def _factored(terms: Sequence[Value]) -> tuple[Callable[[Value], Value], Sequence[Value]]:
    """A multiplication by, or a division by, a number that several terms have in common, and the terms
    without it: 0.2·a + 0.2·b is 0.2·(a + b)."""
    op, factors = terms[0].op, [_factor(t) for t in terms]
    number = factors[0]
    if len(terms) < 2 or number is None or any([f is not number for f in factors]):
        return _same, terms
    if any([t.op != op for t in terms]):
        return _same, terms
    rest = [t.args[0] if t.args[1] is number else t.args[1] for t in terms]
    return (lambda total: op.apply(total, number)[0]), rest


def _factor(term: Value) -> Value | None:
    """The number of rank 0 that a value is multiplied or divided by, if it is."""
    if isinstance(term.op, Mul | Div) and term.shape:
        a, b = term.args
        return b if not b.shape else a if not a.shape and isinstance(term.op, Mul) else None
    return None


def _same(value: Value) -> Value:
    return value
