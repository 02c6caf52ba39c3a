"""The scenario suite: every claim of a system's ability table, as data that pytest runs.

    test_mine = test_differentiation([MySystem()], scenarios())

is a full check of a new system. One family of functions covers all shapes: with u = x.reshape(-1),

    y = c·(W sin u) + (u·u)·b,   of any shape

whose derivatives are known in closed form. Skips derive from the ability table and say why.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, cast, final

import numpy as np
import pytest

from pliant import diff
from pliant.diff.namespace import namespace
from pliant.errors import PreparationError, UnavailableError

Operator = Literal[
    "pushforward", "pullback", "derivative", "gradient", "jacobian", "second_derivative", "hvp", "hessian"
]
Context = Literal["none", "Constant", "ConstantArray", "Cache", "Caches", "ConstantOrCache", "captured", "Active"]

SHAPES: Final = {"number": (), "vector": (3,), "matrix": (2, 2)}
CONTEXTS: Final[tuple[Context, ...]] = (
    "none", "Constant", "ConstantArray", "Cache", "Caches", "ConstantOrCache", "captured", "Active",
)  # fmt: skip
VALUE_FORMS: Final = {
    "second_derivative": "value_derivative_and_second_derivative",
    "hvp": "value_gradient_and_hvp",
    "hessian": "value_gradient_and_hessian",
}


@final
@dataclass(frozen=True)
class Scenario:
    """One case: an operator, the shapes of x and y, and how the function takes and gives them.

    fills: f fills y= instead of returning it. out: the result is written to out=. seeds: how many.
    prepared: with a preparation that was made at zeros.
    """

    operator: Operator
    x: str
    y: str
    context: Context = "none"
    fills: bool = False
    out: bool = False
    seeds: int = 1
    prepared: bool = False
    dtype: str = "float64"

    @property
    def id(self) -> str:
        """A name for reports."""
        flags = [name for name in ("fills", "out", "prepared") if getattr(self, name)]
        many = [f"{self.seeds}seeds"] if self.seeds > 1 else []
        single = [self.dtype] if self.dtype != "float64" else []
        return "-".join([self.operator, f"{self.x}>{self.y}", self.context, *flags, *many, *single])

    @property
    def order(self) -> int:
        """1 or 2."""
        return 2 if self.operator in VALUE_FORMS else 1


def scenarios(
    *,
    operators: Iterable[Operator] = (
        "pushforward", "pullback", "derivative", "gradient", "jacobian", "second_derivative", "hvp", "hessian",
    ),
    contexts: Iterable[Context] = CONTEXTS,
    fills: Sequence[bool] = (False, True),
    out: Sequence[bool] = (False, True),
    seeds: Sequence[int] = (1, 2),
    prepared: Sequence[bool] = (False, True),
    dtypes: Sequence[str] = ("float64",),
) -> list[Scenario]:  # fmt: skip
    """All combinations of these values that make sense."""
    axes = (operators, SHAPES, SHAPES, contexts, fills, out, seeds, prepared, dtypes)
    return [s for s in map(Scenario, *zip(*itertools.product(*axes), strict=True)) if _makes_sense(s)]


def thinned(of: Sequence[Scenario], step: int) -> list[Scenario]:
    """Every step-th scenario: step should share no factor with the lengths of the axes."""
    return list(of[::step])


def _makes_sense(s: Scenario) -> bool:
    if s.seeds > 1 and s.operator not in ("pushforward", "pullback", "hvp"):
        return False
    if s.operator in ("derivative", "second_derivative") and (s.x != "number" or s.context == "Active"):
        return False
    if s.operator in ("gradient", "hvp", "hessian") and s.y != "number":
        return False
    if s.operator in ("jacobian", "hessian") and s.x == "number":
        return False
    return not (s.fills and (s.order == 2 or s.operator == "gradient" or s.y == "number"))


def skip_reason(system: Any, scenario: Scenario) -> str:
    """Why the system does not claim this case; "" if it does."""
    able = _of(system, scenario).abilities
    writes = scenario.fills or scenario.context in ("Cache", "Caches", "ConstantOrCache")
    if writes and not able.cache:
        return "no writes to memory"
    if scenario.order == 2 and not (able.second_order or isinstance(system, diff.SecondOrder)):
        return "no second order"
    return ""


def _of(system: Any, scenario: Scenario) -> Any:
    return system.inner if isinstance(system, diff.SecondOrder) else system


@final
@dataclass(frozen=True, eq=False)
class Family:
    """The function y = c·(W sin u) + (u·u)·b for given shapes, and its derivatives."""

    x: tuple[int, ...]
    y: tuple[int, ...]
    dtype: str

    @property
    def weights(self) -> tuple[Any, Any]:
        """W and b."""
        m, n = math.prod(self.y), math.prod(self.x)
        i, j = np.arange(m)[:, None], np.arange(n)
        return (1.0 + i + 0.5 * j).astype(self.dtype), (0.5 - 0.25 * np.arange(m)).astype(self.dtype)

    def call(self, x: Any, c: Any = None) -> Any:
        """y, in the arrays of x."""
        xp = namespace(x)
        w, b = (xp.asarray(a) for a in self.weights)
        u = xp.reshape(x, (-1,))
        scaled = xp.reshape(xp.matmul(w, xp.sin(u)), self.y)
        return (scaled if c is None else c * scaled) + xp.reshape(xp.sum(u * u) * b, self.y)

    def value(self, x: Any, c: Any) -> Any:
        """y by NumPy."""
        return self.call(x, c)

    def jacobian(self, x: Any, c: Any) -> Any:
        """∂y/∂x, of shape y + x."""
        (w, b), u = self.weights, np.reshape(x, -1)
        dense = _column(c, self.y) * w * np.cos(u) + 2 * b[:, None] * u
        return dense.reshape(self.y + self.x)

    def slope(self, x: Any, c: Any) -> Any:
        """∂y/∂c for one number c, of shape y."""
        return (self.weights[0] @ np.sin(np.reshape(x, -1))).reshape(self.y)

    def hessian(self, x: Any, c: Any) -> Any:
        """∂²y/∂x², of shape y + x + x."""
        (w, b), u = self.weights, np.reshape(x, -1)
        eye = np.eye(len(u))
        dense = -(_column(c, self.y) * w * np.sin(u))[:, :, None] * eye + 2 * b[:, None, None] * eye
        return dense.reshape(self.y + self.x + self.x)


def _column(c: Any, shape: tuple[int, ...]) -> Any:
    """c for each element of y, as a column."""
    return np.broadcast_to(np.asarray(c), shape).reshape(-1, 1)


@final
@dataclass(frozen=True, eq=False)
class Function:
    """What the operator is called with."""

    f: Callable[..., Any]
    calls: list[int]


@functools.cache
def function(scenario: Scenario) -> Function:
    """The function of a scenario: the same object for scenarios that differ in the call only."""
    call = Family(SHAPES[scenario.x], SHAPES[scenario.y], scenario.dtype).call
    calls = [0]
    captured = np.asarray(_constant(scenario), scenario.dtype)
    form = _form(scenario.context, call, captured)
    if scenario.fills:

        def filling(y: Any, x: Any, *rest: Any) -> None:
            calls[0] += 1
            y[...] = form(x, *rest)

        return Function(filling, calls)

    def returning(x: Any, *rest: Any) -> Any:
        calls[0] += 1
        return form(x, *rest)

    return Function(returning, calls)


def _form(context: Context, call: Callable[..., Any], captured: Any) -> Callable[..., Any]:
    """The family's function as it takes its contexts."""

    def with_cache(x: Any, buffer: Any) -> Any:
        return _through(buffer, call(x))

    def with_caches(x: Any, buffers: Any) -> Any:
        return _through(buffers[0], _through(buffers[1][0], call(x)))

    def with_both(x: Any, parameters: Any) -> Any:
        return _through(parameters["b"], call(x, parameters["c"]))

    def with_captured(x: Any) -> Any:
        return call(x, namespace(x).asarray(captured))

    forms: dict[str, Callable[..., Any]] = {
        "Cache": with_cache, "Caches": with_caches, "ConstantOrCache": with_both, "captured": with_captured,
    }  # fmt: skip
    return forms.get(context, call)


