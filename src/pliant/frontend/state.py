"""The state of a loop: containers of arrays and numbers that keep their types from step to step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, final

import optree

from pliant.core.data import frozen
from pliant.core.ir import Values
from pliant.core.origin import here
from pliant.errors import ArgumentError, DTypeError, ShapeError
from pliant.frontend.array import TracedArray, fresh
from pliant.frontend.closed import Closed, trace_closed
from pliant.frontend.control.changing import changed, changing_nothing
from pliant.frontend.convert import as_traced, value_of
from pliant.frontend.instrumented import callee
from pliant.frontend.number import Kind, is_number, kind_of, with_kind
from pliant.frontend.reference import NAMESPACE
from pliant.frontend.sharing import sharing
from pliant.frontend.signature import containers, flatten, unflatten
from pliant.frontend.tracing import Storage, current
from pliant.frontend.twins import NO_TWINS, Twins

ROUNDS = 8  # promotions of one leaf: bool, int, float, complex, and of weak numbers


@final
@frozen
class State:
    """A container, its leaves, and the kinds of those that are numbers (None for others).

    effects: states of generators and the like from outside, which a step changes. They come after the leaves.
    twins: of the containers."""

    leaves: tuple[Any, ...]
    structure: Any
    kinds: tuple[Kind | None, ...]
    names: tuple[str, ...]
    effects: tuple[Storage, ...] = ()
    twins: Twins = NO_TWINS

    @classmethod
    def of(cls, tree: Any) -> State:
        """The state that a loop starts from."""
        leaves, structure = flatten(tree)
        given = tuple([as_traced(x) if is_number(x) else x for x in leaves])
        kinds = tuple([kind_of(x) if type(x) is TracedArray else None for x in given])
        names = tuple(
            [
                "".join(f"[{p!r}]" for p in path)
                for path in optree.tree_paths(tree, none_is_leaf=False, namespace=NAMESPACE)
            ]
        )
        return cls(given, structure, kinds, names, twins=Twins.of(tree))

    @property
    def values(self) -> Values:
        """The leaves that are numbers, as values of their kinds, and the effects."""
        pairs = zip(self.leaves, self.kinds, strict=True)
        return (*[value_of(x, k.type.dtype) for x, k in pairs if k is not None], *[s.value for s in self.effects])

    def hint(self, leaf: Any) -> str:
        """The user's name for a leaf, if it has one."""
        if leaf.concrete is not None:
            return ""
        op = leaf.value.op
        names = leaf.value.origin.names
        return str(getattr(op, "hint", "")) or (names[0] if len(names) == 1 else "")

    def templates(self, more: Sequence[Kind] = ()) -> tuple[list[Any], Any, list[bool]]:
        """Leaves to trace a function of the state, and of `more`, with; their structure; which are traced."""
        pairs = zip(self.leaves, self.kinds, strict=True)
        given = [x if k is None else k.template(self.hint(x)) for x, k in pairs]
        given += [Kind(s.value.type).template() for s in self.effects]
        count = len(given) - len(self.kinds) + len(more)
        given += [k.template() for k in more]
        return given, flatten((tuple(given), {}))[1], [k is not None for k in self.kinds] + [True] * count

    def tree(self, leaves: Sequence[Any]) -> Any:
        """The container with other leaves."""
        return self.twins.entered(unflatten(self.structure, list(leaves[: len(self.leaves)])))

    def entered(self, leaves: Sequence[Any]) -> tuple[Any, Sequence[Any]]:
        """The container of a step's parameters, and the rest of these; the effects are what they are at the step."""
        rest = leaves[len(self.leaves) :]
        for storage, x in zip(self.effects, rest, strict=False):
            storage.write(x.value)
        return self.tree(leaves), rest[len(self.effects) :]

    def left(self) -> list[Any]:
        """The effects as a step leaves them."""
        return [fresh(s.value, is_array=True) for s in self.effects]

    def with_effects(self, drawn: Sequence[Storage]) -> State:
        """The state with these effects too."""
        return replace(self, effects=(*self.effects, *[s for s in drawn if s not in self.effects]))

    def rebuild(self, values: Values) -> Any:
        """The container of values, in the order of `values`, in the current trace, where the effects are left."""
        rest = iter(values)
        made = [x if k is None else with_kind(next(rest), k) for x, k in zip(self.leaves, self.kinds, strict=True)]
        for storage, value in zip(self.effects, rest, strict=False):
            storage.write(value)
        return self.tree(made)


