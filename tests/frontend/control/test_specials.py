"""Special methods of classes, with conditions and loops that depend on data: what they do is what they do in Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.testing import check_gradient


class Box:
    """Three numbers, and every special method under a condition."""

    def __init__(self, x: Any) -> None:
        self.x = x

    def __bool__(self) -> bool:
        found = False
        if self.x[0] > 0 and self.x[1] > -5:
            found = True
        return found

    def __len__(self) -> int:
        count = 0
        for v in self.x:
            if v > 0:
                count += 1
        return count

    def __getitem__(self, i: int) -> Any:
        return self.x[i] if self.x[i] > 0 else 0.0

    def __setitem__(self, i: int, v: Any) -> None:
        if v > 0:
            self.x[i] = v

    def __contains__(self, v: Any) -> bool:
        found = False
        for w in self.x:
            if w == v:
                found = True
        return found

    def __iter__(self) -> Iterator[Any]:
        return iter([abs(v) for v in self.x])

    def __call__(self, y: Any) -> Any:
        if y > 0:
            return y
        return -y

    def __neg__(self) -> Box:
        return Box(-self.x if self.x[0] > 0 else self.x)

    def __abs__(self) -> Box:
        return Box(np.abs(self.x) if self.x[0] < 3 else self.x)

    def __invert__(self) -> Box:
        return Box(self.x * 2 if self.x[0] > 0 else self.x)

    def __float__(self) -> float:
        return float(self.x[0] if self.x[1] > 0 else self.x[2])

    def __lt__(self, other: Box) -> bool:
        found = self.x[1] > other.x[1]
        if self.x[0] < other.x[0]:
            found = True
        return bool(found)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Box) and bool(self.x[0] == other.x[0])

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: Box) -> Box:
        if other.x[0] > 0:
            return Box(self.x + other.x)
        return Box(self.x)

    def __radd__(self, k: Any) -> Box:
        return Box(self.x + k if self.x[0] > 0 else self.x)

    def __iadd__(self, other: Box) -> Box:
        if other.x[0] > 0:
            self.x = self.x + other.x
        return self

    def __pow__(self, k: int) -> Box:
        return Box(self.x**k if self.x[0] > 0 else self.x)


class Vector:
    """A vector of the plane, as people write it."""

    def __init__(self, x: Any, y: Any) -> None:
        self.x, self.y = x, y

    def __add__(self, other: Vector) -> Vector:
        return Vector(self.x + other.x, self.y + other.y)

    def __mul__(self, k: Any) -> Vector:
        return Vector(self.x * k, self.y * k)

    __rmul__ = __mul__

    def __neg__(self) -> Vector:
        return Vector(-self.x, -self.y)

    def __sub__(self, other: Vector) -> Vector:
        return self + -other


class Stack:
    """Numbers in an array, and how many there are."""

    def __init__(self, room: int) -> None:
        self.numbers, self.count = np.zeros(room), 0

    def push(self, v: Any) -> None:
        self.numbers[self.count] = v
        self.count += 1

    def pop(self) -> Any:
        self.count -= 1
        return self.numbers[self.count]

    def __len__(self) -> int:
        return self.count


def truth_of_a_branch(x: Any) -> Any:
    if Box(x):
        return x.sum()
    return 1.0 if not Box(x[::-1]) else x.min()


def truth_in_expressions(x: Any) -> Any:
    b = Box(x)
    return x * bool(b) + (x[0] if b and x[1] > 0 else x[1]) + any(Box(x * k) for k in (1, -1))


def truth_of_a_loop(x: Any) -> Any:
    b, k = Box(x), 0
    while b:
        b.x = b.x - 1
        k += 1
    return b.x * k


def lengths(x: Any) -> Any:
    return x * len(Box(x))


def items(x: Any) -> Any:
    b, total = Box(x.copy()), 0.0
    for i in range(3):
        total += b[i]
        b[i] = x[2 - i]
    return b.x * total


def membership(x: Any) -> Any:
    return x * 2 if x[2] in Box(x) and x[2] not in Box(x - 1) else x


def elements(x: Any) -> Any:
    total = 0.0
    for v in Box(x):
        total += v * x[0]
    return total


def calls(x: Any) -> Any:
    return Box(x)(x[0]) * x


def one_operand(x: Any) -> Any:
    return (-Box(x)).x + abs(Box(x)).x * (~Box(x)).x + float(Box(x))


def comparisons(x: Any) -> Any:
    a, b = Box(x), Box(x[::-1])
    found = 1.0 if a < b else 2.0
    found += 4.0 if a > b else 8.0
    found += 16.0 if a == b else 32.0
    found += 64.0 if a != b else 128.0
    return found * x + min([a, b, Box(x * 2)]).x + max(a, b).x


def sums(x: Any) -> Any:
    b = Box(x) + Box(x * 2)
    b += Box(-x)
    return (2.0 + b).x + (Box(x) ** 2).x + sum([Box(x), Box(x[::-1])], Box(x)).x


def numbers_before_vectors(x: Any) -> Any:
    v = Vector(x[0], x[1])
    w = x[2] * v + 2.0 * v - v * x[1]
    w -= v
    w *= x[0]
    w += v
    return w.x, w.y


def a_stack(x: Any) -> Any:
    stack, total = Stack(4), 0.0
    for v in x:
        if v > 0:
            stack.push(v * v)
        elif stack:
            total += stack.pop() * v
    return total, len(stack), 1.0 if len(stack) > 1 else 0.0


PROGRAMS: tuple[Callable[..., Any], ...] = (
    truth_of_a_branch, truth_in_expressions, truth_of_a_loop, lengths, items, membership, elements, calls, one_operand, comparisons, sums,
    numbers_before_vectors, a_stack,
)  # fmt: skip
INPUTS = (np.array([1.5, -2.0, 3.0]), np.array([-1.0, 2.5, 3.5]), np.array([0.5, 1.0, -0.25]))


def parts_of(found: Any) -> list[Any]:
    return [*found] if type(found) is tuple else [found]


def flat(found: Any) -> Any:
    return np.concatenate([np.ravel(part) for part in parts_of(found)])


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_values_are_pythons(program: Callable[..., Any]) -> None:
    for x in INPUTS:
        np.testing.assert_allclose(flat(pliant.jit(program)(x.copy())), flat(program(x.copy())), rtol=1e-12)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_batches_are_those_of_a_loop(program: Callable[..., Any]) -> None:
    got = pliant.vmap(program)(np.stack(INPUTS))
    for n, x in enumerate(INPUTS):
        row = np.concatenate([np.ravel(part[n]) for part in parts_of(got)])
        np.testing.assert_allclose(row, flat(program(x.copy())), rtol=1e-12)


@pytest.mark.parametrize("program", [truth_of_a_branch, items, one_operand, comparisons, sums, a_stack])
def test_gradients_are_those_of_differences(program: Callable[..., Any]) -> None:
    def total(x: Any) -> Any:
        return np.sum(parts_of(program(x))[0])

    for x in INPUTS:
        check_gradient(total, x)


class Asked:
    """An object that makes its attributes when they are asked for."""

    def __init__(self, x: Any) -> None:
        self.x = x

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if self.x[0] > 0:
            return self.x * len(name)
        return -self.x


ASKED = Asked(np.array([1.0, 2.0]))


@pytest.mark.parametrize("first", [1.0, -1.0])
@pytest.mark.parametrize("f", [lambda x: Asked(x).scale.sum(), lambda x: x * ASKED.scale + ASKED.x])
def test_attributes_that_are_made_when_asked_for_may_depend_on_numbers(f: Any, first: float) -> None:
    x = np.array([first, 3.0])
    np.testing.assert_array_equal(pliant.jit(f)(x), f(x))


def test_an_attribute_that_is_made_when_asked_for_is_there_as_soon_as_it_is_set() -> None:
    thing = Asked(np.array([1.0, 2.0]))
    compiled = pliant.jit(lambda x: x * thing.scale)
    for _ in range(3):
        np.testing.assert_array_equal(compiled(2.0), 2 * thing.scale)
    thing.scale = 3.0
    assert compiled(2.0) == 6
    del thing.scale
    np.testing.assert_array_equal(compiled(2.0), 2 * thing.scale)


class Node:
    """A number that knows what it was made of, and how to hand derivatives on."""

    def __init__(self, data: Any, parts: tuple[Any, ...] = ()) -> None:
        self.data, self.grad, self.parts = data, 0.0, parts
        self.back: Callable[[], None] = lambda: None

    def __add__(self, other: Any) -> Any:
        other = other if isinstance(other, Node) else Node(other)
        made = Node(self.data + other.data, (self, other))

        def back() -> None:
            self.grad += made.grad
            other.grad += made.grad

        made.back = back
        return made

    def __radd__(self, other: Any) -> Any:
        return self + other

    def __mul__(self, other: Any) -> Any:
        made = Node(self.data * other.data, (self, other))

        def back() -> None:
            self.grad += other.data * made.grad
            other.grad += self.data * made.grad

        made.back = back
        return made

    def tanh(self) -> Any:
        made = Node(np.tanh(self.data), (self,))

        def back() -> None:
            self.grad += (1 - made.data**2) * made.grad

        made.back = back
        return made

    def backward(self) -> None:
        order: list[Any] = []
        seen: set[Any] = set()

        def visit(node: Any) -> None:
            if node not in seen:
                seen.add(node)
                for part in node.parts:
                    visit(part)
                order.append(node)

        visit(self)
        self.grad = 1.0
        for node in reversed(order):
            node.back()


def by_hand(x: Any) -> Any:
    weights = [Node(v) for v in x]
    first = sum((w * w for w in weights), Node(0.1)).tanh()
    second = sum([w * first for w in weights]).tanh()
    (first * second + first).backward()
    return np.array([w.grad for w in weights])


def test_derivatives_by_objects_that_are_summed():
    for x in (np.array([0.1, 0.2, 0.3]), np.array([0.5, -0.2, 0.1])):
        np.testing.assert_allclose(pliant.jit(by_hand)(x), by_hand(x), rtol=1e-14)


SUMS: dict[str, Callable[[Any], Any]] = {
    "generator": lambda x: sum((v * 2 for v in x), start=10.0),
    "list": lambda x: sum([v for v in x], start=10.0),
    "arrays": lambda x: sum((v * np.ones(2) for v in x), start=np.ones(2)),
    "known": lambda x: sum((i for i in range(3)), start=5) * x,
    "pairs": lambda x: sum((a * b for a, b in zip(x, x, strict=True)), start=1.0),
    "chosen": lambda x: sum([v for v in x if v > 0.15], start=x[0]),
    "objects": lambda x: sum([Node(v) for v in x], start=Node(1.0)).data,
}


@pytest.mark.parametrize("name", SUMS)
def test_sums_from_a_start_given_by_name(name: str):
    x = np.array([0.1, 0.2, 0.3, -0.4, 0.5, 0.6])
    np.testing.assert_allclose(pliant.jit(SUMS[name])(x), SUMS[name](x), rtol=1e-14)
