"""Types print and change shape as their names say."""

from __future__ import annotations

import pytest

from pliant.core.types import DTYPES, SHORT, Type, itemsize, real_dtype


def test_type_prints_dtype_and_shape() -> None:
    assert str(Type("f64", (3, 4))) == "f64[3, 4]"
    assert str(Type("bool")) == "bool[]"


def test_size_and_bytes_count_elements() -> None:
    assert (Type("f32", (3, 4)).size, Type("f32", (3, 4)).bytes) == (12, 48)
    assert (Type("c128").size, Type("c128").bytes) == (1, 16)
    assert Type("f64", (3, 0)).bytes == 0


def test_stacked_and_row_are_inverse() -> None:
    t = Type("i64", (3, 4))
    assert t.stacked(5) == Type("i64", (5, 3, 4))
    assert t.stacked(5).row == t


def test_without_drops_axes() -> None:
    assert Type("f64", (2, 3, 4)).without((0, 2)) == Type("f64", (3,))


@pytest.mark.parametrize(("short", "size"), [("bool", 1), ("i8", 1), ("u16", 2), ("f32", 4), ("c64", 8), ("c128", 16)])
def test_itemsize_is_the_one_in_the_name(short: str, size: int) -> None:
    assert itemsize(short) == size


def test_every_dtype_has_both_names() -> None:
    assert {SHORT[long] for long in DTYPES.values()} == set(DTYPES)


def test_only_floats_and_complex_numbers_have_derivatives() -> None:
    assert [d for d in DTYPES if Type(d).is_float] == ["f16", "f32", "f64", "c64", "c128"]
    assert (real_dtype("c64"), real_dtype("f32")) == ("f32", "f32")
