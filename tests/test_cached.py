"""Transformations of one function are one, and so are those of functions that do the same: all are compiled once."""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.compiled import Compiled


def loss(w: Any, x: Any) -> Any:
    return np.sum(np.sin(w * x) ** 2)


def each(w: Any) -> Any:
    return w**3


TRANSFORMATIONS: dict[str, Callable[[Any], Any]] = {
    "jit": pliant.jit,
    "jit, static": lambda f: pliant.jit(f, static="x"),
    "grad": pliant.grad,
    "grad by the second": lambda f: pliant.grad(f, 1),
    "grad by both": lambda f: pliant.grad(f, (0, 1)),
    "grad, packed": lambda f: pliant.grad(f, pack=True),
    "value_and_grad": pliant.value_and_grad,
    "value_and_grad, aux": lambda f: pliant.value_and_grad(f, has_aux=True),
    "jacobian": pliant.jacobian,
    "jacobian, reverse": lambda f: pliant.jacobian(f, mode="reverse"),
    "hessian": pliant.hessian,
    "hvp": pliant.hvp,
    "vmap": pliant.vmap,
    "vmap of the first": lambda f: pliant.vmap(f, (0, None)),
    "vmap along the last": lambda f: pliant.vmap(f, (-1, -1), out_axes=-1),
    "vectorize": lambda f: pliant.vectorize(f, "(n),(n)->()"),
    "optimize": pliant.optimize,
    "optimize, little": lambda f: pliant.optimize(f, terms=10),
    "several": lambda f: pliant.jit(pliant.vmap(pliant.grad(f))),
}


