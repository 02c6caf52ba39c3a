"""Scenarios as pytest runs them."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, cast, final

import numpy as np
import pytest

from pliant import diff
from pliant.diff.testing.expected import Expected
from pliant.diff.testing.family import Family, constant_of, contexts_of, function
from pliant.diff.testing.scenarios import SHAPES, VALUE_FORMS, Scenario, first_order, skip_reason
from pliant.errors import PreparationError, UnavailableError


@final
@dataclass(frozen=True, eq=False)
class Made:
    """A scenario ready to run: the arguments of the operator, and what it must return."""

    f: Any
    calls: list[int]
    x: Any
    t: tuple[Any, ...]
    contexts: tuple[Any, ...]
    options: dict[str, Any]
    expected: Expected
    wanted: tuple[Any, ...]


def make(system: Any, scenario: Scenario) -> Made:
    """The call of a scenario, with its preparation if it has one."""
    shape, y_shape, dtype = SHAPES[scenario.x], SHAPES[scenario.y], scenario.dtype
    x = np.linspace(0.2, 0.9, math.prod(shape)).reshape(shape).astype(dtype)[()]
    seeds = _seeds(scenario, shape, y_shape)
    expected = Expected(scenario, Family(shape, y_shape, dtype), x, constant_of(scenario))
    wanted = expected.results(seeds)
    made = function(Scenario("gradient", scenario.x, scenario.y, scenario.context, scenario.fills, dtype=dtype))
    t = () if scenario.operator not in ("pushforward", "pullback", "hvp") else (seeds,)
    options: dict[str, Any] = {"prep": _prep(system, scenario, made.f, x, t)} if scenario.prepared else {}
    if scenario.fills:
        options["y"] = np.full(y_shape, np.nan, dtype)
    if scenario.out:
        options["out"] = _like(wanted[-1], dtype)
    return Made(made.f, made.calls, x, t, contexts_of(scenario), options, expected, wanted)


def check(system: Any, scenario: Scenario) -> None:
    """Run one case; raises AssertionError with what differs. Skips where a package is missing."""
    try:
        first_order(system).require()
    except UnavailableError as error:
        pytest.skip(str(error))
    case = make(system, scenario)
    before = np.array(case.x)
    near = functools.partial(_assert_near, tolerance=_tolerance(system, scenario))
    for name in (scenario.operator, VALUE_FORMS.get(scenario.operator, f"value_and_{scenario.operator}")):
        result = getattr(diff, name)(case.f, system, case.x, *case.t, *case.contexts, **case.options)
        parts = (result,) if name == scenario.operator else result[1:]
        near(parts, case.wanted[-1:] if name == scenario.operator else case.wanted)
        if name != scenario.operator:
            near(result[0], case.expected.value)
            assert not scenario.fills or result[0] is case.options["y"]
        assert not scenario.out or parts[-1] is case.options["out"]
    assert np.array_equal(case.x, before), "x was changed"
    if case.contexts and isinstance(case.contexts[0], diff.Constant):
        assert np.array_equal(case.contexts[0].value, constant_of(scenario)), "a constant was changed"


def _seeds(scenario: Scenario, shape: tuple[int, ...], y_shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Tangents or cotangents."""
    like = y_shape if scenario.operator == "pullback" else shape
    made = [(n + np.linspace(-1, 1, math.prod(like) + 1)[1:]).reshape(like).astype(scenario.dtype)[()] for n in (1, 2)]
    has_pair = scenario.context == "Active" and scenario.operator != "pullback"
    pairs = [(s, np.asarray(0.5 + n, scenario.dtype)[()]) if has_pair else s for n, s in enumerate(made)]
    return tuple(pairs[: scenario.seeds])


def _prep(system: Any, scenario: Scenario, f: Any, x: Any, t: Any) -> Any:
    """A preparation made where every value is zero; another function must be refused."""
    options = {"y": np.zeros(SHAPES[scenario.y], scenario.dtype)} if scenario.fills else {}
    prepare = getattr(diff, f"prepare_{scenario.operator}")
    prep = prepare(f, system, 0 * x, *t, *contexts_of(scenario, is_zero=True), **options)
    other = functools.partial(f)
    with pytest.raises(PreparationError):
        getattr(diff, scenario.operator)(other, system, x, *t, *contexts_of(scenario), **options, prep=prep)
    return prep


def _like(tree: Any, dtype: str) -> Any:
    """NaNs like a tree of arrays."""
    if isinstance(tree, tuple):
        return tuple([_like(leaf, dtype) for leaf in cast("tuple[Any, ...]", tree)])
    return np.full(np.shape(tree), np.nan, dtype)


def _tolerance(system: Any, scenario: Scenario) -> float:
    parts = (system.outer, system.inner) if isinstance(system, diff.SecondOrder) else (system,)
    able = [part.abilities for part in parts]
    tolerance = max(a.tolerance[scenario.order - 1] for a in able)
    return tolerance if scenario.dtype == "float64" else max(1e-5, math.sqrt(tolerance))


def _assert_near(made: Any, wanted: Any, *, tolerance: float) -> None:
    """Leaf by leaf, relative to the largest entry."""
    if isinstance(wanted, tuple):
        for one, other in zip(made, cast("tuple[Any, ...]", wanted), strict=True):
            _assert_near(one, other, tolerance=tolerance)
        return
    assert np.shape(made) == np.shape(wanted), f"shape {np.shape(made)}, expected {np.shape(wanted)}"
    scale = max(1.0, float(np.max(np.abs(wanted), initial=0)))
    np.testing.assert_allclose(made, wanted, rtol=0, atol=tolerance * scale)


def cases(systems: Iterable[Any], of: Iterable[Scenario]) -> list[Any]:
    """`pytest.param(system, scenario)` for every pair; skipped, with the reason, where not claimed."""
    made: list[Any] = []
    pairs = itertools.product(systems, of)
    for system, scenario in pairs:
        reason = skip_reason(system, scenario)
        marks = [pytest.mark.skip(reason=f"{system.name}: {reason}")] if reason else []
        made.append(pytest.param(system, scenario, id=f"{system.name}-{scenario.id}", marks=marks))
    return made


def test_differentiation(systems: Iterable[Any], of: Iterable[Scenario]) -> Callable[..., None]:
    """A pytest function that checks the systems on the scenarios: bind it to a name `test_…`."""

    @pytest.mark.parametrize(("system", "scenario"), cases(systems, of))
    def test(system: Any, scenario: Scenario) -> None:
        check(system, scenario)

    return test


test_differentiation.__test__ = False  # type: ignore[attr-defined]
