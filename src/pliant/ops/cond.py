"""Branches: closed functions, of which one is run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final, final

from pliant.core import ir
from pliant.core.build import hint_of, trace
from pliant.core.data import frozen
from pliant.core.inner import functions_of
from pliant.core.ir import Const, Function, Namespace, Param, Tangents, Value, Values, const, nodes, substitute
from pliant.core.scope import scope
from pliant.core.types import Type
from pliant.errors import ShapeError
from pliant.ops import in_jax
from pliant.ops.bits import logical_not
from pliant.ops.branch_part import Part, Unset, slots_of
from pliant.ops.custom import Holder, pick, present, spread, texts, types_of
from pliant.ops.guarded import fails_for_all, for_those, guarded, is_plain
from pliant.ops.masked_writes import select_by_problem
from pliant.ops.one_by_one import has_parts
from pliant.ops.reduce import reduce_or
from pliant.ops.region import reached, read_by
from pliant.ops.select import Find, Select, is_zero, support
from pliant.ops.shape import Broadcast, Permute, broadcast, permute
from pliant.rewrite.rule import Replacement, rewrite
from pliant.transforms.dead import eliminate_dead, read_for
from pliant.transforms.evaluate import evaluate
from pliant.transforms.jvp import instantiate, push
from pliant.transforms.transpose import pull
from pliant.transforms.vmap import vmap_apart, with_axis

BOOL: Final = Type("bool")


@final
@frozen
class Cond(Holder):
    """The results of `then` where the condition holds, else those of `otherwise`: one is run.

    `bool[], x… → y…`; both functions take the x… and return results of the same types.
    """

    then: Function
    otherwise: Function

    def infer(self, *xs: Type) -> tuple[Type, ...]:
        if not xs or xs[0] != BOOL:
            raise ShapeError(f"cond: the condition must be {BOOL}, got {texts(xs[:1])}")
        types, others = types_of(self, self.then, xs[1:]), types_of(self, self.otherwise, xs[1:])
        if types != others:
            raise ShapeError(f"cond: one branch makes ({texts(types)}), the other ({texts(others)})")
        return types

    def array(self, xp: Namespace, condition: Any, *xs: Any) -> tuple[Any, ...]:
        return evaluate(self.then if bool(condition) else self.otherwise, xs, xp)

    def jax(self, jnp: Namespace, condition: Any, *xs: Any) -> tuple[Any, ...]:
        return in_jax.cond(self, jnp, condition, xs)

    @property
    def branches(self) -> tuple[Function, Function]:
        """Both functions."""
        return self.then, self.otherwise

    def reached(self, marked: Sequence[bool]) -> tuple[bool, ...]:
        """Results that depend on the marked operands in a branch; all of them on the condition."""
        return (True,) * len(self.then.results) if marked[0] else self.moved(marked[1:], floats=False)

    def moved(self, marked: Sequence[bool], *, floats: bool) -> tuple[bool, ...]:
        """Results that depend on the marked operands (the condition apart) in a branch."""
        first, second = (reached(fn, marked, floats=floats) for fn in self.branches)
        return tuple([a or b for a, b in zip(first, second, strict=True)])

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        active = [d is not None for d in dxs[1:]]
        moved, count = self.moved(active, floats=True), len(active)

        def pushed(fn: Function) -> Function:
            def step(*args: Value) -> Values:
                ys, dys = push(fn, args[:count], spread(args[count:], active))
                return *ys, *pick(instantiate(ys, dys), moved)

            return trace(step, *(p.type for p in (*fn.params, *pick(fn.params, active))))

        both = Cond(pushed(self.then), pushed(self.otherwise)).apply(*xs, *present(dxs[1:]))
        return both[: len(moved)], spread(both[len(moved) :], moved)

    def linearize(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        """The branch that is run also returns what its derivative reads; residuals of the other are
        unset, in the same results where the types are the same."""
        active = [d is not None for d in dxs[1:]]
        moved = self.moved(active, floats=True)
        parts = [Part.of(fn, active, moved) for fn in self.branches]
        slots = slots_of([part.saved for part in parts])
        ahead = Cond(*(part.ahead(slots) for part in parts)).apply(*xs)
        ys, kept = ahead[: len(moved)], ahead[len(moved) :]
        back = Cond(*(part.linear(slots) for part in parts))
        return ys, spread(back.of_read(xs[0], *kept, *xs[1:], *present(dxs[1:])), moved)

    def transpose(self, ct: Tangents | Value, condition: Value, *xs: Value | Type) -> Tangents:
        wanted = [isinstance(x, Type) for x in xs]
        known = tuple([x for x in xs if isinstance(x, Value)])
        cts = ct if isinstance(ct, tuple) else (ct,)
        has = [c is not None for c in cts]

        def pulled(fn: Function) -> Function:
            fixed, unknown = pick(fn.params, [not w for w in wanted]), pick(fn.params, wanted)

            def step(*args: Value) -> Values:
                ys = substitute(fn.results, dict(zip(fixed, args, strict=False)))
                return instantiate(unknown, pull(ys, unknown, spread(args[len(fixed) :], has)))

            return trace(step, *(v.type for v in (*fixed, *present(cts))))

        back = Cond(pulled(self.then), pulled(self.otherwise)).apply(condition, *known, *present(cts))
        return None, *spread(back, wanted)

    def batch(self, n: int, batched: tuple[bool, ...], condition: Value, *xs: Value) -> Values:
        if not batched[0]:
            made = [vmap_apart(fn, n, batched[1:]) for fn in self.branches]
            wanted = [a or b for a, b in zip(*(apart for _, apart in made), strict=True)]
            branches = [
                with_axis(fn, n, [w and not a for w, a in zip(wanted, apart, strict=True)]) for fn, apart in made
            ]
            return Cond(*branches).apply(condition, *xs)
        if any([has_loops(fn, has_parts) for fn in self.branches]):
            return ir.operators.one_by_one(self, n, batched, (condition, *xs))
        then, otherwise = (_for_those(fn, n, batched) for fn in self.branches)
        made = zip(then(condition, *xs), otherwise(logical_not(condition), *xs), strict=True)
        return tuple([select_by_problem(condition, x, y) for x, y in made])

    def under(self, guard: Value, batched: Sequence[bool], condition: Value, *xs: Value) -> Values:
        """The results, in a batch where what is read without the guard must exist."""
        return Cond(*(guarded(fn, batched[1:]) for fn in self.branches)).apply(condition, guard, *xs)

    def support_of(self, value: Value, find: Find) -> Value | None:
        """Where a result may differ from zero: what the branch that is run knows of it."""
        condition, *xs = value.args
        masks = tuple([find(x) if x.type.is_float else None for x in xs])
        types = tuple([mask and mask.type for mask in masks])
        branches = [_support_in(fn, value.index, types) for fn in self.branches]
        found = [fn.results[0] for fn in branches]
        match [mask.op.value for mask in found if isinstance(mask.op, Const)]:
            case [True, True]:
                return None
            case [False, False]:
                return const(False, "bool")
            case [on, _]:
                return condition if on else logical_not(condition)
            case _:
                shape = max([mask.shape for mask in found], key=len)
        (mask,) = Cond(*(_widened(fn, shape) for fn in branches)).of_read(condition, *xs, *present(masks))
        return mask

    def needs(self, used: tuple[bool, ...]) -> tuple[bool, ...]:
        """The operands that the used results need."""
        first, second = [read_for(pick(fn.results, used)) for fn in self.branches]
        pairs = zip(self.then.params, self.otherwise.params, strict=True)
        return (True, *[p in first or q in second for p, q in pairs])

    def prune(self, used: tuple[bool, ...], xs: Values) -> Tangents:
        """The used results, of branches that take no more operands than they need."""
        small = [eliminate_dead(replace(fn, results=pick(fn.results, used))) for fn in self.branches]
        return spread(Cond(*small).of_read(*xs), used)

    def of_read(self, condition: Value, *xs: Value) -> Values:
        """The results, of branches that do not take what neither reads: a loop would keep it at each of its steps."""
        read = [a or b for a, b in zip(*(read_by(fn.results, fn.params) for fn in self.branches), strict=True)]
        small = [replace(fn, params=pick(fn.params, read)) for fn in self.branches]
        return Cond(*small).apply(condition, *pick(xs, read))


@lru_cache(maxsize=1 << 13)
def _support_in(fn: Function, place: int, masks: tuple[Type | None, ...]) -> Function:
    """Where a result of a branch may differ from zero, as a function of its operands and of what is known of these.
    Each product in nested branches asks it of all around it."""
    has = [mask is not None for mask in masks]

    def step(*args: Value) -> Value:
        params = args[: len(masks)]
        (y,) = substitute((fn.results[place],), dict(zip(fn.params, params, strict=True)))
        if is_zero(y):
            return const(False, "bool")
        found = support(y, known=dict(zip(pick(params, has), args[len(masks) :], strict=True)))
        return const(True, "bool") if found is None else found

    return trace(step, *(p.type for p in fn.params), *[mask for mask in masks if mask])


def _widened(fn: Function, shape: tuple[int, ...]) -> Function:
    """A function with a result of some shape, which is repeated if it has rank 0."""
    with scope():
        (y,) = fn.results
        return replace(fn, results=(y if y.shape == shape else broadcast(y, shape, ()),))


def _for_those(fn: Function, n: int, batched: tuple[bool, ...]) -> Function:
    """A branch for the problems for which a condition holds, which comes first; of others its results are any. What is
    not plain, or fails for all problems or none, is not run where it holds for none."""
    fn = cleared(fn)
    made = for_those(fn, n, batched[1:])
    if is_plain(fn) and not fails_for_all(fn, batched[1:]):
        return made
    types = [p.type for p in made.params]
    zeros = trace(lambda *_: [ir.operators.zeros(y.type) for y in made.results], *types)

    def step(condition: Value, *xs: Value) -> Values:
        return Cond(made, zeros).apply(reduce_or(condition), condition, *xs)

    return trace(step, *types)


def has_loops(fn: Function, such: Callable[[Function], bool]) -> bool:
    """Whether there are loops, in branches too, that hold such a function."""
    for node in fn.nodes:
        functions = functions_of(node.op).values()
        if any([has_loops(f, such) if isinstance(node.op, Cond) else such(f) for f in functions]):
            return True
    return False


def cleared(fn: Function) -> Function:
    """`fn` with zeros for what is unset, for those who run both branches."""
    unset = [n.values[0] for n in fn.nodes if isinstance(n.op, Unset)]
    if not unset:
        return fn
    with scope():
        zeros = {v: ir.operators.zeros(v.type) for v in unset}
        return replace(fn, results=substitute(fn.results, zeros))


@rewrite(Cond, is_of_node=True)
def cond_of_literal(value: Value) -> Replacement:
    """cond(True, …) is its first branch, cond(False, …) its second."""
    condition, *xs = value.args
    if not isinstance(condition.op, Const):
        return None
    op = value.op
    assert isinstance(op, Cond)
    made = (op.then if condition.op.value else op.otherwise)(*xs)
    return dict(zip(value.node.values, made, strict=True))


@rewrite(Cond, is_of_node=True)
def cond_without_idle_operands(value: Value) -> Replacement:
    """Operands that no branch reads are dropped."""
    op = value.op
    assert isinstance(op, Cond)
    read = [a or b for a, b in zip(*(read_by(fn.results, fn.params) for fn in op.branches), strict=True)]
    if all(read):
        return None
    made = op.prune((True,) * len(value.node.values), value.args)
    return dict(zip(value.node.values, present(made), strict=True))


@rewrite(Cond, is_of_node=True)
def cond_without_zeros(value: Value) -> Replacement:
    """What is zeros in both branches is zeros."""
    op = value.op
    assert isinstance(op, Cond)
    used = [not all(map(is_zero, ys)) for ys in zip(*(fn.results for fn in op.branches), strict=True)]
    return None if all(used) else with_zeros(value, op.prune(tuple(used), value.args))


def with_zeros(value: Value, made: Tangents) -> dict[Value, Value]:
    """A node's results, given those that are not zeros."""
    return {v: ir.operators.zeros(v.type) if y is None else y for v, y in zip(value.node.values, made, strict=True)}


