"""The checks find the mistakes they are for."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import pytest

import pliant
from pliant.core.types import Type
from pliant.ops import elementwise
from pliant.ops.base import Elementwise, Unary
from pliant.ops.transcendental import cos, exp, log, sin
from pliant.rewrite.rule import rewrite, rule
from pliant.testing import check_gradient, check_primitive, check_rule

F64 = Type("f64", (3,))


def test_a_rule_is_checked_on_as_many_types_as_it_has_parameters() -> None:
    doubled = pliant.rule(lambda x, y: (x * y + x * y, 2.0 * (x * y)))
    check_rule(doubled, F64, F64)
    with pytest.raises(AssertionError, match="give a Type for each of x, y; got 1"):
        check_rule(doubled, F64)


def test_a_rule_that_says_nothing_about_the_types_is_named() -> None:
    summed = pliant.rule(lambda x: (np.sin(x), np.sum(x)))
    with pytest.raises(AssertionError, match=r"says nothing about values of the types f64\[3\]"):
        check_rule(summed, F64)


class Sine(Unary):
    """Right in all but what a test makes wrong."""

    ufunc = "sin"

    def tangent(self, y: Any, x: Any, dx: Any) -> Any:
        return dx * cos(x)


@final
@dataclass(frozen=True)
class GoodSine(Sine):
    """sin x."""


@final
@dataclass(frozen=True)
class WrongDtype(Sine):
    """sin x, computed in too few digits."""

    def array(self, xp: Any, x: Any) -> Any:
        return xp.sin(x).astype("f4")


@final
@dataclass(frozen=True)
class WrongTangent(Sine):
    """sin x with the derivative of −sin x."""

    def tangent(self, y: Any, x: Any, dx: Any) -> Any:
        return -(dx * cos(x))


@final
@dataclass(frozen=True)
class WrongSecondTangent(Unary):
    """sin x with a derivative whose derivative is wrong."""

    ufunc = "sin"

    def tangent(self, y: Any, x: Any, dx: Any) -> Any:
        return dx * WrongCosine()(x)


@final
@dataclass(frozen=True)
class WrongCosine(Unary):
    """cos x with the derivative of a constant."""

    ufunc = "cos"


@final
@dataclass(frozen=True)
class WrongTranspose(Elementwise):
    """3x with the transpose of 2x."""

    domain = "f"
    arity = 1

    def array(self, xp: Any, x: Any) -> Any:
        return 3 * x

    def jvp(self, xs: Any, dxs: Any) -> Any:
        return self.apply(*xs), self.apply(*dxs)

    def transpose(self, ct: Any, x: Any) -> Any:
        return (2.0 * ct,)


@final
@dataclass(frozen=True)
class WrongBatch(Sine):
    """sin x, which confuses the problems of a batch."""

    def batch(self, n: int, batched: Any, x: Any) -> Any:
        return 0.0 * x


@final
@dataclass(frozen=True)
class WrongExpansion(Sine):
    """sin x, expanded as something else."""

    def expand(self, x: Any) -> Any:
        return cos(x)


MISTAKES = [
    (WrongDtype(), "made float32"),
    (WrongTangent(), "tangents of operands .* against differences"),
    (WrongSecondTangent(), "second derivatives"),
    (WrongTranspose(), "cotangents of operands .* against tangents"),
    (WrongBatch(), "batch of operands .* against a loop"),
    (WrongExpansion(), "array against expand"),
]


@pytest.mark.parametrize(("op", "message"), MISTAKES, ids=lambda m: getattr(m, "name", ""))
def test_check_primitive_names_the_broken_law(op, message):
    with pytest.raises(AssertionError, match=message):
        check_primitive(op, F64)


def test_check_primitive_accepts_a_right_one_and_compares_with_an_oracle():
    check_primitive(GoodSine(), F64, oracle=np.sin)
    with pytest.raises(AssertionError, match="values against the oracle"):
        check_primitive(GoodSine(), F64, oracle=np.cos)


@rule
def false_rule(x: Any) -> tuple[Any, Any]:
    """sin x → cos x, which is wrong."""
    return sin(x), cos(x)


@rule
def inexact_rule(x: Any) -> tuple[Any, Any]:
    """log(eˣ) → x, which is exact for numbers of modest size only."""
    return log(exp(x)), x


@rule(where=lambda x: x.dtype == "f32")
def shy_rule(x: Any) -> tuple[Any, Any]:
    """1·x → x, for few."""
    return 1.0 * x, x


@rule
def late_rule(x: Any) -> tuple[Any, Any]:
    """−(−x)·1 → x, of which other rules take parts away."""
    return 1.0 * elementwise.neg(-x), x


@rewrite(elementwise.Neg)
def step(value: Any) -> Any:
    """Nothing."""
    return None


RULES = [
    (false_rule, "Not equal"),
    (inexact_rule, "Not equal|special numbers"),
    (shy_rule, "does not fire alone: .*`where` refuses"),
    (late_rule, "never fires: others come first"),
    (step, "needs a program"),
]


@pytest.mark.parametrize(("wrong", "message"), RULES, ids=lambda r: getattr(r, "name", ""))
def test_check_rule_says_what_is_wrong(wrong, message):
    with pytest.raises(AssertionError, match=message):
        check_rule(wrong, Type("f64", (40,)))


def test_check_rule_accepts_a_right_one():
    check_rule(elementwise.times_one, Type("f64", (40,)))


def written(x):
    """A function that writes its argument."""
    x[0] *= x[1]
    return np.sum(np.exp(x))


def test_check_gradient_accepts_right_gradients():
    check_gradient(lambda x: np.sum(np.sin(x) * x), np.array([0.3, 1.2]))
    check_gradient(lambda w: np.sum(np.tanh(w["a"] @ w["b"])), {"a": np.ones((2, 3)), "b": np.arange(3.0)})
    check_gradient(lambda s, z: np.sum(np.abs(z) ** 2) * s, 2.0, np.array([1 + 2j, 3j]), argnums=1)
    check_gradient(written, np.array([0.3, 1.2]))


def test_check_gradient_finds_a_wrong_gradient():
    f = pliant.custom_derivative(lambda x: np.sum(x**2), jvp=lambda xs, dxs: np.sum(3 * xs[0] * dxs[0]))
    with pytest.raises(AssertionError, match="gradient against differences"):
        check_gradient(f, np.array([1.0, 2.0]))


def test_checks_are_found_without_an_import_of_their_own():
    code = "import sys, pliant; assert 'pliant.testing' not in sys.modules; print(pliant.testing.check_rule.__name__)"
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert made.stdout == "check_rule\n"
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = pliant.nothing
