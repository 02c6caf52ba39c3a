"""What linear algebra shares: the family of its primitives, and small matrices of a structure."""

from __future__ import annotations

from typing import Any

from pliant.core.ir import Op, Value, const
from pliant.core.types import Type, real_dtype
from pliant.errors import DTypeError, ShapeError
from pliant.ops.base import KINDS, Safe
from pliant.ops.compare import equal, less_equal
from pliant.ops.complex import conj
from pliant.ops.einsum import diagonal, matmul
from pliant.ops.elementwise import convert
from pliant.ops.reduce import reduce_sum
from pliant.ops.select import select
from pliant.ops.shape import broadcast, iota, lift, move_axis, permute, reshape, slice_axis


class Matrices(Op):
    """Acts on the matrices in the last two axes; leading axes are a batch, the same for all operands."""

    def matrices(self, *xs: Type, square: bool = False) -> tuple[tuple[int, ...], int, int]:
        """The batch shape, rows and columns of the first operand, having checked all of them."""
        a = xs[0]
        if any(x.dtype != a.dtype for x in xs):
            raise DTypeError(f"{self.name}: {' and '.join(map(str, xs))} have different dtypes")
        if a.kind not in "fc" or a.dtype == "f16":
            raise DTypeError(f"{self.name} is not defined for {KINDS[a.kind]}s: {a}", hint="f32 f64 c64 c128 will do")
        if any(x.rank < 2 for x in xs):
            raise ShapeError(f"{self.name}: {' and '.join(map(str, xs))}: a matrix has at least two axes")
        if any(x.shape[:-2] != a.shape[:-2] for x in xs):
            raise ShapeError(f"{self.name}: {' and '.join(map(str, xs))} have different batch axes")
        if square and a.shape[-1] != a.shape[-2]:
            raise ShapeError(f"{self.name}: {a} is not square in its last two axes")
        return a.shape[:-2], a.shape[-2], a.shape[-1]

    def batch(self, n: int, batched: tuple[bool, ...], *xs: Value) -> Any:
        return self.apply(*(x if b else lift(x, n) for x, b in zip(xs, batched, strict=True)))


class Factored(Matrices):
    """Of matrices that may have no such factors, inverse or values, which raises LinAlgError."""

    def somewhere(self, *types: Type) -> dict[int, Safe]:
        """The matrices, and those that have all of these."""
        return {0: identities}


class Solver(Factored):
    """Solves a·x = b for the columns of b: `t[…, n, n], t[…, n, k] → t[…, n, k]`. Linear in b."""

    def infer(self, a: Type, b: Type) -> Type:
        _, n, _ = self.matrices(a, b, square=True)
        if b.shape[-2] != n:
            raise ShapeError(f"{self.name}: {a} and {b} do not fit: a has {n} rows")
        return b

    def batch(self, n: int, batched: tuple[bool, ...], *xs: Value) -> Value:
        a, b = xs
        if batched[0]:
            return self(a, b if batched[1] else lift(b, n))
        # One matrix, many right sides: they become columns, so that it is factored once.
        m, k = b.shape[-2:]
        columns = move_axis(b, 0, -2)
        x = self(a, reshape(columns, (*b.shape[1:-2], m, n * k)))
        return move_axis(reshape(x, (*b.shape[1:-2], m, n, k)), -2, 0)


def swap(x: Value) -> Value:
    """Each matrix transposed."""
    rank = x.type.rank
    return permute(x, (*range(rank - 2), rank - 1, rank - 2))


def adjoint(x: Value) -> Value:
    """Each matrix transposed and conjugated."""
    return conj(swap(x))


def products(*xs: Value) -> Value:
    """The matrix product of two or more values, from the left."""
    y = xs[0]
    for x in xs[1:]:
        y = matmul(y, x)
    return y


def real_part(x: Value) -> Value:
    """The real part, in the real dtype; a real value unchanged."""
    return convert(x, real_dtype(x.dtype))


