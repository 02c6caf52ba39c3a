"""How an entry makes what a call returns: arrays, numbers, views, and containers of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from types import CellType
from typing import Any, Final, final

import numpy as np

from pliant.backends import layout
from pliant.backends.calls import (
    Came,
    Choice,
    Constant,
    Container,
    Element,
    Elements,
    Front,
    Given,
    Made,
    Passed,
    Put,
    Result,
    View,
    Whole,
)
from pliant.backends.llvm.arguments import Arguments
from pliant.backends.llvm.lines import Lines, constant
from pliant.backends.llvm.numbers import new_number
from pliant.backends.llvm.recycled import LARGE, recycler
from pliant.core.types import Type, itemsize

SCALAR, COPY, NEW, EMPTY, BASE = 60, 85, 94, 184, 282  # PyArray_: Scalar, NewCopy, NewFromDescr, Empty, SetBaseObject
HANDLER = 304  # PyDataMem_SetHandler

MAKE_TUPLE: Final = tuple[Any, ...].__new__


@final
class Returned:
    """The objects that a call makes: arrays before the program runs, all others after it."""

    def __init__(self, w: Lines, arguments: Arguments, results: Sequence[Type], dtypes: dict[str, Any]) -> None:
        self.w, self.arguments, self.results, self.dtypes = w, arguments, results, dtypes
        self.arrays: dict[int, str] = {}  # the places of references to new arrays
        self.scalars: dict[int, str] = {}
        self.made: dict[int, str] = {}  # the places of the addresses of results of which elements are returned
        self.counters: list[str] = []  # of the loops that make items, the outermost first
        self.bases: dict[Any, str] = {}  # of the views that they make
        self.views: dict[int, str] = {}  # the places of those that were made, by what was asked for

    def prepare(self, made: Made) -> None:
        """New arrays, and room for numbers, for the results that are returned."""
        match made:
            case Result(number, "array"):
                self.array(number)
            case Result(number):
                self.scalars[number] = self.w.local("[16 x i8]")
            case View(of):
                self.prepare(of)
            case Element(of) if of not in self.made:
                self.made[of] = self.w.local("ptr")
            case Elements():
                self.prepare(made.item)
            case Front(of, counts):
                self.prepare(of)
                for count in counts:
                    if count is not None:
                        self.scalars[count] = self.w.local("[16 x i8]")
            case Choice(number, sides):
                self.scalars[number] = self.w.local("[16 x i8]")
                for side in sides:
                    self.prepare(side)
            case Container(_, parts):
                for part in parts:
                    self.prepare(part)
            case _:
                pass

    def array(self, number: int) -> None:
        """A new array for a result."""
        if number in self.arrays:
            return
        w, type = self.w, self.results[number]
        shape = w.table([str(n) for n in type.shape], "i64")
        descr = w.another(constant(self.dtypes[type.dtype]))
        made = f"i32 {type.rank}, ptr {shape}, ptr {descr}, i32 0"
        handler = recycler() if type.bytes >= LARGE else None
        if handler is None:
            new = w.call_numpy("ptr", EMPTY, made)
        else:
            before = w.require_made(w.call_numpy("ptr", HANDLER, f"ptr {constant(handler)}"))
            new = w.call_numpy("ptr", EMPTY, made)
            w.call("void", "Py_DecRef", f"ptr {w.call_numpy('ptr', HANDLER, f'ptr {before}')}")
            w.call("void", "Py_DecRef", f"ptr {before}")
        self.arrays[number] = w.own(w.require_made(new))

    def place(self, number: int) -> str:
        """Where the data of a result that is returned goes."""
        if number in self.scalars:
            return self.scalars[number]
        return self.w.load("ptr", self.w.load("ptr", self.arrays[number]), layout.DATA)

    def build(self, made: Made) -> str:
        """A new reference to what is returned."""
        match made:
            case Constant(value):
                return self.w.another(constant(value))
            case Given(number):
                return self.w.another(self.arguments.objects[number])
            case Passed(place):
                return self.w.another(self.w.load("ptr", "%args", 8 * place))
            case Came(part):
                return self.w.another(self.arguments.found[id(part)])
            case Result(number, kind):
                return self.result(number, kind)
            case Element(of, kind):
                return self.number(self.placed(self.begin(of), made), self.results[of], kind)
            case Elements():
                return self.elements(made)
            case View():
                return self.view(made)
            case Front():
                return self.front(made)
            case Choice():
                return self.choice(made)
            case Container():
                return self.container(made)

    def put(self, put: Put, content: str) -> None:
        """Have a list, a dict or an object hold something that is owned."""
        w, holder = self.w, self.arguments.changeable[id(put.into)]
        if isinstance(put.into, Whole):
            w.require_not_negative(w.call("i32", "PyList_Append", f"ptr {holder}, ptr {content}"))
        elif put.into.kind is list:
            given = f"ptr {holder}, i64 {put.key}, ptr {w.another(content)}"
            w.require_not_negative(w.call("i32", "PyList_SetItem", given))
        elif put.into.bound is not None and isinstance(put.into.bound[0], CellType):
            w.require_not_negative(w.call("i32", "PyCell_Set", f"ptr {holder}, ptr {content}"))
        else:
            key = put.key if put.into.bound is None else put.into.bound[1]
            given = f"ptr {holder}, ptr {constant(key)}, ptr {content}"
            w.require_not_negative(w.call("i32", "PyDict_SetItem", given))

    def result(self, number: int, kind: str) -> str:
        if kind == "array":
            return self.w.another(self.w.load("ptr", self.arrays[number]))
        return self.number(self.scalars[number], self.results[number], kind)

    def number(self, place: str, type: Type, kind: str) -> str:
        """A new number of what lies at a place."""
        w = self.w
        if kind == "python":
            return w.require_made(new_number(w, place, type))
        descr = constant(self.dtypes[type.dtype])
        return w.require_made(w.call_numpy("ptr", SCALAR, f"ptr {place}, ptr {descr}, ptr null"))

    def elements(self, made: Elements) -> str:
        """A list or tuple whose items a loop makes."""
        w, is_inside = self.w, bool(self.counters)
        if not is_inside:
            self.bases = {of: w.load("ptr", w.own(self.build(of))) for of in dict.fromkeys(_bases(made))}
        new, row = self.row(made.kind, made.count)
        if not is_inside:
            w.own(new)  # it goes if an item cannot be made
        for n in w.counted(made.count):
            self.counters.append(n)
            w.line(f"store ptr {self.build(made.item)}, ptr {w.op(f'getelementptr ptr, ptr {row}, i64 {n}')}")
            self.counters.pop()
        return new if is_inside else w.another(new)

    def begin(self, number: int) -> str:
        """The address of a result, read anew: an address that lives long takes LLVM long."""
        return self.w.load("ptr", self.made[number])

    def note(self, results: Sequence[str]) -> None:
        """Note where the results lie."""
        for number in self.made:
            self.w.line(f"store ptr {results[number]}, ptr {self.made[number]}")

    def placed(self, whole: str, made: Element | View) -> str:
        """Where something lies at the step at hand."""
        return self.w.further(self.w.at(whole, made.offset), self.counters, made.steps)

    def row(self, kind: type, count: int) -> tuple[str, str]:
        """A new list, or a tuple, and where its items are to be."""
        w = self.w
        new = w.require_made(w.call("ptr", "PyList_New" if kind is list else "PyTuple_New", f"i64 {count}"))
        return new, w.load("ptr", new, layout.LIST) if kind is list else w.at(new, layout.TUPLE)

    def choice(self, made: Choice) -> str:
        """One of several objects."""
        w, kind = self.w, "i8" if self.results[made.number].dtype == "bool" else "i64"
        labels, chosen, place = [w.label("side") for _ in made.sides], w.label("chosen"), w.local("ptr")
        cases = " ".join([f"{kind} {n}, label %{label}" for n, label in enumerate(labels)])
        number = w.load(kind, self.scalars[made.number])
        w.line(f"switch {kind} {number}, label %{labels[-1]} [{cases}]")
        for label, side in zip(labels, made.sides, strict=True):
            w.begin(label)
            w.line(f"store ptr {self.build(side)}, ptr {place}")
            w.line(f"br label %{chosen}")
        w.begin(chosen)
        return w.load("ptr", place)

    def view(self, made: View) -> str:
        """A view as NumPy makes them: it keeps alive whoever owns the memory. Made once, if it is returned twice."""
        w = self.w
        if self.counters:
            base = self.bases[made.of]
            return self.view_at(made, w.another(base), self.placed(w.load("ptr", base, layout.DATA), made))
        if id(made) in self.views:
            return w.another(w.load("ptr", self.views[id(made)]))
        base = self.build(made.of)
        return self.remembered(made, self.view_at(made, base, self.placed(w.load("ptr", base, layout.DATA), made)))

    def view_at(self, made: View, base: str, data: str) -> str:
        """A view of `base`, whose reference it takes, that begins at a place."""
        w = self.w
        allowed = layout.WRITEABLE if made.is_writeable else 0
        flags = w.op(f"and i32 {w.load('i32', base, layout.FLAGS)}, {allowed}")
        return self.seen(base, made.dtype, [str(n) for n in made.shape], made.strides, data, flags)

    def seen(self, base: str, dtype: Any, shape: Sequence[str], strides: Sequence[int], data: str, flags: str) -> str:
        """A new view of the memory of `base`, whose reference it takes."""
        w = self.w
        extents, steps = w.table(shape, "i64"), w.table([str(n) for n in strides], "i64")
        form = f"i32 {len(shape)}, ptr {extents}, ptr {steps}"
        kind, descr = constant(np.ndarray), w.another(constant(dtype))
        new = w.call_numpy("ptr", NEW, f"ptr {kind}, ptr {descr}, {form}, ptr {data}, i32 {flags}, ptr null")
        w.require_made(new)
        w.require_not_negative(w.call_numpy("i32", BASE, f"ptr {new}, ptr {base}"))
        return new

    def remembered(self, made: View | Front, new: str) -> str:
        """A new object, which is the answer if the same is asked for again."""
        self.views[id(made)] = self.w.local("ptr")
        self.w.line(f"store ptr {new}, ptr {self.views[id(made)]}")
        return new

    def front(self, made: Front) -> str:
        """The first elements of a new array, of which a few are copied so that the rest of its memory is free."""
        w, type = self.w, self.results[made.of.number]
        if id(made) in self.views:
            return w.another(w.load("ptr", self.views[id(made)]))
        pairs = zip(type.shape, made.counts, strict=True)
        shape = [str(n) if count is None else w.load("i64", self.scalars[count]) for n, count in pairs]
        size = "1"
        for n in shape:
            size = w.op(f"mul i64 {size}, {n}")
        strides = [itemsize(type.dtype) * math.prod(type.shape[axis + 1 :]) for axis in range(type.rank)]
        base = self.build(made.of)
        data = w.load("ptr", base, layout.DATA)
        part = self.seen(base, self.dtypes[type.dtype], shape, strides, data, str(layout.WRITEABLE))
        place, few, done = w.local("ptr"), w.label("few"), w.label("done")
        w.line(f"store ptr {part}, ptr {place}")
        is_few = w.op(f"icmp ule i64 {size}, {type.size // 2}")
        w.line(f"br i1 {is_few}, label %{few}, label %{done}")
        w.begin(few)
        copy = w.call_numpy("ptr", COPY, f"ptr {part}, i32 0")
        w.call("void", "Py_DecRef", f"ptr {part}")
        w.line(f"store ptr {w.require_made(copy)}, ptr {place}")
        w.line(f"br label %{done}")
        w.begin(done)
        return self.remembered(made, w.load("ptr", place))

    def container(self, made: Container) -> str:
        w = self.w
        parts = [self.build(part) for part in made.parts]
        if made.kind is dict:
            new = w.require_made(w.call("ptr", "PyDict_New", ""))
            for key, part in zip(made.keys, parts, strict=True):
                w.require_not_negative(w.call("i32", "PyDict_SetItem", f"ptr {new}, ptr {constant(key)}, ptr {part}"))
                w.call("void", "Py_DecRef", f"ptr {part}")
            return new
        new, row = self.row(made.kind, len(parts))
        for number, part in enumerate(parts):
            w.line(f"store ptr {part}, ptr {w.at(row, 8 * number)}")
        if made.kind in (tuple, list):
            return new
        w.own(new)  # a named tuple is made of a tuple
        return w.require_made(w.call_python(MAKE_TUPLE, [constant(made.kind), new]))


def _bases(made: Made) -> Iterator[Made]:
    """What has the memory of the views that are made."""
    if isinstance(made, View):
        yield made.of
    elif isinstance(made, Elements):
        yield from _bases(made.item)
    elif isinstance(made, Container):
        for part in made.parts:
            yield from _bases(part)
