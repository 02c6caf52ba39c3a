"""Warnings and records of loggers in traced functions: at every call, where the program comes to them."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant

X = np.array([0.5, -1.25, 3.0])
LOGGER = logging.getLogger("pliant.tests.told")


class OwnWarning(UserWarning):
    """A warning of the user's."""


def checked(x: Any) -> Any:
    if np.any(x < 0):
        warnings.warn("negative input", RuntimeWarning, stacklevel=1)
    for v in x:
        if v > 2:
            warnings.warn(OwnWarning(f"large: {v:.2f}"), stacklevel=1)
    return np.sqrt(np.abs(x)).sum()


def deprecated(x: Any) -> Any:
    _old()
    return x.sum()


def _old() -> None:
    warnings.warn("old", DeprecationWarning, stacklevel=2)


def warnings_of(f: Callable[..., Any], *args: Any) -> list[Any]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        f(*args)
    return [(str(w.message), w.category, w.filename, w.lineno) for w in found]


@pytest.mark.parametrize("f", [checked, deprecated])
@pytest.mark.parametrize("backend", ["llvm", "reference"])
def test_warnings_of_each_call(f: Callable[..., Any], backend: str) -> None:
    compiled = pliant.jit(f, backend=backend)
    for x in (np.ones(3), X, -X, np.ones(3)):
        assert warnings_of(compiled, x) == warnings_of(f, x)


def test_warnings_of_derivatives_and_batches() -> None:
    assert warnings_of(pliant.grad(checked), X) == warnings_of(checked, X)
    rows = np.stack([X, -X])
    assert warnings_of(pliant.vmap(checked), rows) == warnings_of(checked, X) + warnings_of(checked, -X)


def test_warnings_that_are_errors_are_raised() -> None:
    compiled = pliant.jit(checked)
    compiled(np.ones(3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compiled(np.ones(3)) == 3
        with pytest.raises(RuntimeWarning, match=r"^negative input$"):
            compiled(X)


def test_filters_show_a_line_once() -> None:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("default")
        compiled = pliant.jit(checked)
        compiled(-np.ones(3))
        compiled(-np.ones(3))
    assert len(found) == 1


def logged(x: Any) -> Any:
    if x.sum() > 2:
        LOGGER.error("large: %s", x.sum())
    for i in range(2):
        LOGGER.info("step %d: %.2f", i, x[i])
    LOGGER.debug(f"x is {x}")
    LOGGER.log(logging.WARNING, "%(a)s of %(b)d", {"a": x[0], "b": 3})
    return x


def records_of(caplog: pytest.LogCaptureFixture, f: Callable[..., Any], *args: Any) -> list[Any]:
    caplog.clear()
    f(*args)
    return [(r.name, r.levelno, r.getMessage(), r.pathname, r.lineno, r.funcName) for r in caplog.records]


def test_records_of_each_call(caplog: pytest.LogCaptureFixture) -> None:
    compiled = pliant.jit(logged)
    for level in (logging.INFO, logging.DEBUG, logging.ERROR, logging.INFO):
        with caplog.at_level(level, LOGGER.name):
            for x in (X, -X, X):
                assert records_of(caplog, compiled, x) == records_of(caplog, logged, x)


def test_records_of_the_root(caplog: pytest.LogCaptureFixture) -> None:
    def f(x: Any) -> Any:
        if x[0] > 0:
            logging.warning("first is %s", x[0])
        return x

    compiled = pliant.jit(f)
    for x in (X, -X):
        assert records_of(caplog, compiled, x) == records_of(caplog, f, x)


def test_programs_that_warn_can_be_read_back() -> None:
    text = str(pliant.trace(checked, X))
    assert str(pliant.parse(text)) == text
