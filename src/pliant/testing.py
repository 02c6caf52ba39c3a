"""Checks that every primitive, rewrite rule and gradient must pass; public, for users' own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any, TypeAlias, cast, final

import numpy as np
import optree
from numpy.testing import assert_allclose, assert_array_equal

from pliant.api import grad
from pliant.core.build import hint_of, trace
from pliant.core.ir import Function, Op, Pattern, Tangents, Value, Values, param, substitute
from pliant.core.parse import parse
from pliant.core.scope import scope
from pliant.core.types import DTYPES, SHORT, Type
from pliant.core.verify import verify
from pliant.ops import ALL
from pliant.ops import RULES as ALL_RULES
from pliant.rewrite.engine import simplify
from pliant.rewrite.explain import Log
from pliant.rewrite.rule import Rule
from pliant.transforms import evaluate as evaluation
from pliant.transforms.jvp import instantiate, jvp
from pliant.transforms.transpose import vjp
from pliant.transforms.vmap import vmap

Array: TypeAlias = Any
Arrays: TypeAlias = "tuple[Array, ...]"
Draw: TypeAlias = Callable[[np.random.Generator], Sequence[Array]]

BATCH = 3  # problems stacked when batching is checked
STEP = 2e-3  # of differences; their error is about STEP⁴ times the fifth derivative


def check_primitive(
    op: Op,
    *types: Type,
    low: float = -2.0,
    high: float = 2.0,
    draw: Draw | None = None,
    oracle: Callable[..., Any] | None = None,
    derivatives: bool = True,
    rtol: float = 1e-6,
    atol: float = 1e-8,
    seed: int = 0,
) -> None:
    """Check every law a primitive must obey, on operands of `types`.

    Operands are drawn from [low, high), or by `draw(generator)`. With an `oracle`, a function of
    the same arrays, the values must be those it returns. Then: the text parses back, `array`
    agrees with `expand`, tangents agree with differences, cotangents with tangents, second
    derivatives with differences of first ones, and a batch with a Python loop.
    Raises AssertionError naming the law that fails.
    """
    check = _Check(op, types, draw or (lambda rng: [sample(rng, t, low, high) for t in types]), rtol, atol, seed)
    check.values(oracle)
    check.text()
    check.expansion()
    check.batches()
    if derivatives and any(t.is_float for t in types) and any(r.type.is_float for r in check.fn.results):
        check.tangents()
        check.cotangents()
        check.second_derivatives()


def check_rule(
    rule: Rule,
    *types: Type,
    program: Callable[..., Any] | None = None,
    rules: Sequence[Rule] | None = None,
    low: float = 0.5,
    high: float = 2.0,
    rtol: float = 1e-12,
    seed: int = 0,
) -> None:
    """Check that a rule is true and that it fires inside `rules`, by default `pliant.ops.RULES`.

    An equation is tried on operands of `types` drawn from [low, high); a rule made by `rewrite`
    needs a `program` for it to change. Exact rules are also tried on zeros of both signs,
    infinities, NaN and extreme numbers, and must give the same bits but for NaN's.
    Raises AssertionError, with the rule's nearest miss if it does not fire.
    """
    rules = (*(ALL_RULES if rules is None else rules),)
    rules = rules if rule in rules else (*rules, rule)
    sides = rule.sides
    if program is None:
        assert sides is not None, f"{rule.name}: a rule made by `rewrite` needs a program to change"
        named = sorted(holes(rule.left))
        assert len(types) == len(named), f"{rule.name}: give a Type for each of {', '.join(named)}; got {len(types)}"

    def left(*xs: Any) -> Any:
        both = cast("Any", sides)(*xs)
        assert both, f"{rule.name} says nothing about values of the types {', '.join(map(str, types))}"
        return both[0]

    before = verify(trace(program or left, *types))
    log = Log()
    after = verify(once(before, rule, log) if rule.grows else simplify(before, (rule,), log=log))
    assert log.fired[rule.name], f"{rule.name} does not fire alone: {rule.explain(before.results)}"
    rng = np.random.default_rng(seed)
    xs = tuple(sample(rng, t, low, high) for t in types)
    for y, z in zip(run(before, xs), run(after, xs), strict=True):
        assert_allclose(y, z, rtol=rtol if rule.level != "exact" else 0, err_msg=rule.name)
    if rule.level == "exact":
        assert_exact(rule.name, before, after, [special(rng, t) for t in types])
    if rule.grows:
        return  # it is applied by an e-graph, where no rule comes before another
    together = Log()
    simplify(before, [r for r in rules if not r.grows], log=together)
    assert together.fired[rule.name], f"{rule.name} never fires: others come first: {together}"


def holes(pattern: Any) -> set[str]:
    """The names of what a pattern leaves open."""
    if not isinstance(pattern, Pattern):
        return set()
    if isinstance(pattern.op, str):
        return {pattern.op} if pattern.op.isidentifier() else set()  # others are numbers that depend on extents
    return {name for arg in pattern.args for name in holes(arg)}


def once(fn: Function, rule: Rule, log: Log) -> Function:
    """`fn` with a rule applied to the last value that it fits, once."""
    with scope():
        params = tuple([param(p.type, hint_of(p)) for p in fn.params])
        here = Function(fn.name, params, fn(*params))
        for value in [v for node in reversed(here.nodes) for v in node.values]:
            new = rule.apply(value) if isinstance(value.op, rule.root) else None
            if new is not None:
                log.record(rule.name, value.origin)
                return Function(
                    fn.name, params, substitute(here.results, new if isinstance(new, dict) else {value: new})
                )
    return fn


def check_gradient(
    f: Callable[..., Any],
    *args: Any,
    argnums: int = 0,
    rtol: float = 1e-6,
    atol: float = 1e-8,
    directions: int = 3,
    seed: int = 0,
) -> None:
    """Check `pliant.grad(f, argnums)` against differences of `f` run by NumPy itself.

    f: a function of arrays and containers of them that returns one real float; it may write its
    arguments. The gradient is compared along a few random directions, so this costs a few calls.
    The arrays must be of double precision. Raises AssertionError where the derivatives differ.

    >>> check_gradient(lambda x: np.sum(np.sin(x) * x), np.array([0.3, 1.2]))
    """
    rng = np.random.default_rng(seed)
    leaves, structure = optree.tree_flatten(args[argnums])
    slope, _ = optree.tree_flatten(grad(f, argnums)(*copies(args)))
    xs = tuple(np.asarray(x) for x in leaves)

    def line(*moved: Array) -> Arrays:
        full = [*args]
        full[argnums] = optree.tree_unflatten(structure, moved)
        with np.errstate(all="ignore"):
            return (np.asarray(f(*copies(full))),)

    for _ in range(directions):
        dxs = tuple(sample(rng, Type(SHORT[str(x.dtype)], x.shape), -1, 1) for x in xs)
        (wanted,) = differences(line, xs, dxs, (True,) * len(xs))
        got = inner(slope, dxs)
        assert_allclose(got, wanted, rtol=rtol, atol=atol, err_msg="gradient against differences, along a direction")


def copies(args: Sequence[Any]) -> Any:
    """The arguments with copies of all arrays, which a function may write."""

    def copied(x: Any) -> Any:
        return cast("Array", x).copy() if isinstance(x, np.ndarray) else x

    return optree.tree_map(copied, cast("Any", tuple(args)))


def assert_exact(name: str, before: Function, after: Function, xs: Sequence[Array]) -> None:
    """Same numbers, and same signs of zeros, on special operands."""
    for y, z in zip(run(before, xs), run(after, xs), strict=True):
        assert_array_equal(y, z, err_msg=f"{name} on special numbers")
        if np.issubdtype(y.dtype, np.floating):
            assert_array_equal(np.signbit(y) | np.isnan(y), np.signbit(z) | np.isnan(z), err_msg=f"{name}: zero signs")


def special(rng: np.random.Generator, type: Type) -> Array:
    """Zeros of both signs, infinities, NaN, extreme and usual numbers."""
    if type.kind != "f":
        return sample(rng, type, -3, 3)
    limits = np.finfo(DTYPES[type.dtype])
    numbers = [0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, np.nan, limits.tiny, limits.max]
    return rng.choice(np.asarray(numbers, DTYPES[type.dtype]), type.shape)


def sample(rng: np.random.Generator, type: Type, low: float = -2.0, high: float = 2.0) -> Array:
    """A random array of a type; whole numbers and both parts of complex ones lie in [low, high)."""
    dtype = np.dtype(DTYPES[type.dtype])
    match type.kind:
        case "b":
            return np.asarray(rng.random(type.shape) < 0.5)
        case "i" | "u":
            return np.asarray(
                rng.integers(int(max(low, 0 if type.kind == "u" else low)), int(high) + 1, type.shape)
            ).astype(dtype)
        case "c":
            return np.asarray(rng.uniform(low, high, type.shape) + 1j * rng.uniform(low, high, type.shape)).astype(
                dtype
            )
        case _:
            return np.asarray(rng.uniform(low, high, type.shape)).astype(dtype)


@final
class _Check:
    """One primitive on one choice of types."""

    def __init__(self, op: Op, types: tuple[Type, ...], draw: Draw, rtol: float, atol: float, seed: int) -> None:
        self.op, self.types, self.draw = op, types, draw
        self.rng = np.random.default_rng(seed)
        self.fn = verify(trace(op.apply, *types))
        self.rtol, self.atol = rtol, atol
        every = (*types, *(r.type for r in self.fn.results))
        self.wide = all(t.dtype in ("f64", "c128") for t in every if t.is_float)
        self.xs = tuple(self.draw(self.rng))

    def close(self, law: str, got: Sequence[Array], wanted: Sequence[Array], narrow: float = 2e-2) -> None:
        rtol, atol = (self.rtol, self.atol) if self.wide else (narrow, narrow)
        for a, b in zip(got, wanted, strict=True):
            assert_allclose(a, b, rtol=rtol, atol=atol, err_msg=f"{self.op}: {law}")

    def values(self, oracle: Callable[..., Any] | None) -> None:
        """Results have the inferred types, and the oracle's values."""
        ys = run(self.fn, self.xs)
        for y, r in zip(ys, self.fn.results, strict=True):
            assert (np.dtype(DTYPES[r.dtype]), r.shape) == (y.dtype, y.shape), (
                f"{self.op} made {y.dtype}{y.shape} for {r.type}"
            )
        if oracle is not None:
            with np.errstate(all="ignore"):
                wanted = oracle(*self.xs)
            several = cast("Sequence[Array]", wanted if isinstance(wanted, tuple | list) else (wanted,))
            self.close("values against the oracle", ys, several)

    def text(self) -> None:
        """The printed function parses back."""
        ops = {**ALL, self.op.name: type(self.op)}
        assert parse(str(self.fn), ops) == self.fn, f"{self.op}: parse(print) is another function"

    def expansion(self) -> None:
        """`array` and `expand` agree where both are written."""
        if self.op.has("array") and self.op.has("expand"):
            expanded = verify(trace(self.op.expand, *self.types))
            self.close("array against expand", run(expanded, self.xs), run(self.fn, self.xs))

    def batches(self) -> None:
        """A batch gives what a Python loop gives, whichever operands are stacked."""
        rows = [tuple(self.draw(self.rng)) for _ in range(BATCH)]
        for batched in product((True, False), repeat=len(self.types)):
            if not any(batched):
                continue
            mapped = verify(vmap(self.fn, BATCH, batched))
            stacked = tuple(np.stack([row[j] for row in rows]) if b else self.xs[j] for j, b in enumerate(batched))
            loop = [run(self.fn, tuple(row[j] if b else self.xs[j] for j, b in enumerate(batched))) for row in rows]
            wanted = [np.stack([np.asarray(ys[j]) for ys in loop]) for j in range(len(self.fn.results))]
            self.close(f"batch of operands {batched} against a loop", run(mapped, stacked), wanted)

    def actives(self) -> list[tuple[bool, ...]]:
        """The choices of operands to differentiate: every one alone, and all."""
        floats = [t.is_float for t in self.types]
        alone = [tuple(i == j for i in range(len(floats))) for j, f in enumerate(floats) if f]
        return [*alone, tuple(floats)] if sum(floats) > 1 else alone

    def directions(self, active: tuple[bool, ...]) -> Arrays:
        """A random tangent for each active operand."""
        return tuple(sample(self.rng, t, -1, 1) for t, a in zip(self.types, active, strict=True) if a)

    def tangents(self) -> None:
        """Tangents are what differences say."""
        for active in self.actives():
            forward = verify(jvp(self.fn, active))
            dxs = self.directions(active)
            got = run(forward, (*self.xs, *dxs))[len(self.fn.results) :]
            if self.wide:
                wanted = differences(lambda *xs: floats(run(self.fn, xs)), self.xs, dxs, active)
                self.close(f"tangents of operands {active} against differences", got, wanted)

    def cotangents(self) -> None:
        """⟨ct, J dx⟩ = ⟨Jᵀ ct, dx⟩."""
        for active in self.actives():
            dxs = self.directions(active)
            cts = tuple(sample(self.rng, r.type, -1, 1) for r in self.fn.results if r.type.is_float)
            dys = run(jvp(self.fn, active), (*self.xs, *dxs))[len(self.fn.results) :]
            back = run(reverse(self.fn, active), (*self.xs, *cts))
            self.close(f"cotangents of operands {active} against tangents", [inner(back, dxs)], [inner(cts, dys)])

    def second_derivatives(self) -> None:
        """Tangents of the cotangents are what differences say."""
        (active,) = self.actives()[-1:]
        backward = verify(reverse(self.fn, active))
        cts = tuple(sample(self.rng, r.type, -1, 1) for r in self.fn.results if r.type.is_float)
        dxs = self.directions(active)
        twice = verify(jvp(backward, (*active, *(False for _ in cts))))
        count = len(backward.results)
        got = run(twice, (*self.xs, *cts, *dxs))[count:]
        if self.wide:
            wanted = differences(lambda *xs: run(backward, (*xs, *cts)), self.xs, dxs, active)
            self.close("second derivatives against differences", got, wanted, narrow=1e-1)


