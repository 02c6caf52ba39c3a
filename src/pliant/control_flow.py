"""Loops said outright: outside of tracing plain Python on NumPy arrays, inside a program's own `loop` and
`while_loop`.

What a body reads from enclosing scopes it may read; what it computes it returns. Arrays given to a
body may be written there, and nobody outside sees it. Names, attributes, containers and arrays from outside that
it changes are changed at each step: then the loop is traced as a `for` or `while` of Python's is.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from pliant.branches import check_integer, copied, or_stepwise, over_same, own_copy
from pliant.callables import function_of
from pliant.compiled import Compiled
from pliant.core.ir import Function, Value, param
from pliant.core.origin import here
from pliant.core.types import Type
from pliant.counts import as_count, number_of_rows
from pliant.errors import ArgumentError, ShapeError
from pliant.folds import Fold
from pliant.frontend.array import TracedArray, fresh
from pliant.frontend.closed import Closed, trace_closed
from pliant.frontend.control.changing import changed
from pliant.frontend.control.stepwise import bounded, counted, repeated, scanned, stacked
from pliant.frontend.convert import as_traced, value_of
from pliant.frontend.instrumented import callee
from pliant.frontend.kinds import is_of, is_sequence
from pliant.frontend.number import Kind, is_number
from pliant.frontend.signature import flatten, unflatten
from pliant.frontend.sizes import note_range, size_of
from pliant.frontend.state import State, settle, traced_step
from pliant.frontend.tracing import current, is_tracing
from pliant.frontend.twins import Twins, remade
from pliant.ops.checkpoints import Policy
from pliant.ops.loop import Loop
from pliant.ops.loop_form import In
from pliant.ops.while_checkpoints import apply_of_while
from pliant.ops.while_loop import WhileLoop
from pliant.saving import Inversion, Save, Undo, applied, check_policy

Tree: TypeAlias = Any

INDEX = Kind(Type("i64"), is_scalar=True, is_weak=True)
LONGEST = 4096  # steps; memory for so many is set aside where their number is known only at run time


def scan(
    f: Callable[[Any, Any], Any],
    init: Tree,
    xs: Tree = None,
    length: int | None = None,
    reverse: bool = False,
    *,
    save: Save = "store",
) -> tuple[Tree, Tree]:
    """`(last, stacked)` of `carry, y = f(carry, x)` for the rows x of xs, from the last if `reverse`.

    init, xs: containers of arrays and numbers; all arrays of xs have the same number of rows,
    `length`, which must be given where there are none. What f carries keeps its type from step to
    step; Python numbers in init take the dtype they meet. Row i of `stacked` was made from row i.
    Raises ShapeError or DTypeError naming the part of the state that changes its type.

    save: what reverse mode keeps of each step. "store": what the derivative reads; "carry": the carry,
    and the step is run again; "sqrt": the carry of every √length-th step, and blocks are run again;
    `treeverse(n)`: about n carries; `reversible(inverse)`: nothing, steps are undone.

    >>> import numpy as np, pliant
    >>> pliant.scan(lambda total, x: (total + x, total * x), 0.0, np.array([1.0, 2.0, 3.0]))
    (np.float64(6.0), array([0., 2., 9.]))
    """
    function_of(f)
    steps = number_of_rows("scan", flatten(xs)[0], length)
    if not is_tracing():
        check_policy(save)
        return _plain_scan(f, init, xs, steps, reverse)

    def stepwise() -> tuple[Tree, Tree]:
        return _stepwise_scan(f, init, xs, steps, reverse)

    return or_stepwise(
        lambda: _traced_scan(f, init, xs, (steps, reverse), save), stepwise if steps and save == "store" else None
    )


def _traced_scan(
    f: Callable[[Any, Any], Any], init: Tree, xs: Tree, order: tuple[int, bool], save: Save
) -> tuple[Tree, Tree]:
    """`scan` as a loop of the program; order: how many steps, and whether from the last."""
    (given, rows_structure), twins = flatten(xs), Twins.of(xs)
    rows = [as_traced(x) for x in given]
    row_kinds = [Kind(x.type.row, is_scalar=len(x.shape) == 1) for x in rows]
    inner = traced_step(f)

    def step(state: Tree, i: Any, *row: Any) -> Any:
        return _pair(inner(state, twins.entered(unflatten(rows_structure, row))))

    state, closed, ys = settle("scan", f, step, State.of(init), [INDEX, *row_kinds], may_raise=True)
    kept = _stackable(ys)
    count, made = len(state.values), len(closed.fn.results) - len(state.values)
    # the traced function takes the state, then the index and the rows; a loop's body the index first
    params = closed.fn.params
    body = Function(closed.fn.name, (params[count], *params[:count], *params[count + 1 :]), closed.fn.results)
    ins: list[In] = ["carry" for _ in range(count)]
    ins.extend("each" for _ in rows)
    ins.extend("const" for _ in closed.free)
    loop = Loop(order[0], tuple(ins), ("last",) * count + ("stack",) * made, body, order[1])

    def arguments(state: Tree, i: Any, *row: Any) -> tuple[Tree, Tree]:
        return state, twins.entered(unflatten(rows_structure, row))

    undo = Inversion(state, (INDEX, *row_kinds), body, closed.free, arguments)
    results = applied(loop, (*state.values, *(x.value for x in rows), *closed.free), save, undo)
    stacked = unflatten(kept, [fresh(y, is_array=True) for y in results[count:]])
    return state.rebuild(results[:count]), stacked


def map(f: Callable[[Any], Any], xs: Tree) -> Tree:
    """`f` of each row of xs, stacked; one after the other, in less memory than `vmap`.

    >>> import numpy as np, pliant
    >>> pliant.map(lambda x: x * x, np.array([1.0, 2.0]))
    array([1., 4.])
    """
    function_of(f)
    inner = _seen(f)

    def step(carry: Tree, x: Tree) -> tuple[Tree, Tree]:
        return carry, inner(x)

    return scan(_named(f, step), (), xs)[1]


def reduce(f: Callable[[Any, Any], Any] | Fold, init: Tree, xs: Tree) -> Tree:
    """`f(…f(f(init, x0), x1)…)` over the rows of xs, as `functools.reduce`; or one of `pliant.folds`.

    init: what a fold starts from, its own start if None.

    >>> import numpy as np, pliant
    >>> pliant.reduce(lambda total, x: total * x, 1.0, np.array([2.0, 3.0]))
    np.float64(6.0)
    """
    if callable(f):
        function_of(f)
        return _reduced(f, _seen(f), init, xs)
    if not is_of(f, Fold):
        raise ArgumentError(f"reduce: expected a function of two, or one of pliant.folds, got {type(f).__name__}")
    rows, structure = flatten(xs)
    if not is_tracing() and not number_of_rows("reduce", rows, None):
        return Compiled(functools.partial(reduce, f), original=f.step)(init, xs)  # which knows the types
    if init is None:
        first = [x[0] if number_of_rows("reduce", rows, None) else np.zeros(np.shape(x)[1:], x.dtype) for x in rows]
        init = f.start(unflatten(structure, first))
    return f.finish(_reduced(f.step, f.step, init, xs))


def _reduced(f: Callable[[Any, Any], Any], inner: Callable[[Any, Any], Any], init: Tree, xs: Tree) -> Tree:
    """What rows are reduced to by `inner`, which is f."""

    def step(carry: Tree, x: Tree) -> tuple[Tree, None]:
        return inner(carry, x), None

    return scan(_named(f, step), init, xs)[0]


def fori_loop(
    lo: Any, hi: Any, body: Callable[[Any, Any], Any], init: Tree, *, max_steps: int | None = None, save: Save = "store"
) -> Tree:
    """The state after `state = body(i, state)` for i in range(lo, hi).

    max_steps: do no more, if lo or hi are known only at run time. Reverse mode then has memory for that
    many steps; without it its memory grows with the steps that are run.
    save: what reverse mode keeps of each step, as for `scan`.

    >>> import pliant
    >>> pliant.fori_loop(0, 4, lambda i, total: total + i, 0)
    6
    """
    function_of(body)
    max_steps = None if max_steps is None else as_count("fori_loop: max_steps", max_steps)
    for bound in (lo, hi):
        check_integer("fori_loop: expected integers for the bounds", bound)
    if not is_tracing():
        check_policy(save)
        stop = int(hi) if max_steps is None else min(int(hi), int(lo) + max_steps)
        return counted(int(lo), stop, body, copied(init))

    def traced() -> Tree:
        first, last = as_traced(lo), as_traced(hi)
        bounds = [n for n in (_most_steps(first, last), max_steps) if n is not None]
        most = min(bounds, default=None)
        if most is not None:
            return _counted(first, last, body, State.of(init), most, save)
        return _counting(lo, hi, body, init, save)

    def stepwise() -> Tree:
        stop = hi if max_steps is None else np.minimum(hi, lo + max_steps)
        return callee(counted, current())(lo, stop, body, _own(init))

    return or_stepwise(traced, stepwise if save == "store" else None)


def _counted(
    first: TracedArray, last: TracedArray, body: Callable[[Any, Any], Any], init: State, most: int, save: Save
) -> Tree:
    """`fori_loop` of no more than so many steps."""
    start, inner = first.concrete, traced_step(body)
    is_moved = start is None or bool(start.any())

    def run(state: Tree, i: Any) -> Any:
        note_range(i, 0, last - first - 1)
        return inner(i + first if is_moved else i, state), None

    state, closed, _ = settle("fori_loop", body, run, init, [INDEX], may_raise=True)
    count = len(state.values)
    params = closed.fn.params
    ins: list[In] = ["carry" for _ in range(count)]
    ins.extend("const" for _ in closed.free)
    operands: list[Value] = [*state.values, *closed.free]
    inside: list[Value] = [params[count], *params[:count], *params[count + 1 :]]
    if first.concrete is None or last.concrete is None:
        ins.append("count")
        operands.append(value_of(last - first, "i64"))
        inside.append(param(INDEX.type, "n"))
    loop = Loop(most, tuple(ins), ("last",) * count, Function(closed.fn.name, tuple(inside), closed.fn.results))

    def arguments(state: Tree, i: Any) -> tuple[Any, Tree]:
        return i + first if is_moved else i, state

    undo = Inversion(state, (INDEX,), loop.body, closed.free, arguments)
    return state.rebuild(applied(loop, tuple(operands), save, undo))


def _most_steps(first: TracedArray, last: TracedArray) -> int | None:
    """The number of steps from first to last, or a small bound on it."""
    most = (size_of(last) - size_of(first)).range[1]
    if first.concrete is not None and last.concrete is not None:
        return max(int(last) - int(first), 0)
    return None if most is None or most > LONGEST else max(most, 0)


def _counting(lo: Any, hi: Any, body: Callable[[Any, Any], Any], init: Tree, save: Save) -> Tree:
    """`fori_loop` for any number of steps."""
    inner, policy = traced_step(body), _without_undo("fori_loop", save)

    def going(state: Tree) -> Any:
        return state[0] < hi

    def step(state: Tree) -> Tree:
        note_range(state[0], lo, hi - 1)
        return state[0] + 1, inner(state[0], state[1])

    return _repeated(going, step, (lo, init), policy)[1]


def _without_undo(name: str, save: Save) -> Policy:
    """What a loop keeps whose number of steps is known only at run time."""
    if not isinstance(save, Undo):
        return save
    raise ArgumentError(
        f"{name}: save=reversible(inverse) needs a bound on the number of steps, which is known only at run time",
        hint='use fori_loop with max_steps=, or save="sqrt"',
    ).at(("here", here()))


def while_loop(
    cond: Callable[[Any], Any],
    body: Callable[[Any], Any],
    init: Tree,
    *,
    max_steps: int | None = None,
    save: Save = "store",
) -> Tree:
    """The state after `while cond(state): state = body(state)`.

    max_steps: stop after that many steps even if the condition holds.
    save: what reverse mode keeps of each step. "store": what the derivative reads; "carry": the state, and the
    step is run again; "sqrt": the states before blocks of steps, of n steps √2n blocks, which are run again, and so
    for `treeverse`. The steps of `reversible` have to be counted: see `fori_loop`.

    >>> import pliant
    >>> pliant.while_loop(lambda n: n < 100, lambda n: 2 * n, 1)
    128
    """
    function_of(cond)
    function_of(body)
    max_steps = None if max_steps is None else as_count("while_loop: max_steps", max_steps)
    if not is_tracing():
        check_policy(save)
        state = copied(init)
        return repeated(cond, body, state) if max_steps is None else bounded(cond, body, state, max_steps)

    def traced() -> Tree:
        return _repeated(cond, body, init, save) if max_steps is None else _bounded(cond, body, init, max_steps, save)

    def stepwise() -> Tree:
        if max_steps is None:
            return callee(repeated, current())(cond, body, _own(init))
        return callee(bounded, current())(cond, body, _own(init), max_steps)

    return or_stepwise(traced, stepwise if save == "store" else None)


def _repeated(cond: Callable[[Any], Any], body: Callable[[Any], Any], init: Tree, save: Save) -> Tree:
    """`while_loop` as a loop of the program."""
    inner, policy = traced_step(body), _without_undo("while_loop", save)

    def run(state: Tree) -> Any:
        return inner(state), None

    state, closed, _ = settle("while_loop", body, run, State.of(init), [])
    test = _condition(cond, state)
    free, (test_fn, body_fn) = over_same((test, closed), len(state.values))
    loop = WhileLoop(test_fn, body_fn, ("carry",) * len(state.values) + ("const",) * len(free))
    return state.rebuild(apply_of_while(policy)(loop, (*state.values, *free)))


def _bounded(cond: Callable[[Any], Any], body: Callable[[Any], Any], init: Tree, most: int, save: Save) -> Tree:
    """`while_loop` of at most so many steps."""
    test, inner = traced_step(cond), traced_step(body)

    def going(state: Tree) -> Any:
        return np.logical_and(state[0] < most, test(state[1]))

    def step(state: Tree) -> Tree:
        return state[0] + 1, inner(state[1])

    return _repeated(going, step, (0, init), save)[1]


# --- parts


def _seen(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function that is called inside of one that a trace does not look into."""
    return callee(f, current()) if is_tracing() else f


