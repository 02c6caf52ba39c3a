"""Sets of places in arrays, as boxes between affine bounds, and whether two of them can meet.

A `Form` is affine in variables, such as the indices of loops; a list of forms that are at least zero
says what is known of the variables. Whether that leaves any numbers at all is found by Fourier and
Motzkin's elimination; where it would take long, the answer is that it may.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import Final, TypeAlias, final

from pliant.core.data import frozen
from pliant.core.ir import Const, Value
from pliant.ops.block import Block, BlockWrite
from pliant.ops.elementwise import Add, Mul, Neg, Sub
from pliant.ops.index import Gather, ScatterAdd, ScatterSet
from pliant.ops.shape import Reshape, Slice
from pliant.ops.update import AddSlice, UpdateSlice

Variable: TypeAlias = Hashable
Box: TypeAlias = "tuple[tuple[Form, Form], ...]"  # per axis, least and greatest place

MOST: Final = 300  # inequalities at a time
DEPTH: Final = 12


@final
@frozen
class Form:
    """start + Σ factor·variable."""

    start: int = 0
    terms: Mapping[Variable, int] = field(default_factory=dict[Variable, int])

    def __add__(self, other: Form | int) -> Form:
        if isinstance(other, int):
            return Form(self.start + other, self.terms)
        total = dict(self.terms)
        for variable, factor in other.terms.items():
            total[variable] = total.get(variable, 0) + factor
        return Form(self.start + other.start, {v: f for v, f in total.items() if f})

    def __mul__(self, factor: int) -> Form:
        return Form(self.start * factor, {v: f * factor for v, f in self.terms.items()} if factor else {})

    def __sub__(self, other: Form | int) -> Form:
        return self + other * -1

    @classmethod
    def of(cls, variable: Variable) -> Form:
        """A variable itself."""
        return cls(0, {variable: 1})


@final
@frozen
class Scene:
    """What is known in one run of some code: numbers as forms, and forms that are at least zero.

    run: tells variables of this run from those of others.
    """

    run: Hashable
    known: Mapping[Value, Form] = field(default_factory=dict[Value, Form])
    facts: tuple[Form, ...] = ()


def form_of(value: Value, scene: Scene, depth: int = DEPTH) -> Form:
    """A whole number as a form; what is not known to be affine is a variable of its own."""
    if value in scene.known:
        return scene.known[value]
    op = value.op
    if isinstance(op, Const):
        return Form(int(op.value.real))
    parts = (
        [form_of(a, scene, depth - 1) for a in value.args] if depth and isinstance(op, Add | Sub | Neg | Mul) else []
    )
    match op, parts:
        case Add(), [x, y]:
            return x + y
        case Sub(), [x, y]:
            return x - y
        case Neg(), [x]:
            return x * -1
        case Mul(), [x, y] if not x.terms:
            return y * x.start
        case Mul(), [x, y] if not y.terms:
            return x * y.start
        case Reshape(), _ if value.type.size == 1:
            return form_of(value.args[0], scene, depth - 1)
        case _:
            return Form.of((scene.run, value))


def box_of_read(value: Value, scene: Scene) -> Box:
    """The places of its first operand that a read takes."""
    x, op = value.args[0], value.op
    match op:
        case Slice():
            return _box(zip(map(Form, op.start), map(Form, op.length), op.step, strict=True))
        case Gather() if not op.shared and all([i.type.size == 1 for i in value.args[1:]]):
            return _points(x, value.args[1:], scene)
        case Block() if not op.shared:
            return _block(value.args[1:], op.step, op.longest(*(a.type for a in value.args)), scene)
        case _:
            return _whole(x)


def box_of_write(value: Value, scene: Scene) -> Box | None:
    """The places that a write changes in its first operand; None if it is no write."""
    op = value.op
    if not isinstance(op, UpdateSlice | AddSlice | ScatterSet | ScatterAdd | BlockWrite):
        return None
    x = value.args[0]
    match op:
        case UpdateSlice() | AddSlice():
            lengths = map(Form, value.args[1].shape)
            return _box(zip(map(Form, op.start), lengths, op.step, strict=True))
        case ScatterSet() | ScatterAdd() if not op.shared and all([i.type.size == 1 for i in value.args[1:-1]]):
            return _points(x, value.args[1:-1], scene)
        case BlockWrite() if not op.shared:
            return _block(value.args[2:], op.step, value.args[1].shape, scene)
        case _:
            return _whole(x)


def _points(x: Value, indices: Sequence[Value], scene: Scene) -> Box:
    places = [form_of(i, scene) for i in indices]
    return *((p, p) for p in places), *_whole(x)[len(places) :]


def _block(bounds: Sequence[Value], step: Sequence[int], longest: Sequence[int], scene: Scene) -> Box:
    starts = [form_of(b, scene) for b in bounds[: len(step)]]
    # What is at most one place is taken for one: its length may be no form.
    lengths = [Form(1) if m == 1 else form_of(b, scene) for m, b in zip(longest, bounds[len(step) :], strict=True)]
    return _box(zip(starts, lengths, step, strict=True))


def _box(axes: Iterable[tuple[Form, Form, int]]) -> Box:
    found = [(start, start + (length - 1) * step, step) for start, length, step in axes]
    return tuple([(first, last) if step > 0 else (last, first) for first, last, step in found])


def _whole(x: Value) -> Box:
    return tuple([(Form(), Form(n - 1)) for n in x.shape])


def can_meet(a: Box, b: Box, facts: Sequence[Form]) -> bool:
    """Whether two boxes may have a place in common, given forms that are at least zero."""
    both = [form for (low, high), (least, most) in zip(a, b, strict=True) for form in (high - least, most - low)]
    both += [high - low for low, high in (*a, *b)]
    return is_possible([*facts, *both])


def is_possible(facts: Sequence[Form]) -> bool:
    """Whether there may be numbers for which all forms are at least zero."""
    left = {_key(f): f for f in map(_tight, facts)}
    while True:
        if any([not f.terms and f.start < 0 for f in left.values()]):
            return False
        variables = {v for f in left.values() for v in f.terms}
        if not variables or len(left) > MOST:
            return True
        variable = min(variables, key=lambda v: _cost(v, left.values()))
        above = [f for f in left.values() if f.terms.get(variable, 0) > 0]
        below = [f for f in left.values() if f.terms.get(variable, 0) < 0]
        kept = [f for f in left.values() if variable not in f.terms]
        joined = [a * -b.terms[variable] + b * a.terms[variable] for a in above for b in below]
        left = {_key(f): f for f in (*kept, *map(_tight, joined))}


def _cost(variable: Variable, facts: Iterable[Form]) -> int:
    signs = [f.terms[variable] > 0 for f in facts if variable in f.terms]
    return sum(signs) * (len(signs) - sum(signs))


def _tight(form: Form) -> Form:
    """The same inequality on whole numbers, with factors that have no common divisor."""
    divisor = math.gcd(*form.terms.values())
    if divisor < 2:
        return form
    return Form(form.start // divisor, {v: f // divisor for v, f in form.terms.items()})


def _key(form: Form) -> Hashable:
    return form.start, frozenset(form.terms.items())
