"""Matrix products of any size: one function for each dtype, made once in a process.

    for each block of terms:
        for each block of rows:
            copy the block of the left operand, if its rows are not contiguous
            for each block of columns:
                copy the block of the right operand, unless few rows need it
                all rows times these columns (`gemm_kernel`)

Each element is the sum of its terms in their order, block by block of terms, however many threads there are: large
products run in parts, which are ranges of rows or of columns that depend on extents alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, final

from pliant.backends.llvm import gemm_kernel
from pliant.backends.llvm.emit import Emitter
from pliant.backends.llvm.gemm_kernel import kernel_text, most_columns
from pliant.backends.llvm.jit import SECOND, Code, host_target, symbol
from pliant.backends.llvm.lanes import BYTES, Lanes
from pliant.backends.llvm.made_once import made_once
from pliant.backends.llvm.module import Module
from pliant.backends.llvm.pool import parallel
from pliant.backends.llvm.tiles import turner_text
from pliant.backends.llvm.values import llvm_type
from pliant.kernel.cost import SHARED
from pliant.kernel.ir import Var

TERMS: Final = 256
"""Terms of a block at most."""
LEFT: Final = 3 << 16
"""Bytes of a block of the left operand, where it is copied."""
LINE: Final = 64
"""Bytes of a line of cache: the columns of that copy begin in others each."""
FEW: Final = 12
"""Rows that are too few for a copy of a right operand whose rows are contiguous, however these lie."""
COLLIDING: Final = 4096
"""Bytes: rows that are a multiple of this apart share a few places of the caches, and are copied."""
MOST: Final = {32: 1 << 23}
"""Bytes of a vector → multiplications beyond which BLAS, which copies both operands, is quicker."""
PARTS: Final = 32
"""Parts at most."""
ROWS: Final = 96
GRAIN: Final = 24
"""Rows of a part at least, and what they are a multiple of: each part copies the right operand."""
ARGUMENTS: Final = {
    "left": "ptr", "left.row": "i64", "left.column": "i64", "right": "ptr", "right.row": "i64", "right.column": "i64",
    "out": "ptr", "rows": "i64", "columns": "i64", "terms": "i64", "more": "i64", "upper": "i64",
}  # fmt: skip
SHARES: Final = {"down": "i64", "across": "i64"}
"""Rows and columns of a part, which come after the arguments in the frame of all parts."""


def has_own(dtype: str, work: int = 1) -> bool:
    """Whether products of a dtype, with so many multiplications, are as fast here as any library's."""
    width = host_target().widths[-1]
    return dtype in BYTES and width in gemm_kernel.SHAPES and work <= MOST.get(width, work)


def function_named(name: str) -> str:
    """The name under which code finds a product's function, as `pliant_product_f64`; empty if there is none."""
    dtype = name.rpartition("_")[2]
    return symbol(name, _code(dtype).address("product")) if has_own(dtype) else ""


def declaration(name: str) -> str:
    """How a program declares the function. Strides are in elements, and one of each operand's is 1; the result is
    contiguous; no extent is 0. more: whether to add to what is there; upper: whether only what is on and above the
    diagonal is wanted."""
    return f"declare void @{name}({', '.join(ARGUMENTS.values())}) nounwind"


@made_once
def _code(dtype: str) -> Code:
    return Code(text_of(dtype))


