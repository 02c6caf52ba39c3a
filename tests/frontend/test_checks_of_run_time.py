"""What NumPy and Python refuse at run time is refused, with their exceptions: nothing is read, cut off or wrapped."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import IndexRangeError, PliantError, ShapeError

ONES = np.ones(3)


def copies(xs: tuple[Any, ...]) -> list[Any]:
    """Arguments that may be written to."""
    return [x.copy() for x in xs]


def raises_as_numpy(f: Callable[..., Any], good: tuple[Any, ...], *bad: tuple[Any, ...]) -> None:
    """NumPy's result of good operands, and NumPy's class of error, at the user's line, of bad ones."""
    compiled = pliant.jit(f)
    np.testing.assert_array_equal(compiled(*copies(good)), f(*copies(good)))
    for xs in bad:
        with pytest.raises((ArithmeticError, ValueError, IndexError, TypeError)) as theirs:
            f(*copies(xs))
        for run in (compiled, pliant.jit(f, backend="reference")):
            with pytest.raises(theirs.type) as ours:
                run(*copies(xs))
            assert isinstance(ours.value, PliantError)


def in_a_loop(a: Any, i: Any) -> Any:
    total = 0.0
    for k in i:
        total += a[k]
    return total


def in_a_loop_of_ones(a: Any, i: Any) -> Any:
    total = 0.0
    for k in i:
        total += np.ones(3)[k] + a.sum()
    return total


READS: dict[str, Callable[[Any, Any], Any]] = {
    "ones": lambda a, i: np.ones(3)[i],
    "ones beside others": lambda a, i: np.ones(3)[i] * a,
    "full": lambda a, i: np.full(3, a[0])[i],
    "take": lambda a, i: np.take(np.ones(3), i),
    "take of one": lambda a, i: np.take(np.ones(3), i[0]),
    "one index": lambda a, i: np.ones(3)[i[0]],
    "repeated rows": lambda a, i: np.broadcast_to(a, (3, 3))[i, 0],
    "repeated columns": lambda a, i: np.broadcast_to(a[:, None], (3, 3))[0, i],
    "repeated rows, both": lambda a, i: np.broadcast_to(a, (3, 3))[i, i[::-1]],
    "summed": lambda a, i: np.ones(3)[i].sum(),
    "summed rows": lambda a, i: np.broadcast_to(a, (3, 3))[i].sum(0),
    "times zero": lambda a, i: np.zeros(3)[i] @ np.zeros(3)[i],
    "joined": lambda a, i: np.concatenate([np.ones(3)[i], a]),
    "chosen": lambda a, i: np.where(a > 0, np.ones(3)[i], np.zeros(3)[i]),
    "put together": lambda a, i: np.stack([np.ones(3)[i], np.ones(3)[i]]),
    "a loop": in_a_loop,
    "a loop over ones": in_a_loop_of_ones,
    "a map": lambda a, i: pliant.map(lambda k: np.ones(3)[k], i),
    "along": lambda a, i: np.take_along_axis(np.ones(3), i, 0),
    "choose": lambda a, i: np.choose(abs(i), [1.0, 1.0, 1.0]),
    "flat index": lambda a, i: np.unravel_index(abs(i), (3, 1)),
    "coordinates": lambda a, i: np.ravel_multi_index((abs(i), i * 0), (3, 1)),
}


@pytest.mark.parametrize("f", READS.values(), ids=READS.keys())
def test_an_index_of_repeated_elements_is_checked(f: Callable[..., Any]):
    bad = np.array([3, 0, 1]), np.array([-4, 0, 1]), np.array([10**12, 0, 1])
    raises_as_numpy(f, (ONES * 2, np.array([0, 2, 1])), *[(ONES * 2, i) for i in bad])


