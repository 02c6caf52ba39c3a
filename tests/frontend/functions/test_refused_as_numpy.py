"""What NumPy refuses of sizes, dtypes, weights and identities is refused; what it takes beside that is the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import DomainError, DTypeError, ShapeError
from tests.frontend.numpy_harness import compare

X, Z, N = np.array([[1.5, -2.0, 3.0], [0.5, 2.5, -1.0]]), np.array([1 + 1j, 2 - 3j, 0.5j]), np.array([4, 1, 5])
M = np.array([True, False, True])
TEXTS = [
    *(f"np.{f}(Z, dtype={d!r})" for f in ("var", "std", "nanvar", "nanstd") for d in ("f4", "f8", "c8", "c16")),
    *(f"np.{f}(X, 0, dtype='f4', where=M, ddof=1)" for f in ("var", "std", "nanvar", "nanstd")),
    *(f"np.{f}(X, dtype=int)" for f in ("nanmean", "nanvar", "nanstd")), "np.nanmean(N, dtype=int)",
    "np.nanmean(X, 0, out=np.zeros(3, int))", "np.mean(X, 1, int, None, True, where=M)", "np.mean(X, dtype=int)",
    "np.var(N, dtype='f4')", "np.var(X, mean=np.mean(X, keepdims=True), dtype='f4')",
    *(f"(np.putmask(X, {m}, 1.0), X)[1]" for m in ("[True]", "M", "True", "M[None]", "[1, 0, 0, 1, 0, 2]", "X > 0")),
    *(f"np.take_along_axis(X, np.array({i}), {a})" for i in ("[0]", "[[0]]", "[[[0]]]") for a in (0, 1, None)),
    *(f"(np.put_along_axis(X, np.array({i}), 9, {a}), X)[1]" for i in ("[0]", "[[0]]") for a in (0, None)),
    "np.take(np.zeros((3, 0)) + X[0, 0], 5, 0)", "np.take(np.zeros((3, 0)) + X[0, 0], [2], 0)",
    "np.take(np.zeros((0, 3)) + X[0], [7], 1)", "np.take(np.zeros((0, 3)) + X[0], [0], 0)",
    *(f"np.ediff1d(N.astype({d!r}), {e})" for d in ("i8", "u1", "f4") for e in ("2", "2.5", "[1, 2]", "np.int8(3)", "True")),
    *(f"np.{f}.reduce(X, dtype={d})" for f in ("logical_or", "logical_and", "logical_xor") for d in ("int", "bool")),
    *(
        f"np.{f}.reduce(N[{n}], initial={i})" for i in ("None", "3") for n in ("0:", ":0")
        for f in ("add", "multiply", "maximum", "logical_or", "logical_and", "bitwise_or", "gcd", "logaddexp", "subtract")
    ),
    "np.sum(X[:0], initial=None)", "np.sum(X[:, :0], 0, initial=None)", "np.add.reduce(X, 1, initial=None, where=M)",
    "np.cumulative_sum(X[0, 0])", "np.cumulative_prod(X[0, 0], include_initial=True)", "np.cumulative_sum(X[0, 0], axis=1)",
    *(f"np.roll(X, {s}, axis={a})" for s in ("1", "()", "(1, 2)") for a in ("()", "1", "(0, 1)", "(0, 0, 1)")),
    "np.gradient(X[0, 0])", "np.gradient(X[0, 0] > 0)", "np.gradient(X > 0)",
    *(f"np.fft.{f}(X{p}, s={s})" for f in ("fftn", "irfftn") for p in ("[0, 0]", "") for s in ("(4,)", "(4, 4, 4)")),
    "np.fft.fftn(X, s=())", "np.fft.rfftn(X, axes=())", "np.fft.irfftn(X, axes=())",
]  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_arguments_are_taken_or_refused_as_numpy_does(text: str) -> None:
    compare(eval(f"lambda X, Z, N, M: {text}", {"np": np}), X, Z, N, M)


@pytest.mark.parametrize("function", [np.quantile, np.nanquantile])
@pytest.mark.parametrize("weight", [0.0, np.inf, np.nan, -1.0, 2.0])
def test_weights_of_quantiles_add_up_to_a_number(function: Any, weight: float) -> None:
    w = np.ones((2, 3))
    w[0] = weight
    for x in (X, np.where(X == 2.5, np.nan, X), np.where(X > 1, np.nan, X)):
        for axis in (0, 1):
            compare(lambda x, w, axis=axis: function(x, 0.5, axis, weights=w, method="inverted_cdf"), x, w)


def test_what_is_refused_is_named() -> None:
    for kind, text, run in (
        (ShapeError, r"putmask: mask and data must be the same size: bool\[1\] and f64\[3\]", lambda x: np.putmask(x, [True], 1.0)),
        (ShapeError, r"same number of dimensions: i64\[\] and f64\[3\]", lambda x: np.take_along_axis(x, np.array(0), 0)),
        (DTypeError, "dtype of `to_begin` must be compatible", lambda x: np.ediff1d(x, to_begin=1j)),
        (DTypeError, "If a is inexact, then dtype must be inexact", lambda x: np.nanmean(x, dtype=int)),
        (DTypeError, "If a is inexact, then out must be inexact", lambda x: np.nanstd(x, out=np.zeros((), int))),
        (DTypeError, "No loop .* for ufunc logical_and: dtype=int64", lambda x: np.logical_and.reduce(x, dtype=int)),
        (ShapeError, "operation multiply which has no identity", lambda x: np.multiply.reduce(x[:0], initial=None)),
        (ShapeError, "'add' does not have an identity", lambda x: np.add.reduce(x, initial=None, where=x > 0)),
        (ShapeError, "np.roll: 2 shifts do not fit 3 axes", lambda x: np.roll(x, (1, 2), (0, 0, 0))),
        (
            DomainError, "Weights included NaN, inf or were all zero.",
            lambda x: np.quantile(x, 0.5, weights=0 * x, method="inverted_cdf"),
        ),
        (
            DomainError, "Weights must be non-negative.",
            lambda x: np.quantile(x, 0.5, weights=-x, method="inverted_cdf"),
        ),
    ):  # fmt: skip
        with pytest.raises(kind, match=text):
            pliant.jit(run)(np.array([1.0, 2.0, 3.0]))
