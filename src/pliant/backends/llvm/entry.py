"""The lean entry: a C-level callable that checks NumPy arrays by their struct, runs, returns.

`make_entry` writes one LLVM function with the signature of a fast-call Python builtin. Anything
that it does not expect exactly (another type, dtype, shape, a strided array, an index out of
range) goes to a Python callable with the same arguments.
"""

from __future__ import annotations

import ctypes
import sys
import sysconfig
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final, TypeAlias, final

import numpy as np

from pliant.backends.llvm.abi import LONG, Executable, numpy_dtype
from pliant.backends.llvm.capi import numpy_function, python_function
from pliant.backends.llvm.jit import Code, host_target
from pliant.backends.llvm.steps import Segment
from pliant.backends.llvm.values import llvm_type
from pliant.core.types import REAL_OF, Type

Tree: TypeAlias = "int | tuple[Any, ...] | None"

FASTCALL: Final = 0x0080
ALIGNED_CONTIGUOUS: Final = 0x0101
WRITEABLE: Final = 0x0400
EMPTY, SCALAR = 184, 60  # entries of NumPy's table of C functions: PyArray_Empty, PyArray_Scalar

# Offsets in the structs of CPython and NumPy ≥ 2; `layout_is_known` looks whether they hold.
TYPE, DATA, RANK, DIMENSIONS, DESCR, FLAGS = 8, 16, 24, 32, 56, 64
NUMBER, ITEMS = 16, 24  # of a float or complex; of a tuple


def make_entry(
    executable: Executable,
    arg_kinds: Sequence[str],
    result_tree: str | Tree,
    fallback: Callable[..., Any],
    *,
    scalars: bool = True,
    apart: Sequence[tuple[int, int]] = (),
) -> Callable[..., Any] | None:
    """A builtin that runs `executable` on its positional arguments; None if that is not possible.

    arg_kinds: for each parameter "array", or the Python type of a number: "float", "int", "bool",
    "complex". result_tree: "single", "tuple", or nested tuples of result numbers, of arguments, the
    first as -1, and of None. Results of rank 0 are NumPy scalars, or arrays if not `scalars`. apart:
    pairs of arguments that may have no byte in common. `fallback` is called with the same arguments
    whenever they are not exactly of these kinds, or not apart, and when an index is out of range.
    """
    if not layout_is_known() or not all([isinstance(s, Segment) for s in executable.order]) or not executable.code:
        return None
    count = len(executable.program.results)
    trees: dict[Any, Tree] = {"single": 0, "tuple": tuple(range(count))}
    tree = trees[result_tree] if isinstance(result_tree, str) else result_tree
    writer = _EntryWriter(executable, tuple(arg_kinds), tree, scalars, apart)
    holder = _Holder(executable, fallback, writer)
    return holder.builtin()


class _MethodDef(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]


@final
class _Holder:
    """Keeps alive what the builtin needs: it is the builtin's `self`."""

    def __init__(self, executable: Executable, fallback: Callable[..., Any], writer: _EntryWriter) -> None:
        self.executable, self.fallback = executable, fallback
        self.dtypes = writer.dtypes
        self.arena = ctypes.c_void_p(None)
        self.fail = executable.fail
        text = writer.text(id(fallback), id(self.fail), ctypes.addressof(self.arena))
        self.code = Code(text, 1, keep=False)  # it holds addresses of this process
        self.method = _MethodDef(b"pliant_entry", self.code.address("entry"), FASTCALL, None)

    def builtin(self) -> Callable[..., Any]:
        """The callable."""
        make = ctypes.pythonapi.PyCFunction_NewEx
        make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
        return make(ctypes.addressof(self.method), self, None)

    def __del__(self) -> None:
        arena = getattr(self, "arena", None)
        if arena is not None and arena.value:
            ctypes.CDLL(None).free(arena)


