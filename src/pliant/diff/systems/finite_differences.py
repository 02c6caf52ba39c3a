"""Central differences: works on any function, to about two thirds of the digits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from pliant.diff.system import Abilities, Arrays, Flat, Pushed, System
from pliant.diff.systems.steps import cast, column, moved, tables


@final
@dataclass(frozen=True)
class FiniteDifferences(System):
    """Derivatives as (f(x + h·dx) - f(x - h·dx)) / 2h.

    step: h relative to max(1, |x|) / |dx|; 0 for the cube root of the rounding error of x's dtype.
    As the outer system of second derivatives the default is the fourth root.

    >>> import numpy as np, pliant.diff as diff
    >>> diff.derivative(np.exp, diff.FiniteDifferences(), 0.0).round(9)
    np.float64(1.0)
    """

    abilities = Abilities(forward=True, reverse=False, over_any=True, tolerance=(1e-6, 1e-3))
    step: float = 0.0

    def pushforward(self, fn: Flat, xs: Arrays, dxs: Arrays, is_many: bool) -> Pushed:
        """Two more evaluations per tangent."""
        ys, aux = fn(xs)
        ys = tuple([np.array(y)[()] for y in ys])
        if not is_many:
            return ys, aux, self._difference(fn, xs, dxs)
        made = [self._difference(fn, xs, tuple([dx[n] for dx in dxs])) for n in range(len(dxs[0]))]
        return ys, aux, tuple([np.stack(parts) for parts in zip(*made, strict=True)])

    def columns(self, fn: Flat, xs: Arrays, i: int, scale: complex = 1) -> Pushed:
        """Two more evaluations per element of x, at points where only that has moved."""
        ys, aux = fn(xs)
        ys = tuple([np.array(y)[()] for y in ys])
        h = self._base(xs) * np.maximum(1.0, np.abs(xs[i], dtype=float)).reshape(-1)
        by, made = (scale * h).tolist(), tables(len(h), ys)
        for n, point in enumerate(moved(xs, i, by)):
            for table, upper in zip(made, fn(point)[0], strict=True):
                table[n] = upper
        for n, point in enumerate(moved(xs, i, [-step for step in by])):
            for table, lower in zip(made, fn(point)[0], strict=True):
                table[n] -= lower
        return ys, aux, tuple([cast(t / (2 * column(h, t)), y) for t, y in zip(made, ys, strict=True)])

    def _difference(self, fn: Flat, xs: Arrays, dxs: Arrays) -> Arrays:
        h = self._step(xs, dxs)
        upper = tuple([np.array(y) for y in fn(_shifted(xs, dxs, h))[0]])
        lower = fn(_shifted(xs, dxs, -h))[0]
        return tuple([((u - v) / (2 * h)).astype(u.dtype)[()] for u, v in zip(upper, lower, strict=True)])

    def _step(self, xs: Arrays, dxs: Arrays) -> float:
        width = max((float(np.max(np.abs(dx))) for dx in dxs if np.size(dx)), default=0.0)
        touched = [x[np.asarray(dx) != 0] for x, dx in zip(map(np.asarray, xs), dxs, strict=True)]
        scale = max((float(np.max(np.abs(t))) for t in touched if t.size), default=1.0)
        return self._base(xs) * max(1.0, scale) / (width or 1.0)

    def _base(self, xs: Arrays) -> float:
        return self.step or max(float(np.finfo(x.dtype).eps) for x in xs) ** (1 / 3)


def _shifted(xs: Arrays, dxs: Arrays, h: float) -> Arrays:
    return tuple([_same_type(x + h * dx, x) for x, dx in zip(xs, dxs, strict=True)])


def _same_type(moved: Any, x: Any) -> Any:
    """h is an f64 where x may be f32."""
    return np.asarray(moved, x.dtype)[()]
