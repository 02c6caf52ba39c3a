"""Views that a block made, outside of it: the values in their lenses become results of the block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeAlias, cast

from pliant.core.ir import Const, Value, Values
from pliant.frontend.view import BlockLens

Recipe: TypeAlias = Callable[[Values], Any]  # makes an object of the results of the block


def moved(lens: Any, number: int, slot: Callable[[Value], int]) -> Recipe:
    """How to make a lens outside of the trace that made it: its values become results, which are zeros if it did not
    run."""
    if not is_dataclass(lens):
        return lambda _: lens
    if isinstance(lens, BlockLens) and min(lens.step, default=1) < 0:
        return _backwards(lens, number, slot)
    changed: dict[str, Callable[[Values], Any]] = {}
    for field in fields(lens):
        part = getattr(lens, field.name)
        if isinstance(part, Value) or (isinstance(part, tuple) and any(isinstance(p, Value) for p in _all(part))):
            changed[field.name] = _moved(part, number, slot)
    return lambda results: (
        replace(cast("Any", lens), **{k: c(results) for k, c in changed.items()}) if changed else lens
    )


def _backwards(lens: BlockLens, number: int, slot: Callable[[Value], int]) -> Recipe:
    """A view that goes backwards, and so leaves the array from a start of 0: its lengths are zeros too then."""
    if not any([value.node.scope == number for value in (*lens.starts, *lens.lengths)]):
        return lambda _: lens
    starts, lengths = [[slot(value) for value in part] for part in (lens.starts, lens.lengths)]
    return lambda results: replace(
        lens, starts=tuple([results[n] for n in starts]), lengths=tuple([results[n] for n in lengths])
    )


def _all(part: Any) -> Sequence[Any]:
    return part


def _moved(part: Any, number: int, slot: Callable[[Value], int]) -> Callable[[Values], Any]:
    if isinstance(part, tuple):
        parts = [_moved(p, number, slot) for p in _all(part)]
        return lambda results: tuple([p(results) for p in parts])
    if not isinstance(part, Value) or part.node.scope != number or isinstance(part.op, Const):
        return lambda _: part
    n = slot(part)
    return lambda results: results[n]
