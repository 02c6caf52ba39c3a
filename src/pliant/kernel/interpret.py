"""Kernel rules run on NumPy scalars, element by element: the oracle of the native code."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias, final

import numpy as np

from pliant.core.ir import Number, Op
from pliant.core.types import DTYPES, Type
from pliant.errors import beyond, failed
from pliant.kernel.identities import identity_of
from pliant.kernel.record import fill_of
from pliant.transforms.evaluate import run

Scalar: TypeAlias = Any

_COMBINE: Final[dict[str, Callable[[Scalar, Scalar], Scalar]]] = {
    "add": np.add,
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
    "or": np.logical_or,
    "and": np.logical_and,
}


def interpret(op: Op, *xs: Any) -> Any:
    """The result of a primitive, from its `fill` rule or else its `kernel` rule."""
    k = Interpreter()
    sources = [Array(np.asarray(x)) for x in xs]
    made = op.infer(*[s.type for s in sources])
    assert isinstance(made, Type)
    out = Array(np.zeros(made.shape, DTYPES[made.dtype]))
    fill = fill_of(op)
    if fill:
        fill(k, out, *sources)
    else:
        k.loop(made.shape, lambda i: k.store(out, i, op.kernel(k, i, *sources)))
    return out.data


@final
class Array:
    """An operand or a result."""

    def __init__(self, data: Any) -> None:
        short = {long: short for short, long in DTYPES.items()}
        self.data, self.type = data, Type(short[data.dtype.name], data.shape)

    def __call__(self, index: Sequence[int]) -> Scalar:
        """The element at an index, which must be in range."""
        index = tuple(int(i) for i in index)
        assert all([0 <= i < n for i, n in zip(index, self.type.shape, strict=True)]), f"{index} of {self.type}"
        return self.data[index]


@final
class Interpreter:
    """The builder `k` with numbers for scalars and ints for indices."""

    def scalar(self, op: Op, *xs: Scalar) -> Scalar:
        """An elementwise primitive."""
        with np.errstate(all="ignore"):
            return run(op, np, [np.asarray(x) for x in xs])[0][()]

    def const(self, number: Number, dtype: str) -> Scalar:
        """A literal."""
        return np.asarray(number, DTYPES[dtype])[()]

    def affine(self, j: int, step: int, start: int) -> int:
        """step·j + start."""
        return j * step + start

    def index(self, x: Scalar) -> int:
        """A number as an index."""
        return int(x)

    def checked(self, i: int, extent: int, axis: int, count: int = 0, whole: int = 0) -> int:
        """The index, or IndexRangeError."""
        if not 0 <= i < extent:
            raise beyond(i, axis, whole or extent, count)
        return i

    def same(self, x: Scalar, y: Scalar, failure: str) -> Scalar:
        """The common value of two integers, or an error."""
        if x != y:
            raise failed(failure, 1)
        return x

    def ensured(self, x: Scalar, code: Scalar, failure: str) -> Scalar:
        """A scalar, or the error of its code."""
        if code:
            raise failed(failure, int(code))
        return x

    def reindex(self, i: Sequence[int], before: Sequence[int], after: Sequence[int]) -> tuple[int, ...]:
        """The same element's index in another shape."""
        flat = 0
        for part, n in zip(i, before, strict=True):
            flat = flat * n + part
        digits = list[int]()
        for n in reversed(after):
            digits.append(flat % n)
            flat //= n
        return tuple(reversed(digits))

    def looked(self) -> None:
        """All of the result is looked at."""

    def pieces(self, x: Array) -> None:
        """Operands are arrays."""

    def literal(self, x: Scalar) -> int:
        """The number of a scalar that is known while compiling: here all are."""
        return int(x)

    def below(self, i: Sequence[int], lengths: Sequence[Scalar], extents: Sequence[int]) -> bool:
        """Whether i < lengths, where i < extents."""
        return all([part < int(n) for part, n in zip(i, lengths, strict=True)])

    def inside(
        self, i: Sequence[int], start: Sequence[int], step: Sequence[int], lengths: Sequence[int]
    ) -> tuple[bool, tuple[int, ...]]:
        """Whether i is start + step·j for a j < lengths, and that j."""
        pairs = [divmod(p - s, d) for p, s, d in zip(i, start, step, strict=True)]
        good = all([rest == 0 and 0 <= j < n for (j, rest), n in zip(pairs, lengths, strict=True)])
        return good, tuple(j for j, _ in pairs)

    def choose(self, cond: bool, yes: Callable[[], Scalar], no: Callable[[], Scalar]) -> Scalar:
        """Only the chosen side is computed."""
        return yes() if cond else no()

    def choose_piece(self, i: Sequence[int], axis: int, sources: Sequence[Array]) -> Scalar:
        """The element of several arrays one after the other."""
        at = i[axis]
        for source in sources:
            n = source.type.shape[axis]
            if at < n:
                return source((*i[:axis], at, *i[axis + 1 :]))
            at -= n
        raise AssertionError("past the last piece")

    def fold(self, kind: str, dtype: str, extents: Sequence[int], element: Callable[[Any], Scalar]) -> Scalar:
        """A reduction."""
        total = self.const(identity_of(kind, dtype), dtype)
        with np.errstate(all="ignore"):
            for j in itertools.product(*map(range, extents)):
                total = _COMBINE[kind](total, element(j))
        return total

    def first(self, kind: str, count: int, element: Callable[[Any], Scalar]) -> Scalar:
        """The least j where `element(j)` is the "max" or "min" of all of them, or the first NaN."""
        elements = np.asarray([element((j,)) for j in range(count)])
        return np.int64(np.argmax(elements) if kind == "max" else np.argmin(elements))

    def loop(
        self, extents: Sequence[int], body: Callable[[Any], None], limits: Sequence[Scalar | None] | None = None
    ) -> None:
        """Run a body for each index in order, below `limits` if there are any."""
        ends = [None] * len(extents) if limits is None else limits
        counts = [n if m is None else min(n, int(m)) for n, m in zip(extents, ends, strict=True)]
        for i in itertools.product(*map(range, counts)):
            body(i)

    def ends(self, x: Array) -> None:
        """Nothing: all elements are looked at."""

    def is_early(self, x: Array) -> bool:
        """No: it is there."""
        return False

    def is_left(self, x: Array) -> bool:
        """No: there is no later step."""
        return False

    def is_at_hand(self, x: Array) -> bool:
        """Yes: all of them are."""
        return True

    def load(self, x: Array, index: Sequence[int]) -> Scalar:
        """An element."""
        return x(index)

    def stop(self) -> None:
        """Nothing: an index out of range has been raised."""

    def store(self, out: Array, index: Sequence[int], scalar: Scalar) -> None:
        """Write an element."""
        out.data[tuple(int(i) for i in index)] = scalar

    def copy(self, out: Array, x: Array) -> None:
        """Write all elements."""
        out.data[...] = x.data
