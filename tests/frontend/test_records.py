"""Dataclasses that hold arrays, as arguments and results: as NumPy's programs use them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import ArgumentError, DifferentiationError, TracedValueError


@dataclass
class Line:
    """Changed by functions, and compared by its parts."""

    slope: Any
    offset: Any = 0.5
    name: str = "line"

    def at(self, x: Any) -> Any:
        return self.slope * x + self.offset


@dataclass(frozen=True)
class Fixed:
    """Never changed."""

    slope: Any
    lines: tuple[Line, ...] = ()
    more: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(slots=True)
class Slotted:
    """Without a `__dict__`."""

    slope: Any
    count: int = 2


def line() -> Line:
    return Line(np.arange(3.0), 0.25)


def at(p: Line, x: Any) -> Any:
    return p.at(x) + len(p.name)


def written(p: Line, x: Any) -> Any:
    p.slope += x
    p.slope[0] = 7.0
    return p.slope.sum()


def set_anew(p: Line, x: Any) -> Any:
    p.offset = p.offset + x.sum()
    p.slope = p.slope * 2
    return p.offset


def set_under_a_condition(p: Line, x: Any) -> Any:
    for v in x:
        if v > 0.5:
            p.offset = p.offset + v
    return p.offset


def made(p: Line, x: Any) -> Any:
    return Line(p.slope * x, x.sum(), "made"), replace(p, offset=3.0), Slotted(x * 2)


def returned(p: Line, x: Any) -> Any:
    return p, [p]


def numbers(tree: Any) -> Any:
    """All there is of nested objects, to be compared."""
    if hasattr(tree, "__dataclass_fields__"):
        return type(tree).__name__, {n: numbers(getattr(tree, n)) for n in tree.__dataclass_fields__}
    if isinstance(tree, dict):
        return {k: numbers(v) for k, v in tree.items()}
    if isinstance(tree, list | tuple):
        return [numbers(x) for x in tree]
    return np.asarray(tree).tolist()


@pytest.mark.parametrize("f", [at, written, set_anew, set_under_a_condition, made, returned])
@pytest.mark.parametrize("backend", ["llvm", "reference"])
def test_functions_of_dataclasses_do_what_numpy_does(f: Any, backend: str) -> None:
    compiled = pliant.jit(f, backend=backend)
    for factor in (1.0, 2.0, 3.0):
        (ours, theirs), x = (line(), line()), np.array([0.25, 0.75, 1.5]) * factor
        got, wanted = compiled(ours, x), f(theirs, x)
        assert numbers(got) == numbers(wanted)
        assert numbers(ours) == numbers(theirs)
    assert [len(programs) for programs in compiled.entries.values()] == [1]


def test_a_program_is_made_once_for_dataclasses_alike() -> None:
    def f(p: Line, x: Any) -> Any:
        p.offset = p.offset + 1
        return p.at(x)

    compiled, programs = pliant.jit(f), set[int]()
    for n in range(5):
        compiled(Line(np.ones(3) * n, float(n)), np.ones(3))
        programs |= {id(entry) for entries in compiled.entries.values() for entry in entries}
    assert len(programs) == 1


def test_frozen_dataclasses_nest() -> None:
    def f(p: Fixed, x: Any) -> Any:
        return Fixed(p.slope * x + p.lines[0].slope + p.more["w"], (Line(x),), {"w": p.more["w"] * 2})

    p, x = Fixed(np.ones(3), (line(),), {"w": np.arange(3.0)}), np.arange(3.0)
    assert numbers(pliant.jit(f)(p, x)) == numbers(f(p, x))


@dataclass(frozen=True)
class Rates:
    """Numbers only."""

    rate: float = 0.5
    steps: int = 3


@dataclass(frozen=True)
class Shape:
    """Integers only."""

    rows: int
    steps: int = 3


def descended(w: Any, x: Any, rates: Rates) -> Any:
    for _ in range(rates.steps):
        w = w - rates.rate * (w - x)
    return w


def test_frozen_dataclasses_of_numbers_are_arguments_like_any_other() -> None:
    compiled = pliant.jit(descended)
    for n in range(6):
        rates, x = Rates(0.5 / (n + 1), n), np.arange(3.0) + n
        np.testing.assert_allclose(compiled(np.ones(3), x, rates), descended(np.ones(3), x, rates))
    assert sum([len(programs) for programs in compiled.entries.values()]) == 1


def test_gradients_of_frozen_dataclasses_of_numbers() -> None:
    made = pliant.grad(lambda p, x: descended(x * 0, x, p).sum())(Rates(0.25, 2), np.ones(3))
    assert made == Rates(3 * 2 * 0.75, None)  # type: ignore[arg-type]
    again = pliant.grad(lambda p: p.lines[0].rate ** 2)(Fixed(None, (Rates(3.0),)))  # type: ignore[arg-type]
    assert again.lines[0].rate == 6.0


@dataclass(frozen=True)
class Shaped:
    """Floats, and a shape."""

    scale: Any
    shape: Any = (3, 2)


def test_shapes_beside_floats_have_no_derivative_and_no_axes() -> None:
    def f(p: Shaped, x: Any) -> Any:
        return p.scale * x * p.shape[0]

    assert pliant.grad(f)(Shaped(2.0), 1.0) == Shaped(3.0, (None, None))
    np.testing.assert_array_equal(pliant.vmap(f)(Shaped(np.arange(4.0)), np.ones(4)), 3 * np.arange(4.0))
    with pytest.raises(DifferentiationError, match=r"got i64\[\] for p\.shape\[1\]"):
        pliant.grad(f)(Shaped(2.0, [1.5, 2]), 1.0)


def test_frozen_dataclasses_are_keys_where_they_are_static() -> None:
    found = {Rates(1.0): 2.0, Rates(2.0): 5.0}
    with pytest.raises(TracedValueError, match="or say static="):
        pliant.jit(lambda r, x: found[r] * x)(Rates(2.0), np.ones(2))
    made = pliant.jit(lambda r, x: found[r] * x, static="r")(Rates(2.0), np.ones(2))
    np.testing.assert_array_equal(made, [5.0, 5.0])


def test_frozen_dataclasses_of_integers_are_static_values() -> None:
    def f(shape: Shape, x: Any) -> Any:
        return np.full((shape.rows, 2), {Shape(2): 1.0, Shape(3): 5.0}[shape]) * x

    for rows in (2, 3):
        np.testing.assert_array_equal(pliant.jit(f)(Shape(rows), np.ones(2)), f(Shape(rows), np.ones(2)))


def test_slots_are_parts() -> None:
    def f(p: Slotted, x: Any) -> Any:
        p.slope = p.slope * x
        p.count += 1
        return sum([p.slope.sum() for _ in range(p.count)])

    compiled = pliant.jit(f)
    for n in range(3):
        ours, theirs, x = Slotted(np.ones(3) + n), Slotted(np.ones(3) + n), np.arange(3.0)
        np.testing.assert_allclose(compiled(ours, x), f(theirs, x))
        assert numbers(ours) == numbers(theirs)


def test_gradients_are_dataclasses() -> None:
    def loss(p: Line, x: Any) -> Any:
        return (p.at(x) ** 2).sum()

    p = Line(np.arange(3.0), np.float64(0.25), None)  # type: ignore[arg-type]
    g = pliant.grad(loss)(p, np.arange(3.0))
    assert type(g) is Line
    np.testing.assert_allclose(g.slope, 2 * p.at(np.arange(3.0)) * np.arange(3.0))
    np.testing.assert_allclose(g.offset, 2 * p.at(np.arange(3.0)).sum())


def test_batches_of_dataclasses() -> None:
    p = Line(np.arange(6.0).reshape(2, 3), np.array([1.0, 2.0]), None)  # type: ignore[arg-type]
    made = pliant.vmap(lambda p: Line(p.slope * 2, p.at(1.0).sum()))(p)
    np.testing.assert_allclose(made.slope, 2 * p.slope)
    np.testing.assert_allclose(made.offset, [(s + o).sum() for s, o in zip(p.slope, p.offset, strict=True)])


def test_numbers_beside_arrays_in_objects_are_the_same_for_all_of_a_batch() -> None:
    p = Line(np.arange(6.0).reshape(2, 3), 0.5)
    made = pliant.vmap(lambda p, x: p.at(x))(p, np.array([1.0, 2.0]))
    np.testing.assert_array_equal(made, p.slope * [[1.0], [2.0]] + 0.5)
    with pytest.raises(ArgumentError, match=r"expected arrays to map over, got Rates for r(?s:.*)in_axes=None"):
        pliant.vmap(lambda r, x: r.rate * x)(Rates(), np.ones(3))


def updated(p: Any, x: Any) -> Any:
    p.a += x * p.dt
    p.b = p.a * 2
    for _ in range(10):
        p.w = p.w * 0.9 + x
        p.n += 1
    return p, SimpleNamespace(total=p.a.sum(), parts=[p.w[0], SimpleNamespace(dt=p.dt)])


def test_namespaces_are_parts() -> None:
    compiled = pliant.jit(updated)
    for _ in range(4):
        ours, theirs = (SimpleNamespace(a=np.ones(3), dt=0.5, n=2, w=np.arange(3.0)) for _ in range(2))
        (same, made), (_, wanted) = compiled(ours, np.ones(3)), updated(theirs, np.ones(3))
        assert same is ours
        for a, b in ((ours, theirs), (made, wanted)):
            assert str(a) == str(b)


def test_gradients_and_batches_of_namespaces() -> None:
    def loss(p: Any, x: Any) -> Any:
        return ((p.w * x + p.b) ** 2).sum()

    p, x = SimpleNamespace(w=np.ones(3), b=0.5), np.arange(3.0)
    g = pliant.grad(loss)(p, x)
    np.testing.assert_allclose(g.w, 2 * (p.w * x + p.b) * x)
    np.testing.assert_allclose(g.b, 2 * (p.w * x + p.b).sum())
    made = pliant.vmap(loss, in_axes=(None, 0))(p, np.stack([x, x + 1]))
    np.testing.assert_allclose(made, [loss(p, x), loss(p, x + 1)])
