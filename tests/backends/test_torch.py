"""PyTorch, one primitive at a time, does what the reference does."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pliant
from pliant.backends import backend_named
from pliant.backends.reference import reference
from pliant.core.build import trace
from pliant.core.ir import Op
from pliant.core.types import Type
from pliant.errors import IndexRangeError, MissingRuleError, PliantError, ShapeError
from pliant.ops.block import AddBlock, ReadBlock, UpdateBlock
from pliant.ops.definite import Definite
from pliant.ops.fft import Fft
from pliant.ops.index import Gather, ScatterAdd, ScatterSet
from pliant.ops.reduce import Argmax
from pliant.ops.rounding import Ldexp
from pliant.ops.scan import Cummax, Cummin
from pliant.ops.scatter_extremum import ScatterMax, ScatterMin
from pliant.ops.solve import Lu
from pliant.ops.triangular import TriangularSolve
from pliant.pipeline import emitted, optimise
from pliant.testing import sample, special
from pliant.transforms.evaluate import evaluate
from tests.ops.elementwise_cases import DOMAINS, PRIMITIVES, dtypes, types
from tests.programs.programs import PROGRAMS
from tests.properties import checks, flow_checks
from tests.properties.fuzz import drawn
from tests.properties.fuzz_flows import DRAWN

pytest.importorskip("torch")
pytestmark = pytest.mark.torch
BACKEND = backend_named("torch")
LACKING = ("u16", "u32", "u64")  # PyTorch has these dtypes, and hardly any function of them
EVERY = [(n, d) for n, op in PRIMITIVES.items() for d in dtypes(op) if d not in LACKING]
CLOSE = {np.dtype(np.float16): 5e-3, np.dtype(np.float32): 2e-5, np.dtype(np.complex64): 2e-5}


def agrees(fn: Any, xs: Any, rtol: float = 1e-11) -> None:
    """The reference's results, of their dtypes."""
    for got, wanted in zip(BACKEND.compile(fn)(xs), reference.compile(fn)(xs), strict=True):
        assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
        rough = CLOSE.get(wanted.dtype, rtol)
        assert_allclose(got, wanted, rtol=rough, atol=rough)


def arguments(fn: Any) -> list[Any]:
    rng = np.random.default_rng(0)
    made = [sample(rng, p.type, 0.2, 1.5) for p in fn.params]
    return [
        x if p.type.kind in "fcb" else np.minimum(x, 1).astype(x.dtype) for x, p in zip(made, fn.params, strict=True)
    ]


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("ready", [lambda fn: fn, optimise, emitted], ids=["traced", "optimised", "emitted"])
def test_programs_do_what_the_reference_does(name: str, ready: Any) -> None:
    fn = ready(PROGRAMS[name]())
    agrees(fn, arguments(fn), rtol=1e-9)


@pytest.mark.parametrize(("name", "dtype"), EVERY)
def test_elementwise_primitives_do_what_the_reference_does(name: str, dtype: str) -> None:
    op, rng = PRIMITIVES[name], np.random.default_rng(0)
    given = types(op, dtype, *((50,),) * op.arity)
    low, high = DOMAINS.get(name, (-3, 3)) if dtype[0] in "fc" else (1, 4)
    agrees(trace(op.apply, *given), [sample(rng, t, low, high) for t in given])
    agrees(
        trace(op.apply, *types(op, dtype, *((),) * op.arity)), [sample(rng, t.with_shape(()), low, high) for t in given]
    )