def _named(f: Callable[..., Any], step: Callable[..., Any]) -> Callable[..., Any]:
    """A step that calls a function, with its name, which errors tell."""
    step.__name__ = getattr(f, "__name__", step.__name__)
    return step


def _pair(out: Any) -> tuple[Any, Any]:
    """What f returned, if it is a pair."""
    if not is_sequence(out) or len(out) != 2:
        got = f"a {type(out).__name__} of {len(out)}" if is_sequence(out) else getattr(out, "type", type(out).__name__)
        message = f"scan: expected f to return (carry, y), got {got}"
        raise ArgumentError(message, hint="without a y: return carry, None").at(("here", here()))
    return out[0], out[1]


def _plain_scan(f: Callable[..., Any], init: Tree, xs: Tree, steps: int, reverse: bool) -> tuple[Tree, Tree]:
    """`scan` as Python and NumPy do it."""

    def traced(init: Tree, xs: Tree) -> Tree:
        return scan(f, init, xs, steps, reverse)

    if not steps:  # what f would make is known only by tracing it
        return Compiled(traced, original=f)(init, xs)
    leaves, _ = flatten(xs)
    state, columns, made = copied(init), list[list[Any]](), None
    for i in range(steps)[:: -1 if reverse else 1]:
        row = [np.array(x[i]) if np.ndim(x) > 1 else x[i] for x in leaves]
        state, y = _pair(f(state, remade(xs, row)))
        ys, made = flatten(y)
        columns.append([np.array(v) for v in ys])
    stacks = [np.stack(column) for column in zip(*columns[:: -1 if reverse else 1], strict=True)]
    return state, unflatten(made, stacks)


