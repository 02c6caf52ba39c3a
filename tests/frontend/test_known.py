"""Integers of Python that tracing has to know are known by themselves: shapes, axes, flags, steps, keys."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import PliantError, RecompiledWarning
from pliant.frontend.control.site import Site

X = np.linspace(0.5, 2.0, 12)
Case = tuple[Callable[..., Any], tuple[Any, ...]]


def flagged(x: Any, is_total: Any) -> Any:
    if is_total:
        return x.sum()
    return x


def ordered(x: Any, order: Any) -> Any:
    if order == 1:
        return x
    if order == 2:
        return x.reshape(3, 4).sum(0)
    raise ValueError(order)


def halved(x: Any, n: Any) -> Any:
    while n > 0:
        x = x[::2] * x[1::2]
        n -= 1
    return x


def narrowed(x: Any, n: Any) -> Any:
    for _ in range(n):
        x = x[1:] * x[:-1]
    return x


def deep(x: Any, n: Any) -> Any:
    return x if n <= 0 else x * deep(x[1:].copy(), n - 1).sum()


def grown(x: Any, n: Any) -> Any:
    rows: list[Any] = []
    for i in range(n):
        rows.append(x * i)  # noqa: PERF401
    return np.stack(rows)


def nested(x: Any, options: Any) -> Any:
    return x.reshape(options["rows"], -1).sum(options["axis"])


def caught(x: Any, n: Any) -> Any:
    try:
        count = int(n)
    except TypeError:
        count = 1
    return x[:count] ** 2


CASES: dict[str, Case] = {
    "shape": (lambda x, n: x.reshape(n, -1).prod(0), (3, 4)),
    "shape_as_a_tuple": (lambda x, n: x.reshape(n).prod(0), ((3, 4), (2, 6))),
    "new_array": (lambda x, n: np.zeros(n) + x[0] ** 2, (3, 1)),
    "computed": (lambda x, n: np.ones(n // 2 + 1) * x[1] ** 2, (3, 6)),
    "computed_as_a_float": (lambda x, n: np.ones(int(np.sqrt(n) / 2)) * x[1] ** 2, (16, 4)),
    "computed_by_math": (lambda x, n: np.ones(math.isqrt(n) + math.comb(n, 2)) * x[1] ** 2, (4, 5)),
    "greatest": (lambda x, n: np.ones(max(n, 2)) * x[1] ** 2, (1, 3)),
    "axis": (lambda x, n: np.prod(x.reshape(3, 4), axis=n), (0, 1, -1)),
    "axes": (lambda x, n: np.sum(x.reshape(3, 2, 2) ** 2, axis=tuple(n)), ([0, 1], [1, 2])),
    "keyword": (lambda x, n: np.sum(x.reshape(3, 4) ** 2, axis=1, keepdims=n), (True, False)),
    "power": (lambda x, n: np.linalg.matrix_power(x[:9].reshape(3, 3), n), (2, 3)),
    "step": (lambda x, n: x[::n] ** 2, (1, 3, -2)),
    "slice": (lambda x, n: x[n:] * x[:-n], (2, 5)),
    "last": (lambda x, n: np.sort(x**2)[-n:], (2, 5)),
    "comprehension": (lambda x, n: np.stack([x * i for i in range(1, n)]), (3, 4)),
    "combinations": (lambda x, n: sum(x[i] * x[j] for i, j in itertools.combinations(range(n), 2)), (3, 4)),
    "flag": (flagged, (True, False)),
    "choice": (ordered, (1, 2)),
    "while": (halved, (1, 2)),
    "for": (narrowed, (0, 3)),
    "recursion": (deep, (1, 3)),
    "list": (grown, (2, 3)),
    "key": (lambda x, n: {1: x, 2: x[1:]}[n] ** 2, (1, 2)),
    "item": (lambda x, n: [x, x[1:]][n] ** 2, (0, 1)),
    "function": (lambda x, n: [np.sin, np.sum][n](x), (0, 1)),
    "text": (lambda x, n: {"k3": x, "k4": x[1:]}[f"k{n}"] ** 2, (3, 4)),
    "formatted_text": (lambda x, n: {"k3": x, "k4": x[1:]}["k%d" % n] ** 2, (3, 4)),  # noqa: UP031
    "options": (nested, ({"rows": 3, "axis": 0}, {"rows": 2, "axis": 1})),
    "caught": (caught, (2, 3)),
    "numpys": (lambda x, n: np.zeros(n) + x[0] ** 2, (np.int64(3), np.int8(2))),
}  # fmt: skip


def loss(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, n: np.sum(f(x, n) ** 2)


def differences(f: Callable[..., Any], x: Any, *args: Any) -> Any:
    steps = 1e-6 * np.eye(x.size)
    return np.array([(f(x + d, *args) - f(x - d, *args)) / 2e-6 for d in steps])


@pytest.mark.parametrize("backend", ["llvm", "reference"])
@pytest.mark.parametrize("name", CASES)
def test_values_are_numpys(name: str, backend: str) -> None:
    f, numbers = CASES[name]
    compiled = pliant.jit(f, backend=backend)
    for n in (*numbers, *numbers):
        want, got = f(X.copy(), n), compiled(X.copy(), n)
        assert np.shape(got) == np.shape(want)
        np.testing.assert_allclose(got, want, rtol=1e-13)


@pytest.mark.parametrize("name", CASES)
def test_gradients_are_those_of_the_function_of_the_array_alone(name: str) -> None:
    f, numbers = CASES[name]
    gradient = pliant.grad(loss(f))
    for n in numbers:
        np.testing.assert_allclose(gradient(X, n), differences(loss(f), X, n), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", CASES)
def test_batches_are_loops(name: str) -> None:
    f, numbers = CASES[name]
    rows = np.stack([X, X[::-1]])
    mapped = pliant.vmap(f, in_axes=(0, None))
    for n in numbers:
        np.testing.assert_allclose(mapped(rows, n), np.stack([f(row, n) for row in rows]), rtol=1e-13)


def area(x: Any, n: Any) -> Any:
    return np.sum(x.reshape(n, -1).prod(0))


TRANSFORMED: dict[str, Callable[..., Any]] = {
    "value_and_grad": lambda x, n: pliant.value_and_grad(area)(x, n)[1],
    "jvp": lambda x, n: np.array([pliant.jvp(lambda y: area(y, n), (x,), (d,))[1] for d in np.eye(12)]),
    "vjp": lambda x, n: pliant.vjp(lambda y: area(y, n), x)[1](1.0)[0],
    "linearize": lambda x, n: np.array([pliant.linearize(lambda y: area(y, n), x)[1](d) for d in np.eye(12)]),
    "jacobian": lambda x, n: pliant.jacobian(area)(x, n),
    "keyword": lambda x, n: pliant.grad(area)(x, n=n),
    "compiled_inside": lambda x, n: pliant.grad(lambda y, m: pliant.jit(area)(y, m + 1))(x, n - 1),
    "compiled_outside": lambda x, n: pliant.jit(lambda y, m: pliant.grad(area)(y, m // 2))(x, 2 * n),
    "checkpoint": lambda x, n: pliant.grad(pliant.checkpoint(area))(x, n),
}


@pytest.mark.parametrize("name", TRANSFORMED)
def test_other_derivatives_know_the_number_too(name: str) -> None:
    for n in (2, 3):
        np.testing.assert_allclose(TRANSFORMED[name](X, n), differences(area, X, n), rtol=1e-6)


def test_each_value_is_compiled_once() -> None:
    f = pliant.jit(lambda x, n: x.reshape(n, -1))
    for n in (2, 3, 4, 3, 2):
        f(X, n)
    assert sorted(key[-1] for key in f.entries) == [2, 3, 4]


def test_what_needs_no_value_is_compiled_for_all() -> None:
    f = pliant.jit(lambda x, n: x[n] * n + sum(x[i] for i in range(n)) + np.sum(x[:n]))
    for n in (2, 3, 4):
        f(X, n)
    assert len(f.entries) == 1


def test_only_the_numbers_that_are_needed_are_known() -> None:
    f = pliant.jit(lambda x, n, k: x.reshape(n, -1) * k)
    for k in (1, 2, 3):
        np.testing.assert_array_equal(f(X, 3, k), X.reshape(3, -1) * k)
    assert len(f.entries) == 1


def test_a_flag_is_known_and_a_count_of_steps_beside_it_is_not() -> None:
    def f(x: Any, steps: Any, is_total: Any) -> Any:
        for _ in range(steps):
            x = np.sin(x)
        return x.sum() if is_total else x

    compiled = pliant.jit(f)
    for steps in (7, 8, 9):
        np.testing.assert_allclose(compiled(X, steps, False), f(X, steps, False))
    assert len(compiled.entries) == 1


def test_what_a_trace_did_outside_is_done_once() -> None:
    class Model:
        def __init__(self) -> None:
            self.calls, self.log = 0, list[int]()

        def step(self, x: Any, n: Any) -> Any:
            self.calls += 1
            self.log.append(self.calls)
            return x.reshape(n, -1)

    model = Model()
    pliant.jit(model.step)(X, 3)
    assert (model.calls, model.log) == (1, [1])


def test_containers_change_as_in_python() -> None:
    def step(state: Any) -> None:
        state["x"] = np.ones(state["n"]) * state["x"][0]
        state["n"] += 1

    mine, numpys = {"n": 2, "x": X}, {"n": 2, "x": X}
    compiled = pliant.jit(step)
    for _ in range(3):
        compiled(mine)
        step(numpys)
    assert mine["n"] == numpys["n"] == 5
    np.testing.assert_array_equal(mine["x"], numpys["x"])


def test_numbers_are_returned_as_they_are() -> None:
    made = pliant.jit(lambda x, n: (x.reshape(n, -1), n, n + 1, [n / 2]))(X, 3)
    assert made[1:] == (3, 4, [1.5])
    assert type(made[1]) is int


def test_what_numpy_refuses_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot reshape"):
        pliant.jit(lambda x, n: x.reshape(n, 5))(X, 3)


@pytest.mark.usefixtures("for_all_data")
@pytest.mark.parametrize("n", [np.array(3), 3.0, X])
def test_what_depends_on_data_is_an_error_still(n: Any) -> None:
    with pytest.raises(PliantError, match="known only at run time, and nothing bounds it"):
        pliant.jit(lambda x, n: np.zeros(int(np.sum(n))))(X, n)


def test_integers_of_a_batch_are_an_error_still() -> None:
    with pytest.raises(PliantError, match="must be known while tracing"):
        pliant.vmap(lambda x, n: x.reshape(n, -1).sum())(np.stack([X, X]), np.array([3, 4]))


def test_many_values_are_warned_of_once(golden: Callable[[str, str], None]) -> None:
    f = pliant.jit(lambda x, count: np.zeros(count) + x[0])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for n in range(40):
            f(X, n)
    assert [w.category for w in caught] == [RecompiledWarning]
    assert caught[0].filename == __file__
    golden("../errors/golden/integer_of_many_values", f"{caught[0].message}\n")


def test_what_is_declared_static_is_not_warned_of() -> None:
    f = pliant.jit(lambda x, count: np.zeros(count) + x[0], static="count")
    for n in range(20):
        f(X, n)


def means_until_they_stay(x: Any, k: Any) -> Any:
    centers = x[:k].copy()
    for _ in range(8):
        labels = np.argmin(np.abs(x[:, None] - centers), axis=1)
        new = np.array([x[labels == i].mean() if np.any(labels == i) else centers[i] for i in range(k)])
        if np.abs(new - centers).sum() < 1e-4:
            break
        centers = new
    return centers


def test_an_extent_without_which_a_loop_would_be_unrolled_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    copies: list[str] = []
    step = Site.step
    monkeypatch.setattr(Site, "step", lambda site, *item: (copies.append(site.where.short), step(site, *item))[1])
    pliant.jit(means_until_they_stay)(np.sin(3.0 * np.arange(12)), 3)
    line = means_until_they_stay.__code__.co_firstlineno + 2
    assert copies.count(f"test_known.py:{line}") < 2


@pytest.mark.parametrize("backend", ["llvm", "reference"])
def test_means_of_a_known_number_of_clusters(backend: str) -> None:
    f, x = means_until_they_stay, np.sin(3.0 * np.arange(12))
    compiled, slope = (pliant.jit(g, backend=backend) for g in (f, pliant.grad(lambda x, k: np.sum(f(x, k) ** 2))))
    for k in (2, 3):
        np.testing.assert_allclose(compiled(x, k), f(x, k), rtol=1e-13)
        steps = 1e-6 * np.eye(x.size)
        differences = [(np.sum(f(x + d, k) ** 2) - np.sum(f(x - d, k) ** 2)) / 2e-6 for d in steps]
        np.testing.assert_allclose(slope(x, k), differences, rtol=1e-6, atol=1e-8)
