"""A call that raises and is run again tells nothing twice, and other threads tell what they do."""

from __future__ import annotations

import contextlib
import io
import logging
import sys
import threading
import warnings
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.frontend.muted import muted

X = np.array([1.0, 2.0])
LOGGER = logging.getLogger("pliant.tests.muted")


def told_and_raised(x: Any) -> Any:
    print("printed")
    sys.stderr.writelines([])
    LOGGER.warning("logged %g", x[0])
    warnings.warn("warned", stacklevel=1)
    if x[0] < 0:
        raise ValueError(f"negative: {x[0]:.1f}")
    return x * 2


def test_a_call_that_raises_tells_once(capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> None:
    compiled = pliant.jit(told_and_raised)
    for x in (X, -X, -X, X):
        caplog.clear()
        with warnings.catch_warnings(record=True) as found, contextlib.suppress(ValueError):
            warnings.simplefilter("always")
            compiled(x)
        assert capsys.readouterr().out == "printed\n"
        assert [r.getMessage() for r in caplog.records] == [f"logged {x[0]:g}"]
        assert [str(w.message) for w in found] == ["warned"]


def tell(name: str) -> None:
    print(name)
    sys.stdout.writelines([name, "\n"])
    print(name, file=sys.stderr)
    LOGGER.warning(name)
    warnings.warn(name, stacklevel=1)


def test_other_threads_tell(caplog: pytest.LogCaptureFixture) -> None:
    out, err = io.StringIO(), io.StringIO()
    outputs = contextlib.redirect_stdout(out), contextlib.redirect_stderr(err)
    with outputs[0], outputs[1], warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        with muted(), muted():
            tell("mine")
            other = threading.Thread(target=tell, args=("other",))
            other.start()
            other.join()
        tell("later")
    assert out.getvalue() == "other\nother\nlater\nlater\n"
    assert err.getvalue().startswith("other\n")
    assert [r.getMessage() for r in caplog.records] == ["other", "later"]
    assert [str(w.message) for w in found] == ["other", "later"]


def test_threads_that_end_in_the_order_in_which_they_began_leave_all_as_it_was() -> None:
    before = sys.stdout, sys.stderr, warnings.showwarning, logging.Logger.handle, [*warnings.filters]
    first_is_in, second_is_in = threading.Event(), threading.Event()

    def first() -> None:
        with muted():
            first_is_in.set()
            second_is_in.wait(10)

    thread = threading.Thread(target=first)
    thread.start()
    first_is_in.wait(10)
    with muted():
        second_is_in.set()
        thread.join()
    assert (sys.stdout, sys.stderr, warnings.showwarning, logging.Logger.handle, [*warnings.filters]) == before
