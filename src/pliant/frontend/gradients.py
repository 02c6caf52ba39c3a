"""Where gradients go: added to the caller's buffers, or packed in one vector."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from pliant.errors import ArgumentError, DTypeError, ShapeError, UnsupportedError
from pliant.frontend.alias import is_injective
from pliant.frontend.array import TracedArray, fresh, view
from pliant.frontend.convert import as_traced
from pliant.frontend.signature import containers, flatten, unflatten
from pliant.frontend.tracing import current
from pliant.frontend.view import ReshapeLens, SliceLens
from pliant.ops.shape import concatenate, reshape

IN_PLACE: Final = 1 << 16  # bytes of a packed gradient from which on its parts are computed where they lie in it


def placed(gradient: Any, accumulate_into: Any, *, pack: bool) -> Any:
    """The gradient as it is returned: `(vector, tree of views of it)` if it is packed."""
    if not pack:
        return gradient if accumulate_into is None else accumulated(gradient, accumulate_into)
    leaves, structure = flatten(gradient)
    vector = packed(leaves)
    if accumulate_into is not None:
        vector = accumulated(vector, accumulate_into)
    return vector, unflatten(structure, parts(vector, leaves))


def packed(leaves: Sequence[TracedArray]) -> TracedArray:
    """All elements in one vector, leaf after leaf, each in row-major order."""
    kinds = {x.type.dtype: x.type for x in leaves}
    if len(kinds) != 1:
        types = " and ".join(str(t) for t in kinds.values()) or "nothing"
        raise DTypeError(
            f"pack=True: expected gradients of one dtype, got {types}", hint="differentiate arrays of one dtype"
        )
    pieces = tuple([reshape(x.value, (x.size,)) for x in leaves])
    vector = concatenate(pieces, 0)
    if vector.type.bytes >= IN_PLACE:
        current().packed[vector] = pieces
    return fresh(vector, is_array=True)


def parts(vector: TracedArray, leaves: Sequence[TracedArray]) -> list[TracedArray]:
    """Views of a vector, shaped like the leaves."""
    made: list[TracedArray] = []
    start = 0
    for x in leaves:
        made.append(view(vector, SliceLens((start,), (1,), (x.size,)), ReshapeLens(x.shape)))
        start += x.size
    return made


def accumulated(gradient: Any, buffers: Any) -> Any:
    """The buffers, after the gradient was added to them. Nothing is written unless all of it fits."""
    leaves, structure = flatten(gradient)
    given, found = flatten(buffers)
    if found != structure:
        raise ArgumentError(
            f"accumulate_into= has structure {containers(found)}, the gradient has {containers(structure)}",
            hint="* is an array or a number",
        )
    targets = [_buffer(buffer, g) for buffer, g in zip(given, leaves, strict=True)]
    for target, g in zip(targets, leaves, strict=True):
        np.add(target, g, out=target)
    return unflatten(structure, targets)


def _buffer(buffer: Any, g: TracedArray) -> Any:
    """A buffer as a traced array, if the gradient fits into it."""
    if not isinstance(buffer, np.ndarray | TracedArray):
        raise ArgumentError(f"accumulate_into=: expected an array, got {type(buffer).__name__}")
    target: Any = as_traced(buffer)
    if target.shape != g.shape:
        raise ShapeError(f"accumulate_into=: expected an array like the gradient {g.type}, got {target.type}")
    if not np.can_cast(g.dtype, target.dtype, "same_kind"):
        raise DTypeError(f"accumulate_into=: a gradient {g.type} cannot be added to {target.type}")
    if isinstance(buffer, np.ndarray) and buffer.flags.writeable and not is_injective(buffer):
        raise UnsupportedError(
            f"accumulate_into=: {target.type} of strides {buffer.strides} has several elements in one place of memory",
            hint="give an array that has each element once, and add them up afterwards",
        )
    return target