@final
class _EntryWriter:
    """The LLVM text of one entry."""

    def __init__(
        self, executable: Executable, kinds: tuple[str, ...], tree: Tree, scalars: bool,
        apart: Sequence[tuple[int, int]],
    ) -> None:  # fmt: skip
        self.executable, self.kinds, self.tree, self.scalars = executable, kinds, tree, scalars
        self.apart = [pair for pair in apart if all([kinds[n] == "array" for n in pair])]
        program = executable.program
        self.params = [b.type for b in program.params]
        self.results = [b.type for b in program.results]
        self.pinned = executable.pinned
        self.dtypes = {t.dtype: numpy_dtype(t) for t in (*self.params, *self.results)}
        self.lines: list[str] = []
        self.head: list[str] = []
        self.count = 0

    def op(self, text: str) -> str:
        self.count += 1
        self.lines.append(f"  %v{self.count} = {text}")
        return f"%v{self.count}"

    def local(self, text: str) -> str:
        self.count += 1
        self.head.append(f"  %v{self.count} = alloca {text}, align 16")
        return f"%v{self.count}"

    def line(self, text: str) -> None:
        self.lines.append("  " + text)

    def at(self, pointer: str, offset: int) -> str:
        return self.op(f"getelementptr i8, ptr {pointer}, i64 {offset}") if offset else pointer

    def load(self, type: str, pointer: str, offset: int = 0) -> str:
        return self.op(f"load {type}, ptr {self.at(pointer, offset)}")

    def require(self, condition: str) -> None:
        """Go on only if a condition holds."""
        self.count += 1
        self.line(f"br i1 {condition}, label %go{self.count}, label %other, !prof !0")
        self.lines.append(f"go{self.count}:")

    def equal(self, type: str, x: str, y: str) -> None:
        self.require(self.op(f"icmp eq {type} {x}, {y}"))

    def call(self, returns: str, name: str, args: str) -> str:
        """Call a function of Python's C API."""
        target = f"inttoptr (i64 {python_function(name)} to ptr)"
        if returns == "void":
            self.line(f"call void {target}({args})")
            return ""
        return self.op(f"call {returns} {target}({args})")

    def text(self, fallback: int, fail: int, arena: int) -> str:
        """The module; addresses of the Python callables for other arguments and for errors, and of the arena's."""
        self.equal("i64", "%count", str(len(self.kinds)))
        addresses = [self.argument(n, kind, t) for n, (kind, t) in enumerate(zip(self.kinds, self.params, strict=True))]
        self.separate(addresses)
        table = self.local(f"[{1 + len(self.params) + len(self.results)} x ptr]")
        error = self.local("[2 x i64]")
        self.line(f"store i64 0, ptr {error}")
        slot = f"inttoptr (i64 {arena} to ptr)"
        work = self.take_arena(slot)
        outs = [self.result(n, t) for n, t in enumerate(self.results)]
        places = [o if kind == "scalar" else self.load("ptr", o, DATA) for kind, o in outs]
        for number, place in enumerate([work, *addresses, *places]):
            self.line(f"store ptr {place}, ptr {self.at(table, 8 * number)}")
        self.run(table, error)
        old = self.op(f"atomicrmw xchg ptr {slot}, ptr {work} acq_rel")
        self.line(f"call void @free(ptr {old})")
        bad = self.op(f"icmp ne i64 {self.load('i64', error)}, 0")
        self.line(f"br i1 {bad}, label %drop, label %done")
        self.lines.append("done:")
        self.line(f"ret ptr {self.build(self.tree, outs)}")
        self.lines.append("drop:")
        for kind, out in outs:
            if kind == "array":
                self.call("void", "Py_DecRef", f"ptr {out}")
        if self.pinned:  # what was written is not written again
            self.raise_error(fail, error)
        else:
            self.line("br label %other")
        self.lines.append("other:")
        made = self.call(
            "ptr",
            "PyObject_Vectorcall",
            f"ptr inttoptr (i64 {fallback} to ptr), ptr %args, i64 %count, ptr null",
        )
        self.line(f"ret ptr {made}")
        return self.module()

    def module(self) -> str:
        """The function around the lines."""
        target = host_target()
        return "\n".join(
            [
                f'target triple = "{target.triple}"',
                "declare void @free(ptr)",
                "declare i32 @posix_memalign(ptr, i64, i64)",
                "define ptr @entry(ptr %self, ptr %args, i64 %count) {",
                *self.head,
                "  br label %start",
                "start:",
                *self.lines,
                "}",
                '!0 = !{!"branch_weights", i32 1000, i32 1}',
                "",
            ]
        )

    def raise_error(self, fail: int, error: str) -> None:
        """Return what a Python callable makes of an error's two numbers: it raises."""
        given = self.local("[2 x ptr]")
        codes = [self.call("ptr", "PyLong_FromLongLong", f"i64 {self.load('i64', error, 8 * n)}") for n in (0, 1)]
        for n, code in enumerate(codes):
            self.line(f"store ptr {code}, ptr {self.at(given, 8 * n)}")
        made = self.call("ptr", "PyObject_Vectorcall", f"ptr {constant(fail)}, ptr {given}, i64 2, ptr null")
        for code in codes:
            self.call("void", "Py_DecRef", f"ptr {code}")
        self.line(f"ret ptr {made}")

    def separate(self, addresses: Sequence[str]) -> None:
        """Go on only if arrays that must lie apart share no byte."""
        ends = {n: self.at(addresses[n], self.params[n].bytes) for pair in self.apart for n in pair}
        for pair in self.apart:
            if all([self.params[n].bytes for n in pair]):
                (i, j) = pair
                before = self.op(f"icmp ule ptr {ends[i]}, {addresses[j]}")
                after = self.op(f"icmp ule ptr {ends[j]}, {addresses[i]}")
                self.require(self.op(f"or i1 {before}, {after}"))

    def argument(self, number: int, kind: str, type: Type) -> str:
        """Check one argument; the address of its data."""
        x = self.load("ptr", "%args", 8 * number)
        if kind == "array":
            return self.array(x, type, number in self.pinned.values())
        return self.number(x, kind, type)

    def array(self, x: str, type: Type, is_written: bool) -> str:
        self.equal("ptr", self.load("ptr", x, TYPE), constant(id(np.ndarray)))
        self.equal("ptr", self.load("ptr", x, DESCR), constant(id(self.dtypes[type.dtype])))
        self.equal("i32", self.load("i32", x, RANK), str(type.rank))
        wanted = ALIGNED_CONTIGUOUS | (WRITEABLE if is_written else 0)
        flags = self.op(f"and i32 {self.load('i32', x, FLAGS)}, {wanted}")
        self.equal("i32", flags, str(wanted))
        if type.rank:
            shape = self.load("ptr", x, DIMENSIONS)
            for axis, n in enumerate(type.shape):
                self.equal("i64", self.load("i64", shape, 8 * axis), str(n))
        return self.load("ptr", x, DATA)

    def number(self, x: str, kind: str, type: Type) -> str:
        """A Python number as a scalar of the parameter's dtype, in a local variable."""
        place = self.local("[16 x i8]")
        classes = {"float": float, "int": int, "bool": bool, "complex": complex}
        self.equal("ptr", self.load("ptr", x, TYPE), constant(id(classes[kind])))
        part, t = REAL_OF.get(type.dtype, type.dtype), llvm_type(type.dtype)
        if kind == "bool":
            value = self.op(f"zext i1 {self.op(f'icmp eq ptr {x}, {constant(id(True))}')} to i8")
            if type.dtype != "bool":
                self.require("false")
            self.line(f"store i8 {value}, ptr {place}")
            return place
        if kind == "int":
            value = self.integer(x, type)
            self.line(f"store {t} {value}, ptr {place}")
            return place
        for number in range(2 if type.kind == "c" else 1):
            value = "0.0" if kind == "float" and number else self.load("double", x, NUMBER + 8 * number)
            if part == "f32":
                value = self.op(f"fptrunc double {value} to float")
            elif part != "f64" or (kind == "complex" and type.kind != "c"):
                self.require("false")
                value = "zeroinitializer"
            self.line(f"store {t} {value}, ptr {self.at(place, number * (4 if part == 'f32' else 8))}")
        return place

    def integer(self, x: str, type: Type) -> str:
        """A Python int that fits the parameter's dtype."""
        value = self.call("i64", "PyLong_AsLongLongAndOverflow", f"ptr {x}, ptr {self.overflow()}")
        self.equal("i32", self.load("i32", self.overflow_place), "0")
        t = llvm_type(type.dtype)
        if type.kind in "iu":
            bits = int(type.dtype[1:])
            low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if type.kind == "i" else (0, 2 ** min(bits, 63) - 1)
            self.require(self.op(f"icmp sge i64 {value}, {low}"))
            self.require(self.op(f"icmp sle i64 {value}, {high}"))
            return value if bits == 64 else self.op(f"trunc i64 {value} to {t}")
        if type.dtype not in ("f32", "f64"):
            self.require("false")
            return "zeroinitializer"
        self.require(self.op(f"icmp sle i64 {self.op(f'call i64 @llvm.abs.i64(i64 {value}, i1 false)')}, {2**53}"))
        wide = self.op(f"sitofp i64 {value} to double")
        return wide if type.dtype == "f64" else self.op(f"fptrunc double {wide} to float")

    def overflow(self) -> str:
        self.overflow_place = self.local("i32")
        return self.overflow_place

    def take_arena(self, slot: str) -> str:
        """The free arena, or a new one: another thread may be using it, or a call further out."""
        place = self.local("ptr")
        found = self.op(f"atomicrmw xchg ptr {slot}, ptr null acq_rel")
        self.line(f"store ptr {found}, ptr {place}")
        self.line(f"br i1 {self.op(f'icmp eq ptr {found}, null')}, label %fresh, label %ready")
        self.lines.append("fresh:")
        self.op(f"call i32 @posix_memalign(ptr {place}, i64 64, i64 {max(self.executable.program.arena, 64)})")
        self.line("br label %ready")
        self.lines.append("ready:")
        work = self.load("ptr", place)
        self.require(self.op(f"icmp ne ptr {work}, null"))
        return work

    def result(self, number: int, type: Type) -> tuple[str, str]:
        """A new array, or a place for a number, or the argument that a result is made in."""
        if number in self.pinned:
            return "argument", self.load("ptr", "%args", 8 * self.pinned[number])
        if self.scalars and not type.rank:
            return "scalar", self.local("[16 x i8]")
        shape = self.local(f"[{max(type.rank, 1)} x i64]")
        for axis, n in enumerate(type.shape):
            self.line(f"store i64 {n}, ptr {self.at(shape, 8 * axis)}")
        descr = constant(id(self.dtypes[type.dtype]))
        self.call("void", "Py_IncRef", f"ptr {descr}")
        target = f"inttoptr (i64 {numpy_function(EMPTY)} to ptr)"
        made = self.op(f"call ptr {target}(i32 {type.rank}, ptr {shape}, ptr {descr}, i32 0)")
        self.count += 1
        self.line(f"br i1 {self.op(f'icmp eq ptr {made}, null')}, label %none{made[2:]}, label %some{made[2:]}")
        self.lines += [f"none{made[2:]}:", "  ret ptr null", f"some{made[2:]}:"]
        return "array", made

    def run(self, table: str, error: str) -> None:
        """Call the segments, without the GIL if they take long."""
        assert self.executable.code
        segments = [s for s in self.executable.order if isinstance(s, Segment)]
        is_long = sum([s.work for s in segments]) > LONG
        state = self.call("ptr", "PyEval_SaveThread", "") if is_long else ""
        for segment in segments:
            target = constant(self.executable.code.address(segment.name))
            self.line(f"call void {target}(ptr {table}, ptr {error})")
        if is_long:
            self.call("void", "PyEval_RestoreThread", f"ptr {state}")

    def build(self, tree: Tree, outs: list[tuple[str, str]]) -> str:
        """The returned object."""
        if tree is None:
            return self.another(constant(id(None)))
        if isinstance(tree, int):
            kind, out = ("argument", self.load("ptr", "%args", 8 * ~tree)) if tree < 0 else outs[tree]
            if kind == "argument":
                return self.another(out)
            if kind == "array":
                return out
            descr = constant(id(self.dtypes[self.results[tree].dtype]))
            target = f"inttoptr (i64 {numpy_function(SCALAR)} to ptr)"
            return self.op(f"call ptr {target}(ptr {out}, ptr {descr}, ptr null)")
        parts = [self.build(part, outs) for part in tree]
        made = self.call("ptr", "PyTuple_New", f"i64 {len(tree)}")
        for number, part in enumerate(parts):
            self.line(f"store ptr {part}, ptr {self.at(made, ITEMS + 8 * number)}")
        return made

    def another(self, thing: str) -> str:
        """One more reference to an object."""
        self.call("void", "Py_IncRef", f"ptr {thing}")
        return thing


def constant(address: int) -> str:
    """An address as an LLVM constant."""
    return f"inttoptr (i64 {address} to ptr)"


@lru_cache
def layout_is_known() -> bool:
    """Whether this Python and this NumPy lay out their objects as written above."""
    if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return False
    if sys.platform == "win32":  # no posix_memalign
        return False
    x = np.zeros((3, 5))

    def word(offset: int, of: object = x) -> int:
        return ctypes.c_int64.from_address(id(of) + offset).value

    shape = (ctypes.c_int64 * 2).from_address(word(DIMENSIONS))
    seen = (word(TYPE), word(DATA), word(RANK) & 0xFFFFFFFF, tuple(shape), word(DESCR))
    wanted = (id(np.ndarray), x.ctypes.data, 2, (3, 5), id(np.dtype("float64")))
    flags = ctypes.c_int32.from_address(id(x) + FLAGS).value
    number = ctypes.c_double.from_address(id(2.5) + NUMBER).value
    pair = (x, shape)
    return seen == wanted and flags == x.flags.num and number == 2.5 and word(ITEMS, pair) == id(x)
