"""Batches of Python functions, written on traced arrays; `api` compiles them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from pliant.callables import parameter_names
from pliant.core.build import trace
from pliant.core.ir import Value, Values
from pliant.core.origin import here
from pliant.core.types import Type
from pliant.errors import ArgumentError, AxisRangeError, ShapeError
from pliant.frontend.array import TracedArray, fresh
from pliant.frontend.attributes import attributes
from pliant.frontend.closed import Closed, trace_closed
from pliant.frontend.convert import as_traced
from pliant.frontend.failures import note
from pliant.frontend.kinds import is_sequence, is_table, is_traced
from pliant.frontend.number import is_number
from pliant.frontend.records import is_record
from pliant.frontend.signature import attributes_of, flatten, unflatten
from pliant.frontend.twins import Twins
from pliant.in_turn import is_faster_in_turn
from pliant.ops.loop import In, Loop
from pliant.ops.reduce import reduce_max
from pliant.ops.shape import move_axis
from pliant.transforms.vmap import vmap


def mapped(f: Callable[..., Any], in_axes: Any, out_axes: Any, axis_size: int | None, args: Any, kwargs: Any) -> Any:
    """f over the mapped axes of its arguments, all at once."""
    leaves, structure = flatten((args, kwargs))
    axes = _axes_of(f, in_axes, args, kwargs)
    xs: list[Any] = [x if a is None else as_traced(x) for x, a in zip(leaves, axes, strict=True)]
    sizes: dict[int, TracedArray] = {}
    for x, a in zip(xs, axes, strict=True):
        if a is not None:
            if not -len(x.shape) <= a < len(x.shape):
                hint = "in_axes= says which axis of each argument is mapped, None which argument is not"
                if x.is_weak:
                    hint = "np.array(xs) makes one argument of a list of numbers; in_axes=None is not mapped"
                raise ArgumentError(f"vmap: axis {a} is out of range for an argument of type {x.type}", hint=hint).at(
                    ("here", here())
                )
            sizes.setdefault(x.shape[int(a)], x)
    if len(sizes) > 1:
        text = " and ".join(str(x.type) for x in sizes.values())
        raise ShapeError(
            f"vmap: mapped axes have different sizes, in arguments {text}",
            hint="in_axes= says which axis of each argument is mapped, None which argument is not",
        ).at(("here", here()))
    if not sizes and axis_size is None:
        raise ArgumentError("vmap: no argument is mapped", hint="in_axes needs an axis, or give axis_size")
    n = next(iter(sizes), axis_size or 0)
    if axis_size not in (None, n):
        raise ShapeError(
            f"vmap: axis_size={axis_size}, but the mapped axis of an argument of type {sizes[n].type} has {n} elements",
            hint="leave axis_size out: it is for calls in which no argument is mapped",
        ).at(("here", here()))
    flags = [a is not None for a in axes]
    types = [x.type.without((a % x.ndim,)) if a is not None else None for x, a in zip(xs, axes, strict=True)]
    parts = [partial(_first, axis=a) for a in axes]
    closed = trace_closed(
        f, xs, structure, flags, types, parts, twins=Twins.of((args, kwargs)), marks=axes,
        may_raise=True, may_draw=True, may_set=True,
    )  # fmt: skip
    moved = [move_axis(x.value, a, 0) for x, a in zip(xs, axes, strict=True) if a is not None]
    batched = [True] * len(moved) + [False] * len(closed.free)
    rows = in_turn if closed.drawn or is_faster_in_turn(closed.fn, n, batched) else at_once
    ys, failed = rows(closed, n, moved)
    for each in failed if n else ():
        note(reduce_max(each, (0,)))
    out = _axes_per_leaf(out_axes, unflatten(closed.structure, list(closed.leaves)), "out_axes", is_out=True)
    made: list[Any] = []
    rest = iter(ys)
    for leaf, a in zip(closed.leaves, out, strict=True):
        made.append(fresh(_from_front(next(rest), a), is_array=True) if is_traced(leaf) else leaf)
    return unflatten(closed.structure, made)


def at_once(closed: Closed, n: int, moved: Sequence[Value]) -> tuple[Values, Values]:
    """What n rows make, stacked, and the number of the exception that each raises, if any may."""
    flags = (True,) * len(moved) + (False,) * len(closed.free)
    failed = vmap(closed.failing, n, flags)(*moved, *closed.free) if closed.failing is not None else ()
    return vmap(closed.fn, n, flags)(*moved, *closed.free), failed


def in_turn(closed: Closed, n: int, moved: Sequence[Value]) -> tuple[Values, Values]:
    """The same, one row after the other: if it draws from a generator that is made outside, that goes on where it was
    left by the one before."""
    states = tuple([storage.value for storage in closed.drawn])
    others = tuple([value for value in closed.free if value not in states])
    parts = closed.fn.params[: len(moved)]
    counts = len(states), len(moved)

    def row(_: Value, *args: Value) -> Values:
        carried, given, consts = args[: counts[0]], args[counts[0] : sum(counts)], args[sum(counts) :]
        place = dict(zip((*states, *others), (*carried, *consts), strict=True))
        operands = (*given, *[place[value] for value in closed.free])
        made = [f(*operands) for f in (closed.drawing, closed.fn, closed.failing) if f is not None]
        return tuple([y for ys in made for y in ys])

    body = trace(row, Type("i64"), *[v.type for v in (*states, *parts, *others)])
    ins: list[In] = ["carry" for _ in states]
    ins.extend("each" for _ in moved)
    ins.extend("const" for _ in others)
    stacked = len(body.results) - len(states)
    loop = Loop(n, tuple(ins), ("last",) * len(states) + ("stack",) * stacked, body)
    made = loop.apply(*states, *moved, *others)
    for storage, state in zip(closed.drawn, made, strict=False):
        storage.write(state)
    end = len(states) + len(closed.fn.results)
    return made[len(states) : end], made[end:]


def one_by_one(f: Callable[..., Any], in_axes: Any, /, *args: Any, **kwargs: Any) -> None:
    """Call f for one part of mapped arguments after the other."""
    leaves, structure = flatten((args, kwargs))
    axes = _axes_of(f, in_axes, args, kwargs)
    count = max([x.shape[a] for x, a in zip(leaves, axes, strict=True) if a is not None], default=1)
    for n in range(count):
        parts = [x if a is None else np.take(x, n, a) for x, a in zip(leaves, axes, strict=True)]
        args, kwargs = unflatten(structure, parts)
        f(*args, **kwargs)


def _axes_of(f: Callable[..., Any], in_axes: Any, args: Any, kwargs: Any) -> list[Any]:
    """One axis, or None, per leaf of the arguments: text and None have none, and no number that is given by keyword, or
    is an attribute of an object that has arrays."""
    given: list[Any] = []
    for x, axes in zip(args, _split(_axes_per_leaf(in_axes, args, "in_axes"), args), strict=True):
        leaves, structure = flatten(x)
        rows = zip(leaves, axes, attributes_of(structure), strict=True)
        found = [None if _has_no_axes(leaf, is_attribute=bool(held)) else a for leaf, a, held in rows]
        if axes and None not in axes and not any([a is not None for a in found]):
            names, n = parameter_names(f), len(given)
            shown = x if is_record(type(x)) else leaves[0]
            raise ArgumentError(
                f"vmap: expected arrays to map over, got {type(shown).__name__} for "
                f"{names[n] if n < len(names) else f'args[{n}]'}",
                hint="in_axes=None for it",
            ).at(("here", here()))
        given.append(found)
    return [a for axes in given for a in axes] + [
        _axis_of_named(key, leaf) for key in sorted(kwargs) for leaf in flatten(kwargs[key])[0]
    ]


def _split(axes: list[Any], args: Any) -> list[list[Any]]:
    """Axes of all leaves, as those of each argument."""
    rest = iter(axes)
    return [[next(rest) for _ in flatten(x)[0]] for x in args]


def _has_no_axes(leaf: Any, *, is_attribute: bool = False) -> bool:
    return leaf is None or isinstance(leaf, str | bytes) or (is_attribute and is_number(leaf) and not np.ndim(leaf))


def _axis_of_named(key: str, leaf: Any) -> int | None:
    """The axis of what is given by keyword."""
    if _has_no_axes(leaf) or not is_number(leaf):
        return None
    x = as_traced(leaf)
    if x.is_weak or x.is_scalar:
        return None
    if not x.shape:
        raise ArgumentError(
            f"vmap: {key} is an array without axes, and arrays that are given by keyword are mapped over axis 0",
            hint="pass it by position with in_axes=None, or bind it by functools.partial",
        ).at(("here", here()))
    return 0


def _axes_per_leaf(axes: Any, tree: Any, name: str, *, is_out: bool = False) -> list[Any]:
    """One axis, or None, per leaf: `axes` is a prefix of the tree."""
    if axes is None or isinstance(axes, int):
        return [axes] * len(flatten(tree)[0])
    if is_sequence(axes) and is_sequence(tree):
        if len(axes) != len(tree):
            raise ArgumentError(
                f"vmap: {name} has {len(axes)} entries for {len(tree)} {'results' if is_out else 'arguments'}"
            )
        return [a for x, t in zip(axes, tree, strict=True) for a in _axes_per_leaf(x, t, name, is_out=is_out)]
    if is_table(axes) and is_table(tree):
        if axes.keys() != tree.keys():
            raise ArgumentError(f"vmap: {name} has the keys {[*axes]}, what it is for has {[*tree]}")
        return [a for k in sorted(tree) for a in _axes_per_leaf(axes[k], tree[k], name, is_out=is_out)]
    if type(axes) is type(tree) and is_record(type(tree)):
        parts = attributes(axes)
        return [a for k, t in attributes(tree).items() for a in _axes_per_leaf(parts[k], t, name, is_out=is_out)]
    raise ArgumentError(
        f"vmap: {name} must be an int, None, or a container of them like the {'results' if is_out else 'arguments'}; "
        f"got {axes!r}"
    )


def _first(x: Any, axis: Any) -> Any:
    """One of the arrays that an array holds along an axis."""
    return x[(slice(None),) * (axis % x.ndim) + (0,)]


def _from_front(x: Value, axis: Any) -> Value:
    if axis is None:
        raise ArgumentError(
            "vmap: out_axes=None is not supported: every result is batched", hint="out_axes=0, then take [0]"
        )
    if not -len(x.shape) <= axis < len(x.shape):
        raise AxisRangeError(f"vmap: out_axes {axis} is out of range for a batched result of {len(x.shape)} axes").at(
            ("made here", x.origin)
        )
    return move_axis(x, 0, axis)
