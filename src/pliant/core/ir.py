"""The IR: immutable values made by primitives, interned per trace.

A `Value` is one result of a `Node`; a `Node` is an `Op` applied to values; a `Function` is
parameters and results. Within one trace equal nodes are the same object, so comparing values is
`is`, and building the same expression twice is free.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import Any, ClassVar, TypeAlias, cast, final

from pliant.core.data import frozen
from pliant.core.family import Family
from pliant.core.origin import NOWHERE, Origin, here, swap
from pliant.core.protocols import Operators
from pliant.core.scope import traced
from pliant.core.types import DTYPES, Type, scalar
from pliant.errors import DTypeError, MissingRuleError, ShapeError

Number: TypeAlias = "float | int | bool | complex"
Values: TypeAlias = "tuple[Value, ...]"
Tangents: TypeAlias = "tuple[Value | None, ...]"  # None is an exact zero
Users: TypeAlias = "Mapping[Value, Sequence[Node | None]]"  # see `Function.users`
Operand: TypeAlias = "Value | Number"
Namespace: TypeAlias = Any  # numpy, jax.numpy, torch: an array API namespace


@frozen
class Op(metaclass=Family):
    """A primitive: a frozen dataclass. Fields are its static parameters; methods are its rules.

    Write `infer`, and `array` or `expand`. Everything else has a default that works; override a
    rule when you know a better one. No rule may look at concrete data except `array`.

    Rules are declared `*xs: Any, **no: Any` so that a primitive may name its operands: type
    checkers read that signature as "any arguments".
    """

    name: ClassVar[str]
    commutative: ClassVar[bool] = False
    multilinear: ClassVar[bool] = False  # linear in each operand only while the others are known
    moves: ClassVar[bool] = False  # elements of its operand, and none that are computed

    def __init_subclass__(cls) -> None:
        cls.name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__).lower()

    @abstractmethod
    def infer(self, *xs: Any, **no: Any) -> Type | tuple[Type, ...]:
        """Result type(s) from operand types, or raise `ShapeError` or `DTypeError`."""

    def array(self, xp: Namespace, *xs: Any, **no: Any) -> Any:
        """Result array(s) in namespace `xp`: operands, views of them, or new ones that nobody else holds. Override per
        backend by defining a method named after it: `numpy`, `jax` or `torch`."""
        raise self.missing("array", "expand")

    def expand(self, *xs: Any, **no: Any) -> Value | Values:
        """The same computation in other primitives."""
        raise self.missing("expand", "array")

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        """Results and their tangents (`None` is an exact zero). Default: differentiate `expand`."""
        raise self.missing("jvp", "expand")

    def transpose(self, ct: Any, *xs: Any, **no: Any) -> Tangents:
        """Cotangents of the linear operands, given that of the result (a tuple if there are
        several). A linear operand comes as its `Type`, a known one as its `Value`; return `None`
        for it. For complex operands this is the adjoint under Re⟨a, b⟩ (`ct * conj(known)`)."""
        raise self.missing("transpose", "expand")

    def batch(self, n: int, batched: tuple[bool, ...], *xs: Any, **no: Any) -> Value | Values:
        """Apply to `n` stacked problems. The batch axis is always axis 0, of the operands marked
        in `batched` and of every result but those that are the same for all problems."""
        raise self.missing("batch", "expand")

    def kernel(self, k: Any, i: Any, *xs: Any, **no: Any) -> Any:
        """The element of the result at index `i`; see `pliant.kernel.build` for `k` and `xs`."""
        raise self.missing("kernel", "expand")

    def missing(self, rule: str, *instead: str) -> MissingRuleError:
        """The error for an absent rule: says what to write, and where."""
        names = " or ".join(f"`{r}`" for r in (rule, *instead))
        cls = type(self)
        return MissingRuleError(
            f"primitive {self.name!r} has no {rule!r} rule",
            hint=f"define {names} on {cls.__module__}.{cls.__qualname__}",
        )

    @classmethod
    def has(cls, rule: str) -> bool:
        """Whether this primitive, or its family, defines `rule`."""
        return getattr(cls, rule) is not getattr(Op, rule)

    def apply(self, *xs: Operand) -> Values:
        """All results of applying this primitive."""
        args: Values = xs  # pyright: ignore[reportAssignmentType]  # no call: this runs for every node
        try:
            given = [a.node.types[a.index] for a in args]
        except AttributeError:  # a number among them
            args = tuple(map(as_value, xs))
            given = [a.type for a in args]
        try:
            types = self.infer(*given)
        except (ShapeError, DTypeError) as error:
            places = ((f"operand {i}: {a.type}", a.origin) for i, a in enumerate(args))
            raise error.at((f"in {self.name}", here()), *places) from None
        return Node.make(self, args, types if isinstance(types, tuple) else (types,))

    def __call__(self, *xs: Operand | Pattern) -> Value:
        """The only result of applying this primitive."""
        if Pattern in map(type, xs):
            return cast("Value", Pattern(self, xs))  # rules build patterns with the same calls
        (y,) = self.apply(*cast("tuple[Operand, ...]", xs))
        return y


operators: Operators


class Arithmetic:
    """Python operators shared by values and patterns."""

    __slots__ = ()

    def __add__(self, other: Any) -> Value:
        return operators.add(self, other)

    def __radd__(self, other: Any) -> Value:
        return operators.add(other, self)

    def __sub__(self, other: Any) -> Value:
        return operators.sub(self, other)

    def __rsub__(self, other: Any) -> Value:
        return operators.sub(other, self)

    def __mul__(self, other: Any) -> Value:
        return operators.mul(self, other)

    def __rmul__(self, other: Any) -> Value:
        return operators.mul(other, self)

    def __truediv__(self, other: Any) -> Value:
        return operators.div(self, other)

    def __rtruediv__(self, other: Any) -> Value:
        return operators.div(other, self)

    def __neg__(self) -> Value:
        return operators.neg(self)


@final
class Node:
    """An op applied to values. Make with `Node.make`, which interns."""

    __slots__ = ("args", "op", "origin", "scope", "types", "values")

    def __init__(self, op: Op, args: Values, types: tuple[Type, ...], scope: int, origin: Origin) -> None:
        self.op, self.args, self.types, self.scope, self.origin = op, args, types, scope, origin
        self.values = (Value(self, 0),) if len(types) == 1 else tuple([Value(self, i) for i in range(len(types))])

    @classmethod
    def make(cls, op: Op, args: Values, types: tuple[Type, ...]) -> Values:
        """The values of the one node `op(*args)` of the current trace."""
        current = traced.scope
        if current is None:
            return cls(op, args, types, 0, here(2)).values
        key = (type(op), op, args) if op.__dict__ else (type(op), args)  # without fields the class says it all
        node = current.table.get(key)
        if node is None:
            # `here` need not look at this frame and at that of `apply`, the usual caller
            node = current.table[key] = cls(op, args, types, current.number, here(2))
        return node.values


@final
class Value(Arithmetic):
    """One result of a node. Compared and hashed by identity."""

    __slots__ = ("index", "node")
    __match_args__ = ("op", "args", "index")

    def __init__(self, node: Node, index: int) -> None:
        self.node, self.index = node, index

    @property
    def op(self) -> Op:
        """The primitive that made this value."""
        return self.node.op

    @property
    def args(self) -> Values:
        """The operands of that primitive."""
        return self.node.args

    @property
    def type(self) -> Type:
        """Dtype and shape."""
        return self.node.types[self.index]

    @property
    def dtype(self) -> str:
        """IR name of the dtype."""
        return self.node.types[self.index].dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """Extent of each axis."""
        return self.node.types[self.index].shape

    @property
    def origin(self) -> Origin:
        """The user's line that made this value."""
        return self.node.origin

    def __repr__(self) -> str:
        return f"<{self.op.name}: {self.type}>"


