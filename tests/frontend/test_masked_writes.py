"""`x[:, mask] = y` with a row of y for each element that a traced mask selects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import ShapeError, UnsupportedError
from pliant.testing import check_gradient

F, G = np.sin(np.arange(15.0)).reshape(3, 5) + 2, np.cos(0.7 * np.arange(15.0)).reshape(3, 5) + 0.1
STATES = G, G[:, ::-1].copy(), G + 0.5, -np.abs(G)  # three, three, four and none are positive in the first row


def positive(g: Any) -> Any:
    return g[0] > 0


def of_lines(g: Any) -> Any:
    return g[0, :, 0] > 0


def assigns(key: Any, y: Any, mask: Callable[[Any], Any] = positive) -> Callable[[Any, Any], Any]:
    def f(x: Any, g: Any) -> Any:
        m = mask(g)
        x[key(m)] = y(x, g, m)
        return x

    return f


def behind(m: Any) -> Any:
    return slice(None), m


def adds(x: Any, g: Any) -> Any:
    m = g[0] > 0
    x[:, m] += g[0][m]
    x[1:, m] /= x[:, m].sum(axis=0)
    return x


def adds_at(x: Any, g: Any) -> Any:
    m = g[0] > 0
    np.add.at(x, (slice(None), m), np.arange(3.0) * x[0, 1])
    return x


PROGRAMS: dict[str, Callable[[Any, Any], Any]] = {
    "fluxes": assigns(behind, lambda x, g, m: (g[:, m] - x[:, m]) / g[0][m]),
    "numbers first": assigns(behind, lambda x, g, m: g[0][m] * g[:, m]),
    "added": adds,
    "one row": assigns(behind, lambda x, g, m: g[0][m]),
    "chosen": assigns(behind, lambda x, g, m: np.where(g[0][m] > 0.5, g[:, m], x[:, m])),
    "sorted": assigns(behind, lambda x, g, m: np.sort(g[:, m], axis=1)),
    "one row sorted": assigns(behind, lambda x, g, m: np.sort(g[0][m])),
    "reversed": assigns(behind, lambda x, g, m: x[0][m][::-1] * g[:, m]),
    "another mask": assigns(behind, lambda x, g, m: x[:, ::-1][:, g[0, ::-1] > 0]),
    "known row": assigns(behind, lambda x, g, m: np.arange(3.0) * x[0, 1]),
    "known rows": assigns(lambda m: (slice(1, None), m), lambda x, g, m: np.arange(6.0).reshape(2, 3) * x[0, 1]),
    "known columns": assigns(behind, lambda x, g, m: np.arange(3.0).reshape(3, 1) * x[0, 1]),
    "leading axes": assigns(behind, lambda x, g, m: np.ones((1, 1, 3)) * x[0, 1]),
    "too many axes": assigns(behind, lambda x, g, m: np.ones((2, 1, 3))),
    "into one row": assigns(lambda m: (0, m), lambda x, g, m: x[:, m].sum(axis=0)),
    "added at": adds_at,
}


def outcome(f: Callable[..., Any], x: Any, g: Any) -> Any:
    """What a function returns, or the class of what it raises."""
    try:
        return np.array(f(x.copy(), g.copy()))
    except (IndexError, ValueError) as error:
        return IndexError if isinstance(error, IndexError) else ValueError


def assert_is_numpys(f: Callable[..., Any], x: Any, states: Any) -> None:
    compiled = pliant.jit(f)
    for g in states:
        wanted, made = outcome(f, x, g), outcome(compiled, x, g)
        if isinstance(wanted, type):
            assert isinstance(made, type)
        else:
            np.testing.assert_allclose(made, wanted, rtol=1e-14, strict=True)


@pytest.mark.usefixtures("for_all_data")
@pytest.mark.parametrize("f", PROGRAMS.values(), ids=PROGRAMS)
def test_writes_behind_an_axis_are_numpys(f: Callable[..., Any]) -> None:
    assert_is_numpys(f, F, STATES)


@pytest.mark.parametrize("name", sorted(PROGRAMS.keys() - {"too many axes"}))
def test_writes_behind_an_axis_are_differentiated(name: str) -> None:
    def loss(x: Any, g: Any) -> Any:
        return (PROGRAMS[name](x * 1, g * 1) ** 2 * np.arange(1.0, 6)).sum()

    check_gradient(loss, F, G)


@pytest.mark.usefixtures("for_all_data")
@pytest.mark.parametrize(
    "f",
    [
        assigns(behind, lambda x, g, m: g[0, m] * x[:, m], of_lines),
        assigns(behind, lambda x, g, m: g[0, m][::-1] * x[:, m], of_lines),
        assigns(behind, lambda x, g, m: x[:, m, :1] * g[0, m], of_lines),
        assigns(lambda m: (slice(None), m, 0), lambda x, g, m: g[0, m, 1] * x[:, m, 0], of_lines),
        assigns(behind, lambda x, g, m: g[0, m] * x[:, m]),
        assigns(behind, lambda x, g, m: g[0, m][::-1] * x[:, m]),
    ],
)
def test_axes_may_stand_on_both_sides(f: Callable[..., Any]) -> None:
    g, x = np.cos(np.arange(30.0)).reshape(3, 5, 2), np.sin(np.arange(30.0)).reshape(3, 5, 2)
    assert_is_numpys(f, x, (g, g[:, ::-1].copy(), g + 0.5, -np.abs(g)))


@pytest.mark.usefixtures("for_all_data")
def test_what_does_not_fit_is_said() -> None:
    with pytest.raises(ShapeError, match=r"could not broadcast f64\[2, 1, 3\] to what a mask selects, of 2 axes"):
        pliant.jit(PROGRAMS["too many axes"])(F.copy(), G)
    with pytest.raises(ShapeError, match=r"could not broadcast f64\[3, .*\] to what a mask selects, of 1 axes"):
        pliant.jit(assigns(lambda m: (0, m), lambda x, g, m: x[:, m]))(F.copy(), G)
    with pytest.raises(ShapeError, match="3 rows could not be broadcast to the 4 that the mask selects"):
        pliant.jit(PROGRAMS["known row"])(F.copy(), STATES[2])


def test_rows_of_unknown_length_fit_or_are_errors() -> None:
    def f(x: Any, z: Any, k: Any) -> Any:
        x[x[:, 0] > 0] = z[x[:, 0] > 0][:, :k]
        return x

    compiled, x = pliant.jit(f), np.cos(np.arange(9.0)).reshape(3, 3)
    for k in (3, 1):
        np.testing.assert_array_equal(compiled(x.copy(), x, k), f(x.copy(), x, k))
    with pytest.raises(ValueError, match="broadcast"):
        compiled(x.copy(), x, 2)


@pytest.mark.usefixtures("for_all_data")
def test_rows_of_unknown_length_are_refused_where_data_may_not_decide() -> None:
    f = pliant.jit(assigns(lambda m: m, lambda x, g, m: x[m][:, : np.sum(m)]))
    with pytest.raises(UnsupportedError, match=r"x\[mask\] = y, of rows of y"):
        f(F.T.copy(), G)
