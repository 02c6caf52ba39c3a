"""Keys of dicts and members of sets that data decide: what is returned has the numbers that they are."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pytest

import pliant
from pliant.errors import UnsupportedError

X = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
LABELS = np.array([0, 1, 2, 0, 1, 0]), np.array([2, 1, 1, 0, 2, 2]), np.array([5, 5, 5, -1, 5, 5])
SMALL = [g.astype(np.int8) for g in LABELS]


@dataclass(frozen=True)
class Pair:
    i: int
    word: str


class Held:
    def __init__(self) -> None:
        self.found: dict[Any, Any] = {}
        self.parts: list[Any] = []


def sums(x: Any, g: Any) -> Any:
    d: dict[Any, Any] = {}
    for v, k in zip(x, g, strict=True):
        d[k] = d.get(k, 0.0) + v
    return d


def groups(x: Any, g: Any) -> Any:
    d: dict[Any, list[Any]] = defaultdict(list)
    for v, k in zip(x, g, strict=True):
        d[k].append(v)
    return {k: np.mean(v) for k, v in d.items()}, d


def counts(x: Any, g: Any) -> Any:
    found: Counter[Any] = Counter(g)
    return dict(found), x * 2


def a_counter(x: Any, g: Any) -> Any:
    return Counter(g), x.sum()


def sets(x: Any, g: Any) -> Any:
    return {*g}, [frozenset(g)], x + 1


def of_python(x: Any, g: Any) -> Any:
    return {int(k): v for k, v in zip(g, x, strict=True)}, {bool(k > 0): v for k, v in zip(g, x, strict=True)}


def tuples(x: Any, g: Any) -> Any:
    d = {}
    for v, k in zip(x, g, strict=True):
        d[k, ("a", k + 1)] = v
    return [d, {"inner": d}]


def in_order(x: Any, g: Any) -> Any:
    d: OrderedDict[Any, Any] = OrderedDict()
    for v, k in zip(x, g, strict=True):
        d[k] = v
    d.move_to_end(g[0])
    return d


def by_objects(x: Any, g: Any) -> Any:
    return {Pair(k, "a"): v for k, v in zip(g, x, strict=True)}


def of_a_compiled_one(x: Any, g: Any) -> Any:
    return {k: 2 * v for k, v in pliant.jit(sums)(x, g).items()}


def plain(tree: Any) -> Any:
    """A tree with the classes of what it holds."""
    kind = cast("Any", type(tree))
    if issubclass(kind, dict):
        return kind, [(plain(k), plain(v)) for k, v in tree.items()]
    if kind in (set, frozenset):
        return kind, sorted(map(plain, tree), key=str)
    if kind in (list, tuple):
        return kind, [*map(plain, tree)]
    if kind is Pair:
        return kind, plain(tree.i), tree.word
    return kind, tree.tolist() if issubclass(kind, np.ndarray | np.generic) else tree


@pytest.mark.parametrize(
    "f", [sums, groups, counts, a_counter, sets, of_python, tuples, in_order, by_objects, of_a_compiled_one]
)
@pytest.mark.parametrize("backend", ["llvm", "reference"])
def test_keys_and_members_are_numbers_as_in_python(f: Callable[..., Any], backend: str) -> None:
    compiled = pliant.jit(f, backend=backend)
    for x in (X, X + 0.5, X):
        for g in (*LABELS, *SMALL):
            assert plain(compiled(x, g)) == plain(f(x, g))


@pytest.mark.parametrize("backend", ["llvm", "reference"])
def test_keys_that_are_left_in_an_argument(backend: str) -> None:
    def f(x: Any, g: Any, d: Any) -> None:
        for v, k in zip(x, g, strict=True):
            d[k] = d.get(k, 0.0) + v

    compiled = pliant.jit(f, backend=backend)
    for g in (*LABELS, *LABELS):
        wanted: dict[Any, Any] = {}
        given: dict[Any, Any] = {}
        f(X, g, wanted)
        compiled(X, g, given)
        assert plain(given) == plain(wanted)


def test_a_set_in_an_object() -> None:
    def f(x: Any, g: Any) -> Any:
        held = Held()
        for v, k in zip(x, g, strict=True):
            held.found[k] = 2
            held.parts.append([v * k])
        return held

    compiled = pliant.jit(f)
    for g in LABELS:
        made, wanted = compiled(X, g), f(X, g)
        assert plain([made.found, made.parts]) == plain([wanted.found, wanted.parts])


def test_arrays_that_nobody_puts_together_are_refused() -> None:
    def f(x: Any, g: Any) -> Any:
        c: Counter[Any] = Counter()
        for v, k in zip(x, g, strict=True):
            c[k] += v
        return c

    with pytest.raises(
        UnsupportedError, match=r"class Counter, in which there is a traced array f64(?s:.*)c\[k\] \+= v"
    ):
        pliant.jit(f)(X, LABELS[0])
