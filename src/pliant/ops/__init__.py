"""All primitives and their identities. Installs the operators that `pliant.core` needs."""

from __future__ import annotations

from types import ModuleType
from typing import Any, Final, final

from pliant.core import ir
from pliant.core.ir import Op, Value, Values, const
from pliant.core.types import Type
from pliant.ops import (
    accumulation,
    algebra,
    bitcast,
    bits,
    block,
    block_rules,
    branch_part,
    compare,
    complex,
    complex_parts,
    cond,
    contract,
    convolve,
    custom,
    einsum,
    elementwise,
    ensure,
    factors,
    fft,
    halves,
    index,
    index_rules,
    least_squares,
    length,
    loop,
    loop_rules,
    masked_writes,
    matrix,
    once_rules,
    others,
    paired,
    positions,
    power,
    reduce,
    retrace,
    reversible,
    rounding,
    scan,
    scatter_extremum,
    scatter_fold,
    select,
    shape,
    shape_rules,
    show,
    singular_function,
    solve,
    sort,
    spared,
    sparing,
    special,
    spectral,
    spectral_function,
    splat,
    stable,
    strided,
    tape,
    ties,
    transcendental,
    triangular,
    update,
    while_loop,
    windows,
)

MODULES: Final[tuple[ModuleType, ...]] = (
    bitcast,
    elementwise, spared, splat, power, length, transcendental, special, stable, rounding, complex, compare, bits,
    select, ties, ensure, shape, shape_rules, reduce, update, block, block_rules, index, index_rules, masked_writes,
    strided, complex_parts, windows,
    scatter_extremum, scatter_fold, sort, scan, positions, matrix, solve, triangular, spectral, least_squares,
    spectral_function, singular_function,
    contract, einsum, convolve, halves, fft, show, custom,
    loop, loop_rules, once_rules, branch_part, cond, others, paired, retrace, reversible, sparing, tape, while_loop,
    accumulation,
)  # fmt: skip


@final
class _Operators:
    add, sub, mul = elementwise.add, elementwise.sub, elementwise.mul
    div, neg = elementwise.div, elementwise.neg

    def zeros(self, type: Type, /) -> Value:
        return shape.broadcast(const(0, type.dtype), type.shape, ())

    def lift(self, x: Value, n: int, /) -> Value:
        return shape.lift(x, n)

    def one_by_one(self, op: Op, n: int, batched: tuple[bool, ...], xs: Values, /) -> Values:
        return loop.one_by_one(op, n, batched, xs)


ir.operators = _Operators()


def _primitives(module: ModuleType) -> dict[str, type[Op]]:
    """The primitives a module defines, families excepted."""
    own = [c for c in vars(module).values() if isinstance(c, type) and c.__module__ == module.__name__]
    return {c.name: c for c in own if issubclass(c, Op) and getattr(c, "__final__", False)}


ALL: Final[dict[str, type[Op]]] = {name: cls for module in MODULES for name, cls in _primitives(module).items()}
"""Name in the text form → primitive."""

RULES: Final[tuple[Any, ...]] = tuple(rule for module in MODULES for rule in getattr(module, "RULES", ()))
"""Every identity that holds exactly, in the order of the modules."""

EQUALITIES: Final[tuple[Any, ...]] = (*algebra.EQUALITIES, *factors.FACTORS, spectral.result_alone)
"""Identities of real numbers, neither side of which is always better: for the e-graph of `optimize`."""
