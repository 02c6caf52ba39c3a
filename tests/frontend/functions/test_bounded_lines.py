"""Arrays whose extents are known only at run time as a line: a view of them where NumPy has one, and their order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import DomainError, UnsupportedError

X = np.arange(9.0).reshape(3, 3)
MASKS = {"some": [True, False, True], "one": [False, False, True], "none": [False] * 3, "all": [True] * 3}

MAKERS: dict[str, Callable[[Any, Any], Any]] = {
    "rows": lambda x, m: x[m],
    "columns": lambda x, m: x[:, m],
    "columns, copied": lambda x, m: x[:, m].copy(),
    "columns and more": lambda x, m: x[:, m][None] + 1,
    "columns of zeros": lambda x, m: np.zeros_like(x[:, m]) + 0,
    "turned rows": lambda x, m: x[m].T,
    "a function of columns": lambda x, m: np.cumsum(x[:, m], axis=0),
    "a choice of turned rows": lambda x, m: np.where(x[m].T > 1, x[m].T, 0),
    "parts of rows": lambda x, m: x[m][:, :2],
    "rows backwards": lambda x, m: x[m][::-1],
    "every second one": lambda x, m: x[0][m][::2],
    "first rows": lambda x, m: x[: m.sum()],
    "last rows": lambda x, m: x[m.sum() :],
    "every second row": lambda x, m: x[m.sum() - 1 :: 2],
    "first columns": lambda x, m: x[:, : m.sum()],
    "rows, turned": lambda x, m: x[: m.sum()].T,
    "a product": lambda x, m: np.outer(x[0][m], x[1][m]),
    "places": lambda x, m: np.argwhere(m[:, None] & (x > 3)),
    "turned places": lambda x, m: np.argwhere(m[:, None] & (x > 3)).T,
    "places of each axis": lambda x, m: np.transpose(np.nonzero(m[:, None] & (x > 3))),
    "distinct rows": lambda x, m: np.unique(x[m], axis=0),
}
LINES: dict[str, Callable[[Any], Any]] = {
    "ravel": np.ravel,
    "reshape": lambda w: w.reshape(-1),
    "flatten": lambda w: w.flatten(),
    "ravel in order F": lambda w: w.ravel(order="F"),
    "ravel in order A": lambda w: w.ravel("A"),
    "ravel in order K": lambda w: w.ravel("K"),
}


@pytest.mark.parametrize("maker", MAKERS.values(), ids=MAKERS.keys())
@pytest.mark.parametrize("line", LINES.values(), ids=LINES.keys())
def test_writes_to_a_line_are_seen_where_numpy_has_a_view(
    line: Callable[[Any], Any], maker: Callable[[Any, Any], Any]
) -> None:
    def f(x: Any, m: Any) -> Any:
        w = maker(x, m)
        v = line(w)
        v += 20
        w *= 2
        return w, v, x

    for mask in MASKS.values():
        xs = [(X.copy(), np.array(mask)) for _ in range(2)]
        for made, expected in zip(pliant.jit(f)(*xs[0]), f(*xs[1]), strict=True):
            np.testing.assert_array_equal(made, expected)


@pytest.mark.usefixtures("for_all_data")
@pytest.mark.parametrize("name", ["rows", "columns", "turned rows", "places", "parts of rows", "first columns"])
def test_a_line_whose_array_has_no_name_is_written_for_all_data(name: str) -> None:
    def f(x: Any, m: Any) -> Any:
        v = MAKERS[name](x.copy(), m).reshape(-1)
        v[1:] += 3
        return v

    for mask in MASKS.values():
        np.testing.assert_array_equal(pliant.jit(f)(X, np.array(mask)), f(X, np.array(mask)))


@pytest.mark.usefixtures("for_all_data")
def test_rows_are_written_as_a_line_in_loops() -> None:
    def f(x: Any, m: Any) -> Any:
        for k in range(7):
            w = x[m]
            w.ravel()[1::2] += k
            x[m] = w
        return x

    np.testing.assert_array_equal(
        pliant.jit(f)(X.copy(), np.array(MASKS["some"])), f(X.copy(), np.array(MASKS["some"]))
    )


@pytest.mark.usefixtures("for_all_data")
def test_what_only_numpy_knows_to_be_a_view_is_refused() -> None:
    def f(x: Any, m: Any) -> Any:
        w = x[:, m]
        v = w.ravel()
        v[0] = 5
        return w, v

    with pytest.raises(UnsupportedError, match=r"(?s)this array was reshaped.*v\[0\] = 5.*hint: copy it"):
        pliant.jit(f)(X, np.array(MASKS["some"]))
    with pytest.raises(UnsupportedError, match=r"np\.ravel in order 'K' of"):
        pliant.jit(lambda x, m: x[:, m].ravel("K"))(X, np.array(MASKS["some"]))


@pytest.mark.parametrize("f", [lambda x: np.ravel(x[x > 0], order="Q"), lambda x: np.unique(x).reshape(-1, order="K")])
def test_an_order_that_numpy_does_not_have_is_an_error(f: Callable[[Any], Any]) -> None:
    with pytest.raises(DomainError, match="order must be one of 'C', 'F', 'A'"):
        pliant.jit(f)(X)


def test_every_second_row_from_a_traced_place_is_reshaped_without_a_copy() -> None:
    def f(x: Any, i: Any) -> Any:
        w = x[i[0] : i[0] + 3 : 2]
        w.reshape(2, 1, 3)[0] = 99
        w.ravel()[0] = 5
        return x, w

    for made, expected in zip(pliant.jit(f)(X.copy(), np.array([0])), f(X.copy(), np.array([0])), strict=True):
        np.testing.assert_array_equal(made, expected)
