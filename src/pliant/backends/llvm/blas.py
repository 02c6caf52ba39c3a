"""Matrix products: small ones in the program, others by code of our own or by BLAS, which is NumPy's own OpenBLAS if it
can be found, else SciPy's pointers."""

from __future__ import annotations

import ctypes
import glob
import math
import os
import sys
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pliant.backends.llvm.gemm import declaration, function_named, has_own
from pliant.backends.llvm.jit import symbol
from pliant.backends.llvm.own_transpose import mirror_text
from pliant.backends.llvm.products import emit_small, is_small
from pliant.backends.llvm.values import llvm_type
from pliant.kernel.ir import Affine, Product, Var
from pliant.kernel.product import stack_of

if TYPE_CHECKING:
    from pliant.backends.llvm.emit import Emitter
    from pliant.backends.llvm.module import Module

SERIAL: Final = 2**23  # multiplications that one thread does in about a millisecond
NARROW: Final = ("Haswell", "Zen", "Excavator", "Steamroller", "Piledriver", "Bulldozer", "Sandybridge")
"""OpenBLAS's names of processors without AVX-512, which it takes newer ones for that it does not know."""
CORE: Final = "OPENBLAS_CORETYPE"
"""The variable that tells OpenBLAS, while it is loaded, which processor it is on."""
LETTER: Final = {"f32": "s", "f64": "d", "c64": "c", "c128": "z"}


@lru_cache
def bundled() -> Any:
    """The OpenBLAS inside the NumPy wheel, or None. It is loaded already, so this costs nothing."""
    folder = Path(np.__file__).parent.parent / "numpy.libs"
    for name in glob.glob(os.fspath(folder / "libscipy_openblas64_*")):
        library = ctypes.CDLL(name)
        if hasattr(library, "scipy_dgemm_64_"):
            return library
    return None


@lru_cache
def address_of(name: str) -> tuple[int, str]:
    """The address of a Fortran BLAS routine, and the LLVM type of its integers."""
    library = bundled()
    if library is not None:
        found = ctypes.cast(getattr(library, f"scipy_{name}_64_"), ctypes.c_void_p).value
        assert found
        return found, "i64"
    # Importing SciPy takes 0.2 s, and is seldom needed.
    tables: list[Any] = [import_module(f"scipy.linalg.cython_{part}").__pyx_capi__ for part in ("blas", "lapack")]
    capsule = next(table[name] for table in tables if name in table)
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype, api.PyCapsule_GetName.argtypes = ctypes.c_char_p, [ctypes.py_object]
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    return api.PyCapsule_GetPointer(capsule, api.PyCapsule_GetName(capsule)), "i32"


def routine(name: str) -> tuple[str, str]:
    """The symbol of a Fortran BLAS routine, and the LLVM type of its integers."""
    address, ints = address_of(name)
    return symbol(f"pliant_{name}_{ints}", address), ints


def emit_product(e: Emitter, step: Product) -> None:
    """A product for each matrix of the stack."""
    if 0 in (*step.batch, *step.sizes[:2]):
        return
    e.begin_step([step.out])
    by_one_thread(e, is_alone(step), lambda: emit_stack(e, step, *stack_of(step)))
    e.end_step()


def emit_stack(e: Emitter, step: Product, loops: tuple[Var, ...], starts: tuple[Affine, Affine, Affine]) -> None:
    """The products that loops run over. starts: where the left and the right matrices and the products begin."""
    if is_small(step):
        e.nested(loops, lambda: emit_small(e, step, *starts))
        return

    def call() -> None:
        left, right = e.address(step.left.buffer, starts[0]), e.address(step.right.buffer, starts[1])
        emit_gemm(e, step, (left, right, e.address(step.out, starts[2])))

    e.nested(loops, call)


def is_alone(step: Product) -> bool:
    """Whether a call of BLAS had better have one thread."""
    is_by_blas = not is_small(step) and not is_own(step)
    return is_by_blas and math.prod(step.sizes) <= SERIAL and threads_of_blas() is not None


