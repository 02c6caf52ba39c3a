"""What loops keep for their derivatives, as users say it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias, final

from pliant.callables import function_of
from pliant.core.build import hint_of
from pliant.core.data import frozen
from pliant.core.ir import Function, Values, param
from pliant.core.origin import here
from pliant.core.scope import scope
from pliant.errors import ArgumentError
from pliant.frontend.array import fresh
from pliant.frontend.closed import trace_closed
from pliant.frontend.convert import value_of
from pliant.frontend.number import Kind
from pliant.frontend.signature import containers, flatten
from pliant.frontend.state import State, traced_step
from pliant.ops.checkpoints import Treeverse, apply_of
from pliant.ops.loop import Loop
from pliant.ops.reversible import Reversible


@final
@frozen
class Undo:
    """How to go back: what `reversible` makes."""

    inverse: Callable[[Any, Any], Any]


Save: TypeAlias = Literal["store", "carry", "sqrt"] | Treeverse | Undo


def treeverse(states: int) -> Treeverse:
    """Keep so many states of a loop at a time, and run the steps between them again as seldom as that allows.

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
    function_of(inverse)
    return Undo(inverse)


@final
@frozen
class Inversion:
    """What it takes to make a user's inverse a function of the parameters of a loop's body.

    more: kinds of the index and the rows. free: what the body reads from outside.
    arguments: (state, index, *rows) → what the inverse takes.
    """

    state: State
    more: tuple[Kind, ...]
    body: Function
    free: Values
    arguments: Callable[..., tuple[Any, Any]]

    def of(self, inverse: Callable[[Any, Any], Any]) -> Function:
        """The inverse as such a function."""
        closed = trace_closed(self.undoing(inverse), *self.state.templates(self.more))
        if set(closed.free) - set(self.free):
            raise ArgumentError(
                "reversible: the inverse reads values from an enclosing scope that the step does not read",
                hint="pass them in the state",
            )
        held = len(self.state.values)
        width = held + len(self.more)
        with scope():
            ps: Values = tuple([param(p.type, hint_of(p)) for p in self.body.params])
            # a loop's body takes the index first, and what it reads from outside last
            outside = dict(zip(self.free, ps[width:], strict=False))
            given = (*ps[1 : 1 + held], ps[0], *ps[1 + held : width], *(outside[v] for v in closed.free))
            return Function(closed.fn.name, ps, closed.fn(*given))

    def undoing(self, inverse: Callable[[Any, Any], Any]) -> Callable[..., Any]:
        """The inverse on the leaves of the state, the index and the rows; it must return the state."""
        state, count = self.state, len(self.state.leaves)

        def undo(*leaves: Any) -> Any:
            before = traced_step(inverse)(*self.arguments(state.tree(leaves[:count]), *leaves[count:]))
            made, structure = flatten(before)
            if structure != state.structure:
                raise ArgumentError(
                    f"reversible: the inverse returns {containers(structure)}, expected {containers(state.structure)}",
                    hint="* is an array or a number",
                ).at(("here", here()))
            pairs = zip(made, state.kinds, strict=True)
            return [fresh(value_of(x, k.type.dtype), is_array=True) for x, k in pairs if k is not None]

        undo.__name__ = getattr(inverse, "__name__", "inverse").strip("<>")
        return undo


def check_policy(save: Save) -> None:
    """ArgumentError if there is no such policy."""
    if not isinstance(save, Undo):
        apply_of(save)


def applied(loop: Loop, xs: Values, save: Save, undo: Inversion) -> Values:
    """A loop applied as `save` says."""
    if not isinstance(save, Undo):
        return apply_of(save)(loop, xs)
    if undo.state.effects:
        raise ArgumentError(
            "reversible: a step draws from a generator from outside, prints, or raises by what arrays hold, which "
            "cannot be undone",
            hint='draw and check before the loop, or use save="sqrt"',
        ).at(("here", here()))
    inverse = undo.of(save.inverse)
    return Reversible(loop.body, inverse, loop.length, loop.ins, loop.outs, loop.reverse).apply(*xs)


__all__ = ["Inversion", "Save", "Undo", "applied", "reversible", "treeverse"]
