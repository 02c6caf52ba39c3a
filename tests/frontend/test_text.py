"""Text made of numbers that are known only at run time: shown while tracing, refused where Python asks for it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant

X = np.array([12321.0, 3.0])


def _length(x: Any) -> Any:
    return len(str(int(x.sum())))


def _compared(x: Any) -> Any:
    return f"{x[0]}" == "12321.0"


def _compared_choice(x: Any) -> Any:
    t = "a" if x[0] > 0 else "b"
    return 1.0 if f"is {t}" == "is a" else 2.0


def _a_key(x: Any) -> Any:
    return {f"k{x[0]}": x}


def _reversed(x: Any) -> Any:
    n, total = int(x[0]), 0
    while n > 0:
        total += 100 if str(n) == str(n)[::-1] else n % 10
        n //= 10
    return total


def _joined(x: Any) -> Any:
    return ",".join([str(v) for v in x]) == "12321.0,3.0"


def _formatted(x: Any) -> Any:
    return "{}".format(x[0]) == "12321.0"  # noqa: UP032


def _by_a_percent_sign(x: Any) -> Any:
    return "%s" % x[0] == "12321.0"  # noqa: UP031


def _read_back(x: Any) -> Any:
    return int(str(int(x[0])))


def _searched(x: Any) -> Any:
    return "1" in str(x[0])


@pytest.mark.usefixtures("for_all_data")
@pytest.mark.parametrize(
    "f",
    [
        _length,
        _compared,
        _compared_choice,
        _a_key,
        _reversed,
        _joined,
        _formatted,
        _by_a_percent_sign,
        _read_back,
        _searched,
    ],
)
def test_what_python_asks_of_text_made_of_a_number_is_refused(f: Callable[..., Any]) -> None:
    with pytest.raises(pliant.PliantError, match="the text of a number that is known only at run time"):
        pliant.jit(f)(X)


def test_text_made_of_a_number_is_not_returned() -> None:
    def in_a_list(x: Any) -> Any:
        return [f"{x[0]} and {x[1]}"]

    for f in (in_a_list, lambda x: str(x), lambda x: (x.sum(), repr(x[0]))):
        with pytest.raises(pliant.PliantError, match=r"text made of a number .* is returned"):
            pliant.jit(f)(X)


def test_text_made_of_integers_among_the_arguments_is_pythons() -> None:
    def digits(n: int) -> Any:
        return sum(int(c) for c in str(n)), f"{n:>5}"

    def short(n: int) -> Any:
        return sum(i for i in range(n) if len(str(i)) > 1)

    for f in (digits, short):
        assert pliant.jit(f)(15) == f(15)


def test_text_of_what_is_known_is_pythons() -> None:
    def f(x: Any) -> Any:
        name = f"a{len(x)}" + "-".join(["c", "d"]) + "{}".format(3) + "%s" % 4  # noqa: UP031, UP032
        table = {name: x, f"{x.shape[0]:>{4}}|{3.14159:.{2}f}|{'a'!r}|{len(x)=}": x + 1}
        return table, name.upper()

    got, expected = pliant.jit(f)(X), f(X)
    assert (list(got[0]), got[1]) == (list(expected[0]), expected[1])


def test_what_is_traced_may_be_shown() -> None:
    def f(x: Any) -> Any:
        warnings.warn(f"x is {x[0]}", stacklevel=1)
        return x.sum()

    with pytest.warns(UserWarning, match=f"x is {X[0]}") as caught:
        assert pliant.jit(f)(X) == X.sum()
    assert caught[0].filename == __file__


def test_text_made_of_words_that_data_choose_is_returned() -> None:
    def f(x: Any) -> Any:
        word = "a" if x[0] > 0 else "b"
        return word, f"{word}-"

    compiled = pliant.jit(f)
    for x in (X, -X, X):
        assert compiled(x) == f(x)


FORMATS_OF_NUMBERS: list[Callable[[Any], Any]] = [
    lambda x: "%d" % x,  # noqa: UP031
    lambda x: f"{x:.2f}",
    lambda x: "%.3f" % x,  # noqa: UP031
    lambda x: format(x[:2], "d"),
    lambda x: "%g" % (x.reshape(1, -1),),  # noqa: UP031
    lambda x: "%(a)x" % {"a": x},  # noqa: UP031
]


@pytest.mark.parametrize("show", FORMATS_OF_NUMBERS)
def test_formats_that_are_not_for_arrays_are_refused_as_by_numpy(show: Callable[..., Any]) -> None:
    def printed(x: Any) -> Any:
        print(show(x))
        return x

    x = np.arange(3.0)
    with pytest.raises(TypeError) as want:
        show(x)
    for f in (show, printed):
        with pytest.raises(pliant.errors.DTypeError) as got:
            pliant.jit(f)(x)
        assert str(want.value).strip() in str(got.value)
        assert "test_text.py" in str(got.value)


def test_formats_of_arrays_as_text_are_pythons(capsys: pytest.CaptureFixture[str]) -> None:
    def printed(x: Any) -> Any:
        print(f"{x}", f"{x!s:>20}", "%s" % x, "%30r" % (x,), f"{x[:1]}")  # noqa: UP031
        return x

    printed(np.arange(3.0))
    want = capsys.readouterr().out
    pliant.jit(printed)(np.arange(3.0))
    assert capsys.readouterr().out == want