def test_a_transformation_of_a_function_is_one() -> None:
    made = {name: transform(loss) for name, transform in TRANSFORMATIONS.items()}
    for name, transform in TRANSFORMATIONS.items():
        assert transform(loss) is made[name]
    assert len({*map(id, made.values())}) == len(made)
    assert all(transform(each) is not made[name] for name, transform in TRANSFORMATIONS.items() if "static" not in name)


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is compiled."""
    seen, plain = list[Any](), Compiled._made

    def made(self: Compiled, *args: Any) -> Any:
        seen.append(self)
        return plain(self, *args)

    monkeypatch.setattr(Compiled, "_made", made)
    return seen


class Model:
    def __init__(self, scale: float) -> None:
        self.scale = scale

    def loss(self, w: Any) -> Any:
        return np.sum(w**2) * self.scale

    def slope(self, w: Any) -> Any:
        return pliant.grad(self.loss)(w)


def descents() -> dict[str, Callable[[Any], Any]]:
    x, models = np.arange(1.0, 4.0), [Model(0.5), Model(0.25)]

    def by_def(w: Any) -> Any:
        def f(w: Any) -> Any:
            return loss(w, x)

        return pliant.grad(f)(w)

    return {
        "lambda": lambda w: pliant.grad(lambda w: loss(w, x))(w),
        "def": by_def,
        "defaults": lambda w: pliant.grad(lambda w, x=x: loss(w, x))(w),
        "keywords": lambda w: pliant.grad(lambda w, *, x=x: loss(w, x))(w),
        "partial": lambda w: pliant.grad(functools.partial(loss, x=x))(w),
        "partial of a method": lambda w: pliant.grad(functools.partial(models[0].loss))(w),
        "methods": lambda w: models[0].slope(w) + models[1].slope(w),
        "jit": lambda w: pliant.jit(lambda w: np.cos(w))(w),
        "vmap": lambda w: pliant.vmap(lambda w: np.cos(w))(w),
        "hessian": lambda w: np.diag(pliant.hessian(lambda w: loss(w, x))(w)),
        "nested": lambda w: pliant.jit(pliant.vmap(pliant.grad(lambda w: w**3)))(w),
        "of a compiled function": lambda w: pliant.vmap(pliant.jit(each))(w),
        "of NumPy's": lambda w: pliant.vmap(np.sin)(w),
    }


@pytest.mark.parametrize("name", descents())
def test_what_is_made_anew_at_each_step_is_compiled_once(name: str, compilations: list[Any]) -> None:
    slope, w = descents()[name], np.array([0.3, -0.7, 1.1])
    for _ in range(5):
        w = w - 0.1 * slope(w)
    assert len(compilations) == (2 if name == "methods" else 1)


def test_each_sees_what_it_closes_over_now() -> None:
    slopes = list[float]()
    for power in range(5):
        slope = pliant.grad(lambda x: x**power)(2.0)  # noqa: B023
        slopes.append(float(slope))
    assert slopes == [0.0, 1.0, 4.0, 12.0, 32.0]

    def scaled(a: Any) -> Callable[[Any], Any]:
        return lambda x: a * x

    made = [pliant.jit(scaled(a)) for a in (1.0, 2.0, np.float32(3), np.array([4.0]))]
    assert [np.ravel(f(1.0))[0] for f in made] == [1.0, 2.0, 3.0, 4.0]
    assert [float(pliant.jit(lambda x, a=a: a * x)(1.0)) for a in (1.0, 2.0, 1.0)] == [1.0, 2.0, 1.0]


def test_what_nothing_tells_from_others_is_made_anew() -> None:
    axes, buffer = {"a": 0}, np.zeros(2)
    of_dict = [pliant.vmap(lambda d: d["a"] * 2, (axes,)) for _ in range(2)]
    assert of_dict[0] is not of_dict[1]
    assert of_dict[1]({"a": np.ones(2)}).tolist() == [2, 2]
    into = [pliant.grad(np.sum, accumulate_into=buffer) for _ in range(2)]
    assert into[0] is not into[1]
    for slope in into:
        slope(np.ones(2))
    assert buffer.tolist() == [2, 2]


def test_rules_tell_searches_apart() -> None:
    @pliant.rule(shapes="()")
    def cube(x: Any) -> Any:
        return x**3, x * x * x

    assert pliant.optimize(each, rules=(cube,)) is pliant.optimize(each, rules=[cube])
    assert pliant.optimize(each, rules=(cube,)) is not pliant.optimize(each)


def test_after_clearing_the_cache_all_is_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLIANT_CACHE", "")
    before = pliant.grad(loss), pliant.grad(pliant.jit(each)), pliant.vmap(np.sin)
    pliant.cache.clear()
    after = pliant.grad(loss), pliant.grad(pliant.jit(each)), pliant.vmap(np.sin)
    assert all(a is not b for a, b in zip(before, after, strict=True))


def test_a_function_that_is_sent_to_another_process_has_nothing_kept() -> None:
    pliant.grad(loss)(np.ones(2), np.ones(2))
    (sent,) = pickle.loads(pickle.dumps([*vars(loss).values()]))  # as cloudpickle does
    assert (sent.of, {**sent}) == (None, {})

    def other(w: Any, x: Any) -> Any:
        return loss(w, x)

    vars(other).update(vars(loss))  # as functools.wraps does
    assert pliant.grad(other) is not pliant.grad(loss)


def test_functions_that_become_others_have_nothing_in_common_any_more() -> None:
    def made() -> Any:
        def f(x: Any, a: Any = 2.0, *, k: Any = 1.0) -> Any:
            return x * a * k

        return f

    first, second, third, fourth = made(), made(), made(), made()
    assert [pliant.grad(f)(1.0) for f in (first, second, third, fourth)] == [2.0] * 4
    first.__code__ = (lambda x, a, *, k: x * 100).__code__
    second.__defaults__ = (5.0,)
    third.__kwdefaults__["k"] = 7.0
    for transform in (pliant.jit, pliant.grad, pliant.vmap):
        given = np.ones(1) if transform is pliant.vmap else 1.0
        found = [float(np.ravel(transform(f)(given))[0]) for f in (first, second, third, fourth, made())]
        assert found == [100.0, 5.0, 14.0, 2.0, 2.0]


def test_compiled_functions_of_one_text_have_attributes_of_their_own() -> None:
    def made(scale: Any) -> Any:
        @pliant.jit
        def f(x: Any) -> Any:
            return x + 1

        f.scale = scale  # type: ignore[attr-defined]
        return f

    a, b = made(1.0), made(10.0)
    assert (a.scale, b.scale, len({a, b})) == (1.0, 10.0, 2)

    def plain(scale: Any) -> Any:
        def f(x: Any) -> Any:
            return x + 1

        f.scale = scale  # type: ignore[attr-defined]
        return f

    assert [pliant.grad(plain(scale)).scale for scale in (1.0, 2.0)] == [1.0, 2.0]  # type: ignore[attr-defined]


def test_a_function_with_attributes_is_the_same_when_they_change() -> None:
    def counted(x: Any) -> Any:
        counted.calls += 1  # type: ignore[attr-defined]
        return x * 2

    counted.calls = 0  # type: ignore[attr-defined]
    made = pliant.grad(counted)
    for n in range(4):
        assert pliant.grad(counted) is made
        made(1.0)
        counted.calls = n  # type: ignore[attr-defined]
