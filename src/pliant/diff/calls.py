"""The call of an operator, taken apart: its leaves by role, and the signature that it has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, cast, final

import numpy as np

from pliant.diff import programs
from pliant.diff.layout import Given, Layout, flatten, leaf_type, split
from pliant.diff.system import Arrays, dtype_name
from pliant.errors import ArgumentError


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
    args: tuple[Any, ...]  # x and contexts, as they were given
    trees: tuple[Any, ...]  # the seeds as well

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
    if not hasattr(system, "name") or isinstance(system, type):
        given = f"the class {system.__name__}" if isinstance(system, type) else type(system).__name__
        raise ArgumentError(f"{operator}: expected a system after f, got {given}", hint="for example Pliant()")
    if y is not None and not spec.fills:
        raise ArgumentError(f"{operator}: takes no y=: the function must return one number")
    given = split(operator, x, contexts)
    if not given.layout.is_single and "x" not in spec.seeds + "".join(spec.results):
        raise ArgumentError(
            f"{operator}: differentiates by one number, x, and takes no Active",
            hint="pass it as a Constant, or use jacobian, whose results are tuples then",
        )
    seeds = _tuple(t) if spec.seeds else ()
    if spec.seeds and not seeds:
        got = "an empty one" if isinstance(t, tuple) else type(t).__name__
        raise ArgumentError(f"{operator}: expected a tuple of seeds, got {got}", hint="one seed t is the tuple (t,)")
    leaves = tuple([_seed(seed, given, spec, operator) for seed in seeds])
    return Call(spec, f, system, given, leaves, y, has_aux, (x, *contexts), seeds)


def _tuple(t: Any) -> tuple[Any, ...]:
    return cast("tuple[Any, ...]", t) if isinstance(t, tuple) else ()


def seed_leaves(seed: Any, layout: Layout, spec: Operator) -> Arrays:
    """The leaves of one seed as they are given, numbers as arrays."""
    leaves = layout.tangent_leaves(seed) if spec.seeds == "x" else flatten(seed)[0]
    return tuple([
        leaf if hasattr(leaf, "dtype") else np.asarray(leaf, float if type(leaf) is int else None)[()]
        for leaf in leaves
    ])  # fmt: skip


def _seed(seed: Any, given: Given, spec: Operator, name: str) -> Arrays:
    """The leaves of one seed, like those of x where it belongs to x."""
    leaves = seed_leaves(seed, given.layout, spec)
    if spec.seeds == "y":
        return leaves
    programs.refuse_shapes(leaves, given.actives, f"{name}: the tangent", "x has")
    programs.refuse_complex(leaves, given.actives, f"{name}: the tangent", "x")
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


def converted_call(of: Call, wanted: Signature) -> Call | None:
    """The call with its leaves in the dtypes of a signature, if nothing is lost by that; else None."""
    theirs, ours = of.signature, wanted
    layout = replace(theirs.layout, types=ours.layout.types)
    if replace(theirs, layout=layout, seeds=ours.seeds) != ours or len(of.seeds) != len(ours.seeds):
        return None
    types = iter(zip(ours.layout.roles, ours.layout.types, strict=True))
    by_role: dict[str, list[Any]] = {"active": [], "constant": [], "cache": [], "static": []}
    for role, type_ in types:
        by_role[role].append(type_)
    actives = _converted(of.given.actives, by_role["active"])
    constants = _converted(of.given.constants, by_role["constant"])
    seeds = [_converted(seed, types) for seed, types in zip(of.seeds, ours.seeds, strict=True)]
    if actives is None or constants is None or None in seeds:
        return None
    given = replace(of.given, layout=layout, actives=actives, constants=constants)
    return replace(of, given=given, seeds=cast("Any", tuple(seeds)))


def _converted(leaves: Arrays, types: Sequence[tuple[str, Any]]) -> Arrays | None:
    """The leaves in these types; None if a shape differs, or a conversion is not safe."""
    made: list[Any] = []
    for x, (name, shape) in zip(leaves, types, strict=True):
        if leaf_type(x) == (name, shape):
            made.append(x)
            continue
        number = {"float": np.float64, "int": np.int64, "complex": np.complex128}.get(name)
        wanted = np.dtype(number or name.rpartition(".")[2])
        has = np.dtype(dtype_name(x)) if hasattr(x, "dtype") else np.asarray(x).dtype
        if np.shape(x) != shape or not np.can_cast(has, wanted, "safe"):
            return None
        array = np.asarray(x, wanted)[()]
        made.append(array.item() if number else array)
    return tuple(made)
