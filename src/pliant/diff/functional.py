"""The user's function as a flat function of its active leaves, in the arrays of one system."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast, final

import numpy as np

from pliant.diff.captured import NOTHING, Outside, outside, rebound
from pliant.diff.emitted import Emitted, emit
from pliant.diff.layout import Layout, flatten, unflatten
from pliant.diff.system import Arrays, Flat, System
from pliant.diff.systems.pliant import Pliant
from pliant.errors import ArgumentError, DifferentiationError


@final
@dataclass(frozen=True)
class Template:
    """An array's shape and dtype."""

    shape: tuple[int, ...]
    dtype: Any


@final
@dataclass(frozen=True)
class Returned:
    """How what f returned is made of leaves."""

    structure: Any
    aux_structure: Any = None
    aux_statics: tuple[Any, ...] = ()
    is_aux_array: tuple[bool, ...] = ()

    @property
    def is_single(self) -> bool:
        """Whether it is one leaf."""
        return self is SINGLE or self.structure == SINGLE.structure

    def value(self, leaves: Sequence[Any]) -> Any:
        """Leaves like those of y, in y's structure."""
        return unflatten(self.structure, leaves)

    def aux(self, arrays: Sequence[Any]) -> Any:
        """The auxiliary object of one run."""
        array, static = iter(arrays), iter(self.aux_statics)
        return unflatten(self.aux_structure, [next(array if is_array else static) for is_array in self.is_aux_array])


SINGLE: Final = Returned(flatten(0.0)[1])  # one array or number


class _Local(threading.local):
    returned: Returned | None = None


