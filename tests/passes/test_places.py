"""Boxes of places: whether two can meet, for all indices of loops."""

from __future__ import annotations

from pliant.core.build import trace
from pliant.core.ir import Value
from pliant.core.types import Type
from pliant.ops.block import AddBlock, read_block
from pliant.passes.places import Box, Form, Scene, box_of_read, box_of_write, can_meet, is_possible

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


def test_a_block_of_at_most_one_element_is_at_most_its_first_place() -> None:
    index, nothing = Type("i64"), Scene(None)

    def f(x: Value, u: Value, start: Value, n: Value) -> Value:
        first = point(Form.of((None, start)))
        assert box_of_read(read_block(x, [start], [n], (1,)), nothing) == first
        assert box_of_read(read_block(x, [start], [n], (2,)), nothing) != first
        added = AddBlock((1,))(x, u, start, n)
        assert box_of_write(added, nothing) == first
        return added

    trace(f, Type("f64", (9,)), Type("f64", (1,)), index, index)
