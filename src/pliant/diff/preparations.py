"""`prepare_…` for every operator: what `prep=` takes."""

from __future__ import annotations

from typing import Any

from pliant.diff.calls import call
from pliant.diff.prepare import Mismatch, Prep, prepare
from pliant.diff.same_point import PointPrep, prepare_at


def prepare_pushforward(
    f: Any,
    system: Any,
    x: Any,
    t: Any,
    *contexts: Any,
    y: Any = None,
    has_aux: bool = False,
    on_mismatch: Mismatch = "error",
) -> Prep:
    """A preparation of `pushforward` for arguments like these; see `prepare_gradient`."""
    return prepare(call("pushforward", f, system, x, t, contexts, y, has_aux), on_mismatch)


def prepare_pullback(
    f: Any,
    system: Any,
    x: Any,
    t: Any,
    *contexts: Any,
    y: Any = None,
    has_aux: bool = False,
    on_mismatch: Mismatch = "error",
) -> Prep:
    """A preparation of `pullback` for arguments like these; see `prepare_gradient`."""
    return prepare(call("pullback", f, system, x, t, contexts, y, has_aux), on_mismatch)


def prepare_derivative(
    f: Any, system: Any, x: Any, *contexts: Any, y: Any = None, has_aux: bool = False, on_mismatch: Mismatch = "error"
) -> Prep:
    """A preparation of `derivative` for arguments like these; see `prepare_gradient`."""
    return prepare(call("derivative", f, system, x, None, contexts, y, has_aux), on_mismatch)


def prepare_gradient(
    f: Any, system: Any, x: Any, *contexts: Any, has_aux: bool = False, on_mismatch: Mismatch = "error"
) -> Prep:
    """A preparation of `gradient` for arguments like these.

    x and the contexts give shapes and dtypes: their values do not matter, and f is not run.
    has_aux as in the later calls. on_mismatch: what a call of another signature does: "error"
    raises PreparationError, "reprepare" prepares once more and keeps that too, "convert" converts
    arguments of other dtypes where nothing is lost.
    """
    return prepare(call("gradient", f, system, x, None, contexts, None, has_aux), on_mismatch)


def prepare_jacobian(
    f: Any, system: Any, x: Any, *contexts: Any, y: Any = None, has_aux: bool = False, on_mismatch: Mismatch = "error"
) -> Prep:
    """A preparation of `jacobian` for arguments like these; see `prepare_gradient`."""
    return prepare(call("jacobian", f, system, x, None, contexts, y, has_aux), on_mismatch)


def prepare_second_derivative(
    f: Any, system: Any, x: Any, *contexts: Any, has_aux: bool = False, on_mismatch: Mismatch = "error"
) -> Prep:
    """A preparation of `second_derivative` for arguments like these; see `prepare_gradient`."""
    return prepare(call("second_derivative", f, system, x, None, contexts, None, has_aux), on_mismatch)


def prepare_hvp(
    f: Any, system: Any, x: Any, t: Any, *contexts: Any, has_aux: bool = False, on_mismatch: Mismatch = "error"
) -> Prep:
    """A preparation of `hvp` for arguments like these; see `prepare_gradient`."""
    return prepare(call("hvp", f, system, x, t, contexts, None, has_aux), on_mismatch)


def prepare_hessian(
    f: Any, system: Any, x: Any, *contexts: Any, has_aux: bool = False, on_mismatch: Mismatch = "error"
) -> Prep:
    """A preparation of `hessian` for arguments like these; see `prepare_gradient`."""
    return prepare(call("hessian", f, system, x, None, contexts, None, has_aux), on_mismatch)


def prepare_pushforward_same_point(
    f: Any, system: Any, x: Any, t: Any, *contexts: Any, y: Any = None, has_aux: bool = False
) -> PointPrep:
    """A preparation of `pushforward` at this x and these constants, for many seeds; see `PointPrep`."""
    return prepare_at(call("pushforward", f, system, x, t, contexts, y, has_aux))


def prepare_pullback_same_point(
    f: Any, system: Any, x: Any, t: Any, *contexts: Any, y: Any = None, has_aux: bool = False
) -> PointPrep:
    """A preparation of `pullback` at this x and these constants, for many seeds; see `PointPrep`."""
    return prepare_at(call("pullback", f, system, x, t, contexts, y, has_aux))


def prepare_hvp_same_point(f: Any, system: Any, x: Any, t: Any, *contexts: Any, has_aux: bool = False) -> PointPrep:
    """A preparation of `hvp` at this x and these constants, for many seeds; see `PointPrep`."""
    return prepare_at(call("hvp", f, system, x, t, contexts, None, has_aux))