@pytest.mark.parametrize("transform", [pliant.grad, pliant.value_and_grad, pliant.hessian, pliant.jit])
def test_an_index_of_repeated_elements_is_checked_in_derivatives(transform: Callable[..., Any]):
    def f(a: Any, i: Any) -> Any:
        return (np.ones(3)[i] * a * a).sum()

    compiled = transform(f)
    compiled(ONES, np.array([0, 1, 2]))
    for i in ([0, 1, 3], [-4, 1, 1]):
        with pytest.raises(IndexError, match="out of range for axis 0 of extent 3"):
            compiled(ONES, np.array(i))


def counted(x: Any) -> Any:
    total = 0
    for k in range(int(x[0])):
        total += k
    return total


def filled(x: Any) -> Any:
    made = np.zeros(9)
    for v in x:
        made[int(v)] += 1
    return made


WHOLE: dict[str, Callable[[Any], Any]] = {
    "int": lambda x: int(x[0]),
    "round": lambda x: round(x[0]),
    "floor": lambda x: math.floor(x[0]),
    "ceil": lambda x: math.ceil(x[0]),
    "trunc": lambda x: math.trunc(x[0]),
    "range": counted,
    "a loop": filled,
    "an index": lambda x: np.ones(9)[int(x[0])],
    "a product": lambda x: int(x[0]) * 0,
    "a map": lambda x: pliant.map(lambda v: int(v), x),
    "a slice": lambda x: np.ones(9)[: int(x[0])].sum(),
    "a sum": lambda x: sum(int(v) for v in x),
}


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2"])
@pytest.mark.parametrize("f", WHOLE.values(), ids=WHOLE.keys())
def test_no_integer_is_made_of_what_is_none(f: Callable[..., Any], dtype: str):
    if f is WHOLE["trunc"] and dtype != "f8":
        pytest.skip("Python has it of float64 alone")
    bad = [np.array([v, 1.0], dtype) for v in (np.nan, np.inf, -np.inf)]
    raises_as_numpy(f, (np.array([2.5, 7.0], dtype),), *[(x,) for x in bad])


def test_an_integer_of_more_than_64_bits_is_refused():
    for v in (2.0**63, -(2.0**63) * 1.5, 1e300):
        with pytest.raises(OverflowError, match="more than 64 bits"):
            pliant.jit(lambda x: int(x[0]))(np.array([v]))
    for v in (2.0**62, -(2.0**62), 9223372036854774784.0):
        assert pliant.jit(lambda x: int(x[0]))(np.array([v])) == int(v)


def test_that_it_is_one_is_asked_once_and_of_the_number_itself():
    program = str(pliant.trace(lambda x: int(x[0]), np.ones(2)))
    assert "trunc" not in program
    assert program.count("less(") == 1
    assert f"{2**62}" in program  # a bit of all that are too large: LLVM sees that no code of an error is 0


def test_what_is_no_integer_is_an_error_of_the_branch_that_is_taken():
    def f(x: Any) -> Any:
        return int(x[0]) if x[0] < 5 else -1

    compiled = pliant.jit(f)
    assert [compiled(np.array([v])) for v in (2.7, np.nan, np.inf)] == [2, -1, -1]
    with pytest.raises(OverflowError):
        compiled(np.array([-np.inf]))


# --- writes by masks


def put(x: Any, mask: Any, y: Any) -> Any:
    x[mask] = y
    return x


def put_found(x: Any, mask: Any, y: Any) -> Any:
    x[mask] = y[y > 0]
    return x


def put_places(x: Any, mask: Any, y: Any) -> Any:
    x[np.flatnonzero(mask)] = y
    return x


def put_in_a_loop(x: Any, mask: Any, y: Any) -> Any:
    for _ in range(3):
        x[mask] = y
    return x


MASK, NONE = np.array([True, False, True]), np.zeros(3, bool)


