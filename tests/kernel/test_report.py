"""The memory section of an explanation, and its picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import pliant
from pliant.errors import ArgumentError


def mixes(x: Any, y: Any) -> Any:
    z = np.cumsum(np.sort(x))
    y[1:] += y[:-1]
    y[1:300] = z[::-1][1:300]
    w = z.copy()
    w[1:300] = 0
    return np.cumsum(w) + z[::-1]


def explained() -> Any:
    return pliant.explain(mixes, np.ones(1000), np.ones(1000))


def test_every_array_has_its_size_and_place():
    text = explained().memory
    assert "memory: 8,000 bytes allocated by each call" in text
    assert "in the memory of argument y" in text
    assert "x f64[1000]: 8,000 bytes, the caller's, given to step" in text


def test_copies_have_a_reason_and_a_line():
    copies = [line for line in explained().memory.splitlines() if "copies" in line]
    assert copies
    assert all("8,000 bytes" in line and "test_report.py:" in line for line in copies)
    assert [line for line in copies if "is read later" in line]


def test_programs_inside_loops_follow():
    def f(x: Any) -> Any:
        return pliant.fori_loop(0, 9, lambda i, y: np.cumsum(y)[::-1] + y, x)

    assert "inside step 0" in pliant.explain(f, np.ones(100)).memory


def test_the_section_is_part_of_the_text():
    found = explained()
    assert found.memory in str(found)


def test_the_picture_has_a_rectangle_for_each_array(tmp_path: Path):
    found = explained()
    path = tmp_path / "memory.svg"
    found.memory_picture(path)
    titles = [e for e in ElementTree.parse(path).getroot().iter() if e.tag.endswith("title")]
    arrays = [line for line in found.memory.splitlines()[1:] if "copies" not in line]
    assert len(titles) == len(arrays)
    assert all(e.text and "bytes" in e.text for e in titles)


def test_a_picture_is_an_svg(tmp_path: Path):
    with pytest.raises(ArgumentError, match=r"memory_picture writes SVG, not memory\.png"):
        explained().memory_picture(tmp_path / "memory.png")


def test_pictures_of_many_arrays_grow():
    many = pliant.explain(lambda *xs: sum(xs), *[np.ones(5)] * 60).picture
    assert 'height="-' not in many
