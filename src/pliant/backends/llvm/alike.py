"""Steps that do the same, in other memory, share one function: layers of a network, steps of a loop that is unrolled.

    @alike0(m0, m1, m2)          ; what the step does, between the memory that it is given
    …
    call @alike0(a, b, c)        ; layer 1
    call @alike0(c, d, e)        ; layer 2

LLVM's time for a program is that for its functions, so a hundred layers take it hardly longer than one. Two steps are
alike if their forms are equal: all that their code depends on, written down with loop variables, scalars and memory as
numbers in the order in which they come.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

from pliant.backends.llvm.emit import Emitter
from pliant.backends.llvm.products import SHARED, is_small
from pliant.core.data import frozen, mutable
from pliant.kernel.ir import (
    Affine,
    Buffer,
    Checked,
    Fill,
    Load,
    Nest,
    Product,
    Region,
    Root,
    Rows,
    Scalar,
    Step,
    Stop,
    Store,
    Var,
    root_of,
)

if TYPE_CHECKING:
    from pliant.backends.llvm.module import Module

Place: TypeAlias = tuple[int, int]
"""A slot of the table, and bytes from there."""
FEWEST: Final = 128  # scalars of a step, its loops unrolled, beside which a call is nothing


@final
@mutable
class Form:
    """What a step's code depends on, in `words`, and what it is given: `buffers` with their places in memory, and the
    first element of each place that it names."""

    words: list[Any] = field(default_factory=list[Any])
    numbers: dict[Any, int] = field(default_factory=dict[Any, int])
    buffers: dict[Buffer, Place] = field(default_factory=dict[Buffer, Place])
    first: dict[Place, int] = field(default_factory=dict[Place, int])
    offsets: list[tuple[int, Place]] = field(default_factory=list[tuple[int, Place]])  # words that count from there

    def of(self, *parts: Any) -> None:
        """Write down some parts of a step."""
        for x in parts:
            self.part(x)

    def part(self, x: Any) -> None:
        """Write down one part."""
        if type(x) in (tuple, list):
            self.of(len(x), *x)
            return
        match x:
            case float() | complex():
                self.words.append(repr(x))  # zero and minus zero are equal
            case Checked() | Stop():
                self.words.append(x)  # equal to no other: its code names the line that is to blame
            case Affine():
                self.affine(x)
            case Var():
                self.of(self.number(x), x.extent)
            case Region():
                self.region(x)
            case Buffer():
                self.of(x.type.dtype, self.number(root_of(x)), self.number((x.slot, x.offset)))
            case Scalar():
                self.words.append(self.number(x))
            case Root():
                self.root(x)
            case Nest() if x.vars and not x.split and not x.delay:
                self.nest(x)
            case Rows() if not x.split:
                self.of(Rows, x.nests)
            case Fill():
                self.of(Fill, x.out, x.body)
            case Product() if is_small(x):
                self.product(x)
            case _:
                self.words.append(x)

    def affine(self, x: Affine) -> None:
        """Write down an index."""
        self.words += (x.start, len(x.terms))
        for atom, factor in x.terms:
            self.words += (self.number(atom), factor)

    def number(self, x: Any) -> int:
        """The number of a loop variable, a scalar, or some memory."""
        return self.numbers.setdefault(x, len(self.numbers))

    def element(self, buffer: Buffer, offset: Affine) -> None:
        """Write down an element of a buffer; its place is as far as it is from the first one that is named."""
        place, start = (buffer.slot, buffer.offset), max(offset.start, 0)  # nobody touches what lies before
        self.buffers[buffer] = place
        self.first[place] = min(self.first.get(place, start), start)
        self.part(buffer)
        self.offsets.append((len(self.words), place))
        self.affine(offset)

    def region(self, region: Region) -> None:
        """Write down scalars and statements."""
        self.words.append(len(region.body))
        for s in region.body:
            self.of(type(s), s.dtype, s)
            if isinstance(s, Load | Store):
                self.element(s.buffer, s.offset)
            for name in type(s).__slots__:
                if name not in ("buffer", "offset"):
                    self.part(getattr(s, name))

    def root(self, root: Root) -> None:
        """Write down what a nest computes."""
        self.of(root.value.dtype, root.scalar, root.folded, root.rest, root.buffer is not None)
        if root.buffer:
            self.element(root.buffer, root.offset)
        if root.fold:
            self.of(root.fold.kind, root.fold.dtype, root.buffer and root.buffer.type.size)

    def nest(self, nest: Nest) -> None:
        """Write down a nest."""
        self.of(Nest, nest.space, nest.vars, nest.is_swept, [v in nest.backward for v in nest.vars], nest.body)
        self.of(nest.roots, [nest.limits.get(v) for v in nest.vars])

    def product(self, step: Product) -> None:
        """Write down a product of small matrices."""
        self.of(Product, step.sizes, step.batch, step.start is not None)
        for matrix in (step.left, step.right):
            self.element(matrix.buffer, Affine(matrix.offset))
            self.of(matrix.batch, matrix.row, matrix.column)
        self.element(step.out, Affine())

    def key(self) -> tuple[Any, ...]:
        """Equal for steps that are alike."""
        for at, place in self.offsets:
            self.words[at] -= self.first[place]
        self.offsets.clear()
        return tuple(self.words)


@final
@frozen
class Alike:
    """A step of which there is another one alike: its form, and the function of both."""

    form: Form
    name: str
    is_narrow: bool

    def emit_call(self, e: Emitter, write: Callable[[Emitter], None]) -> None:
        """The call of the function. write: what emits the step."""
        form, function = self.form, e.module.helper(self.name, lambda _: self.text(e.module, write))
        given = {place: e.address(buffer, Affine(form.first[place])) for buffer, place in form.buffers.items()}
        e.call_for_effect(f"void {function}({', '.join([f'ptr {given[place]}' for place in form.first])})")

    def text(self, module: Module, write: Callable[[Emitter], None]) -> str:
        """The function."""
        form, names = self.form, [f"%m{n}" for n in range(len(self.form.first))]
        e = Emitter(module, self.name, ", ".join([f"ptr {name}" for name in names]), is_narrow=self.is_narrow)
        e.bases.update(zip(form.first, names, strict=True))
        e.shifts = {buffer: Affine(-form.first[place]) for buffer, place in form.buffers.items()}
        write(e)
        return e.text()


def alike(steps: Sequence[Step], module: Module, prefix: str) -> dict[Step, Alike]:
    """Steps for which there is another one alike. prefix: of the names of functions."""
    forms = {step: form for step in steps if is_long(step) and (form := form_of(step, module.past_caches))}
    keys = {step: form.key() for step, form in forms.items()}
    repeated = [key for key, count in Counter(keys.values()).items() if count > 1]
    names = {key: f"{prefix}_alike{n}" for n, key in enumerate(repeated)}
    return {
        step: Alike(forms[step], names[key], module.is_narrow([step])) for step, key in keys.items() if key in names
    }


def form_of(step: Step, past_caches: frozenset[Buffer]) -> Form | None:
    """The form of a step; None if what it writes is written past the caches, or if it reads memory as of two dtypes."""
    form = Form()
    form.part(step)
    dtypes = {(place, buffer.type.dtype) for buffer, place in form.buffers.items()}
    return form if past_caches.isdisjoint(map(root_of, form.buffers)) and len(dtypes) == len(form.first) else None


def is_long(step: Step) -> bool:
    """Whether a step takes so long that a call of a function is nothing beside it."""
    match step:
        case Nest():
            return math.prod(step.space) * len(step.body.body) >= FEWEST
        case Rows():
            return any(map(is_long, step.nests))
        case Product():
            return math.prod(step.sizes) < SHARED
        case _:
            return isinstance(step, Fill) and step.out.type.size >= FEWEST
