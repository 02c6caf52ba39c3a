"""The form of a primitive that folds: found by running its kernel rule on a stand-in for the builder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, final

from pliant.core.ir import Op
from pliant.core.types import Type
from pliant.kernel.ir import (
    Affine,
    FoldShape,
    Index,
    Literal,
    Scalar,
    Var,
    index_of,
)
from pliant.ops.base import Elementwise, Movement


class _RootFold(Exception):
    def __init__(self, kind: str, dtype: str, extents: Sequence[int], element: Callable[[Index], Any]) -> None:
        self.kind, self.dtype, self.extents, self.element = kind, dtype, tuple(extents), element


class _NotAFold(Exception):
    """The rule does something before its fold, or has none."""


class _Probe:
    """A builder that finds out whether a rule is one fold, and in which order it reads."""

    def __init__(self) -> None:
        self.reads: list[tuple[int, Index]] | None = None

    def fold(self, kind: str, dtype: str, extents: Sequence[int], element: Callable[[Index], Any]) -> Any:
        if self.reads is None:
            raise _RootFold(kind, dtype, extents, element)
        raise _NotAFold

    def read(self, operand: int, dtype: str, index: Sequence[Affine]) -> Scalar:
        if self.reads is None:
            raise _NotAFold
        self.reads.append((operand, index_of(index)))
        return Literal(dtype, 0)

    def scalar(self, op: Op, *xs: Scalar) -> Scalar:
        if self.reads is None:
            raise _NotAFold
        made = op.infer(*(Type(x.dtype) for x in xs))
        assert isinstance(made, Type)
        return Literal(made.dtype, 0)

    def __getattr__(self, name: str) -> Any:
        raise _NotAFold


@final
class _ProbeSource:
    def __init__(self, probe: _Probe, operand: int, type: Type) -> None:
        self.probe, self.operand, self.type = probe, operand, type

    def __call__(self, index: Sequence[Affine]) -> Scalar:
        return self.probe.read(self.operand, self.type.dtype, index)


@lru_cache(maxsize=4096)
def fold_shape(op: Op, *types: Type) -> FoldShape | None:
    """How a primitive reduces, if its kernel rule is one fold and nothing else."""
    out = op.infer(*types)
    if isinstance(op, Elementwise | Movement) or not isinstance(out, Type) or not types:
        return None
    probe = _Probe()
    sources = [_ProbeSource(probe, number, t) for number, t in enumerate(types)]
    kept = [Var(n) for n in out.shape]
    try:
        op.kernel(probe, Index([Affine(0, ((v, 1),)) for v in kept]), *sources)
    except _RootFold as found:
        fold = found
    except _NotAFold:
        return None
    else:
        return None
    return _shape_of(fold, probe, kept)


def _shape_of(fold: _RootFold, probe: _Probe, kept: list[Var]) -> FoldShape:
    folded = [Var(n) for n in fold.extents]
    places = {v: a for a, v in enumerate(kept)} | {v: ~a for a, v in enumerate(folded)}
    probe.reads = []
    with suppress(_NotAFold):  # the order of its loops is the plain one then
        fold.element(Index([Affine(0, ((v, 1),)) for v in folded]))
    order = tuple(places.values())
    for _, index in probe.reads:
        loops = [part.bare for part in index]
        if len(set(loops)) == len(places) == len(loops) and None not in loops:
            order = tuple(places[v] for v in loops if v)
            break
    where = {a: v for v, a in places.items()}
    loops = [where[a] for a in order]
    aligned = {n for n, i in probe.reads if [part.bare for part in i] == loops}
    crooked = {n for n, i in probe.reads if [part.bare for part in i] != loops}
    space = tuple(v.extent for v in loops)
    return FoldShape(fold.kind, fold.dtype, space, order, tuple(sorted(aligned - crooked)))
