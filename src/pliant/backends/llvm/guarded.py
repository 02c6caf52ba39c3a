"""A builtin that hands calls on, as they are, to one function, as long as what was assumed holds.

No Python frame lies between the caller and the function: some libraries look at every frame. JAX does for each
array that it makes, which takes longer than all that is looked at here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, final

from pliant.backends import layout
from pliant.backends.calls import Conditions
from pliant.backends.llvm.capi import MethodDef, builtin, method
from pliant.backends.llvm.jit import Code
from pliant.backends.llvm.lines import Lines, constant
from pliant.backends.llvm.made_once import made_once
from pliant.frontend.kinds import is_array

TARGET, FORMS, MORE, ITEMS, CELLS, PARTS, OTHERS = [layout.TUPLE + 8 * n for n in range(7)]  # of what `straight` leaves


@final
class Guarded:
    """`call`, a builtin that goes to `otherwise`, or `straight` to another function where it was told to.

    Safe in many threads. Where objects are laid out in ways that are not known, `call` is `otherwise`.
    """

    def __init__(self, otherwise: Callable[..., Any]) -> None:
        self.ways: list[Any] = [None, otherwise]
        self.call: Callable[..., Any] = builtin(_entry()[0], self.ways) if layout.is_known() else otherwise

    def straight(
        self, target: Callable[..., Any], like: Sequence[Any], more: tuple[Any, ...], conditions: Conditions
    ) -> None:
        """Have calls go to `target`, with `more` after their arguments, while the conditions hold and arguments are
        of the classes of these, also in tuples, and NumPy's arrays of their dtypes. Of conditions it takes no elements,
        no sizes and nothing absent."""
        tables = conditions.items, conditions.cells, conditions.functions
        rows = [tuple([part for row in table for part in row]) for table in tables]
        self.ways[0] = (target, _forms(like), more, *rows, conditions.others)


def _forms(like: Sequence[Any]) -> tuple[Any, ...]:
    """For each argument its class, and the dtype of an array, the forms of a tuple's items, or None."""
    return tuple([part for x in like for part in (_form(x) if x.__class__ is not tuple else (tuple, _of_items(x)))])


def _of_items(items: Any) -> tuple[Any, ...]:
    """The forms of a tuple's items; no item is like one that is a tuple itself."""
    return tuple([part for x in items for part in (_form(x) if x.__class__ is not tuple else (None, None))])


def _form(x: Any) -> tuple[type, Any]:
    return x.__class__, x.dtype if is_array(x) else None


@made_once
def _entry() -> tuple[MethodDef, Code]:
    """The one function in machine code; all that differs is in `self`."""
    code = Code(_text(), 0, keep=False)
    return method(b"pliant_guarded", code.address("entry")), code


def _text() -> str:
    w = Lines(_otherwise)
    known = w.another(w.load("ptr", w.load("ptr", "%self", layout.LIST)))  # another thread may take it out of the list
    w.own(known)
    w.require(w.op(f"icmp ne ptr {known}, {constant(None)}"))
    w.require_equal("ptr", "%names", "null")
    _check_forms(w, w.load("ptr", known, FORMS), "%count", "%args")
    _check_items(w, w.load("ptr", known, ITEMS))
    _check_cells(w, w.load("ptr", known, CELLS))
    _check_functions(w, w.load("ptr", known, PARTS))
    _ask(w, w.load("ptr", known, OTHERS))
    w.finish(_handed_on(w, w.load("ptr", known, TARGET), w.load("ptr", known, MORE)))
    return w.text()


def _otherwise(w: Lines) -> str:
    """What the way for all else returns."""
    way = w.another(w.load("ptr", w.load("ptr", "%self", layout.LIST), 8))
    made = w.call("ptr", "PyObject_Vectorcall", f"ptr {way}, ptr %args, i64 %count, ptr %names")
    w.call("void", "Py_DecRef", f"ptr {way}")
    return made


def _rows(w: Lines, table: str, width: int, look: Callable[[str], None]) -> None:
    """A loop over the rows of a tuple: `look` is given the address of each."""
    first = w.at(table, layout.TUPLE)
    _loop(w, first, w.op(f"getelementptr ptr, ptr {first}, i64 {w.load('i64', table, layout.SIZE)}"), width, look)


def _loop(w: Lines, first: str, end: str, width: int, look: Callable[[str], None]) -> None:
    place = w.local("ptr")
    w.line(f"store ptr {first}, ptr {place}")
    head, body, done = w.label("head"), w.label("body"), w.label("done")
    w.begin(head)
    row = w.load("ptr", place)
    w.line(f"br i1 {w.op(f'icmp eq ptr {row}, {end}')}, label %{done}, label %{body}")
    w.begin(body)
    look(row)
    w.line(f"store ptr {w.at(row, 8 * width)}, ptr {place}")
    w.line(f"br label %{head}")
    w.begin(done)


