"""Records of loggers in traced functions: at every call, where the program comes to them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import TracedOnceWarning

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


LONE = logging.Logger("lone")
ADAPTER = logging.LoggerAdapter(logging.LoggerAdapter(LOGGER, {"run": 7}), {"step": 1})


class Prefixed(logging.LoggerAdapter[logging.Logger]):
    def process(self, msg: Any, kwargs: Any) -> tuple[Any, Any]:
        return f"[{self.extra}] {msg}", kwargs


PREFIXED = Prefixed(LOGGER, {"a": 1})


def in_other_ways(x: Any) -> Any:
    LOGGER.warning("constants %s %d %.2f", "a", 3, 2.5)
    LOGGER.warning("100%")
    LOGGER.warning("with %d", 3, extra={"run": 3}, exc_info=False, stack_info=None)
    LONE.warning("lone %g", x[0])
    if x[0] < 0:
        ADAPTER.error("adapted %s", x[0])
        PREFIXED.log(logging.ERROR, "prefixed %s", "b")
    return x


class Kept(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.records = list[Any]()

    def emit(self, record: logging.LogRecord) -> None:
        has = [getattr(record, name, None) for name in ("run", "step")]
        self.records.append((record.name, record.getMessage(), record.lineno, record.funcName, *has))


@pytest.mark.parametrize("backend", ["llvm", "reference"])
def test_adapters_and_loggers_of_no_name(backend: str) -> None:
    compiled, handler = pliant.jit(in_other_ways, backend=backend), Kept()
    LOGGER.addHandler(handler)
    LONE.addHandler(handler)
    try:
        for x in (X, -X, X, -X):
            in_other_ways(x)
            want = [*handler.records]
            handler.records.clear()
            compiled(x)
            assert handler.records == want
            handler.records.clear()
    finally:
        LOGGER.removeHandler(handler)
        LONE.removeHandler(handler)


def test_what_an_adapter_adds_is_that_of_each_call(caplog: pytest.LogCaptureFixture) -> None:
    adapter = Prefixed(LOGGER, {"a": 1})

    def f(x: Any) -> Any:
        adapter.warning("first")
        return x

    compiled = pliant.jit(f)
    for extra in ({"a": 1}, {"a": 2}, {}):
        adapter.extra = extra
        assert records_of(caplog, compiled, X) == records_of(caplog, f, X)


def test_arguments_of_records(caplog: pytest.LogCaptureFixture) -> None:
    pliant.jit(in_other_ways)(X)
    assert next((r.msg, r.args) for r in caplog.records) == ("constants %s %d %.2f", ("a", 3, 2.5))


def test_records_have_no_traceback(caplog: pytest.LogCaptureFixture) -> None:
    def f(x: Any) -> Any:
        try:
            if x[0] < 0:
                raise ValueError("negative")
        except ValueError:
            LOGGER.exception("failed")
            LOGGER.error("again", exc_info=True)
        return x

    compiled = pliant.jit(f)
    for x, n in ((X, 0), (-X, 2), (-X, 2)):
        caplog.clear()
        compiled(x)
        assert [r.exc_info for r in caplog.records] == [None] * n


def test_what_is_added_once_is_told(caplog: pytest.LogCaptureFixture) -> None:
    def f(x: Any) -> Any:
        LOGGER.warning("first", extra={"names": ["a"]})
        return x

    compiled = pliant.jit(f)
    with pytest.warns(TracedOnceWarning, match=r"^a logger with such an `extra` is called while f is traced") as found:
        compiled(X)
    assert "hint: plain constants may be in it; or put all into the message" in str(found[0].message)
    assert len(caplog.records) == 1
    compiled(X)
    assert len(caplog.records) == 1


def test_the_module_configures_the_root(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: Any) -> Any:
        logging.warning("first is %g", x[0])
        return x

    compiled = pliant.jit(f)
    monkeypatch.setattr(logging.root, "handlers", [])
    compiled(X)
    assert capsys.readouterr().err == "WARNING:root:first is 0.5\n"