@rewrite(Cond, is_of_node=True)
def cond_of_permuted_operands(value: Value) -> Replacement:
    """Operands are permuted where a branch reads them."""
    op, (condition, *xs) = value.op, value.args
    assert isinstance(op, Cond)
    orders = [x.op.order if isinstance(x.op, Permute) else None for x in xs]
    if not any(orders):
        return None
    under = [x.args[0] if order else x for x, order in zip(xs, orders, strict=True)]

    def moved(fn: Function) -> Function:
        def step(*args: Value) -> Values:
            return fn(*(permute(x, order) if order else x for x, order in zip(args, orders, strict=True)))

        return trace(step, *(x.type for x in under), names=[hint_of(p) for p in fn.params])

    made = Cond(*map(moved, op.branches)).apply(condition, *under)
    return dict(zip(value.node.values, made, strict=True))


@rewrite(Cond, is_of_node=True)
def cond_with_permuted_results(value: Value) -> Replacement:
    """What a branch makes in another order of axes is permuted where it is used, if the other does too or has it made
    already: else the other would make it in another order."""
    op = value.op
    assert isinstance(op, Cond)
    rows = list(zip(*(fn.results for fn in op.branches), strict=True))
    orders = [_order_common(ys) for ys in rows]
    if not any(orders):
        return None

    def moved(fn: Function) -> Function:
        backs = [Permute(order).inverse() if order else None for order in orders]
        with scope():
            ys = [permute(y, back) if back else y for y, back in zip(fn.results, backs, strict=True)]
            return replace(fn, results=tuple(ys))

    made = Cond(*map(moved, op.branches)).apply(*value.args)
    ys = [permute(y, order) if order else y for y, order in zip(made, orders, strict=True)]
    return dict(zip(value.node.values, ys, strict=True))