@final
@dataclass(frozen=True, slots=True)
class Pattern(Arithmetic):
    """An expression with holes: what a rule's left side is while it is built."""

    op: Op | type[Op] | str  # a class: with any parameters; str: a hole of that name
    args: tuple[Any, ...] = ()
    index: int = 0  # which of the primitive's results


@final
@frozen
class Param(Op):
    """A function parameter. `uid` keeps parameters of one type apart."""

    type: Type
    hint: str
    uid: int
    known: Any = field(default=None, compare=False, repr=False)  # the array that it is bound to whenever it is read

    def infer(self, *xs: Type) -> Type:
        return self.type


@final
@frozen
class Const(Op):
    """A literal scalar. 0.0 and -0.0 differ, NaN equals itself."""

    value: Number
    dtype: str

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Const) or self.dtype != other.dtype:
            return False
        is_nan = self.value != self.value
        return (is_nan or self.value == other.value) and repr(self.value) == repr(other.value)

    def __hash__(self) -> int:
        return hash((self.dtype, self.value if self.value == self.value else "nan"))

    def infer(self, *xs: Type) -> Type:
        return Type(self.dtype)

    def apply(self, *xs: Operand) -> Values:
        return (const(self.value, self.dtype),)

    def array(self, xp: Namespace, *xs: Any) -> Any:
        return xp.asarray(self.value, dtype=getattr(xp, DTYPES[self.dtype]))

    def kernel(self, k: Any, i: Any, *xs: Any) -> Any:
        return k.const(self.value, self.dtype)


_uids = count()
_CASTS = {"f": float, "c": complex, "b": bool}


def param(type: Type, hint: str = "", known: Any = None) -> Value:
    """A fresh parameter; known: the array that it will always be bound to."""
    return Param(type, hint, next(_uids), known).apply()[0]


