"""What the limits of loops decide: an index that is below another at every step needs no test."""

from __future__ import annotations

from collections.abc import Mapping

from pliant.kernel.ir import Affine, Region, Scalar, Var, affine

Spans = Mapping[Scalar, tuple[int, int]]  # least and greatest values of scalars


def is_below(x: Scalar, limit: Scalar, region: Region, spans: Spans) -> bool:
    """Whether an index is less than a limit, as far as the limits of loops and ranges tell."""
    if x.dtype != "i64":
        return False
    ends = ends_in(region)
    i, stop = affine(x), affine(limit)
    if not all([is_index(atom, ends, spans) for atom, _ in (*i.terms, *stop.terms)]):
        return False
    away = i - stop
    for atom, factor in away.terms:
        if isinstance(atom, Var) and factor > 0 and atom in ends:  # at most its end - 1
            away = away + (affine(ends[atom]) - 1 - Affine(0, ((atom, 1),))) * factor
    span = away.range(spans)
    return span is not None and span[1] < 0


def ends_in(region: Region) -> dict[Var, Scalar]:
    """Where the loops around a region end, those that end before their extent."""
    found: dict[Var, Scalar] = {}
    inner: Region | None = region
    while inner is not None:
        found = {**inner.below, **found}
        inner = inner.parent
    return found


def is_index(atom: Var | Scalar, ends: Mapping[Var, Scalar], spans: Spans) -> bool:
    """Whether a term is small for sure: sums of other numbers may wrap around."""
    return isinstance(atom, Var) or atom in spans or any([affine(end).factor(atom) for end in ends.values()])