def is_own(step: Product) -> bool:
    """Whether a product is made by code of our own: not that of a matrix and a vector."""
    return min(step.sizes[:2]) > 1 and has_own(step.out.type.dtype, math.prod(step.sizes))


def by_one_thread(e: Emitter, alone: bool, body: Callable[[], None]) -> None:
    """What a body does, with BLAS on one thread if it is to be alone."""
    if not alone:
        body()
        return
    declared_threads(e.module)
    before = e.op(f"call i32 {e.module.helper('one_thread', one_thread)}()")
    body()
    e.line(f"call void {e.module.helper('as_before', as_before)}(i32 {before})")


@lru_cache
def threads_of_blas() -> tuple[str, str] | None:
    """The symbols of OpenBLAS's functions that tell and set its number of threads."""
    library = bundled()
    names = ("scipy_openblas_get_num_threads64_", "scipy_openblas_set_num_threads64_")
    if library is None or not all([hasattr(library, name) for name in names]):
        return None
    get, put = (ctypes.cast(getattr(library, name), ctypes.c_void_p).value for name in names)
    return (symbol("pliant_blas_threads", get), symbol("pliant_set_blas_threads", put)) if get and put else None


@lru_cache
def blas_text(features: frozenset[str]) -> str:
    """Which processors OpenBLAS has its products for, and what lets it do more if this one can; nothing of others."""
    library = bundled()
    name = "scipy_openblas_get_corename64_"
    if library is None or not hasattr(library, name):
        return ""
    tell = getattr(library, name)
    tell.restype, tell.argtypes = ctypes.c_char_p, []
    core = tell().decode()
    if "avx512f" not in features or core not in NARROW:
        return f"OpenBLAS for {core}"
    hint = f"without {CORE}" if CORE in os.environ else f"with {CORE}=SkylakeX"
    return f"OpenBLAS for {core} (the environment {hint} has products with AVX-512)"


def declared_threads(module: Module) -> None:
    """Declare what tells and sets BLAS's number of threads."""
    get, put = threads_of_blas() or ("", "")
    module.declared[get], module.declared[put] = f"declare i32 @{get}()", f"declare void @{put}(i32)"


def one_thread(name: str) -> str:
    """LLVM code that sets BLAS to one thread and returns how many it had.

    OpenBLAS shares even small products among threads, and then waits for all of them: on a busy
    machine a hundred times longer than one thread takes.
    """
    get, put = threads_of_blas() or ("", "")
    return f"""define internal i32 @{name}() #0 {{
  %count = call i32 @{get}()
  %many = icmp sgt i32 %count, 1
  br i1 %many, label %set, label %end
set:
  call void @{put}(i32 1)
  br label %end
end:
  ret i32 %count
}}
"""


def as_before(name: str) -> str:
    """LLVM code that gives BLAS its threads back; a call that found one leaves it at that."""
    _, put = threads_of_blas() or ("", "")
    return f"""define internal void @{name}(i32 %count) #0 {{
  %many = icmp sgt i32 %count, 1
  br i1 %many, label %set, label %end
set:
  call void @{put}(i32 %count)
  br label %end
end:
  ret void
}}
"""


