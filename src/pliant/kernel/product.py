"""Contractions that are products of matrices, or stacks of these, of memory as it lies."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import replace
from itertools import pairwise
from math import prod

from pliant.core.ir import Node, Value
from pliant.kernel.cost import FUNCTION, price_of
from pliant.kernel.ir import Affine, Buffer, Load, Matrix, Product, Region, Var, index_of, strides_of
from pliant.kernel.record import Recorder
from pliant.ops.base import Elementwise, Movement
from pliant.ops.contract import Dot
from pliant.ops.shape import permute

SMALLEST = 2048  # multiplications; below, a loop in the program is faster than a call
FEWEST = 32  # terms of each element, where a matrix is multiplied by a vector
LEAST = 1 << 15  # multiplications of each matrix of a stack by a vector


def product_of(node: Node, materialise: Callable[[Value], Buffer], known: Container[Value]) -> Product | None:
    """A contraction as products, its operands brought into memory, where some values are known to be; None if it is to
    be a loop."""
    if not is_product(node):
        return None
    assert isinstance(node.op, Dot)
    x, y = node.args
    return product(node.op, x, y, Buffer(node.types[0], node.values[0]), materialise, known)


def is_product(node: Node) -> bool:
    """Whether a node is a contraction large enough for a call, of a dtype that BLAS has."""
    op = node.op
    if not isinstance(op, Dot) or node.types[0].dtype not in ("f32", "f64", "c64", "c128"):
        return False
    b, m, n, k = op.sizes(*node.args)
    if b * m * n * k < SMALLEST or max(m, n, k) > 2**31 - 1:
        return False
    if m == n == 1:
        return False  # in a loop several sums run side by side, and what makes the vectors runs beside them
    if min(m, n) == 1:
        matrix = node.args[0] if n == 1 else node.args[1]
        return k > FEWEST and (b == 1 or m * n * k >= LEAST) and not is_made_on_the_way(matrix)
    return max(m, n) * k >= 64 or node.types[0].kind == "f"


def lying(value: Value) -> Value:
    """The value that movements show a part of."""
    while isinstance(value.op, Movement):
        (value,) = value.args
    return value


def is_made_on_the_way(value: Value) -> bool:
    """Whether a few simple operations make a value, or a smaller array's elements are repeated in it, as in windows: it
    had better not go to memory if it is read once."""
    base = value
    while isinstance(base.op, Movement):
        (base,) = base.args
        if base.type.size < value.type.size:
            return True
    cost, todo = 0, [value]
    while todo and cost < FUNCTION:
        v = todo.pop()
        if isinstance(v.op, Elementwise):
            cost += price_of(v.op)
            todo += [a for a in v.args if a.shape]
    return 0 < cost < FUNCTION


def product(
    op: Dot, x: Value, y: Value, out: Buffer, materialise: Callable[[Value], Buffer], known: Container[Value]
) -> Product:
    """A contraction as products that leave their results in a buffer."""
    _, m, n, k = op.sizes(x, y)
    free_x, free_y = op.free(x, y)
    left = _matrix(x, op.batch_axes[0], free_x, op.contract[0], materialise, known)
    right = _matrix(y, op.batch_axes[1], op.contract[1], free_y, materialise, known)
    batch = tuple(x.shape[a] for a in op.batch_axes[0])
    return Product(left, right, out, batch, (m, n, k))


def stack_of(step: Product) -> tuple[tuple[Var, ...], tuple[Affine, Affine, Affine]]:
    """Loops over a stack of products, and where the left and the right matrices and the products begin."""
    loops, (m, n, _) = tuple([Var(b) for b in step.batch]), step.sizes
    strides = [s * m * n for s in strides_of(step.batch)]
    left, right = (Affine(a.offset, terms_of(loops, a.batch)) for a in (step.left, step.right))
    return loops, (left, right, Affine(0, terms_of(loops, strides)))


def terms_of(loops: Sequence[Var], strides: Sequence[int]) -> tuple[tuple[Var, int], ...]:
    """Loops with their strides, those that move."""
    return tuple([(v, s) for v, s in zip(loops, strides, strict=True) if s])


def _matrix(
    value: Value,
    batch: Sequence[int],
    rows: Sequence[int],
    columns: Sequence[int],
    materialise: Callable[[Value], Buffer],
    known: Container[Value],
) -> Matrix:
    """A value as a stack of matrices without copying, or after being brought into memory, in
    another order of axes if need be."""
    base = value
    while isinstance(base.op, Movement) and base not in known:
        (base,) = base.args
    views = (base, value) if base is not value else (value,)
    for origin in views:
        matrix = _view(value, Buffer(origin.type, origin), batch, rows, columns)
        if matrix:
            return replace(matrix, buffer=materialise(origin))
    order = (*batch, *rows, *columns)
    assert order != tuple(range(len(order))), "a row-major array is not a matrix"
    b, m = len(batch), len(batch) + len(rows)
    return _matrix(permute(value, order), range(b), range(b, m), range(m, len(order)), materialise, known)


def _view(
    value: Value, buffer: Buffer, batch: Sequence[int], rows: Sequence[int], columns: Sequence[int]
) -> Matrix | None:
    """The matrices if the value is a regular view of a buffer."""
    found = _strides(value, buffer)
    if found is None:
        return None
    start, strides = found
    row = _merged([strides[a] for a in rows], [value.shape[a] for a in rows])
    column = _merged([strides[a] for a in columns], [value.shape[a] for a in columns])
    if row is None or column is None or row < 0 or column < 0:
        return None
    m, n = (prod(value.shape[a] for a in axes) for axes in (rows, columns))
    # BLAS wants unit stride along one side, and rows that do not overlap along the other.
    if m == 1:
        row = max(n, 1) if column == 1 else 1
    elif n == 1:
        column = max(m, 1) if row == 1 else 1
    if not ((column == 1 and row >= n) or (row == 1 and column >= m)):
        return None
    return Matrix(buffer, start, tuple(strides[a] for a in batch), row, column)


def _strides(value: Value, buffer: Buffer) -> tuple[int, list[int]] | None:
    """Where a regular view of a buffer begins, and its strides, in elements."""
    assert buffer.value
    loops = [Var(n) for n in value.shape]
    recorder = Recorder({buffer.value: buffer}, [], Region(None))
    scalar = recorder.pull(value, index_of([Affine(0, ((v, 1),)) for v in loops]))
    if not isinstance(scalar, Load) or not all(isinstance(a, Var) for a, _ in scalar.offset.terms):
        return None
    return scalar.offset.start, [scalar.offset.factor(v) for v in loops]


def _merged(strides: Sequence[int], extents: Sequence[int]) -> int | None:
    """The stride of several axes walked as one, if there is one."""
    wide = [(s, n) for s, n in zip(strides, extents, strict=True) if n != 1]
    for (outer, _), (inner, n) in pairwise(wide):
        if outer != inner * n:
            return None
    return wide[-1][0] if wide else 1
