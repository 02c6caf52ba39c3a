"""A user's function as a program that another library runs: its arguments' leaves in, what it returns out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np

from pliant.callables import function_of
from pliant.compiled import Compiled
from pliant.core.data import frozen
from pliant.core.ir import Function, Value, Values
from pliant.core.scope import scope
from pliant.errors import ArgumentError, UnsupportedError
from pliant.frontend.bounded import Bounded
from pliant.frontend.changed import Changed
from pliant.frontend.convert import as_traced
from pliant.frontend.failures import exception
from pliant.frontend.instrumented import callee
from pliant.frontend.kinds import is_of, is_traced
from pliant.frontend.outputs import Output
from pliant.frontend.printing import PRINTED
from pliant.frontend.program import Program, forms_of
from pliant.frontend.random.memory import owner_of
from pliant.frontend.shown import Cut, Window
from pliant.frontend.signature import flatten, unflatten
from pliant.frontend.tracing import current
from pliant.ops.shape import concatenate, reshape


def traceable(f: Callable[..., Any]) -> Compiled:
    """`f`, to be traced for another library: each array that it returns is one of its own, and no view."""
    function_of(f)

    def copied(*args: Any, **kwargs: Any) -> Any:
        leaves, structure = flatten(callee(f, current())(*args, **kwargs))
        return unflatten(structure, [_own(x) for x in leaves])

    copied.__name__ = getattr(f, "__name__", copied.__name__)
    return Compiled(copied, original=f)


def _own(x: Any) -> Any:
    """What is returned as an array of its own; known arrays, and numbers of NumPy's, are such too."""
    if is_of(x, np.ndarray | np.generic):
        return as_traced(np.asarray(x)).copy()
    if is_of(x, Bounded):
        return x.copy()
    return x.copy() if is_traced(x) and not (x.is_scalar or x.is_weak) else x


@final
@frozen(eq=False)
class Emission:
    """A traced function.

    fn: the program, whose results are those that `outputs` number; then, of a function that raises, the number of the
    exception; then how often it has printed.
    """

    program: Program
    fn: Function
    outputs: tuple[Output, ...]
    failed: int | None

    def holds(self) -> bool:
        """Whether what the function reads from outside is as it was traced."""
        return self.program.guards.hold() and forms_of(self.program.captured) == self.program.forms

    def arguments(self, leaves: Sequence[Any]) -> list[Any]:
        """What the parameters are given: leaves of the arguments, then arrays from outside, which are NumPy's."""
        program = self.program
        outside = [g.flat([*leaves, *program.met]) for g in program.groups]
        return [*(leaves[n] for n in program.leaves), *outside, *program.captured]

    def check(self, code: Any) -> None:
        """Raise what the function raises: the exception of the first number that is not 0."""
        if code:
            failures: Sequence[tuple[BaseException, Any]] = self.program.failures
            raise exception(*failures[int(code) - 1])

    def returned(self, leaves: Sequence[Any], results: Sequence[Any]) -> Any:
        """What the function returns, of its arguments' leaves and the program's results."""
        made = list[Any]()
        for o in self.outputs:
            made.append(made[o.place] if o.kind == "same" else _made(o, leaves, results))
        return unflatten(self.program.structure, made)


def _made(output: Output, leaves: Sequence[Any], results: Sequence[Any]) -> Any:
    """One leaf of what is returned."""
    place = output.place
    if output.kind == "leaf":
        return leaves[place]
    if output.kind == "either":
        return _made(output.alternatives[int(results[place])], leaves, results)
    if output.kind != "array":
        return place
    made = results[place]
    for cut in output.lenses:
        assert isinstance(cut, Cut)
        made = made[tuple([slice(None if n is None else _number(results[n])) for n in cut.counts])]
    return made


def _number(x: Any) -> int:
    """A length that is known after the call; in a batch it may differ between problems."""
    try:
        return int(x)
    except RuntimeError:  # PyTorch's, of a tensor that stands for those of a batch
        raise ArgumentError(
            "the length of what is returned depends on the numbers, so it may differ between the problems of a batch",
            hint="return an array of a fixed shape, as of np.where, or call it for each problem",
        ) from None


