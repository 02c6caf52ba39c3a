"""Branches said outright: outside of tracing plain Python, inside a program's own `cond`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np

from pliant.callables import function_of
from pliant.core.ir import Function, Value, Values, param
from pliant.core.origin import here
from pliant.core.scope import scope
from pliant.errors import ArgumentError, ShapeError, UnsupportedError
from pliant.frontend.array import TracedArray, fresh, fresh_concrete
from pliant.frontend.closed import Closed, trace_closed
from pliant.frontend.control.changing import changed, is_of_change, taken_back_if_refused
from pliant.frontend.control.stepwise import chosen
from pliant.frontend.convert import as_traced, value_of
from pliant.frontend.instrumented import callee
from pliant.frontend.kinds import is_array, is_sequence
from pliant.frontend.number import Kind, is_number, kind_of, with_kind
from pliant.frontend.reading import is_shown
from pliant.frontend.signature import containers, flatten, unflatten
from pliant.frontend.state import State, traced_step
from pliant.frontend.tracing import current, is_tracing, short_of, type_of
from pliant.frontend.twins import remade
from pliant.ops.cond import Cond

Tree: TypeAlias = Any
T = TypeVar("T")


def cond(pred: Any, then: Callable[..., Any], otherwise: Callable[..., Any], *operands: Any) -> Tree:
    """`then(*operands)` if `pred` holds, else `otherwise(*operands)`; only one of them is run.

    Both return the same structure of arrays of the same shapes; dtypes are promoted. What the one that is run writes to
    its operands is written to these, as in an `if`. Under `vmap` over pred both are run, and the results are selected.

    >>> import numpy as np, pliant
    >>> pliant.jit(lambda x: pliant.cond(x > 0, np.sqrt, np.negative, x))(4.0)
    np.float64(2.0)
    """
    function_of(then)
    function_of(otherwise)
    if not is_tracing():
        return _run_plainly(then if bool(pred) else otherwise, operands)
    condition = as_traced(pred)
    if condition.shape:
        raise ShapeError(
            f"cond: expected one condition, got {condition.type}", hint="np.where(condition, x, y) chooses by element"
        ).at(("here", here()))
    if condition.concrete is not None:
        return _run_traced(callee(then if bool(condition) else otherwise, current()), operands)

    def run(*given: Any) -> Tree:
        return callee(chosen, current())(condition, then, otherwise, given)

    return or_stepwise(lambda: _traced(condition, then, otherwise, operands), lambda: _run_traced(run, operands))


def _traced(condition: TracedArray, then: Callable[..., Any], otherwise: Callable[..., Any], operands: Tree) -> Tree:
    """`cond` as a branch of the program."""
    state, written, parts, kinds = _agreed((then, otherwise), State.of(operands))
    free, branches = over_same(parts, len(state.values))
    results = Cond(*branches).apply(value_of(condition, "bool"), *state.values, *free)
    values = iter(results)
    made = [x if k is None else with_kind(next(values), k) for x, k in zip(parts[0].leaves, kinds, strict=True)]
    out, left, contents = unflatten(parts[0].structure, made)
    for storage, x in zip(state.effects, left, strict=True):
        storage.write(x.value)
    for n, content in zip(written, contents, strict=True):
        state.leaves[n][...] = content
    return out


def or_stepwise(traced: Callable[[], T], stepwise: Callable[[], T] | None) -> T:
    """What is traced of a loop or branch; as it is in Python where the functions change what is outside of them, if
    that may be."""
    try:
        with taken_back_if_refused(current()):
            return traced()
    except UnsupportedError as error:
        if stepwise is None or not is_of_change(error):
            raise
    return stepwise()


def switch(index: Any, branches: Sequence[Callable[..., Any]], *operands: Any) -> Tree:
    """`branches[index](*operands)`; an index outside the list is taken as the nearest one inside.

    >>> import numpy as np, pliant
    >>> pliant.switch(1, [np.sin, np.negative], 2.0)
    np.float64(-2.0)
    """
    if not is_sequence(branches):
        raise ArgumentError(
            f"switch: expected a list of functions, got {type(branches).__name__}", hint="pliant.switch(i, [f, g], x)"
        )
    if not branches:
        raise ArgumentError("switch: expected at least one branch")
    check_integer("switch: expected an integer for the index", index, "biu")
    if len(branches) == 1:
        return cond(True, branches[0], branches[0], *operands)
    middle = len(branches) // 2
    low, high = branches[:middle], branches[middle:]

    def lower(i: Any, *xs: Any) -> Tree:
        return switch(i, low, *xs)

    def upper(i: Any, *xs: Any) -> Tree:
        return switch(i - middle, high, *xs)

    return cond(index < middle, lower, upper, index, *operands)


def check_integer(message: str, x: Any, kinds: str = "iu") -> None:
    """ArgumentError for what is no number of such kinds."""
    given = as_traced(x).type if is_tracing() and is_number(x) else type_of(np.asarray(x)) if is_number(x) else None
    if given is None or given.shape or given.kind not in kinds:
        hint = "int(n) makes an integer of a number"
        raise ArgumentError(f"{message}, got {given or repr(x)}", hint=hint).at(("here", here()))


def _agreed(
    branches: Sequence[Callable[..., Any]], state: State
) -> tuple[State, tuple[int, ...], list[Closed], list[Kind | None]]:
    """The state with the effects of the branches, the numbers of its leaves that any of them writes to, and the
    branches as functions of the state, which return the same kinds: their results, effects, and these leaves."""
    targets: list[Kind | None] | None = None
    written: tuple[int, ...] = ()
    was_filling = False
    for _ in range(5):
        parts = [
            trace_closed(_branch(f, state, written, targets), *state.templates(), may_draw=True, may_tell=True)
            for f in branches
        ]
        before, state = (state, written), state.with_effects([s for part in parts for s in part.drawn])
        written = _written(state, parts)
        is_filling = any([part.is_filling for part in parts])
        if is_filling and was_filling:
            raise changed("a branch").at(("here", here()))
        was_filling = is_filling
        if (state, written) != before or is_filling:
            continue
        first, second = parts
        if first.structure != second.structure or len(first.leaves) != len(second.leaves):
            one, other = [containers(part.structure.child(0)) for part in parts]  # beside the effects
            raise ArgumentError(
                f"cond: one branch returns {one}, the other {other}",
                hint="branches return the same containers; * is an array or a number",
            ).at(("here", here()))
        kinds = [_common(n, x, y) for n, (x, y) in enumerate(zip(first.leaves, second.leaves, strict=True))]
        if [r.type for r in first.fn.results] == [r.type for r in second.fn.results]:
            return state, written, parts, kinds
        targets = kinds
    raise AssertionError("branches that were converted have the same types")


def _written(state: State, parts: Sequence[Closed]) -> tuple[int, ...]:
    """The numbers of the leaves that any branch writes to; an error if it knows one by another name too."""
    places = [n for n, kind in enumerate(state.kinds) if kind is not None]
    leaves = [state.leaves[n] for n in places]
    found: list[int] = []
    for n, leaf, *copies in zip(places, leaves, *[part.given for part in parts], strict=False):
        writing = [part for part, (_, storage) in zip(parts, copies, strict=True) if storage.is_touched]
        if not writing:
            continue
        is_read = any([v is leaf.value or v is leaf.storage.value for part in writing for v in part.free])
        if is_read or sum([leaf.storage is other.storage for other in leaves]) > 1:
            raise _by_two_names()
        found.append(n)
    return tuple(found)


def _by_two_names() -> UnsupportedError:
    return UnsupportedError(
        "cond: a branch writes to an operand whose memory it also has by another name",
        hint="pass each array once, and read it as an operand alone; or write an if",
    ).at(("here", here()))


def _branch(
    f: Callable[..., Any], state: State, written: Sequence[int], targets: list[Kind | None] | None
) -> Callable[..., Any]:
    def branch(*leaves: Any) -> Any:
        made = traced_step(f)(*state.entered(leaves)[0])
        out = made, state.left(), [fresh(leaves[n].value, is_array=True) for n in written]
        if targets is None:
            return out
        made, structure = flatten(out)
        cast = [x if k is None else with_kind(value_of(x, k.type.dtype), k) for x, k in zip(made, targets, strict=True)]
        return unflatten(structure, cast)

    branch.__name__ = getattr(f, "__name__", "branch").strip("<>")
    return branch


def _common(n: int, x: Any, y: Any) -> Kind | None:
    """The kind that both branches' n-th results become."""
    if type(x) is not TracedArray or type(y) is not TracedArray:
        if type(x) is type(y) and bool(x == y):
            return None
        raise ArgumentError(
            f"cond: result {n} is {x!r} in one branch and {y!r} in the other",
            hint="branches return arrays and numbers; what is no number is the same in both",
        ).at(("here", here()))
    joined = kind_of(x).joined(kind_of(y))
    if joined is None:
        raise ShapeError(
            f"cond: result {n} is {x.type} in one branch and {y.type} in the other",
            hint="branches return arrays of the same shapes: fill up the shorter one, or reduce both",
        ).at(("here", here()))
    return joined