@pytest.mark.parametrize("f", [put, put_in_a_loop])
def test_values_for_another_number_of_places(f: Callable[..., Any]):
    raises_as_numpy(
        f, (ONES, MASK, np.array([2.0, 3.0])), (ONES, ~MASK, np.array([2.0, 3.0])), (ONES, NONE, np.ones(2))
    )
    raises_as_numpy(f, (ONES, NONE, np.ones(0)), (ONES, MASK, np.ones(0)))
    raises_as_numpy(f, (np.ones((3, 2)), MASK, np.ones((2, 2))), (np.ones((3, 2)), ~MASK, np.ones((2, 2))))
    with pytest.raises(ValueError, match="cannot assign 2 input values to the 3 output values where the mask is true"):
        pliant.jit(f)(ONES.copy(), ~NONE, np.ones(2))


def test_values_of_which_it_is_known_only_at_run_time_how_many_there_are():
    x, y = np.zeros(3), np.array([4.0, -1.0, 5.0])
    raises_as_numpy(put_found, (x, MASK, y), (x, ~NONE, y), (x, ~MASK, y), (x, MASK, -np.abs(y)))
    for mask in (MASK, ~MASK, NONE, ~NONE):  # one value is there for all
        raises_as_numpy(put_found, (x, mask, y - 4))
    with pytest.raises(ValueError, match="other input values than 1 to the 1 output values"):
        pliant.jit(put_found)(x, ~MASK, y)


def test_an_operand_of_another_number_of_elements_than_are_selected():
    def f(x: Any, mask: Any, y: Any) -> Any:
        return (x[mask] + y).sum()

    raises_as_numpy(f, (ONES, MASK, np.ones(2)), (ONES, ~NONE, np.ones(2)), (ONES, NONE, np.ones(2)))
    with pytest.raises(ValueError, match=r"operands could not be broadcast together with shapes \(3,\) \(2,\)"):
        pliant.jit(f)(ONES.copy(), ~NONE, np.ones(2))
    with pytest.raises(
        ValueError, match=r"shapes \(1,\) \(3,\)(?s:.*)hint: an extent that is 1 only at run time is not"
    ):
        pliant.jit(f)(ONES.copy(), np.array([False, True, False]), ONES)


@pytest.mark.parametrize("mask", [np.ones(4, bool), np.ones(2, bool), np.ones((3, 1), bool)], ids=str)
@pytest.mark.parametrize("f", [lambda x, m: x[m], lambda x, m: x[m].sum(), lambda x, m: put(x, m, 1.0)])
def test_a_mask_of_another_length(f: Callable[..., Any], mask: Any):
    raises_as_numpy(lambda x, m: f(x, m) if m.shape != (3,) else x, (ONES, MASK), (ONES, mask))


# --- counts


def test_labels_beyond_the_bins_that_are_asked_for():
    compiled = pliant.jit(lambda i, w: (np.bincount(i, minlength=3), np.bincount(i, w, 3)))
    np.testing.assert_array_equal(compiled(np.array([0, 2, 2]), ONES)[1], [1, 0, 2])
    with pytest.raises(IndexError, match=r"minlength=3(.|\n)*hint: give a minlength above all"):
        compiled(np.array([0, 2, 3]), ONES)
    with pytest.raises(ValueError, match="must have no negative elements"):
        compiled(np.array([0, -1, 2]), ONES)
    with pytest.raises(ValueError, match="same length"):
        compiled(np.array([0, 1]), ONES)
    with pytest.raises(TypeError, match="Cannot cast"):
        compiled(np.array([0, 1, 2]), ONES * 1j)
    for bad, error in ((np.ones(3), TypeError), (np.ones((3, 1), int), ValueError)):
        with pytest.raises(error):
            pliant.jit(lambda i: np.bincount(i, minlength=3))(bad)
    with pytest.raises(ValueError, match="must not be negative"):
        pliant.jit(lambda i: np.bincount(i, minlength=-1))(np.ones(3, int))


INDICES: dict[str, Callable[[Any], Any]] = {
    "unravel_index": lambda i: np.unravel_index(i, (3, 2)),
    "ravel_multi_index": lambda i: np.ravel_multi_index((i, i), (3, 2)),
    "take_along_axis": lambda i: np.take_along_axis(np.ones(3), i, 0),
    "put_along_axis": lambda i: np.put_along_axis(np.ones(3), i, 1, 0),
    "choose": lambda i: np.choose(i, [ONES, ONES]),
    "take": lambda i: np.take(np.ones(3), i),
    "put": lambda i: np.put(np.ones(3), i, 1),
    "bincount": lambda i: np.bincount(i, minlength=3),
}


