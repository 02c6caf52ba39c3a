"""The builder `k` of kernel rules: running a rule records the scalars it computes."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, final

from pliant.core.ir import Const, Node, Number, Op, Value
from pliant.core.types import Type
from pliant.kernel.digits import digits
from pliant.kernel.identities import identity_of
from pliant.kernel.ir import (
    Affine,
    All,
    Apply,
    Buffer,
    Checked,
    Choose,
    Digit,
    Fold,
    FromIndex,
    Index,
    Literal,
    Load,
    Loop,
    Region,
    Scalar,
    Site,
    Stop,
    Store,
    Var,
    Within,
    affine,
    index_of,
    numbers,
    offset_of,
)
from pliant.kernel.limits import is_below
from pliant.ops.base import Elementwise
from pliant.ops.compare import Less
from pliant.ops.elementwise import Mul
from pliant.ops.power import Pow
from pliant.ops.select import Select
from pliant.ops.shape import Concatenate
from pliant.passes.ranges import Range, Ranges

if TYPE_CHECKING:
    from pliant.kernel.lengths import Lengths, Limits

EMPTY = Index(())
EXACT = ("f64", "f32", "i64", "i32", "u64", "u32")  # whose products are rounded no more often than once


def fill_of(op: Op) -> Callable[..., None] | None:
    """The rule of a primitive that fills its result in an order of its own, if it has one."""
    return getattr(op, "fill", None)


@final
class Source:
    """An operand of a kernel rule: its type, and its element at an index."""

    __slots__ = ("pull", "type", "value")

    def __init__(self, pull: Callable[[Value, Index], Scalar], value: Value) -> None:
        self.pull, self.value, self.type = pull, value, value.type

    def __call__(self, index: Sequence[Affine]) -> Scalar:
        return self.pull(self.value, index_of(index))


@final
class Recorder:
    """Records scalars into regions. Equal elements are recorded once per region."""

    def __init__(
        self, buffers: Mapping[Value, Buffer], sites: list[Site], region: Region, ranges: Ranges | None = None,
        limits: Limits | None = None,
    ) -> None:  # fmt: skip
        self.buffers, self.sites, self.region, self.ranges = buffers, sites, region, ranges or {}
        self.limits = limits
        self.spans: dict[Scalar, Range] = {}  # of numbers of rank 0
        self.reads: set[Buffer] = set()
        self.node: Node | None = None
        self.root_loops: Index | None = None  # where the loops of the nest are that the next fold stands for
        self.copied = False  # the result begins as an operand that is in memory
        self.early: Collection[Value] = ()  # operands to look at before anything is written
        self.left: Collection[Value] = ()  # operands that are put into the result later
        self.lengths: Lengths = ()  # how far anybody looks at the result

    def emit(self, scalar: Scalar) -> Scalar:
        """Append a scalar to the current region."""
        scalar.region, scalar.number = self.region, next(numbers)
        self.region.body.append(scalar)
        return scalar

    def find(self, key: object) -> Scalar | None:
        """The scalar remembered for a key, here or in a region around this one."""
        region: Region | None = self.region
        while region is not None:
            found = region.memo.get(key)
            if found is not None:
                return found
            region = region.parent
        return None

    def remember(self, key: object, make: Callable[[], Scalar]) -> Scalar:
        """The scalar for a key, made at most once per region."""
        found = self.find(key)
        if found is None:
            found = self.region.memo[key] = self.emit(make())
        return found

    # Elements of values

    def pull(self, value: Value, index: Index) -> Scalar:
        """The element of a value. Elementwise chains are walked with a stack, not by recursion."""
        todo = [(value, index)]
        while todo:
            key = todo[-1]
            if self.find(key) is not None:
                todo.pop()
                continue
            at = key[1]
            node = key[0].node
            if key[0] not in self.buffers and type(node.op).kernel is Elementwise.kernel:
                operands = [(a, at if a.node.types[a.index].shape else EMPTY) for a in node.args]
                found = [self.find(operand) for operand in operands]
                missing = [operand for operand, f in zip(operands, found, strict=True) if f is None]
                if missing:
                    todo.extend(missing)
                    continue
                args = tuple([f for f in found if f is not None])
                self.region.memo[key] = self.simplified(node.op, args) or self.emit(
                    Apply(node.types[0].dtype, node.op, args)
                )
            else:
                self.region.memo[key] = self.element(key[0], at)
            todo.pop()
        found_one = self.find((value, index))
        assert found_one is not None
        if value in self.ranges:
            self.spans[found_one] = self.ranges[value]
        return found_one

    def element(self, value: Value, index: Index) -> Scalar:
        """The element of a value that is in memory, a literal, or made by a kernel rule."""
        buffer = self.buffers.get(value)
        if buffer is not None:
            self.reads.add(buffer)
            found = self.emit(Load(buffer, offset_of(index, value.shape)))
            if value in self.ranges:
                self.spans[found] = self.ranges[value]  # an index made of it is known by those of its terms
            return found
        op = value.node.op
        if isinstance(op, Const):
            return self.emit(Literal(op.dtype, op.value))
        return self.run(value.node, index)

    def run(self, node: Node, index: Index) -> Scalar:
        """What a kernel rule returns."""
        before, self.node = self.node, node
        found = node.op.kernel(self, index, *self.sources(node))
        self.node = before
        return self.as_scalar(found)

    def element_of_fold(self, node: Node, index: Index, folded: Index) -> Scalar:
        """What a rule that is one fold reduces, at an index of its result and of what it folds."""
        self.root_loops = folded
        return self.run(node, index)

    def sources(self, node: Node) -> list[Source]:
        """The operands of a node as a rule sees them."""
        return [Source(self.pull, a) for a in node.args]

    def as_scalar(self, x: Scalar | Affine) -> Scalar:
        """An index as a number; a number unchanged."""
        return self.remember(("index", x), lambda: FromIndex(x)) if isinstance(x, Affine) else x

    # What rules call

    def scalar(self, op: Op, *xs: Scalar | Affine) -> Scalar:
        """An elementwise primitive on scalars."""
        args = tuple(self.as_scalar(x) for x in xs)
        made = op.infer(*(Type(a.dtype) for a in args))
        assert isinstance(made, Type)
        return self.simplified(op, args) or self.remember((op, args), lambda: Apply(made.dtype, op, args))

    def simplified(self, op: Op, args: tuple[Scalar, ...]) -> Scalar | None:
        """What a primitive gives where the limits of loops or a literal decide it."""
        if isinstance(op, Less) and is_below(args[0], args[1], self.region, self.spans):
            return self.const(True, "bool")
        if isinstance(op, Select) and isinstance(args[0], Literal):
            return args[1] if args[0].value else args[2]
        if isinstance(op, Pow) and isinstance(args[1], Literal) and args[1].value in (3, 4) and args[0].dtype in EXACT:
            square = self.scalar(Mul(), args[0], args[0])  # rounded twice, which is as accurate as a vector of powers
            return self.scalar(Mul(), square, args[0] if args[1].value == 3 else square)
        return None

    def const(self, number: Number, dtype: str) -> Scalar:
        """A literal."""
        return self.remember(("const", repr(number), dtype), lambda: Literal(dtype, number))

    def affine(self, j: Affine | int, step: int, start: int) -> Affine:
        """The index step·j + start."""
        return affine(j) * step + start

    def index(self, x: Scalar) -> Affine:
        """A number as an index."""
        return affine(x)

    def checked(self, i: Affine | Scalar | int, extent: int, axis: int, count: int = 0, whole: int = 0) -> Affine:
        """An index that is noted as an error, and then 0, where it lies outside its axis; or where it is the start
        of a slice of `count` elements that does not lie in an axis of a `whole` extent."""
        i = affine(i)
        span = i.range(self.spans)
        if span and span[0] >= 0 and span[1] < extent:
            return i
        origin = self.node.origin if self.node else None
        assert origin is not None
        self.sites.append(Site(axis, whole or extent, origin, self.node.op.name if self.node else "", "", count))
        site = len(self.sites) - 1
        return affine(self.remember(("checked", i, extent, axis), lambda: Checked(i, extent, site)))

    def same(self, x: Scalar, y: Scalar, failure: str) -> Scalar:
        """The common value of two integers; noted as an error where they differ."""
        assert self.node
        self.sites.append(Site(0, 1, self.node.origin, self.node.op.name, failure))
        away, site = affine(x) - affine(y), len(self.sites) - 1
        return self.as_scalar(affine(x) + affine(self.remember(("same", x, y), lambda: Checked(away, 1, site))))

    def ensured(self, x: Scalar, code: Scalar, failure: str) -> Scalar:
        """A scalar; its code, which says what is wrong with it, is noted where it is not 0."""
        assert self.node
        self.sites.append(Site(0, 1, self.node.origin, self.node.op.name, failure))
        site = len(self.sites) - 1
        self.remember(("ensured", code, failure), lambda: Checked(affine(code), 1, site))
        return x

    def reindex(self, i: Sequence[Affine], before: Sequence[int], after: Sequence[int]) -> Index:
        """The index in shape `after` of the element that is at `i` in shape `before`."""
        at = index_of(i)
        index = Index(digits(at, tuple(before), tuple(after), self.digit))
        index.flat = offset_of(at, before)
        return index

    def digit(self, i: Affine, divisor: int, modulus: int) -> Affine:
        """(i // divisor) % modulus."""
        known = i.digit(divisor, modulus)
        if known is not None:
            return known
        return affine(self.remember(("digit", i, divisor, modulus), lambda: Digit(i, divisor, modulus)))

    def literal(self, x: Scalar) -> int | None:
        """The number of an integer scalar, if it is known now."""
        return int(x.value.real) if isinstance(x, Literal) else None

    def below(self, i: Sequence[Affine], lengths: Sequence[Scalar], extents: Sequence[int]) -> Scalar:
        """Whether i < lengths, where i < extents; what is known is not asked."""
        tests = list[Scalar]()
        for part, length, extent in zip(i, lengths, extents, strict=True):
            count = self.literal(length)
            if count is None or count < extent:
                test = self.scalar(Less(), part, length)
                tests += [] if isinstance(test, Literal) and test.value else [test]
        return self.emit(All(tuple(tests)))

    def inside(
        self, i: Sequence[Affine], start: Sequence[int], step: Sequence[int], lengths: Sequence[int]
    ) -> tuple[Scalar, Index]:
        """Whether index `i` is `start + step·j` for some j < lengths, and that j."""
        tests = list[Scalar]()
        inner = list[Affine]()
        for part, first, stride, n in zip(map(affine, i), start, step, lengths, strict=True):
            away = part - first if stride > 0 else part * -1 + first
            width, span = abs(stride), away.range()
            if not (span and span[0] >= 0 and span[1] < n * width and width == 1):
                tests.append(self.emit(Within(away, 0, (n - 1) * width + 1 if n else 0, width)))
            inner.append(self.digit(away, width, 0))
        return self.emit(All(tuple(tests))), Index(inner)

    def choose(self, cond: Scalar, yes: Callable[[], Any], no: Callable[[], Any]) -> Scalar:
        """`yes()` or `no()`; only the chosen one is computed."""
        if isinstance(cond, All) and not cond.args:
            return self.as_scalar(yes())
        first, left = self.record(yes)
        second, right = self.record(no)
        return self.emit(Choose(cond, first, second, (left, right)))

    def record(self, thunk: Callable[[], Any]) -> tuple[Scalar, Region]:
        """What a thunk computes, recorded in a region of its own."""
        before, region = self.region, Region(self.region)
        self.region = region
        scalar = self.as_scalar(thunk())
        self.region = before
        return scalar, region

    def choose_piece(self, i: Sequence[Affine], axis: int, sources: Sequence[Any]) -> Scalar:
        """The element of several arrays one after the other along an axis."""

        def piece(number: int, start: int) -> Scalar:
            source = sources[number]
            n = source.type.shape[axis]
            at = Index([p - start if a == axis else p for a, p in enumerate(i)])
            if number == len(sources) - 1:
                return source(at)
            inside = self.emit(Within(at[axis], 0, n, 1))
            return self.choose(inside, lambda: source(at), lambda: piece(number + 1, start + n))

        return piece(0, 0)

    def fold(self, kind: str, dtype: str, extents: Sequence[int], element: Callable[[Index], Any]) -> Scalar:
        """A reduction of `element(j)` over all j."""
        if self.root_loops is not None:
            at, self.root_loops = self.root_loops, None
            return self.as_scalar(element(at))
        if math.prod(extents) == 0:
            return self.const(identity_of(kind, dtype), dtype)
        loops = tuple(Var(n) for n in extents)
        scalar, body = self.record(lambda: element(Index([Affine(0, ((v, 1),)) for v in loops])))
        return self.emit(Fold(kind, dtype, loops, body, scalar))

    def first(self, kind: str, count: int, element: Callable[[Index], Any]) -> Scalar:
        """The least j where `element(j)` is the "max" or "min" of all of them, or the first NaN."""
        loop = Var(count)
        scalar, body = self.record(lambda: element(Index((Affine(0, ((loop, 1),)),))))
        return self.emit(Fold(f"arg{kind}", "i64", (loop,), body, scalar))

    def limit(self, var: Var, end: Scalar | None) -> Scalar | None:
        """Where a loop ends, if that is before its extent."""
        return None if end is None or self.literal(end) == var.extent else end

    # What filling rules call

    def loop(
        self, extents: Sequence[int], body: Callable[[Index], Any], limits: Sequence[Scalar | None] | None = None
    ) -> None:
        """Run `body(j)` for all j in row-major order; only for j < limits, if there are any."""
        if math.prod(extents) == 0:
            return
        loops = tuple(Var(n) for n in extents)
        ends = [self.limit(v, end) for v, end in zip(loops, limits or [None] * len(loops), strict=True)]
        before, region = self.region, Region(self.region)
        self.region = region
        region.below.update({v: end for v, end in zip(loops, ends, strict=True) if end})
        body(Index([Affine(0, ((v, 1),)) for v in loops]))
        self.region = before
        self.emit(Loop(loops, region, tuple(ends)))

    def ends(self, x: Source) -> tuple[Sequence[Scalar | None], Number] | None:
        """Where the elements of an operand are all the same from there on along each axis, and what they are; None if
        that is nowhere known."""
        found = self.limits.of(x.value) if self.limits else None
        return None if found is None else ([self.pull(n, EMPTY) if n else None for n in found[0]], found[1])

    def looked(self) -> list[Scalar | None] | None:
        """How far anybody looks at the result along each axis; None if that is all over."""
        return [self.pull(n, EMPTY) if n else None for n in self.lengths] or None

    def pieces(self, x: Source) -> tuple[int, list[Source]] | None:
        """Along which axis an operand is put together from others where it is read, and from which."""
        op = x.value.op
        if x.value in self.buffers or not isinstance(op, Concatenate):
            return None
        return op.axis, self.sources(x.value.node)

    def is_early(self, x: Source) -> bool:
        """Whether elements of an operand may fail, and that before anything is written."""
        return x.value in self.early

    def is_left(self, x: Source) -> bool:
        """Whether an operand is put where it belongs by a later step."""
        return x.value in self.left

    def is_at_hand(self, x: Source) -> bool:
        """Whether an operand is in memory, perhaps in that of the caller."""
        return x.value in self.buffers

    def load(self, x: Any, index: Sequence[Any]) -> Scalar:
        """An element of an operand, or of the result as it is now."""
        at = Index([affine(part) for part in index])
        if isinstance(x, Source):
            return x(at)
        return self.emit(Load(x, offset_of(at, x.type.shape), ordered=True))

    def stop(self) -> None:
        """Go no further if an index was out of range."""
        self.emit(Stop())

    def store(self, out: Buffer, index: Sequence[Any], scalar: Any) -> None:
        """Write an element of the result."""
        at = Index([affine(part) for part in index])
        self.emit(Store(out, offset_of(at, out.type.shape), self.as_scalar(scalar)))

    def copy(self, out: Buffer, x: Source) -> None:
        """Write all elements of an operand. Of one in memory none: the result is made there, or in a copy."""
        self.copied = x.value in self.buffers
        if not self.copied:
            self.loop(out.type.shape, lambda j: self.store(out, j, x(j)))
