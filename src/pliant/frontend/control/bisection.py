"""`bisect` in lists and arrays: where a number belongs among sorted ones, as Python finds it, and putting it there."""

from __future__ import annotations

import bisect
import operator
from collections.abc import Callable
from typing import Any, Final

from pliant.core.ir import const
from pliant.frontend.array import TracedArray
from pliant.frontend.bounded import Bounded
from pliant.frontend.control.branch import choose, negated
from pliant.frontend.control.comprehension import precedes
from pliant.frontend.control.effects import changing, store
from pliant.frontend.control.fronts import Front
from pliant.frontend.control.grids import item
from pliant.frontend.control.growth import Prefix
from pliant.frontend.control.items import INDEX
from pliant.frontend.control.lists import length
from pliant.frontend.control.methods import method
from pliant.frontend.control.objects import flatten
from pliant.frontend.control.region import born
from pliant.frontend.control.whiles import repeat
from pliant.frontend.convert import value_of
from pliant.frontend.failures import fail_if
from pliant.frontend.number import with_kind
from pliant.frontend.sizes import larger, note_range, size_of
from pliant.frontend.tracing import is_tracing
from pliant.ops.compare import less

_TRACED: Final = (TracedArray, Bounded, Front, Prefix)
LOW: Final = "low"
HIGH: Final = "high"


def _bisection(plain: Any, *, is_right: bool) -> Callable[..., Any]:
    """A function of `bisect`. is_right: what is found comes after equal elements."""

    def bisected(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Callable[[Any], Any] | None = None) -> Any:
        if not is_tracing() or not any([type(leaf) in _TRACED for leaf in flatten([a, x, lo, hi])[0]]):
            return plain(a, x, lo, hi, key=key)
        is_array = isinstance(a, TracedArray | Bounded)
        count = a.shape[0] if is_array else length(a)
        low, high = size_of(lo), size_of(count if hi is None else hi)
        if not low.is_at_least(0):
            fail_if(less(low.value, const(0, "i64")), ValueError("lo must be non-negative"))
        if low.is_at_least(high):
            return lo
        least = 0 if low.is_at_least(0) else None
        most = size_of(count) - 1 if size_of(count).is_at_least(high) else None
        state = born({LOW: with_kind(low.value, INDEX), HIGH: with_kind(high.value, INDEX)})

        def halve() -> None:
            middle = with_kind(value_of((state[LOW] + state[HIGH]) // 2, "i64"), INDEX)
            note_range(middle, least, most)
            found = a[middle] if is_array else item(a, middle)
            found = found if key is None else key(found)
            is_later = negated(precedes(x, found, operator.lt)) if is_right else precedes(found, x, operator.lt)
            low = choose(is_later, lambda: middle + 1, lambda: state[LOW])
            store(choose(is_later, lambda: state[HIGH], lambda: middle), state, HIGH)
            store(low, state, LOW)

        repeat(lambda: state[LOW] < state[HIGH], (), halve, None, (), (), (), False, ())
        note_range(state[LOW], low, None if most is None else larger(low, most + 1))  # `low` itself above `high`
        return state[LOW]

    return bisected


def _insertion(bisected: Callable[..., Any]) -> Callable[..., None]:
    """A function of `bisect` that puts an element where it belongs."""

    def inserted(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Callable[[Any], Any] | None = None) -> None:
        place = bisected(a, x if key is None else key(x), lo, hi, key=key)
        changing(a, "insert")
        own = method(a, "insert")
        (a.insert if own is None else own)(place, x)

    return inserted


left: Final = _bisection(bisect.bisect_left, is_right=False)
right: Final = _bisection(bisect.bisect_right, is_right=True)
insort_left: Final = _insertion(left)
insort_right: Final = _insertion(right)