def const(value: Number, dtype: str) -> Value:
    """A literal scalar of a dtype: `const(1, "f32")` is `1.0:f32`."""
    cast_to: Any = _CASTS.get(dtype[0], int)
    number = value if type(value) is cast_to else cast_to(value)
    scope = traced.scope
    if scope is None:
        return Node(Const(number, dtype), (), scalar(dtype), 0, NOWHERE).values[0]
    # Zeros have signs, NaN is not itself: their texts tell them apart.
    key = dtype, repr(number) if not number or number != number or cast_to is complex else number
    found = scope.literals.get(key)
    if found is None:
        node = Node(Const(number, dtype), (), scalar(dtype), scope.number, NOWHERE)
        found = scope.literals[key] = node.values[0]
    return found


def as_value(x: Operand) -> Value:
    """A value unchanged; a Python number as a literal of Python's precision."""
    if isinstance(x, Value):
        return x
    names = {bool: "bool", int: "i64", float: "f64", complex: "c128"}
    if type(x) not in names:
        raise DTypeError(f"expected a value or a Python number, got {type(x).__name__}")
    return const(x, names[type(x)])


@final
@frozen
class Function:
    """Parameters and results. Two functions are equal when they do the same, up to naming."""

    name: str
    params: Values
    results: Values

    @cached_property
    def key(self) -> tuple[Any, ...]:
        """What the function computes, the same for functions equal up to naming: types, steps and results by number."""
        numbers = {p: i for i, p in enumerate(self.params)}
        steps: list[Any] = [p.type for p in self.params]
        for node in self.nodes:
            if isinstance(node.op, Param) and node.values[0] in numbers:
                continue
            steps.append((node.op, node.types, *[numbers[a] for a in node.args]))
            for v in node.values:
                numbers[v] = len(numbers)
        return (len(self.params), *steps, *[numbers[r] for r in self.results])

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """Every node that the results need, operands first."""
        return tuple(nodes(self.results))

    def users(self) -> Users:
        """What uses each value, once for each use: a node, or None for a result."""
        found: dict[Value, list[Node | None]] = {}
        for node in self.nodes:
            for a in node.args:
                found.setdefault(a, []).append(node)
        for r in self.results:
            found.setdefault(r, []).append(None)
        return found

    def use_counts(self) -> Counter[Value]:
        """How often each value is used, as an operand or a result."""
        return Counter([*self.results, *(a for node in self.nodes for a in node.args)])

    @cached_property
    def answers(self) -> dict[Any, Any]:
        """What was found out about the function, by who has asked: see `inner.answered`."""
        return {}

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Function) and hash(self) == hash(other) and self.key == other.key)

    @cached_property
    def _hash(self) -> int:
        return hash(self.key)

    def __hash__(self) -> int:
        return self._hash

    def __str__(self) -> str:
        from pliant.core.print import format_function  # the printer reads this class

        return format_function(self)

    __repr__ = __str__

    def __call__(self, *xs: Operand) -> Values:
        """Inline: results with `xs` for the parameters."""
        return substitute(self.results, dict(zip(self.params, map(as_value, xs), strict=True)))


def nodes(results: Sequence[Value], stop: Iterable[Value] = ()) -> list[Node]:
    """Every node the results need, operands first, not looking behind the values in `stop`."""
    known = stop if isinstance(stop, AbstractSet) else frozenset(stop)
    seen = set[Node]()
    order = list[Node]()
    todo: list[Any] = [v.node for v in reversed(results) if v not in known]
    while todo:
        node = todo.pop()
        if node is None:  # behind a node whose operands are there
            order.append(todo.pop())
        elif node not in seen:
            seen.add(node)
            todo += (node, None)
            for a in reversed(node.args):
                if a not in known:
                    todo.append(a.node)
    return order


def substitute(results: Sequence[Value], new: Mapping[Value, Value]) -> Values:
    """`results` with some values they are made from replaced, rebuilt in the current trace."""
    env = dict(new)
    for node in nodes(results, stop=new.keys()):
        if isinstance(node.op, Param):
            env[node.values[0]] = node.values[0]
            continue
        args = tuple([env[a] for a in node.args])
        outs = rebuild(node, args)
        for v, o in zip(node.values, outs, strict=True):
            env.setdefault(v, o)
    return tuple([env[r] for r in results])


def rebuild(node: Node, args: Values) -> Values:
    """The node's op on other operands, under the node's origin; if that is nowhere, under that of what it becomes a
    part of."""
    before = swap(node.origin)
    if node.origin is NOWHERE and before is not None:
        swap(before)
    try:
        if args and all([a.type == b.type for a, b in zip(args, node.args, strict=True)]):
            return Node.make(node.op, args, node.types)
        return node.op.apply(*args)
    finally:
        swap(before)
