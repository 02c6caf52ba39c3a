"""What two blocks left, of which one is run: one `cond`, and names that hold its results."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast, final

from pliant.core import ir
from pliant.core.ir import Value, Values
from pliant.core.origin import here
from pliant.frontend.array import TracedArray, fresh
from pliant.frontend.blocks import Extent
from pliant.frontend.bounded import Bounded, extents_of, whole_of
from pliant.frontend.control.chosen import note_choice, one_of_more, told_outside
from pliant.frontend.control.copies import stands_for
from pliant.frontend.control.either import Either, either
from pliant.frontend.control.fronts import Front, has_front
from pliant.frontend.control.items import Range
from pliant.frontend.control.joineddicts import dict_of_two, note_orders, orders_of, tables_in_two_orders
from pliant.frontend.control.joinedlists import filled, listed, one_of_two
from pliant.frontend.control.joinednames import name_by_ways, name_of_two
from pliant.frontend.control.joinednumbers import has_room, number_of_two
from pliant.frontend.control.joinedparts import part_of_two
from pliant.frontend.control.moved import Recipe, moved
from pliant.frontend.control.objects import containers, flatten, in_region, is_own, keep, unflatten
from pliant.frontend.control.ornone import is_aside, none_or_other
from pliant.frontend.control.outcomes import as_left, content, flattened, is_over, put
from pliant.frontend.control.partly import is_void
from pliant.frontend.control.perhaps import in_two_orders
from pliant.frontend.control.picked import Remember, outside, roots
from pliant.frontend.control.region import Outcome, Place, distinct
from pliant.frontend.control.signals import CODE, Signal, code_of, possible_of
from pliant.frontend.control.states import ASKED, words_of
from pliant.frontend.control.tables import share
from pliant.frontend.control.unbound import Unbound, note_which
from pliant.frontend.control.unsized import Unsized, are_of_extents, as_array, is_array, is_unsized
from pliant.frontend.control.words import difference, text_of
from pliant.frontend.convert import as_traced, value_of
from pliant.frontend.missing import MISSING
from pliant.frontend.number import Kind, is_number, kind_of, with_kind
from pliant.frontend.reading import read
from pliant.frontend.selection import all_listed
from pliant.frontend.sizes import size_of
from pliant.frontend.strides import common_order, order_of
from pliant.frontend.tracing import Storage, current
from pliant.frontend.view import is_static
from pliant.ops.bits import logical_not
from pliant.ops.cond import Cond

PLAIN = (str, bytes, bool, int, float, complex, slice, range, tuple)


@final
class Join:
    """The results of a `cond` that are asked for, one pair of values each."""

    def __init__(self, condition: Value, one: Outcome, two: Outcome) -> None:
        self.condition, self.sides = condition, (one, two)
        self.pairs: tuple[list[Value], list[Value]] = ([], [])
        self.partners: dict[int, tuple[Any, Any, int]] = {}  # allocations of the blocks, by id
        self.stores: dict[tuple[Storage, ...], Storage] = {}  # made of the results, by those of the blocks
        self.zeros: dict[Storage, Storage] = {}  # by the allocations that they are in place of
        self.where = here()
        self.truth: int | None = None

    def slot(self, one: Value, two: Value) -> int:
        """The number of a result that is one of two values."""
        for n, pair in enumerate(zip(*self.pairs, strict=True)):
            if pair[0] is one and pair[1] is two:
                return n
        for side, value in zip(self.pairs, (one, two), strict=True):
            side.append(value)
        return len(self.pairs[0]) - 1

    def apply(self) -> Values:
        """The results."""
        names = ("then", "otherwise")
        free = tuple(dict.fromkeys(
            v for side, values in zip(self.sides, self.pairs, strict=True) for v in side.region.free(values)
        ))  # fmt: skip
        if not self.pairs[0]:
            return ()
        branches = [
            side.region.function(name, (), values, free)
            for name, side, values in zip(names, self.sides, self.pairs, strict=True)
        ]
        return Cond(*branches).apply(self.condition, *free)

    # --- objects

    def joined(self, a: Any, b: Any, what: str) -> Recipe:
        """How to make the object that is `a` after one block and `b` after the other."""
        if a is b:
            return lambda _: a
        if a is MISSING or b is MISSING:
            return self.unbound(f"{what} has a value only if a condition holds that is known only at run time",
                                "give it a value before the if, or in both branches")  # fmt: skip
        if type(a) is Unbound or type(b) is Unbound:
            return one_of_more(self, a, b)
        if is_aside(a, b):
            return none_or_other(self, a, b, what)
        (ones, structure), (twos, other) = (
            flattened(side, x, in_region(side.region.born)) for side, x in zip(self.sides, (a, b), strict=True)
        )
        are_copied = structure != other or any(
            [x is not y and (is_own(x) or is_own(y)) for x, y in zip(ones, twos, strict=True)]
        )
        if are_copied:  # objects that were there before: what stands for them is a copy
            (ones, structure), (twos, other) = (
                flattened(side, x, is_own) for side, x in zip(self.sides, (a, b), strict=True)
            )
        if structure != other or any(
            [x is not y and Front in (type(x), type(y)) for x, y in zip(ones, twos, strict=True)]
        ):
            lists = one_of_two(self, a, b)
            return self.differs(a, b, what) if lists is None else self.noted(lists, a, b)
        is_leaf = structure.is_leaf()
        orders = [] if is_leaf else orders_of(self.sides, (a, b))
        trees: list[list[Any]] = [[], []] if is_leaf else as_left(self.sides, (a, b), _held)
        made = [self.leaf(x, y, what) for x, y in zip(ones, twos, strict=True)]
        failed = next((m for m in made if isinstance(m, Unbound) and words_of(m) is None), None)
        if failed is not None:
            is_all = ones[0] is a  # else it has other parts, and is none of the two objects that this part is
            return partial(_same, failed if is_all else failed.untold())

        def recipe(results: Values) -> Any:
            x = unflatten(structure, [m if isinstance(m, Unbound) else m(results) for m in made])
            stands_for(x, self.condition, *trees)
            note_choice(x, self.condition, *trees)
            note_orders(x, self.condition, orders)
            for other in (a, b, x) if are_copied else (x,):
                keep(other)
            return x

        return recipe

    def noted(self, recipe: Recipe, a: Any, b: Any) -> Recipe:
        """A list that is one of two, of which that is known."""

        def made(results: Values) -> Any:
            x = recipe(results)
            note_choice(x, self.condition, [a], [b])
            return x

        return made

    def unbound(self, message: str, hint: str) -> Recipe:
        """A name whose use is an error."""
        made = Unbound(message, hint, self.where, (self.condition,))
        return lambda _: made

    def differs(self, a: Any, b: Any, what: str) -> Recipe:
        """A name that cannot be both."""
        are_scalars = all([is_number(x) and not as_traced(x).shape for x in (a, b)])
        hint = "make both of one dtype, as by np.int64(x)" if are_scalars else (
            "make both branches leave the same kind of object")  # fmt: skip
        one, two = as_array(a), as_array(b)
        if one is not None and two is not None and one.shape == two.shape:
            hint = "make both of one dtype: x = x.astype(float) before, or np.zeros(n) and not np.zeros(n, int)"
        elif one is not None and two is not None and len(one.shape) == len(two.shape):
            hint = "choose where one part ends, k = 3 if c else 5 and v = a[:k], or make both copies"
            if any([s.region.owns(x.storage) for s, x in zip(self.sides, (one, two), strict=True)]):  # such as vstack
                hint = "keep one array with room for the longer one, and a number of how much of it is used, x[:n]"
        if type(a) is type(b) is dict:
            hint = "give both the same keys from the start, as in best = {'x': x0, 'i': 0}"
        if type(a) is type(b) is list:
            hint = "change one list in both branches, as by .clear() and .append(x)"
        if has_front(a) and has_front(b):
            hint = "keep one list, made before, and change it, as by .clear() and .append(x), to elements of one kind"
        if words_of(a) is not None and words_of(b) is not None:
            hint = ASKED
        part, x, y = difference(what, a, b)
        extents = [n for array in (a, b) if type(array) is Bounded for n in Unsized.of(array).counts(array)]
        made = Unbound(
            f"{part} is {text_of(x)} after one branch and {text_of(y)} after the other, and the condition is known "
            "only at run time", hint, self.where, (self.condition, *extents),
        )  # fmt: skip
        made.choice = self.condition, a, b
        return lambda _: made

    def leaf(self, a: Any, b: Any, what: str) -> Recipe | Unbound:
        """How to make a leaf that is `a` or `b`; an `Unbound` if it cannot be made, or is one of two words."""
        if a is not b and Unbound in (type(a), type(b)) and words_of(a) is not None and words_of(b) is not None:
            return one_of_more(self, a, b)
        if a is b or (type(a) is type(b) and isinstance(a, PLAIN) and not is_number(a) and a == b):
            return partial(_same, a)
        if isinstance(a, range | Range) and isinstance(b, range | Range):
            return self.ranges(a, b, what)
        if is_unsized(a) or is_unsized(b) or are_of_extents(a, b):
            return self.which(a, b, self.unsized(all_listed(a), all_listed(b), what))
        if not is_number(a) or not is_number(b):
            return self.differs(a, b, what)(())
        one, two = as_traced(a), as_traced(b)
        x, y = self.as_view(one, 0, two), self.as_view(two, 1, one)
        if is_mutable(x) and is_mutable(y):
            return self.which(a, b, self.arrays(x, y, what))
        made = self.numbers(x, y, what)
        return made if words_of(a) is words_of(b) is None else self.which(a, b, made)

    def as_view(self, x: TracedArray, side: int, other: TracedArray) -> TracedArray:
        """A number as an array, if the other block left a view of what may be written by other names."""
        is_own = self.sides[1 - side].region.owns(other.storage) and not other.lenses
        if is_mutable(x) or not is_mutable(other) or is_own:
            return x
        kind = kind_of(x).joined(kind_of(other))
        if kind is None or kind.type != other.type or not has_room(kind, x):
            return x
        with self.sides[side].region.inside():
            return fresh(value_of(x, kind.type.dtype), is_array=True)

    def ranges(self, a: range | Range, b: range | Range, what: str) -> Recipe:
        """A range that is one of two."""
        ends = [(getattr(a, name), getattr(b, name)) for name in ("start", "stop", "step")]
        parts = [partial(_same, x) if x is y else self.numbers(as_traced(x), as_traced(y), what) for x, y in ends]
        counts = {len(r) if isinstance(r, range) else r.count for r in (a, b)}
        count = counts.pop() if len(counts) == 1 else None
        start, stop, step = [cast("Recipe", part) for part in parts]
        return lambda results: Range(start(results), stop(results), step(results), count)

    def numbers(self, x: TracedArray, y: TracedArray, what: str) -> Recipe | Unbound:
        """A number, or an array of its own, that is one of two."""
        kind = kind_of(x).joined(kind_of(y))
        if kind is None or not (has_room(kind, x) and has_room(kind, y)):
            return self.differs(x, y, what)(())
        return number_of_two(self, x, y, kind, self.slot(*self.converted(x, y, kind)))

    def converted(self, x: TracedArray, y: TracedArray, kind: Kind) -> tuple[Value, Value]:
        """The values of both, as one dtype, each made in its block."""
        made: list[Value] = []
        for side, a in zip(self.sides, (x, y), strict=True):
            with side.region.inside():
                left = side.written.get(a.storage)
                content = a if left is None else fresh(read(left, a.lenses), is_array=True)
                made.append(value_of(content, kind.type.dtype))
        return made[0], made[1]

    def arrays(self, x: TracedArray, y: TracedArray, what: str) -> Recipe | Unbound:
        """An array that may be written: which allocation it is matters."""
        if x.storage is y.storage and x.lenses == y.lenses:
            return lambda _: x
        is_fresh = all([side.region.owns(a.storage) for side, a in zip(self.sides, (x, y), strict=True)])
        is_plain = is_fresh and not any([isinstance(cast("Any", a.storage), Either) for a in (x, y)])
        kind = kind_of(x).joined(kind_of(y))
        if kind is None or (not is_plain and not kind_of(x).is_like(kind_of(y))):
            return self.differs(x, y, what)(())
        if not is_plain:
            one, two = self.view(x, 0), self.view(y, 1)
            return lambda results: either(current(), self.condition, one(results), two(results))
        known = self.partners.get(id(x.storage)) or self.partners.get(id(y.storage))
        if known is not None:
            is_same = known[0] is x.storage and known[1] is y.storage and x.lenses == y.lenses
            if not is_same or self.pairs[0][known[2]].type != x.storage.value.type:
                return self.shared(what)
            n, lenses = known[2], x.lenses
        elif x.lenses == y.lenses and x.storage.value.type == y.storage.value.type:
            n, lenses = self.slot(x.storage.value, y.storage.value), x.lenses
        else:
            n, lenses = self.slot(*self.converted(x, y, kind)), ()
        self.partners[id(x.storage)] = self.partners[id(y.storage)] = (x.storage, y.storage, n)
        pair = self.originals(x.storage, 0), self.originals(y.storage, 1)
        return lambda results: TracedArray(self.store((x.storage, y.storage), n, results, pair), lenses)

    def which(self, x: Any, y: Any, recipe: Recipe | Unbound) -> Recipe | Unbound:
        """An array, or a member of an IntEnum, of which it is known which one it is."""
        if type(recipe) is Unbound:
            return recipe

        one, two = [cast("Recipe", told_outside(self, a, side)) for side, a in enumerate((x, y))]

        def made(results: Values) -> Any:
            found = recipe(results)
            if type(found) is TracedArray and is_mutable(found):  # it may be one that other names are bound to, too
                found = TracedArray(found.storage, found.lenses)
            note_which(found, self.condition, one(results), two(results))
            return found

        return made

    def unsized(self, a: Any, b: Any, what: str) -> Recipe | Unbound:
        """An array of which it is known only at run time how many elements it has."""
        form = Unsized.of(a).joined(Unsized.of(b)) if is_array(a) and is_array(b) else None
        if form is None:
            return self.differs(a, b, what)(())
        whole = part_of_two(self, form.view(whole_of(a)), form.view(whole_of(b)))
        if whole is None:
            one, two = [self.with_room(side, x, form) for side, x in zip(self.sides, (a, b), strict=True)]
            whole = self.differs(a, b, what)(()) if one is None or two is None else self.arrays(one, two, what)
        if type(whole) is Unbound:
            return whole
        pairs = zip(extents_of(all_listed(a)), extents_of(all_listed(b)), form.extents, strict=True)
        counts = [self.count(m, n) for m, n, known in pairs if known is None]
        return lambda results: form.made(cast("Recipe", whole)(results), [count(results) for count in counts])

    def count(self, one: Extent, other: Extent) -> Callable[[Values], Value]:
        """An extent of an array that is one of two: where both have the same one, it is known before the branch."""
        if one == other:
            return lambda _: size_of(one).value
        values = list[Value]()
        for side, n in zip(self.sides, (one, other), strict=True):
            with side.region.inside():
                values.append(size_of(n).value)
        slot = self.slot(*values)
        return lambda results: results[slot]

    def with_room(self, side: Outcome, x: Any, form: Unsized) -> TracedArray | None:
        """The whole of an array, which has as much room as another one; None if that would be a copy that is seen."""
        whole = whole_of(x)
        if whole.shape == form.room:
            return whole
        if not side.region.owns(whole.storage):
            return form.view(whole)
        leaves = [y for content in (*side.contents.values(), side.result) for y in flatten(content)[0]]
        names = [y for y in leaves if (array := as_array(y)) is not None and array.storage is whole.storage]
        if not side.region.owns(whole.storage) or len(names) > 1 or isinstance(cast("Any", whole.storage), Either):
            return None
        with side.region.inside():
            return fresh(form.whole(x), is_array=True)

    def shared(self, what: str) -> Unbound:
        """A name that shares memory with others in one branch, and with no other or less in the other."""
        return Unbound(
            f"{what} shares memory with other names after one branch, but not so after the other",
            "copy it in both branches", self.where, (self.condition,),
        )  # fmt: skip

    def store(self, made: tuple[Storage, ...], n: int, results: Values, originals: Sequence[Remember]) -> Storage:
        """The allocation that stands for those of the blocks; two of equal content stay two."""
        if made not in self.stores:
            orders = [order_of(TracedArray(s)) for s in made]
            found = self.stores[made] = Storage.holding(current(), results[n])
            found.strides = common_order(orders[0], orders[-1])
            found.writeable, found.causes = all([s.writeable for s in made]), made[0].causes + made[-1].causes
            for remember in originals:
                remember(results)(found)
        return self.stores[made]

    def originals(self, storage: Storage, side: int) -> Remember:
        """What remembers what an allocation of a block is a copy of."""
        region = self.sides[side].region
        remember = outside(storage, region.trace, self.slots_of(side), self.holds(side))
        if remember is None:
            share([TracedArray(s) for s in roots(storage)])
        return remember or (lambda _: lambda _: None)

    def holds(self, side: int) -> Callable[[], Value]:
        """Whether a block is run."""
        return lambda: self.condition if side == 0 else logical_not(self.condition)

    def slots_of(self, side: int) -> Callable[[Value], int]:
        """What makes a value of one of the blocks one of the results, which is zeros if the other is run."""

        def slot(value: Value) -> int:
            with self.sides[1 - side].region.inside():
                zeros = ir.operators.zeros(value.type)
            return self.slot(value, zeros) if side == 0 else self.slot(zeros, value)

        return slot

    def view(self, x: TracedArray, side: int) -> Recipe:
        """A view that one of the blocks made, outside of it; what the other did not make is zeros."""
        region, slot = self.sides[side].region, self.slots_of(side)
        lenses = [moved(lens, region.trace.scope.number, slot) for lens in x.lenses]
        base = self.base(x.storage, side, slot)
        return lambda results: TracedArray(base(results), tuple([lens(results) for lens in lenses]))

    def base(self, storage: Any, side: int, slot: Callable[[Value], int]) -> Recipe:
        """An allocation that one of the blocks may have made, outside of it."""
        if not self.sides[side].region.owns(storage):
            return lambda _: storage
        if isinstance(storage, Either):
            one, other = (self.view(x, side) for x in (storage.one, storage.other))
            c = slot(storage.condition)
            return lambda results: Either(current(), results[c], one(results), other(results))
        n, originals = slot(storage.value), (self.originals(storage, side),)
        return lambda results: self.store((storage,), n, results, originals)

    # --- all

    def finish(self, *, is_signal: bool, is_lone: bool = False, truth: int | None = None) -> Any:
        """Leave names, items and allocations as the block that is run does; what the blocks returned. is_lone: only
        the first one did, and nobody looks at what stands for it if the other is run. truth: the way of what they
        return, which holds only if that of the first one does."""
        one, two = self.sides
        self.truth = truth
        written = list(dict.fromkeys([*one.written, *two.written]))
        stores = [self.slot(one.written.get(s) or s.value, two.written.get(s) or s.value) for s in written]
        places = distinct([*one.contents, *two.contents])
        if all(map(is_over, (one, two))):  # what is returned comes first: hardly anybody looks at the names
            final = self.signal(one.result, two.result)
            recipes = [self.left(p) for p in places]
        else:
            recipes = [self.left(p) for p in places]
            final = self.result(is_signal=is_signal, is_lone=is_lone)
        tables = tables_in_two_orders(self.sides, places)
        results = self.apply()
        for storage, n in zip(written, stores, strict=True):
            storage.hold(results[n], storage.touched)
        for place, recipe in zip(places, recipes, strict=True):
            put(place, recipe(results))
        for table in tables:
            in_two_orders(table, self.condition)
        return final(results)

    def result(self, *, is_signal: bool, is_lone: bool) -> Recipe:
        """How to make what the blocks returned."""
        one, two = self.sides
        if is_lone:
            return self.lone(one.result, 0)
        return self.signal(one.result, two.result) if is_signal else self.joined(one.result, two.result, "the result")

    def left(self, place: Place) -> Recipe:
        """How to make what is at a place. After a return nobody reads what the other block has bound."""
        contents = [content(side, place) for side in self.sides]
        for n, side in enumerate(self.sides):
            if is_void(contents[n]) and not is_void(contents[1 - n]) and is_over(side):
                return self.lone(contents[1 - n], 1 - n)
            if place.kind == "name" and is_over(side) and self.is_as_before(contents[1 - n], 1 - n):
                return partial(_same, contents[1 - n])
        if any(map(is_void, contents)) and place.kind == "name":
            return name_of_two(self, contents, place)
        if (table := dict_of_two(self, contents, place)) is not None:
            return table
        if place.kind == "whole" and len(contents[0]) == len(contents[1]) and all(map(operator.is_, *contents)):
            return partial(_same, contents[0])  # they have only read it
        if place.is_whole and all([isinstance(c, list) for c in contents]):
            is_filled = len(contents[0]) != len(contents[1]) or any(map(has_front, contents))
            made = filled(self, contents) if is_filled else listed(self, contents, place)
            if made is not None:
                return made
        return name_by_ways(self, contents, place, self.joined(contents[0], contents[1], place.text))

    def is_as_before(self, x: Any, side: int) -> bool:
        """Whether it is a container or an object that was there before a block, which another place says all about."""
        return next(containers(x), None) is x and id(x) not in self.sides[side].region.born

    def signal(self, one: Signal | None, two: Signal | None) -> Recipe:
        """How the blocks were left."""
        possible = possible_of(one) | possible_of(two)
        values = [MISSING if s is None else s.result for s in (one, two)]
        if values[0] is MISSING or values[1] is MISSING:
            value = self.lone(values[0], 0) if values[1] is MISSING else self.lone(values[1], 1)
        else:
            value = self.joined(values[0], values[1], "what is returned")
        if possible == frozenset((0,)):
            return lambda _: None
        if len(possible) == 1:
            (code,) = possible
            return lambda results: Signal(possible, code, value(results))
        code = self.joined(code_of(one), code_of(two), "the way on")
        return lambda results: Signal(possible, _as_code(code(results)), value(results))

    def lone(self, x: Any, side: int) -> Recipe:
        """An object that only one of the blocks made, and that is used only if that one was run."""
        if x is MISSING:
            return lambda _: MISSING
        if self.is_as_before(x, side):
            return partial(_same, x)
        if type(x) is tuple:
            parts = [self.lone(part, side) for part in cast("tuple[Any, ...]", x)]
            return lambda results: tuple([part(results) for part in parts])
        leaves, structure = flattened(self.sides[side], x, in_region(self.sides[side].region.born))
        is_filled = type(x) is list and any([type(a) is Front for a in leaves])
        other: Any = [] if is_filled else unflatten(structure, [self.absent(a, side) for a in leaves])
        self.sides[1 - side].region.born.update({id(c): c for c in containers(other)})
        return self.joined(*((x, other) if side == 0 else (other, x)), "what is returned")

    def absent(self, x: Any, side: int) -> Any:
        """What is in place of a leaf that only one of the blocks made."""
        if is_unsized(x):
            with self.sides[1 - side].region.inside():
                return Unsized.of(all_listed(x)).nothing()
        if is_number(x) and (words := words_of(x)) is not None:
            return words[0]
        return self.nothing(as_traced(x), side) if is_number(x) else None if type(x) is Front else x

    def nothing(self, x: TracedArray, side: int) -> TracedArray:
        """Zeros in place of an array that only one of the blocks made; views of one array as views of one."""
        if not is_mutable(x) or not self.sides[side].region.owns(x.storage) or not is_static(x.lenses):
            with self.sides[1 - side].region.inside():
                return with_kind(ir.operators.zeros(x.type), kind_of(x))
        made = self.zeros.get(x.storage)
        if made is None:
            whole = TracedArray(x.storage)
            with self.sides[1 - side].region.inside():
                made = self.zeros[x.storage] = with_kind(ir.operators.zeros(whole.type), kind_of(whole)).storage
        return TracedArray(made, x.lenses)


def _held(tree: Any) -> list[Any]:
    """The lists, dicts and objects of a tree, and the tuples."""
    return [*containers(tree, tuples=True)]


def _same(x: Any, _: Values) -> Any:
    return x


def _as_code(code: Any) -> Any:
    return code if isinstance(code, int) else with_kind(value_of(code, "i64"), CODE)


def is_mutable(x: TracedArray) -> bool:
    """Whether an array can be written: not NumPy's scalars and Python's numbers."""
    return not (x.is_scalar or x.is_weak)
