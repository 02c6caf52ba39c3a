"""Arrays that a function reads from outside, for systems that would bake them into their program.

They become inputs: `outside(f)` finds them, in the same order at every call, and what it returns can
tell quickly that nothing has changed; `rebound` is f with others in their place. Looked through are
closure cells, globals, defaults, bound methods, partial functions, functions that f calls,
containers, and attributes of plain objects.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Final, cast, final

from pliant.backends.calls import Conditions
from pliant.frontend.kinds import is_array

_LIBRARIES: Final = frozenset(
    {"jax", "jaxlib", "numpy", "scipy", "torch", "pliant", "optree", "builtins", "math", "functools"}
)
_NUMBERS: Final = (int, float, complex, str, bool)
_OPAQUE: Final = (*_NUMBERS, ModuleType, type, BuiltinFunctionType, type(None))

Replace = Callable[[Any], Any]
Steps = tuple[tuple[Any, ...], Callable[[], bool] | None]  # (dict, key, content) to be compared; what looks at the rest
UNREAD: Final[Steps] = ((({}, "", None),), None)  # never holds


@final
@dataclass(frozen=True, eq=False)
class Outside:
    """What a function reads from outside: arrays, each once; key, the numbers and strings with their types.

    places: (dict or list, key, content) of everything that was met on the way. cells: (cell,
    content). sizes: (container, length).
    """

    arrays: tuple[Any, ...]
    key: tuple[Any, ...]
    places: tuple[tuple[Any, Any, Any], ...]
    cells: tuple[tuple[CellType, Any], ...]
    sizes: tuple[tuple[Any, int], ...]

    def holds(self) -> bool:
        """Whether every name still means the same object, so that the arrays are still those."""
        try:
            for container, key, content in self.places:
                if container[key] is not content:
                    return False
            for cell, content in self.cells:
                if cell.cell_contents is not content:
                    return False
        except (LookupError, ValueError):
            return False
        return not self.sizes or all([len(container) == length for container, length in self.sizes])

    @property
    def steps(self) -> Steps:
        """`holds`, for a call that must be short."""
        return ((), self.holds) if self.cells or self.sizes else (self.places, None)

    @property
    def conditions(self) -> Conditions:
        """The same, for machine code."""
        return Conditions(others=self.holds) if self.sizes else Conditions(self.places, cells=self.cells)


NOTHING: Final = Outside((), (), (), (), ())


def outside(f: Callable[..., Any]) -> Outside:
    """Everything that f reads from outside."""
    walk = _Walk()
    walk.visit(f)
    arrays, places, cells = tuple(walk.arrays.values()), tuple(walk.places), tuple(walk.cells)
    return Outside(arrays, tuple(walk.numbers), places, cells, tuple(walk.sizes))


class _Walk:
    """Collects what `Outside` holds."""

    def __init__(self) -> None:
        self.arrays: dict[int, Any] = {}
        self.numbers: list[Any] = []
        self.places: list[tuple[Any, Any, Any]] = []
        self.cells: list[tuple[CellType, Any]] = []
        self.sizes: list[tuple[Any, int]] = []
        self.seen: dict[int, Any] = {}  # the objects themselves: an id may not be used again meanwhile

    def visit(self, x: Any) -> None:
        """x, and what is in reach from it."""
        if _is_array(x):
            self.arrays.setdefault(id(x), x)
        elif type(x) in _NUMBERS:
            self.numbers.append((type(x), x))
        elif not issubclass(type(x), _OPAQUE) and id(x) not in self.seen:
            self.seen[id(x)] = x
            self._inside(x)

    def _inside(self, x: Any) -> None:
        kind: Any = x.__class__
        if kind is FunctionType:
            self._function(x)
        elif kind is MethodType:
            self.visit(x.__self__)
        elif kind is functools.partial:
            for part in (x.func, x.args, x.keywords):
                self.visit(part)
        elif kind is tuple:
            for item in x:
                self.visit(item)
        elif kind is list:
            self._items(x, range(len(x)))
        elif kind is dict:
            self._items(x, list(x))
        elif not _is_library(type(x).__module__) and hasattr(x, "__dict__"):
            self._items(x.__dict__, list(x.__dict__))

    def _items(self, container: Any, keys: Iterable[Any]) -> None:
        self.sizes.append((container, len(container)))
        for key in keys:
            self.places.append((container, key, container[key]))
            self.visit(container[key])

    def _function(self, f: FunctionType) -> None:
        if _is_library(f.__module__):
            return
        for name in _names(f.__code__):
            if name in f.__globals__:
                self.places.append((f.__globals__, name, f.__globals__[name]))
                self.visit(f.__globals__[name])
        for cell in f.__closure__ or ():
            try:
                content = cell.cell_contents
            except ValueError:  # not assigned yet
                continue
            self.cells.append((cell, content))
            self.visit(content)
        self.visit(f.__defaults__)
        self.visit(f.__kwdefaults__)


def rebound(f: Callable[..., Any], arrays: Sequence[Any], new: Sequence[Any]) -> Callable[..., Any]:
    """f, reading `new` where it reads `arrays`."""
    by_id = {id(a): b for a, b in zip(arrays, new, strict=True)}
    return _mapped(f, lambda x: by_id.get(id(x), x), {})


def _mapped(x: Any, replace: Replace, seen: dict[int, Any]) -> Any:
    """x with `replace` applied to every array in reach; x itself where nothing changes."""
    if _is_array(x) or type(x) in _NUMBERS:
        return replace(x)
    if issubclass(type(x), _OPAQUE):
        return x
    if id(x) in seen:
        return seen[id(x)]
    seen[id(x)] = x  # a cycle ends here
    seen[id(x)] = made = _inside(x, replace, seen)
    return made


def _inside(x: Any, replace: Replace, seen: dict[int, Any]) -> Any:
    kind: Any = x.__class__
    if kind is FunctionType:
        return _function(x, replace, seen)
    if kind is MethodType:
        owner = _mapped(x.__self__, replace, seen)
        return x if owner is x.__self__ else MethodType(x.__func__, owner)
    if kind is functools.partial:
        parts = (x.func, x.args, x.keywords)
        made = [_mapped(p, replace, seen) for p in parts]
        return x if _same(made, parts) else functools.partial(made[0], *made[1], **made[2])
    if kind is tuple or kind is list:
        items: Any = [_mapped(item, replace, seen) for item in x]
        return x if _same(items, x) else cast("Any", kind(items))
    if kind is dict:
        values = {k: _mapped(v, replace, seen) for k, v in x.items()}
        return x if _same(values.values(), x.values()) else values
    return _object(x, replace, seen)


def _same(xs: Any, ys: Any) -> bool:
    return all(a is b for a, b in zip(xs, ys, strict=True))


def _object(x: Any, replace: Replace, seen: dict[int, Any]) -> Any:
    """A plain object with arrays among its attributes."""
    attributes: dict[str, Any] = getattr(x, "__dict__", None) or {}
    if _is_library(type(x).__module__):
        return x
    made = {k: _mapped(v, replace, seen) for k, v in attributes.items()}
    if _same(made.values(), attributes.values()):
        return x
    twin = copy.copy(x)
    twin.__dict__.update(made)
    return twin


def _function(f: FunctionType, replace: Replace, seen: dict[int, Any]) -> FunctionType:
    if _is_library(f.__module__):
        return f
    names = {n: f.__globals__[n] for n in _names(f.__code__) if n in f.__globals__}
    new_names = {n: _mapped(v, replace, seen) for n, v in names.items()}
    cells = f.__closure__ or ()
    new_cells = tuple([_cell(c, replace, seen) for c in cells])
    defaults = _mapped(f.__defaults__, replace, seen)
    keywords = _mapped(f.__kwdefaults__, replace, seen)
    kept = defaults is f.__defaults__ and keywords is f.__kwdefaults__
    if kept and _same(new_names.values(), names.values()) and _same(new_cells, cells):
        return f
    made = FunctionType(f.__code__, {**f.__globals__, **new_names}, f.__name__, defaults, new_cells or None)
    made.__kwdefaults__ = keywords
    return made


def _cell(cell: CellType, replace: Replace, seen: dict[int, Any]) -> CellType:
    try:
        content = cell.cell_contents
    except ValueError:  # not assigned yet
        return cell
    made = _mapped(content, replace, seen)
    return cell if made is content else CellType(made)


def _is_array(x: Any) -> bool:
    """Whether x is an array that holds values: NumPy's, JAX's or TensorFlow's."""
    return is_array(x) or type(x).__name__ in ("ArrayImpl", "EagerTensor")


def _is_library(module: str | None) -> bool:
    return (module or "").partition(".")[0] in _LIBRARIES


@functools.lru_cache(maxsize=1000)
def _names(code: CodeType) -> tuple[str, ...]:
    """Global names that code, or code inside it, may read."""
    return tuple(dict.fromkeys(_all_names(code)))


def _all_names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _all_names(constant)