def _check_forms(w: Lines, forms: str, count: str, things: str, *, is_inside: bool = False) -> None:
    """Go on only with as many things as there are forms, each of its form."""
    w.require_equal("i64", w.load("i64", forms, layout.SIZE), w.op(f"shl i64 {count}, 1"))
    place = w.local("ptr")
    w.line(f"store ptr {things}, ptr {place}")

    def look(row: str) -> None:
        here = w.load("ptr", place)
        thing, inside = w.load("ptr", here), w.load("ptr", row, 8)
        w.line(f"store ptr {w.at(here, 8)}, ptr {place}")
        kind = w.load("ptr", thing, layout.TYPE)
        w.require_equal("ptr", kind, w.load("ptr", row))
        more, items, array, good = [w.label(stem) for stem in ("more", "items", "array", "good")]
        w.line(f"br i1 {w.op(f'icmp eq ptr {inside}, {constant(None)}')}, label %{good}, label %{more}")
        w.begin(more)
        if not is_inside:
            w.line(f"br i1 {w.op(f'icmp eq ptr {kind}, {constant(tuple)}')}, label %{items}, label %{array}")
            w.begin(items)
            _check_forms(w, inside, w.load("i64", thing, layout.SIZE), w.at(thing, layout.TUPLE), is_inside=True)
            w.line(f"br label %{good}")
        w.begin(array)
        w.require_equal("ptr", w.load("ptr", thing, layout.DESCR), inside)
        w.begin(good)

    _rows(w, forms, 2, look)


def _check_items(w: Lines, rows: str) -> None:
    """Go on only if dicts have the same under their keys, for rows (dict, key, content)."""

    def look(row: str) -> None:
        found = w.call("ptr", "PyDict_GetItem", f"ptr {w.load('ptr', row)}, ptr {w.load('ptr', row, 8)}")
        w.require_equal("ptr", found, w.load("ptr", row, 16))

    _rows(w, rows, 3, look)


def _check_cells(w: Lines, rows: str) -> None:
    """Go on only if cells hold the same, for rows (cell, content)."""

    def look(row: str) -> None:
        w.require_equal("ptr", w.load("ptr", w.load("ptr", row), layout.HELD), w.load("ptr", row, 8))

    _rows(w, rows, 2, look)


def _check_functions(w: Lines, rows: str) -> None:
    """Go on only if functions have the same parts, for rows (function, code, defaults, those by name)."""

    def look(row: str) -> None:
        function = w.load("ptr", row)
        for n, at in enumerate((layout.CODE, layout.DEFAULTS, layout.NAMED_DEFAULTS), start=1):
            part = w.load("ptr", row, 8 * n)
            is_none = w.op(f"icmp eq ptr {part}, {constant(None)}")
            wanted = w.op(f"select i1 {is_none}, ptr null, ptr {part}")
            w.require_equal("ptr", w.load("ptr", function, at), wanted)

    _rows(w, rows, 4, look)


def _ask(w: Lines, others: str) -> None:
    """Go on only if a function, unless it is None, returns True."""
    ask, good = w.label("ask"), w.label("asked")
    w.line(f"br i1 {w.op(f'icmp eq ptr {others}, {constant(None)}')}, label %{good}, label %{ask}")
    w.begin(ask)
    answer = w.require_made(w.call("ptr", "PyObject_Vectorcall", f"ptr {others}, ptr null, i64 0, ptr null"))
    w.own(answer)
    w.require_equal("ptr", answer, constant(True))
    w.begin(good)


def _handed_on(w: Lines, target: str, more: str) -> str:
    """What the target returns for the arguments and `more`."""
    made, size = w.local("ptr"), w.load("i64", more, layout.SIZE)
    longer, plain, done = [w.label(stem) for stem in ("longer", "plain", "done")]
    w.line(f"br i1 {w.op(f'icmp eq i64 {size}, 0')}, label %{plain}, label %{longer}")
    w.begin(longer)
    count = w.op(f"add i64 %count, {size}")
    given, place = w.op(f"alloca ptr, i64 {count}"), w.local("ptr")
    w.line(f"store ptr {given}, ptr {place}")

    def copy(row: str) -> None:
        to = w.load("ptr", place)
        w.line(f"store ptr {w.load('ptr', row)}, ptr {to}")
        w.line(f"store ptr {w.at(to, 8)}, ptr {place}")

    _loop(w, "%args", w.op("getelementptr ptr, ptr %args, i64 %count"), 1, copy)
    _rows(w, more, 1, copy)
    for label, things, n in (("", given, count), (plain, "%args", "%count")):
        if label:
            w.begin(label)
        answer = w.call("ptr", "PyObject_Vectorcall", f"ptr {target}, ptr {things}, i64 {n}, ptr null")
        w.line(f"store ptr {answer}, ptr {made}")
        w.line(f"br label %{done}")
    w.begin(done)
    return w.load("ptr", made)
