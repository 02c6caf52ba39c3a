"""Random programs, in JAX: what NumPy and Python do; and JAX's derivatives of them are Pliant's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given

import pliant
from pliant.errors import PliantError
from tests.properties import checks, flow_checks
from tests.properties.flow_checks import Flow
from tests.properties.fuzz import drawn, outcome
from tests.properties.fuzz_flows import DRAWN, is_failure
from tests.properties.fuzz_flows import outcome as outcome_of_flow
from tests.properties.programs import quiet
from tests.properties.seeds import SEEDS, examples

pytestmark = pytest.mark.jax


@examples(40)
@given(SEEDS)
def test_programs_do_what_numpy_does(seed: int):
    wrong = outcome(lambda made: checks.compiled_equals_numpy(made, "jax"), drawn(seed, None))
    assert wrong is None or wrong.startswith("unsupported"), wrong


@pytest.mark.parametrize("of", ["flows", "nests", "mixed"])
@examples(4)
@given(SEEDS)
def test_loops_and_branches_do_what_python_does(of: str, seed: int):
    wrong = outcome_of_flow(lambda made: flow_checks.does_what_python_does(made, "jax"), DRAWN[of](seed))
    assert wrong is None or not is_failure(wrong), wrong


@examples(6)
@given(SEEDS)
def test_derivatives_of_jax_are_pliants(seed: int):
    wrong = outcome_of_flow(derivatives_are_pliants, DRAWN["flows"](seed))
    assert wrong is None or not is_failure(wrong), wrong


def derivatives_are_pliants(flow: Flow) -> str | None:
    """Tangents, and cotangents but of loops whose end is found on the way, of which JAX has none."""
    jax = pytest.importorskip("jax")
    if flow.dtype != "float64":
        return None
    flow_checks.expected(flow)
    loss, xs, ways = flow_checks.loss_of(flow)
    xs, ways = tuple(map(np.asarray, xs)), tuple(map(np.asarray, ways))
    try:
        with quiet():
            value, tangent = pliant.jvp(loss, xs, ways)
            gradient = pliant.grad(loss, (0, 1, 2))(*xs)
    except PliantError as error:
        raise flow_checks.Unsupported(str(error)) from error
    emitted: Any = pliant.to_jax(loss)
    with jax.enable_x64(True):
        made = jax.jvp(emitted, xs, ways)
        try:
            pulled = jax.grad(emitted, (0, 1, 2))(*xs)
        except ValueError as error:
            if "while_loop" not in str(error):
                raise
            pulled = gradient
    for name, got, want in (
        ("value", made[0], value),
        ("tangent", made[1], tangent),
        *zip("xyz", pulled, gradient, strict=True),
    ):
        rough = 1e-5 if flow_checks.is_rough(flow) else 1e-8
        if np.all(np.isfinite(got)) and not checks.near(np.asarray(got), np.asarray(want), rough, rough):
            return f"{name}: JAX has {got!r}, Pliant {want!r}"
    return None
