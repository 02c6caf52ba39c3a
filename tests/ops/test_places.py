"""Boxes of places: whether two can meet, for all indices of loops."""

from __future__ import annotations

from pliant.ops.places import Box, Form, can_meet, is_possible

ROW, J, N = Form.of("i"), Form.of("j"), Form.of("n")


def point(*places: Form) -> Box:
    return tuple((p, p) for p in places)


def test_equal_and_different_places() -> None:
    assert can_meet(point(ROW), point(ROW), [])
    assert not can_meet(point(ROW), point(ROW + 1), [])
    assert can_meet(point(ROW), point(J), [])
    assert not can_meet(point(ROW), point(J), [J - ROW - 1])


def test_a_row_left_of_the_diagonal_misses_what_is_written_later() -> None:
    later = Form.of("later")
    row: Box = ((ROW, ROW), (Form(), J - 1))
    assert not can_meet(row, point(ROW, later), [J, ROW - J - 1, later - J])
    assert can_meet(row, point(ROW, later), [J, ROW - J - 1, J - 1 - later, later])


def test_empty_boxes_meet_nothing() -> None:
    assert not can_meet(((Form(), Form(-1)),), ((Form(), Form(9)),), [])


def test_whole_numbers_leave_gaps() -> None:
    assert not is_possible([ROW * 2 - 1, ROW * -2 + 1])
    assert is_possible([ROW * 2 - 2, ROW * -2 + 2])
    assert not is_possible([ROW - J, J - N, N - ROW - 1])
