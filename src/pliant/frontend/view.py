"""Views: how to read a part of a storage's value, and how to put a new part back.

A view is a tuple of lenses, outermost last. `get` reads through one, `put` returns the whole
with the part replaced; putting through a chain gets and puts from the inside out.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, final

import numpy as np

from pliant.core.data import frozen
from pliant.core.ir import Value, operators
from pliant.core.origin import here
from pliant.core.types import DTYPES, itemsize
from pliant.errors import ReadOnlyError
from pliant.ops.bitcast import are_parts, bitcast, viewed
from pliant.ops.block import read_block, update_block
from pliant.ops.compare import equal
from pliant.ops.complex import Complex, imag, real
from pliant.ops.custom import stop_gradient
from pliant.ops.index import dynamic_slice, dynamic_update_slice
from pliant.ops.select import select
from pliant.ops.shape import Slice, permute, reshape
from pliant.ops.update import UpdateSlice


class Lens(ABC):
    """One step from a whole to a part of it."""

    @abstractmethod
    def get(self, whole: Value) -> Value:
        """The part."""

    @abstractmethod
    def numpy(self, whole: Any) -> Any:
        """The part of a NumPy array: a view of it, or a copy where NumPy has no view."""

    @abstractmethod
    def put(self, whole: Value, part: Value) -> Value:
        """The whole with the part replaced."""


@final
@frozen
class WholeLens(Lens):
    """All of it: another array object on the same memory, as `x[:]` is."""

    def get(self, whole: Value) -> Value:
        return whole

    def numpy(self, whole: Any) -> Any:
        return whole.view()

    def put(self, whole: Value, part: Value) -> Value:
        return part


@final
@frozen
class SliceLens(Lens):
    """Static starts, steps and lengths, one each per axis."""

    start: tuple[int, ...]
    step: tuple[int, ...]
    length: tuple[int, ...]

    def get(self, whole: Value) -> Value:
        return Slice(self.start, self.step, self.length)(whole)

    def numpy(self, whole: Any) -> Any:
        return whole[Slice(self.start, self.step, self.length).slices()]

    def put(self, whole: Value, part: Value) -> Value:
        is_all = self.length == whole.shape and all(d == 1 for d in self.step)
        return part if is_all else UpdateSlice(self.start, self.step)(whole, part)


@frozen
class TracedLens(Lens):
    """A part whose place is made of values of the program."""

    def numpy(self, whole: Any) -> Any:
        raise AssertionError("a view at a traced place is returned as a copy")


@final
@frozen
class DynamicLens(TracedLens):
    """A window whose starts are values of the program; `starts` has one entry per axis."""

    starts: tuple[Value, ...]
    length: tuple[int, ...]

    def get(self, whole: Value) -> Value:
        return dynamic_slice(whole, self.starts, self.length)

    def put(self, whole: Value, part: Value) -> Value:
        return dynamic_update_slice(whole, part, self.starts)


@final
@frozen
class BlockLens(TracedLens):
    """A window whose lengths too are values of the program, of at most `shape`; beyond them it reads zeros."""

    starts: tuple[Value, ...]
    lengths: tuple[Value, ...]
    shape: tuple[int, ...]
    step: tuple[int, ...]

    def get(self, whole: Value) -> Value:
        return read_block(whole, self.starts, self.lengths, self.shape, self.step)

    def put(self, whole: Value, part: Value) -> Value:
        return update_block(whole, part, self.starts, self.lengths, self.step)


@final
@frozen
class PermuteLens(Lens):
    """Axes in another order."""

    order: tuple[int, ...]

    def get(self, whole: Value) -> Value:
        return permute(whole, self.order)

    def numpy(self, whole: Any) -> Any:
        return np.transpose(whole, self.order)

    def put(self, whole: Value, part: Value) -> Value:
        return permute(part, tuple(sorted(range(len(self.order)), key=lambda i: self.order[i])))


@final
@frozen
class ReshapeLens(Lens):
    """Another shape, the same elements in row-major order."""

    shape: tuple[int, ...]

    def get(self, whole: Value) -> Value:
        return reshape(whole, self.shape)

    def numpy(self, whole: Any) -> Any:
        return np.reshape(whole, self.shape)

    def put(self, whole: Value, part: Value) -> Value:
        return reshape(part, whole.shape)


@final
@frozen
class DiagonalLens(Lens):
    """The diagonal of each group of neighbouring axes of one extent; `counts` says how many axes each group has."""

    counts: tuple[int, ...]

    def lenses(self, shape: tuple[int, ...]) -> tuple[ReshapeLens, SliceLens]:
        """The same by simpler steps, which NumPy takes only where the array is row-major."""
        ends = list(itertools.accumulate(self.counts))
        extents = tuple([shape[end - 1] for end in ends])
        steps = tuple([sum([n**k for k in range(c)]) for n, c in zip(extents, self.counts, strict=True)])
        merged = ReshapeLens(tuple([n**c for n, c in zip(extents, self.counts, strict=True)]))
        return merged, SliceLens((0,) * len(ends), steps, extents)

    def get(self, whole: Value) -> Value:
        merged, taken = self.lenses(whole.shape)
        return taken.get(merged.get(whole))

    def numpy(self, whole: Any) -> Any:
        axes = [n for n, count in enumerate(self.counts) for _ in range(count)]
        return np.einsum(whole, axes, list(range(len(self.counts))))

    def put(self, whole: Value, part: Value) -> Value:
        merged, taken = self.lenses(whole.shape)
        return merged.put(whole, taken.put(merged.get(whole), part))


@final
@frozen
class RealLens(Lens):
    """The real part of a complex array."""

    def get(self, whole: Value) -> Value:
        return real(whole)

    def numpy(self, whole: Any) -> Any:
        return whole.real

    def put(self, whole: Value, part: Value) -> Value:
        return Complex()(part, imag(whole))


@final
@frozen
class ImagLens(Lens):
    """The imaginary part of an array; zeros that nobody may write, where it is not complex."""

    def get(self, whole: Value) -> Value:
        return imag(whole) if whole.type.kind == "c" else operators.zeros(whole.type)

    def numpy(self, whole: Any) -> Any:
        return whole.imag

    def put(self, whole: Value, part: Value) -> Value:
        if whole.type.kind != "c":
            message = f"assignment destination is read-only: it is the imaginary part of {whole.type}"
            raise ReadOnlyError(message, hint="copy it first").at(("written here", here()))
        return Complex()(real(whole), part)


@final
@frozen
class DTypeLens(Lens):
    """The same bytes as elements of another dtype; the last axis gets longer or shorter."""

    before: str
    dtype: str

    def get(self, whole: Value) -> Value:
        return viewed(whole, self.dtype)

    def numpy(self, whole: Any) -> Any:
        return whole.view(DTYPES[self.dtype])

    def put(self, whole: Value, part: Value) -> Value:
        made = viewed(part, whole.dtype)
        if whole.type.kind != "f" or are_parts(whole.dtype, self.dtype):
            return made
        # elements that keep their bits keep their derivatives
        bits = f"u{8 * itemsize(whole.dtype)}"
        return select(equal(bitcast(made, bits), bitcast(whole, bits)), whole, made)


@final
@frozen
class ReadOnlyLens(Lens):
    """A view that NumPy does not let anyone write: `broadcast_to`, `diagonal`."""

    read: Callable[[Value], Value]
    show: Callable[[Any], Any]  # the same of a NumPy array
    name: str

    def get(self, whole: Value) -> Value:
        return self.read(whole)

    def numpy(self, whole: Any) -> Any:
        return self.show(whole)

    def put(self, whole: Value, part: Value) -> Value:
        message = f"assignment destination is read-only: it is the result of {self.name}"
        raise ReadOnlyError(message, hint="copy it first").at(("written here", here()))


def read_only(name: str) -> ReadOnlyLens:
    """All of an array, as the result of something that NumPy does not let anyone write."""
    return ReadOnlyLens(_itself, _itself, name)


def _itself(x: Any) -> Any:
    return x


@final
@frozen
class StoppedLens(Lens):
    """All of it, taken as a constant by derivatives. It is kept the last of a chain: what is written through a part of
    it leaves the derivatives of the rest."""

    def get(self, whole: Value) -> Value:
        return stop_gradient(whole)

    def numpy(self, whole: Any) -> Any:
        return whole

    def put(self, whole: Value, part: Value) -> Value:
        return part


def chained(lenses: tuple[Lens, ...], more: tuple[Lens, ...]) -> tuple[Lens, ...]:
    """A view of a view; a slice of a slice is one."""
    if lenses and isinstance(lenses[-1], StoppedLens):
        return (*chained(lenses[:-1], more), lenses[-1])
    match (*lenses[-1:], *more[:1]):
        case (SliceLens() as outer, SliceLens() as inner):
            axes = zip(outer.start, outer.step, inner.start, strict=True)
            start = tuple([s + d * i if n else s for (s, d, i), n in zip(axes, inner.length, strict=True)])
            step = tuple([d * e for d, e in zip(outer.step, inner.step, strict=True)])
            return (*lenses[:-1], SliceLens(start, step, inner.length), *more[1:])
        case _:
            return (*lenses, *more)


def is_static(lenses: tuple[Lens, ...]) -> bool:
    """Whether a NumPy array of the caller has the same view."""
    return not any(isinstance(lens, TracedLens) for lens in lenses)


def look(array: Any, lenses: tuple[Lens, ...]) -> Any:
    """The part of a NumPy array that static lenses show."""
    for lens in lenses:
        array = lens.numpy(array)
    return array