def traced_step(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f`, instrumented; UnsupportedError if it changes something outside."""

    def step(*args: Any) -> Any:
        trace = current()
        with changing_nothing(getattr(f, "__name__", "the body"), trace, args):
            return callee(f, trace)(*args)

    return step


def settle(
    name: str,
    f: Callable[..., Any],
    step: Callable[..., Any],
    state: State,
    more: Sequence[Kind],
    *,
    may_raise: bool = False,
) -> tuple[State, Closed, tuple[list[Any], Any]]:
    """The state with kinds that a step keeps, the traced step, and what else the step returns.

    step: (state, *more) → (state, anything), named for `f`. The result's function takes
    the leaves of the state, then those of `more`; it returns the state's leaves, then the rest. The effects of a step
    are part of the state. may_raise: whether a step may: those after it are run, too.
    """
    found: list[Any] = []

    def run(*leaves: Any) -> Any:
        given, others = state.entered(leaves)
        out, rest = step(given, *others)
        made, structure = flatten(out)
        if structure != state.structure:
            raise ArgumentError(
                f"{name}: the state enters as {containers(state.structure)} but leaves as {containers(structure)}",
                hint="a step returns a state of the same containers; * is an array or a number",
            ).at(("here", here()))
        rest_leaves, rest_structure = flatten(rest)
        rest_leaves = [as_traced(x) if is_number(x) else x for x in rest_leaves]
        kinds = [_next(name, state, n, x) for n, x in enumerate(made)]
        found[:] = [kinds, (rest_leaves, rest_structure), sharing(out)]
        cast = [value_of(x, k.type.dtype) for x, k in zip(made, kinds, strict=True) if k is not None]
        return [fresh(v, is_array=True) for v in cast], state.left(), rest_leaves

    run.__name__ = getattr(f, "__name__", "body").strip("<>")
    was_filling = False
    for _ in range(ROUNDS * max(len(state.kinds), 1)):
        closed = trace_closed(run, *state.templates(more), may_draw=True, may_tell=may_raise)
        kinds, rest, firsts = found
        before, state = state, replace(state.with_effects(closed.drawn), kinds=tuple(kinds))
        if firsts != state.twins.firsts:
            state = replace(state, twins=replace(state.twins, are_apart=True))
        if state == before and not closed.is_filling:
            return state, closed, rest
        if state == before and was_filling:
            raise changed(run.__name__).at(("here", here()))
        was_filling = state == before
    raise DTypeError(
        f"{name}: the state has no types that a step keeps: {', '.join(str(k and k.type) for k in state.kinds)}"
    )


def _next(name: str, state: State, n: int, made: Any) -> Kind | None:
    """The kind a leaf of the state should have, given what a step made of it."""
    kind, leaf = state.kinds[n], f"the state{state.names[n]}"
    if kind is None:
        if made is state.leaves[n] or bool(made == state.leaves[n]):
            return None
        raise ArgumentError(f"{name}: {leaf} is {state.leaves[n]!r} and becomes {made!r}, which is no number")
    if not is_number(made):
        raise ArgumentError(f"{name}: {leaf} enters as {kind.type} but leaves as {type(made).__name__}").at(
            ("here", here())
        )
    after = kind_of(as_traced(made))
    joined = kind.joined(after)
    message = f"{name}: {leaf} enters as {kind.type} but leaves as {after.type}"
    if joined is None:
        raise ShapeError(message, hint="a step keeps the shapes of the state").at(("here", here()))
    if joined.type != kind.type and not kind.is_weak:
        raise DTypeError(message, hint="start from an array of that dtype, or convert the result").at(("here", here()))
    return replace(joined, is_scalar=kind.is_scalar and joined.is_scalar)
