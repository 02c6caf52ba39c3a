"""From a function to a program: loop nests, fills, library calls and host calls, in order."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from pliant.core.ir import Function, Node, Op, Value
from pliant.core.types import Type
from pliant.kernel.accumulate import by_parts
from pliant.kernel.axes import Extents, index_in_axes, loop_per_axis, loops_by_digits
from pliant.kernel.blocks import blocked
from pliant.kernel.extrema import by_extrema
from pliant.kernel.forward import read_in_time
from pliant.kernel.fuse import Calls, Can, Fusion, no_routine
from pliant.kernel.ir import (
    Buffer,
    Checked,
    Fill,
    Host,
    Index,
    Nest,
    Program,
    Region,
    Root,
    Routine,
    Rows,
    Run,
    Scalar,
    Site,
    Step,
    Var,
    index_of,
    offset_of,
)
from pliant.kernel.lanes import by_lanes
from pliant.kernel.nested import Pairs
from pliant.kernel.order import failing_first, reads_first
from pliant.kernel.pack import packed
from pliant.kernel.place import place
from pliant.kernel.record import EMPTY, Recorder, fill_of
from pliant.kernel.rows import gather
from pliant.kernel.schedule import regions, schedule
from pliant.kernel.share import Homes, share
from pliant.kernel.site import CALLED
from pliant.kernel.spent import spent_rows
from pliant.kernel.split import split
from pliant.kernel.stacked import stacked
from pliant.kernel.thin import thinned
from pliant.kernel.together import together
from pliant.kernel.unread import spared, unread_rests
from pliant.kernel.wanted import is_made_as_far, leave_unread
from pliant.ops.block import BlockWrite
from pliant.ops.tape import tapes_made
from pliant.ops.update import Window
from pliant.passes.ranges import Ranges, ranges_of
from pliant.transforms.replace import replaced


def build(
    fn: Function,
    can: Can,
    calls: Calls = no_routine,
    *,
    sites: list[Site] | None = None,
    owned: Pairs = (),
    must: bool = False,
    free: Sequence[int] = (),
    sharing: bool = True,
    ranges: Ranges | None = None,
    unread: Collection[int] = (),
) -> Program:
    """The program of a function. `can(op, operand types)`: whether the target has code for it;
    `calls(…)`: who computes it matrix by matrix or row by row instead, or nothing.

    sites: where to add to, for a function inside another. owned: (parameter, result) pairs; such a
    parameter may be overwritten, and the result lie in its memory, or `must`. free: parameters that
    may be overwritten. sharing: whether values share memory at all. ranges: of parameters. unread: results
    of which nobody looks at the rest; see `unread_rests`.
    """

    def has_code(op: Op, types: tuple[Type, ...]) -> bool:
        return can(op, types) or calls(op, types) != ""

    fn = by_parts(together(by_lanes(stacked(thinned(by_extrema(expand(fn, has_code)))))), owned)
    sites = [] if sites is None else sites
    known = ranges_of(fn, ranges or {})
    rests, spent = unread_rests(fn), spent_rows(fn)

    def build_held(held: Function, pairs: Pairs) -> Program:
        rows, free = rests.get(id(held), ()), [*spent.get(id(held), ())]
        return build(
            held, can, calls, sites=sites, owned=pairs, free=free, sharing=sharing, ranges=known, unread=rows,
        )  # fmt: skip

    fusion = Fusion(fn, can, calls, build_held, owned)
    leave(fusion.steps, spared(fn, unread) | {value for value in fusion.wanted if is_made_as_far(value, fusion.wanted)})
    params = tuple([fusion.buffers[v] for v in fn.params])
    results = tuple(fusion.out)
    program = Program(fn.name, params, results, fusion.steps, sites, tapes=tapes_made(fn))
    passed = {p for p, r in owned if fn.results[r] is fn.params[p]}  # left as they are
    homes = {results[r]: params[p] for p, r in owned if p not in passed}
    order(fusion, program, homes if sharing else {})
    record(program, fusion, known)
    if must and sharing and homes:
        program.steps = failing_first(program.steps, homes)
    arrange(program)
    program.steps = packed(program.steps)
    if sharing:
        program.steps = read_in_time(program.steps)
    share(program, Homes(homes, must, frozenset([params[p] for p in free])), sharing=sharing)
    if sharing:
        blocked(program)
    place(program, reuse=sharing)
    split(program)
    return program


def record(program: Program, fusion: Fusion, known: Ranges) -> None:
    """Note what may fail in each step, and where the user wrote it."""
    for step in program.steps:
        match step:
            case Nest():
                record_nest(step, fusion.buffers, program.sites, known)
            case Fill():
                record_fill(step, fusion, program.sites, known)
            case Routine() if not step.is_of_rows:
                step.site = len(program.sites)
                op, origin = step.node.op, step.node.origin
                program.sites.append(Site(-1, 0, origin, op.name, str(getattr(op, "failure", ""))))
            case Host():
                step.site = len(program.sites)
                program.sites.append(Site(CALLED, 0, step.node.origin, step.node.op.name))
            case _:
                pass


def leave(steps: Iterable[Step], left: Collection[Value]) -> None:
    """Let steps that make some values not fill the rests of these."""
    for step in steps:
        if isinstance(step, Nest):
            for root in step.roots:
                root.rest = None if root.value in left else root.rest
        elif isinstance(step, Run):
            step.unread = frozenset([n for n, v in enumerate(step.node.values) if v in left])


def arrange(program: Program) -> None:
    """Gather nests over the same rows, and order all loops."""
    leave_unread(program)
    program.steps = gather(program.steps, {*program.results})
    for step in program.steps:
        if isinstance(step, Nest):
            schedule(step)
        elif isinstance(step, Rows):
            for nest in step.nests:
                schedule(nest, keep=1)


def expand(fn: Function, can: Can) -> Function:
    """`fn` with primitives that have no code of their own replaced by what they expand to."""
    for _ in range(16):
        if not any([expandable(node, can) for node in fn.nodes]):
            return fn
        fn = replaced(fn, lambda node, args: node.op.expand(*args) if expandable(node, can) else None)
    return fn


def expandable(node: Node, can: Can) -> bool:
    """Whether a primitive is better expanded than called on the host."""
    op = node.op
    return op.has("expand") and not can(op, tuple([a.type for a in node.args]))


def order(fusion: Fusion, program: Program, homes: dict[Buffer, Buffer]) -> None:
    """Bring steps that read an array before those that write over it."""
    for number, step in enumerate(program.steps):
        if isinstance(step, Nest):
            leaves = [v for root in step.roots for v in root.leaves]
            step.reads = {fusion.buffers[v] for v in leaves if fusion.made_at.get(v, -1) != number}
            step.reads.update([root.base for root in step.roots if root.base])
        elif isinstance(step, Fill):
            step.reads = {fusion.buffers[v] for v in step.leaves}
    program.steps = reads_first(program.steps, homes)


def record_nest(nest: Nest, buffers: dict[Value, Buffer], sites: list[Site], ranges: Ranges) -> None:
    """Record the scalars of all roots of a nest, in the loops that suit what it reads."""
    extents, known = loop_per_axis(nest.space), len(sites)
    record_in(nest, extents, buffers, sites, ranges)
    better = loops_by_digits(nest)
    if better != extents:
        del sites[known:]
        nest.body = Region(None)
        record_in(nest, better, buffers, sites, ranges)
    prune(nest)


def record_in(nest: Nest, extents: Extents, buffers: dict[Value, Buffer], sites: list[Site], ranges: Ranges) -> None:
    """Record the scalars of all roots of a nest, each axis of which is split into some loops."""
    nest.vars = tuple([Var(n) for own in extents for n in own])
    nest.space = tuple([v.extent for v in nest.vars])
    if 0 in nest.space:
        return
    # A value made here is not read from memory here: each point still has its scalar. Nor is a
    # value that came to lie in memory only after this nest.
    own = {root.value for root in nest.roots if root.owns}
    read = {v: buffers[v] for root in nest.roots for v in root.leaves if v not in own}
    recorder = Recorder(read, sites, nest.body, ranges)
    at_point = index_in_axes(nest.vars, extents)
    for v, length in zip(nest.vars, nest.lengths, strict=False):
        end = recorder.limit(v, recorder.pull(length, EMPTY) if length else None)
        if end:
            nest.limits[v] = nest.body.below[v] = end
    for root in nest.roots:
        record_root(root, recorder, at_point)
    nest.reads = recorder.reads | {root.base for root in nest.roots if root.base}


def record_root(root: Root, recorder: Recorder, at_point: Index) -> None:
    """Record one root: its scalar at each point, and where that goes."""
    fold = root.fold
    if root.base:
        record_part(root, recorder, at_point)
        return
    if fold is None:
        index = at_point if root.value.shape else EMPTY
        root.scalar = recorder.pull(root.value, index)
        root.offset = offset_of(index, root.value.shape)
        return
    kept = {axis: at_point[a] for a, axis in enumerate(fold.order) if axis >= 0}
    index = Index([kept[axis] for axis in range(len(kept))])
    found = {~axis: at_point[a] for a, axis in enumerate(fold.order) if axis < 0}
    folded = Index([found[a] for a in range(len(found))])
    root.folded = tuple([v for part in folded for v, _ in part.terms if isinstance(v, Var)])
    root.scalar = recorder.element_of_fold(root.value.node, index, folded)
    root.offset = offset_of(index, root.value.shape)


def record_part(root: Root, recorder: Recorder, at_point: Index) -> None:
    """Record a root that is a part of an array."""
    recorder.node = node = root.value.node
    sources = recorder.sources(node)
    match node.op:
        case Window() as op:
            place, scalar = op.place(recorder, at_point), op.part(recorder, at_point, *sources)
        case BlockWrite() as op:
            place, scalar = op.part(recorder, at_point, *sources)
        case _:
            raise AssertionError(f"{node.op.name} is no write to a part of an array")
    root.scalar = recorder.as_scalar(scalar)
    root.offset = offset_of(index_of(place), root.value.shape)


def record_fill(step: Fill, fusion: Fusion, sites: list[Site], ranges: Ranges) -> None:
    """Record the statements of a filling rule."""
    begun = {step.node.args[0]: step.copied} if step.copied else {}  # perhaps in another shape
    read = {v: fusion.buffers[v] for v in step.leaves}
    recorder = Recorder({**read, **begun}, sites, step.body, ranges, fusion.limits)
    recorder.node, recorder.early, recorder.left, recorder.lengths = step.node, step.early, step.left, step.lengths
    fill = fill_of(step.node.op)
    assert fill
    fill(recorder, step.out, *recorder.sources(step.node))
    step.begins = recorder.copied
    assert step.copied or not step.begins, f"{step.node.op.name} begins as an operand that it is not given"
    step.reads = recorder.reads | ({step.copied} if step.begins and step.copied else set())


def prune(nest: Nest) -> None:
    """Drop scalars that nothing needs; what is checked may be an error, also where the element is always the same."""
    needed: set[Scalar] = set()
    todo = [s for s in nest.body.body if isinstance(s, Checked)]
    todo += [root.scalar for root in nest.roots if root.scalar and (root.buffer or root.fold)]
    todo += [*nest.limits.values(), *[a for r in nest.roots for a, _ in r.offset.terms if isinstance(a, Scalar)]]
    kept = [root for root in nest.roots if root.buffer or root.fold]
    while todo:
        scalar = todo.pop()
        if scalar not in needed:
            needed.add(scalar)
            todo.extend(scalar.operands())
            todo.extend([a for i in scalar.indices() for a, _ in i.terms if isinstance(a, Scalar)])
            todo.extend([s for region in regions(scalar) for s in region.body if isinstance(s, Checked)])
    nest.roots = kept
    drop(nest.body, needed)


def drop(region: Region, needed: set[Scalar]) -> None:
    """Drop scalars that are not needed from a region and those inside it."""
    todo = [region]
    while todo:
        region = todo.pop()
        region.body = [s for s in region.body if s in needed]
        for scalar in region.body:
            todo.extend(regions(scalar))
