"""The registers of a fold: a running value, and for long sums a total that loses nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, final

from pliant.backends.llvm.math import combine
from pliant.backends.llvm.values import Val, literal, llvm_type
from pliant.core.types import REAL_OF
from pliant.kernel.identities import identity_of
from pliant.kernel.ir import Var

if TYPE_CHECKING:
    from pliant.backends.llvm.emit import Emitter
    from pliant.backends.llvm.prefetch import Prefetch

BLOCK = 1024  # elements summed before their sum goes to the exact total; see Note [sums]


@final
class Accumulator:
    """The registers of one fold: a running sum, and for long float sums a total with its error. is_number: no element
    is NaN."""

    def __init__(self, e: Emitter, kind: str, dtype: str, long: bool, *, is_number: bool = False) -> None:
        self.e, self.kind, self.dtype, self.is_number = e, kind, dtype, is_number
        self.parts = 2 if dtype[0] == "c" else 1
        self.wide = "f32" if dtype == "f16" else dtype
        self.real = REAL_OF.get(self.wide, self.wide)
        self.long = long and kind == "add" and dtype[0] in "fc"
        self.slots = [e.alloca(llvm_type(self.wide)) for _ in range(self.parts)]
        self.total = [(e.alloca("double"), e.alloca("double")) for _ in range(self.parts if self.long else 0)]

    def zero(self) -> tuple[str, ...]:
        """What it starts from, in parts; a sum from 0, as NumPy's: that of −0.0 alone is 0.0."""
        value = literal(identity_of(self.kind, self.dtype), self.wide)
        return value if isinstance(value, tuple) else (value,)

    def start(self) -> None:
        """Begin anew."""
        self.reset()
        for pair in self.total:
            self.e.line(f"store double 0x8000000000000000, ptr {pair[0]}")
            self.e.line(f"store double 0x0000000000000000, ptr {pair[1]}")

    def reset(self) -> None:
        for slot, value in zip(self.slots, self.zero(), strict=True):
            self.e.line(f"store {llvm_type(self.wide)} {value}, ptr {slot}")

    def load(self) -> Val:
        """The running value."""
        t = llvm_type(self.wide)
        found = [self.e.op(f"load {t}, ptr {slot}") for slot in self.slots]
        return (found[0], found[1]) if self.parts == 2 else found[0]

    def add(self, x: Val) -> None:
        """One more element."""
        if self.dtype == "f16":
            x = self.e.op(f"fpext half {x} to float")
        self.combine(x)

    def combine(self, x: Val) -> None:
        """One more value of the wide dtype."""
        out = combine(self.e, self.kind, self.wide, self.load(), x, is_number=self.is_number)
        for slot, value in zip(self.slots, out if isinstance(out, tuple) else (out,), strict=True):
            self.e.line(f"store {llvm_type(self.wide)} {value}, ptr {slot}")

    def flush(self) -> None:
        """The end of a block: its sum goes to the total."""
        if not self.long:
            return
        value = self.load()
        for x, pair in zip(value if isinstance(value, tuple) else (value,), self.total, strict=True):
            self.add_to_total(pair, self.e.op(f"fpext float {x} to double") if self.real == "f32" else x)
        self.reset()

    def add_to_total(self, pair: tuple[str, str], x: str) -> None:
        """One more double in a total, and the error of that addition in the total's error (two-sum)."""
        e, (total, error) = self.e, pair
        t = e.op(f"load double, ptr {total}")
        s = e.op(f"fadd double {t}, {x}")
        b = e.op(f"fsub double {s}, {t}")
        lost = e.op(f"fsub double {t}, {e.op(f'fsub double {s}, {b}')}")
        lost = e.op(f"fadd double {lost}, {e.op(f'fsub double {x}, {b}')}")
        e.line(f"store double {s}, ptr {total}")
        self.add_to_error(error, lost)

    def add_to_error(self, error: str, lost: str) -> None:
        """One more error."""
        before = self.e.op(f"load double, ptr {error}")
        self.e.line(f"store double {self.e.op(f'fadd double {before}, {lost}')}, ptr {error}")

    @property
    def state(self) -> list[tuple[str, str]]:
        """(place, LLVM type) of all that a later part needs of an earlier one."""
        if self.long:
            return [(place, "double") for pair in self.total for place in pair]
        return [(slot, llvm_type(self.wide)) for slot in self.slots]

    def merge(self, state: list[str]) -> None:
        """Add the `state` of another accumulator, whose elements come after those of this one."""
        if not self.long:
            self.combine((state[0], state[1]) if self.parts == 2 else state[0])
            return
        for n, pair in enumerate(self.total):
            self.add_to_total(pair, state[2 * n])
            self.add_to_error(pair[1], state[2 * n + 1])

    def value(self) -> Val:
        """The result."""
        e = self.e
        if not self.long:
            out = self.load()
            return e.op(f"fptrunc float {out} to half") if self.dtype == "f16" else out
        parts = list[str]()
        for total, error in self.total:
            t, lost = e.op(f"load double, ptr {total}"), e.op(f"load double, ptr {error}")
            # An infinite total has no error to add: the difference of infinities is NaN.
            known = e.op(f"fcmp ord double {lost}, {lost}")
            s = e.op(f"select i1 {known}, double {e.op(f'fadd double {t}, {lost}')}, double {t}")
            s = e.op(f"fptrunc double {s} to float") if self.real == "f32" else s
            parts.append(e.op(f"fptrunc float {s} to half") if self.dtype == "f16" else s)
        return (parts[0], parts[1]) if self.parts == 2 else parts[0]


def blocked(
    e: Emitter, loop: Var, body: Callable[[], None], flush: Callable[[], None], prefetch: Prefetch | None = None
) -> None:
    """A loop in blocks, with `flush` after each. prefetch: what is asked for before it is read."""

    def block(first: str, end: str) -> None:
        if prefetch:
            prefetch.run(e, body, (first, end))
        else:
            e.loop(loop, body, (first, end))
        flush()

    if loop.extent <= BLOCK:
        e.loop(loop, body)
        flush()
    else:
        e.blocks(loop, BLOCK, block)


# Note [sums]:
# Float sums go into an accumulator that LLVM may split into several lanes (`reassoc` on its add
# only). After at most BLOCK elements the accumulator's value is added to a total in double
# precision together with the rounding error of that addition. So the error of a sum of any length
# is that of a sum of BLOCK elements in about 16 lanes: better than pairwise summation.
