"""The arguments of a call as leaves with roles, and back."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, final

import numpy as np
import optree

from pliant.active import among
from pliant.diff.contexts import Active, Cache, Constant, ConstantOrCache
from pliant.diff.system import native
from pliant.errors import ArgumentError, DifferentiationError
from pliant.frontend.attributes import attributes
from pliant.frontend.records import found_in
from pliant.frontend.reference import NAMESPACE
from pliant.frontend.signature import places, pruned, signature, unflatten

Role = Literal["active", "constant", "static", "cache"]


def flatten(tree: Any) -> tuple[list[Any], Any]:
    """Leaves of nested containers, dataclasses with arrays or floats too, and the structure."""
    leaves, structure = optree.tree_flatten(tree, _is_generator, namespace=NAMESPACE)
    return flatten(tree) if found_in(leaves) else (leaves, structure)


def _is_generator(x: Any) -> bool:
    """Whether x is what a function draws from: one object, also where traces take it apart."""
    return isinstance(x, np.random.Generator | np.random.RandomState)


def leaf_type(x: Any) -> tuple[Any, ...]:
    """What of a leaf a preparation depends on: dtype and shape; for a number its Python type."""
    dtype = getattr(x, "dtype", None)
    return (str(dtype), tuple(x.shape)) if dtype is not None else (type(x).__name__, ())


@final
@dataclass(frozen=True)
class Layout:
    """One structure per argument, one role per leaf, and the leaves that are part of the program."""

    structures: tuple[Any, ...]
    activities: tuple[str, ...]  # one per argument: how it was passed
    roles: tuple[Role, ...]
    statics: tuple[Any, ...]
    types: tuple[tuple[Any, ...], ...]  # one per leaf

    @property
    def is_single(self) -> bool:
        """Whether x is the only differentiated argument."""
        return "Active" not in self.activities

    @functools.cached_property
    def is_flat(self) -> bool:
        """Whether arguments are single arrays and numbers, differentiated or constant."""
        return (
            all([structure.is_leaf() for structure in self.structures])
            and set(self.activities) <= {"x", "Constant"}
            and not self.statics
        )

    @property
    def active_count(self) -> int:
        """How many leaves are differentiated."""
        return self.roles.count("active")

    def arguments(
        self, actives: Sequence[Any], constants: Sequence[Any], caches: Sequence[Any], statics: Sequence[Any]
    ) -> tuple[Any, ...]:
        """The arguments of f, with these leaves."""
        if self.is_flat:
            return (*actives, *constants)
        sources = {
            "active": iter(actives),
            "constant": iter(constants),
            "cache": iter(caches),
            "static": iter(statics),
        }
        leaves = [next(sources[role]) for role in self.roles]
        made: list[Any] = []
        for structure in self.structures:
            made.append(unflatten(structure, leaves[: structure.num_leaves]))
            del leaves[: structure.num_leaves]
        return tuple(made)

    def sorted(self, args: Sequence[Any]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """Active and constant leaves of the arguments that are more than memory."""
        given, roles = iter(args), iter(self.roles)
        found: dict[str, list[Any]] = {"active": [], "constant": [], "static": [], "cache": []}
        for structure, activity in zip(self.structures, self.activities, strict=True):
            leaves = [None] * structure.num_leaves if activity == "Cache" else structure.flatten_up_to(next(given))
            for leaf in leaves:
                found[next(roles)].append(leaf)
        actives = [x if hasattr(x, "dtype") else np.asarray(x)[()] for x in found["active"]]
        return tuple(actives), tuple(found["constant"])

    def active_tree(self, leaves: Sequence[Any]) -> Any:
        """Leaves like the differentiated ones, in x's structure, None for others; a tuple if there are several."""
        trees: list[Any] = []
        rest = iter(leaves)
        roles = iter(self.roles)
        for structure, activity in zip(self.structures, self.activities, strict=True):
            own = [next(roles) for _ in range(structure.num_leaves)]
            if activity in ("x", "Active"):
                trees.append(unflatten(structure, [next(rest) if role == "active" else None for role in own]))
        return trees[0] if self.is_single else tuple(trees)

    def tangent_leaves(self, tree: Any) -> list[Any]:
        """The leaves of a tangent, in whose tree anything may be where x has what is not differentiated."""
        like = self.active_tree([0.0] * self.active_count)
        return flatten(tree if self.is_flat else pruned(tree, like))[0]


@final
@dataclass(frozen=True)
class Given:
    """The leaves of one call."""

    layout: Layout
    actives: tuple[Any, ...]
    constants: tuple[Any, ...]
    caches: tuple[Any, ...]


