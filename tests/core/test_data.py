from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, is_dataclass, replace
from typing import ClassVar

import pytest

from pliant.core.data import frozen, mutable


@frozen
class Point:
    """Two fields, one with a default."""

    kind: ClassVar[str] = "point"
    x: float
    y: tuple[int, ...] = ()


@dataclass(frozen=True)
class Same:
    """What the standard library makes of the same fields."""

    kind: ClassVar[str] = "point"
    x: float
    y: tuple[int, ...] = ()


@frozen
class Named(Point):
    name: str = "p"

    def __post_init__(self) -> None:
        if not self.name:
            raise ValueError("no name")


@frozen
class ByName:
    name: str
    weight: float

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ByName) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)


@pytest.mark.parametrize("cls", [Point, Same])
def test_instances_are_values_as_those_of_dataclass(cls):
    a, b = cls(1.0, (2,)), cls(y=(2,), x=1.0)
    assert a == b
    assert hash(a) == hash(b)
    assert a != cls(1.0)
    assert a != Named(1.0, (2,))
    assert repr(a) == f"{cls.__name__}(x=1.0, y=(2,))"
    assert cls.__match_args__ == ("x", "y")
    assert [(f.name, f.type) for f in fields(a)] == [("x", "float"), ("y", "tuple[int, ...]")]
    assert is_dataclass(a)
    assert asdict(a) == {"x": 1.0, "y": (2,)}
    assert replace(a, x=3.0) == cls(3.0, (2,))
    assert copy.deepcopy(a) == a
    assert pickle.loads(pickle.dumps(a)) == a
    assert vars(a) == {"x": 1.0, "y": (2,)}


@pytest.mark.parametrize("cls", [Point, Same])
def test_wrong_arguments_are_refused(cls):
    for args, given in (((), {}), ((1, (), 2), {}), ((1,), {"z": 2}), ((1,), {"x": 2})):
        with pytest.raises(TypeError, match="__init__"):
            cls(*args, **given)


@pytest.mark.parametrize("cls", [Point, Same])
def test_fields_cannot_change(cls):
    point = cls(1.0)
    with pytest.raises(FrozenInstanceError, match="x"):
        point.x = 2.0
    with pytest.raises(FrozenInstanceError, match="x"):
        del point.x
    assert point.x == 1.0


def test_a_value_that_no_init_made_is_a_value():
    @frozen
    class Fresh:
        x: int

    a, b = object.__new__(Fresh), object.__new__(Fresh)  # as pickle makes them
    a.__dict__["x"] = b.__dict__["x"] = 1
    assert a == b
    assert hash(a) == hash(b)


def test_fields_are_inherited_and_post_init_is_called():
    assert Named(1.0, (), "q").name == "q"
    assert [f.name for f in fields(Named)] == ["x", "y", "name"]
    assert Named(1.0) == Named(1.0, (), "p") != Point(1.0)
    with pytest.raises(ValueError, match="no name"):
        Named(1.0, (), "")


def test_own_methods_are_kept():
    assert ByName("a", 1.0) == ByName("a", 2.0)
    assert len({ByName("a", 1.0), ByName("a", 2.0), ByName("b", 1.0)}) == 2


def test_a_dataclass_may_derive_from_a_frozen_class():
    @dataclass(frozen=True)
    class Weighted(Point):
        weight: float = 1.0

    assert Weighted(1.0, (2,), 3.0) == Weighted(1.0, (2,), weight=3.0) != Weighted(1.0, (2,))
    with pytest.raises(FrozenInstanceError, match="weight"):
        Weighted(1.0).weight = 2.0


@mutable
class Bag:
    """A field of each kind that changes what its class does."""

    name: str
    items: list[int] = field(default_factory=list[int])
    size: int = field(default=0, compare=False)
    note: str = field(default="", repr=False)


@dataclass
class SameBag:
    """What the standard library makes of the same fields."""

    name: str
    items: list[int] = field(default_factory=list[int])
    size: int = field(default=0, compare=False)
    note: str = field(default="", repr=False)


@pytest.mark.parametrize("cls", [Bag, SameBag])
def test_instances_of_mutable_classes_change(cls):
    a, b = cls("a"), cls("a", size=3)
    assert a == b
    a.items.append(1)
    assert a != b
    assert b.items == [] == cls("c").items
    b.note = "kept"
    assert repr(b) == f"{cls.__name__}(name='a', items=[], size=3)"
    assert cls.size == 0
    assert not hasattr(cls, "items")
    assert replace(b, name="d") == cls("d", [], 5, "kept")
    assert pickle.loads(pickle.dumps(a)) == a
    with pytest.raises(TypeError, match="hash"):
        hash(a)
    del b.note
    assert b.note == ""


def test_instances_compared_by_identity():
    @mutable(eq=False)
    class Node:
        next: Node | None = None

    @frozen(eq=False)
    class Fixed:
        x: int

    a, b = Node(), Node()
    assert a != b
    assert len({a, b, a}) == 2
    a.next = a
    assert "..." in repr(a)
    assert Fixed(1) != Fixed(1)
    with pytest.raises(FrozenInstanceError, match="x"):
        Fixed(1).x = 2


def test_what_is_hashed_follows_what_is_compared():
    @frozen
    class Key:
        name: str
        place: int = field(default=0, compare=False)
        weight: int = field(default=0, hash=False)

    assert hash(Key("a", 1, 2)) == hash(Key("a", 3, 4)) == hash(("a",))
    assert Key("a", 1, 2) == Key("a", 3, 2) != Key("a", 1, 4)