@final
@dataclass(eq=False)
class Functional:
    """f for one layout and system; `y` if it fills its result."""

    f: Callable[..., Any]
    layout: Layout
    system: System
    has_aux: bool
    y: tuple[tuple[Template, ...], Any] | None = None  # leaves and structure of what f fills
    caches: tuple[Template, ...] = ()
    emitted: Emitted | None = None
    shared: Returned | None = None
    found: Outside | None = None
    local: _Local = field(default_factory=_Local)

    @functools.cached_property
    def is_plain(self) -> bool:
        """Whether f takes single arrays and numbers, and returns its value only."""
        return self.layout.is_flat and not self.has_aux and self.y is None

    @functools.cached_property
    def is_direct(self) -> bool:
        """Whether, beside that, f itself runs at every call, on NumPy's arrays, which can be made read-only."""
        able, is_numpy = self.system.abilities, self.system.namespace is np
        return self.is_plain and is_numpy and not (self.system.plain or able.is_traced) and able.mutation == "error"

    @property
    def returned(self) -> Returned:
        """How the last run (in this thread, or the one that traced) returned."""
        found = self.shared if self.system.abilities.is_traced else self.local.returned
        assert found is not None
        return found

    def on(self, system: System) -> Functional:
        """The same for another system."""
        return Functional(self.f, self.layout, system, self.has_aux, self.y, self.caches)

    def bind(self, constants: Arrays) -> Flat:
        """The flat function for these constants."""
        if self.is_direct:
            return self._single(constants)

        def flat(xs: Arrays) -> tuple[Arrays, Arrays]:
            return self._run(xs, constants)

        return flat

    def _single(self, constants: Arrays) -> Flat:
        """The same with nothing taken apart, as `is_direct` says."""
        system, f, local, guard = self.system, self.f, self.local, self.system.guard
        fixed = tuple(map(guard, constants))

        def flat(xs: Arrays) -> tuple[Arrays, Arrays]:
            args = (*map(guard, xs), *fixed)
            y = system.call(f, args, args)
            if y.__class__ is np.float64 or y.__class__ is np.ndarray:
                local.returned = SINGLE
                return (y,), ()
            leaves, structure = _leaves(y)
            local.returned = Returned(structure)
            return tuple(map(self._result, leaves)), ()

        return flat

    def inputs(self, actives: Arrays, constants: Arrays) -> tuple[Arrays, Any]:
        """Constants with the arrays that f captures, and what else the program depends on."""
        reads = self.reads(actives, constants)
        return (*constants, *reads.arrays), reads.key

    def reads(self, actives: Arrays, constants: Arrays) -> Outside | Emitted:
        """What f reads from outside: the same object as long as nothing has changed."""
        if self.system.plain:
            return self._emitted(actives, constants)
        found = self.found
        if found is None or not found.holds():
            self.found = found = outside(self.f) if self.system.abilities.bakes else NOTHING
        return found

    def _emitted(self, xs: Arrays, constants: Arrays) -> Emitted:
        """The program of f, made anew when what f reads has changed; arguments are of the layout's types."""
        found = self.emitted
        if found is None or not found.holds():
            count = self.layout.roles.count("constant")
            twin, is_traced = self.on(Pliant()), self.system.abilities.is_traced
            self.emitted = found = emit(lambda xs, cs: twin.bind(cs)(xs), xs, constants[:count], is_traced=is_traced)
            self.shared = self.local.returned = twin.returned
        return found

    def _run(self, xs: Arrays, constants: Arrays) -> tuple[Arrays, Arrays]:
        system, f = self.system, self.f
        if system.plain:
            self.local.returned = self.shared
            xs = tuple([system.guard(x) for x in xs])  # results may be views of arguments
            return self._emitted(xs, constants).run(xs, constants, system.namespace, system.array)
        if system.abilities.bakes:
            count = self.layout.roles.count("constant")
            f = rebound(f, self.reads(xs, constants).arrays, constants[count:])
            constants = constants[:count]
        xs, constants = tuple([system.guard(x) for x in xs]), tuple([system.guard(c) for c in constants])
        statics = tuple(map(system.static, self.layout.statics))
        args = self.layout.arguments(xs, constants, [system.buffer(c) for c in self.caches], statics)
        if self.y is None:
            made = system.call(f, args, (*xs, *constants))
            y, aux = self._parted(made) if self.has_aux else (made, ())
            leaves, structure = _leaves(y)
        else:
            buffers = [system.buffer(t) for t in self.y[0]]
            structure = self.y[1]
            aux = system.call(f, (unflatten(structure, buffers), *args), (*xs, *constants))
            if not self.has_aux:
                _refuse_returned(aux, buffers)
            leaves = [system.read(b) for b in buffers]
        ys = tuple([self._result(leaf) for leaf in leaves])
        aux_leaves, aux_structure = flatten(aux if self.has_aux else ())
        is_array = tuple([hasattr(a, "dtype") for a in aux_leaves])
        statics = tuple([a for a, is_ in zip(aux_leaves, is_array, strict=True) if not is_])
        returned = SINGLE if self.is_plain and structure == SINGLE.structure else None
        self.shared = self.local.returned = returned or Returned(structure, aux_structure, statics, is_array)
        return ys, tuple([a for a, is_ in zip(aux_leaves, is_array, strict=True) if is_])

    def run_plainly(self, xs: Arrays, constants: Arrays) -> None:
        """Run f itself, on NumPy's arrays, which it may write."""
        caches = [np.zeros(t.shape, t.dtype) for t in self.caches]
        args = self.layout.arguments(xs, constants, caches, self.layout.statics)
        if self.y is None:
            self.f(*args)
            return
        buffers = [np.zeros(t.shape, t.dtype) for t in self.y[0]]
        self.f(unflatten(self.y[1], buffers), *args)

    def _parted(self, made: Any) -> tuple[Any, Any]:
        parts = cast("tuple[Any, ...]", made) if isinstance(made, tuple) else ()
        if len(parts) != 2:
            raise ArgumentError("has_aux=True expects a function that returns (value, aux)")
        return parts[0], parts[1]

    def _result(self, leaf: Any) -> Any:
        """A leaf of y as an array of the system."""
        if hasattr(leaf, "dtype"):
            return self.system.array(leaf)
        if isinstance(leaf, int) and not isinstance(leaf, bool):
            leaf = float(leaf)  # `return 0` in a function that is constant here
        if not isinstance(leaf, float | complex):
            raise DifferentiationError(
                f"expected a function that returns arrays, this one returns {type(leaf).__name__}"
            )
        return self.system.array(leaf)


def _refuse_returned(made: Any, buffers: Sequence[Any]) -> None:
    """ArgumentError for arrays that a function returns which is to fill others, unless it returns just these."""
    for leaf in flatten(made)[0]:
        if hasattr(leaf, "dtype") and not any([leaf is buffer for buffer in buffers]):
            raise ArgumentError(
                "y=: expected a function that fills its first argument and returns nothing, this one returns an array",
                hint="leave y= out; or write y[...] = value",
            )


def _leaves(y: Any) -> tuple[list[Any], Any]:
    """What f returned as leaves, and their structure."""
    leaves, structure = flatten(y)
    if not leaves:
        raise DifferentiationError(
            f"expected a function that returns arrays, this one returns {y!r}",
            hint="return the value; a function that fills its result is told so by y=" if y is None else "",
        )
    return leaves, structure
