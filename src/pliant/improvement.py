"""`optimize`: the same function by the cheapest program that rules find, by all of them at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Final, ParamSpec, TypeVar, cast, final, overload

from pliant import ops
from pliant.backends import backend_named
from pliant.cached import kept
from pliant.callables import function_of
from pliant.compiled import DEFAULT_BACKEND, Compiled
from pliant.core.build import told
from pliant.core.data import frozen
from pliant.core.ir import Function
from pliant.core.origin import here
from pliant.errors import ArgumentError, ContradictionError, DomainError
from pliant.frontend.closed import close
from pliant.frontend.failures import note
from pliant.frontend.tracing import current
from pliant.literals import written
from pliant.rewrite.explain import Log
from pliant.rewrite.rule import Rule

P = ParamSpec("P")
R = TypeVar("R")

RULES: Final[tuple[Rule, ...]] = (*ops.RULES, *ops.EQUALITIES)
"""All rules: those that every compilation applies, which never lose accuracy; and equalities of real numbers, which may
round otherwise."""


@final
@frozen
class Improvement:
    """What `optimize` does to a program."""

    rules: tuple[Rule, ...]
    memory: int | None
    terms: int | None

    def __call__(self, fn: Function, log: Log) -> Function:
        """The best of what the rules find, of which the program itself is one."""
        from pliant.kernel.price import price
        from pliant.pipeline import BEFORE_SEARCH, fold, optimise, run_passes
        from pliant.rewrite.search import Search

        start = told(run_passes(BEFORE_SEARCH, fn, log), fn.params)
        more: Any = {"written": written} if any([r.pattern is not None for r in self.rules]) else {}
        search = Search(self.rules, price, fold, log, terms=self.terms, **more)
        try:
            programs = search.programs(start, bounds=self.memory is not None)
        except ContradictionError:
            if not {*self.rules} <= {*RULES}:
                raise
            programs = list[Function]()  # numbers were rounded so that ours contradict each other
        found = list(dict.fromkeys([start, *programs]))
        backend: Any = backend_named(DEFAULT_BACKEND)
        costs: list[tuple[float, int]] = [backend.estimate(optimise(program)) for program in found]
        fit = [n for n, (_, bytes) in enumerate(costs) if self.memory is None or bytes <= self.memory]
        if not fit:
            least = min([bytes for _, bytes in costs])
            raise DomainError(
                f"{fn.name}: no program that was found keeps its temporary arrays within {self.memory:,} bytes",
                hint=f"the least that one takes is {least:,} bytes",
            ).at(("here", here()))
        best = min(fit, key=lambda n: costs[n][0])
        log.notes.append(
            f"{search.report}; by the model {costs[0][0] * 1e6:.3g} µs → {costs[best][0] * 1e6:.3g} µs, "
            f"{costs[0][1]:,} → {costs[best][1]:,} bytes of temporary arrays"
        )
        return found[best]


@overload
def optimize(
    f: Callable[P, R], rules: Sequence[Rule] = RULES, *, memory: int | None = None, terms: int | None = None
) -> Callable[P, R]: ...


@overload
def optimize(
    f: None = None, rules: Sequence[Rule] = RULES, *, memory: int | None = None, terms: int | None = None
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...


def optimize(
    f: Any = None, rules: Sequence[Rule] = RULES, *, memory: int | None = None, terms: int | None = None
) -> Any:
    """`f`, compiled from the cheapest program that `rules` show to be equal.

    f: a function as for `jit`, or what `grad`, `vmap` and the like return, which is then optimised as a whole. Inside
    another transformation, as in `pliant.grad(pliant.optimize(f))`, what is differentiated is the program found.
    rules: all are applied at once, to every form that they find, so their order does not matter; by default
    `pliant.RULES`, to which `rules=pliant.RULES + (mine,)` adds one made by `pliant.rule`. They hold over the real
    numbers; floats may round otherwise. memory: bytes that temporary arrays may take. terms: of the e-graph, by default
    10 for each operation and 400 more, 30,000 at most: a limit on the time that the search takes.
    Raises DomainError if no program keeps within `memory`. `explain` tells what was found.

    Without f it is a decorator: `@pliant.optimize(memory=1_000_000)`.

    >>> import numpy as np, pliant
    >>> def f(A, B, v):
    ...     return A @ B @ v                    # two products of matrices with a vector are cheaper
    >>> A, v = np.eye(300), np.arange(300.0)
    >>> print(pliant.explain(pliant.optimize(f), A, A, v).search)
    e-graphs: 1, ...
    """
    chosen = _rules(rules)
    for name, given in (("memory", memory), ("terms", terms)):
        if given is not None and (not isinstance(cast("Any", given), int) or isinstance(given, bool) or given < 1):
            raise ArgumentError(f"optimize: {name}= takes a whole number from 1 on, got {given!r}")
    if f is None:
        return partial(optimize, rules=chosen, memory=memory, terms=terms)
    improvement = Improvement(chosen, memory, terms)

    def region(*args: Any, **kwargs: Any) -> Any:
        xs, closed = close(f, args, kwargs, may_raise=True, may_draw=True, may_write=True)
        given = [x.value for x in xs]
        operands = (*given, *closed.free)
        if closed.failing is not None:
            for number in closed.failing(*operands):
                note(number)
        log = Log()
        made = improvement(told(closed.fn, operands), log)(*operands)
        current().outermost.found.append(log)
        closed.drawn_by(given)
        return closed.rebuild(made)

    again = partial(optimize, f, chosen, memory=memory, terms=terms)
    given = function_of(f)
    make = partial(Compiled, given, original=f, again=again, plain=f, improve=improvement, inside=region)
    return kept(given, ("optimize", chosen, memory, terms), make)


def _rules(given: Any) -> tuple[Rule, ...]:
    """Rules as a tuple."""
    several = () if isinstance(given, Rule) or not isinstance(given, Iterable) else cast("Iterable[Any]", given)
    rules = tuple(several)
    wrong = [r for r in rules if not isinstance(r, Rule)] or ([] if several is given else [given])
    if wrong:
        named = "one" if isinstance(wrong[0], Rule) else type(wrong[0]).__name__
        raise ArgumentError(
            f"optimize: expected rules, got {named}",
            hint="@pliant.rule makes one of an equation; rules=pliant.RULES + (mine,)",
        )
    return rules