def emission(compiled: Compiled, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Emission:
    """The program of a function for arguments like these, which are NumPy's; what it sets outside is no result."""
    program, _ = compiled.program_and_arrays(args, kwargs, is_for_all=True)
    if program.changed is not None and _changes(program.changed, compiled, compiled.flattened(args, kwargs)[1]):
        raise UnsupportedError(
            f"{program.fn.name} changes containers or objects that it is given, which another library's call cannot",
            hint="return what it changes",
        )
    results, outputs = list[Value](), list[Output]()
    if any([owner_of(place) is not None for place, _ in program.written]):
        raise UnsupportedError(
            f"{program.fn.name} changes what is outside of it: a generator of random numbers",
            hint="draw outside, and pass the numbers",
        )
    with scope():
        for o in program.outputs:
            outputs.append(_plain(o, program, results))
        failed = None if program.failed is None else len(results)
        old: Values = program.fn.results
        results += [] if program.failed is None else [old[program.failed]]
        results += [old[number] for place, number in program.written if place is PRINTED]
        fn = Function(program.fn.name, program.fn.params, tuple(results))
    has_arrays = any([o.kind in ("array", "either", "leaf") for o in outputs])
    if (program.written or program.changed is not None) and not has_arrays:
        raise ArgumentError(
            f"{program.fn.name} returns no arrays, and what it writes into arguments, or sets outside, stays inside",
            hint="return the arrays that it writes",
        )
    return Emission(program, fn, tuple(outputs), failed)


def _changes(changed: Changed, compiled: Compiled, structure: Any) -> bool:
    """Whether a function changes containers that it is given; others of a structure, the first, are from outside."""
    taken, parts = len(compiled.objects.taken), list[Any]()
    before = [Output("leaf", n) for n in range(structure.num_leaves)]
    for whole, outputs in ((structure, before), (changed.structure, changed.outputs[: changed.structure.num_leaves])):
        args, kwargs = unflatten(whole, list(outputs))
        parts.append(flatten((args[taken:], kwargs)))
    return parts[0] != parts[1]


def _plain(output: Output, program: Program, results: list[Value]) -> Output:
    """The output as a result of its own, added to the results, which no view is to be taken of any more."""
    old: Values = program.fn.results
    if output.kind == "either":
        results.append(old[int(output.place)])
        place = len(results) - 1
        sides = tuple([_plain(o, program, results) for o in output.alternatives])
        return Output("either", place, (), output.type, sides)
    if output.kind in ("leaf", "same", "static", "fresh"):
        return output
    if output.kind in ("container", "kept"):
        raise UnsupportedError(
            f"{program.fn.name} returns a container that it is given", hint="return a new one, as list(x) or dict(x)"
        )
    if output.kind == "spread":
        raise UnsupportedError(
            f"{program.fn.name} returns a list of which it is known only at run time how many elements it has",
            hint="return an array, np.array(out), or one of known size and the count",
        )
    if output.kind == "source":
        raise UnsupportedError(f"{program.fn.name} returns a view of an argument", hint="return a copy")
    value = _packed(program, output.place) if output.kind == "packed" else old[int(output.place)]
    cuts = list[Cut]()
    for lens in output.lenses:
        if isinstance(lens, Cut):
            counts = list[int | None]()
            for n in lens.counts:
                counts.append(None if n is None else len(results))
                results += [] if n is None else [old[int(n)]]
            cuts.append(Cut(tuple(counts)))
        else:
            assert not isinstance(lens, Window) and not cuts
            value = lens.get(value)
    results.append(value)
    return Output("array", len(results) - 1, tuple(cuts), output.type)


def _packed(program: Program, place: int) -> Value:
    """A vector that is made of several results."""
    parts = [program.fn.results[n] for n in program.packs[-1 - place].numbers]
    return concatenate(tuple([reshape(p, (p.type.size,)) for p in parts]), 0)
