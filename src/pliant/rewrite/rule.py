"""Rewrite rules. A rule is a value; a rule set is a tuple of rules."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from functools import cached_property
from importlib import import_module
from pickle import PicklingError
from types import FunctionType
from typing import Any, Literal, TypeAlias, cast, final, overload

from pliant.core.data import frozen
from pliant.core.ir import Const, Op, Pattern, Value, const
from pliant.core.origin import CodeOrigin, Origin, here
from pliant.errors import RewriteError
from pliant.rewrite.explain import explain_rule
from pliant.rewrite.match import Miss, kind_of, match_value

Replacement: TypeAlias = "Value | dict[Value, Value] | None"
"""What a value becomes; a dict also replaces other values, like the siblings of an op's result."""

Level: TypeAlias = Literal["exact", "stable", "algebraic"]
"""`exact`: the same numbers, bit for bit. `stable`: at least as accurate as what was written.
`algebraic`: equal over the real numbers, may round differently."""

Sides: TypeAlias = "Callable[..., tuple[Any, Any]]"
Equation: TypeAlias = "Callable[..., tuple[Any, Any] | None]"
Step: TypeAlias = "Callable[[Value], Replacement]"


@final
@frozen
class Rule:
    """One identity: what a value may become, and why that is right.

    Either `sides` returns (left, right) of an equation in its parameters, or `step` computes the
    replacement of one value made by the primitive (or family) `of`, None for "leave it".
    """

    name: str
    doc: str
    level: Level
    sides: Equation | None = None  # None for values that it says nothing about
    where: Callable[..., bool] | None = None
    step: Step | None = None
    of: type[Op] | None = None
    reads: tuple[type[Op], ...] = ()  # fires only if one of these made an operand
    is_of_node: bool = False  # whether it says the same of all results of a primitive
    grows: bool = False  # whether it could go on for long; an e-graph applies it when other rules have come to rest
    pattern: Callable[[], Pattern] | None = None  # the left side, if its primitives may have any parameters
    origin: Origin = field(default_factory=here, compare=False)

    def __reduce__(self) -> Any:
        """By name, as functions are."""
        f = self.sides or self.step
        module = getattr(getattr(f, "__self__", f), "__module__", "")
        if getattr(sys.modules.get(module), self.name, None) is not self:
            raise PicklingError(f"can't pickle rule {self.name}: it is not found as {module}.{self.name}")
        return _named, (module, self.name)

    @property
    def title(self) -> str:
        """The name, and where the rule stands: what tells it from others of the same name."""
        return f"{self.name} {self.origin.short}"

    def __repr__(self) -> str:
        return f"<rule {self.title}>"

    @cached_property
    def left(self) -> Pattern:
        """The left side with holes for the parameters of `sides`.

        Built at first use: rules are made while the primitives they name are still being defined.
        """
        if self.pattern is not None:
            return self.pattern()
        assert self.sides is not None
        code = cast("FunctionType", self.sides).__code__
        left, _ = cast("Sides", self.sides)(*map(Pattern, code.co_varnames[: code.co_argcount]))
        if not isinstance(left, Pattern) or not isinstance(left.op, Op):
            raise RewriteError(f"rule {self.name}: the left side must apply a primitive", hint="use @rewrite").at(
                ("the rule", self.origin)
            )
        return left

    @property
    def root(self) -> type[Op]:
        """The primitive, or family of primitives, this rule looks for."""
        if self.of is not None:
            return self.of
        return kind_of(cast("Op | type[Op]", self.left.op))

    def fits(self, made_by: tuple[type[Op], ...]) -> bool:
        """Whether operands made by such primitives could match; must be quick, may be generous."""
        if self.step is not None:
            return not self.reads or any(issubclass(c, self.reads) for c in made_by)
        patterns = self.left.args
        orders = (patterns, patterns[::-1]) if cast("Op | type[Op]", self.left.op).commutative else (patterns,)
        return any(len(o) == len(made_by) and all(map(_could_match, o, made_by)) for o in orders)

    def apply(self, value: Value) -> Replacement:
        """The replacement of `value`, if this rule has one."""
        if self.step is not None:
            return self.step(value)
        bound = match_value(self.left, value)
        if isinstance(bound, Miss) or (self.where is not None and not self.where(**bound)):
            return None
        left, right = self.equation(value, bound)
        return right if left is value else None

    def equation(self, value: Value, bound: Mapping[str, Value]) -> tuple[Value, Value | None]:
        """Both sides of an equation, with these values for its holes. The left one is `value`, unless the pattern left
        open what its primitives' parameters are."""
        assert self.sides is not None
        made = self.sides(**bound)
        if made is None:
            return value, None  # the equation is not about such values
        left, right = made
        left = value if self.pattern is None else left
        if not isinstance(right, Value):
            # a number on the right takes the type of what it replaces, if that is a scalar
            return left, const(right, value.dtype) if not value.shape else None
        return left, right

    def explain(self, values: Iterable[Value]) -> str:
        """Why this rule leaves all of `values` alone: its nearest miss."""
        return explain_rule(self, values)


def _named(module: str, name: str) -> Rule:
    """The rule of a module that has this name."""
    return getattr(import_module(module), name)


def _could_match(pattern: Any, made_by: type[Op]) -> bool:
    if not isinstance(pattern, Pattern):
        return made_by is Const
    return isinstance(pattern.op, str) or kind_of(pattern.op) is made_by


@overload
def rule(sides: Sides, /) -> Rule: ...
@overload
def rule(
    *, level: Level = "exact", where: Callable[..., bool] | None = None, grows: bool = False
) -> Callable[[Sides], Rule]: ...
def rule(
    sides: Sides | None = None, /, *, level: Level = "exact", where: Callable[..., bool] | None = None,
    grows: bool = False,
) -> Any:  # fmt: skip
    """Make a rule from a function that returns `left, right`.

    The function's parameters are the holes. It runs on holes to learn the left side, and on the
    matched values to build the right side, so the right side may compute with shapes. A number on
    the left matches that literal of any dtype. `where` is given the matched values by name and may
    refuse.
    """

    def make(f: Sides) -> Rule:
        return Rule(_name(f), _doc(f), level, sides=f, where=where, grows=grows, origin=_origin(f))

    return make(sides) if sides is not None else make


def rewrite(
    of: type[Op], *, level: Level = "exact", reads: tuple[type[Op], ...] = (), is_of_node: bool = False,
    grows: bool = False,
) -> Callable[[Step], Rule]:  # fmt: skip
    """Make a rule from a function of one value, for what `rule` cannot say.

    It is called for every value made by `of`, a primitive or a family, and only if one of its
    operands was made by one of `reads`, where that is given. It returns the replacement, or None. is_of_node: whether
    that is the same whichever of a primitive's results it is given: it is asked about one then.
    """
    return lambda f: Rule(
        _name(f), _doc(f), level, step=f, of=of, reads=reads, is_of_node=is_of_node, grows=grows, origin=_origin(f)
    )


def _name(f: Callable[..., Any]) -> str:
    return getattr(f, "__name__", "rule")


def _doc(f: Callable[..., Any]) -> str:
    return f.__doc__ or ""


def _origin(f: Callable[..., Any]) -> Origin:
    return CodeOrigin(cast("FunctionType", f).__code__, 0)
