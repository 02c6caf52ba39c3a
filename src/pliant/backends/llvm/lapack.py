"""Factorisations and triangular systems by LAPACK, on memory as it lies; those of small matrices are in the program.

Our matrices are row-major, LAPACK's column-major: it sees each one transposed. For Cholesky and
triangular systems that only exchanges sides; an LU factorisation is made from a transposed copy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from pliant.backends.llvm.blas import LETTER, address_of, call_text
from pliant.backends.llvm.lanes import place_of
from pliant.backends.llvm.small_matrices import emit_small, is_inside
from pliant.core.ir import Op
from pliant.core.types import Type
from pliant.kernel.ir import Affine, Buffer, Routine, Var
from pliant.ops.solve import Lu
from pliant.ops.triangular import Cholesky, TriangularSolve

if TYPE_CHECKING:
    from pliant.backends.llvm.emit import Emitter


def who_has(op: Op, types: tuple[Type, ...]) -> str:
    """Who has code for a primitive on operands of these types: the program itself, LAPACK, or nobody."""
    if not all(t.dtype in LETTER and max(t.shape, default=0) < 2**31 for t in types):
        return ""
    if is_inside(op, types):
        return "in the program"
    return "LAPACK" if isinstance(op, Cholesky | TriangularSolve | Lu) else ""


def emit_routine(e: Emitter, step: Routine) -> None:
    """The code for each matrix of the stack, and a report of the first step that has no answer."""
    if emit_matrices(e, step):
        e.end_step()


def is_called(step: Routine) -> bool:
    """Whether a step calls LAPACK."""
    return not is_inside(step.node.op, [a.type for a in step.args])


def emit_matrices(e: Emitter, step: Routine, part: tuple[str, str] | None = None) -> bool:
    """The code for each matrix of the stack, or of a part of its first axis; whether there is any."""
    lead, n = step.stack, step.args[0].type.shape[-1]
    if 0 in (*lead, n) or 0 in step.outs[0].type.shape:
        return False
    loops = tuple([Var(extent) for extent in lead])
    if part:
        e.part[loops[0]] = part
    if is_called(step):
        e.begin_step(())
        e.nested(loops, lambda: ROUTINES[type(step.node.op)](e, step, loops, n))
    else:
        e.begin_step(step.outs)
        emit_small(e, step, loops)
    return True


def _cholesky(e: Emitter, step: Routine, loops: Sequence[Var], n: int) -> None:
    """The upper triangle that LAPACK makes is our lower one; the other is cleared."""
    (a,), (out,) = step.args, step.outs
    _each(e, n, n, lambda i, j: e.store(out, place_of(out, loops, i, j), e.load(a, place_of(a, loops, i, j))))
    info = _call(e, "potrf", a.type.dtype, "U", n, e.address(out, place_of(out, loops)), n, "info")
    zero = "0x0000000000000000"
    empty = (zero, zero) if a.type.kind == "c" else zero
    _above(e, n, lambda i, j: e.store(out, place_of(out, loops, i, j), empty))
    e.fails(step.site, e.op(f"icmp ne {info[1]} {info[0]}, 0"))


def _triangular_solve(e: Emitter, step: Routine, loops: Sequence[Var], n: int) -> None:
    """a·x = b is xᵀ·aᵀ = bᵀ, and the memory of a, x and b holds what LAPACK reads as aᵀ, xᵀ and bᵀ."""
    (a, b), (out,) = step.args, step.outs
    op, k, dtype = step.node.op, out.type.shape[-1], a.type.dtype
    assert isinstance(op, TriangularSolve)
    if not op.unit:
        e.fails(step.site, _has_zero(e, a, loops, n))
    _each(e, n, k, lambda i, j: e.store(out, place_of(out, loops, i, j), e.load(b, place_of(b, loops, i, j))))
    flags = "R", "U" if op.lower else "L", "C" if op.adjoint else "N", "U" if op.unit else "N"
    places = e.address(a, place_of(a, loops)), e.address(out, place_of(out, loops))
    e.line(call_text(e, f"{LETTER[dtype]}trsm", dtype, [*flags, k, n, 1.0, places[0], n, places[1], k]))


def _lu(e: Emitter, step: Routine, loops: Sequence[Var], n: int) -> None:
    """Transposed copy, factorisation in place, transposed back; interchanges become a permutation."""
    (a,), (lu, perm) = step.args, step.outs
    _each(e, n, n, lambda i, j: e.store(lu, place_of(lu, loops, j, i), e.load(a, place_of(a, loops, i, j))))
    ints = address_of(f"{LETTER[a.type.dtype]}getrf")[1]
    pivots = e.alloca(f"[{n} x {ints}]")
    _call(e, "getrf", a.type.dtype, n, n, e.address(lu, place_of(lu, loops)), n, pivots, "info")

    def exchange(i: Affine, j: Affine) -> None:
        above, below = place_of(lu, loops, i, j), place_of(lu, loops, j, i)
        x, y = e.load(lu, above), e.load(lu, below)
        e.store(lu, above, y)
        e.store(lu, below, x)

    _above(e, n, exchange)
    _permutation(e, perm, place_of(perm, loops), pivots, ints, n)


def _permutation(e: Emitter, perm: Buffer, start: Affine, pivots: str, ints: str, n: int) -> None:
    """The order of the rows after LAPACK's interchanges, each with a row further down."""
    every, again = Var(n), Var(n)
    e.nested((every,), lambda: e.store(perm, start + Affine(0, ((every, 1),)), e.affine(Affine(0, ((every, 1),)))))
    base = e.address(perm, start)

    def swap() -> None:
        row = e.affine(Affine(0, ((again, 1),)))
        pivot = e.op(f"load {ints}, ptr {e.op(f'getelementptr {ints}, ptr {pivots}, i64 {row}')}")
        pivot = pivot if ints == "i64" else e.op(f"sext {ints} {pivot} to i64")
        other = e.op(f"sub i64 {pivot}, 1")
        p, q = (e.op(f"getelementptr i64, ptr {base}, i64 {i}") for i in (row, other))
        x, y = (e.op(f"load i64, ptr {at}") for at in (p, q))
        e.line(f"store i64 {y}, ptr {p}")
        e.line(f"store i64 {x}, ptr {q}")

    e.nested((again,), swap)


