"""What a nest is: scalars that run over a space of loops, and roots that are stored or folded."""

from __future__ import annotations

import math
from dataclasses import field
from typing import TYPE_CHECKING, final

from pliant.core.data import frozen, mutable
from pliant.kernel.cost import cost_of
from pliant.kernel.scalars import Affine, Buffer, Load, Region, Scalar, Var, root_of

if TYPE_CHECKING:
    from pliant.core.ir import Number, Value


@final
@frozen
class FoldShape:
    """How a primitive reduces: `space` has one extent per loop, `order` says which it is.

    order[a] ≥ 0: loop a is axis order[a] of the result; ~order[a] is an axis of the fold.
    """

    kind: str
    dtype: str
    space: tuple[int, ...]
    order: tuple[int, ...]
    aligned: tuple[int, ...]  # operands read at the index of the space itself


@final
@mutable(eq=False)
class Root:
    """A value that a nest computes: at each point of its space, or folded over some loops.

    base: the operand that the value is but for what the nest computes, which is a window of it then.
    rest: what its elements are where the loops end early.
    """

    value: Value
    fold: FoldShape | None = None
    buffer: Buffer | None = None  # None: nobody outside the nest reads it
    base: Buffer | None = None
    owns: bool = False  # computed point by point here, not a copy of what is made elsewhere
    leaves: frozenset[Value] = frozenset()  # what it reads from memory, or at its own point
    scalar: Scalar | None = None
    offset: Affine = field(default_factory=Affine)
    folded: tuple[Var, ...] = ()
    rest: Number | None = None

    @property
    def stays(self) -> bool:
        """Whether it is what lies in its memory already, as another shape of an array written in place is."""
        if self.buffer is None or self.fold or self.base or not isinstance(self.scalar, Load):
            return False
        is_there = root_of(self.scalar.buffer) is root_of(self.buffer) and self.scalar.offset == self.offset
        return is_there and self.scalar.dtype == self.buffer.type.dtype


@final
@frozen(eq=False)
class Delay:
    """A root is written this many steps of the outermost loop at a time, and only when the next ones
    have been computed, so that these still find what was there before. `ring` holds two such parts."""

    root: Root
    ring: Buffer
    steps: int


@final
@frozen(eq=False)
class Split:
    """A step runs in parts, of `size` steps of a loop each, in any order and at the same time.

    private: memory of which each part has its own. added: folds of which each part has its own, and that are
    put together afterwards, in the order of the parts.
    """

    loop: Var
    size: int
    private: frozenset[Buffer] = frozenset()
    added: frozenset[Buffer] = frozenset()

    @property
    def count(self) -> int:
        """How many parts there are."""
        return -(-self.loop.extent // self.size)


@final
@mutable(eq=False)
class Nest:
    """Loops over one space that compute several roots. `lengths`: where a loop ends earlier, if it does."""

    space: tuple[int, ...]
    roots: list[Root] = field(default_factory=list[Root])
    lengths: tuple[Value | None, ...] = ()
    limits: dict[Var, Scalar] = field(default_factory=dict["Var", "Scalar"])  # the lengths, by loop
    vars: tuple[Var, ...] = ()
    body: Region = field(default_factory=lambda: Region(None))
    size: int = 0
    reads: set[Buffer] = field(default_factory=set[Buffer])
    is_swept: bool = False  # its loops must run in this order, those in `backward` from their end
    backward: frozenset[Var] = frozenset()
    delay: Delay | None = None
    split: Split | None = None

    @property
    def is_idle(self) -> bool:
        """Whether all that it makes lies there already."""
        return not self.limits and not self.delay and all([root.stays for root in self.roots])

    @property
    def work(self) -> int:
        """About how many scalar operations it takes."""
        return 0 if self.is_idle else max(cost_of(self.body), 1) * math.prod(self.space)
