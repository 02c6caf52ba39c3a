"""Preparations for many seeds at one point: f is run, and what derivatives need of it is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from pliant.diff import programs
from pliant.diff.calls import Call
from pliant.diff.layout import flatten
from pliant.diff.prepare import Prep, prepared
from pliant.diff.system import Arrays, Linear, dtype_name, is_sparse
from pliant.errors import PreparationError
from pliant.frontend.kinds import is_array


@final
@dataclass(frozen=True, eq=False)
class PointPrep:
    """`pushforward`, `pullback` or `hvp` at one x, for one set of constants. Pliant, JAX and, for
    pullbacks, PyTorch keep what f computed and do not run it again; others keep its value.

    Pass it to the operator as `prep=`, with the same x and constants; or call it with the seeds.

    >>> import numpy as np, pliant.diff as diff
    >>> x = np.array([0.0, np.pi])
    >>> prep = diff.prepare_pullback_same_point(np.sin, diff.Pliant(), x, (np.ones(2),))
    >>> prep((np.ones(2), np.array([2.0, 3.0])))
    (array([ 1., -1.]), array([ 2., -3.]))
    """

    prep: Prep
    point: Arrays
    constants: Arrays
    value: tuple[Any, Any, tuple[Any, ...]]  # y, aux, and what comes before the seeds' derivatives
    linear: Linear | None

    def quick(self, operator: str, f: Any, system: Any, x: Any, t: Any, contexts: Sequence[Any]) -> Any:
        """A point is always looked at closely."""
        return None

    def fitted(self, of: Call) -> tuple[PointPrep, Call]:
        """This preparation and the call, if it is for this point; else PreparationError."""
        _, of = self.prep.fitted(of)
        for kept, now in zip((*self.point, *self.constants), (*of.given.actives, *of.given.constants), strict=True):
            if kept is not now and not np.array_equal(np.asarray(kept), np.asarray(now), equal_nan=True):
                raise PreparationError(
                    f"this preparation of {self.prep.signature.operator} was made at another point",
                    hint=f"prepare again, or use prepare_{self.prep.signature.operator} for many points",
                )
        return self, of

    def apply(self, actives: Arrays, seeds: tuple[Arrays, ...], constants: Arrays) -> tuple[Any, Any, tuple[Any, ...]]:
        """(y, aux, derivatives) for seeds like those it was prepared with."""
        y, aux, before = self.value
        seeds = tuple(map(self._fitted, seeds))
        if self.linear is None:
            *_, parts = self.prep.routine.apply(self.point, seeds, self.constants)
            return y, aux, (*before, parts[-1])
        kind = self.prep.routine.operator.results[-1][0]
        made = [self.prep.routine.tree(kind, self.linear(seed)) for seed in seeds]
        return y, aux, (*before, tuple(made))

    def _fitted(self, seed: Arrays) -> Arrays:
        """A seed in the dtypes of what it belongs to; ShapeError or DTypeError if it does not."""
        spec, y = self.prep.routine.operator, self.value[0]
        name, whose, likes = f"{spec.name}: the tangent", "x has", self.point
        if spec.seeds == "y":
            name, whose, likes = f"{spec.name}: the cotangent", "the result", tuple(flatten(y)[0])
        programs.refuse_shapes(seed, likes, name, whose)
        programs.refuse_complex(seed, likes, name, whose.removesuffix(" has"))
        return tuple([self._cast(leaf, like) for leaf, like in zip(seed, likes, strict=True)])

    def _cast(self, leaf: Any, like: Any) -> Any:
        owns = self.prep.routine.outer.owns
        if dtype_name(leaf) == dtype_name(like) or owns(leaf) != owns(like):
            return leaf
        return self.prep.routine.outer.cast(leaf, like) if owns(leaf) else leaf.astype(like.dtype)

    def __call__(self, seeds: tuple[Any, ...]) -> Any:
        """The derivatives for the seeds."""
        return self.value_and(seeds)[1]

    def value_and(self, seeds: tuple[Any, ...]) -> Any:
        """`(y, derivatives)` for the seeds."""
        y, _, parts = self.apply(self.point, self.prep.routine.seeds(seeds), self.constants)
        return y, parts[-1]


def prepare_at(of: Call) -> PointPrep:
    """A preparation for the very point of a call."""
    prep = prepared(of)
    point, constants = (tuple(map(_kept, leaves)) for leaves in (of.given.actives, of.given.constants))
    y, aux, parts = prep.routine.apply(point, of.seeds, constants)
    return PointPrep(prep, point, constants, (y, aux, parts[:-1]), _linear(prep, point, constants))


def _kept(x: Any) -> Any:
    """A copy of what may be written."""
    return x.copy() if is_array(x) else x.clone() if hasattr(x, "clone") else x


def _linear(prep: Prep, point: Arrays, constants: Arrays) -> Linear | None:
    """The derivative at the point as a function of a seed, if the system can keep it."""
    system = prep.routine.outer
    given, key = prep.routine.functional.inputs(point, constants)
    at = prep.routine.at_point(key)
    if at is None:
        return None
    kept = at(point, given)

    def linear(seed: Arrays) -> Arrays:
        made = kept(seed)
        if any([system.owns(x) for x in point]):
            return made
        return tuple([leaf if is_sparse(leaf) else system.numpy(leaf) for leaf in made])

    return linear
