"""`np.nditer` and `np.broadcast`, over arrays whose shapes are known while tracing: element by element, in NumPy's
order."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Final, cast, final

import numpy as np
from numpy.lib.stride_tricks import as_strided

from pliant.core.origin import here
from pliant.errors import UnsupportedError
from pliant.frontend.array import TracedArray, view
from pliant.frontend.convert import as_traced, broadcast_shapes
from pliant.frontend.kinds import is_sequence
from pliant.frontend.strides import WIDEST, contiguous, is_unsure, settled, sides_of
from pliant.frontend.view import read_only

FLAGS: Final = frozenset(("multi_index", "c_index", "f_index", "zerosize_ok", "refs_ok", "buffered", "delay_bufalloc"))
WRITES: Final = frozenset(("readwrite", "writeonly"))


@final
class NdIter:
    """What `np.nditer` makes. Operands that are None are allocated."""

    def __init__(
        self, op: Any, flags: Sequence[str] = (), op_flags: Any = None, op_dtypes: Any = None, order: str = "K",
        casting: str = "safe", op_axes: Any = None, itershape: Any = None, buffersize: int = 0,
    ) -> None:  # fmt: skip
        others = {"op_dtypes": op_dtypes, "op_axes": op_axes, "itershape": itershape}
        unknown = [f"{name}=" for name, x in others.items() if x is not None]
        unknown += [f"the flag {flag!r}" for flag in flags or () if flag not in FLAGS]
        if unknown:
            raise _unsupported(f"np.nditer with {unknown[0]}", "go over indices, np.ndindex(x.shape)")
        given = [*op] if is_sequence(op) else [op]
        arrays = [None if x is None else as_traced(x) for x in given]
        known = [x for x in arrays if x is not None]
        self.shape: tuple[int, ...] = np.broadcast_shapes(*[x.shape for x in known])
        dtype = np.result_type(*[x.dtype for x in known])
        self.operands = tuple([as_traced(np.empty(self.shape, dtype)) if x is None else x for x in arrays])
        self._is_single = not is_sequence(op)
        rows = _rows(op_flags, len(given))
        are_written = [x is None or not WRITES.isdisjoint(row) for x, row in zip(arrays, rows, strict=True)]
        parts = zip(self.operands, are_written, strict=True)
        self._parts = [_part(x, self.shape, is_written=is_written) for x, is_written in parts]
        self._indices = _indices(arrays, order)
        self._flags = frozenset(flags or ())
        if not self._indices and "zerosize_ok" not in self._flags:
            raise ValueError("Iteration of zero-sized operands is not enabled")
        self.reset()

    def reset(self) -> None:
        """Go back to the first element."""
        self.iterindex, self._is_begun = 0, False

    @property
    def finished(self) -> bool:
        """Whether all elements were gone over."""
        return self.iterindex >= len(self._indices)

    @property
    def itersize(self) -> int:
        """How many elements there are."""
        return len(self._indices)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def nop(self) -> int:
        """The number of operands."""
        return len(self.operands)

    @property
    def multi_index(self) -> tuple[int, ...]:
        """The place of the element."""
        if "multi_index" not in self._flags:
            raise ValueError("Iterator is not tracking a multi-index")
        return self._place()

    @property
    def index(self) -> int:
        """The number of the element."""
        order = "C" if "c_index" in self._flags else "F" if "f_index" in self._flags else None
        if order is None:
            raise ValueError("Iterator does not have an index")
        return int(np.ravel_multi_index(self._place(), self.shape, order=order))

    @property
    def value(self) -> Any:
        """The element, an array of rank 0; of several operands, a tuple."""
        found = tuple([part[(*self._place(), ...)] for part in self._parts])
        return found[0] if self._is_single else found

    def iternext(self) -> bool:
        """Go to the next element, if there is one."""
        self.iterindex += 1
        return not self.finished

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self._is_begun:
            self.iterindex += 1
        if self.finished:
            raise StopIteration
        self._is_begun = True
        return self.value

    def __len__(self) -> int:
        return len(self.operands)

    def __getitem__(self, number: int) -> Any:
        return self._parts[number][(*self._place(), ...)]

    def __setitem__(self, number: int, content: Any) -> None:
        self._parts[number][self._place()] = content

    def __enter__(self) -> NdIter:
        return self

    def __exit__(self, *error: object) -> None:
        """All has been written."""

    def close(self) -> None:
        """All has been written."""

    def _place(self) -> tuple[int, ...]:
        if self.finished:
            raise ValueError("Iterator is past the end")
        return self._indices[self.iterindex]


@final
class Broadcast:
    """What `np.broadcast` makes."""

    def __init__(self, *args: Any) -> None:
        arrays = [as_traced(x) for x in args]
        self.shape: tuple[int, ...] = broadcast_shapes((), *[x.shape for x in arrays])
        self.ndim = self.nd = len(self.shape)
        self.size = math.prod(self.shape)
        self.numiter = len(arrays)
        self.index = 0
        self._parts: list[Any] = [np.broadcast_to(x, self.shape) for x in arrays]  # type: ignore[call-overload]

    def reset(self) -> None:
        """Go back to the first elements."""
        self.index = 0

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self.index >= self.size:
            raise StopIteration
        place = tuple(map(int, np.unravel_index(self.index, self.shape)))
        self.index += 1
        return tuple([part[place] for part in self._parts])


def _rows(op_flags: Any, count: int) -> list[Sequence[str]]:
    """The flags of each operand, of one list for all, or of one for each."""
    if op_flags is None:
        return [("readonly",)] * count
    return [*op_flags] if all([is_sequence(row) for row in op_flags]) else [tuple(op_flags)] * count


def _part(x: TracedArray, shape: tuple[int, ...], *, is_written: bool) -> TracedArray:
    """An operand as it is gone over."""
    if is_written:
        if x.shape != shape:
            raise ValueError("output operand requires a reduction along dimension 0, but the reduction is not enabled")
        return x
    whole: Any = np.broadcast_to(x, shape)  # type: ignore[call-overload]
    return view(whole, read_only("np.nditer"))


def _indices(arrays: Sequence[TracedArray | None], order: str) -> list[tuple[int, ...]]:
    """The places of the elements, in the order that they are gone over: NumPy's iterator is asked."""
    models = [None if x is None else _model(x, order) for x in arrays]
    flags = [["writeonly", "allocate"] if x is None else ["readonly"] for x in arrays]
    it: Any = np.nditer(models, ["multi_index", "zerosize_ok"], flags, order=cast("Any", order))  # type: ignore[list-item]
    found: list[tuple[int, ...]] = []
    while not it.finished:
        found.append(it.multi_index)
        it.iternext()
    return found


def _model(x: TracedArray, order: str) -> Any:
    """An array that nobody looks at, with the strides of another."""
    sides = {None if is_unsure(side) else settled(side) for side in sides_of(x)}
    at = sides.pop() if len(sides) == 1 else None
    if at is None:
        is_reversed = any([side is not None and min(side[1], default=0) < 0 for side in sides])
        if order not in ("C", "F") and (x.ndim > 1 or is_reversed):
            raise _unsupported(f"np.nditer in order {order!r} of an array whose layout is not known", "say order='C'")
        at = x.shape, contiguous(x.shape)
    steps = [round(step * WIDEST) for step in at[1]]  # parts of records lie a fraction of their elements apart
    return as_strided(np.empty(1, np.complex128), x.shape, steps, writeable=False)  # of 16 bytes


def _unsupported(message: str, hint: str) -> UnsupportedError:
    return UnsupportedError(f"{message} is not supported", hint=hint).at(("here", here()))
