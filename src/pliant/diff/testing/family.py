"""The functions of the scenarios: with u = x.reshape(-1),

    y = c·(W sin u) + (u·u)·b,   of any shape

whose derivatives are known in closed form.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from pliant import diff
from pliant.diff.namespace import namespace
from pliant.diff.testing.scenarios import SHAPES, Context, Scenario


@final
@dataclass(frozen=True, eq=False)
class Family:
    """The function y = c·(W sin u) + (u·u)·b for given shapes, and its derivatives."""

    x: tuple[int, ...]
    y: tuple[int, ...]
    dtype: str

    @property
    def weights(self) -> tuple[Any, Any]:
        """W and b."""
        m, n = math.prod(self.y), math.prod(self.x)
        i, j = np.arange(m)[:, None], np.arange(n)
        return (1.0 + i + 0.5 * j).astype(self.dtype), (0.5 - 0.25 * np.arange(m)).astype(self.dtype)

    def call(self, x: Any, c: Any = None) -> Any:
        """y, in the arrays of x."""
        xp = namespace(x)
        w, b = (xp.asarray(a) for a in self.weights)
        u = xp.reshape(x, (-1,))
        scaled = xp.reshape(xp.matmul(w, xp.sin(u)), self.y)
        return (scaled if c is None else c * scaled) + xp.reshape(xp.sum(u * u) * b, self.y)

    def value(self, x: Any, c: Any) -> Any:
        """y by NumPy."""
        return self.call(x, c)

    def jacobian(self, x: Any, c: Any) -> Any:
        """∂y/∂x, of shape y + x."""
        (w, b), u = self.weights, np.reshape(x, -1)
        dense = _column(c, self.y) * w * np.cos(u) + 2 * b[:, None] * u
        return dense.reshape(self.y + self.x)

    def slope(self, x: Any, c: Any) -> Any:
        """∂y/∂c for one number c, of shape y."""
        return (self.weights[0] @ np.sin(np.reshape(x, -1))).reshape(self.y)

    def hessian(self, x: Any, c: Any) -> Any:
        """∂²y/∂x², of shape y + x + x."""
        (w, b), u = self.weights, np.reshape(x, -1)
        eye = np.eye(len(u))
        dense = -(_column(c, self.y) * w * np.sin(u))[:, :, None] * eye + 2 * b[:, None, None] * eye
        return dense.reshape(self.y + self.x + self.x)


def _column(c: Any, shape: tuple[int, ...]) -> Any:
    """c for each element of y, as a column."""
    return np.broadcast_to(np.asarray(c), shape).reshape(-1, 1)


@final
@dataclass(frozen=True, eq=False)
class Function:
    """What the operator is called with."""

    f: Callable[..., Any]
    calls: list[int]


@functools.cache
def function(scenario: Scenario) -> Function:
    """The function of a scenario: the same object for scenarios that differ in the call only."""
    call = Family(SHAPES[scenario.x], SHAPES[scenario.y], scenario.dtype).call
    calls = [0]
    captured = np.asarray(constant_of(scenario), scenario.dtype)
    form = _form(scenario.context, call, captured)
    if scenario.fills:

        def filling(y: Any, x: Any, *rest: Any) -> None:
            calls[0] += 1
            y[...] = form(x, *rest)

        return Function(filling, calls)

    def returning(x: Any, *rest: Any) -> Any:
        calls[0] += 1
        return form(x, *rest)

    return Function(returning, calls)


def _form(context: Context, call: Callable[..., Any], captured: Any) -> Callable[..., Any]:
    """The family's function as it takes its contexts."""

    def with_cache(x: Any, buffer: Any) -> Any:
        return _through(buffer, call(x))

    def with_caches(x: Any, buffers: Any) -> Any:
        return _through(buffers[0], _through(buffers[1][0], call(x)))

    def with_both(x: Any, parameters: Any) -> Any:
        return _through(parameters["b"], call(x, parameters["c"]))

    def with_captured(x: Any) -> Any:
        return call(x, namespace(x).asarray(captured))

    forms: dict[str, Callable[..., Any]] = {
        "Cache": with_cache, "Caches": with_caches, "ConstantOrCache": with_both, "captured": with_captured,
    }  # fmt: skip
    return forms.get(context, call)


def _through(buffer: Any, value: Any) -> Any:
    """The value, by way of memory."""
    buffer[...] = value
    return buffer[...]


def constant_of(scenario: Scenario) -> Any:
    """The value of c."""
    if scenario.context in ("none", "Cache", "Caches"):
        return 1.0
    if scenario.context == "ConstantArray":
        shape = SHAPES[scenario.y]
        return np.linspace(0.5, 1.5, math.prod(shape)).reshape(shape).astype(scenario.dtype)
    return 1.5


def contexts_of(scenario: Scenario, *, is_zero: bool = False) -> tuple[Any, ...]:
    """Contexts as the operator takes them; with other values where they must not matter."""
    c = constant_of(scenario) * (0 if is_zero else 1)
    memory = np.full(SHAPES[scenario.y], np.nan, scenario.dtype)
    made: dict[str, tuple[Any, ...]] = {
        "none": (),
        "captured": (),
        "Constant": (diff.Constant(c),),
        "ConstantArray": (diff.Constant(c),),
        "Active": (diff.Active(np.asarray(c, scenario.dtype)),),
        "Cache": (diff.Cache(memory),),
        "Caches": (diff.Cache((memory, (memory.copy(),))),),
        "ConstantOrCache": (diff.ConstantOrCache({"c": diff.Constant(c), "b": diff.Cache(memory)}),),
    }
    return made[scenario.context]
