"""Arguments as leaves: what a compiled program is specialised to, and what it is given."""

from __future__ import annotations

import array
import ctypes
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, Final, TypeAlias, final

import numpy as np
import optree

from pliant.core.data import frozen
from pliant.core.origin import here
from pliant.core.types import SHORT, Type
from pliant.errors import ArgumentError
from pliant.frontend.array import TracedArray
from pliant.frontend.growing import Growing
from pliant.frontend.kinds import is_sequence, is_table
from pliant.frontend.memory import Memories
from pliant.frontend.random.generator import TracedGenerator
from pliant.frontend.records import found_in, is_record
from pliant.frontend.reference import NAMESPACE, Ref
from pliant.frontend.sharing import NONE, Closed, Firsts, parts_of
from pliant.frontend.tracing import strides_of, unknown_dtype

UNNAMED: Final = ""
"""The key of what is named as its holder is: all that this has."""
_ATTRIBUTE: Final = re.compile(r"\[<flat index '(\w+)'>\]")  # what optree calls those of an object
_HELD: Final = re.compile(r"(.*\.\w+)(?:\[[^]]*\])*$")  # where an attribute is, or an item of it
_INSIDE: Final = re.compile(r"[.\[]")
WEAK: Final = {bool: "bool", int: "i64", float: "f64", complex: "c128"}