def emit_gemm(e: Emitter, step: Product, at: tuple[str, str, str]) -> None:
    """One product. BLAS is column-major: it computes the transpose, rightᵀ · leftᵀ."""
    m, n, k = step.sizes
    left, right, out = at
    beta = 1.0 if step.start else 0.0
    dtype = step.out.type.dtype
    letter = LETTER[dtype]
    if n == 1 or m == 1:
        # Matrix times vector: the matrix as BLAS sees it is the transpose of ours.
        is_left = n == 1 and (m > 1 or step.left.column == 1)
        matrix, vector = (step.left, step.right) if is_left else (step.right, step.left)
        base, other = (left, right) if is_left else (right, left)
        rows, columns = (m, k) if is_left else (k, n)
        by_rows = matrix.column == 1 and (matrix.row != 1 or columns == 1)
        wanted_by_rows = is_left  # out = A x reads A's rows; out = xᵀ B reads B's columns
        trans = "T" if by_rows == wanted_by_rows else "N"
        size = (columns, rows) if by_rows else (rows, columns)
        lead = matrix.row if by_rows else matrix.column
        step_of = vector.row if is_left else vector.column
        ints = [*size, max(lead, size[0], 1), max(step_of, 1)]
        args = [trans, ints[0], ints[1], 1.0, base, ints[2], other, ints[3], beta, out, 1]
        e.line(call_text(e, f"{letter}gemv", dtype, args))
        return
    if is_own(step):
        emit_own(e, step, at)
        return
    if step.is_with_own_transpose:
        emit_syrk(e, step, left, out)
        return
    trans_right, lead_right = ("N", step.right.row) if step.right.column == 1 else ("T", step.right.column)
    trans_left, lead_left = ("N", step.left.row) if step.left.column == 1 else ("T", step.left.column)
    args = [trans_right, trans_left, n, m, k, 1.0, right, lead_right, left, lead_left, beta, out, n]
    e.line(call_text(e, f"{letter}gemm", dtype, args))


def emit_syrk(e: Emitter, step: Product, matrix: str, out: str) -> None:
    """A matrix times its own transpose: what BLAS, which is column-major, has for below the diagonal is above ours."""
    (n, _, k), dtype = step.sizes, step.out.type.dtype
    trans, lead = ("T", step.left.row) if step.left.column == 1 else ("N", step.left.column)
    e.line(call_text(e, f"{LETTER[dtype]}syrk", dtype, ["L", trans, n, k, 1.0, matrix, lead, 0.0, out, n]))
    emit_mirror(e, dtype, out, n)


def emit_mirror(e: Emitter, dtype: str, out: str, n: int) -> None:
    """What lies above the diagonal of a result, below it too."""
    mirror = e.module.helper(f"mirror_{dtype}", lambda name: mirror_text(name, dtype))
    e.call_for_effect(f"void {mirror}(ptr {out}, i64 {n})")


def emit_own(e: Emitter, step: Product, at: tuple[str, str, str]) -> None:
    """One product by our own code."""
    dtype, (m, n, k) = step.out.type.dtype, step.sizes
    name = function_named(f"pliant_product_{dtype}")
    e.module.declared[name] = declaration(name)
    places = [f"ptr {x}" for x in at]
    is_half = step.is_with_own_transpose
    left, right = ([f"i64 {x.row}", f"i64 {x.column}"] for x in (step.left, step.right))
    others = [f"i64 {x}" for x in (m, n, k, int(step.start is not None), int(is_half))]
    e.line(f"call void @{name}({', '.join([places[0], *left, places[1], *right, places[2], *others])})")
    if is_half:
        emit_mirror(e, dtype, at[2], n)


def call_text(e: Emitter, name: str, dtype: str, args: list[Any]) -> str:
    """A call of a Fortran routine: everything by reference, constants from globals."""
    function, ints = routine(name)
    t = llvm_type(dtype)
    places = list[str]()
    for a in args:
        if isinstance(a, int):
            places.append(e.module.constant(f"{ints} {a}"))
        elif isinstance(a, float):
            number = "0x3FF0000000000000" if a else "0x0000000000000000"
            both = f"[2 x {t}] [{t} {number}, {t} 0x0000000000000000]"
            places.append(e.module.constant(both if dtype[0] == "c" else f"{t} {number}"))
        elif len(a) == 1:
            places.append(e.module.constant(f"i8 {ord(a)}"))
        else:
            places.append(f"ptr {a}")
    e.module.declared[function] = f"declare void @{function}({', '.join(['ptr'] * len(places))})"
    return f"call void @{function}({', '.join(places)})"


assert sys.maxsize > 2**32, "Pliant's native backend needs a 64-bit Python"
