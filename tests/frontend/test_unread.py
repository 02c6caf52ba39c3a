"""Arrays of objects that a function has to leave alone: they may be there, and be overwritten, but not be read."""

from __future__ import annotations

import copy
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import DTypeError

X = np.array([1.0, -2.0])


class Filter:
    """As filterpy has it."""

    def __init__(self) -> None:
        self.x, self.z = np.zeros(2), np.array([[None]])

    def update(self, z: Any) -> Any:
        self.z = np.array([z])
        self.x = self.x + z
        return self.x

    def predict(self, z: Any) -> Any:
        self.x = self.x * 0.5 + z
        return self.x

    def look(self, z: Any) -> Any:
        return z * 2 if self.z[0, 0] is None else z


def called(f: Any, how: str, name: str) -> Any:
    """A method compiled: as one, of an argument, of what is outside."""
    if how == "method":
        return pliant.jit(getattr(f, name))
    if how == "argument":
        compiled = pliant.jit(lambda f, z: getattr(f, name)(z))
        return lambda z: compiled(f, z)
    return pliant.jit(lambda z: getattr(f, name)(z))


@pytest.mark.parametrize("how", ["method", "argument", "outside"])
@pytest.mark.parametrize("name", ["update", "predict"])
def test_overwritten_or_unread(how: str, name: str) -> None:
    ours, theirs = Filter(), Filter()
    compiled = called(ours, how, name)
    for k in range(6):
        before = ours.z
        np.testing.assert_allclose(compiled(k * 0.5), getattr(theirs, name)(k * 0.5))
        np.testing.assert_allclose(ours.x, theirs.x)
        assert ours.z.dtype == theirs.z.dtype
        assert ours.z.tolist() == theirs.z.tolist()
        assert (ours.z is before) == (name == "predict")


def test_it_is_compiled_once_whatever_the_array_is() -> None:
    f = Filter()
    compiled = pliant.jit(f.predict)
    for k in range(6):
        f.z = np.array([[str(k)]], object)
        compiled(1.0)
    assert sum(map(len, compiled.entries.values())) <= 2


@pytest.mark.parametrize(("how", "named"), [("method", "z"), ("argument", "f.z"), ("outside", "z")])
def test_reading_it_is_refused_where_it_is_read(how: str, named: str) -> None:
    f = Filter()
    with pytest.raises(DTypeError, match=rf"^{named}: expected an array of .* got dtype object") as caught:
        called(f, how, "look")(1.0)
    assert "self.z[0, 0]" in str(caught.value)
    assert f.z.tolist() == [[None]]


def test_items_of_containers() -> None:
    d = {"a": X, "z": np.array([None])}
    np.testing.assert_allclose(pliant.jit(lambda d: d["a"] * 2)(d), X * 2)
    np.testing.assert_allclose(pliant.jit(lambda d, k: d[0] * k)([X, np.array([None])], 2.0), X * 2)
    for read in (lambda d: d["z"], lambda d: d["z"] + 1, lambda d: [*d.values()][1] * 2, lambda d: np.sum(d["z"])):
        with pytest.raises(DTypeError, match="got dtype object"):
            pliant.jit(read)(d)
    with pytest.raises(DTypeError, match=r"^z: expected"):
        pliant.jit(lambda z: 1)(np.array([None]))


def test_it_goes_with_what_holds_it() -> None:
    f = SimpleNamespace(x=X, z=np.array([None]))
    assert pliant.jit(lambda f: f)(f) is f

    def moved(f: Any, g: Any) -> Any:
        g.inner = f
        return f.x

    compiled, g = pliant.jit(moved), SimpleNamespace(inner=None)
    for _ in range(3):
        compiled(f, g)
        assert g.inner is f
        assert g.inner.z.tolist() == [None]
    with pytest.raises(DTypeError, match=r"f\.z: expected"):
        pliant.jit(lambda f: copy.copy(f))(f)


def test_functions_without_source_may_not_read_it_either() -> None:
    names: dict[str, Any] = {}
    exec("def g(f): return f.x * 2\ndef h(f): return f.z * f.x", names)
    f = SimpleNamespace(x=X, z=np.array([3.0, 4.0], object))
    np.testing.assert_allclose(pliant.jit(names["g"])(f), X * 2)
    with pytest.raises(DTypeError, match=r"f\.z: expected"):
        pliant.jit(names["h"])(f)
