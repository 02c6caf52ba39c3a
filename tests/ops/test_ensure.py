"""What is ensured: there, or the error of its code, in every backend and after every transformation."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import pliant
from pliant.backends.llvm import BACKEND
from pliant.core.build import trace
from pliant.core.ir import const
from pliant.core.types import Type
from pliant.errors import FAILURES, failed
from pliant.ops.ensure import Ensure, ensure, ensure_of_sure
from pliant.testing import check_primitive, check_rule, run

INT, ROW = Type("i64"), Type("f64", (4,))


def test_ensure_is_its_operand_where_nothing_fails():
    sure = np.zeros(4, int)
    check_primitive(Ensure("choice"), ROW, Type("i64", (4,)), draw=lambda rng: [rng.normal(size=4), sure])
    check_primitive(Ensure("choice"), ROW, INT, draw=lambda rng: [rng.normal(size=4), np.array(0)])
    check_primitive(Ensure("choice"), INT, INT, draw=lambda rng: [np.array(3), np.array(0)], oracle=lambda x, _: x)


@pytest.mark.parametrize("execute", [BACKEND.compile, lambda fn: lambda xs: run(fn, xs)], ids=["llvm", "reference"])
@pytest.mark.parametrize("name", FAILURES)
def test_a_code_is_an_error_of_its_own(name: str, execute: Any):
    fn = trace(lambda x, c: ensure(x, c, f"{name} 5 5"), ROW, INT)
    assert_array_equal(execute(fn)((np.ones(4), np.array(0)))[0], np.ones(4))
    codes = np.array([np.nan, np.inf]).view(np.int64) if name == "integer" else range(1, 9)
    for code, (kind, text, _) in zip(codes, FAILURES[name], strict=False):
        with pytest.raises(kind, match=re.escape(text.replace("{0}", "5").partition("{")[0])):
            execute(fn)((np.ones(4), np.array(code)))


def test_numbers_are_put_into_the_text():
    assert "assign 3 input values to the 2 output" in str(failed("assigned 3", 3))
    assert "minlength=4" in failed("bincount 4", 2).hint


def test_what_is_ensured_of_a_problem_that_takes_the_other_branch_is_not_looked_at():
    def f(x: Any) -> Any:
        return pliant.cond(x > 0, lambda x: int(3 / x) + x, lambda x: x, x)

    assert_array_equal(pliant.vmap(f)(np.array([0.0, 0.5, 2.0, -3.0])), [0.0, 6.5, 3.0, -3.0])


def test_what_is_sure_is_not_asked():
    check_rule(ensure_of_sure, ROW, program=lambda x: ensure(x, const(0, "i64"), "choice"))
