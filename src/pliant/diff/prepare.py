"""What can be done once for many calls: the program of an operator for arguments of one signature."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any, Final, Literal, final

from pliant.diff import programs
from pliant.diff.calls import Call, Operator, Signature, converted_call
from pliant.diff.contexts import Cache
from pliant.diff.functional import Functional, Template
from pliant.diff.layout import flatten
from pliant.diff.plainly import are_of, kind_of, roles_of
from pliant.diff.routine import Routine
from pliant.diff.second_order import parts_of
from pliant.diff.sparse import Sparse, sparse_program
from pliant.diff.sparsity import Sparsity
from pliant.diff.system import Arrays, Form, System, Way
from pliant.errors import ArgumentError, PreparationError

Mismatch = Literal["error", "reprepare", "convert"]


@final
@dataclass(frozen=True, eq=False, slots=True)
class Prep:
    """The program of an operator for arguments of one signature: immutable, safe in many threads.

    Pass it to the operator as `prep=`; or call it: `prep(x, c)` takes x, the tuple of seeds if the
    operator has seeds, and the values of constants and active contexts (containers whole, with
    anything where caches are), and checks nothing. `prep.value_and(x, c)` is `(y, derivative)`.

    >>> import numpy as np, pliant.diff as diff
    >>> def f(x, c):
    ...     return np.sum(c * x**2)
    >>> prep = diff.prepare_gradient(f, diff.Pliant(), np.zeros(2), diff.Constant(0.0))
    >>> prep(np.ones(2), 3.0)
    array([6., 6.])
    """

    f: Callable[..., Any]
    asked: tuple[str, Any]  # operator and system
    routine: Routine = field(repr=False)
    # Calls are fields, so that they go to the system's own function with no frame between;
    # in a slot, Python finds `__call__` too.
    every: Way = field(repr=False)  # (y, *derivatives)
    value_and: Way = field(repr=False)  # (y, derivative)
    __call__: Way = field(repr=False)  # the derivative
    roles: list[Any] = field(default_factory=list[Any], repr=False)  # of x and contexts, as `plainly` compares them
    seed_kinds: list[Any] = field(default_factory=list[Any], repr=False)
    on_mismatch: Mismatch = "error"
    sparsity: Sparsity | None = None
    others: list[Prep] = field(default_factory=list["Prep"], repr=False)  # made by on_mismatch="reprepare"

    @property
    def signature(self) -> Signature:
        """What it was made for, but the function."""
        return self.routine.signature

    def __deepcopy__(self, memo: Any) -> Prep:
        """Itself: it never changes."""
        return self

    def __reduce__(self) -> Any:
        """ArgumentError: it holds what was compiled for this process."""
        raise ArgumentError(
            "a preparation cannot be pickled: it holds what was compiled for this process",
            hint="pickle f and the arguments, and prepare again where they are loaded",
        )

    def __copy__(self) -> Prep:
        """Itself."""
        return self

    def quick(self, operator: str, f: Any, system: Any, x: Any, t: Any, contexts: Sequence[Any]) -> Any:
        """(y, *derivatives) for a call that plainly is the prepared one; None if a closer look is due."""
        asked, its_system = self.asked
        if f is not self.f or operator != asked or (system is not its_system and system != its_system):
            return None
        roles = self.roles
        if len(roles) != len(contexts) + 1:
            return None
        given: list[Any] = []
        for n, a in enumerate((x, *contexts)):  # nothing is called for arrays: the loop is most of what this costs
            role, type_, of, shape = roles[n]
            if n:
                if a.__class__ is not role:
                    return None
                a = a.value
            if a.__class__ is not type_:
                return None
            if shape is not None:
                if a.dtype != of or a.shape != shape:
                    return None
            elif of is not None and not of(a):
                return None
            if role is not Cache:
                given.append(a)
        if t is None:
            return self.every(*given)
        return self.every(x, t, *given[1:]) if t.__class__ is tuple and are_of(t, self.seed_kinds) else None

    def apply(self, actives: Arrays, seeds: tuple[Arrays, ...], constants: Arrays) -> tuple[Any, Any, tuple[Any, ...]]:
        """(y, aux, derivatives) for leaves of this signature."""
        return self.routine.apply(actives, seeds, constants)

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

    roles = _roles(of)
    if isinstance(of.system, Sparse):
        made = sparse_program(of.system, spec.name, functional_of, given)
        routine = Routine(of.signature, made.functional, made.outer, made.run)
        calls = _selected(routine.call, spec, _as_it_is)
        return Prep(
            of.f, (spec.name, of.system), routine, *calls, *roles, on_mismatch=on_mismatch, sparsity=made.sparsity
        )  # fmt: skip
    functional = functional_of(inner)
    program = spec.program(outer, functional) if spec.order == 1 else spec.program(outer, inner, functional)
    routine = Routine(of.signature, functional, outer, outer.compile_of(functional, program))
    calls = _bound(outer, program, routine)
    return Prep(of.f, (spec.name, of.system), routine, *calls, *roles, on_mismatch=on_mismatch)


def _bound(outer: System, program: programs.Program, routine: Routine) -> tuple[Way, Way, Way]:
    """The calls of a preparation in the shortest form that its system has for them."""
    spec, functional = routine.operator, routine.functional
    bind = _as_it_is if routine.signature.layout.statics else outer.bind
    if not functional.is_plain:
        return _selected(routine.call, spec, bind)
    first = len(spec.results) - 1  # of the derivative that the operator is named for

    def last(xs: Arrays, seeds: Any, constants: Arrays) -> Any:
        ys, _, parts = program(xs, seeds, constants)
        return ys, (), parts[first:]

    def alone(xs: Arrays, seeds: Any, constants: Arrays) -> Any:
        return (), (), program(xs, seeds, constants)[2][first:]

    ways = _selected(routine.call if spec.seeds else routine.single, spec, _as_it_is)
    made: list[Way] = []
    for part, way in zip((program, last, alone), ways, strict=True):
        form = Form(spec.name, bool(spec.seeds), part is alone)
        is_known = part is last and not first
        made.append(made[0] if is_known else bind(outer.direct(form, part, functional, way)))
    every, value_and, derivative = made
    return every, value_and, derivative


def _selected(every: Way, spec: Operator, bind: Callable[[Way], Way]) -> tuple[Way, Way, Way]:
    """`every`, its first and last results, and the last one alone, each by `bind`."""

    def value_and(*args: Any) -> tuple[Any, Any]:
        made = every(*args)
        return made[0], made[-1]

    def derivative(*args: Any) -> Any:
        return every(*args)[-1]

    bound = bind(every)
    return bound, bound if len(spec.results) == 1 else bind(value_and), bind(derivative)


def _as_it_is(way: Way) -> Way:
    return way


def _roles(of: Call) -> tuple[list[Any], list[Any]]:
    """What `quick` compares; nothing where more is asked for than what `every` makes."""
    if of.has_aux or of.y is not None:
        return [], []
    x, *contexts = of.args
    kinds = [kind_of(seed) for seed in of.trees]
    if None in kinds or (of.given.layout.is_flat and any([k is not None and k[2] is None for k in kinds])):
        return [], []  # numbers as seeds of what is called with arrays alone
    return list(roles_of(x, contexts)), list(kinds)


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