def split(operator: str, x: Any, contexts: Sequence[Any]) -> Given:
    """The leaves of x and the contexts by role; raises where x cannot be differentiated."""
    structures: list[Any] = []
    activities: list[str] = []
    roles: list[Role] = []
    leaves: list[Any] = []
    for n, context in enumerate((x, *contexts)):
        activity, tagged, structure = _tagged(context, is_x=not structures)
        structures.append(structure)
        activities.append(activity)
        for k, (role, leaf) in enumerate(tagged):
            if role == "active" and _kind(leaf) not in ("f", "c"):
                place = places(structure, "x" if n == 0 else f"context {n}")[k]
                raise _refused(operator, leaf, place)
            fit = _fitted(role, leaf)
            if role == "constant" and not is_number(fit):
                signature(fit)  # refuses what a program cannot be kept by
                role = "static"
            roles.append(role)
            leaves.append(fit)
    by_role = {
        role: tuple(leaf for leaf, r in zip(leaves, roles, strict=True) if r == role)
        for role in ("active", "constant", "cache", "static")
    }
    types = tuple([leaf_type(leaf) for leaf in leaves])
    layout = Layout(tuple(structures), tuple(activities), tuple(roles), by_role["static"], types)
    return Given(layout, by_role["active"], by_role["constant"], by_role["cache"])


def _tagged(context: Any, *, is_x: bool) -> tuple[str, list[tuple[Role, Any]], Any]:
    """How an argument was passed, its leaves with roles, its structure."""
    if is_x:
        return "x", *_differentiated(context)
    match context:
        case Active(value):
            return "Active", *_differentiated(value)
        case Constant(value):
            leaves, structure = flatten(value)
            return "Constant", [("constant", leaf) for leaf in leaves], structure
        case Cache(value):
            leaves, structure = flatten(value)
            return "Cache", [("cache", leaf) for leaf in leaves], structure
        case ConstantOrCache(value):
            leaves, structure = flatten(value)
            return "ConstantOrCache", [_mixed(leaf) for leaf in leaves], structure
        case _:
            raise ArgumentError(
                f"expected contexts after x, got {type(context).__name__}",
                hint="wrap it: Constant(c), Cache(c), ConstantOrCache(tree) or Active(w)",
            )


def _differentiated(tree: Any) -> tuple[list[tuple[Role, Any]], Any]:
    """The leaves of what is differentiated, with roles: what cannot be, beside something that can, is constant."""
    leaves, structure = flatten(tree)
    flags = among(list(map(_kind, leaves)), structure) if len(leaves) > 1 else []
    if not any(flags):
        return [("active", leaf) for leaf in leaves], structure
    return [("active" if flag else "constant", leaf) for leaf, flag in zip(leaves, flags, strict=True)], structure


def _mixed(leaf: Any) -> tuple[Role, Any]:
    match leaf:
        case Constant(value):
            return "constant", value
        case Cache(value):
            return "cache", value
        case _:
            raise ArgumentError(f"ConstantOrCache: expected leaves Constant(c) or Cache(c), got {type(leaf).__name__}")


def is_number(x: Any) -> bool:
    """Whether a constant's leaf is a run-time value; anything else is part of the program."""
    return hasattr(x, "dtype") or (isinstance(x, int | float | complex) and not isinstance(x, bool))


def _dtype(x: Any) -> str:
    """The name of a leaf's dtype in any library, or of its class if it has none."""
    dtype = getattr(x, "dtype", type(x).__name__)
    return str(getattr(dtype, "name", dtype)).rpartition(".")[2]


def _kind(x: Any) -> str:
    """The kind of dtype of an array or number; "" of text and other objects."""
    is_number = hasattr(x, "dtype") or type(x) in (bool, int, float, complex)
    return _KINDS.get(re.split(r"[\d_]", _dtype(x))[0], "") if is_number else ""


_KINDS: Final = {"float": "f", "bfloat": "f", "complex": "c", "int": "i", "uint": "i", "bool": "b"}


def _refused(operator: str, x: Any, place: str) -> DifferentiationError:
    """The error for a leaf of x that cannot be differentiated."""
    kind, constant = _dtype(x), "pass it as Constant(...)"
    if hasattr(x, "astype"):
        hint = f"convert {place} with .astype(float), or {constant}"
    elif _kind(x):
        hint = f"pass a float{'' if hasattr(x, 'dtype') else ', as in 3.0'}, or {constant}"
    elif any([_kind(part) for part in flatten([*attributes(x).values()])[0]]):
        hint = f"make {kind} a dataclass, or pass its arrays in a dict; or {constant}"
    else:
        hint = constant
    message = f"{operator}: expected floats or complex numbers to differentiate, got {kind} for {place}"
    return DifferentiationError(message, hint=hint)


def _active(x: Any) -> Any:
    """A leaf of x: a float or complex array or scalar."""
    return np.asarray(x)[()] if type(x) in (float, complex) else x


def _cache(x: Any) -> Any:
    if not hasattr(x, "dtype") or not hasattr(x, "shape"):
        raise ArgumentError(f"Cache: expected an array, or a container of arrays; got {type(x).__name__}")
    return x


def _fitted(role: Role, x: Any) -> Any:
    """The leaf as f gets it, or the error that says why not."""
    if role == "cache":
        return _cache(x)
    return _active(native(x)) if role == "active" else native(x)
