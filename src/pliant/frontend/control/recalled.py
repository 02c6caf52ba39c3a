"""The search for what an inner loop carries starts from what was found in the last trial of the loop around it.

for i in range(n):              a step of the outer loop is traced three times: with `total` as it is before the loop,
    for j in range(n):          as a number that is carried, and with x as well; the inner loop is searched each time,
        if a[i, j] > 0:         in as many trials of its own: of loops inside of each other there are 3, 9, 27 trials
            total += a[i, j]    of the innermost body. One that was found before is one trial: 3, 5, 7.
            x[j] += 1

What is recalled is tried, and found to hold or not, as any other plan. A search from nothing finds the least plan that
holds. What names are bound to gets wider from trial to trial of the outer loop, never narrower, and so does what an
inner loop carries: what it carried in the last trial is no more than what it will, and if it holds, it is the least,
unless something of it does not change any more. If that is so, or the types are narrower after all, as this is
another call of the same function, the loop is searched from nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import FunctionType
from typing import Any, Final, TypeAlias, cast, final

import numpy as np

from pliant.core.data import frozen
from pliant.core.types import DTYPES
from pliant.frontend.array import TracedArray
from pliant.frontend.control import induction
from pliant.frontend.control.carried import bases
from pliant.frontend.control.formers import Former
from pliant.frontend.control.items import Made, Mapped, Steps
from pliant.frontend.control.join import is_mutable
from pliant.frontend.control.objects import flatten
from pliant.frontend.control.plan import Captured, Counter, Plan, Tree
from pliant.frontend.control.region import Place, cells_of
from pliant.frontend.control.tapered import Tapered
from pliant.frontend.control.unbound import Unbound
from pliant.frontend.control.windows import Window
from pliant.frontend.convert import as_traced
from pliant.frontend.missing import MISSING
from pliant.frontend.number import Kind, is_exact, is_number, kind_of
from pliant.frontend.tracing import Storage, Trace, current

_NOTHING: Final = (type(MISSING), Unbound)
Leaf: TypeAlias = "tuple[str, int]"  # of what a name is bound to: the name, and the leaf's number


@final
@frozen
class Form:
    """What is known of a leaf before a loop: its type, whether it is a number of Python, and whether it is known."""

    kind: Any  # a dtype of NumPy; the class of what is no number
    shape: tuple[int, ...] = ()
    is_weak: bool = False
    is_known: bool = True

    @classmethod
    def of(cls, x: Any) -> Form:
        """The form of a leaf; of what is no number, its class."""
        if type(x) is TracedArray:
            return cls(np.dtype(DTYPES[x.type.dtype]), x.type.shape, x.is_weak, x.concrete is not None)
        if isinstance(x, np.ndarray | np.generic):
            array = cast("Any", x)
            return cls(array.dtype, array.shape)
        return cls(np.asarray(x).dtype, is_weak=True) if is_number(x) else cls(cast("Any", type(x)))

    def is_below(self, other: Form) -> bool:
        """Whether the other one is the same or a wider one."""
        if self == other or self.kind in _NOTHING:
            return True
        if self.shape != other.shape or other.is_known > self.is_known or other.is_weak > self.is_weak:
            return False
        one, two = self.kind, other.kind
        if isinstance(one, type) or isinstance(two, type):
            return False
        if self.is_weak:
            return "biufc".find(one.kind) <= "biufc".find(two.kind)
        return bool(np.promote_types(one, two) == two)


Forms: TypeAlias = "tuple[Any, tuple[Form, ...]]"  # the structure of something, and its leaves


@final
@frozen
class Known:
    """What a loop carried, and what its names were bound to before."""

    forms: dict[str, Forms]
    read: tuple[Form, ...]  # what it goes over, and what functions hold that it may call
    trees: dict[str, Tree]
    storages: tuple[Leaf | Storage, ...]  # by a name that is bound to them, if there is one
    may_end: bool
    inner: dict[Any, Any]  # the same of loops inside


def captured(plan: Plan) -> Captured:
    """The step, once the plan holds; NotInductive if none does."""
    searches = current().outermost.searches
    around: Plan | None = searches[-1] if searches else None
    searches.append(plan)
    try:
        if around is None or not isinstance(plan.body, FunctionType):  # of which nobody knows what it reads
            return induction.captured(plan)
        return _captured_inside(plan, around)
    finally:
        searches.pop()


def _captured_inside(plan: Plan, around: Plan) -> Captured:
    """The same for a loop inside of one that is searched."""
    key = plan.code, around.visits[plan.code]
    around.visits[plan.code] += 1
    contents = _contents(plan)
    read = _read(plan, contents)
    known: Known | None = around.inner.get(key)
    if known is None or not _recall(plan, known, contents, read):
        made = induction.captured(plan)
    elif (tried := _tried(plan, known)) is not None:
        made = tried
    else:
        around.inner[key] = None  # nor is it tried again
        return induction.captured(plan)
    if known is not None or key not in around.inner:
        around.inner[key] = _known(plan, contents, read)
    return made


def _tried(plan: Plan, known: Known) -> Captured | None:
    """The step of a loop that starts from what is known; None if a search from nothing might find another one."""
    leaves = [x for place in plan.bound for x in flatten(place.get())[0]]
    numbers = {id(x) for x in leaves if type(x) is TracedArray and not is_mutable(x)}
    try:
        made = induction.captured(plan)
    except Exception:  # of whatever kind: a search from nothing has it too, or needs no more
        made = None
    idle = [c for c in made.carries if c.end is c.param and id(c.first) not in numbers] if made else []
    if made is None or idle or plan.may_end != known.may_end:
        plan.forget()
        return None
    return made


def _recall(plan: Plan, known: Known, contents: dict[str, Any], read: tuple[Form, ...]) -> bool:
    """Start a plan from what is known; whether it may be the one that is searched."""
    now = {name: flatten(content) for name, content in contents.items()}
    if now.keys() != known.forms.keys() or not _are_below(known.read, read):
        return False
    for name, (structure, forms) in known.forms.items():
        leaves, found = now[name]
        if found != structure or not _are_below(forms, tuple(map(Form.of, leaves))):
            return False
    trees: dict[Place, Tree] = {}
    for place in plan.bound:
        tree = known.trees.get(str(place.key))
        if tree is None:
            continue
        leaves, found = now[str(place.key)]
        pairs = [*zip(leaves, tree.kinds, strict=False)]
        if found != tree.structure or not all([_fits(x, kind) for x, kind in pairs]):
            return False
        if all([type(x) is int for x, kind in pairs if isinstance(kind, Counter)]):
            trees[place] = tree
    plan.recalled = trees
    plan.storages += dict.fromkeys([s for x in known.storages for s in _storages(x, now) if _is_there(s)])
    plan.may_end, plan.inner = known.may_end, known.inner
    return True


def _are_below(forms: Sequence[Form], others: Sequence[Form]) -> bool:
    return len(forms) == len(others) and all([a.is_below(b) for a, b in zip(forms, others, strict=True)])


def _fits(x: Any, kind: Any) -> bool:
    """Whether a step sees no difference if it is given a leaf as a kind."""
    if not isinstance(kind, Kind):
        return True
    start = kind_of(as_traced(x))
    return start == kind or (start.type.shape == kind.type.shape and is_exact(x, start, kind))


def _storages(given: Leaf | Storage, now: dict[str, tuple[list[Any], Any]]) -> list[Storage]:
    """The allocations that are meant: those that a name is bound to, or one by itself."""
    return [given] if isinstance(given, Storage) else bases(now[given[0]][0][given[1]])


def _is_there(storage: Storage) -> bool:
    """Whether an allocation belongs to a trace that is going on."""
    trace: Trace | None = current()
    while trace is not None and trace is not storage.trace:
        trace = trace.parent
    return trace is not None


def _known(plan: Plan, contents: dict[str, Any], read: tuple[Form, ...]) -> Known | None:
    """What a plan that holds says for the next trial; None if it is about more than names and arrays."""
    is_plain = not (plan.fills or plan.has_swaps or plan.growths or plan.tables or plan.copied) and plan.period == 1
    trees = {str(place.key): tree for place, tree in plan.plans.items() if tree is not None}
    kinds = [kind for tree in trees.values() for kind in tree.kinds]
    is_placed = any([isinstance(kind, Former | Window | Tapered) for kind in kinds])
    if not is_plain or is_placed or any([p.kind != "name" for p in plan.plans]):
        return None
    forms: dict[str, Forms] = {}
    places: dict[Storage, Leaf] = {}
    for name, content in contents.items():
        leaves, structure = flatten(content)
        forms[name] = structure, tuple(map(Form.of, leaves))
        for n, x in enumerate(leaves):
            places.update(dict.fromkeys(bases(x), (name, n)))
    storages = tuple([places.get(s, s) for s in plan.storages])
    return Known(forms, read, trees, storages, plan.may_end, plan.inner)


def _contents(plan: Plan) -> dict[str, Any]:
    """What the names are bound to that a step shares with what is around it."""
    return {str(place.key): place.get() for place in (*plan.bound, *_cells(plan.body))}


def _cells(fn: Any) -> list[Place]:
    return cells_of(fn.__code__.co_freevars, fn)


def _read(plan: Plan, contents: dict[str, Any]) -> tuple[Form, ...]:
    """The forms of what a loop goes over, and of what functions hold that a step may call."""
    found = list[Form]()
    todo: list[Any] = [plan.items, *contents.values()]
    seen = set[int]()
    while todo:
        x = todo.pop()
        match x:
            case FunctionType() if id(x) not in seen:
                seen.add(id(x))
                held = [place.get() for place in _cells(x)]
            case Steps() | Mapped() | Made():
                held = [getattr(x, name) for name in x.__dataclass_fields__]
            case _:
                continue
        todo += held
        found += [Form.of(leaf) for content in held for leaf in flatten(content)[0]]
    return tuple(found)