def _through(buffer: Any, value: Any) -> Any:
    """The value, by way of memory."""
    buffer[...] = value
    return buffer[...]


def _constant(scenario: Scenario) -> Any:
    """The value of c."""
    if scenario.context in ("none", "Cache", "Caches"):
        return 1.0
    if scenario.context == "ConstantArray":
        shape = SHAPES[scenario.y]
        return np.linspace(0.5, 1.5, math.prod(shape)).reshape(shape).astype(scenario.dtype)
    return 1.5


def _contexts(scenario: Scenario, *, is_zero: bool = False) -> tuple[Any, ...]:
    """Contexts as the operator takes them; with other values where they must not matter."""
    c = _constant(scenario) * (0 if is_zero else 1)
    memory = np.full(SHAPES[scenario.y], np.nan, scenario.dtype)
    made: dict[str, tuple[Any, ...]] = {
        "none": (),
        "captured": (),
        "Constant": (diff.Constant(c),),
        "ConstantArray": (diff.Constant(c),),
        "Active": (diff.Active(np.asarray(c, scenario.dtype)),),
        "Cache": (diff.Cache(memory),),
        "Caches": (diff.Cache((memory, (memory.copy(),))),),
        "ConstantOrCache": (diff.ConstantOrCache({"c": diff.Constant(c), "b": diff.Cache(memory)}),),
    }
    return made[scenario.context]


