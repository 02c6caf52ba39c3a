"""Attributes that descriptors of the user, and classes of classes, have."""

from __future__ import annotations

from typing import Any

import pliant


class Doubled:
    """An attribute that holds twice what it is set to."""

    def __set_name__(self, owner: Any, name: str) -> None:
        self.name = f"_{name}"

    def __get__(self, x: Any, owner: Any = None) -> Any:
        return getattr(x, self.name)

    def __set__(self, x: Any, value: Any) -> None:
        setattr(x, self.name, 2 * value)


class Shown:
    """An attribute that is computed until one is set."""

    def __get__(self, x: Any, owner: Any = None) -> Any:
        return x._v + 1


class Model:
    """An object of both."""

    v, shown = Doubled(), Shown()

    def __init__(self) -> None:
        self._v = 0.0


def test_what_a_descriptor_sets_is_set_at_every_call() -> None:
    p, q = Model(), Model()

    def of(model: Model) -> Any:
        def f(x: Any) -> Any:
            model.v = x + model.v
            return model.v + model.shown

        return f

    compiled, plain = pliant.jit(of(p)), of(q)
    for x in (1.0, 2.0, 3.0):
        assert compiled(x) == plain(x)
        assert p._v == q._v


def test_what_a_descriptor_reads_is_read_at_every_call() -> None:
    p = Model()
    f = pliant.jit(lambda x: x + p.v + p.shown)
    assert f(1.0) == 2.0
    p.v = 3.0
    assert f(1.0) == 14.0
    p.__dict__["shown"] = 0.0
    assert f(1.0) == 7.0


def test_what_a_class_of_a_class_has_is_read_at_every_call() -> None:
    class Kind(type):
        k = 1.0

    class One(metaclass=Kind):
        pass

    f = pliant.jit(lambda x: x * One.k)
    assert f(1.0) == 1.0
    Kind.k = 2.0
    assert f(1.0) == 2.0
    One.k = 3.0
    assert f(1.0) == 3.0
