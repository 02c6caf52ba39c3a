"""How an entry takes a call's arguments apart: it looks at each object's struct, and finds the data."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from types import CellType, MethodType
from typing import Any, Final, final

import numpy as np

from pliant.backends import layout
from pliant.backends.calls import Array, Call, Constant, Container, Number, Numbers, Part, Target, Whole
from pliant.backends.llvm.lines import Lines, address_of, constant
from pliant.backends.llvm.numbers import python_number, store_number
from pliant.backends.llvm.separate import in_order, separate
from pliant.backends.llvm.strided import bounds, copy, row_major
from pliant.core.types import Type, itemsize

COMPARED: Final = (
    str, int, float, bool, complex, bytes, tuple, frozenset, range, MethodType, np.bool_, np.int8, np.int16, np.int32,
    np.int64, np.uint8, np.uint16, np.uint32, np.uint64,
)  # fmt: skip
"""Classes whose `==` tells; others are compared by identity."""


FEW: Final = 8  # objects that are compared one by one


@final
class Arguments:
    """What was found: for each parameter its object and data, for each result of `out=` likewise."""

    def __init__(
        self, w: Lines, call: Call, params: Sequence[Type], results: Sequence[Type], dtypes: dict[str, Any]
    ) -> None:
        self.w, self.call, self.params, self.results, self.dtypes = w, call, params, results, dtypes
        self.objects: dict[int, str] = {}
        self.data: dict[int, str] = {}
        self.parts: dict[int, Array] = {}
        self.types: dict[int, Type] = {}  # of the arrays
        self.targets: dict[int, tuple[Target, str, str]] = {}  # of a result: object and data
        self.written = {p for p, _ in call.written}
        self.found: dict[int, str] = {}  # the object that came for each part, by its id
        self.counters: list[str] = []  # of the loops that read numbers, the outermost first
        self.changeable: dict[int, str] = {}  # lists, dicts, and dicts of attributes, likewise

    def read(self) -> None:
        """Emit all checks."""
        w, call = self.w, self.call
        w.require_equal("i64", "%count", str(len(call.positional)))
        if not call.keywords:
            w.require_equal("ptr", "%names", "null")
        else:
            w.require(w.op("icmp ne ptr %names, null"))
            w.require_equal("i64", w.load("i64", "%names", layout.SIZE), str(len(call.keywords)))
            for number, (name, _) in enumerate(call.keywords):
                self.known(name, w.load("ptr", "%names", layout.TUPLE + 8 * number))
        for number in call.vectors:
            size = f"i64 {self.params[number].bytes}"
            held = w.require_made(w.call("ptr", "PyBytes_FromStringAndSize", f"ptr null, {size}"))
            w.own(held)
            self.data[number] = w.at(held, layout.BYTES)
        for thing, part in call.outside:
            self.part(part, constant(thing))
        parts = [*call.positional, *[part for _, part in call.keywords]]
        for number, part in enumerate(parts):
            self.part(part, w.load("ptr", "%args", 8 * number))
        for thing, part in call.captured:
            self.part(part, constant(thing))
        self.separate()
        if call.are_different or len(self.changeable) <= FEW:  # else only `is` would tell
            self.require_all_different([self.found[n] for n in self.changeable])

    def part(self, part: Part, x: str) -> None:
        """One argument, or a part of one."""
        w = self.w
        self.found[id(part)] = x
        match part:
            case Array():
                self.array(part, x)
            case Number():
                self.number(part, x)
            case Numbers():
                self.numbers(part, x)
            case Constant(value):
                self.known(value, x)
            case Target(result, strides):
                data = self.checked(x, self.results[result], strides, is_written=True)
                self.targets[result] = part, x, data
            case Container():
                self.container(part, x)
            case Whole(is_empty):
                w.require_type(x, list)
                w.require(w.op(f"icmp {'eq' if is_empty else 'ne'} i64 {w.load('i64', x, layout.SIZE)}, 0"))
                self.changeable[id(part)] = x

    def array(self, part: Array, x: str) -> None:
        w, n = self.w, part.number
        if part.kind is not None:
            w.require_type(x, part.kind)
            x = w.call_python(part.convert, [x])
            w.own(w.require_made(x))
        self.objects[n], self.parts[n] = x, part
        type, strides = self.params[n], part.strides
        if (order := part.order) is not None:
            type, strides = type.with_shape(_put_back(type.shape, order)), _put_back(row_major(type), order)
        elif part.shape is not None:
            type = type.with_shape(part.shape)
        self.types[n] = type
        self.data[n] = self.checked(x, type, strides, is_written=n in self.written, is_aligned=part.is_aligned)

    def is_copied(self, number: int) -> bool:
        """Whether the program gets a copy of an array."""
        part = self.parts.get(number)
        return part is not None and (not part.is_aligned or (part.strides is not None and part.shape is None))

    def in_place(self, number: int) -> str:
        """Where a parameter begins in an array that is not copied."""
        part, data = self.parts.get(number), self.data[number]
        if part is None or part.shape is None or part.strides is None:
            return data
        return self.w.at(data, bounds(self.types[number], part.strides)[0])

    def copy(self, number: int, to: str) -> None:
        """Copy an array, for a parameter that begins at `to`."""
        part, type, data = self.parts[number], self.types[number], self.data[number]
        rows = row_major(type)
        if part.order is not None:
            rows = _put_back(row_major(self.params[number]), part.order)
        strides = part.strides or rows
        if part.shape is not None:
            rows, to = strides, self.w.at(to, -bounds(type, strides)[0])
        copy(self.w, type, (to, rows), (data, strides), is_aligned=part.is_aligned)

    def write(self, number: int, of: str) -> None:
        """Write a row-major array, of a result, to an argument."""
        part, type, data = self.parts[number], self.types[number], self.data[number]
        if part.order is not None:
            type = self.params[number]
        copy(self.w, type, (data, part.strides), (of, None), is_aligned=part.is_aligned)

    def checked(
        self, x: str, type: Type, strides: tuple[int, ...] | None, *, is_written: bool, is_aligned: bool = True
    ) -> str:  # fmt: skip
        """The data of a NumPy array of a type."""
        w = self.w
        w.require_type(x, np.ndarray)
        w.require_equal("ptr", w.load("ptr", x, layout.DESCR), constant(self.dtypes[type.dtype]))
        w.require_equal("i32", w.load("i32", x, layout.RANK), str(type.rank))
        wanted = (0 if strides else layout.CONTIGUOUS) | (layout.ALIGNED if is_aligned else 0)
        wanted |= layout.WRITEABLE if is_written else 0
        w.require_equal("i32", w.op(f"and i32 {w.load('i32', x, layout.FLAGS)}, {wanted}"), str(wanted))
        for at, numbers in ((layout.DIMENSIONS, type.shape), (layout.STRIDES, strides or ())):
            row = w.load("ptr", x, at) if numbers else ""
            for axis, n in enumerate(numbers):
                w.require_equal("i64", w.load("i64", row, 8 * axis), str(n))
        return w.load("ptr", x, layout.DATA)

    def number(self, part: Number, x: str) -> None:
        if part.offset is not None:
            place = self.w.further(self.w.at(self.data[part.number], part.offset), self.counters, part.steps)
            store_number(self.w, x, part, place, itemsize(self.params[part.number].dtype))
            return
        self.w.require_type(x, part.kind)
        if issubclass(part.kind, np.generic):
            self.data[part.number] = self.w.at(x, layout.NUMBER)
        else:
            self.data[part.number] = python_number(self.w, x, part)

    def numbers(self, part: Numbers | Container, x: str) -> None:
        """Store the numbers of a list, by a loop if it has many. No Python runs meanwhile."""
        w = self.w
        count = part.count if isinstance(part, Numbers) else len(part.parts)
        w.require_type(x, part.kind)
        w.require_equal("i64", w.load("i64", x, layout.SIZE), str(count))
        row = w.load("ptr", x, layout.LIST) if part.kind is list else w.at(x, layout.TUPLE)
        if isinstance(part, Container):
            for n, inner in enumerate(part.parts):
                self.inside(inner, w.load("ptr", row, 8 * n))
            return
        if part.kind is list and not self.counters:
            self.changeable[id(part)] = x
        for n in w.counted(count):
            self.counters.append(n)
            self.inside(part.item, w.load("ptr", w.op(f"getelementptr ptr, ptr {row}, i64 {n}")))
            self.counters.pop()

    def inside(self, part: Number | Numbers | Container, x: str) -> None:
        """An item of such a list."""
        if isinstance(part, Number):
            self.number(part, x)
        else:
            self.numbers(part, x)

    def known(self, value: Any, x: str) -> None:
        """An object that is this one, or equals it if the class's `==` is Python's own."""
        w, kind = self.w, value.__class__
        if kind not in COMPARED or (kind in (float, complex) and not value):  # there are two zeros
            w.require_equal("ptr", x, constant(value))
            return
        same, differs = w.label("same"), w.label("differs")
        w.line(f"br i1 {w.op(f'icmp eq ptr {x}, {constant(value)}')}, label %{same}, label %{differs}")
        w.begin(differs)
        w.require_type(x, kind)
        answer = w.call("i32", "PyObject_RichCompareBool", f"ptr {x}, ptr {constant(value)}, i32 2")
        w.require_not_negative(answer)
        w.require_equal("i32", answer, "1")
        w.begin(same)

    def container(self, part: Container, x: str) -> None:
        w, count = self.w, len(part.parts)
        kind: Any = part.kind
        w.require_type(x, kind)
        is_row, held = issubclass(kind, list | tuple), x
        if part.bound is not None:
            held = constant(part.bound[0])
            items = [self.bound(*part.bound)]
        elif is_row:
            w.require_equal("i64", w.load("i64", x, layout.SIZE), str(count))
            row = w.load("ptr", x, layout.LIST) if kind is list else w.at(x, layout.TUPLE)
            items = [w.load("ptr", row, 8 * n) for n in range(count)]
        else:
            if kind is not dict:
                held = w.call("ptr", "PyObject_GenericGetDict", f"ptr {x}, ptr null")
                w.own(w.require_made(held))
            items = self.items_of_dict(part, held)
        if not issubclass(kind, tuple):  # which may change while other threads, or `convert`, run
            self.changeable[id(part)] = held
            for item in items:
                w.own(w.another(item))
        for item, inner in zip(items, part.parts, strict=True):
            self.part(inner, item)

    def bound(self, holder: Any, name: str) -> str:
        """What a name is bound to in a cell, or in a dict of names."""
        w, place = self.w, constant(holder)
        if isinstance(holder, CellType):
            item = w.load("ptr", place, layout.HELD)
        else:
            item = w.call("ptr", "PyDict_GetItem", f"ptr {place}, ptr {constant(name)}")
        w.require(w.op(f"icmp ne ptr {item}, null"))
        return item

    def items_of_dict(self, part: Container, x: str) -> list[str]:
        """The values under just the wanted keys, in just that order."""
        w = self.w
        w.require_equal("i64", w.call("i64", "PyDict_Size", f"ptr {x}"), str(len(part.keys)))
        place = w.local("i64")
        w.line(f"store i64 0, ptr {place}")
        key, value = w.local("ptr"), w.local("ptr")
        items: list[str] = []
        for wanted in part.keys:
            found = w.call("i32", "PyDict_Next", f"ptr {x}, ptr {place}, ptr {key}, ptr {value}")
            w.require_equal("i32", found, "1")
            items.append(w.load("ptr", value))
            self.known(wanted, w.load("ptr", key))
        return items

    def separate(self) -> None:
        """Go on only if arrays that must lie apart share no byte."""
        numbers = dict.fromkeys([n for pair in self.call.apart for n in pair if n in self.objects])
        ends = {n: self.extent(n) for n in numbers}
        spans = {n: span for n, span in ends.items() if span}
        pairs = [(i, j) for i, j in self.call.apart if i in spans and j in spans]
        if found := in_order(pairs):
            self.require_all_apart([spans[n] for n in found[0]], found[1])
        else:
            for i, j in pairs:
                self.require_apart(spans[i], spans[j])
        done = list[tuple[str, str]]()
        for target, _, data in self.targets.values():
            span = self.span(data, self.results[target.result], target.strides)
            if not span:
                continue
            for n in self.objects:
                if n == target.parameter:
                    self.w.require_equal("ptr", data, self.data[n])
                elif other := self.extent(n):
                    self.require_apart(span, other)
            for other in done:
                self.require_apart(span, other)
            done.append(span)

    def extent(self, number: int) -> tuple[str, str] | None:
        """First and past-the-end address of a parameter's array; None if it is empty."""
        return self.span(self.data[number], self.types[number], self.parts[number].strides)

    def span(self, data: str, type: Type, strides: tuple[int, ...] | None) -> tuple[str, str] | None:
        if not type.size:
            return None
        low, high = bounds(type, strides) if strides else (0, type.bytes)
        return self.w.at(data, low), self.w.at(data, high)

    def require_apart(self, a: tuple[str, str], b: tuple[str, str]) -> None:
        before = self.w.op(f"icmp ule ptr {a[1]}, {b[0]}")
        after = self.w.op(f"icmp ule ptr {b[1]}, {a[0]}")
        self.w.require(self.w.op(f"or i1 {before}, {after}"))

    def require_all_different(self, objects: Sequence[str]) -> None:
        """Go on only if no object is there twice."""
        if len(objects) > FEW:
            self.require_all_apart([(x, self.w.at(x, 1)) for x in objects], len(objects))
        else:
            for x, y in combinations(objects, 2):
                self.w.require(self.w.op(f"icmp ne ptr {x}, {y}"))

    def require_all_apart(self, spans: Sequence[tuple[str, str]], watched: int) -> None:
        """Go on only if the first ones share no byte with any."""
        first, behind = (self.w.table(list(ends)) for ends in zip(*spans, strict=True))
        given = f"ptr {first}, ptr {behind}, i64 {watched}, i64 {len(spans)}"
        self.w.require_equal("i32", self.w.call_at("i32", address_of(separate()), given), "1")


def _put_back(numbers: Sequence[int], order: Sequence[int]) -> tuple[int, ...]:
    """Numbers for each axis, as they were before the axes were put in an order."""
    return tuple([numbers[order.index(axis)] for axis in range(len(order))])
