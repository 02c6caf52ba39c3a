"""Which elements of a program's results depend on which of its arguments: by index sets.

The sets are rows of sparse boolean matrices, [elements of the value, elements of all active x].
Data movement is exact: the operation is run on the numbers of the elements instead of on them.
Branches count with all their sides, and what is not known here depends on everything it reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import scipy.sparse

from pliant.core.ir import Function, Node, Param, Value, nodes
from pliant.ops.base import Elementwise, Movement
from pliant.ops.index import Gather, ScatterAdd, ScatterSet
from pliant.ops.reduce import Reduction
from pliant.ops.shape import Concatenate
from pliant.ops.update import AddSlice, UpdateSlice
from pliant.transforms.evaluate import run
from pliant.transforms.inline import inline

sp: Any = scipy.sparse

_MOVING: Final = (Movement, Concatenate, Gather, ScatterSet, UpdateSlice)


def dependence(fn: Function, arrays: Sequence[Any], active: int) -> list[Any]:
    """A boolean csr_array per result, for the first `active` parameters; arrays: all arguments."""
    fn = inline(fn)
    sets: dict[Value, Any] = {}
    known: dict[Value, Any] = dict(zip(fn.params[active:], arrays[active:], strict=True))
    xs = fn.params[:active]
    width = sum(x.type.size for x in xs)
    start = 0
    for x in xs:
        sets[x] = sp.eye_array(x.type.size, width, k=start, dtype=bool, format="csr")
        start += x.type.size
    with np.errstate(all="ignore"):
        for node in nodes(fn.results):
            if not isinstance(node.op, Param):
                _propagate(node, sets, known, width)
    return [sets[r] if r in sets else sp.csr_array((r.type.size, width), dtype=bool) for r in fn.results]


def _propagate(node: Node, sets: dict[Value, Any], known: dict[Value, Any], width: int) -> None:
    """Fill in the sets, or the arrays, of a node's results."""
    if not any(a in sets for a in node.args):
        if all(a in known for a in node.args):
            known.update(zip(node.values, run(node.op, np, [np.asarray(known[a]) for a in node.args]), strict=True))
        return  # else it is made of indices that depend on x
    if not any(v.type.is_float for v in node.values):
        return
    made = _moved(node, sets, known, width)
    for value in node.values:
        if value.type.is_float:
            sets[value] = made if made is not None else _everything(node, sets, value.type.size)


def _moved(node: Node, sets: dict[Value, Any], known: dict[Value, Any], width: int) -> Any:
    """The set of the only result; None if nothing exact is known about the operation."""
    match node.op:
        case Elementwise():
            return _union([_fit(sets[a], node.types[0].size) for a in node.args if a in sets])
        case Reduction():
            x = node.args[0]
            kept = np.arange(node.types[0].size).reshape([1 if n in node.op.axes else s for n, s in enumerate(x.shape)])
            target = np.broadcast_to(kept, x.shape).reshape(-1)
            return _as_boolean(_selection(target, node.types[0].size) @ sets[x])
        case AddSlice() | ScatterAdd():
            return _accumulated(node, sets, known)
        case op if isinstance(op, _MOVING):
            return _renumbered(node, sets, known, width)
        case _:
            return None


def _renumbered(node: Node, sets: dict[Value, Any], known: dict[Value, Any], width: int) -> Any:
    """Run a movement on element numbers; 0 stands for what does not depend on x."""
    given: list[Any] = []
    rows = [sp.csr_array((1, width), dtype=bool)]
    count = 1
    for a in node.args:
        if a in sets:
            given.append(np.arange(count, count + a.type.size).reshape(a.shape))
            rows.append(sets[a])
            count += a.type.size
        elif a.type.is_float:
            given.append(np.zeros(a.shape, np.int64))
        elif a in known:
            given.append(np.asarray(known[a]))
        else:
            return None
    (numbers,) = run(node.op, np, given)
    return sp.vstack(rows, format="csr")[np.asarray(numbers).reshape(-1)]


def _accumulated(node: Node, sets: dict[Value, Any], known: dict[Value, Any]) -> Any:
    """x with u added somewhere."""
    x, *indices, u = node.args
    if any(i not in known for i in indices):
        return None
    numbers = np.arange(x.type.size).reshape(x.shape)
    if isinstance(node.op, AddSlice):
        target: Any = run(node.op.window(u.shape), np, [numbers])[0]
    else:
        assert isinstance(node.op, ScatterAdd)
        target = run(Gather(node.op.shared, node.op.unique), np, [numbers, *[np.asarray(known[i]) for i in indices]])[0]
    parts = [sets[x]] if x in sets else []
    if u in sets:
        parts.append(_as_boolean(_selection(target.reshape(-1), x.type.size) @ sets[u]))
    return _union(parts)


def _selection(target: Any, rows: int) -> Any:
    """The 0/1 matrix that adds element e to row target[e]."""
    ones = np.ones(target.size, np.int64)
    return sp.csr_array((ones, (target, np.arange(target.size))), shape=(rows, target.size))


def _as_boolean(x: Any) -> Any:
    return x.astype(bool)


def _union(parts: Sequence[Any]) -> Any:
    total: Any = parts[0]
    for part in parts[1:]:
        total = total + part
    return _as_boolean(total)


def _fit(rows: Any, size: int) -> Any:
    """A scalar's set for every element it meets."""
    return rows if rows.shape[0] == size else rows[np.zeros(size, np.int64)]


def _everything(node: Node, sets: dict[Value, Any], size: int) -> Any:
    """Every element depends on all that any operand depends on."""
    columns = np.unique(np.concatenate([sets[a].indices for a in node.args if a in sets]))
    width = next(sets[a].shape[1] for a in node.args if a in sets)
    index = np.tile(columns, size)
    pointers = np.arange(size + 1) * columns.size
    return sp.csr_array((np.ones(index.size, bool), index, pointers), shape=(size, width))
