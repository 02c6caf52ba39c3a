"""Numbers that are one expression of different elements, as the elements of one array.

e[1] <= w, e[2] <= w, e[3] <= w          less_equal(e[1:4], w)

Code for a few arrays is made sooner than code for hundreds of numbers, and asked sooner.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeAlias, cast, final

from pliant.core.build import abstract
from pliant.core.data import frozen
from pliant.core.inner import functions_of
from pliant.core.ir import Param, Value, Values
from pliant.ops.shape import Slice, reshape
from pliant.transforms.vmap import vmap

FEWEST: Final = 16  # numbers that are worth an array
LONGEST: Final = 64  # values in the expression of such a number

Together: TypeAlias = "tuple[Value, Sequence[Value]]"
"""An array, or a number, and the numbers that are its elements."""


@final
@frozen
class Expression:
    """A number, the elements that it is computed from, and what else it is; `form` is the rest."""

    number: Value
    elements: Values
    others: Values
    form: tuple[Any, ...]

    @classmethod
    def of(cls, number: Value) -> Expression | None:
        """How a number is computed; None if that is long."""
        found: dict[Value, int] = {}
        form, elements, others, stack = list[Any](), list[Value](), list[Value](), [number]
        while stack:
            value = stack[-1]
            is_element, is_other = _is_element(value), _is_other(value)
            missing = [] if is_element or is_other else [a for a in value.args if a not in found]
            if missing:
                stack += missing
                continue
            stack.pop()
            if value in found:
                continue
            if len(found) == LONGEST:
                return None
            found[value] = len(found)
            if is_element:
                elements.append(value)
                form.append((value.args[0], value.type))
            elif is_other:
                others.append(value)
                form.append(value)
            else:
                form.append((value.op, value.node.values.index(value), *[found[a] for a in value.args]))
        return cls(number, tuple(elements), tuple(others), tuple(form))

    @property
    def starts(self) -> tuple[tuple[int, ...], ...]:
        """Where the elements are."""
        return tuple([cast("Slice", e.op).start for e in self.elements])


def together(numbers: Sequence[Value]) -> list[Together]:
    """Arrays of numbers that are computed alike, from elements at even distances, and the others; to be made in the
    scope of the numbers."""
    alike: dict[Any, list[Expression]] = {}
    made: list[Together] = []
    for number in numbers:
        expression = None if number.shape else Expression.of(number)
        if expression is None or not expression.elements:
            made.append((number, (number,)))
        else:
            alike.setdefault(expression.form, []).append(expression)
    for expressions in alike.values():
        for run in _runs(sorted(expressions, key=lambda e: e.starts)):
            parts = [e.number for e in run]
            made += [(_array(run), parts)] if len(run) >= FEWEST else [(x, (x,)) for x in parts]
    return made


def _runs(expressions: Sequence[Expression]) -> Iterator[Sequence[Expression]]:
    """Those one after the other whose elements are at even distances, along one axis each."""
    begin = 0
    while begin < len(expressions):
        end = begin + 1
        distance = _distance(expressions[begin : begin + 2])
        while distance is not None and _distance(expressions[end - 1 : end + 1]) == distance:
            end += 1
        yield expressions[begin:end]
        begin = end


def _distance(pair: Sequence[Expression]) -> Any:
    """How far the elements of the second are from those of the first; None if along several axes."""
    if len(pair) < 2:
        return None
    moved = zip(*[e.starts for e in pair], strict=True)
    found = [tuple([b - a for a, b in zip(*starts, strict=True)]) for starts in moved]
    return None if any([sum(map(bool, steps)) > 1 for steps in found]) else found


def _array(run: Sequence[Expression]) -> Value:
    """The numbers of a run as an array."""
    first, count = run[0], len(run)
    given, flags = list[Value](), list[bool]()
    for element, steps in zip(first.elements, _distance(run[:2]), strict=True):
        given.append(_elements(element, steps, count) if any(steps) else element)
        flags.append(any(steps))
    template = abstract((first.number,), (*first.elements, *first.others), "number")
    return vmap(template, count, (*flags, *[False] * len(first.others)))(*given, *first.others)[0]


def _elements(first: Value, steps: Sequence[int], count: int) -> Value:
    """So many elements of an array, from the first one on."""
    op = cast("Slice", first.op)
    step = tuple([s or before for s, before in zip(steps, op.step, strict=True)])
    length = tuple([count if s else n for s, n in zip(steps, op.length, strict=True)])
    return reshape(Slice(op.start, step, length)(first.args[0]), (count, *first.shape))


def _is_element(value: Value) -> bool:
    return isinstance(value.op, Slice) and value.type.size == 1 < value.args[0].type.size


def _is_other(value: Value) -> bool:
    """Whether a number depends on a value as it is."""
    return isinstance(value.op, Param) or value.type.size != 1 or bool(functions_of(value.op))
