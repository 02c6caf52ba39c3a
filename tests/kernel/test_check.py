"""The verifier: it finds every planted fault that does harm, and none where there is none."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.backends.llvm import compiler
from pliant.backends.llvm.jit import Code
from pliant.errors import PlanWarning
from pliant.kernel import verified
from tests.kernel.faults import FAULTS, PROGRAMS, compiled, outcome


@pytest.fixture(autouse=True)
def quick_code(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(compiler, "Code", lambda text, _: Code(text, 0))


def warned_of(f: Any, given: tuple[Any, ...]) -> list[str]:
    """What the verifier says about a function, whose results are NumPy's in any case."""
    wanted = outcome(f, given)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        got = outcome(compiled(f), given)
    for x, y in zip(got, wanted, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-13)
    return [str(w.message) for w in seen if w.category is PlanWarning]


@pytest.mark.parametrize(("f", "given"), PROGRAMS)
def test_plans_without_faults_pass(f: Any, given: tuple[Any, ...]):
    assert warned_of(f, given) == []


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_found_where_they_do_harm(fault: str, monkeypatch: pytest.MonkeyPatch):
    FAULTS[fault].plant(monkeypatch)
    assert any([warned_of(f, given) for f, given in PROGRAMS])


def test_a_refused_plan_is_explained(monkeypatch: pytest.MonkeyPatch):
    FAULTS["overlap is ignored"].plant(monkeypatch)
    f, given = PROGRAMS[0]
    with pytest.warns(PlanWarning, match="overwrites elements of"):
        text = pliant.explain(f, *given).memory
    assert "nothing shares memory, since the verifier refused the plan" in text


def test_poison_shows_what_the_verifier_would_have_found(monkeypatch: pytest.MonkeyPatch):
    FAULTS["copies are forgotten"].plant(monkeypatch)
    monkeypatch.setattr(verified, "check", lambda *_, **__: None)
    monkeypatch.setenv("PLIANT_POISON", "1")
    f, given = next((f, given) for f, given in PROGRAMS if f.__name__ == "changes_a_copy")
    assert np.isnan(outcome(compiled(f), given)[0]).any()
