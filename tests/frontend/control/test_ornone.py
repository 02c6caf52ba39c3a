"""What is an object, or None, by a condition known only at run time: it is used as Python uses it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import optree
import pytest

import pliant
from pliant.errors import PliantError
from tests.frontend.control.flows_nones import NONES

X = np.linspace(-1.03, 2.11, 9)
GIVEN = {"rising": X, "negated": -X, "small": X * 0.1, "falling": X[::-1].copy(), "low": X - 3, "high": X + 3}


def name_of(f: Callable[..., Any]) -> str:
    return f.__name__


def outcome(f: Callable[..., Any], x: Any) -> Any:
    """What a call returns and leaves, or the class of what it raises."""
    x = x.copy()
    try:
        tree: Any = (f(x, 5), x)
        return [np.asarray(leaf, float) for leaf in optree.tree_leaves(tree)]
    except Exception as error:
        return type(error)


def assert_same(got: Any, wanted: Any) -> None:
    if isinstance(wanted, type):
        assert got is wanted
        return
    assert [a.shape for a in got] == [b.shape for b in wanted]
    for a, b in zip(got, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("backend", ["reference", "llvm"])
@pytest.mark.parametrize("f", NONES, ids=name_of)
def test_it_is_used_as_python_uses_it(f: Callable[..., Any], backend: str) -> None:
    compiled = pliant.jit(f, backend=backend)
    for x in GIVEN.values():
        assert_same(outcome(compiled, x), outcome(f, x))


@pytest.mark.parametrize("f", NONES, ids=name_of)
def test_its_derivatives_are_those_of_what_was_used(f: Callable[..., Any]) -> None:
    def loss(x: Any) -> Any:
        return sum([np.sum(leaf * 1.0) for leaf in optree.tree_leaves(f(x.copy(), 5))])

    way, step = np.sin(np.arange(9.0) + 1), 1e-6
    for x in GIVEN.values():
        if not isinstance(outcome(f, x), type):
            wanted = (loss(x + step * way) - loss(x - step * way)) / (2 * step)
            assert pliant.grad(loss)(x) @ way == pytest.approx(wanted, rel=2e-5, abs=1e-6)
            assert pliant.jvp(loss, (x,), (way,))[1] == pytest.approx(wanted, rel=2e-5, abs=1e-6)


@pytest.mark.parametrize("f", NONES, ids=name_of)
def test_a_batch_is_a_loop(f: Callable[..., Any]) -> None:
    def each(x: Any) -> Any:
        return sum([np.sum(leaf * 1.0) for leaf in optree.tree_leaves(f(x.copy(), 5))])

    rows = np.stack([x for x in GIVEN.values() if not isinstance(outcome(f, x), type)])
    np.testing.assert_allclose(pliant.vmap(each)(rows), [each(x) for x in rows], rtol=1e-12, atol=1e-12)


def test_what_is_none_fails_with_pythons_words() -> None:
    @pliant.jit
    def f(x: Any) -> Any:
        best = None
        for v in x:
            if v > 1:
                best = v
        return best + 1.0  # type: ignore[operator]

    assert f(np.array([0.5, 1.5])) == 2.5
    with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for \+: 'NoneType' and 'float'"):
        f(np.array([0.5, 0.25]))


def test_a_call_that_returns_none_says_so() -> None:
    @pliant.jit
    def f(x: Any) -> Any:
        for v in x:
            if v > 1:
                return v
        return None

    assert f(np.array([0.5, 1.5])) == 1.5
    with pytest.raises(PliantError, match="the function returns None by a condition"):
        f(np.array([0.5, 0.25]))


def test_a_loop_with_it_stays_one() -> None:
    def f(x: Any) -> Any:
        best = None
        for i in range(9):
            if x[i] > 1 and (best is None or x[i] > best[1]):
                best = i, x[i]
        return 0.0 if best is None else best[0] * best[1]

    assert "unrolled" not in str(pliant.explain(f, X))


def test_none_has_its_class() -> None:
    def f(x: Any) -> Any:
        return x[0] if type(None) is type(None) else x[1]

    assert pliant.jit(f)(X) == f(X)


def test_functions_of_other_libraries_are_given_the_object() -> None:
    def found(x: Any) -> Any:
        best = None
        for i in range(x.shape[0]):
            if x[i] > 1.0 and (best is None or x[i] < best[0]):
                best = (x[i], x[i] * i)
        return sum(optree.tree_leaves(best))

    compiled = pliant.jit(found)
    assert compiled(np.array([0.0, 3.0, 2.0])) == 6.0
    with pytest.raises(TypeError):
        compiled(np.zeros(3))
