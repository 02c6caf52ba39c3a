"""Random programs that read and write parts of a few arrays: blocks, places and windows, of one problem or of several
beside each other, in loops too. Every version of an array may be read after it has been written over."""

from __future__ import annotations

from pliant.core.build import trace
from pliant.core.ir import const
from pliant.core.types import Type
from pliant.ops.bits import logical_and, logical_not
from pliant.ops.block import AddBlock, ReadBlock, UpdateBlock
from pliant.ops.compare import Maximum, Minimum, greater, less
from pliant.ops.elementwise import Add, Mul, Sub
from pliant.ops.index import Gather, ScatterAdd, ScatterSet
from pliant.ops.loop import Loop
from pliant.ops.reduce import reduce_max, reduce_sum
from pliant.ops.scan import Cumsum
from pliant.ops.select import select
from pliant.ops.shape import Slice, broadcast, flip, iota, permute, reshape
from pliant.ops.update import AddSlice, UpdateSlice

PROBLEMS, LONG = 3, 5
BOTH, ROW, EACH, ENDS = (
    Type("f64", (PROBLEMS, LONG)),
    Type("f64", (LONG,)),
    Type("f64", (PROBLEMS,)),
    Type("i64", (PROBLEMS,)),
)
TYPES = (BOTH, BOTH, ROW, EACH, ENDS, Type("i64"))


