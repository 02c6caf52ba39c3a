"""Abstract classes whose instances are those of their subclasses."""

from __future__ import annotations

from abc import abstractmethod

import pytest

from pliant.core.family import Family
from pliant.core.ir import Op


class Animal(metaclass=Family):
    @abstractmethod
    def name(self) -> str: ...


class Dog(Animal):
    def name(self) -> str:
        return "dog"


def test_instances_are_those_of_subclasses():
    assert isinstance(Dog(), Animal)
    assert issubclass(Dog, Animal)
    assert not isinstance(1, Animal)
    assert not isinstance(Dog(), Op)


def test_what_lacks_a_method_has_no_instances():
    with pytest.raises(TypeError, match="abstract"):
        Animal()
