"""Warnings of traced functions: at every call, where the program comes to them; those that the function catches, by it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import UnsupportedError

X = np.array([0.5, -1.25, 3.0])


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


def of_local_classes(x: Any) -> Any:
    class Local(OwnWarning):
        pass

    class Coded(RuntimeWarning):
        def __init__(self, code: int, x: Any) -> None:
            super().__init__(f"{code}: {x}")
            self.code = code

    warnings.warn("local", Local, stacklevel=1)
    warnings.warn(Local("itself"), stacklevel=1)
    if x[0] < 0:
        warnings.warn(f"negative: {x[0]}", Local, stacklevel=1)
        warnings.warn(Local(f"negative: {x[0]}"), stacklevel=1)
        warnings.warn(Coded(3, "known"), stacklevel=1)
    return x * 2


def names_of(found: list[Any]) -> list[Any]:
    return [(text, kind.__name__, line) for text, kind, _, line in found]


@pytest.mark.parametrize("backend", ["llvm", "reference"])
def test_classes_that_are_found_by_no_name(backend: str) -> None:
    compiled = pliant.jit(of_local_classes, backend=backend)
    for x in (X, -X, X, -X):
        assert names_of(warnings_of(compiled, x)) == names_of(warnings_of(of_local_classes, x))


def test_warnings_themselves_are_given() -> None:
    warning = OwnWarning("this one", 2)

    def f(x: Any) -> Any:
        warnings.warn(warning, stacklevel=1)
        return x

    compiled = pliant.jit(f)
    for _ in range(2):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            compiled(X)
        assert [w.message for w in found] == [warning]


def test_a_warning_that_is_made_of_a_number() -> None:
    class Coded(OwnWarning):
        def __init__(self, code: Any) -> None:
            super().__init__(f"code {code}")

    def f(x: Any) -> Any:
        warnings.warn(Coded(x[0]), stacklevel=1)
        return x

    assert names_of(warnings_of(pliant.jit(f), X))[0][:2] == ("code 0.5", "OwnWarning")


def test_a_program_with_a_class_of_no_name_can_be_read_back() -> None:
    text = str(pliant.trace(of_local_classes, X))
    again = pliant.parse(text)
    assert str(again) == text


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


def test_programs_that_warn_can_be_read_back() -> None:
    text = str(pliant.trace(checked, X))
    assert str(pliant.parse(text)) == text


def silenced(x: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.warn("expected", stacklevel=1)
        for v in x:
            if v < 0:
                warnings.warn(f"negative: {v}", stacklevel=1)
    return x * 2


def recorded(x: Any) -> Any:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        warnings.warn("recorded", stacklevel=1)
        warnings.warn(OwnWarning("own"), stacklevel=1)
    return x * len(found), [(str(w.message), w.category) for w in found]


@pytest.mark.parametrize("backend", ["llvm", "reference"])
def test_a_function_silences_its_own_warnings(backend: str) -> None:
    compiled = pliant.jit(silenced, backend=backend)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for x in (X, -X):
            np.testing.assert_array_equal(compiled(x), x * 2)
        np.testing.assert_array_equal(pliant.grad(lambda x: silenced(x).sum())(X), np.full(3, 2.0))
        np.testing.assert_array_equal(pliant.vmap(silenced)(np.stack([X, -X])), np.stack([X, -X]) * 2)


def test_a_function_records_its_own_warnings() -> None:
    compiled = pliant.jit(recorded)
    for _ in range(2):
        assert warnings_of(compiled, X) == []
        assert compiled(X)[1] == [("recorded", UserWarning), ("own", OwnWarning)]
        np.testing.assert_array_equal(compiled(X)[0], X * 2)


def caught_by(handled: type[Exception]) -> Callable[..., Any]:
    def f(x: Any) -> Any:
        try:
            if x[0] < 0:
                warnings.warn("negative", RuntimeWarning, stacklevel=1)
        except handled:
            return -x
        return x * 2

    return f


@pytest.mark.parametrize("handled", [RuntimeWarning, Warning, Exception])
def test_a_handler_catches_warnings_that_are_errors(handled: type[Exception]) -> None:
    f = caught_by(handled)
    compiled = pliant.jit(f)
    for action in ("error", "always", "ignore", "error"):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter(action)
            for x in (np.ones(3), -np.ones(3), np.ones(3)):
                want = f(x)
                n = len(found)
                np.testing.assert_array_equal(compiled(x), want)
                assert len(found) == 2 * n
                found.clear()


def test_a_handler_catches_what_filters_of_the_function_make_an_error() -> None:
    def f(x: Any) -> Any:
        with warnings.catch_warnings():
            warnings.filterwarnings("error", message="neg")
            try:
                if x[0] < 0:
                    warnings.warn("negative", stacklevel=1)
                if x[1] < 0:
                    raise ValueError("second")
            except (UserWarning, ValueError) as error:
                return str(error), -x
        return "fine", x * 2

    compiled = pliant.jit(f)
    for x in (np.ones(3), -np.ones(3), np.array([1.0, -1.0, 0.0])):
        assert str(compiled(x)) == str(f(x))


def test_a_filter_inside_that_makes_an_error() -> None:
    def f(x: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            if x[0] < 0:
                warnings.warn("negative", stacklevel=1)
        return x

    compiled = pliant.jit(f)
    for x in (np.ones(3), -np.ones(3), np.ones(3)):
        if x[0] < 0:
            with pytest.raises(UserWarning, match=r"^negative$"):
                compiled(x)
        else:
            np.testing.assert_array_equal(compiled(x), x)


def recorded_if_negative(x: Any) -> Any:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        if x[0] < 0:
            warnings.warn("negative", stacklevel=1)
    return x * len(found)


def recorded_with_a_number(x: Any) -> Any:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        warnings.warn(f"first is {x[0]}", stacklevel=1)
    return x * len(found)


def test_a_function_records_its_own_warnings_under_a_condition() -> None:
    compiled = pliant.jit(recorded_if_negative)
    for x in (X, -X, X):
        np.testing.assert_array_equal(compiled(x), recorded_if_negative(x))


@pytest.mark.parametrize(
    "call",
    [lambda: pliant.vmap(recorded_if_negative)(np.stack([X, -X])), lambda: pliant.jit(recorded_with_a_number)(X)],
)
def test_what_is_recorded_and_known_only_at_run_time_is_refused(call: Callable[[], Any]) -> None:
    with pytest.raises(UnsupportedError, match=r"^a warning that catch_warnings inside a traced function") as caught:
        call()
    assert "hint: put catch_warnings around the call, or silence the warning" in str(caught.value)
    assert "    warnings.warn(" in str(caught.value)


def test_what_is_no_warning() -> None:
    def f(x: Any) -> Any:
        warnings.warn("text", int, stacklevel=1)  # type: ignore[arg-type]
        return x

    with pytest.raises(TypeError, match="category must be a Warning subclass"):
        pliant.jit(f)(X)
