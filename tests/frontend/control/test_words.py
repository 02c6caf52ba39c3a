"""What messages call what a name is bound to."""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.frontend.control.words import difference, text_of


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (np.float32(1.5), "float32"),
        (3, "3"),
        (2j, "2j"),
        ("up", "'up'"),
        (None, "None"),
        (slice(1, 2), "slice(1, 2, None)"),
        ([1, 2], "a list of 2"),
        ((1, 2, 3), "a tuple of 3"),
        ({"up": 1, 2: 3}, "a dict of 'up', 2"),
        ({}, "a dict of nothing"),
        (object(), "object"),
    ],
)
def test_what_a_value_is_called(x: Any, text: str):
    assert text_of(x) == text


def test_arrays_are_called_by_their_type():
    found: list[str] = []
    pliant.jit(lambda x: found.extend(map(text_of, (x, np.zeros(4), (x, x)))))(np.ones((2, 3)))
    assert found == ["f64[2, 3]", "f64[4]", "a tuple of 2"]


class Way(Enum):
    """Members, which are called as they are written."""

    UP = 1


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ({"v": 1.0, "path": []}, {"v": 2.5, "path": [1]}, ("best['path']", [], [1])),
        ((1.0, {"p": (1, "a")}), (2, {"p": (1, "b")}), ("best[1]['p'][1]", "a", "b")),
        ([1.0], [2.0], ("best", [1.0], [2.0])),
        ("up", None, ("best", "up", None)),
    ],
)
def test_what_differs_is_a_part(a: Any, b: Any, expected: Any):
    assert difference("best", a, b) == expected


def test_members_are_called_as_they_are_written():
    assert text_of(Way.UP) == "Way.UP"


def ordered(x: Any, k: Any) -> Any:
    words = ["lo", "mid", "hi"]
    word = words[k] if x > 0 else "mad"
    return (word < "lz") * x, word >= "mid", words[k] > "mb", (1, word) < (1, words[k]), max(word, "m") == "mid"


@pytest.mark.parametrize("k", [0, 1, 2, -1])
def test_words_are_ordered(k: int):
    for x in (2.0, -1.5):
        assert pliant.jit(ordered)(x, np.int64(k)) == ordered(x, k)


def drawn(cells: Any) -> str:
    made = []
    for row in cells:
        for cell in row:
            if cell == 1:
                made.append("#")
            else:
                made.append(" ")
        made.append("\n")
    return "".join(made)


def test_many_words_of_a_list_are_joined() -> None:
    compiled = pliant.jit(drawn)
    for n in (2, 3):
        cells = np.arange(30).reshape(5, 6) % n
        assert compiled(cells) == drawn(cells)
