"""What a compiled program assumes about names outside its arguments, looked at by an entry."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, final

from pliant.backends import layout
from pliant.backends.calls import Conditions
from pliant.backends.llvm.lines import Lines, address_of, constant


@final
class Guards:
    """Items of dicts, what cells and functions hold, each of them one line of a table; all else is asked in Python."""

    def __init__(self, w: Lines, conditions: Conditions) -> None:
        self.w, self.conditions = w, conditions
        self.tables: list[Any] = []  # which the text names by address

    def check(self) -> None:
        """Go on only if all is as it was."""
        w, known = self.w, self.conditions
        self.each([(id(owner), id(key), id(value)) for owner, key, value in known.items], self.item)
        self.each([(id(owner), id(key), 0) for owner, key in known.absent], self.item)
        self.each([(id(owner), size) for owner, size in known.sizes], self.size)
        self.each([row for owner, keys in known.keys for row in _places(owner, keys)], self.key())
        self.each([(id(owner), index, id(value)) for owner, index, value in known.elements], self.element)
        self.each([(id(cell), id(value)) for cell, value in known.cells], self.held)
        for n, at in enumerate((layout.CODE, layout.DEFAULTS, layout.NAMED_DEFAULTS)):
            rows = [(id(f), 0 if parts[n] is None else id(parts[n])) for f, *parts in known.functions]
            self.each(rows, partial(self.held, at=at))
        if self.conditions.others is not None:
            answer = w.require_made(w.call_python(self.conditions.others, []))
            w.own(answer)
            w.require_equal("ptr", answer, constant(True))

    def each(self, rows: Sequence[tuple[int, ...]], look: Callable[[list[str]], str]) -> None:
        """A loop over the lines of a table: what `look` finds for each is its last word."""
        if not rows:
            return
        flat = [word for row in rows for word in row]
        table, w, step = (ctypes.c_int64 * len(flat))(*flat), self.w, 8 * len(rows[0])
        self.tables.append(table)
        place = w.local("ptr", address_of(ctypes.addressof(table)))
        body, done = w.label("body"), w.label("done")
        w.begin(body)
        line = w.load("ptr", place)
        found = look([w.load("ptr", line, 8 * n) for n in range(len(rows[0]) - 1)])
        w.require_equal("ptr", found, w.load("ptr", line, step - 8))
        after = w.at(line, step)
        w.line(f"store ptr {after}, ptr {place}")
        end = address_of(ctypes.addressof(table) + ctypes.sizeof(table))
        w.line(f"br i1 {w.op(f'icmp eq ptr {after}, {end}')}, label %{done}, label %{body}")
        w.begin(done)

    def item(self, line: list[str]) -> str:
        """What a dict has under a key, a string: null if nothing."""
        return self.w.call("ptr", "PyDict_GetItem", f"ptr {line[0]}, ptr {line[1]}")

    def size(self, line: list[str]) -> str:
        """How many elements a list, dict or tuple has."""
        return self.w.op(f"inttoptr i64 {self.w.call('i64', 'PyObject_Size', f'ptr {line[0]}')} to ptr")

    def key(self) -> Callable[[list[str]], str]:
        """The first key of a dict from some place on: null if there is none."""
        w = self.w
        place, key = w.local("i64"), w.local("ptr", "null")

        def look(line: list[str]) -> str:
            w.line(f"store ptr {line[1]}, ptr {place}")
            w.line(f"store ptr null, ptr {key}")
            w.call("i32", "PyDict_Next", f"ptr {line[0]}, ptr {place}, ptr {key}, ptr null")
            return w.load("ptr", key)

        return look

    def element(self, line: list[str]) -> str:
        """What a list, which is long enough, has at an index."""
        w = self.w
        index, size = w.op(f"ptrtoint ptr {line[1]} to i64"), w.load("i64", line[0], layout.SIZE)
        from_end = w.op(f"add i64 {index}, {size}")
        index = w.op(f"select i1 {w.op(f'icmp slt i64 {index}, 0')}, i64 {from_end}, i64 {index}")
        w.require(w.op(f"icmp ult i64 {index}, {size}"))
        return w.load("ptr", w.op(f"getelementptr ptr, ptr {w.load('ptr', line[0], layout.LIST)}, i64 {index}"))

    def held(self, line: list[str], at: int = layout.HELD) -> str:
        """What a cell, or a function, holds: null if nothing."""
        return self.w.load("ptr", line[0], at)


def _places(owner: dict[Any, Any], keys: Sequence[Any]) -> list[tuple[int, int, int]]:
    """Where a walk over a dict finds each of its keys: the dict, the place from which it looks on, and the key."""
    place, found, rows = ctypes.c_ssize_t(0), ctypes.c_void_p(), list[tuple[int, int, int]]()
    for key in keys:
        before = place.value
        ctypes.pythonapi.PyDict_Next(ctypes.py_object(owner), ctypes.byref(place), ctypes.byref(found), None)
        rows.append((id(owner), before, id(key)))
    return rows