def text_of(dtype: str) -> str:
    """The modules, which are compiled at the same time, of which others see `product`."""
    width, size = host_target().widths[-1], BYTES[dtype]
    columns = most_columns(dtype, width)
    parameters = ", ".join([f"{t} %{x}" for x, t in ARGUMENTS.items()])
    kernels = {shape.name: shape for shape in gemm_kernel.SHAPES[width]}

    def frame(module: Module) -> list[str]:
        module.declared["pool"] = f"declare void @{parallel()}(ptr, ptr, ptr, i64)"
        module.declared |= {name: f"declare void @{name}({gemm_kernel.KINDS})" for name in kernels}
        return [
            entry_text(Emitter(module, "product", parameters), columns),
            probed(Part(Emitter(module, "part", "ptr %table, ptr %frame, i64 %part"), dtype, width).text()),
            copy_text(Lanes(Emitter(module, "copied", COPY), dtype, width // size)),
            turner_text("turned", size, columns),
        ]

    def kernel(name: str, module: Module) -> list[str]:
        return [kernel_text(Emitter(module, name, gemm_kernel.PARAMETERS), dtype, kernels[name], width)]

    return SECOND.join(["", *[module_of(write) for write in (frame, *[partial(kernel, name) for name in kernels])]])


def probed(text: str) -> str:
    """A function that touches the pages of its local memory in order: a thread whose stack is too short for it ends
    there, and nothing of others is written."""
    return text.replace(" #0 {", ' "probe-stack"="inline-asm" #0 {', 1)


def module_of(write: Callable[[Module], list[str]]) -> str:
    """A module with some functions, of which the first is seen by the others."""
    target = host_target()
    module = Module((), frozenset(), target.widths)
    first, *others = write(module)
    texts = [first.replace("define internal", "define", 1), *others]
    for n, text in enumerate(texts):
        module.written[str(n)] = "", text
    return module.text([], target.triple, (target.cpu, target.features)).split(SECOND)[1]


def entry_text(e: Emitter, most: int) -> str:
    """The function that programs call. most: the columns that are computed at a time."""
    frame = e.alloca(f"[{len(ARGUMENTS) + len(SHARES)} x i64], align 64")
    work = mul(e, mul(e, "%rows", "%columns"), "%terms")
    is_large = e.op(f"icmp uge i64 {work}, {SHARED}")
    is_tall = e.op(f"or i1 {e.op('icmp uge i64 %rows, %columns')}, {e.op('icmp ne i64 %upper, 0')}")
    is_down = e.op(f"and i1 {is_large}, {is_tall}")
    is_across = e.op(f"icmp ugt i1 {is_large}, {is_tall}")  # large, and not tall
    down = e.op(f"select i1 {is_down}, i64 {share_of(e, '%rows', ROWS, GRAIN)}, i64 %rows")
    across = e.op(f"select i1 {is_across}, i64 {share_of(e, '%columns', most, most)}, i64 %columns")
    words = [(f"%{x}", t) for x, t in ARGUMENTS.items()] + [(down, "i64"), (across, "i64")]
    for n, (x, t) in enumerate(words):
        e.line(f"store {t} {x}, ptr {e.op(f'getelementptr i64, ptr {frame}, i64 {n}')}")
    count = mul(e, quotient(e, "%rows", down), quotient(e, "%columns", across))
    is_one = e.op(f"icmp eq i64 {count}, 1")
    e.unless(e.op(f"xor i1 {is_one}, true"), lambda: e.line(f"call void @part(ptr null, ptr {frame}, i64 0)"))
    e.unless(is_one, lambda: e.line(f"call void @{parallel()}(ptr @part, ptr null, ptr {frame}, i64 {count})"))
    return e.text()


def share_of(e: Emitter, extent: str, least: int, grain: int) -> str:
    """How much of an extent each part has."""
    share = quotient(e, quotient(e, extent, str(PARTS)), str(grain))
    return e.op(f"call i64 @llvm.umax.i64(i64 {mul(e, share, str(grain))}, i64 {least})")


def quotient(e: Emitter, x: str, by: str) -> str:
    """x / by, rounded up."""
    return e.op(f"udiv i64 {add(e, x, sub(e, by, '1'))}, {by}")


def add(e: Emitter, x: str, y: str) -> str:
    """x + y."""
    return e.op(f"add nuw nsw i64 {x}, {y}")


def mul(e: Emitter, x: str, y: str) -> str:
    """x · y, of extents."""
    return e.op(f"mul nuw nsw i64 {x}, {y}")


def sub(e: Emitter, x: str, y: str) -> str:
    """x - y, which is not negative."""
    return e.op(f"sub nuw nsw i64 {x}, {y}")


def least(e: Emitter, x: str, y: str) -> str:
    """The lesser of two extents."""
    return e.op(f"call i64 @llvm.umin.i64(i64 {x}, i64 {y})")


def blocks(e: Emitter, first: str, last: str, size: str, body: Callable[[str, str], None]) -> None:
    """A body for each block of so many steps between two: its first step, and how many it has."""
    every, count = Var(2), quotient(e, sub(e, last, first), size)

    def block() -> None:
        begin = add(e, first, mul(e, e.env[every], size))
        body(begin, least(e, size, sub(e, last, begin)))

    e.unless(e.op(f"icmp eq i64 {count}, 0"), lambda: e.loop(every, block, ("0", count), e.module.not_unrolled()))


COPY: Final = "ptr noalias readonly %from, i64 %from.row, ptr noalias %to, i64 %to.row, i64 %rows, i64 %columns"


def copy_text(v: Lanes) -> str:
    """The function that copies rows."""
    e, t = v.e, llvm_type(v.dtype)
    row = Var(2)

    def vector(column: str, count: str) -> None:
        places = [
            e.op(f"getelementptr {t}, ptr %{x}, i64 {add(e, column, mul(e, e.env[row], f'%{x}.row'))}")
            for x in ("from", "to")
        ]
        mask = v.below(count)
        v.store_some(places[1], v.load_some(places[0], mask), mask)

    e.loop(row, lambda: blocks(e, "0", "%columns", str(v.count), vector), ("0", "%rows"), e.module.not_unrolled())
    return e.text()


@final
class Part:
    """The function of a part: some rows and columns of the result."""

    def __init__(self, e: Emitter, dtype: str, width: int) -> None:
        self.e, self.dtype, self.t, self.width = e, dtype, llvm_type(dtype), width
        self.lanes = width // BYTES[dtype]
        self.columns = most_columns(dtype, width)
        self.rows = LEFT // TERMS // BYTES[dtype]  # of a block of the left operand that is copied
        self.pitch = self.rows + LINE // BYTES[dtype]
        self.left = e.alloca(f"[{TERMS * self.pitch} x {self.t}], align 64")
        self.right = e.alloca(f"[{TERMS * self.columns} x {self.t}], align 64")
        names = [*(ARGUMENTS | SHARES).items()]
        self.given = {x: e.op(f"load {t}, ptr {self.at('%frame', n, 'i64')}") for n, (x, t) in enumerate(names)}

    def text(self) -> str:
        """All of it."""
        e, given = self.e, self.given
        width = quotient(e, given["columns"], given["across"])
        top = mul(e, e.op(f"udiv i64 %part, {width}"), given["down"])
        begin = mul(e, e.op(f"urem i64 %part, {width}"), given["across"])
        bottom, end = (
            least(e, given[extent], add(e, first, given[share]))
            for extent, first, share in (("rows", top, "down"), ("columns", begin, "across"))
        )
        terms = given["terms"]
        share = quotient(e, terms, quotient(e, terms, str(TERMS)))
        self.begin, self.end = begin, end
        # A left operand whose rows are not contiguous is copied, if several blocks of columns read its elements.
        is_by_columns = e.op(f"icmp ne i64 {given['left.column']}, 1")
        is_wide = e.op(f"icmp ugt i64 {sub(e, end, begin)}, {self.columns}")
        self.is_copied = e.op(f"and i1 {is_by_columns}, {is_wide}")
        some = e.op(f"select i1 {self.is_copied}, i64 {self.rows}, i64 {sub(e, bottom, top)}")
        blocks(
            e, "0", terms, share, lambda t, count: blocks(e, top, bottom, some, lambda i, n: self.block(t, count, i, n))
        )
        return e.text()

    def block(self, term: str, terms: str, top: str, rows: str) -> None:
        """Some terms of some rows, for all columns."""
        e, given = self.e, self.given
        stride, step = given["left.row"], given["left.column"]
        left = self.at(given["left"], self.index((top, stride), (term, step)))
        copy = f"call void @copied(ptr {left}, i64 {step}, ptr {self.left}, i64 {self.pitch}, i64 {terms}, i64 {rows})"
        e.unless(e.op(f"xor i1 {self.is_copied}, true"), lambda: e.line(copy))
        chosen = [("ptr", self.left, left), ("i64", "1", stride), ("i64", str(self.pitch), step)]
        matrix = [f"{t} {e.op(f'select i1 {self.is_copied}, {t} {a}, {t} {b}')}" for t, a, b in chosen]
        # The first block of terms adds to what is there if that is wanted, the others always.
        more = e.op(f"icmp ne i64 {add(e, given['more'], term)}, 0")
        blocks(
            e, self.begin, self.end, str(self.columns),
            lambda column, count: self.panel(matrix, more, (term, top, column), (terms, rows, count)),
        )  # fmt: skip

    def panel(self, left: Sequence[str], more: str, places: Sequence[str], extents: Sequence[str]) -> None:
        """Some terms, rows and columns. places, extents: of these three."""
        e, given, (term, top, column), (terms, rows, columns) = self.e, self.given, places, extents
        above = e.op(f"call i64 @llvm.usub.sat.i64(i64 {add(e, column, columns)}, i64 {top})")
        is_whole = e.op(f"icmp eq i64 {given['upper']}, 0")
        rows = e.op(f"select i1 {is_whole}, i64 {rows}, i64 {least(e, rows, above)}")
        row, step = given["right.row"], given["right.column"]
        right = self.at(given["right"], self.index((term, row), (column, step)))
        is_contiguous = e.op(f"icmp eq i64 {step}, 1")
        is_apart = e.op(f"icmp ne i64 {e.op(f'urem i64 {row}, {COLLIDING // BYTES[self.dtype]}')}, 0")
        is_cheap = e.op(f"or i1 {is_apart}, {e.op(f'icmp ule i64 {rows}, {FEW}')}")
        is_as_it_is = e.op(f"and i1 {is_contiguous}, {is_cheap}")
        pitch = self.columns
        copied = f"call void @copied(ptr {right}, i64 {row}, ptr {self.right}, i64 {pitch}, i64 {terms}, i64 {columns})"
        turned = f"call void @turned(ptr {right}, i64 {step}, ptr {self.right}, i64 {columns}, i64 {terms})"

        def all_rows() -> None:
            e.unless(is_as_it_is, lambda: self.either(is_contiguous, copied, turned))
            chosen = [("ptr", right, self.right), ("i64", row, str(pitch))]
            matrix = [f"{t} {e.op(f'select i1 {is_as_it_is}, {t} {a}, {t} {b}')}" for t, a, b in chosen]
            out = self.at(given["out"], self.index((top, given["columns"]), (column, "1")))
            extra = [f"ptr {out}", *[f"i64 {x}" for x in (given["columns"], rows, columns, terms)], f"i1 {more}"]
            self.kernels(columns, ", ".join([*left, *matrix, *extra]))

        e.unless(e.op(f"icmp eq i64 {rows}, 0"), all_rows)

    def either(self, condition: str, yes: str, no: str) -> None:
        """One of two instructions."""
        e = self.e
        e.unless(condition, lambda: e.line(no))
        e.unless(e.op(f"xor i1 {condition}, true"), lambda: e.line(yes))

    def kernels(self, columns: str, args: str) -> None:
        """The call for as many vectors as a row has."""
        e, vectors = self.e, quotient(self.e, columns, str(self.lanes))
        is_whole = e.op(f"icmp eq i64 {columns}, {self.columns}")
        has_whole = any([shape.is_whole for shape in gemm_kernel.SHAPES[self.width]])
        for shape in gemm_kernel.SHAPES[self.width]:
            is_other = e.op(f"icmp ne i64 {vectors}, {shape.vectors}")
            if shape.is_whole:
                is_other = e.op(f"xor i1 {is_whole}, true")
            elif has_whole:
                is_other = e.op(f"or i1 {is_other}, {is_whole}")
            e.unless(is_other, lambda shape=shape: e.line(f"call void @{shape.name}({args})"))

    def index(self, *terms: tuple[str, str]) -> str:
        """The sum of products."""
        return add(self.e, *[mul(self.e, x, y) for x, y in terms])

    def at(self, base: str, index: str | int, type: str = "") -> str:
        """The address of an element."""
        return self.e.op(f"getelementptr {type or self.t}, ptr {base}, i64 {index}")
