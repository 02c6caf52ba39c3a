"""What a traced function reads from objects, containers, modules and defaults is read anew at every call."""

from __future__ import annotations

import types
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.frontend.source import rewritten

X = np.linspace(0.2, 1.7, 5)


class Layer:
    """A user's model: arrays in attributes, lists, dicts; methods that call each other."""

    scale = 3.0

    def __init__(self) -> None:
        self.__hidden = np.full(5, 2.0)
        self.weights = [np.ones(5), np.arange(5.0)]
        self.named = {"a": np.ones(5), "deep": {"b": np.arange(5.0)}}
        self.pair = (np.ones(5), np.full(5, 3.0))

    def private(self, x: Any) -> Any:
        self.__hidden += 1
        return self.__hidden * x

    def helper(self, x: Any) -> Any:
        y = np.zeros(5)
        y[1:] = x[:-1]
        return y * self.scale

    def calls(self, x: Any) -> Any:
        return self.helper(x) + self.constant

    @property
    def constant(self) -> Any:
        y = np.empty(5)
        y[:] = self.weights[1]
        return y

    def loops(self, x: Any) -> Any:
        for i, w in enumerate(self.weights):
            x = x * w + i
        for k, v in self.named.items():
            x = x + (v if k == "a" else v["b"])
        p, q = self.pair
        return x * p + q

    def numpy_first(self, x: Any) -> Any:
        total = sum(w * 2 for w in self.weights) + np.stack(self.weights).sum(0) + np.add(*self.pair)
        return x * (self.weights[0] + 1)[2] + total + self.named.get("a") * 2

    def writes(self, x: Any) -> Any:
        self.weights[0] += x
        self.named["deep"]["b"][1:] *= 2
        return self.weights[0] * self.named["deep"]["b"]

    def __call__(self, x: Any) -> Any:
        return self.helper(x) @ self.weights[1]


METHODS = ["private", "helper", "calls", "loops", "numpy_first", "writes", "__call__"]
CHANGES: list[Callable[[Layer], object]] = [
    lambda m: m.weights[0].__iadd__(0.5),
    lambda m: m.named["deep"]["b"].__imul__(3),
    lambda m: m.named.__setitem__("a", np.full(5, 9.0)),
    lambda m: m.weights.__setitem__(1, m.weights[1] * 2),
    lambda m: setattr(m, "pair", (m.pair[1], m.pair[0])),
    lambda m: setattr(m, "scale", 7.0),
    lambda m: m.weights.append(np.full(5, 0.25)),
]


@pytest.mark.parametrize("name", METHODS)
def test_a_method_sees_every_change_of_its_object(name: str):
    ours, numpys = Layer(), Layer()
    compiled = pliant.jit(getattr(ours, name))
    for change in [*CHANGES, lambda m: None]:
        for _ in range(3):
            np.testing.assert_allclose(compiled(X), getattr(numpys, name)(X))
        change(ours), change(numpys)
    np.testing.assert_array_equal(ours.weights, numpys.weights)


def test_numbers_of_modules_and_classes_are_seen():
    config = types.ModuleType("config")
    config.n = 2.0  # type: ignore[attr-defined]
    f = pliant.jit(lambda x: x * config.n * Layer.scale)
    np.testing.assert_allclose([f(X)] * 2, [X * 6] * 2)
    config.n = 5.0  # type: ignore[attr-defined]
    np.testing.assert_allclose(f(X), X * 15)


def test_the_number_of_elements_of_a_container_is_seen():
    parts = [np.ones(5)]
    f = pliant.jit(lambda x: x + sum(parts))
    np.testing.assert_array_equal([f(X), f(X)], [X + 1] * 2)
    parts.append(np.ones(5))
    np.testing.assert_array_equal(f(X), X + 2)


def test_defaults_are_read_anew():
    w = np.ones(5)

    def f(x: Any, *, w: Any = w) -> Any:
        return x * (w * 2)

    compiled = pliant.jit(f)
    np.testing.assert_array_equal([compiled(X), compiled(X)], [2 * X] * 2)
    w[:] = 3
    np.testing.assert_array_equal(compiled(X), 6 * X)


def test_nested_functions_may_call_themselves():
    def power(x: Any, n: int) -> Any:
        return x if n == 0 else power(x * 2, n - 1)

    np.testing.assert_array_equal(pliant.jit(lambda x: power(x, 3))(X), 8 * X)


IN_ONE_LINE: list[Callable[[Any], Any]] = [
    lambda x: x[0] if x[1] > x[2] else x[3], lambda x: x[0] if x[1] < x[2] else x[3], lambda x: 1.0 if x[1] > x[2] else 2.0,
    lambda x: (lambda y: (lambda z: z if z > 1 else -z)(y) if y < 3 else 0.0)(x[2]), lambda x: x[0] or x[1],
    lambda x: (lambda y: y * 2 if y > x[0] else y)(x[1]) if x[0] > 5 else (lambda y: y - 1 if y > 7 else y)(x[2]),
    lambda x: sum([v if v > 1 else 2 * v for v in x]), lambda x: (
        x[3]
        if x[0] > 2
        else x[2]
    ),
]  # fmt: skip


