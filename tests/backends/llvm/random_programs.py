"""Random programs over the primitives that move, combine and reduce arrays."""

from __future__ import annotations

from pliant.core.ir import Function, const, param
from pliant.core.scope import scope
from pliant.core.types import Type
from pliant.ops.compare import Maximum, Minimum
from pliant.ops.contract import Dot
from pliant.ops.elementwise import Abs, Add, Mul, Neg, convert
from pliant.ops.index import Gather, ScatterAdd, ScatterSet
from pliant.ops.reduce import ReduceMax, ReduceMin, ReduceOr, ReduceSum
from pliant.ops.rounding import Remainder
from pliant.ops.scan import Cummax, Cumsum
from pliant.ops.shape import Concatenate, Slice, broadcast, permute, reshape
from pliant.ops.sort import Sort
from pliant.ops.transcendental import Sin, Tanh
from pliant.ops.update import UpdateSlice

DTYPES = ("f64", "f64", "f32", "i64", "i32", "bool", "c128", "u8")
EXTENTS = (1, 2, 3, 5, 7, 8, 17, 33)
LARGEST = 20_000


class RandomProgram:
    """Grows a function value by value."""

    def __init__(self, rng):
        self.rng = rng
        self.params = [param(Type(str(rng.choice(DTYPES)), self.shape())) for _ in range(rng.integers(1, 4))]
        self.values = list(self.params)
        self.makers = [
            self.binary,
            self.binary,
            self.binary,
            self.unary,
            self.converted,
            self.reduced,
            self.repeated,
            self.permuted,
            self.reshaped,
            self.sliced,
            self.concatenated,
            self.indexed,
            self.scanned,
            self.product,
            self.sorted,
        ]

    def shape(self):
        rng = self.rng
        return tuple(int(rng.choice([*EXTENTS, 0] if rng.random() < 0.1 else EXTENTS)) for _ in range(rng.integers(4)))

    def pick(self, fits):
        found = [v for v in self.values if fits(v)]
        return found[self.rng.integers(len(found))] if found else None

    def choice(self, *options):
        return options[self.rng.integers(len(options))]

    def grow(self, count):
        for _ in range(count):
            recent = self.values[-6:]
            made = self.choice(*self.makers)(recent[self.rng.integers(len(recent))])
            if made is not None and made.type.size <= LARGEST and made.type.rank <= 4:
                self.values.append(made)
        results = [self.values[self.rng.integers(len(self.values))] for _ in range(self.rng.integers(3))]
        return Function("random", tuple(self.params), (*results, self.values[-1]))

    def binary(self, x):
        y = self.pick(lambda v: v.type == x.type)
        return self.choice(Add(), Mul(), *([] if x.dtype[0] == "c" else [Maximum(), Minimum()]))(x, y)

    def unary(self, x):
        return self.choice(Sin(), Tanh(), Neg(), Abs())(x) if x.dtype[0] == "f" else None

    def converted(self, x):
        return convert(x, self.choice(*DTYPES))

    def reduced(self, x):
        axes = tuple(a for a in range(x.type.rank) if self.rng.random() < 0.5)
        if x.dtype == "bool":
            return ReduceOr(axes)(x)
        if x.dtype[0] == "c" or any(x.shape[a] == 0 for a in axes):
            return ReduceSum(axes)(x)
        return self.choice(ReduceSum, ReduceSum, ReduceMax, ReduceMin)(axes)(x)

    def repeated(self, x):
        n, at = self.choice(1, 2, 4), int(self.rng.integers(x.type.rank + 1))
        shape = (*x.shape[:at], n, *x.shape[at:])
        return broadcast(x, shape, tuple(a for a in range(len(shape)) if a != at))

    def permuted(self, x):
        return permute(x, tuple(int(a) for a in self.rng.permutation(x.type.rank)))

    def reshaped(self, x):
        s = x.shape
        if len(s) >= 2:
            at = int(self.rng.integers(len(s) - 1))
            return reshape(x, (*s[:at], s[at] * s[at + 1], *s[at + 2 :]))
        return reshape(x, (2, s[0] // 2) if s and s[0] % 2 == 0 else (*s, 1))

    def sliced(self, x):
        rows = [self.range_within(n) for n in x.shape]
        start, step, length = (tuple(part) for part in zip(*rows, strict=True)) if rows else ((), (), ())
        y = Slice(start, step, length)(x)
        return self.choice(y, UpdateSlice(start, step)(x, Add()(y, y)))

    def range_within(self, n):
        if n == 0:
            return 0, 1, 0
        start, step = int(self.rng.integers(n)), self.choice(-2, -1, 1, 2)
        most = (n - start + step - 1) // step if step > 0 else start // -step + 1
        return start, step, int(self.rng.integers(0 if self.rng.random() < 0.1 else 1, most + 1))

    def concatenated(self, x):
        return Concatenate(int(self.rng.integers(x.type.rank)))(x, x, Add()(x, x)) if x.type.rank else None

    def indexed(self, x):
        index = self.pick(lambda v: v.dtype == "i64" and v.type.rank == 1)
        if index is None or not x.type.rank or not x.shape[0]:
            return None
        index = Remainder()(index, const(x.shape[0], "i64"))
        y = Gather()(x, index)
        return self.choice(y, (ScatterSet if x.dtype == "bool" else ScatterAdd)()(x, index, y))

    def scanned(self, x):
        if not x.type.rank or x.dtype[0] not in "if":
            return None
        return self.choice(Cumsum, Cummax)(int(self.rng.integers(x.type.rank)), self.choice(True, False))(x)

    def product(self, x):
        if x.type.rank != 2:
            return None
        y = self.pick(lambda v: v.dtype == x.dtype and v.type.rank in (1, 2) and v.shape[0] == x.shape[1])
        return Dot(((1,), (0,)), ((), ()))(x, permute(x, (1, 0)) if y is None else y)

    def sorted(self, x):
        return Sort(0)(x) if x.type.rank == 1 and x.dtype[0] in "iuf" else None


def random_program(rng, count):
    """A function of about `count` nodes."""
    with scope():
        return RandomProgram(rng).grow(count)
