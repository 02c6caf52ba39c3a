"""Calling compiled code with NumPy arrays."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

import numpy as np

from pliant.backends.calls import MISSED
from pliant.backends.interrupts import raise_dropped
from pliant.backends.llvm.called import evaluator, raised
from pliant.backends.llvm.frame import Frame, Segment
from pliant.backends.llvm.jit import Code
from pliant.backends.llvm.tapes import STATE, give_back, words
from pliant.core.types import DTYPES, Type
from pliant.errors import DomainError, OutOfMemoryError, beyond, failed, out_of_range
from pliant.frontend.memory import address_of
from pliant.kernel.site import CALLED, INTERRUPTED, OUT_OF_MEMORY

if TYPE_CHECKING:
    from pliant.kernel.ir import Buffer, Host, Program

Array: TypeAlias = Any

LONG: Final = 50_000  # scalar operations, about 50 µs: from here on other threads may run
LEAN_AFTER: Final = 3  # calls; a lean entry takes some milliseconds to make
_Free: Final = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
_Held: Final = ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


def numpy_dtype(type: Type) -> np.dtype[Any]:
    """NumPy's dtype of a type."""
    return np.dtype(DTYPES[type.dtype])


@final
class Executable:
    """A compiled program. Safe to call from many threads, and from host calls of its own."""

    def __init__(
        self,
        frame: Frame,
        code: Code | None,
        order: list[Segment | Host],
        make_lean: Callable[[Executable], Callable[..., Any] | None],
        planned: Callable[[], Program],
    ) -> None:
        self.frame, self.code, self.order, self.make_lean, self.planned = frame, code, order, make_lean, planned
        self.lean: Callable[..., Any] | None = None
        self.calls = 0
        self.params = [(t.shape, numpy_dtype(t)) for t in frame.params]
        self.results = [(t.shape, numpy_dtype(t)) for t in frame.results]
        self.pinned = frame.pinned
        self.table = ctypes.c_void_p * (1 + len(frame.params) + len(frame.results))
        self.arenas: list[Array] = []  # free ones; pop and append are atomic
        self.steps: list[Any] = [self._entry(step) for step in order]
        self.rules = {step: rule_of(step) for step in order if not isinstance(step, Segment)}

    @functools.cached_property
    def program(self) -> Program:
        """The program that this is; for code that was kept on disk it is planned anew."""
        return self.planned()

    def _entry(self, step: Segment | Host) -> Any:
        if not isinstance(step, Segment):
            return step
        assert self.code
        return (_Free if step.work > LONG else _Held)(self.code.address(step.name))

    def __call__(self, arrays: Sequence[Array]) -> list[Array]:
        """Results for arguments of exactly the parameters' dtypes and shapes."""
        if self.lean is None:
            self.calls += 1
            if self.calls < LEAN_AFTER:
                return self.run(*arrays)
            self.lean = self.make_lean(self) or self.run
        made = self.lean(*arrays)
        if made is not MISSED:
            return list(made)
        raise_dropped()
        return self.run(*arrays)

    @functools.cached_property
    def is_sure(self) -> bool:
        """Whether no call fails midway, with results half done; but for a signal."""
        is_fine = all([site.axis == INTERRUPTED for site in self.frame.sites])
        return is_fine and all([isinstance(s, Segment) for s in self.order])

    def into(self, arrays: Sequence[Array], outs: Sequence[Array | None]) -> list[Array]:
        """As a call, with results in the memory of `outs`, where it is not None: contiguous and aligned,
        of the result's dtype and shape, apart from every argument. Pinned results stay where they are."""
        return self.run(*arrays, outs=outs)

    def run(self, *arrays: Array, outs: Sequence[Array | None] = ()) -> list[Array]:
        """The call in Python: takes any layout, and says what is wrong."""
        args = [plain(a, dtype) for a, (_, dtype) in zip(arrays, self.params, strict=True)]
        given = [*outs, *[None] * (len(self.results) - len(outs))]
        made = [
            args[self.pinned[n]] if n in self.pinned else np.empty(*r) if out is None else out
            for n, (r, out) in enumerate(zip(self.results, given, strict=True))
        ]
        try:
            arena = self.arenas.pop()
        except IndexError:
            arena = aligned(self.frame.arena)
        table = self.table(*[address_of(a) for a in (arena, *args, *made)])
        self._run(table, [arena, *args, *made])
        self.arenas.append(arena)
        return made

    def _run(self, table: Any, held: list[Array]) -> None:
        """Run the steps; `held` are the arrays that the table names the memory of."""
        error = (ctypes.c_int64 * words())()
        places, codes = ctypes.addressof(table), ctypes.addressof(error)
        error[2], error[3] = codes + 8 * STATE, codes + 8 * words()
        error[5] = error[3]
        try:
            for given, step in zip(self.order, self.steps, strict=True):
                if not isinstance(given, Segment):
                    self._host(given, held)
                    continue
                step(places, codes)
                if error[0]:
                    self.fail(error[0], error[1])
        finally:
            if error[4]:
                give_back(codes + 16)

    def _host(self, step: Host, held: list[Array]) -> None:
        """One primitive by its array rule."""
        operands = [self._view(b, held) for b in step.args]
        self.rules[step](operands, [b and self._view(b, held) for b in step.outs])

    def _view(self, buffer: Buffer, held: list[Array]) -> Array:
        if buffer.slot == 0:
            return np.ndarray(buffer.type.shape, DTYPES[buffer.type.dtype], held[0], buffer.offset)
        return held[buffer.slot].view().reshape(buffer.type.shape)  # a result may have other axes of one element

    def fail(self, code: int, index: int) -> None:
        """Raise the error that native code has noted: one more than the number of its site, and an index."""
        place = self.frame.sites[code - 1]
        if place.axis == CALLED:
            raise raised()
        if place.axis == INTERRUPTED:
            raise_dropped()
            raise KeyboardInterrupt
        if place.axis == OUT_OF_MEMORY:
            raise OutOfMemoryError(
                "the derivative of a loop needs more memory than there is for what its steps keep",
                hint='does the loop end? save="sqrt" on a loop of a known number of steps keeps less',
            ).at(("here", place.origin))
        if place.failure and place.extent:
            raise failed(place.failure, index).at(("here", place.origin))
        if place.failure:
            raise np.linalg.LinAlgError(str(DomainError(place.failure).at(("here", place.origin))))
        if place.count > 1:
            raise beyond(index, place.axis, place.extent, place.count).at(("this slice", place.origin))
        raise out_of_range(index, place.axis, place.extent, place.name).at(("here", place.origin))


def rule_of(step: Host) -> Callable[[Sequence[Array], Sequence[Array | None]], None]:
    """What computes a host step: of arrays, into arrays."""
    return evaluator(step.node.op, [b.type for b in step.args], [b and b.type for b in step.outs])


def plain(a: Array, dtype: np.dtype[Any]) -> Array:
    """An array as native code wants it: contiguous, aligned, of native byte order."""
    if type(a) is np.ndarray and a.dtype is dtype and a.flags.carray:
        return a
    return np.require(a, dtype, ("C", "A"))


def aligned(size: int) -> Array:
    """Bytes that begin at a multiple of 64."""
    raw = np.empty(size + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + size]
