"""`prepare_…` for every operator: what `prep=` takes.

Arguments are those of the operator and give types only: their values do not matter, and f is not run.
`prepare_…_same_point` is for many seeds at this very x and these constants: see `PointPrep`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict, Unpack

from pliant.diff.calls import Call, call
from pliant.diff.keywords import keywords, refuse
from pliant.diff.prepare import Mismatch, Prep, prepare
from pliant.diff.same_point import PointPrep, prepare_at


class PointOptions(TypedDict, total=False):
    """Keywords of a preparation at one point. has_aux: as in the later calls."""

    has_aux: bool


class PointFillOptions(PointOptions, total=False):
    """The same where functions may fill their result. y: memory like theirs."""

    y: Any


class PrepareOptions(PointOptions, total=False):
    """Keywords of a preparation.

    on_mismatch: what a call of another signature does. "error" raises PreparationError, "reprepare"
    prepares once more and keeps that too, "convert" converts arguments of other dtypes where
    nothing is lost.
    """

    on_mismatch: Mismatch


class PrepareFillOptions(PrepareOptions, PointFillOptions, total=False):
    """The same where functions may fill their result."""


@keywords(PrepareFillOptions)
def prepare_pushforward(
    f: Any, system: Any, x: Any, t: Any, *contexts: Any, **options: Unpack[PrepareFillOptions]
) -> Prep:
    """A preparation of `pushforward` for arguments like these."""
    return _prepared("pushforward", f, system, x, t, contexts, **options)


@keywords(PrepareFillOptions)
def prepare_pullback(
    f: Any, system: Any, x: Any, t: Any, *contexts: Any, **options: Unpack[PrepareFillOptions]
) -> Prep:
    """A preparation of `pullback` for arguments like these."""
    return _prepared("pullback", f, system, x, t, contexts, **options)


@keywords(PrepareFillOptions)
def prepare_derivative(f: Any, system: Any, x: Any, *contexts: Any, **options: Unpack[PrepareFillOptions]) -> Prep:
    """A preparation of `derivative` for arguments like these."""
    return _prepared("derivative", f, system, x, None, contexts, **options)


@keywords(PrepareOptions)
def prepare_gradient(f: Any, system: Any, x: Any, *contexts: Any, **options: Unpack[PrepareOptions]) -> Prep:
    """A preparation of `gradient` for arguments like these.

    >>> import numpy as np, pliant.diff as diff
    >>> def f(x):
    ...     return np.sum(x**2)
    >>> prep = diff.prepare_gradient(f, diff.Pliant(), np.zeros(2))
    >>> diff.gradient(f, diff.Pliant(), np.array([1.0, 2.0]), prep=prep)
    array([2., 4.])
    """
    return _prepared("gradient", f, system, x, None, contexts, **options)


@keywords(PrepareFillOptions)
def prepare_jacobian(f: Any, system: Any, x: Any, *contexts: Any, **options: Unpack[PrepareFillOptions]) -> Prep:
    """A preparation of `jacobian` for arguments like these."""
    return _prepared("jacobian", f, system, x, None, contexts, **options)


@keywords(PrepareOptions)
def prepare_second_derivative(f: Any, system: Any, x: Any, *contexts: Any, **options: Unpack[PrepareOptions]) -> Prep:
    """A preparation of `second_derivative` for arguments like these."""
    return _prepared("second_derivative", f, system, x, None, contexts, **options)


@keywords(PrepareOptions)
def prepare_hvp(f: Any, system: Any, x: Any, t: Any, *contexts: Any, **options: Unpack[PrepareOptions]) -> Prep:
    """A preparation of `hvp` for arguments like these."""
    return _prepared("hvp", f, system, x, t, contexts, **options)


@keywords(PrepareOptions)
def prepare_hessian(f: Any, system: Any, x: Any, *contexts: Any, **options: Unpack[PrepareOptions]) -> Prep:
    """A preparation of `hessian` for arguments like these."""
    return _prepared("hessian", f, system, x, None, contexts, **options)


@keywords(PointFillOptions)
def prepare_pushforward_same_point(
    f: Any, system: Any, x: Any, t: Any, *contexts: Any, **options: Unpack[PointFillOptions]
) -> PointPrep:
    """A preparation of `pushforward` at this x and these constants, for many seeds."""
    return prepare_at(_call("pushforward", f, system, x, t, contexts, **options))


@keywords(PointFillOptions)
def prepare_pullback_same_point(
    f: Any, system: Any, x: Any, t: Any, *contexts: Any, **options: Unpack[PointFillOptions]
) -> PointPrep:
    """A preparation of `pullback` at this x and these constants, for many seeds."""
    return prepare_at(_call("pullback", f, system, x, t, contexts, **options))


@keywords(PointOptions)
def prepare_hvp_same_point(
    f: Any, system: Any, x: Any, t: Any, *contexts: Any, **options: Unpack[PointOptions]
) -> PointPrep:
    """A preparation of `hvp` at this x and these constants, for many seeds."""
    return prepare_at(_call("hvp", f, system, x, t, contexts, **options))


def _prepared(
    operator: str, f: Any, system: Any, x: Any, t: Any, contexts: Sequence[Any], *, on_mismatch: Mismatch = "error",
    **options: Unpack[PointFillOptions],
) -> Prep:  # fmt: skip
    return prepare(_call(operator, f, system, x, t, contexts, **options), on_mismatch)


def _call(
    operator: str, f: Any, system: Any, x: Any, t: Any, contexts: Sequence[Any], *, y: Any = None,
    has_aux: bool = False, **others: Any,
) -> Call:  # fmt: skip
    refuse(operator, others)
    return call(operator, f, system, x, t, contexts, y, has_aux)