@final
@dataclass(frozen=True, eq=False)
class Expected:
    """What the operator must return, from closed forms."""

    scenario: Scenario
    family: Family
    x: Any
    c: Any

    @property
    def value(self) -> Any:
        """y."""
        return self.family.value(self.x, self.c)

    def _pair(self, x_part: Any, c_part: Any) -> Any:
        return (x_part, c_part) if self.scenario.context == "Active" else x_part

    def results(self, seeds: tuple[Any, ...]) -> tuple[Any, ...]:
        """Everything the value_and_ form returns after y."""
        family, x, c, rank = self.family, self.x, self.c, len(self.family.x)
        jac, slope = family.jacobian(x, c), family.slope(x, c)
        match self.scenario.operator:
            case "pushforward":
                parts = [s if self.scenario.context == "Active" else (s, 0.0) for s in seeds]
                return (tuple([np.tensordot(jac, dx, rank) + slope * dc for dx, dc in parts]),)
            case "pullback":
                m = len(family.y)
                return (tuple([self._pair(np.tensordot(s, jac, m), np.sum(slope * s)) for s in seeds]),)
            case "derivative":
                return (jac,)
            case "gradient" | "jacobian":
                return (self._pair(jac, slope),)
            case "second_derivative":
                return jac, family.hessian(x, c)
            case _:
                return self._second(jac, slope, seeds)

    def _second(self, jac: Any, slope: Any, seeds: tuple[Any, ...]) -> tuple[Any, ...]:
        """Of hvp and hessian; ∂²y/∂c² is zero."""
        family, rank = self.family, len(self.family.x)
        hess = family.hessian(self.x, self.c)
        cross = (family.weights[0] * np.cos(np.reshape(self.x, -1))).reshape(family.x)
        gradient = self._pair(jac, slope)
        if self.scenario.operator == "hessian":
            both = ((hess, cross), (cross, np.zeros(())))
            return gradient, both if self.scenario.context == "Active" else hess
        parts = [s if self.scenario.context == "Active" else (s, 0.0) for s in seeds]
        products = [self._pair(np.tensordot(hess, dx, rank) + cross * dc, np.sum(cross * dx)) for dx, dc in parts]
        return gradient, tuple(products)


def check(system: Any, scenario: Scenario) -> None:
    """Run one case; raises AssertionError with what differs. Skips where a package is missing."""
    try:
        _of(system, scenario).require()
    except UnavailableError as error:
        pytest.skip(str(error))
    shape, y_shape, dtype = SHAPES[scenario.x], SHAPES[scenario.y], scenario.dtype
    x = np.linspace(0.2, 0.9, math.prod(shape)).reshape(shape).astype(dtype)[()]
    seeds = _seeds(scenario, shape, y_shape)
    expected = Expected(scenario, Family(shape, y_shape, dtype), x, _constant(scenario))
    wanted = expected.results(seeds)
    key = Scenario("gradient", scenario.x, scenario.y, scenario.context, scenario.fills, dtype=dtype)
    made = function(key)
    t = () if scenario.operator not in ("pushforward", "pullback", "hvp") else (seeds,)
    contexts = _contexts(scenario)
    options: dict[str, Any] = {"prep": _prep(system, scenario, made.f, x, t)} if scenario.prepared else {}
    if scenario.fills:
        options["y"] = np.full(y_shape, np.nan, dtype)
    if scenario.out:
        options["out"] = _like(wanted[-1], dtype)
    near = functools.partial(_assert_near, tolerance=_tolerance(system, scenario))
    for name in (scenario.operator, VALUE_FORMS.get(scenario.operator, f"value_and_{scenario.operator}")):
        result = getattr(diff, name)(made.f, system, x, *t, *contexts, **options)
        parts = (result,) if name == scenario.operator else result[1:]
        near(parts, wanted[-1:] if name == scenario.operator else wanted)
        if name != scenario.operator:
            near(result[0], expected.value)
            assert not scenario.fills or result[0] is options["y"]
        assert not scenario.out or parts[-1] is options["out"]
    before = np.linspace(0.2, 0.9, math.prod(shape)).reshape(shape).astype(dtype)
    assert np.array_equal(x, before), "x was changed"
    if contexts and isinstance(contexts[0], diff.Constant):
        assert np.array_equal(contexts[0].value, _constant(scenario)), "a constant was changed"


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
    prep = prepare(f, system, 0 * x, *t, *_contexts(scenario, is_zero=True), **options)
    other = functools.partial(f)
    with pytest.raises(PreparationError):
        getattr(diff, scenario.operator)(other, system, x, *t, *_contexts(scenario), **options, prep=prep)
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
