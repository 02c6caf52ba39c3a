"""Transformations and loops that are given what they cannot take say what they expected."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant import diff
from pliant.errors import ArgumentError, MutationError, ShapeError

X = np.arange(1.0, 4.0)
add: Any = np.add
anything: Any = "a"

WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "keys of in_axes": (
        lambda: pliant.vmap(lambda p: p["a"], in_axes=({"b": 0},))({"a": X}),
        r"vmap: in_axes has the keys \['b'\], what it is for has \['a'\]",
    ),
    "switch without a list": (
        lambda: pliant.jit(lambda i, x: pliant.switch(i, anything and np.sin, x))(0, 3.0),
        r"switch: expected a list of functions, got .*\n.*\n.*\n.*\nhint: pliant.switch\(i, \[f, g\], x\)|switch: expected a list",
    ),
    "reduce by a number": (
        lambda: pliant.reduce(3, None, X),  # type: ignore[arg-type]
        "reduce: expected a function of two, or one of pliant.folds, got int",
    ),
    "vectorize by a number": (
        lambda: pliant.vectorize(np.dot, 3)(X, X),  # type: ignore[arg-type]
        r"vectorize: expected a signature like '\(m,n\),\(n\)->\(m\)', got 3",
    ),
    "evaluate of a number": (
        lambda: pliant.evaluate(3, X),  # type: ignore[arg-type]
        r"evaluate: expected a program, got int(.|\n)*hint: pliant.trace\(f, x\) makes the program of f",
    ),
    "treeverse of text": (
        lambda: pliant.treeverse(anything),
        "treeverse: expected at least 2 states to keep, got 'a'",
    ),
    "reversible by a number": (lambda: pliant.reversible(3), "expected a function, got int"),  # type: ignore[arg-type]
    "a rule that is a number": (
        lambda: pliant.custom_derivative(np.sin, jvp=3),  # type: ignore[arg-type]
        "expected a function, got int",
    ),
    "max_steps of fori_loop": (
        lambda: pliant.jit(lambda x: pliant.fori_loop(0, 3, lambda i, c: c, x, max_steps=anything))(X),
        "fori_loop: max_steps is an int ≥ 0 known while tracing, or None; got 'a'",
    ),
    "max_steps of while_loop": (
        lambda: pliant.while_loop(lambda c: c < 3, lambda c: c + 1, 0.0, max_steps=anything),
        "while_loop: max_steps is an int ≥ 0 known while tracing, or None; got 'a'",
    ),
    "length below 0": (
        lambda: pliant.scan(lambda c, x: (c, x), 0.0, length=-1),
        "scan: length is an int ≥ 0 known while tracing, or None; got -1",
    ),
    "length that is no int": (
        lambda: pliant.jit(lambda x: pliant.scan(lambda c, x: (c, x), x, length=anything))(X),
        "scan: length is an int ≥ 0 known while tracing, or None; got 'a'",
    ),
    "length that is traced": (
        lambda: pliant.jit(lambda n: pliant.scan(lambda c, x: (c, x), 0.0, length=n))(np.array(3)),
        r"scan: length is an int ≥ 0 known while tracing, or None; got a traced i64\[\]",
    ),
    "a stop that is no integer": (
        lambda: pliant.fori_loop(0, 2.5, lambda i, c: c, X),
        r"fori_loop: expected integers for the bounds, got f64\[\]",
    ),
    "a stop that is none": (
        lambda: pliant.jit(lambda x: pliant.fori_loop(0, None, lambda i, c: c, x))(X),
        "fori_loop: expected integers for the bounds, got None",
    ),
    "bounds that are arrays": (
        lambda: pliant.jit(lambda x: pliant.fori_loop(0, x, lambda i, c: c, x))(X),
        r"fori_loop: expected integers for the bounds, got f64\[3\]",
    ),
    "a number that combines": (lambda: pliant.associative_scan(3, X), "expected a function, got int"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_argument_is_named(name: str) -> None:
    run, text = WRONG[name]
    with pytest.raises(ArgumentError, match=text):
        run()


def test_a_function_that_writes_is_refused_in_the_name_of_the_system() -> None:
    def write(x: Any) -> Any:
        x[0] = 3.0
        return np.sum(x)

    with pytest.raises(MutationError, match=r"^ComplexStep: the function writes"):
        diff.gradient(write, diff.ComplexStep(), X)


def test_a_loop_over_no_rows_is_named() -> None:
    with pytest.raises(
        ShapeError, match=r"^associative_scan: expected arrays with the same number of rows, got shapes"
    ):
        pliant.associative_scan(np.add, 3.0)