def over_same(parts: Sequence[Closed], count: int) -> tuple[Values, list[Function]]:
    """What any of the functions reads from outside, and each as a function of all of it."""
    free = tuple(dict.fromkeys(v for part in parts for v in part.free))
    fns = list[Function]()
    for part in parts:
        with scope():
            ps: Values = tuple([param(p.type, str(getattr(p.op, "hint", ""))) for p in part.fn.params[:count]])
            more: dict[Value, Value] = {v: param(v.type) for v in free}
            results = part.fn(*ps, *(more[v] for v in part.free))
            fns.append(Function(part.fn.name, (*ps, *more.values()), results))
    return free, fns


def _run_plainly(branch: Callable[..., Any], operands: Tree) -> Tree:
    """A branch as Python runs it, with containers and arrays of its own; what it writes to these is written to the
    operands."""
    leaves, _ = flatten(operands)
    given, before = copied(leaves), _bytes_of(leaves)
    made = branch(*remade(operands, given))
    if _bytes_of(leaves) != before:
        raise _by_two_names()
    for x, y, old, new in zip(leaves, given, before, _bytes_of(given), strict=True):
        if new != old:
            x[...] = y
    return made


def _bytes_of(leaves: Sequence[Any]) -> list[Any]:
    return [cast("Any", x).tobytes() if isinstance(x, np.ndarray) else None for x in leaves]


