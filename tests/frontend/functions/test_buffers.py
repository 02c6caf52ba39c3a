"""np.frombuffer of traced arrays is NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import PliantError

BYTES = np.arange(24, dtype=np.uint8)


def written(d: Any) -> Any:
    words = np.frombuffer(d, np.uint16, offset=4, count=3)
    words[1] = 513
    return words


VIEWS: dict[str, Callable[[Any], Any]] = {
    "a part": lambda d: np.frombuffer(d[4:8], dtype=np.uint32)[0],
    "all": lambda d: np.frombuffer(d, np.float64),
    "bytes between": lambda d: np.frombuffer(d, dtype=np.uint32, count=2, offset=3),
    "none": lambda d: np.frombuffer(d, np.int16, offset=24),
    "of two axes": lambda d: np.frombuffer(d.reshape(4, 6), np.int64),
    "narrower": lambda d: np.frombuffer(d.view(np.int64), np.uint16, 3, 8),
    "written": written,
    "what is no array": lambda d: np.frombuffer(b"abcd", np.uint8) + d[:4],
}


@pytest.mark.parametrize("f", VIEWS.values(), ids=VIEWS)
def test_it_shows_the_same_bytes(f: Callable[[Any], Any]) -> None:
    for shift in (0, 3):
        given, again = BYTES + np.uint8(shift), BYTES + np.uint8(shift)
        made, wanted = pliant.jit(f)(given), f(again)
        assert made.dtype == wanted.dtype
        np.testing.assert_array_equal(made, wanted)
        np.testing.assert_array_equal(given, again)


def test_a_number_is_one_element_and_derivatives_pass() -> None:
    x = np.array([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(pliant.jit(lambda x: np.frombuffer(x.sum()))(x), [6.0])
    np.testing.assert_array_equal(pliant.grad(lambda x: (np.frombuffer(x, offset=8) ** 2).sum())(x), [0.0, 4.0, 6.0])


@pytest.mark.parametrize(
    ("f", "text"),
    [
        (lambda d: np.frombuffer(d[::2], np.uint8), r"not C-contiguous[\s\S]*ascontiguousarray"),
        (lambda d: np.frombuffer(d.reshape(4, 6).T, np.uint8), "not C-contiguous"),
        (lambda d: np.frombuffer(d[1:], np.uint32), r"multiple of element size: 23 bytes, elements of 4[\s\S]*count="),
        (lambda d: np.frombuffer(d, np.uint32, 7), "smaller than requested size: 7 elements of 4 in 24 bytes"),
        (lambda d: np.frombuffer(d, np.uint32, offset=25), r"no greater than buffer length \(24\), got 25"),
        (lambda d: np.frombuffer([d, d], np.uint32), r"bytes-like object is required, not a list[\s\S]*np\.array"),
        (
            lambda d: np.frombuffer(float(d[0]), np.uint32),
            r"bytes-like object is required, not a traced number f64\[\]",
        ),
    ],
)
def test_what_has_no_such_elements_is_refused(f: Callable[[Any], Any], text: str) -> None:
    with pytest.raises((ValueError, TypeError)):
        f(BYTES)
    with pytest.raises(PliantError, match=text):
        pliant.jit(f)(BYTES)
