"""What is one of two objects by a condition known only at run time: which one it is can be asked."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import PliantError, UnboundError


class Mode(Enum):
    UP = 0
    DOWN = 1
    REST = 2


class Leaf:
    def __init__(self, value: Any) -> None:
        self.value = value


class Inner:
    def __init__(self, value: Any) -> None:
        self.value = value


def members(x: Any) -> Any:
    total = 0.0
    for v in x:
        mode = Mode.UP if v > 0 else Mode.DOWN
        if mode is Mode.UP:
            total += v
        if mode == Mode.DOWN:
            total += v * v
        if mode is not Mode.REST:  # pyright: ignore[reportUnnecessaryComparison]
            total += 1.0
        if mode in (Mode.REST, Mode.DOWN):
            total += 0.5
    return total


def texts(x: Any) -> Any:
    total = 0.0
    for v in x:
        if v > 1:
            kind = "large"
        elif v > 0:
            kind = "small"
        else:
            kind = "none"
        if kind == "large":
            total += v
        elif kind != "none":
            total += 10.0
        total += 100.0 * ("none" == kind)  # noqa: SIM300 (either way)
    return total


def nothing_or_a_member(x: Any) -> Any:
    mode = None if x[0] > 0 else Mode.UP
    return x[1] if mode is None else x[2]


def of_a_function(x: Any) -> Any:
    def sign(v: Any) -> Any:
        if v < 0:
            return "-"
        return "+"

    return sum(x[1] if sign(v) == "+" else x[2] * v for v in x)


def objects_of_one_class(x: Any) -> Any:
    first, second = Leaf(x[0]), Leaf(x[1])
    best = first if first.value > second.value else second
    a = 1.0 if best is first else 2.0
    b = 10.0 if best == second else 20.0
    return a + b + (100.0 if best is best else 0.0) + (1000.0 if first is not best else 0.0)


def objects_of_two_classes(x: Any) -> Any:
    node = Leaf(x[0]) if x[0] > 0 else Inner(x[1])
    return x[1] if isinstance(node, Leaf) else x[2]


def lists(x: Any) -> Any:
    a, b = [x[0], x[1]], [x[1], x[0]]
    c = a if x[0] > 0 else b
    d = a if x[0] > 0 else [x[0]]
    return (x[1] if c is a else x[2]) + (1.0 if d is a else 2.0)


def compared_with_an_array(x: Any) -> Any:
    y = None if x[0] > 0 else x
    return np.sum(y == x)


def tuples(x: Any) -> Any:
    first, second = (x[0], 1.0), (x[1], 2.0)
    pair = first if x[0] > 0 else second
    return pair[0] * pair[1] + (10.0 if pair is first else 20.0) + (pair is second)


def tuples_by_steps(x: Any) -> Any:
    up, down = ("up", 1.0), ("down", 2.0)
    now = up
    for v in x:
        now = up if v > 0 else down
    return now[1] if now is up else 3.0


def an_attribute(x: Any) -> Any:
    return x[1] if hasattr(x, "size" if x[0] > 0 else "sizes") else x[2]


PROGRAMS = (
    members, texts, nothing_or_a_member, of_a_function, objects_of_one_class, objects_of_two_classes, lists,
    compared_with_an_array, an_attribute, tuples,
    tuples_by_steps,
)  # fmt: skip
XS = [np.array(x) for x in ([0.5, -1.5, 2.0], [-0.5, 0.7, 2.5], [3.0, 2.0, -0.1])]


@pytest.mark.parametrize("f", PROGRAMS)
def test_it_is_known_which_one_it_is(f: Callable[[Any], Any]) -> None:
    compiled = pliant.jit(f)
    for x in XS:
        np.testing.assert_array_equal(compiled(x), f(x))
    np.testing.assert_array_equal(pliant.vmap(f)(np.stack(XS)), [f(x) for x in XS])


def looked_up(x: Any) -> Any:
    kind = "a" if x[0] > 0 else "b"
    return {"a": x[1] * x[0], "b": x[2]}[kind]


def test_a_dict_is_asked_for_one_of_two_keys() -> None:
    for x in XS:
        assert pliant.jit(looked_up)(x) == looked_up(x)
    np.testing.assert_array_equal(pliant.vmap(looked_up)(np.stack(XS)), [looked_up(x) for x in XS])


def test_a_key_that_a_dict_has_not_is_an_error() -> None:
    f = pliant.jit(lambda x: {"a": x[1]}["a" if x[0] > 0 else "b"])
    assert f(np.array([1.0, 2.0])) == 2.0
    with pytest.raises(KeyError, match="'b'"):
        f(np.array([-1.0, 2.0]))


def used_otherwise(x: Any) -> Any:
    kind = "a" if x[0] > 0 else "b"
    return x[1] * int("".join([kind, "1"]) == "a1")


def shown(x: Any) -> Any:
    kind = "a" if x[0] > 0 else "b" if x[1] > 0 else Mode.UP
    print(kind)
    return x[0]


def asked_after_the_loop(x: Any) -> Any:
    for v in x:
        mode = Mode.UP if v > 0 else Mode.DOWN
    return 1.0 if mode is Mode.UP else 2.0  # type: ignore[possibly-undefined]


def gone_over_by_number(x: Any) -> Any:
    groups: list[list[int]] = [[1], [0, 2]] if x[0] > 0 else [[0, 1], [2]]
    y = np.zeros_like(x)
    for k, members in enumerate(groups):
        for i in members:
            y[i] = x[i] * (k + 1)
    return y


def gone_over_together(x: Any) -> Any:
    groups: list[list[int]] = [[1], [0, 2]] if x[0] > 0 else [[0, 1], [2]]
    return sum([w * np.mean(x[members]) for w, members in zip(x, groups, strict=False)])


@pytest.mark.parametrize("backend", ["llvm", "reference"])
@pytest.mark.parametrize("f", [gone_over_by_number, gone_over_together])
def test_one_of_two_lists_of_other_lengths_is_gone_over(f: Callable[[Any], Any], backend: str) -> None:
    compiled = pliant.jit(f, backend=backend)
    slope = pliant.jit(pliant.grad(lambda x: np.sum(f(x) ** 2)), backend=backend)
    for x in XS:
        np.testing.assert_allclose(compiled(x), f(x), rtol=1e-14)
        steps = 1e-6 * np.eye(3)
        differences = [(np.sum(f(x + d) ** 2) - np.sum(f(x - d) ** 2)) / 2e-6 for d in steps]
        np.testing.assert_allclose(slope(x), differences, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("backend", ["llvm", "reference"])
def test_one_of_two_functions_is_mapped(backend: str) -> None:
    f = pliant.jit(lambda x: np.array([*map(np.sin if x[0] > 0 else np.cos, x)]), backend=backend)
    np.testing.assert_allclose(f(XS[0]), np.sin(XS[0]), rtol=1e-14)
    np.testing.assert_allclose(f(XS[1]), np.cos(XS[1]), rtol=1e-14)


@pytest.mark.usefixtures("for_all_data")
@pytest.mark.parametrize("f", [used_otherwise, gone_over_by_number, gone_over_together])
def test_other_uses_are_errors(f: Callable[[Any], Any]) -> None:
    with pytest.raises(UnboundError, match="after one branch and"):
        pliant.jit(f)(XS[0])


def test_both_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    pliant.jit(shown)(XS[0])
    assert capsys.readouterr().out == "a\n"


def test_what_is_asked_of_an_ended_step_is_right_or_an_error() -> None:
    for x in XS:
        try:
            found = pliant.jit(asked_after_the_loop)(x)
        except PliantError:
            continue
        assert found == asked_after_the_loop(x)


class Tree:
    def __init__(self, place: Any, parent: Any = None) -> None:
        self.place, self.parent = place, parent


def test_each_node_of_a_tree_has_the_nearest_for_its_parent():
    def grown(x: Any) -> Any:
        nodes = [Tree(x[0])]
        for k in range(1, len(x)):
            nodes.append(Tree(x[k], min(nodes, key=lambda n: abs(n.place - x[k]))))
        return nodes[-1].parent.place

    x = np.random.default_rng(0).random(30)  # took twice as long for each node more
    assert pliant.jit(grown)(x) == grown(x)
