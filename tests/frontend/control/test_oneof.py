"""Lists of which one, by a place known only at run time, is changed: programs do what Python does, for all data."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import UnsupportedError
from tests.frontend.control.flows_oneof import ONES
from tests.frontend.control.laws import (
    assert_a_batch_is_a_loop,
    assert_derivatives_are_differences,
    assert_is_pythons,
    name_of,
)

STATEMENTS = (
    "b[{k}].append({v})",
    "b[{k}] += [{v}, {w}]",
    "b[{k}].insert(0, {v})",
    "if b[{k}]: s += b[{k}].pop() * {v}",
    "if b[{k}]: s += b[{k}].pop(0)",
    "if len(b[{k}]) > 1: b[{k}][-1] = b[{k}][0] * {v}",
    "if {v} > {w}: b[{k}].append({w})",
    "c = b[{k}]; c.append({v}); s += sum(c) - len(c)",
    "for y in b[{k}]: s += y * {v}",
    "b[{n}].append({v})",
    "if len(b[{k}]) > 3: b[{k}].clear()",
)


def random_program(seed: int) -> Any:
    """`f(x, n)` whose steps read and change one of three lists, which hold some elements before."""
    rng = np.random.default_rng(seed)
    lines = ["def f(x, n):", "    s = x[0] * 0.0"]
    lines.append(f"    b = [{', '.join([str([1.0, 2.0, 3.0][: rng.integers(4)]) for _ in range(3)])}]")
    lines.append(["    for i, v in enumerate(x):", "    for i in range(len(x) - 1, 0, -1):"][rng.integers(2)])
    for _ in range(rng.integers(1, 5)):
        k = rng.choice(["int(x[i]) % 3", "int(x[i - 1] > 0)", "int(x[i] * 2) % 3 - 1", "-1 - int(x[i] > 0.3)"])
        v, w = rng.choice(["x[i]", "np.sin(x[i])", "x[i - 1] * x[i]", "0.5 * i", "s * 0.1"], 2)
        lines.append("        " + rng.choice(STATEMENTS).format(k=k, v=v, w=w, n=rng.integers(3)))
    lines.append("    return s, [len(c) for c in b], [sum(c) + 0.0 for c in b]")
    text, name, scope = "\n".join(lines) + "\n", f"<lists {seed}>", {"np": np}
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    exec(compile(text, name, "exec"), scope)
    return scope["f"]


@pytest.mark.parametrize("backend", ["reference", "llvm"])
@pytest.mark.parametrize("f", ONES, ids=name_of)
def test_it_does_what_python_does(f: Callable[..., Any], backend: str) -> None:
    assert_is_pythons(f, backend)


@pytest.mark.parametrize("f", ONES, ids=name_of)
@pytest.mark.usefixtures("for_all_data")
def test_it_does_so_whatever_data_decide(f: Callable[..., Any]) -> None:
    assert_is_pythons(f, "llvm")


@pytest.mark.parametrize("f", ONES, ids=name_of)
def test_its_derivatives_are_those_of_differences(f: Callable[..., Any]) -> None:
    assert_derivatives_are_differences(f)


@pytest.mark.parametrize("f", ONES, ids=name_of)
def test_a_batch_is_a_loop(f: Callable[..., Any]) -> None:
    assert_a_batch_is_a_loop(f)


@pytest.mark.parametrize("seed", range(24))
def test_random_programs_do_what_python_does(seed: int) -> None:
    assert_is_pythons(random_program(seed), "llvm")


@pytest.mark.parametrize("seed", range(24, 32))
def test_their_derivatives_and_batches_are_right(seed: int) -> None:
    f = random_program(seed)
    assert_derivatives_are_differences(f)
    assert_a_batch_is_a_loop(f)


@pytest.mark.usefixtures("for_all_data")
def test_lists_of_different_elements_have_no_place_known_only_at_run_time() -> None:
    def f(x: Any) -> Any:
        made = [[x[0]], [x]]
        made[np.argmax(x)].append(x[0])
        return made[0][0]

    with pytest.raises(
        UnsupportedError, match=r"one of several lists is read whose elements differ(?s:.*)table\[k, n\[k\]\]"
    ):
        pliant.jit(f)(np.ones(3))


@pytest.mark.usefixtures("for_all_data")
def test_one_of_very_many_lists_is_not_changed() -> None:
    def f(x: Any) -> Any:
        made: Any = [[] for _ in range(101)]
        made[np.argmax(x)].append(x[0])
        return len(made[0])

    with pytest.raises(UnsupportedError, match="is changed, and there are more than 100, at a place"):
        pliant.jit(f)(np.ones(3))


def test_a_list_that_is_held_while_another_name_changes_it_is_known_to_be_changed() -> None:
    def f(x: Any) -> Any:
        made = [[1.0], [], [2.0, 3.0]]
        c, d = made[np.argmax(x)], made[np.argmin(x)]
        made[0].append(4.0)
        c.append(5.0)
        return c, d, made

    for x in np.eye(3):
        assert pliant.jit(f)(x) == f(x)


@pytest.mark.parametrize("first", [[1.0], [1.0, 2.0]], ids=len)
def test_how_long_a_row_is_that_another_name_changes_is_known(first: list[float]) -> None:
    def by_a_place(x: Any) -> Any:
        made = [[*first], [*first]]
        c = made[np.argmax(x)]
        made[0].append(4.0)
        return len(c)

    def by_the_same(x: Any) -> Any:
        made = [[*first], [*first]]
        c = made[np.argmax(x)]
        made[np.argmax(x)].append(4.0)
        return len(c)

    def by_a_slice(x: Any) -> Any:
        made = [[*first], [*first]]
        c = made[np.argmax(x)]
        made[0][:] = [5.0, 6.0, 7.0]
        return len(c), sum(c)

    for f in (by_a_place, by_the_same, by_a_slice):
        for x in np.eye(2):
            assert pliant.jit(f)(x) == f(x)


class Kept:
    """An object that holds lists."""

    def __init__(self) -> None:
        self.lists = [[1.0], [2.0]]
        self.one: Any = None


def one_returned(kept: Any, more: Any, k: Any) -> Any:
    kept.lists[k].append(3.0)
    return kept.lists[k]


def one_in_an_attribute(kept: Any, more: Any, k: Any) -> Any:
    kept.one = kept.lists[k]
    kept.one.append(1.0)
    return kept.one


def one_in_a_list(kept: Any, more: Any, k: Any) -> Any:
    more.append(kept.lists[k])
    return more[0]


def one_that_is_new(kept: Any, more: Any, k: Any) -> Any:
    kept.lists = [[k * 1.0], [k * 2.0]]
    more.append(kept.lists[k])
    return more[0]


@pytest.mark.parametrize("f", [one_returned, one_in_an_attribute, one_in_a_list, one_that_is_new])
@pytest.mark.parametrize("k", [0, 1])
def test_one_that_outlives_the_call_is_the_callers(f: Callable[..., Any], k: int) -> None:
    compiled, kept, expected = pliant.jit(f), Kept(), Kept()
    for _ in range(2):
        assert compiled(kept, [], np.int64(k)) is kept.lists[k]
        f(expected, [], np.int64(k))
        assert kept.lists == expected.lists


@pytest.mark.usefixtures("for_all_data")
def test_for_all_data_one_does_not_outlive_the_call() -> None:
    def f(x: Any, lists: Any) -> Any:
        return lists[np.argmax(x)]

    with pytest.raises(UnsupportedError, match="one of several lists is returned, or left where others can see it"):
        pliant.jit(f)(np.ones(2), [[1.0], [2.0]])
