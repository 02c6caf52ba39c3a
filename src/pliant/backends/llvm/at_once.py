"""How much innermost loops compute at a time: formulas are long chains of operations, of which each waits for the one
before, and a processor does not look so far ahead that it sees the next chain.

Results that are narrower than what they are made of, as those of comparisons are, are written several vectors at a
time. LLVM takes 64-bit numbers to be divided by a known one more quickly without vectors, which have no such product:
put together from four narrower ones it is quicker by half.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Final, TypeAlias

from pliant.backends.llvm.jit import host_target
from pliant.backends.llvm.known_power import is_known
from pliant.backends.llvm.math import LIBM, function_of
from pliant.backends.llvm.module import AT_ONCE
from pliant.backends.llvm.own import is_inlined
from pliant.backends.llvm.values import llvm_type
from pliant.backends.llvm.whole_quotient import DIVIDING
from pliant.core.types import REAL_OF, itemsize
from pliant.kernel.ir import Apply, Literal, Load, Nest, Scalar

FEW: Final = 4  # formulas of which several vectors are computed at a time
INTERLEAVED: Final = 4  # vectors
NARROW: Final = 4  # times as wide as a result: numbers of which several vectors make one
PACKED: Final = 64  # bytes of these several vectors
LONG: Final = 4096  # steps of a loop that pay for LLVM's time for them
REPAID: Final = 512
"""The same for several vectors of a few operations."""
CHAIN: Final = 8
"""Operations of which each waits for the one before: of more than these, processors do not see the next chain."""
LONGEST: Final = 24
"""Operations of a step for which LLVM does not take long."""
CALLED: Final = {*LIBM, "logaddexp", "logaddexp2", "remainder", "floor_divide"}
"""Primitives that take a function, or several."""
SEVERAL: Final = {
    "logaddexp": ("exp", "log1p"), "logaddexp2": ("exp2", "log1p"), "remainder": ("fmod",), "floor_divide": ("fmod",),
}  # fmt: skip
"""Those of several, or of one of another name."""

Own: TypeAlias = AbstractSet[tuple[str, str]]
"""(function, LLVM type) that formulas of our own compute."""


def vectors_at_once(own: Own, nests: list[Nest]) -> int:
    """How many vectors the innermost loops of nests without folds compute at a time: one, since LLVM takes longer for
    more; but several of a few formulas of our own, of twenty to forty operations each, and in long loops where a few
    operations wait for each other, as those of a polynomial do."""
    found = functions(nests)
    inlined = [s for s in found if is_formula(own, s) and is_in_place(s)]
    is_chain = not found and is_long(nests, REPAID) and any([CHAIN <= chain_of(nest) <= LONGEST for nest in nests])
    return INTERLEAVED if 1 <= len(inlined) <= FEW or is_chain else 1


def is_long(nests: list[Nest], steps: int) -> bool:
    """Whether the innermost loops of nests have so many steps at least."""
    return all([nest.vars and nest.vars[-1].extent >= steps for nest in nests])


def chain_of(nest: Nest) -> int:
    """How many operations of a step wait one for the other; 0 if there are many others beside."""
    waits = dict[Scalar, int]()
    for s in nest.body.body:
        waits[s] = 1 + max([waits.get(x, 0) for x in s.args], default=0) if isinstance(s, Apply) else 0
    return max(waits.values(), default=0) if sum(map(bool, waits.values())) <= LONGEST else 0


def lanes_at_once(own: Own, nests: list[Nest]) -> int:
    """How many lanes the vectors of the innermost loops have: those of a formula with a branch, which computes several
    vectors at a time, if all other functions of the nests come in place; else 0, for as many as LLVM likes."""
    found = functions(nests)
    if not found:
        return lanes_of_few(nests)
    called = {REAL_OF.get(s.dtype, s.dtype) for s in found if not is_in_place(s)}
    is_whole = len(called) == 1 and all([is_formula(own, s) for s in found])
    return AT_ONCE // itemsize(called.pop()) if is_whole else 0


def lanes_of_few(nests: list[Nest]) -> int:
    """How many lanes the vectors have in nests of a few operations whose results are narrow, or that divide."""
    every, roots = [s for nest in nests for s in nest.body.body], [root for nest in nests for root in nest.roots]
    read = [itemsize(REAL_OF.get(s.dtype, s.dtype)) for s in every if isinstance(s, Load)]
    applied = [s for s in every if isinstance(s, Apply)]
    is_plain = all([isinstance(s, Apply | Load | Literal) for s in every]) and not any([root.fold for root in roots])
    if not read or not is_plain or len(applied) > FEW:
        return 0
    narrow = min([itemsize(root.scalar.dtype) for root in roots if root.scalar], default=max(read))
    is_divided = has_vectors() and any(map(is_known_quotient, applied))
    return PACKED // max(read) if (is_long(nests, LONG) and narrow * NARROW <= max(read)) or is_divided else 0


def has_vectors() -> bool:
    """Whether the processor has vectors of whole numbers, and no product of 64 bits of them."""
    return "avx2" in host_target().has


def is_known_quotient(s: Apply) -> bool:
    """Whether a scalar is a 64-bit quotient, or what is left, by a known positive number that is no power of two."""
    if s.op.name not in DIVIDING or s.dtype != "i64" or not isinstance(s.args[-1], Literal):
        return False
    c = int(s.args[-1].value.real)
    return c > 0 and c & (c - 1) != 0


def functions(nests: list[Nest]) -> list[Apply]:
    """The scalars of some nests that take functions."""
    every = [s for nest in nests for s in nest.body.body if isinstance(s, Apply) and s.dtype[0] in "fc"]
    return [s for s in every if (s.op.name in CALLED or function_of(s.op, s.dtype)) and not is_product(s)]


def is_product(s: Apply) -> bool:
    """Whether a scalar is a power that is computed as a product; x² by LLVM."""
    if s.op.name != "pow" or not isinstance(s.args[-1], Literal):
        return False
    return s.args[-1].value == 2 or is_known(s.args[-1].value, s.dtype)


def is_formula(own: Own, s: Apply) -> bool:
    """Whether a scalar is a function that a formula of our own computes, or several."""
    return all([(name, llvm_type(s.dtype)) in own for name in names_of(s)])


def is_in_place(s: Apply) -> bool:
    """Whether the formula of a function is part of the loop."""
    return all(map(is_inlined, names_of(s)))


def names_of(s: Apply) -> tuple[str, ...]:
    """The functions of libm that a scalar takes."""
    return SEVERAL.get(s.op.name, (function_of(s.op, s.dtype),))
