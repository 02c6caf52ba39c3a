"""What loops keep for their derivatives, as users say it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, final

from pliant.core.build import hint_of
from pliant.core.ir import Function, Values, param, scope
from pliant.core.origin import here
from pliant.errors import ArgumentError
from pliant.frontend.array import fresh
from pliant.frontend.convert import value_of
from pliant.frontend.number import Kind
from pliant.frontend.program import trace_closed
from pliant.frontend.signature import flatten
from pliant.frontend.state import State, traced_step
from pliant.ops.checkpoints import Treeverse, apply_of
from pliant.ops.loop import Loop
from pliant.ops.reversible import Reversible


@final
@dataclass(frozen=True)
class Undo:
    """How to go back: what `reversible` makes."""

    inverse: Callable[[Any, Any], Any]


Save: TypeAlias = Literal["store", "carry", "sqrt"] | Treeverse | Undo


def treeverse(states: int) -> Treeverse:
    """Keep about so many states of a loop at a time: blocks of steps, blocks of blocks, … are run again.

    For `save=` of `scan`, `fori_loop` and `checkpoint`.

    >>> import pliant
    >>> slope = pliant.grad(lambda x: pliant.fori_loop(0, 100, lambda i, y: y * 1.01, x, save=pliant.treeverse(12)))
    >>> round(float(slope(1.0)), 6) == round(1.01**100, 6)
    True
    """
    return Treeverse(states)


def reversible(inverse: Callable[[Any, Any], Any]) -> Undo:
    """Keep no states of a loop: `inverse` finds the one before a step from the one after it.

    inverse: for `scan`, from the carry after a step and the row x to the carry before it; for
    `fori_loop`, from the index and the state after a step to the state before it.

    >>> import pliant
    >>> step = lambda i, y: y * 1.01
    >>> back = lambda i, y: y / 1.01
    >>> slope = pliant.grad(lambda x: pliant.fori_loop(0, 100, step, x, save=pliant.reversible(back)))
    >>> round(float(slope(1.0)), 6) == round(1.01**100, 6)
    True
    """
    return Undo(inverse)


def applied(loop: Loop, xs: Values, save: Save, invert: Callable[[Callable[[Any, Any], Any]], Function]) -> Values:
    """A loop applied as `save` says. invert: traces an inverse as a function of the body's parameters."""
    if not isinstance(save, Undo):
        return apply_of(save)(loop, xs)
    inverse = invert(save.inverse)
    return Reversible(loop.body, inverse, loop.length, loop.ins, loop.outs, loop.reverse).apply(*xs)


def inverse_of(
    inverse: Callable[[Any, Any], Any],
    state: State,
    more: Sequence[Kind],
    body: Function,
    free: Values,
    arguments: Callable[..., tuple[Any, Any]],
) -> Function:
    """A user's inverse as a function of the parameters of a loop's body.

    more: kinds of the index and the rows. free: what the body reads from outside.
    arguments: (state, index, *rows) → what the inverse takes.
    """
    count = len(state.leaves)

    def undo(*leaves: Any) -> Any:
        before = traced_step(inverse)(*arguments(state.tree(leaves[:count]), *leaves[count:]))
        made, structure = flatten(before)
        if structure != state.structure:
            raise ArgumentError(f"reversible: the inverse returns {structure}, expected {state.structure}").at(
                ("here", here())
            )
        pairs = zip(made, state.kinds, strict=True)
        return [fresh(value_of(x, k.type.dtype), is_array=True) for x, k in pairs if k is not None]

    undo.__name__ = getattr(inverse, "__name__", "inverse").strip("<>")
    closed = trace_closed(undo, *state.templates(more))
    if set(closed.free) - set(free):
        raise ArgumentError(
            "reversible: the inverse reads values from an enclosing scope that the step does not read",
            hint="pass them in the state",
        )
    held, width = len(state.values), len(state.values) + len(more)
    with scope():
        ps: Values = tuple([param(p.type, hint_of(p)) for p in body.params])
        # a loop's body takes the index first, and what it reads from outside last
        outside = dict(zip(free, ps[width:], strict=False))
        given = (*ps[1 : 1 + held], ps[0], *ps[1 + held : width], *(outside[v] for v in closed.free))
        return Function(closed.fn.name, ps, closed.fn(*given))


__all__ = ["Save", "Undo", "applied", "inverse_of", "reversible", "treeverse"]
