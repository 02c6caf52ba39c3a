"""Functions of the last axes of arrays, over all leading ones: `pliant.vectorize`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast, final

import numpy as np

from pliant.batch import mapped
from pliant.core.data import frozen
from pliant.core.origin import here
from pliant.errors import ArgumentError, ShapeError
from pliant.frontend.convert import as_traced, broadcast_shapes
from pliant.frontend.cores import Core, checked, cores_of
from pliant.frontend.instrumented import callee
from pliant.frontend.kinds import as_tuple, is_of
from pliant.frontend.tracing import current


@final
@frozen
class Vectorized:
    """A function with its signature."""

    f: Callable[..., Any]
    signature: str
    inputs: Sequence[Core]
    outputs: Sequence[Core] | None  # None: nothing is said of results

    @staticmethod
    def of(f: Callable[..., Any], signature: str) -> Vectorized:
        """A function and the text of its signature."""
        before, arrow, after = signature.partition("->") if is_of(signature, str) else ("", "", "")
        inputs, outputs = cores_of(before), cores_of(after)
        if not arrow or not inputs or (after.strip() and not outputs):
            raise ArgumentError(f"vectorize: expected a signature like '(m,n),(n)->(m)', got {signature!r}")
        return Vectorized(f, signature, inputs, outputs or None)

    def over_all(self, *args: Any) -> Any:
        """The function, over the broadcast leading axes of its arguments."""
        if len(args) != len(self.inputs):
            raise ArgumentError(
                f"vectorize: signature {self.signature!r} takes {len(self.inputs)} arguments, got {len(args)}"
            ).at(("here", here()))
        shapes = [np.shape(a) for a in args]
        ranks = [len(shape) - len(core) for shape, core in zip(shapes, self.inputs, strict=True)]
        if min(ranks) < 0:
            raise ArgumentError(f"vectorize: an argument has fewer axes than {self.signature!r} says").at(
                ("here", here())
            )
        sizes = dict[str, int]()
        checked(self.inputs, shapes, sizes, "argument")
        return _over_leading(lambda *parts: self.once(sizes, parts), args, ranks)

    def one_by_one(self, *args: Any) -> None:
        """Call the function for one part of NumPy arrays after the other."""
        arrays = [np.asarray(a) for a in args]
        ranks = [a.ndim - len(core) for a, core in zip(arrays, self.inputs, strict=True)]
        lead = np.broadcast_shapes(*[a.shape[:r] for a, r in zip(arrays, ranks, strict=True)])
        spread = [np.broadcast_to(a, (*lead, *a.shape[r:])) for a, r in zip(arrays, ranks, strict=True)]
        for place in np.ndindex(lead):
            self.f(*[a[place].copy() for a in spread])

    def once(self, sizes: dict[str, int], parts: Sequence[Any]) -> Any:
        """One call of the function, whose results are as the signature says."""
        made = callee(self.f, current())(*parts)
        if self.outputs is None:
            return made
        is_one = len(self.outputs) == 1 and type(made) is not tuple
        returned = cast("tuple[Any, ...]", (made,) if is_one else as_tuple(made))
        results = [as_traced(x) for x in returned]
        if len(results) != len(self.outputs):
            raise ShapeError(
                f"vectorize: the function returns {len(results)} results, signature {self.signature!r} says "
                f"{len(self.outputs)}"
            ).at(("here", here()))
        shapes = [result.shape for result in results]
        for number, (shape, core) in enumerate(zip(shapes, self.outputs, strict=True)):
            if len(shape) != len(core):
                raise ShapeError(
                    f"vectorize: result {number} has {len(shape)} axes, signature {self.signature!r} says {len(core)}"
                ).at(("here", here()))
        checked(self.outputs, shapes, {**sizes}, "result")
        return results[0] if is_one else tuple(results)


def _over_leading(f: Callable[..., Any], args: Sequence[Any], ranks: Sequence[int]) -> Any:
    """f mapped over the broadcast leading axes, the first of them outermost."""
    rank = max(ranks)
    if rank == 0:
        return f(*args)
    extents = [np.shape(a)[0] if r == rank else 1 for a, r in zip(args, ranks, strict=True)]
    (size,) = broadcast_shapes(*[(n,) for n in extents])
    axes = tuple([0 if r == rank and n == size else None for r, n in zip(ranks, extents, strict=True)])
    if all([a is None for a in axes]):
        axes, size = tuple([0 if r == rank else None for r in ranks]), 1
    given = tuple([a[0] if r == rank and x is None else a for a, r, x in zip(args, ranks, axes, strict=True)])
    rest = [r - 1 if r == rank else r for r in ranks]
    return mapped(lambda *parts: _over_leading(f, parts, rest), axes, 0, size, given, {})
