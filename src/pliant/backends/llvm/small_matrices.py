"""Factorisations and triangular systems of small real matrices, written out: all is in registers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Final, TypeAlias

from pliant.backends.llvm.cached_matrices import LOOPED, is_cached
from pliant.backends.llvm.lanes import BYTES, Lanes, place_of
from pliant.backends.llvm.minors import cofactors, determinant
from pliant.backends.llvm.squares import SIDE, SQUARE
from pliant.backends.llvm.stacks import Row, Stack, emit_stack, local_for
from pliant.backends.llvm.values import float_text, llvm_type
from pliant.core.ir import Op
from pliant.core.types import Type
from pliant.kernel.ir import Affine, Buffer, Routine, Var
from pliant.ops.definite import Definite
from pliant.ops.solve import Cofactor, Det, Lu
from pliant.ops.triangular import Cholesky, TriangularSolve

if TYPE_CHECKING:
    from pliant.backends.llvm.emit import Emitter

LARGEST: Final = 8  # rows; larger matrices go to LAPACK
LARGEST_COFACTOR: Final = 6  # rows; twice the number of minors with each row
LARGEST_SIDE_BY_SIDE: Final[dict[type[Op], int]] = {Cholesky: 8, Cofactor: 6, Det: 8, Lu: 6}
"""Rows of matrices of which several are computed at a time, element by element; of more it takes LLVM long."""
FEWEST: Final = 32  # such matrices
LARGEST_EXPANDED: Final = 3  # rows of matrices whose determinant is expanded, not that of a triangle
WIDEST: Final = 16  # right sides

Loops: TypeAlias = Sequence[Var]


def is_inside(op: Op, types: Sequence[Type]) -> bool:
    """Whether a primitive on matrices of these types is computed in the program itself."""
    return is_small(op, types) or is_cached(op, types)


def is_small(op: Op, types: Sequence[Type]) -> bool:
    """Whether a primitive on matrices of these types is written out."""
    if type(op) not in WRITTEN or types[0].dtype not in BYTES:
        return False
    most = LARGEST_COFACTOR if isinstance(op, Cofactor) else LARGEST
    return 0 < types[0].shape[-1] <= most and (len(types) == 1 or types[1].shape[-1] <= WIDEST)


def emit_small(e: Emitter, step: Routine, loops: Loops) -> None:
    """The code for every matrix of a stack, and a note if one of them has no answer."""
    rules = WRITTEN if is_small(step.node.op, [a.type for a in step.args]) else LOOPED

    def each(step: Routine) -> None:
        for condition in rules[type(step.node.op)](e, step, loops):
            e.fails(step.site, condition)

    stack, inside = _side_by_side(step, loops) if rules is WRITTEN else (None, step)

    def one() -> None:
        each(inside)

    if stack:
        rest = (lambda: each(step)) if loops[-1] in e.part else None  # there may be few
        e.nested(tuple(loops[:-1]), lambda: emit_stack(e, loops[-1], stack, one, rest))
    else:
        e.nested(tuple(loops), one)


def _side_by_side(step: Routine, loops: Loops) -> tuple[Stack | None, Routine]:
    """How matrices are computed several at a time, element by element, and the step on local memory that does it."""
    a, op = step.args[0], step.node.op
    n = a.type.shape[-1]
    if not (2 < n <= LARGEST_SIDE_BY_SIDE.get(type(op), 0) and loops and loops[-1].extent >= FEWEST):
        return None, step
    outs = [out for out in step.outs if out.type.rank == a.type.rank]
    locals = {buffer: local_for(a.type.dtype, (n, n)) for buffer in (a, *outs)}
    rows = {local: Row(buffer, _place(buffer, loops), n * n, n * n) for buffer, local in locals.items()}
    stack = Stack({locals[a]: rows[locals[a]]}, {locals[out]: rows[locals[out]] for out in outs})
    return stack, replace(step, args=(locals[a],), outs=tuple([locals.get(out, out) for out in step.outs]))


def _cholesky(e: Emitter, step: Routine, loops: Loops) -> list[str]:
    """No answer: a diagonal that is not positive; as in LAPACK, NaN is."""
    made, failures = _triangle(e, step.args[0], loops)
    for i, row in enumerate(made):
        for j, x in enumerate(row):
            e.store(step.outs[0], _place(step.outs[0], loops, i, j), x)
    return failures


def _definite(e: Emitter, step: Routine, loops: Loops) -> list[str]:
    """Whether there is an answer."""
    failed = reduce(lambda a, b: e.op(f"or i1 {a}, {b}"), _triangle(e, step.args[0], loops)[1])
    e.store(step.outs[0], place_of(step.outs[0], loops), e.op(f"xor i1 {failed}, true"))
    return []


def _triangle(e: Emitter, a: Buffer, loops: Loops) -> tuple[list[list[str]], list[str]]:
    """The Cholesky factor, element by element, and for each row whether there is none."""
    n, dtype = a.type.shape[-1], a.type.dtype
    t, zero = llvm_type(dtype), float_text(0.0, dtype)
    made, failures = [[zero] * n for _ in range(n)], list[str]()
    for i in range(n):
        for j in range(i + 1):
            rest = str(e.load(a, _place(a, loops, i, j)))
            for k in range(j):
                rest = e.op(f"fsub {t} {rest}, {e.op(f'fmul {t} {made[i][k]}, {made[j][k]}')}")
            if j < i:
                made[i][j] = e.op(f"fdiv {t} {rest}, {made[j][j]}")
            else:
                failures.append(e.op(f"fcmp ole {t} {rest}, {zero}"))
                made[i][i] = e.call(f"llvm.sqrt.{dtype}", dtype, rest)
    return made, failures


def _lu(e: Emitter, step: Routine, loops: Loops) -> list[str]:
    """The triangles, and the order of the rows."""
    (a,), (lu, perm) = step.args, step.outs
    if lu.slot == SQUARE:
        elements, order, _ = _eliminated_elements(e, a, loops)
        for i, (row, number) in enumerate(zip(elements, order, strict=True)):
            e.store(perm, _place(perm, loops, i), number)
            for j, x in enumerate(row):
                e.store(lu, _place(lu, loops, i, j), x)
        return []
    rows, order, _ = _eliminated(e, a, loops)
    lanes = Lanes(e, a.type.dtype, len(rows))
    for i, (row, number) in enumerate(zip(rows, order, strict=True)):
        lanes.store(lu, _place(lu, loops, i), row)
        e.store(perm, _place(perm, loops, i), number)
    return []


def _eliminated(e: Emitter, a: Buffer, loops: Loops) -> tuple[list[str], list[str], list[str]]:
    """The rows of both triangles, which rows of the matrix they were, and for each column whether rows were exchanged.

    Column by column, the row of the largest element being brought up.
    """
    n, t = a.type.shape[-1], llvm_type(a.type.dtype)
    lanes = Lanes(e, a.type.dtype, n)
    rows, order = [lanes.load(a, _place(a, loops, i)) for i in range(n)], [str(i) for i in range(n)]
    exchanges = list[str]()
    for k in range(n - 1):
        column = [lanes.get(row, k) for row in rows[k:]]
        here, is_exchanged = _places_of_largest(e, column, a.type.dtype)
        exchanges.append(is_exchanged)
        rows[k:] = _exchanged(e, here, rows[k:], lanes.kind)
        order[k:] = _exchanged(e, here, order[k:], "i64")
        top, *others = _exchanged(e, here, column, t)
        is_zero = e.op(f"fcmp oeq {t} {top}, {float_text(0.0, a.type.dtype)}")
        divisor = e.op(f"select i1 {is_zero}, {t} {float_text(1.0, a.type.dtype)}, {t} {top}")
        for i, x in enumerate(others, k + 1):
            factor = e.op(f"fdiv {t} {x}, {divisor}")
            rest = lanes.less_product(rows[i], lanes.all(factor), rows[k])
            rows[i] = lanes.set(lanes.joined(rows[i], rest, k + 1), k, factor)
    return rows, order, exchanges


def _eliminated_elements(e: Emitter, a: Buffer, loops: Loops) -> tuple[list[list[str]], list[str], list[str]]:
    """The same, element by element."""
    n, t, x = a.type.shape[-1], llvm_type(a.type.dtype), _elements(e, a, loops)
    order, exchanges = [str(i) for i in range(n)], list[str]()
    for k in range(n - 1):
        here, is_exchanged = _places_of_largest(e, [row[k] for row in x[k:]], a.type.dtype)
        exchanges.append(is_exchanged)
        order[k:] = _exchanged(e, here, order[k:], "i64")
        columns = [_exchanged(e, here, [row[c] for row in x[k:]], t) for c in range(n)]
        x[k:] = [list(row) for row in zip(*columns, strict=True)]
        is_zero = e.op(f"fcmp oeq {t} {x[k][k]}, {float_text(0.0, a.type.dtype)}")
        divisor = e.op(f"select i1 {is_zero}, {t} {float_text(1.0, a.type.dtype)}, {t} {x[k][k]}")
        for row in x[k + 1 :]:
            row[k] = e.op(f"fdiv {t} {row[k]}, {divisor}")
            for c in range(k + 1, n):
                row[c] = e.op(f"fsub {t} {row[c]}, {e.op(f'fmul {t} {row[k]}, {x[k][c]}')}")
    return x, order, exchanges


def _places_of_largest(e: Emitter, column: Sequence[str], dtype: str) -> tuple[list[str], str]:
    """For every element but the first, whether it is the first of the largest size, as an i1; and whether any is."""
    t = llvm_type(dtype)
    best, *sizes = [e.call(f"llvm.fabs.{dtype}", dtype, x) for x in column]
    at = "0"
    for i, size in enumerate(sizes, 1):
        larger = e.op(f"fcmp ogt {t} {size}, {best}")
        best = e.op(f"select i1 {larger}, {t} {size}, {t} {best}")
        at = e.op(f"select i1 {larger}, i64 {i}, i64 {at}")
    return [e.op(f"icmp eq i64 {at}, {i}") for i in range(1, len(column))], e.op(f"icmp ne i64 {at}, 0")


def _exchanged(e: Emitter, here: Sequence[str], values: Sequence[str], kind: str) -> list[str]:
    """Some values, the first exchanged with that one which is `here`, if one of the others is."""
    first, *others = values
    top, moved = first, list[str]()
    for is_here, x in zip(here, others, strict=True):
        top = e.op(f"select i1 {is_here}, {kind} {x}, {kind} {top}")
        moved.append(e.op(f"select i1 {is_here}, {kind} {first}, {kind} {x}"))
    return [top, *moved]


def _det(e: Emitter, step: Routine, loops: Loops) -> list[str]:
    """The product of the diagonal of a triangle, its sign changed by every exchange of rows."""
    (a,), (out,) = step.args, step.outs
    n, dtype, t = a.type.shape[-1], a.type.dtype, llvm_type(a.type.dtype)
    if n <= LARGEST_EXPANDED:
        e.store(out, _place(out, loops), determinant(e, dtype, _elements(e, a, loops)))
        return []
    if a.slot == SQUARE:
        elements, _, exchanges = _eliminated_elements(e, a, loops)
        diagonal = [row[i] for i, row in enumerate(elements)]
    else:
        rows, _, exchanges = _eliminated(e, a, loops)
        diagonal = [Lanes(e, dtype, n).get(row, i) for i, row in enumerate(rows)]
    total = diagonal[0]
    for is_exchanged, x in zip(exchanges, diagonal[1:], strict=True):
        turned = e.op(f"select i1 {is_exchanged}, {t} {e.op(f'fneg {t} {total}')}, {t} {total}")
        total = e.op(f"fmul {t} {turned}, {x}")
    e.store(out, _place(out, loops), total)
    return []


def _cofactor(e: Emitter, step: Routine, loops: Loops) -> list[str]:
    """Every cofactor."""
    (a,), (out,) = step.args, step.outs
    for i, row in enumerate(cofactors(e, a.type.dtype, _elements(e, a, loops))):
        for j, x in enumerate(row):
            e.store(out, _place(out, loops, i, j), x)
    return []


def _triangular_solve(e: Emitter, step: Routine, loops: Loops) -> list[str]:
    """Substitution, all right sides at once. No answer: a zero on the diagonal."""
    (a, b), (out,), op = step.args, step.outs, step.node.op
    assert isinstance(op, TriangularSolve)
    n, dtype = a.type.shape[-1], a.type.dtype
    lanes = Lanes(e, dtype, b.type.shape[-1])
    rows, failures = [lanes.load(b, _place(b, loops, i)) for i in range(n)], list[str]()
    forward = op.lower != op.adjoint
    order = range(n) if forward else range(n - 1, -1, -1)
    for i in order:
        for k in order[: order.index(i)]:
            place = (k, i) if op.adjoint else (i, k)
            rows[i] = lanes.less_product(rows[i], lanes.all(str(e.load(a, _place(a, loops, *place)))), rows[k])
        if not op.unit:
            x = str(e.load(a, _place(a, loops, i, i)))
            failures.append(e.op(f"fcmp oeq {llvm_type(dtype)} {x}, {float_text(0.0, dtype)}"))
            rows[i] = lanes.op("fdiv", rows[i], lanes.all(x))
        lanes.store(out, _place(out, loops, i), rows[i])
    return failures


def _elements(e: Emitter, a: Buffer, loops: Loops) -> list[list[str]]:
    """The elements of the matrix that the loops are at."""
    m, n = a.type.shape[-2:]
    return [[str(e.load(a, _place(a, loops, i, j))) for j in range(n)] for i in range(m)]


def _place(buffer: Buffer, loops: Loops, *within: int) -> Affine:
    """The offset of an element, or a row, of the matrix that the loops are at."""
    if buffer.slot == SQUARE:
        return Affine(SIDE * (within[0] * buffer.type.shape[-1] + within[1]))
    return place_of(buffer, loops, *within)


WRITTEN: Final[dict[type[Op], Callable[[Emitter, Routine, Loops], list[str]]]] = {
    Cholesky: _cholesky,
    Cofactor: _cofactor,
    Definite: _definite,
    Det: _det,
    Lu: _lu,
    TriangularSolve: _triangular_solve,
}
"""Primitive → its code for one matrix; i1s that say that there is no answer."""