@pytest.mark.parametrize(
    "name", [n for n, op in PRIMITIVES.items() if "f64" in dtypes(op) and n not in ("pow", "ldexp")]
)
def test_special_numbers_are_what_they_are_in_numpy(name: str) -> None:
    op, rng = PRIMITIVES[name], np.random.default_rng(0)
    given = types(op, "f64", *((200,),) * op.arity)
    xs = [special(rng, t) if t.kind == "f" else sample(rng, t, 0, 3) for t in given]
    if name in ("remainder", "fmod"):  # whose quotients PyTorch needs to be finite
        xs = [np.where(np.isfinite(x), np.clip(x, -1.5, 1.5) * (np.abs(x) > 1e-300), x) for x in xs]
    fn = trace(op.apply, *given)
    (got,), (wanted,) = BACKEND.compile(fn)(xs), reference.compile(fn)(xs)
    assert_allclose(got, wanted, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("name", ["floor_divide", "remainder", "fmod"])
@pytest.mark.parametrize("dtype", ["i8", "i64", "u8"])
def test_division_of_integers_by_zero_and_of_the_least_one(name: str, dtype: str) -> None:
    limits = np.iinfo({"i8": "int8", "i64": "int64", "u8": "uint8"}[dtype])
    x = np.array([limits.min, limits.max, 7, 0], limits.dtype)
    y = np.array([0, -1 if limits.min else 1, 3, 0], limits.dtype)
    agrees(trace(PRIMITIVES[name].apply, *[Type(dtype, (4,))] * 2), [x, y])
    agrees(trace(PRIMITIVES[name].apply, *[Type(dtype, (4,))] * 2), [x, y[[1, 1, 1, 1]]])


def f64(*shape: int) -> Type:
    return Type("f64", shape)


I3, ONE = Type("i64", (3,)), Type("i64", ())
PLACES = np.array([1, 1, 0])
CASES: list[tuple[Op, list[Type], list[Any]]] = [
    (Gather(), [f64(4, 2), I3], [None, PLACES]),
    (Gather(1), [f64(3, 4), Type("i64", (3, 2))], [None, np.array([[0, 1], [3, 3], [2, 0]])]),
    (ScatterSet(), [f64(4, 2), I3, f64(3, 2)], [None, PLACES, None]),
    (ScatterSet(), [f64(4), ONE, f64()], [None, np.array(2), None]),
    (ScatterSet(1), [f64(3, 4), Type("i64", (3, 2)), f64(3, 2)], [None, np.array([[0, 0], [3, 3], [2, 0]]), None]),
    (ScatterAdd(), [f64(4, 2), I3, f64(3, 2)], [None, PLACES, None]),
    (ScatterMax(), [f64(4, 2), I3, f64(3, 2)], [None, PLACES, None]),
    (ScatterMin(), [f64(4), I3, f64(3)], [None, PLACES, np.array([1.0, np.nan, -9.0])]),
    (ScatterMax(), [Type("bool", (4,)), I3, Type("bool", (3,))], [None, PLACES, None]),
    (Cummax(0), [f64(5)], [np.array([1.0, 3.0, 2.0, np.nan, 4.0])]),
    (Cummin(1, True), [f64(2, 4)], [None]),
    (Argmax(0), [Type("bool", (4,))], [None]),
    (Fft("rfft", 4), [f64(0, 4)], [None]),
    (Fft("irfft", 4), [Type("c128", (0, 3))], [None]),
    (Lu(), [f64(0, 0)], [None]),
    (Lu(), [f64(3, 3)], [None]),
    (Lu(), [Type("c128", (2, 3, 3))], [None]),
    (Definite(), [f64(2, 2, 2)], [np.array([[[2.0, 1], [1, 2]], [[1, 2], [2, 1]]])]),
    (TriangularSolve(lower=True), [f64(3, 3), f64(3, 2)], [None, None]),
    (TriangularSolve(lower=False, adjoint=True), [Type("c128", (3, 3)), Type("c128", (3, 1))], [None, None]),
    (TriangularSolve(lower=True, unit=True), [f64(3, 3), f64(3, 1)], [None, None]),
    (ReadBlock((2, 2), (1, 1)), [f64(4, 4), *[ONE] * 4], [None, *map(np.array, (1, 2, 2, 1))]),
    (UpdateBlock((1,)), [f64(5), f64(3), ONE, ONE], [None, None, np.array(1), np.array(2)]),
    (AddBlock((1,)), [f64(5), f64(3), ONE, ONE], [None, None, np.array(1), np.array(2)]),
    (Ldexp(), [f64(5), Type("i64", (5,))], [np.array([1.0, 3.0, 5e-324, 1e300, 0.7]), np.array([-1070, 1022, 2098, -2000, 0])]),
]  # fmt: skip


@pytest.mark.parametrize(("op", "given", "xs"), CASES, ids=[f"{op.name}-{n}" for n, (op, _, _) in enumerate(CASES)])
def test_primitives_do_what_the_reference_does(op: Op, given: list[Type], xs: list[Any]) -> None:
    rng = np.random.default_rng(1)
    agrees(trace(op.apply, *given), [sample(rng, t) if x is None else x for x, t in zip(xs, given, strict=True)])


@pytest.mark.parametrize("seed", range(60))
def test_random_programs_do_what_numpy_does(seed: int) -> None:
    made = drawn(seed, None)
    with suppress(checks.Unsupported):
        wrong = checks.compiled_equals_numpy(made, "torch")
        assert wrong is None or "MissingRuleError" in wrong, f"{made.script()}\n{wrong}"


@pytest.mark.parametrize("of", DRAWN)
@pytest.mark.parametrize("seed", range(12))
def test_random_loops_and_branches_do_what_python_does(seed: int, of: str) -> None:
    flow = DRAWN[of](seed)
    with suppress(flow_checks.Unsupported, flow_checks.Skipped):
        wrong = flow_checks.does_what_python_does(flow, "torch")
        assert wrong is None, f"{flow.source()}\n{wrong}"


@pytest.mark.parametrize("op", [Gather(), ScatterSet(), ScatterAdd(), ScatterMax()], ids=lambda op: op.name)
@pytest.mark.parametrize("place", [-1, 4])
def test_an_index_out_of_range_raises(op: Op, place: int) -> None:
    given = [f64(4), Type("i64", (1,)), *[f64(1)] * (op.name != "gather")]
    fn = trace(op.apply, *given)
    with pytest.raises(IndexRangeError, match="out of range for axis 0 of extent 4"):
        BACKEND.compile(fn)([np.zeros(4), np.array([place]), np.zeros(1)][: len(given)])


def test_a_singular_matrix_raises_numpys_error() -> None:
    fn = trace(TriangularSolve(lower=True).apply, f64(2, 2), f64(2, 1))
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        BACKEND.compile(fn)([np.zeros((2, 2)), np.zeros((2, 1))])


def test_a_negative_power_of_integers_raises() -> None:
    with pytest.raises(ValueError, match="Integers to negative integer powers are not allowed"):
        pliant.jit(lambda x, y: x**y, backend="torch")(np.array([2, 3]), np.array([1, -1]))


def test_extents_that_differ_at_run_time_raise() -> None:
    with pytest.raises(ShapeError):
        pliant.jit(lambda x, y: x[x > 0] + y[y > 0], backend="torch")(
            np.array([1.0, -1.0, 2.0]), np.array([1.0, 1.0, 1.0])
        )


def test_what_pytorch_lacks_is_told_with_the_users_line() -> None:
    def f(x: Any) -> Any:
        return np.sum(x, dtype=np.uint16)

    with pytest.raises(MissingRuleError, match=r"(?s)PyTorch has no 'reduce_sum' of u16\[3\].*return np\.sum"):
        pliant.jit(f, backend="torch")(np.ones(3, np.uint16))


def test_a_draw_of_random_numbers_is_told_with_the_users_line() -> None:
    def f(rng: Any) -> Any:
        return rng.normal(size=2)

    with pytest.raises(MissingRuleError, match=r"(?s)return rng\.normal\(size=2\).*hint: .* as random numbers"):
        pliant.jit(f, backend="torch")(np.random.default_rng(1))


def test_the_backend_has_a_name_and_is_a_choice_of_jit() -> None:
    assert BACKEND.name == "torch"
    made = pliant.jit(lambda x: np.cumsum(x)[::-1], backend="torch")(np.arange(3.0))
    np.testing.assert_array_equal(made, [3.0, 1.0, 0.0])
    assert issubclass(MissingRuleError, PliantError)


def test_rules_serve_pytorchs_own_batches_where_nothing_can_be_looked_at() -> None:
    """As `diff.PyTorch(plain=True)` runs them: on the module itself."""
    import torch

    fn = trace(Gather().apply, f64(4), I3)
    places = torch.tensor([[0, 1, 3], [2, 2, 0]])
    made = torch.vmap(lambda i: evaluate(fn, (torch.arange(4.0, dtype=torch.float64), i), torch)[0])(places)
    np.testing.assert_array_equal(made, [[0, 1, 3], [2, 2, 0]])