def _order_common(ys: Sequence[Value]) -> tuple[int, ...] | None:
    """The order of axes that the branches bring what they make into; None unless it is one."""
    orders = {_order_made(y) for y in ys if not _is_given(y)}
    return orders.pop() if len(orders) == 1 else None


def _is_given(y: Value) -> bool:
    """Whether a branch returns what it is given, or one number everywhere: in any order of axes."""
    return isinstance((y.args[0] if isinstance(y.op, Permute) else y).op, Param | Broadcast | Const)


def _order_made(y: Value) -> tuple[int, ...] | None:
    """The order of axes that a branch brings what it makes into."""
    return y.op.order if isinstance(y.op, Permute) else None


@rewrite(Cond, reads=(Cond,), is_of_node=True)
def cond_of_cond(value: Value) -> Replacement:
    """Two branches on one condition, the second reading what the first made → one that makes both.

    A derivative of a branch then needs no residuals of the branch that is not taken.
    """
    condition, *xs = value.args
    first = next((x.node for x in xs if isinstance(x.op, Cond) and x.args[0] is condition), None)
    if first is None:
        return None
    made = {v: n for n, v in enumerate(first.values)}
    rest = [x for x in xs if x not in made]
    if any([node is first for node in nodes(rest)]):
        return None
    outer, inner = value.op, first.op
    assert isinstance(outer, Cond)
    assert isinstance(inner, Cond)
    given = first.args[1:]
    taken = tuple(dict.fromkeys((*given, *rest)))

    def joined(before: Function, after: Function) -> Function:
        def step(*args: Value) -> Values:
            at_hand = dict(zip(taken, args, strict=True))
            ys = before(*(at_hand[x] for x in given))
            return *ys, *after(*(ys[made[x]] if x in made else at_hand[x] for x in xs))

        return trace(step, *(v.type for v in taken))

    both = Cond(joined(inner.then, outer.then), joined(inner.otherwise, outer.otherwise))
    results = both.apply(condition, *taken)
    return dict(zip((*first.values, *value.node.values), results, strict=True))


