"""What bodies of loops and branches that are given as functions change outside is changed as Python does it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant

count = 0
total = 0.0
LOG: list[Any] = []
TABLE: dict[str, Any] = {}
X = np.arange(1.0, 5.0)


class Counted:
    """Has a counter of its class, and one of its own; can be called."""

    made = 0

    def __init__(self) -> None:
        self.own = 0

    def __call__(self, x: Any) -> Any:
        self.own += 1
        return x + self.own


COUNTED = Counted()


def a_name(x: Any) -> Any:
    global count  # noqa: PLW0603
    count += 1
    return x + count


def a_traced_name(x: Any) -> Any:
    global total  # noqa: PLW0603
    total = total + x
    return x + 1


def a_class(x: Any) -> Any:
    Counted.made += 1
    return x * Counted.made


def an_item(x: Any) -> Any:
    TABLE["n"] = TABLE.get("n", 0) + 1
    return x + TABLE["n"]


def a_list(x: Any) -> Any:
    LOG.append(1.0)
    return x + len(LOG)


unseen: dict[str, Any] = {"n": 0, "__name__": "unseen"}
exec("def a_name_without_source(x):\n    global n\n    n = n + 1\n    return x + n", unseen)


def local(loop: Callable[..., Any], x: Any) -> Any:
    made: list[Any] = []
    n = 0

    def step(y: Any) -> Any:
        nonlocal n
        n += 1
        made.append(y)
        return y + n

    return loop(step, x), np.array(made), n


def start() -> None:
    """Everything as at first."""
    global count, total
    count, total, Counted.made, COUNTED.own, unseen["n"] = 0, 0.0, 0, 0, 0
    LOG.clear()
    TABLE.clear()


def state() -> Any:
    """All that bodies change."""
    return count, float(total), Counted.made, COUNTED.own, unseen["n"], [*LOG], {**TABLE}


def fori(f: Callable[..., Any], x: Any) -> Any:
    return pliant.fori_loop(1, 5, lambda i, y: f(y) + i, x)


def fori_of_many(f: Callable[..., Any], x: Any) -> Any:
    return pliant.fori_loop(0, int(x > 0) * 3 if isinstance(x, float) else (x > 0) * 3, lambda _, y: f(y), x)


def fori_bounded(f: Callable[..., Any], x: Any) -> Any:
    return pliant.fori_loop(0, 9, lambda _, y: f(y), x, max_steps=2) if not isinstance(x, float) else f(f(x))


def nested(f: Callable[..., Any], x: Any) -> Any:
    return pliant.fori_loop(0, 2, lambda _, y: pliant.fori_loop(0, 2, lambda _, z: f(z), y), x)


def repeated(f: Callable[..., Any], x: Any) -> Any:
    return pliant.while_loop(lambda y: y < 9.0, lambda y: f(y) + 1, x)


def repeated_bounded(f: Callable[..., Any], x: Any) -> Any:
    return pliant.while_loop(lambda y: y < 99.0, lambda y: f(y) + 1, x, max_steps=3)


def asked(f: Callable[..., Any], x: Any) -> Any:
    return pliant.while_loop(lambda y: f(y) < 9.0, lambda y: y + 1, x)


def scanned(f: Callable[..., Any], x: Any) -> Any:
    return pliant.scan(lambda c, r: (c + f(r), {"c": c, "r": r * c}), 0.0, x * X)


def scanned_back(f: Callable[..., Any], x: Any) -> Any:
    return pliant.scan(lambda c, r: (c + f(r), c), 0.0, x * X, reverse=True)


def mapped(f: Callable[..., Any], x: Any) -> Any:
    return pliant.map(f, x * X)


def reduced(f: Callable[..., Any], x: Any) -> Any:
    return pliant.reduce(lambda c, r: c + f(r), 0.0, x * X)


def taken(f: Callable[..., Any], x: Any) -> Any:
    return pliant.cond(x > 0, f, lambda y: y * 2, x)


def not_taken(f: Callable[..., Any], x: Any) -> Any:
    return pliant.cond(x < 0, f, lambda y: y * 2, x)


BODIES = (a_name, a_traced_name, a_class, an_item, COUNTED, unseen["a_name_without_source"])
LOOPS = (fori, fori_of_many, fori_bounded, nested, repeated, repeated_bounded, scanned, scanned_back, mapped, reduced)
BRANCHES = (taken, not_taken)
OPEN = (fori_of_many, repeated, repeated_bounded, *BRANCHES)  # how many steps there are is known at run time alone
CASES = [(body, loop) for body in BODIES for loop in (*LOOPS, *BRANCHES) if body is not a_class or loop not in OPEN]


def _is_equal(a: Any, b: Any) -> bool:
    a, b = pliant.frontend.signature.flatten(a)[0], pliant.frontend.signature.flatten(b)[0]
    return len(a) == len(b) and all([np.array_equal(x, y) for x, y in zip(a, b, strict=True)])


@pytest.mark.parametrize(("body", "loop"), CASES, ids=lambda f: getattr(f, "__name__", "an_attribute"))
def test_what_a_step_changes_outside_is_changed_at_each_step(body: Any, loop: Any) -> None:
    start()
    expected = loop(body, 1.0)
    left = state()
    compiled = pliant.jit(lambda x: loop(body, x))
    for _ in range(2):
        start()
        assert _is_equal(compiled(1.0), expected)
        assert state() == left


@pytest.mark.parametrize("loop", [fori, repeated_bounded], ids=lambda f: f.__name__)
def test_lists_grow_at_each_step(loop: Any) -> None:
    start()
    expected, left = loop(a_list, 1.0), state()
    start()
    assert _is_equal(pliant.jit(lambda x: loop(a_list, x))(1.0), expected)
    assert state() == left


@pytest.mark.parametrize("loop", [fori, scanned, mapped, asked], ids=lambda f: f.__name__)
def test_what_is_local_to_the_function_around_is_changed_at_each_step(loop: Any) -> None:
    expected = local(loop, 1.0)
    assert _is_equal(pliant.jit(lambda x: local(loop, x))(1.0), expected)


@pytest.mark.parametrize("loop", [fori, repeated, reduced, taken], ids=lambda f: f.__name__)
def test_derivatives_and_batches_are_of_all_steps(loop: Any) -> None:
    start()
    step = 2.0**-20
    slope = (_anew(loop, 1.0 + step) - _anew(loop, 1.0)) / step
    start()
    assert np.isclose(pliant.jit(pliant.grad(lambda x: loop(a_class, x)))(1.0), slope, rtol=1e-4)
    start()
    batched = pliant.vmap(lambda x: loop(a_class, x))(np.array([1.0, 2.0]))
    assert np.allclose(batched, [_anew(loop, 1.0), _anew(loop, 2.0)])


def _anew(loop: Any, x: float) -> Any:
    start()
    made = loop(a_class, x)
    start()
    return made


def counting(f: Callable[..., Any]) -> Callable[..., Any]:
    def counted(*args: Any) -> Any:
        global count  # noqa: PLW0603
        count += 1
        return f(*args)

    return counted


def itself(y: Any) -> Any:
    return y


def written(y: Any) -> Any:
    y[0] = y[1] * 7.0
    return y


OPERANDS = {
    "cond": lambda f, x: pliant.cond(x[1] > 0, f, lambda y: y * 2, x),
    "not taken": lambda f, x: pliant.cond(x[1] < 0, f, lambda y: y * 2, x),
    "known": lambda f, x: pliant.cond(True, f, lambda y: y * 2, x),
    "switch": lambda f, x: pliant.switch(x[1] > 0, [itself, f, itself], x),
    "known switch": lambda f, x: pliant.switch(1, [itself, f, itself], x),
    "of one": lambda f, x: pliant.switch(0, [f], x),
    "of a list": lambda f, x: pliant.cond(x[1] > 0, lambda ys: f(ys[0]), lambda ys: ys[0], [x]),
}


@pytest.mark.parametrize("body", [itself, counting(itself), written, counting(written)], ids=lambda f: f.__name__)
@pytest.mark.parametrize("branch", OPERANDS.values(), ids=OPERANDS)
def test_what_a_branch_returns_is_not_the_operand(body: Any, branch: Any) -> None:
    def f(x: Any) -> Any:
        y = branch(body, x)
        y[2] = 100.0
        return y

    start()
    expected, x = np.arange(1.0, 4.0), np.arange(1.0, 4.0)
    y = f(expected)
    assert expected[2] == 3.0
    left = state()
    start()
    assert np.array_equal(pliant.jit(f)(x), y)
    assert np.array_equal(x, expected)
    assert state() == left


def test_a_branch_that_is_known_puts_nothing_into_a_dict_of_the_operands() -> None:
    def put(table: Any) -> Any:
        table["x"] = table["x"] * 2
        return table

    def f(x: Any) -> Any:
        table = {"x": x}
        return pliant.cond(True, put, put, table)["x"], table["x"]

    assert f(3.0) == pliant.jit(f)(3.0) == (6.0, 3.0)


def test_a_branch_that_is_known_knows_what_is_known_of_its_operands() -> None:
    def f(x: Any) -> Any:
        return pliant.switch(1, [lambda n: np.zeros(3), lambda n: np.zeros(n.sum()), lambda n: n], np.array([1, 2])) + x

    assert pliant.jit(f)(1.0).shape == (3,)


@pytest.mark.parametrize("reverse", [False, True])
def test_what_a_step_of_a_scan_stacks_is_what_it_was_at_the_step(reverse: bool) -> None:
    def step(c: Any, row: Any) -> Any:
        c[0] += row
        return c, (c, c[:1])

    def f(x: Any) -> Any:
        return pliant.scan(counting(step), x, X, reverse=reverse)

    start()
    expected, left, x = f(np.zeros(2)), state(), np.zeros(2)
    start()
    assert _is_equal(pliant.jit(f)(x), expected)
    assert state() == left
    assert not x.any()