def _own(tree: Tree) -> Tree:
    """What a loop starts from, with arrays of its own."""
    state = State.of(tree)
    return state.rebuild(state.values)


def _stepwise_scan(f: Callable[..., Any], init: Tree, xs: Tree, steps: int, reverse: bool) -> tuple[Tree, Tree]:
    """`scan` as a loop of Python's, traced."""
    leaves, _ = flatten(_own(xs))
    inner, kinds = callee(f, current()), list[Any]()

    def step(state: Tree, k: Any) -> tuple[Tree, tuple[Any, ...]]:
        state, y = _pair(inner(state, remade(xs, [x[k] for x in leaves])))
        ys, made = flatten(y)
        ys = [as_traced(x) if is_number(x) else x for x in ys]
        kinds[:] = len(ys), _stackable((ys, made))
        return state, tuple([own_copy(x) for x in ys])

    state, made = callee(scanned, current())(step, _own(init), steps, reverse)
    count, kept = kinds
    return state, unflatten(kept, callee(stacked, current())(made, count))


def _stackable(ys: tuple[list[Any], Any]) -> Any:
    """The structure of what a step stacks, all of which must be numbers."""
    leaves, structure = ys
    for leaf in leaves:
        if type(leaf) is not TracedArray:
            raise ArgumentError(f"scan: expected arrays and numbers to stack, got {type(leaf).__name__}")
    return structure


def _condition(test: Callable[[Any], Any], state: State) -> Closed:
    """The condition of a while loop, as a function of the settled state."""

    def holds(*leaves: Any) -> Any:
        made = as_traced(traced_step(test)(state.tree(leaves)))
        if made.shape:
            raise ShapeError(f"while_loop: expected one condition, got {made.type}").at(("here", here()))
        return fresh(value_of(made, "bool"))

    closed = trace_closed(holds, *state.templates())
    again = trace_closed(holds, *state.templates()) if closed.is_filling else closed
    if again.is_filling:
        raise changed(getattr(test, "__name__", "the condition")).at(("here", here()))
    return again


__all__ = ["fori_loop", "map", "reduce", "scan", "while_loop"]