@final
class Static:
    """A leaf that is no number: part of the signature, compared by equality and class, so are the items of tuples."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Static) and _is_same(self.value, other.value)

    def __hash__(self) -> int:
        return hash((self.value.__class__, hash_of(self.value)))


def _is_same(x: Any, y: Any) -> bool:
    """Whether two values are equal, of one class, and zeros of one sign."""
    if x.__class__ is not y.__class__:
        return False
    if x.__class__ is tuple:
        return len(x) == len(y) and all(map(_is_same, x, y))
    return repr(x) == repr(y) if x.__class__ in (float, complex) else x == y


def hash_of(value: Any) -> int:
    """The hash of a value; of a slice, also in a tuple, that of its bounds, since Python has none before 3.12."""
    if value.__class__ is slice:
        return hash((slice, value.start, value.stop, value.step))
    return hash(tuple(map(hash_of, value)) if value.__class__ is tuple else value)


def static(value: Any) -> Static:
    """A static argument: a leaf of the signature, whatever it holds."""
    try:
        hash_of(value)
    except TypeError:
        raise ArgumentError(
            f"static arguments must be hashable, got {type(value).__name__}", hint="a tuple, a number or a string"
        ) from None
    return Static(value)


def flatten(tree: Any, closed: Closed = NONE) -> tuple[list[Any], Any]:
    """Leaves of nested tuples, lists, dicts, dataclasses with arrays, and None; and the structure. closed: the lists
    that are leaves."""

    def is_leaf(x: Any) -> bool:
        return id(x) in closed

    try:
        leaves, structure = optree.tree_flatten(
            tree, is_leaf if closed else None, none_is_leaf=False, namespace=NAMESPACE
        )
    except RecursionError:
        if not _holds_itself(tree):
            raise
        message = "a list, dict or object among the arguments holds itself"
        raise ArgumentError(message, hint="pass what it holds, without itself").at(("here", here())) from None
    found = found_in([x for x in leaves if id(x) not in closed] if closed else leaves)
    return flatten(tree, closed) if found else (leaves, structure)


def _holds_itself(tree: Any) -> bool:
    """Whether there is a container that is held by what it holds."""
    todo: list[tuple[Any, frozenset[int]]] = [(tree, frozenset())]
    while todo:
        x, around = todo.pop()
        if id(x) in around:
            return True
        todo += [(part, around | {id(x)}) for _, part in parts_of(x) or ()]
    return False


def selected(tree: Any, flags: Iterable[bool]) -> Any:
    """A tree with None in place of leaves without a flag, and of references and generators that have no other ones."""
    rest = iter(flags)

    def kept(x: Any) -> Any:
        return x if any([next(rest) for _ in flatten(x)[0]]) else None

    return optree.tree_map(kept, tree, is_leaf=_is_object, none_is_leaf=False, namespace=NAMESPACE)


def _is_object(x: Any) -> bool:
    """Whether a container is an object for users, who do not see that it is one."""
    return isinstance(x, Ref | TracedGenerator | np.random.Generator | np.random.RandomState)


def pruned(tree: Any, like: Any) -> Any:
    """A tree with None wherever another one of the same containers has it; the tree itself if it has others."""
    wanted, other = optree.tree_flatten(like, none_is_leaf=True, namespace=NAMESPACE)
    try:
        parts = other.flatten_up_to(tree)
    except ValueError:
        return tree
    return unflatten(other, [None if w is None else x for x, w in zip(parts, wanted, strict=True)])


def beside(tree: Any, like: Any) -> list[tuple[Any, Any]] | None:
    """What a tree has beside each leaf of another one of the same containers, None where it has None for all of a
    container; None if it has others."""
    try:
        parts = optree.broadcast_prefix(tree, like, none_is_leaf=True, namespace=NAMESPACE)
    except ValueError:
        return None
    return list(zip(parts, optree.tree_leaves(like, none_is_leaf=True, namespace=NAMESPACE), strict=True))


def containers(structure: Any) -> str:
    """A structure in words of Python, as `(*, [*, *])`, where each `*` is an array or a number."""
    kind, parts = structure.type, [containers(part) for part in structure.children()]
    if kind is tuple:
        return f"({', '.join(parts)}{',' * (len(parts) == 1)})"
    if kind is list:
        return f"[{', '.join(parts)}]"
    if kind is dict:
        return f"{{{', '.join([f'{k!r}: {x}' for k, x in zip(structure.entries(), parts, strict=True)])}}}"
    text = str(structure).removeprefix("PyTreeSpec(").removesuffix(")")
    text = text.removesuffix(f", namespace={NAMESPACE!r}")
    if not text.startswith("CustomTreeNode("):
        return text
    named = [f"{k}={x}" if isinstance(k, str) else x for k, x in zip(structure.entries(), parts, strict=True)]
    return f"{kind.__name__.removeprefix('Traced')}({', '.join(named)})"


def places(structure: Any, name: str) -> list[str]:
    """Where each leaf of a tree of some name is, as Python finds it: `xs[0]['b'].slope`."""
    found = [a.codify(name).replace("[<flat index 0>]", "") for a in structure.accessors()]
    return [_ATTRIBUTE.sub(r".\1", text) for text in found]


def attributes_of(structure: Any) -> list[str]:
    """The attribute that each leaf of a tree is, or is a part of, by where it is; "" of what is in no object."""
    found = [_HELD.match(place) for place in places(structure, "x")]
    return [place[1] if place else "" for place in found]


def key_orders(tree: Any, closed: Closed = NONE) -> tuple[Any, ...]:
    """The order of the keys of each dict: the structure does not tell, but a function may see it."""
    parts = () if id(tree) in closed else tree.values() if is_table(tree) else tree if is_sequence(tree) else ()
    inner = tuple([order for x in parts if (order := key_orders(x, closed))])
    return (tuple(tree), *inner) if is_table(tree) else inner


def unflatten(structure: Any, leaves: Any) -> Any:
    """The inverse of `flatten`."""
    return optree.tree_unflatten(structure, leaves)


def as_arrays(leaves: list[Any]) -> list[Any]:
    """The leaves, with arrays of other libraries and buffers as NumPy arrays of the same memory."""
    kinds = [leaf.__class__ for leaf in leaves]
    if all([kind is np.ndarray or kind in WEAK for kind in kinds]):
        return leaves
    makers = [converter(kind) for kind in kinds]
    return [leaf if make is None else make(leaf) for leaf, make in zip(leaves, makers, strict=True)]


Order: TypeAlias = "tuple[int, ...] | None"


@final
@frozen
class Layouts:
    """How leaves lie that are not row-major, which containers are one, and how results lie; nothing if all are
    row-major, and calls make of results what the function returns."""

    orders: tuple[Order, ...] = ()  # of axes, which the function gets in another one
    memories: Memories = ()
    firsts: Firsts = ()  # which containers are the same
    lies: bool = False  # of native code: arrays from outside are read where they lie, and many numbers are a vector
    are_results: bool = False  # what is returned is the results, each of its shape, and no view of others or arguments


ROW_MAJOR: Final = Layouts()


def in_rows(leaves: list[Any]) -> tuple[list[Any], tuple[Order, ...]]:
    """The leaves, with arrays that are row-major but for the order of their axes in that order; and these orders,
    nothing if there are none."""
    orders = tuple([_order_of(leaf) for leaf in leaves])
    if not any(orders):
        return leaves, ()
    return [leaf.transpose(order) if order else leaf for leaf, order in zip(leaves, orders, strict=True)], orders


def _order_of(leaf: Any) -> Order:
    """The order of axes in which an array is row-major; None if it is so as it is, or in none."""
    if leaf.__class__ is not np.ndarray or leaf.ndim < 2 or leaf.flags.c_contiguous:
        return None
    order = sorted(range(leaf.ndim), key=lambda axis: -leaf.strides[axis])
    return tuple(order) if leaf.transpose(order).flags.c_contiguous else None


@cache
def converter(kind: Any) -> Callable[[Any], Any] | None:
    """What makes a plain array of an object of some class, sharing its memory; None if it is no array, or NumPy's."""
    if kind is np.memmap:  # memory as any other, which is a file's
        return np.asarray
    if issubclass(kind, np.ndarray | np.generic | TracedArray | Ref | type):
        return None
    if kind.__module__.partition(".")[0] == "torch" and hasattr(kind, "numpy"):
        return kind.numpy  # its `__array__` is written in Python
    if issubclass(kind, _BUFFERS) or any([hasattr(kind, name) for name in _ARRAYS]):
        return np.asarray
    return np.from_dlpack if hasattr(kind, "__dlpack__") else None