def _has_zero(e: Emitter, a: Buffer, loops: Sequence[Var], n: int) -> str:
    """Whether a diagonal has a zero, as an i1."""
    found, i = e.alloca("i1"), Var(n)
    e.line(f"store i1 false, ptr {found}")
    real = "float" if a.type.dtype in ("f32", "c64") else "double"

    def look() -> None:
        index = Affine(0, ((i, 1),))
        value = e.load(a, place_of(a, loops, index, index))
        parts = value if isinstance(value, tuple) else (value,)
        zero = e.op(f"load i1, ptr {found}")
        tests = [e.op(f"fcmp oeq {real} {part}, 0x0000000000000000") for part in parts]
        both = tests[0] if len(tests) == 1 else e.op(f"and i1 {tests[0]}, {tests[1]}")
        e.line(f"store i1 {e.op(f'or i1 {zero}, {both}')}, ptr {found}")

    e.nested((i,), look)
    return e.op(f"load i1, ptr {found}")


def _call(e: Emitter, name: str, dtype: str, *args: str | int) -> tuple[str, str]:
    """A routine that reports success in its argument "info": that number, and its LLVM type."""
    full = LETTER[dtype] + name
    ints = address_of(full)[1]
    info = e.alloca(ints)
    e.line(call_text(e, full, dtype, [info if a == "info" else a for a in args]))
    return e.op(f"load {ints}, ptr {info}"), ints


def _each(e: Emitter, m: int, n: int, body: Callable[[Affine, Affine], None]) -> None:
    """For every row and column."""
    i, j = Var(m), Var(n)
    e.nested((i, j), lambda: body(Affine(0, ((i, 1),)), Affine(0, ((j, 1),))))


def _above(e: Emitter, n: int, body: Callable[[Affine, Affine], None]) -> None:
    """For every row and each column after the diagonal."""
    if n < 2:
        return
    i, j = Var(n), Var(n)

    def row() -> None:
        first = e.op(f"add i64 {e.env[i]}, 1")
        e.loop(j, lambda: body(Affine(0, ((i, 1),)), Affine(0, ((j, 1),))), (first, str(n)))

    e.loop(i, row, ("0", str(n - 1)))


ROUTINES: Final[dict[type[Op], Callable[[Emitter, Routine, Sequence[Var], int], None]]] = {
    Cholesky: _cholesky,
    TriangularSolve: _triangular_solve,
    Lu: _lu,
}
"""Primitive → the emitter of its calls for one matrix."""