@pytest.mark.parametrize("n", range(len(IN_ONE_LINE)))
def test_lambdas_with_conditions_beside_each_other(n: int):
    for x in (np.arange(4.0), np.arange(4.0)[::-1], np.full(4, 3.0)):
        assert pliant.jit(IN_ONE_LINE[n])(x) == IN_ONE_LINE[n](x)


@pytest.mark.usefixtures("for_all_data")
def test_recursion_that_only_the_numbers_end_is_refused():
    def doubled(x: Any) -> Any:
        return x if x[0] > 100 else doubled(x * 2)

    with pytest.raises(pliant.PliantError, match="a function may call itself as often as is known while tracing"):
        pliant.jit(doubled)(X)


def test_gradients_flow_through_methods_that_fill_arrays():
    np.testing.assert_allclose(pliant.grad(Layer())(X), [3, 6, 9, 12, 0])


def test_code_that_is_not_that_of_its_file_is_left_alone():
    scope: dict[str, Any] = {}
    exec(compile("def f(x):\n    return x.shape", __file__, "exec"), scope)
    assert rewritten(scope["f"].__code__, "f") is None


def test_a_compiled_function_inside_another_is_traced_once():
    runs: SimpleQueue[int] = SimpleQueue()

    @pliant.jit
    def inner(x: Any) -> Any:
        return x * 2

    def outer(x: Any) -> Any:
        runs.put(1)
        return inner(x[1:]) + 1

    inner(X), inner(X)
    compiled = pliant.jit(outer)
    for n in range(2, 5):
        np.testing.assert_array_equal(compiled(X), 2 * X[1:] + 1)
        inner(np.ones(n))
    assert runs.qsize() == 1


def test_attributes_of_functions_are_seen():
    def f(x: Any) -> Any:
        return x * f.factor  # type: ignore[attr-defined]

    compiled = pliant.jit(f)
    for factor in (2.0, 3.0):
        f.factor = factor  # type: ignore[attr-defined]
        np.testing.assert_array_equal([compiled(X), compiled(X)], [factor * X] * 2)


def test_targets_are_stored_from_left_to_right():
    def steps(x: Any) -> Any:
        i = 0
        x[i], i = x[1] * 2, 2
        x[i], (x[i + 1], i) = x[0], (7.0, 4)
        i, x[i] = 1, 5.0
        j = x[j - 3] = 3
        return i, j

    def wanted(x: Any) -> Any:
        x[:4] = [x[1] * 2, 5.0, x[1] * 2, 7.0]
        x[0] = 3
        return 1, 3

    x, y = X.copy(), X.copy()
    assert pliant.jit(steps)(x) == wanted(y)
    np.testing.assert_array_equal(x, y)


class Rated:
    @property
    def rate(self) -> float:
        return 1.0


class Fixed(Rated):
    rate = 3.0  # type: ignore[assignment]


class Raised(Rated):
    @property
    def rate(self) -> float:
        return super().rate + 4


@pytest.mark.parametrize("holder", [Rated(), Fixed(), Raised()])
def test_the_class_that_is_nearest_has_the_attribute(holder: Rated) -> None:
    assert pliant.jit(lambda x: x * holder.rate)(2.0) == 2 * holder.rate


def asserted(x: Any) -> Any:
    total = 0.0
    for v in x:
        assert v >= 0, f"negative: {v:.2f}"
        if v > 1:
            total += v
    assert total < 10
    return total


def test_assertions_that_pytest_has_rewritten_are_those_of_the_source() -> None:
    assert "@pytest_ar" in asserted.__code__.co_names
    compiled = pliant.jit(asserted)
    for x in (X, np.array([2.0, -0.5]), X + 9, X):
        assert _result_or_text(compiled, x) == _result_or_text(asserted, x)


def _result_or_text(f: Callable[..., Any], x: Any) -> Any:
    try:
        return f(x)
    except AssertionError as error:
        return str(error)


def test_functions_of_one_text_in_two_files_are_told_apart_in_messages(tmp_path: Path) -> None:
    text = "def f(x):\n    return x + x[:2]\n"
    for name in ("one.py", "two.py"):
        path = tmp_path / name
        path.write_text(text)
        names: dict[str, Any] = {"__name__": name.removesuffix(".py")}
        exec(compile(text, str(path), "exec"), names)
        with pytest.raises(pliant.PliantError, match=f"--> {name}:2, in f: here"):
            pliant.jit(names["f"])(X)
