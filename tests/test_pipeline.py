"""The passes run in order, are verified and dumped on demand, and log what fired."""

from __future__ import annotations

import pytest

from pliant.core.build import trace
from pliant.core.ir import Function, Node
from pliant.core.types import Type
from pliant.errors import VerifyError
from pliant.ops.custom import Checkpoint, stop_gradient
from pliant.ops.elementwise import Add
from pliant.ops.transcendental import exp, log
from pliant.pipeline import BEFORE_DERIVATIVES, COMPILE, Pass, before_derivatives, optimise, run_passes
from pliant.rewrite.explain import Log
from tests.programs.programs import f64

F3 = f64(3)


def broken(fn: Function, log: Log) -> Function:
    """A pass with a bug."""
    (x,) = fn.params
    return Function(fn.name, fn.params, Node.make(Add(), (x, x), (Type("f64", (4,)),)))


def test_a_pass_with_a_bug_is_blamed_by_name() -> None:
    with pytest.raises(VerifyError, match="after pass 'broken': add has types"):
        run_passes((Pass("broken", broken),), trace(lambda x: x, F3), check=True)


def test_verification_is_switched_on_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLIANT_VERIFY", "0")
    run_passes((Pass("broken", broken),), trace(lambda x: x, F3))
    monkeypatch.setenv("PLIANT_VERIFY", "1")
    with pytest.raises(VerifyError):
        run_passes((Pass("broken", broken),), trace(lambda x: x, F3))


def test_passes_named_in_the_environment_are_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PLIANT_DUMP", "simplify")
    fn = optimise(trace(lambda x: log(1.0 + x), F3))
    assert capsys.readouterr().err == f"after simplify:\n{fn}\n"


def test_the_log_counts_what_fired_and_where() -> None:
    record = Log()
    optimise(trace(lambda x: log(1.0 + exp(x)), F3), record)
    assert record.fired == {"log_of_one_plus": 1, "log1p_of_exp": 1}
    assert str(record).startswith("log_of_one_plus ×1: test_pipeline.py:")


def test_checkpoints_and_stops_survive_until_derivatives_are_taken() -> None:
    body = trace(lambda x: exp(x), F3)
    fn = trace(lambda x: stop_gradient(Checkpoint(body)(x)), F3)
    assert before_derivatives(fn) == fn
    assert optimise(fn) == body


def test_both_lists_end_without_dead_code() -> None:
    assert BEFORE_DERIVATIVES[-1].name == COMPILE[-1].name == "dead"
