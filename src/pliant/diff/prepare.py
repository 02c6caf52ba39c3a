"""What can be done once for many calls: the program of an operator for arguments of one signature."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any, Final, Literal, cast, final

import numpy as np

from pliant.diff import programs
from pliant.diff.contexts import Constant
from pliant.diff.functional import Functional, Template
from pliant.diff.layout import Given, Layout, flatten, leaf_type, split
from pliant.diff.second_order import parts_of
from pliant.diff.sparse import Sparse, sparse_program
from pliant.diff.sparsity import Sparsity
from pliant.diff.system import Arrays, System, is_sparse
from pliant.diff.systems.pliant import NestedError
from pliant.errors import ArgumentError, PreparationError, ShapeError


@final
@dataclass(frozen=True)
class Operator:
    """One operator as data: what its seeds are like, and what the parts of its program are trees of.

    results: y and x for a tree of that structure, yx and xx for trees of trees, … for one per seed.
    """

    name: str
    order: int
    is_forward: bool
    seeds: Literal["", "x", "y"]
    results: tuple[str, ...]
    program: Callable[..., Any]
    fills: bool = True  # takes functions that fill y


OPERATORS: Final = {
    operator.name: operator
    for operator in (
        Operator("pushforward", 1, True, "x", ("y…",), programs.pushforward),
        Operator("pullback", 1, False, "y", ("x…",), programs.pullback),
        Operator("derivative", 1, True, "", ("y",), programs.derivative),
        Operator("gradient", 1, False, "", ("x",), programs.gradient, fills=False),
        Operator("jacobian", 1, False, "", ("yx",), programs.jacobian),
        Operator("second_derivative", 2, True, "", ("y", "y"), programs.second_derivative, fills=False),
        Operator("hvp", 2, True, "x", ("x", "x…"), programs.hvp, fills=False),
        Operator("hessian", 2, True, "", ("x", "xx"), programs.hessian, fills=False),
    )
}


@final
@dataclass(frozen=True)
class Call:
    """The arguments of an operator, taken apart."""

    operator: Operator
    f: Callable[..., Any]
    system: Any
    given: Given
    seeds: tuple[Arrays, ...]
    y: Any
    has_aux: bool

    @property
    def signature(self) -> Signature:
        """What a preparation for it depends on."""
        seeds = tuple([tuple([leaf_type(leaf) for leaf in seed]) for seed in self.seeds])
        y = None if self.y is None else tuple([leaf_type(leaf) for leaf in flatten(self.y)[0]])
        return Signature(self.operator.name, self.system, self.has_aux, self.given.layout, seeds, y)


def call(operator: str, f: Any, system: Any, x: Any, t: Any, contexts: Sequence[Any], y: Any, has_aux: bool) -> Call:
    """Check and take apart what an operator was given."""
    spec = OPERATORS[operator]
    if not callable(f):
        raise ArgumentError(f"{operator}: expected a function first, got {type(f).__name__}")
    if not hasattr(system, "name"):
        raise ArgumentError(
            f"{operator}: expected a system after f, got {type(system).__name__}", hint="for example Pliant()"
        )
    if y is not None and not spec.fills:
        raise ArgumentError(f"{operator}: takes no y=: the function must return one number")
    given = split(x, contexts)
    seeds = _tuple(t) if spec.seeds else ()
    if spec.seeds and not seeds:
        raise ArgumentError(
            f"{operator}: expected a tuple of seeds, got {type(t).__name__}", hint="one seed t is the tuple (t,)"
        )
    return Call(spec, f, system, given, tuple([_seed(seed, given, spec, operator) for seed in seeds]), y, has_aux)


def _tuple(t: Any) -> tuple[Any, ...]:
    return cast("tuple[Any, ...]", t) if isinstance(t, tuple) else ()


def _seed(seed: Any, given: Given, spec: Operator, name: str) -> Arrays:
    """The leaves of one seed, like those of x where it belongs to x."""
    leaves = [
        leaf if hasattr(leaf, "dtype") else np.asarray(leaf, float if type(leaf) is int else None)[()]
        for leaf in flatten(seed)[0]
    ]
    if spec.seeds == "y":
        return tuple(leaves)
    if [tuple(leaf.shape) for leaf in leaves] != [tuple(x.shape) for x in given.actives]:
        shapes = [", ".join(str(list(a.shape)) for a in arrays) for arrays in (leaves, given.actives)]
        raise ShapeError(f"{name}: the tangent has shape {shapes[0]}, x has {shapes[1]}")
    return tuple([
        leaf if str(leaf.dtype) == str(x.dtype) or not hasattr(leaf, "astype") else leaf.astype(x.dtype)
        for leaf, x in zip(leaves, given.actives, strict=True)
    ])  # fmt: skip


@final
@dataclass(frozen=True)
class Signature:
    """What a preparation was made for, but the function."""

    operator: str
    system: Any
    has_aux: bool
    layout: Layout
    seeds: tuple[Any, ...]
    y: tuple[Any, ...] | None

    def table(self) -> dict[str, str]:
        """One readable line per part."""
        types = iter(zip(self.layout.roles, self.layout.types, strict=True))
        lines = {"operator": self.operator, "system": repr(self.system), "has_aux": str(self.has_aux)}
        for n, (structure, activity) in enumerate(zip(self.layout.structures, self.layout.activities, strict=True)):
            leaves = [next(types) for _ in range(structure.num_leaves)]
            text = ", ".join(f"{dtype}{list(shape)}" for _, (dtype, shape) in leaves)
            text = text if structure.is_leaf() else f"{text} in {structure}"
            lines["x" if n == 0 else f"context {n}"] = text if n == 0 else f"{activity}: {text}"
        if self.layout.statics:
            lines["static values"] = ", ".join(map(repr, self.layout.statics))
        for n, seed in enumerate(self.seeds):
            lines[f"seed {n + 1}"] = ", ".join(f"{dtype}{list(shape)}" for dtype, shape in seed)
        if self.y is not None:
            lines["y"] = ", ".join(f"{dtype}{list(shape)}" for dtype, shape in self.y)
        return lines


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
    on_mismatch: Literal["error", "reprepare"] = "error"
    sparsity: Sparsity | None = None
    program: programs.Program | None = field(default=None, repr=False)
    others: list[Prep] = field(default_factory=list["Prep"], repr=False)  # made by on_mismatch="reprepare"

    @property
    def f(self) -> Callable[..., Any]:
        """The function it was made for."""
        return self.functional.f

    @functools.cached_property
    def direct(self) -> Callable[..., Any] | None:
        """`(x, *constants) -> (y, derivative)` where arguments and results are arrays and no more."""
        make, signature, layout = getattr(self.outer, "direct", None), self.signature, self.signature.layout
        is_flat = all([s.is_leaf() for s in layout.structures]) and set(layout.activities) <= {"x", "Constant"}
        if make is None or self.program is None or not is_flat or layout.statics or not layout.types[0][1]:
            return None
        is_plain = not signature.seeds and not signature.has_aux and signature.y is None
        return make(self.program, self._returns_array) if is_plain else None

    def _returns_array(self) -> bool:
        return self.functional.returned.structure.is_leaf()

    def _directly(self, x: Any, constants: Sequence[Any]) -> Any:
        """(y, derivative), or None if there is no direct way."""
        direct = self.direct
        if direct is None or type(x) is not np.ndarray:
            return None
        try:
            return direct(x, *constants)
        except NestedError:
            self.__dict__["direct"] = None
            return None

    def quick(self, f: Any, system: Any, x: Any, contexts: Sequence[Any]) -> Any:
        """(y, derivative) for a call that plainly is the prepared one; None if a closer look is due."""
        signature = self.signature
        if f is not self.f or type(x) is not np.ndarray or len(contexts) + 1 != len(signature.layout.types):
            return None
        if system is not signature.system and system != signature.system:
            return None
        kinds, shapes = self._types
        constants: list[Any] = [x]
        for context in contexts:
            if type(context) is not Constant:
                return None
            constants.append(context.value)
        for value, kind, shape in zip(constants, kinds, shapes, strict=True):
            if (value.dtype != kind or value.shape != shape) if type(value) is np.ndarray else type(value) is not kind:
                return None
        return self._directly(x, constants[1:])

    @functools.cached_property
    def _types(self) -> tuple[list[Any], list[Any]]:
        """A NumPy dtype, or a Python type, and a shape for each leaf."""
        numbers = {"float": float, "int": int, "complex": complex}
        types = self.signature.layout.types
        return [numbers.get(name) or np.dtype(name) for name, _ in types], [shape for _, shape in types]

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

    def _trees(self, parts: Sequence[Any]) -> tuple[Any, ...]:
        """Each part in the structure it belongs to; the last kind takes all that is left."""
        layout = self.signature.layout
        trees = {"y": self.functional.returned.value, "x": layout.active_tree}
        made: list[Any] = []
        for n, kind in enumerate(OPERATORS[self.signature.operator].results):
            if kind.endswith("…"):
                made.append(tuple([trees[kind[0]](part) for part in parts[n:]]))
            elif len(kind) == 2:
                count, leaves = layout.active_count, parts[n]
                blocks = [trees[kind[1]](leaves[i : i + count]) for i in range(0, len(leaves), count)]
                made.append(trees[kind[0]](blocks))
            else:
                made.append(trees[kind](parts[n]))
        return tuple(made)

    def checked(self, of: Call) -> Prep:
        """This preparation, or one made for the call; PreparationError if it does not fit."""
        signature = of.signature
        if of.f is self.f and signature == self.signature:
            return self
        if self.on_mismatch == "reprepare" and of.f is self.f:
            for prep in self.others:
                if prep.signature == signature:
                    return prep
            made = prepare(of)
            self.others[:] = [made, *self.others][:8]
            return made
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


def prepare(of: Call, on_mismatch: Literal["error", "reprepare"] = "error") -> Prep:
    """The program of an operator. f is not run here, and no value is looked at."""
    if on_mismatch not in ("error", "reprepare"):
        raise ArgumentError(f"on_mismatch: expected 'error' or 'reprepare', got {on_mismatch!r}")
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
        return Prep(of.signature, made.functional, made.outer, made.run, on_mismatch, made.sparsity)
    functional = functional_of(inner)
    program = spec.program(outer, functional) if spec.order == 1 else spec.program(outer, inner, functional)
    return Prep(of.signature, functional, outer, outer.compile(program), on_mismatch, program=program)


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
