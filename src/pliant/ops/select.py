"""The choice between two values, and what follows from it: where a value is known to be zero.

`where(c, f(x), 0)` has a zero gradient where c is false, also if f'(x) is infinite there. The
cotangent that reaches f is `select(c, ct, 0)`; multiplied by f'(x) it would be 0·∞ = NaN. So the
multiplications of reverse mode ask where their cotangent is known to be zero, and stay zero there.
Where nothing is known, nothing is made.
"""

from __future__ import annotations

import cmath
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, final

from pliant.core.ir import Const, Namespace, Operand, Tangents, Value, Values, const
from pliant.core.types import Type
from pliant.errors import DTypeError
from pliant.ops.base import Elementwise, alike, common_shape, fit, unfit
from pliant.ops.shape import Broadcast
from pliant.rewrite.rule import rewrite

Find: TypeAlias = Callable[[Value], "Value | None"]

DEPTH = 8  # how far back `support` looks: a mask that decides is a few steps away


@final
class Select(Elementwise):
    """x where the condition holds, else y: `bool[…], t[…], t[…] → t[…]`, any of rank 0."""

    domain = "biufc"
    arity = 3

    def infer(self, condition: Type, x: Type, y: Type) -> Type:
        return type_under(self.name, condition, x, y)

    def array(self, xp: Namespace, condition: Any, x: Any, y: Any) -> Any:
        return xp.where(condition, x, y)

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        (y,) = self.apply(*xs)
        if (dxs[1] is None and dxs[2] is None) or not y.type.is_float:
            return (y,), (None,)
        first, second = (const(0, y.dtype) if d is None else d for d in dxs[1:])
        return (y,), (fit(self(xs[0], first, second), y.type),)

    def transpose(self, ct: Value, condition: Value, x: Value | Type, y: Value | Type) -> Tangents:
        zero = const(0, ct.dtype)
        dx = unfit(self(condition, ct, zero), x) if isinstance(x, Type) else None
        dy = unfit(self(condition, zero, ct), y) if isinstance(y, Type) else None
        return None, dx, dy

    def support(self, find: Find, condition: Value, x: Value, y: Value) -> Value | None:
        yes, no = const(True, "bool"), const(False, "bool")
        if is_zero(y):
            inner = find(x)
            return condition if inner is None else self(condition, inner, no)
        return self(condition, no, find(y) or yes) if is_zero(x) else None


def type_under(name: str, condition: Type, x: Type, y: Type) -> Type:
    """The type of what a primitive makes of two operands under a condition; DTypeError if it takes no such ones."""
    if condition.dtype != "bool" or x.dtype != y.dtype:
        raise DTypeError(f"{name}: wants a bool and two of one dtype, got {condition}, {x} and {y}")
    return Type(x.dtype, common_shape(name, (condition, x, y)))


def select(condition: Value, x: Operand, y: Operand) -> Value:
    """x where the condition holds, else y; a Python number takes the other's dtype."""
    return Select()(condition, *alike((x, y)))


def is_zero(x: Value) -> bool:
    """Whether `x` is a literal zero, or one repeated."""
    return _is_literal(x, 0)


def is_true(x: Value) -> bool:
    """Whether `x` is a literal truth, or one repeated."""
    return x.dtype == "bool" and _is_literal(x, 1)


def _is_literal(x: Value, number: int) -> bool:
    if isinstance(x.op, Broadcast):
        (x,) = x.args
    return isinstance(x.op, Const) and x.op.value == number


def is_finite(x: Value) -> bool:
    """Whether `x` is a literal, and neither infinite nor NaN."""
    return isinstance(x.op, Const) and cmath.isfinite(x.op.value)


def support(x: Value, depth: int = DEPTH, known: Mapping[Value, Value] | None = None) -> Value | None:
    """Where `x` may differ from zero, of x's shape or rank 0; None if nothing is known but what is `known`.

    A primitive knows by its `support(find, *operands)`, where `find` asks the same of an operand; or by its
    `support_of(value, find)`, if that depends on which of its results is meant, or on what it is.
    """
    if known and x in known:
        return known[x]
    if is_zero(x):
        return const(False, "bool")
    op: Any = x.op
    if not depth or not (hasattr(op, "support") or hasattr(op, "support_of")):
        return None

    def find(operand: Value) -> Value | None:
        return support(operand, depth - 1, known)

    return op.support(find, *x.args) if hasattr(op, "support") else op.support_of(x, find)


def spares(op: Any) -> bool:
    """Whether reverse mode makes zeros of a cotangent that is known to be zero, whatever the operands are: a primitive
    without `support` says so by `spares`."""
    return isinstance(op, Elementwise) or any([hasattr(op, name) for name in ("support", "support_of", "spares")])


def at_places_of(value: Value, known: Value) -> Value | None:
    """What is known at the places of an update of zeros; None for other values, and where these places are many.

    A primitive that writes has a number `update_operand`, and knows by its `at_places(known, *operands)`.
    """
    op: Any = value.op
    if not hasattr(op, "at_places") or not is_zero(value.args[0]):
        return None
    there: Value | None = op.at_places(fit(known, value.type), *value.args)
    return there if there is None or known.shape else known


def updated_by(value: Value) -> Value:
    """What an update writes."""
    op: Any = value.op
    n: int = op.update_operand
    return value.args[n]


def with_update(value: Value, new: Value) -> Value:
    """The update of the same places by something else."""
    op: Any = value.op
    n = op.update_operand % len(value.args)
    made: Values = op.apply(*value.args[:n], new, *value.args[n + 1 :])
    return made[0]


@rewrite(Select)
def select_of_same(value: Value) -> Value | None:
    """select(c, x, x) → x."""
    _, x, y = value.args
    return fit(x, value.type) if x is y else None


@rewrite(Select, reads=(Const,))
def select_by_literal(value: Value) -> Value | None:
    """select(True, x, y) → x; select(False, x, y) → y."""
    condition, x, y = value.args
    if not isinstance(condition.op, Const):
        return None
    return fit(x if condition.op.value else y, value.type)


@rewrite(Select, reads=(Select,))
def select_of_select(value: Value) -> Value | None:
    """select(c, select(c, x, y), z) → select(c, x, z), and likewise in the other branch."""
    condition, x, y = value.args
    inner_x = x.args[1] if isinstance(x.op, Select) and x.args[0] is condition else x
    inner_y = y.args[2] if isinstance(y.op, Select) and y.args[0] is condition else y
    if inner_x is x and inner_y is y:
        return None
    return fit(select(condition, inner_x, inner_y), value.type)


RULES = (select_of_same, select_by_literal, select_of_select)