_BUFFERS: Final = (memoryview, bytearray, array.array, ctypes.Array)  # bytes are a value
_ARRAYS: Final = ("__array__", "__array_interface__", "__array_struct__")


def signature(leaf: Any) -> Any:
    """What of a leaf a program is specialised to: kind, dtype and shape, strides if they are
    not row-major; the value if it is static."""
    kind = leaf.__class__
    if kind is np.ndarray:
        return ("array", leaf.dtype, leaf.shape, strides_of(leaf))
    if kind in WEAK:
        return (kind,)
    if issubclass(kind, np.generic):
        return ("scalar", leaf.dtype)
    if kind is Growing:
        return (kind, leaf.is_empty)
    if isinstance(leaf, np.ndarray):
        raise ArgumentError(
            f"expected a numpy.ndarray, got its subclass {kind.__name__}", hint="np.asarray(x) makes a plain array"
        )
    if isinstance(leaf, Iterator):
        message = f"expected arrays, numbers and containers of them, got {kind.__name__}, which can be read only once"
        raise ArgumentError(message, hint="pass a list of its items")
    try:
        return (Static(leaf), hash_of(leaf))
    except TypeError:
        raise ArgumentError(
            f"expected arrays, numbers, containers of them, or hashable static values; got {kind.__name__}",
            hint=_instead_of(leaf),
        ) from None


def _instead_of(x: Any) -> str:
    """What to pass in place of what is no array and not hashable."""
    if isinstance(x, set):
        return "make it hashable: frozenset(s) of a set s"
    if hasattr(x, "toarray"):
        return "x.toarray() makes an array of a sparse matrix x"
    return "pass the arrays that it holds, in a tuple, list, dict or dataclass"


def check_number(leaf: Any, name: str) -> None:
    """Refuse a Python int that no array can hold."""
    if leaf.__class__ is int and not -(2**63) <= leaf < 2**63:
        raise ArgumentError(f"{name}: the Python int {leaf} does not fit into 64 bits", hint="pass it as a float")


def leaf_type(leaf: Any, name: str) -> Type | None:
    """IR type of an array or number; None for a static leaf."""
    kind = leaf.__class__
    if kind in WEAK:
        check_number(leaf, name)
        return Type(WEAK[kind])
    if issubclass(kind, np.ndarray | np.generic):
        short = SHORT.get(leaf.dtype.name)
        if short is None:
            raise unknown_dtype(leaf.dtype, f"{name}: ")
        return Type(short, leaf.shape)
    return None


def leaf_names(names: list[str], tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> list[str]:
    """A readable name per leaf: `w`, `params['b']`, `xs[0]`, `layer.w`. is_leaf: whether something is taken as one."""
    accessors = optree.tree_accessors(tree, is_leaf, none_is_leaf=False, namespace=NAMESPACE)

    def named(accessor: Any) -> str:
        arguments, first = accessor.path[:2]
        head = names[int(first)] if arguments == 0 and first < len(names) else str(first)
        inner = [e for e in accessor[2:] if e.entry != UNNAMED]
        return head + "".join([f".{e.entry}" if is_record(e.type) else f"[{e.entry!r}]" for e in inner])

    return [named(a) for a in accessors]


def argument_of(name: str) -> str:
    """The argument that a leaf of this name is, or is in."""
    return _INSIDE.split(name, maxsplit=1)[0]