def diagonals(x: Value) -> Value:
    """The main diagonal of each matrix: `t[…, m, n] → t[…, min(m, n)]`."""
    k = min(x.shape[-2:])
    return diagonal(corner(x, k, k), x.type.rank - 2, x.type.rank - 1)


def trace_of(x: Value) -> Value:
    """The sum of each main diagonal: `t[…, n, n] → t[…]`."""
    return reduce_sum(diagonals(x), (x.type.rank - 2,))


def corner(x: Value, rows: int, columns: int) -> Value:
    """The top left part of each matrix."""
    return part(x, (0, rows), (0, columns))


def part(x: Value, rows: tuple[int, int], columns: tuple[int, int]) -> Value:
    """Rows and columns from the first to before the second number, of each matrix."""
    rank = x.type.rank
    x = slice_axis(x, rank - 2, rows[0], rows[1] - rows[0])
    return slice_axis(x, rank - 1, columns[0], columns[1] - columns[0])


def scale_rows(s: Value, x: Value) -> Value:
    """diag(s)·x: row i of each matrix times `s[…, i]`, which may be real where x is complex."""
    return broadcast(convert(s, x.dtype), x.shape, tuple(range(s.type.rank))) * x


def scale_columns(x: Value, s: Value) -> Value:
    """x·diag(s): column j of each matrix times `s[…, j]`, which may be real where x is complex."""
    rank = x.type.rank
    return x * broadcast(convert(s, x.dtype), x.shape, (*range(rank - 2), rank - 1))


def index_grid(shape: tuple[int, ...]) -> tuple[Value, Value]:
    """The row and the column index of every element of matrices."""
    rank = len(shape)
    return broadcast(iota(shape[-2]), shape, (rank - 2,)), broadcast(iota(shape[-1]), shape, (rank - 1,))


def tril(x: Value, k: int = 0) -> Value:
    """Each matrix with zeros above its k-th diagonal."""
    rows, columns = index_grid(x.shape)
    return select(less_equal(columns, rows + k), x, const(0, x.dtype))


def triu(x: Value, k: int = 0) -> Value:
    """Each matrix with zeros below its k-th diagonal."""
    rows, columns = index_grid(x.shape)
    return select(less_equal(rows + k, columns), x, const(0, x.dtype))


def on_diagonal(shape: tuple[int, ...]) -> Value:
    """Where the row and the column index agree, as bools."""
    return equal(*index_grid(shape))


def eye(n: int, dtype: str, lead: tuple[int, ...] = ()) -> Value:
    """Identity matrices: `t[lead, n, n]`."""
    return convert(on_diagonal((*lead, n, n)), dtype)


def identities(type: Type) -> Value:
    """Identity matrices, or those with ones on the diagonal and more rows or columns."""
    return convert(on_diagonal(type.shape), type.dtype)


def diagonal_matrix(x: Value) -> Value:
    """Matrices with the last axis of x on their diagonals: `t[…, n] → t[…, n, n]`."""
    rank = x.type.rank
    full = broadcast(x, (*x.shape, x.shape[-1]), tuple(range(rank)))
    return select(on_diagonal(full.shape), full, const(0, x.dtype))


def quotient(x: Value, y: Value) -> Value:
    """x / y, and 0 where y is 0; so are its derivatives."""
    zero = equal(y, broadcast(const(0, y.dtype), y.shape, ()))
    one, nil = const(1, y.dtype), const(0, x.dtype)
    return select(zero, nil, x / select(zero, one, y))


def symmetric(x: Value) -> Value:
    """(x + xᴴ)/2 of each matrix."""
    return 0.5 * (x + adjoint(x))


def columns(b: Value) -> Value:
    """Vectors as matrices of one column."""
    return broadcast(b, (*b.shape, 1), tuple(range(b.type.rank)))


RULES = ()