def run(fn: Function, xs: Sequence[Array]) -> Arrays:
    """Results of a function by NumPy, without warnings."""
    with np.errstate(all="ignore"):
        return evaluation.evaluate(fn, tuple(xs), np)


def reverse(fn: Function, active: tuple[bool, ...]) -> Function:
    """`(x…, ct of float results…) -> (cotangent of active x…)`."""

    def pulled(*args: Value) -> Values:
        xs, rest = args[: len(active)], iter(args[len(active) :])
        cts: Tangents = tuple(next(rest) if r.type.is_float else None for r in fn.results)
        _, back = vjp(fn, xs, cts, active)
        return tuple(b for b, a in zip(instantiate(xs, back), active, strict=True) if a)

    types = [p.type for p in fn.params]
    return trace(pulled, *types, *(r.type for r in fn.results if r.type.is_float))


def differences(f: Callable[..., Arrays], xs: Arrays, dxs: Arrays, active: tuple[bool, ...]) -> Arrays:
    """The derivative of `f` at `xs` along `dxs`, from five points on a line."""
    steps = iter(dxs)
    full = [next(steps) if a else None for a in active]

    def at(t: float) -> Arrays:
        return f(*(x if d is None else np.asarray(x + t * d) for x, d in zip(xs, full, strict=True)))

    points = [at(t * STEP) for t in (-2, -1, 1, 2)]
    return tuple((a - 8 * b + 8 * c - d) / (12 * STEP) for a, b, c, d in zip(*points, strict=True))


def floats(ys: Arrays) -> Arrays:
    """The results that have derivatives."""
    return tuple(y for y in ys if np.issubdtype(y.dtype, np.inexact))


def inner(xs: Sequence[Array], ys: Sequence[Array]) -> float:
    """Re⟨x, y⟩, summed over the arrays, in double precision."""
    return sum(float(np.vdot(np.asarray(x, complex), np.asarray(y, complex)).real) for x, y in zip(xs, ys, strict=True))


__all__ = ["check_gradient", "check_primitive", "check_rule", "sample"]
