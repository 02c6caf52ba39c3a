"""Records of loggers in traced functions: at every call, where the program comes to them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant

X = np.array([0.5, -1.25, 3.0])
LOGGER = logging.getLogger("pliant.tests.told")


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