@rewrite(Select, reads=(Cond,))
def select_of_branch(value: Value) -> Replacement:
    """`select(c, x, y)` of what a branch on c makes, where the other way leaves nothing in its place, is made in the
    branch: no array is then filled, and chosen from, in each of its elements."""
    condition, *sides = value.args
    node = next((y.node for y in sides if isinstance(y.op, Cond) and y.args[0] is condition), None)
    if node is None or {y.shape for y in sides} != {value.shape}:
        return None
    op, places = node.op, {y: k for k, y in enumerate(node.values)}
    assert isinstance(op, Cond)
    ways = zip(sides, op.branches, op.branches[::-1], strict=True)
    is_left = [y in places and is_zero(other.results[places[y]]) for y, _, other in ways]
    rest = [y for y in sides if y not in places]
    if not any(is_left) or any([before is node for before in nodes(rest)]):
        return None

    def more(fn: Function, y: Value) -> Function:
        def step(*args: Value) -> Values:
            ys = fn(*args[: len(fn.params)])
            return *ys, ys[places[y]] if y in places else args[-1]

        types = [*[p.type for p in fn.params], *[y.type for y in rest]]
        return trace(step, *types, names=[hint_of(p) for p in fn.params])

    *made, chosen = Cond(*map(more, op.branches, sides)).apply(*node.args, *rest)
    return {**dict(zip(node.values, made, strict=True)), value: chosen}


RULES = (
    select_of_branch,
    cond_of_literal,
    cond_without_idle_operands,
    cond_without_zeros,
    cond_of_permuted_operands,
    cond_with_permuted_results,
    cond_of_cond,
)