def _run_traced(branch: Callable[..., Any], operands: Tree) -> Tree:
    """The same inside a trace, which looks into the branch as into the user's function."""
    leaves, _ = flatten(operands)
    given = [own_copy(x) for x in leaves]
    copies = [(as_traced(x), y) for x, y in zip(leaves, given, strict=True) if y is not x]
    before = [x.storage.value for x, _ in copies]
    made = branch(*remade(operands, given))
    if any([is_shown(x.lenses, old, x.storage.value) for (x, _), old in zip(copies, before, strict=True)]):
        raise _by_two_names()
    for x, y in copies:
        if y.storage.is_touched:
            x[...] = y
    return made


def own_copy(x: Any) -> Any:
    """An array of a trace's own, with what is known of it; anything else as it is."""
    if short_of(x.dtype) is None if is_array(x) else type(x) is not TracedArray or x.is_scalar or x.is_weak:
        return x
    array = as_traced(x)
    known = array.concrete if array.storage.concrete is not None else None
    return fresh(array.value, is_array=True) if known is None else fresh_concrete(known.copy())


def copied(tree: Tree) -> Tree:
    """The tree with copies of its arrays: bodies may write what they are given."""
    leaves, _ = flatten(tree)
    return remade(tree, [x.copy() if isinstance(x, np.ndarray) else x for x in leaves])


__all__ = ["cond", "copied", "or_stepwise", "over_same", "own_copy", "switch"]
