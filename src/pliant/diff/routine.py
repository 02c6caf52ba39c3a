"""The program of an operator, ready to run: from arguments to leaves, and from leaves to results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from pliant.diff.calls import OPERATORS, Operator, Signature, seed_leaves
from pliant.diff.functional import Functional
from pliant.diff.programs import gradient_of
from pliant.diff.system import Arrays, AtPoint, Flat, System, is_sparse


@final
@dataclass(frozen=True, eq=False)
class Routine:
    """A compiled program `run(xs, seeds, constants, key)`, and what its leaves are trees of."""

    signature: Signature
    functional: Functional
    outer: System
    run: Callable[..., Any] = field(repr=False)
    points: dict[Any, AtPoint | None] = field(default_factory=dict[Any, AtPoint | None], repr=False)

    @property
    def operator(self) -> Operator:
        """What it computes."""
        return OPERATORS[self.signature.operator]

    def call(self, x: Any, *rest: Any) -> tuple[Any, ...]:
        """(y, *derivatives) of arguments as users give them: x, the seeds if there are any, values of contexts."""
        seeds: tuple[Arrays, ...] = ()
        if self.operator.seeds:
            seeds, rest = self.seeds(rest[0]), rest[1:]
        actives, constants = self.signature.layout.sorted((x, *rest))
        y, _, parts = self.apply(actives, seeds, constants)
        return y, *parts

    def seeds(self, trees: Sequence[Any]) -> tuple[Arrays, ...]:
        """The leaves of each seed."""
        return tuple([seed_leaves(t, self.signature.layout, self.operator) for t in trees])

    def single(self, x: Any, *constants: Any) -> tuple[Any, ...]:
        """The same for one array or number and constants of that kind, and no seeds."""
        actives = (x if hasattr(x, "dtype") else np.asarray(x)[()],)
        constants, key = self.functional.inputs(actives, constants)
        made = self.run(actives, (), constants, key)
        if not self.functional.returned.is_single:
            y, _, parts = self._finished(actives, *made)
            return y, *parts
        leaves = [made[0][0], *[part[0] for part in made[2]]]
        if self.outer.owns(x):
            return tuple(leaves)
        return tuple([leaf if is_sparse(leaf) else self.outer.numpy(leaf) for leaf in leaves])

    def at_point(self, key: Any) -> AtPoint | None:
        """What makes derivatives at points, for the latest of what else the program depends on; None if the system
        cannot keep them."""
        if key not in self.points:
            self.points.clear()
            self.points[key] = self._at_point()
        return self.points[key]

    def _at_point(self) -> AtPoint | None:
        functional, spec = self.functional, self.operator
        if spec.order == 1:
            return self.outer.at_point(functional.bind, spec.is_forward)
        if type(self.outer) is not type(functional.system):
            return None

        def gradient(constants: Arrays) -> Flat:
            return gradient_of(functional.system, functional.bind(constants))

        return self.outer.at_point(gradient, spec.is_forward)

    def apply(self, actives: Arrays, seeds: tuple[Arrays, ...], constants: Arrays) -> tuple[Any, Any, tuple[Any, ...]]:
        """(y, aux, derivatives) for leaves of this signature."""
        constants, key = self.functional.inputs(actives, constants)
        return self._finished(actives, *self.run(actives, seeds, constants, key))

    def _finished(self, actives: Arrays, ys: Any, aux: Any, parts: Any) -> tuple[Any, Any, tuple[Any, ...]]:
        """(y, aux, derivatives) of leaves, in NumPy's arrays unless x is in the system's."""
        system = self.outer
        if not any([system.owns(x) for x in actives]):
            numpy = system.numpy
            ys = [numpy(y) for y in ys]
            aux = [numpy(a) if hasattr(a, "dtype") else a for a in aux]
            parts = [[leaf if is_sparse(leaf) else numpy(leaf) for leaf in part] for part in parts]
        returned = self.functional.returned
        return returned.value(ys), returned.aux(aux) if self.functional.has_aux else (), self._trees(parts)

    def tree(self, kind: str, leaves: Sequence[Any]) -> Any:
        """Leaves in the structure of y or of x."""
        return self.functional.returned.value(leaves) if kind == "y" else self.signature.layout.active_tree(leaves)

    def _trees(self, parts: Sequence[Any]) -> tuple[Any, ...]:
        """Each part in the structure it belongs to; the last kind takes all that is left."""
        made: list[Any] = []
        for n, kind in enumerate(self.operator.results):
            if kind.endswith("…"):
                made.append(tuple([self.tree(kind[0], part) for part in parts[n:]]))
            elif len(kind) == 2:
                count, leaves = self.signature.layout.active_count, parts[n]
                blocks = [self.tree(kind[1], leaves[i : i + count]) for i in range(0, len(leaves), count)]
                made.append(self.tree(kind[0], blocks))
            else:
                made.append(self.tree(kind, parts[n]))
        return tuple(made)