@pytest.mark.parametrize("dtype", ["f8", "?", "u1", "i8", "u8"])
@pytest.mark.parametrize("f", INDICES.values(), ids=INDICES.keys())
def test_what_is_an_index_is_what_numpy_takes_for_one(f: Callable[[Any], Any], dtype: str):
    i = np.array([0, 1, 1], dtype)
    try:
        wanted = f(i)
    except (TypeError, IndexError) as error:
        with pytest.raises(type(error)):
            pliant.jit(f)(i)
    else:
        np.testing.assert_array_equal(pliant.jit(f)(i), wanted)


def one_of_two_lengths(x: Any) -> Any:
    z = np.zeros(3)
    z[:] = np.ones(2) if x[0] < 0 else np.ones(3)
    return z


def selected_and_assigned(x: Any) -> Any:
    z = x.copy()
    z[x > 0] = np.array([5.0, 7.0])
    return z


CAUGHT: dict[str, Callable[[Any], Any]] = {
    "lengths": one_of_two_lengths,
    "lengths of operands": lambda x: x + (np.ones(2) if x[0] < 0 else np.ones(3)),
    "assigned": selected_and_assigned,
    "selected": lambda x: (x[x > 0] + np.ones(2)).sum(),
    "two selections": lambda x: (x[x > 0.5] * x[x < 1.5]).sum(),
    "choose": lambda x: np.choose(x[:2].astype(int), [1.0, 2.0]),
    "bincount": lambda x: np.bincount(x.astype(int), minlength=3),
    "average": lambda x: np.average(x, weights=x),
    "only NaN": lambda x: np.nanargmax(np.log(x)),
    "unravel_index": lambda x: np.unravel_index(x.sum().astype(int), (2, 2))[0],
}
NUMBERS = [[1.0, 1, 1], [1.0, 1, 0], [1.0, 2, 0], [-1.0, -1, -1], [2.0, 2, 2], [1.0, 1, -2]]


@pytest.mark.filterwarnings("ignore:.*encountered in log:RuntimeWarning")
@pytest.mark.parametrize("f", CAUGHT.values(), ids=CAUGHT)
def test_what_is_refused_is_caught(f: Callable[[Any], Any]) -> None:
    def caught(x: Any) -> Any:
        try:
            y = np.sum(f(x))
        except (ValueError, ZeroDivisionError):
            y = -9.0
        return y

    xs = np.array(NUMBERS)
    expected = [caught(x) for x in xs]
    for backend in ("llvm", "reference"):
        compiled = pliant.jit(caught, backend=backend)
        np.testing.assert_array_equal([compiled(x) for x in xs], expected)
    np.testing.assert_array_equal(pliant.vmap(caught)(xs), expected)
    assert {-9.0} < {*expected}


@pytest.mark.parametrize("f", [CAUGHT["selected"], lambda x: x[x > 0] * x[x < 0]], ids=["an array", "two selections"])
def test_no_handler_sees_that_one_element_is_not_broadcast(f: Callable[[Any], Any]) -> None:
    def caught(x: Any) -> Any:
        try:
            y = np.sum(f(x))
        except ValueError:
            y = -9.0
        return y

    with pytest.raises(ShapeError, match="operands could not be broadcast together"):
        pliant.jit(caught)(np.array([1.0, -1.0, -1.0]))


def test_no_handler_sees_that_there_are_too_few_bins() -> None:
    def caught(x: Any) -> Any:
        try:
            y = np.bincount(x, minlength=3)[0]
        except Exception:
            y = -9
        return y

    with pytest.raises(IndexRangeError, match="an element is not below minlength=3"):
        pliant.jit(caught)(np.array([1, 3]))
