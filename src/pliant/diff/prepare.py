"""What can be done once for many calls: the program of an operator for arguments of one signature."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any, Final, Literal, cast, final

from pliant.diff import programs
from pliant.diff.calls import OPERATORS, Call, Signature, converted_call
from pliant.diff.contexts import Constant
from pliant.diff.functional import Functional, Template
from pliant.diff.layout import flatten
from pliant.diff.second_order import parts_of
from pliant.diff.sparse import Sparse, sparse_program
from pliant.diff.sparsity import Sparsity
from pliant.diff.system import Arrays, Direct, NestedError, System, is_sparse
from pliant.errors import ArgumentError, PreparationError

Mismatch = Literal["error", "reprepare", "convert"]


@final
@dataclass(frozen=True, slots=True)
class Example:
    """The type of a leaf, in a form that is compared quickly."""

    kind: type
    dtype: Any
    shape: tuple[int, ...]

    def fits(self, x: Any) -> bool:
        """Whether x is of this very type."""
        return type(x) is self.kind and (self.dtype is None or (x.dtype == self.dtype and x.shape == self.shape))


def _example(x: Any) -> Example:
    dtype = getattr(x, "dtype", None)
    return Example(cast("Any", type(x)), dtype, () if dtype is None else tuple(x.shape))


@final
@dataclass(frozen=True, eq=False)
class Prep:
    """The program of an operator for arguments of one signature: immutable, safe in many threads.

    Pass it to the operator as `prep=`; or call it: `prep(x, c)` takes x, the tuple of seeds if the
    operator has seeds, and the values of constants and active contexts, and checks nothing.

    >>> import numpy as np, pliant.diff as diff
    >>> def f(x, c):
    ...     return np.sum(c * x**2)
    >>> prep = diff.prepare_gradient(f, diff.Pliant(), np.zeros(2), diff.Constant(0.0))
    >>> prep(np.ones(2), 3.0)
    array([6., 6.])
    """

    signature: Signature
    functional: Functional
    outer: System
    run: Callable[..., Any] = field(repr=False)
    on_mismatch: Mismatch = "error"
    examples: tuple[Example, ...] = field(default=(), repr=False)
    sparsity: Sparsity | None = None
    program: programs.Program | None = field(default=None, repr=False)
    others: list[Prep] = field(default_factory=list["Prep"], repr=False)  # made by on_mismatch="reprepare"

    @property
    def f(self) -> Callable[..., Any]:
        """The function it was made for."""
        return self.functional.f

    @functools.cached_property
    def direct(self) -> Direct | None:
        """The shortest way, where arguments and results are arrays and no more."""
        make, signature, layout = getattr(self.outer, "direct", None), self.signature, self.signature.layout
        is_flat = all([s.is_leaf() for s in layout.structures]) and set(layout.activities) <= {"x", "Constant"}
        if make is None or self.program is None or not is_flat or layout.statics or not layout.types[0][1]:
            return None
        is_plain = not signature.seeds and not signature.has_aux and signature.y is None
        return make(signature.operator, self.program, self.functional) if is_plain else None

    def _directly(self, x: Any, constants: Sequence[Any]) -> Any:
        """(y, derivative), or None if there is no direct way."""
        direct = self.direct
        if direct is None or type(x) not in direct.types:
            return None
        try:
            return direct.call(x, *constants)
        except NestedError:
            self.__dict__["direct"] = None
            return None

    def quick(self, operator: str, f: Any, system: Any, x: Any, contexts: Sequence[Any]) -> Any:
        """(y, derivative) for a call that plainly is the prepared one; None if a closer look is due."""
        signature, examples = self.signature, self.examples
        if (
            f is not self.functional.f
            or operator != signature.operator
            or len(contexts) + 1 != len(examples)
            or not examples[0].fits(x)
        ):
            return None
        if system is not signature.system and system != signature.system:
            return None
        constants: list[Any] = []
        for context, example in zip(contexts, examples[1:], strict=True):
            if type(context) is not Constant or not example.fits(context.value):
                return None
            constants.append(context.value)
        return self._directly(x, constants)

    def __call__(self, x: Any, *rest: Any) -> Any:
        """The derivative at x; nothing is checked. Containers are given whole, with anything where
        caches are."""
        made = self._directly(x, rest)
        return made[1] if made is not None else self._run(x, rest)[-1]

    def value_and(self, x: Any, *rest: Any) -> tuple[Any, Any]:
        """`(y, derivative)` at x, as a call."""
        made = self._directly(x, rest)
        if made is not None:
            return made
        y, *_, derivative = self._run(x, rest)
        return y, derivative

    def _run(self, x: Any, rest: tuple[Any, ...]) -> tuple[Any, ...]:
        """y and the derivatives."""
        seeds: tuple[Arrays, ...] = ()
        if OPERATORS[self.signature.operator].seeds:
            seeds, rest = tuple([tuple(flatten(t)[0]) for t in rest[0]]), rest[1:]
        actives, constants = self.signature.layout.sorted((x, *rest))
        y, _, parts = self.apply(actives, seeds, constants)
        return y, *parts

    def apply(self, actives: Arrays, seeds: tuple[Arrays, ...], constants: Arrays) -> tuple[Any, Any, tuple[Any, ...]]:
        """(y, aux, derivatives) for leaves of this signature."""
        constants, key = self.functional.inputs(actives, constants)
        ys, aux, parts = self.run(actives, seeds, constants, key)
        system = self.outer
        if not any([system.owns(x) for x in actives]):
            numpy = system.numpy
            ys = [numpy(y) for y in ys]
            aux = [numpy(a) if hasattr(a, "dtype") else a for a in aux]
            parts = [[leaf if is_sparse(leaf) else numpy(leaf) for leaf in part] for part in parts]
        returned = self.functional.returned
        return returned.value(ys), returned.aux(aux) if self.functional.has_aux else (), self._trees(parts)

    def tree(self, kind: str, leaves: Sequence[Any]) -> Any:
        """Leaves in the structure of y or of x."""
        return self.functional.returned.value(leaves) if kind == "y" else self.signature.layout.active_tree(leaves)

    def _trees(self, parts: Sequence[Any]) -> tuple[Any, ...]:
        """Each part in the structure it belongs to; the last kind takes all that is left."""
        made: list[Any] = []
        for n, kind in enumerate(OPERATORS[self.signature.operator].results):
            if kind.endswith("…"):
                made.append(tuple([self.tree(kind[0], part) for part in parts[n:]]))
            elif len(kind) == 2:
                count, leaves = self.signature.layout.active_count, parts[n]
                blocks = [self.tree(kind[1], leaves[i : i + count]) for i in range(0, len(leaves), count)]
                made.append(self.tree(kind[0], blocks))
            else:
                made.append(self.tree(kind, parts[n]))
        return tuple(made)

    def fitted(self, of: Call) -> tuple[Prep, Call]:
        """This preparation, or one made for the call, and the call, or its arguments converted;
        PreparationError if they do not fit."""
        signature = of.signature
        if of.f is self.f and signature == self.signature:
            return self, of
        if self.on_mismatch == "convert" and of.f is self.f:
            converted = converted_call(of, self.signature)
            if converted is not None:
                return self, converted
        if self.on_mismatch == "reprepare" and of.f is self.f:
            for prep in self.others:
                if prep.signature == signature:
                    return prep, of
            made = prepare(of)
            self.others[:] = [made, *self.others][:8]
            return made, of
        raise self._mismatch(of.f, signature)

    def _mismatch(self, f: Any, signature: Signature) -> PreparationError:
        ours, theirs = self.signature.table(), signature.table()
        if f is not self.f:
            ours, theirs = {"f": repr(self.f)} | ours, {"f": repr(f)} | theirs
        lines = [f"this preparation was made for another call of {self.signature.operator}"]
        for name in ours | theirs:
            was, now = ours.get(name, "nothing"), theirs.get(name, "nothing")
            lines.append(f"  ✓ {name}: {was}" if was == now else f"  ✗ {name}: prepared for {was}, given {now}")
        return PreparationError("\n".join(lines), hint="prepare again, or prepare with on_mismatch='reprepare'")


def prepare(of: Call, on_mismatch: Mismatch = "error") -> Prep:
    """The program of an operator. f is not run here, and no value is looked at."""
    if on_mismatch not in ("error", "reprepare", "convert"):
        raise ArgumentError(f"on_mismatch: expected 'error', 'reprepare' or 'convert', got {on_mismatch!r}")
    spec, given = of.operator, of.given
    dense = of.system.system if isinstance(of.system, Sparse) else of.system
    outer, inner = parts_of(dense, order=spec.order, is_forward=spec.is_forward)
    for part in (outer, inner):
        part.require()
    if spec.order == 2:
        programs.refuse_second_order(outer, inner)
    filled = None
    if of.y is not None:
        leaves, structure = flatten(of.y)
        filled = tuple(map(_template, leaves)), structure
    caches = tuple(map(_template, given.caches))

    @functools.cache
    def functional_of(system: System) -> Functional:
        return Functional(of.f, given.layout, system, of.has_aux, filled, caches)

    if isinstance(of.system, Sparse):
        made = sparse_program(of.system, spec.name, functional_of, given)
        return Prep(of.signature, made.functional, made.outer, made.run, on_mismatch, sparsity=made.sparsity)
    functional = functional_of(inner)
    program = spec.program(outer, functional) if spec.order == 1 else spec.program(outer, inner, functional)
    examples = tuple(map(_example, (*given.actives, *given.constants)))
    return Prep(of.signature, functional, outer, outer.compile(program), on_mismatch, examples, program=program)


def _template(x: Any) -> Template:
    return Template(tuple(x.shape), x.dtype)


_KEPT: Final = "__pliant_diff__"
MOST: Final = 16  # programs kept per function


def prepared(of: Call) -> Prep:
    """A preparation for a call without one, kept on f so that the next call finds it."""
    if not isinstance(of.f, FunctionType):
        return prepare(of)
    owner, table = of.f.__dict__.get(_KEPT, (None, {}))
    if owner is None or owner() is not of.f:  # functools.wraps copies the attribute to other functions
        table: dict[Signature, Prep] = {}
        of.f.__dict__[_KEPT] = (weakref.ref(of.f), table)
    signature = of.signature
    found = table.get(signature)
    if found is None:
        found = prepare(of)
        while len(table) >= MOST:
            table.pop(next(iter(table)), None)
        table[signature] = found
    return found
