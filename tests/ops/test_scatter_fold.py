"""Updates in order at places chosen at run time: NumPy's values, and exact derivatives with repeated places."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pliant.core.build import trace
from pliant.core.types import Type
from pliant.errors import DTypeError, IndexRangeError, ShapeError
from pliant.kernel.interpret import interpret
from pliant.ops import elementwise, power, rounding, transcendental
from pliant.ops.scatter_extremum import ScatterMax
from pliant.ops.scatter_fold import ScatterAffine, ScatterFold, ScatterTrail
from pliant.testing import check_primitive, run, sample
from pliant.transforms.evaluate import evaluate

CASES = [  # shape of x, number of indices, their shape, leading axes shared
    ((5,), 1, (7,), 0),
    ((4, 2), 1, (3,), 0),
    ((3, 2, 2), 2, (2, 3), 0),
    ((2, 5), 1, (2, 4), 1),
]
STEPS = {
    "mul": elementwise.mul,
    "div": elementwise.div,
    "power": power.power,
    "logaddexp": transcendental.logaddexp,
    "arctan2": transcendental.arctan2,
    "hypot": power.hypot,
    "fmod": rounding.fmod,
    "negative": lambda v, u: elementwise.neg(v),
}
UFUNCS = {
    "mul": np.multiply,
    "div": np.divide,
    "power": np.power,
    "logaddexp": np.logaddexp,
    "arctan2": np.arctan2,
    "hypot": np.hypot,
    "fmod": np.fmod,
}


def step_of(name, dtype="f64"):
    return trace(STEPS[name], Type(dtype), Type(dtype))


def operands(shape, count, places, shared, updates=1, dtype="f64"):
    x, u = Type(dtype, shape), Type(dtype, (*places, *shape[shared + count :]))
    extents = shape[shared : shared + count]

    def draw(rng):
        indices = [rng.integers(0, n, places) for n in extents]
        return [sample(rng, x, 0.5, 2), *indices, *(sample(rng, u, 0.5, 2) for _ in range(updates))]

    return [x, *[Type("i64", places)] * count, *[u] * updates], draw


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", STEPS)
def test_folds_obey_the_laws(name, case):
    types, draw = operands(*case)
    check_primitive(ScatterFold(step_of(name), case[3]), *types, draw=draw, rtol=1e-5)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_trails_obey_the_laws(case, reverse):
    types, draw = operands(*case)
    check_primitive(ScatterTrail(step_of("mul"), case[3], reverse), *types, draw=draw)
    types, draw = operands(*case, updates=2)
    check_primitive(ScatterAffine(case[3], reverse), *types, draw=draw)


@pytest.mark.parametrize("dtype", ["f32", "c128"])
def test_other_floats_obey_the_laws(dtype):
    types, draw = operands((4, 2), 1, (5,), 0, dtype=dtype)
    check_primitive(ScatterFold(step_of("mul", dtype)), *types, draw=draw)
    types, draw = operands((4, 2), 1, (5,), 0, updates=2, dtype=dtype)
    check_primitive(ScatterAffine(), *types, draw=draw)


@pytest.mark.parametrize("name", UFUNCS)
def test_a_fold_is_numpys_ufunc_at(name):
    rng = np.random.default_rng(0)
    x, i, u = rng.uniform(0.5, 2, 5), rng.integers(0, 5, 40), rng.uniform(0.5, 2, 40)
    wanted = x.copy()
    UFUNCS[name].at(wanted, i, u)
    assert_array_equal(interpret(ScatterFold(step_of(name)), x, i, u), wanted)


@pytest.mark.parametrize("zeros", [0, 1, 2])
def test_products_have_derivatives_at_zeros(zeros):
    def draw(rng):
        u = np.array([2.0, 3.0, 5.0, 7.0])
        u[:zeros] = 0
        return [np.array([1.5, 2.5]), np.array([1, 1, 1, 0]), u]

    types, _ = operands((2,), 1, (4,), 0)
    check_primitive(ScatterFold(step_of("mul")), *types, draw=draw)


@pytest.mark.parametrize("op", [ScatterMax(), ScatterFold(step_of("mul")), ScatterTrail(step_of("mul"), 0, True)])
def test_the_kernel_rule_says_what_the_array_rule_says(op):
    for case in CASES[:3]:
        _, draw = operands(*case)
        xs = draw(np.random.default_rng(1))
        assert_array_equal(interpret(op, *xs), op.numpy(np, *xs))


def test_wrong_operands_are_refused():
    x, i = Type("f64", (3,)), Type("i64", (2,))
    with pytest.raises(ShapeError):
        ScatterFold(step_of("mul")).infer(x, i, Type("f64", (3,)))
    with pytest.raises(DTypeError):
        ScatterFold(step_of("mul")).infer(x, i, Type("f32", (2,)))
    with pytest.raises(ShapeError):
        ScatterAffine().infer(x, i, Type("f64", (2,)), Type("f64", (3,)))
    with pytest.raises(IndexRangeError):
        ScatterFold(step_of("mul")).numpy(np, np.ones(3), np.array([3]), np.ones(1))


def test_what_is_not_analytic_has_no_complex_derivative():
    step = trace(lambda v, u: elementwise.conj(v), Type("c128"), Type("c128"))
    types, draw = operands((3,), 1, (4,), 0, dtype="c128")
    with pytest.raises(DTypeError, match="no complex derivative"):
        check_primitive(ScatterFold(step), *types, draw=draw)


def on_other_arrays(xp, fold):
    """The primitive's `array` rule in another namespace, against NumPy's."""
    types, draw = operands(*CASES[2])
    xs = draw(np.random.default_rng(0))
    fn = trace(fold.apply, *types)
    (made,) = evaluate(fn, tuple(xp.asarray(x) for x in xs), xp)
    np.testing.assert_allclose(np.asarray(made), run(fn, tuple(xs))[0], rtol=1e-12)


FOLDS = [ScatterFold(step_of("mul")), ScatterTrail(step_of("div"), 0, True), ScatterTrail(step_of("negative"))]


@pytest.mark.jax
@pytest.mark.parametrize("fold", FOLDS, ids=lambda f: f.name)
def test_folds_run_on_jax(fold):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    on_other_arrays(jax.numpy, fold)


@pytest.mark.torch
@pytest.mark.parametrize("fold", FOLDS, ids=lambda f: f.name)
def test_folds_run_on_torch(fold):
    on_other_arrays(pytest.importorskip("torch"), fold)
