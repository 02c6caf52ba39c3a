"""What is differentiated of a call: leaves of its arguments, and the function of these."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, final

import numpy as np

from pliant.callables import parameter_names
from pliant.core.data import frozen
from pliant.core.ir import Function, Value, Values
from pliant.core.origin import here
from pliant.errors import ArgumentError, DifferentiationError
from pliant.frontend.array import TracedArray
from pliant.frontend.attributes import attributes
from pliant.frontend.closed import Closed, close, trace_closed
from pliant.frontend.convert import as_traced
from pliant.frontend.failures import note
from pliant.frontend.kinds import is_sequence, is_traced
from pliant.frontend.number import is_number
from pliant.frontend.signature import attributes_of, flatten, places, selected, unflatten
from pliant.frontend.twins import Twins


@final
@frozen
class Active:
    """A function closed for differentiation with respect to some of its arguments."""

    closed: Closed
    xs: tuple[TracedArray, ...]  # the active leaves
    structures: tuple[Any, ...]  # one per differentiated argument, with None for what is not active

    @property
    def operands(self) -> Values:
        """Values for all parameters of `closed.fn`."""
        return (*(x.value for x in self.xs), *self.closed.free)

    @property
    def flags(self) -> tuple[bool, ...]:
        """Which parameters are differentiated."""
        return (True,) * len(self.xs) + (False,) * len(self.closed.free)

    def tree(self, leaves: Sequence[Any], argnums: Any) -> Any:
        """Leaves in the structure of the differentiated arguments; None for leaves that are not, and for objects that
        have none that are."""
        rest = iter(leaves)
        trees = tuple([unflatten(s, [next(rest) for _ in range(s.num_leaves)]) for s in self.structures])
        return trees if is_sequence(argnums) else trees[0]


EVERY: Final = object()


def activate(
    f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], argnums: Any, name: str
) -> Active:  # fmt: skip
    """Trace f with the leaves of the arguments `argnums` as parameters; argnums EVERY: with all that are floats."""
    is_any = argnums is EVERY
    argnums = tuple(range(len(args))) if is_any else argnums
    numbers = _positions(argnums, len(args), name)
    parts = [flatten(a) for a in args]
    flags = [_flags(*part, is_wanted=n in numbers, is_any=is_any) for n, part in enumerate(parts)]
    if not any([any(given) for given in flags]):
        flags = [[is_any] * len(part) for part, _ in parts]  # an error, or there are no arguments
    given = [_checked(f, n, parts[n], flags[n], name) for n in range(len(args))]
    extra, _ = flatten(kwargs)
    _, structure = flatten((args, kwargs))
    leaves = [*[x for part in given for x in part], *extra]
    active = [*[a for part in flags for a in part], *[False] * len(extra)]
    twins = Twins.of((args, kwargs))
    closed = trace_closed(f, leaves, structure, active, twins=twins, may_raise=True, may_draw=True, may_set=True)
    # parameters follow the order of the arguments; results follow argnums
    by_argument = {n: [x for x, a in zip(given[n], flags[n], strict=True) if a] for n in numbers}
    xs = tuple([x for n in sorted(numbers) for x in by_argument[n]])
    _leave(closed, [x.value for x in xs])
    if sorted(numbers) != list(numbers):
        closed = _reorder(closed, xs, [x for n in numbers for x in by_argument[n]])
        xs = tuple([x for n in numbers for x in by_argument[n]])
    from pliant.pipeline import before_derivatives

    closed = Closed(before_derivatives(closed.fn), closed.free, closed.leaves, closed.structure)
    return Active(closed, xs, tuple([flatten(selected(args[n], flags[n]))[1] for n in numbers]))


def _leave(closed: Closed, operands: Sequence[Value]) -> None:
    """Raise, and leave generators, as the function of these operands does."""
    if closed.failing is not None:
        note(*closed.failing(*operands, *closed.free))
    closed.drawn_by(operands)


def once(f: Callable[..., Any], args: tuple[Any, ...]) -> Callable[..., Any]:
    """f, run here and no more: what many derivatives at these arguments are taken of, with the same random numbers."""
    leaves, closed = close(f, args, {}, may_raise=True, may_draw=True, may_set=True, is_apart=True)
    _leave(closed, [x.value for x in leaves])

    def recorded(*args: Any) -> Any:
        return closed.rebuild(closed.fn(*[as_traced(x).value for x in args], *closed.free))

    return recorded


def _positions(argnums: Any, count: int, name: str) -> tuple[int, ...]:
    """The numbers of the arguments that are differentiated, of so many in a call."""
    numbers: list[int] = []
    for given in argnums if is_sequence(argnums) else (argnums,):
        if isinstance(given, bool | np.bool_) or not hasattr(given, "__index__"):
            raise ArgumentError(
                f"{name}: argnums= takes an integer or a tuple of them, got {argnums!r}",
                hint="the number of an argument in the call, the first is 0",
            ).at(("here", here()))
        n = operator.index(given)
        if not -count <= n < count:
            raise ArgumentError(
                f"{name}: argnums={argnums!r} names no positional argument; the call has {count}",
                hint="arguments to differentiate are passed by position",
            )
        numbers.append(n % count)
    if len(set(numbers)) != len(numbers):
        raise ArgumentError(f"{name}: argnums={argnums!r} names an argument twice")
    return tuple(numbers)


def _reorder(closed: Closed, xs: Sequence[TracedArray], wanted: Sequence[TracedArray]) -> Closed:
    """The same function with its active parameters in another order."""
    params = closed.fn.params
    place = {id(x): p for x, p in zip(xs, params, strict=False)}
    order = (*(place[id(x)] for x in wanted), *params[len(xs) :])
    return Closed(Function(closed.fn.name, order, closed.fn.results), closed.free, closed.leaves, closed.structure)


def _kind(x: Any) -> str:
    """The kind of dtype of an argument leaf, also of one of a length that is known only at run time; "" of text and
    other objects."""
    try:
        return as_traced(x).type.kind
    except ArgumentError:
        return ""


def _flags(leaves: Sequence[Any], structure: Any, *, is_wanted: bool, is_any: bool) -> list[bool]:
    """Which leaves of an argument are differentiated: as `among` says of one that is wanted; if any will do, those that
    are floats. All of what has nothing else, where only these will do: an error."""
    if not is_wanted:
        return [False] * len(leaves)
    kinds = [_kind(x) for x in leaves]
    if is_any:
        return [kind in ("f", "c") for kind in kinds]
    flags = among(kinds, structure)
    return flags if any(flags) else [True] * len(leaves)


def among(kinds: Sequence[str], structure: Any) -> list[bool]:
    """Which leaves of these kinds of dtype are differentiated of an argument: all but text, booleans, other objects,
    and integers of attributes without floats beside such with, as counters and shapes are."""
    are_floats = [kind in ("f", "c") for kind in kinds]
    flags = [kind not in ("", "b") for kind in kinds]
    if any(are_floats) and flags != are_floats:
        held = attributes_of(structure)
        wanted = {"", *[a for a, f in zip(held, are_floats, strict=True) if f]}
        flags = [flag and a in wanted for flag, a in zip(flags, held, strict=True)]
    return flags


def _checked(f: Callable[..., Any], n: int, part: tuple[list[Any], Any], flags: Sequence[bool], name: str) -> list[Any]:
    """The leaves of argument n of f, those that are differentiated as traced arrays."""
    leaves, structure = part

    def place(k: int) -> str:
        names = parameter_names(f)
        return places(structure, names[n] if n < len(names) else f"args[{n}]")[k]

    rows = enumerate(zip(leaves, flags, strict=True))
    return [differentiable(x, name, partial(place, k)) if a else x for k, (x, a) in rows]


def differentiable(x: Any, name: str, place: Callable[[], str]) -> TracedArray:
    """An argument leaf, if it can be differentiated. name, place: what is asked for, and where the leaf is."""
    if not is_traced(x):
        try:
            x = as_traced(x)
        except ArgumentError:
            held = flatten([*attributes(x).values()])[0]
            hint = "argnums= names the arguments to differentiate"
            if any([is_number(y) and not isinstance(y, bool) for y in held]):
                hint = f"make {type(x).__name__} a dataclass, or pass its arrays in a dict; or name others by argnums="
            raise DifferentiationError(
                f"{name}: expected arrays or numbers to differentiate, got {type(x).__name__} for {place()}", hint=hint
            ).at(("here", here())) from None
    if not x.type.is_float:
        floats = "pass a float, as in 3.0" if x.is_weak else "convert with .astype(float)"
        raise DifferentiationError(
            f"{name}: expected float or complex arguments to differentiate, got {x.type} for {place()}",
            hint=f"{floats}, or pass it in an argument that is not differentiated",
        ).at(("here", here()))
    return x