class RandomWrites:
    """Grows a function value by value, given what there is."""

    def __init__(self, rng, values):
        self.rng, self.values = rng, list(values)

    def grow(self, count):
        """`count` values more."""
        makers = (
            self.block, self.block, self.block, self.whole_block, self.places, self.places, self.rows, self.window, self.chosen, self.chosen, self.combined,
            self.turned, self.from_rows, self.reduced, self.end, self.nested,
        )  # fmt: skip
        for _ in range(count):
            made = self.one_of(*makers)()
            if made is not None:
                self.values.append(made)
        return self.values

    def one_of(self, *options):
        return options[self.rng.integers(len(options))]

    def pick(self, kind):
        """A value of a type, often one of the last."""
        found = [v for v in self.values if v.type == kind]
        return found[-1] if self.rng.random() < 0.5 else self.one_of(*found)

    def number(self, kind):
        """Integers from 0 to LONG - 1, of that type."""
        return self.pick(kind)

    def span(self, kind, most):
        """Where a block begins, how long it is, and the step: within an axis of an extent."""
        start, length = self.number(kind), self.number(kind)
        limit = const(most, "i64")
        start = Minimum()(start, spread(limit, kind))
        length = Minimum()(length, Sub()(spread(limit, kind), start))
        if self.rng.random() < 0.2:
            start = spread(const(0, "i64"), kind)
        if self.rng.random() < 0.25:
            return Sub()(Add()(start, length), spread(const(1, "i64"), kind)), length, -1
        return start, length, 1

    def block(self):
        """A block of each problem, written with blocks of it and of others."""
        x, (start, length, step) = self.pick(BOTH), self.span(ENDS, LONG)
        kind = self.rng.integers(8)
        source = x if self.rng.random() < 0.7 else self.pick(BOTH)
        at = start if self.rng.random() < 0.7 else self.span_of(length, step)
        u = ReadBlock((LONG,), (step,), 1)(source, at, length)
        if kind == 0:
            return u
        u = self.one_of(
            lambda: Mul()(u, broadcast(const(0.5, "f64"), BOTH.shape, ())),
            lambda: Add()(Mul()(u, broadcast(const(0.25, "f64"), BOTH.shape, ())), self.pick(BOTH)),
            lambda: self.pick(BOTH),
            lambda: broadcast(self.pick(EACH), BOTH.shape, (0,)),
            lambda: u,
        )()
        return self.one_of(UpdateBlock, AddBlock)((step,), 1)(x, u, start, length)

    def span_of(self, length, step):
        return broadcast(const(0, "i64"), ENDS.shape, ()) if step > 0 else Sub()(length, spread(const(1, "i64"), ENDS))

    def whole_block(self):
        """A block of all problems, or of one row."""
        if self.rng.random() < 0.4:
            x, (start, length, step) = self.pick(ROW), self.span(Type("i64"), LONG)
            u = ReadBlock((LONG,), (step,))(self.pick(ROW), start, length)
            return self.one_of(UpdateBlock, AddBlock)((step,))(x, self.one_of(u, self.pick(ROW)), start, length)
        x, spans = self.pick(BOTH), [self.span(Type("i64"), n) for n in BOTH.shape]
        starts, lengths, step = zip(*spans, strict=True)
        u = ReadBlock(BOTH.shape, step)(self.pick(BOTH), *starts, *lengths)
        write = self.one_of(UpdateBlock, AddBlock)(step)
        return write(x, self.one_of(u, Mul()(u, self.pick(BOTH)), self.pick(BOTH)), *starts, *lengths)

    def places(self):
        """An element of each problem."""
        x, at = self.pick(BOTH), self.number(ENDS)
        kind = self.rng.integers(4)
        if not kind:
            return Gather(1, True)(x, at)
        u = Gather(1, True)(self.pick(BOTH), self.number(ENDS)) if kind == 1 else self.pick(EACH)
        return self.one_of(ScatterSet, ScatterAdd)(1, True)(
            x, at, Mul()(u, broadcast(const(0.5, "f64"), EACH.shape, ()))
        )

    def rows(self):
        """Rows at places that may be the same."""
        x, at = self.pick(BOTH), Minimum()(self.number(ENDS), spread(const(PROBLEMS - 1, "i64"), ENDS))
        u = Gather()(self.pick(BOTH), at)
        return self.one_of(lambda: u, lambda: ScatterSet()(x, at, u), lambda: ScatterAdd()(x, at, Mul()(u, u)))()

    def window(self):
        """A part that is known."""
        x = self.pick(self.one_of(BOTH, ROW))
        part = [
            self.one_of((0, 1, n), (1, 1, n - 1), (0, 1, n - 1), (n - 1, -1, n), (0, 2, (n + 1) // 2)) for n in x.shape
        ]
        start, step, length = zip(*part, strict=True)
        other = [self.one_of((0, 1), (m - 1, -1)) for m in length]
        u = Slice(*zip(*other, strict=True), length)(self.pick(x.type))
        return self.one_of(UpdateSlice, AddSlice)(start, step)(
            x, self.one_of(u, Mul()(u, Slice(start, step, length)(x)))
        )

    def chosen(self):
        """One array or another, by the place, by the problem or by the element."""
        x, y = self.pick(BOTH), self.pick(BOTH)
        first, second = self.number(ENDS), self.number(Type("i64"))
        by = self.one_of(
            lambda: broadcast(less(iota(LONG), spread(second, Type("i64", (LONG,)))), BOTH.shape, (1,)),
            lambda: broadcast(greater(first, spread(second, ENDS)), BOTH.shape, (0,)),
            lambda: greater(self.pick(BOTH), x),
            lambda: logical_not(broadcast(less(iota(LONG), spread(second, Type("i64", (LONG,)))), BOTH.shape, (1,))),
            lambda: logical_and(broadcast(less(first, spread(const(3, "i64"), ENDS)), BOTH.shape, (0,)), greater(x, y)),
        )()
        return select(by, x, self.one_of(y, broadcast(const(0.0, "f64"), BOTH.shape, ())))

    def combined(self):
        kind = self.one_of(BOTH, ROW, EACH)
        x, y = self.pick(kind), self.pick(kind)
        half = broadcast(const(0.5, "f64"), kind.shape, ())
        return self.one_of(Add()(Mul()(x, half), Mul()(y, half)), Maximum()(x, y), Mul()(Sub()(x, y), half))

    def turned(self):
        x = self.pick(BOTH)
        return self.one_of(
            lambda: flip(x, (1,)),
            lambda: flip(x, (0,)),
            lambda: permute(self.written(permute(x, (1, 0))), (1, 0)),
            lambda: reshape(flip(reshape(x, (x.type.size,)), (0,)), x.shape),
            lambda: Mul()(Cumsum(1, False)(x), broadcast(const(0.25, "f64"), BOTH.shape, ())),
        )()

    def written(self, x):
        """A row of a permuted array replaced."""
        at = reshape(self.number(Type("i64")), (1,))
        return ScatterSet(0, True)(x, at, reshape(self.pick(EACH), (1, PROBLEMS)))

    def from_rows(self):
        return broadcast(*self.one_of((self.pick(ROW), BOTH.shape, (1,)), (self.pick(EACH), BOTH.shape, (0,))))

    def reduced(self):
        fold, axis = self.one_of(reduce_sum, reduce_max), self.one_of((0,), (1,))
        scale = broadcast(const(0.25, "f64"), (LONG,) if axis == (0,) else (PROBLEMS,), ())
        return Mul()(fold(self.pick(BOTH), axis), scale)

    def end(self):
        """Integers of the same range, made of others, or of what the arrays hold."""
        kind = self.one_of(ENDS, Type("i64"))
        x, last = self.number(kind), spread(const(LONG - 1, "i64"), kind)
        if kind == ENDS and self.rng.random() < 0.5:
            is_more = greater(Gather(1, True)(self.pick(BOTH), x), self.pick(EACH))
            return select(is_more, Minimum()(Add()(x, spread(const(1, "i64"), kind)), last), self.number(kind))
        return self.one_of(
            Sub()(last, x), Minimum()(Add()(x, spread(const(1, "i64"), kind)), last), Minimum()(x, self.number(kind))
        )

    def nested(self):
        """A loop over steps that write to two arrays, of which one is the result."""
        if self.rng.random() < 0.7:
            return None
        carried = [self.pick(BOTH), self.pick(BOTH), self.pick(ENDS)]
        given = [self.pick(ROW), self.pick(EACH), self.pick(Type("i64")), self.pick(BOTH)]
        seed = self.rng.integers(1 << 30)

        def step(i, *xs):
            inner = RandomWrites(
                type(self.rng)(type(self.rng.bit_generator)(seed)), [*xs, Minimum()(i, const(LONG - 1, "i64"))]
            )
            inner.nested = lambda: None
            inner.grow(5)
            return inner.pick(BOTH), inner.pick(BOTH), inner.pick(ENDS), inner.pick(EACH)

        types = [Type("i64"), *[x.type for x in (*carried, *given)]]
        outs = ("last", "last", "last", "stack")
        op = Loop(PROBLEMS, ("carry",) * 3 + ("const",) * 4, outs, trace(step, *types), bool(self.rng.random() < 0.3))
        made = op.apply(*carried, *given)
        self.values += [made[1], made[2], reduce_sum(made[3], (1,))]
        return made[0]


def spread(x, kind):
    """A number at all places of a type."""
    return broadcast(x, kind.shape, ()) if kind.shape else x


def random_writes(rng, count):
    """A function of about `count` nodes, of arrays of `TYPES`."""

    def f(*params):
        made = RandomWrites(rng, params)
        made.grow(count)
        return tuple([made.pick(kind) for kind in (BOTH, BOTH, ROW, EACH)[: 1 + rng.integers(4)]])

    return trace(f, *TYPES)


def arguments(rng):
    """What it is called with."""
    ends = rng.integers(0, LONG, PROBLEMS)
    return [
        rng.normal(size=BOTH.shape),
        rng.normal(size=BOTH.shape),
        rng.normal(size=LONG),
        rng.normal(size=PROBLEMS),
        ends,
        rng.integers(0, LONG),
    ]
