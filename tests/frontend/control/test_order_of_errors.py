"""Which of several exceptions a program raises, which handler catches it, and what is there then: as in Python."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import pliant

SIGNS = [np.array(x, float) for x in itertools.product((1, -1), repeat=3)]


class Far(Exception):
    """It holds numbers."""

    def __init__(self, v: Any, k: Any = 1) -> None:
        self.v, self.k = v, k


def none_of_the_handlers(x: Any) -> Any:
    try:
        if x[0] > 0:
            raise ValueError("v")
        if x[1] > 0:
            raise IndexError("i")
    except IndexError:
        return 1
    return 2


def three_branches(x: Any) -> Any:
    try:
        if x[0] > 0:
            raise ValueError("v")
        if x[1] > 0:
            raise IndexError("i")
        if x[2] > 0:
            raise KeyError("k")
    except (KeyError, IndexError) as error:
        return 1 if isinstance(error, KeyError) else 2
    return 0


def a_branch_that_reads(x: Any) -> Any:
    try:
        if x[0] > 0:
            raise ValueError("v")
        y = x[3 * np.int64(x[1])]
    except IndexError:
        return -7.0
    return y


def one_try_in_another(x: Any) -> Any:
    try:
        try:
            if x[0] > 0:
                raise ValueError("v")
            if x[1] > 0:
                raise KeyError("k")
        except KeyError:
            return 1
    except ValueError:
        return 2
    return 3


def sure_after_a_condition(x: Any) -> Any:
    try:
        if x[0] > 0:
            if x[1] > 0:
                raise IndexError("i")
            if x[2] > 0:
                raise KeyError("k")
            raise ValueError("v")
    except KeyError:
        return 5
    except (IndexError, ValueError) as error:
        return 1 if isinstance(error, ValueError) else 3
    return 2


def sure_after_a_condition_without_a_try(x: Any) -> Any:
    if x[0] > 0:
        if x[1] > 0:
            raise IndexError("i")
        raise ValueError("v")
    return 2


def sure_at_the_end(x: Any) -> Any:
    if x[0] < 0:
        raise AssertionError("first")
    raise ValueError("second")


def read_at_the_end(x: Any) -> Any:
    if x[0] > 0:
        raise KeyError("first")
    if x[1] > 0:
        return 3.0
    return x[99]


def sure_after_a_loop(x: Any) -> Any:
    for n in range(3):
        if x[n] > 0:
            raise KeyError("first")
    return [].pop()


def holds_a_number(x: Any) -> Any:
    try:
        if x[0] > 0:
            raise Far(x[0] * 2 + x[1], 3)
        if x[1] > 0:
            raise Far(x * 3)
        x = x + 1
    except Far as error:
        return np.sum(error.v) * error.k
    return x[0]


def an_argument_of_a_helper(x: Any) -> Any:
    def far(y: Any) -> Any:
        if y.sum() > 0:
            raise Far(y * 2)
        return y

    try:
        return far(x)
    except Far as error:
        return error.v + 1


def numbers_in_steps(x: Any) -> Any:
    total = 0.0
    for v in x:
        try:
            if v > 0:
                raise Far(v * 2)
            total += v
        except Far as error:
            total -= error.v
    return total


ALL: list[Callable[[Any], Any]] = [
    none_of_the_handlers, three_branches, a_branch_that_reads, one_try_in_another, sure_after_a_condition,
    sure_after_a_condition_without_a_try, sure_at_the_end, read_at_the_end, sure_after_a_loop, holds_a_number,
    an_argument_of_a_helper, numbers_in_steps,
]  # fmt: skip


def left_early(x: Any) -> Any:
    total = 0.0
    try:
        for v in x:
            total += v
            if total > 1:
                raise ValueError
    except ValueError:
        total = -total
    return total


def left_early_in_a_list(x: Any) -> Any:
    totals = [0.0, 0.0]
    try:
        for v in x:
            totals[0] += v
            if totals[0] > 1:
                raise Far(v)
            totals[1] = v
    except Far as error:
        return totals, error.v
    return totals, 0.0


def which_step(x: Any) -> Any:
    try:
        for n in range(len(x)):
            if x[n] > 2:
                raise ValueError
    except ValueError:
        pass
    return n


def beyond_the_end(x: Any) -> Any:
    total = 0.0
    try:
        for n in range(len(x)):
            total += x[n + 2]
    except IndexError:
        return total, n
    return total, -1


def loops_in_a_loop(x: Any) -> Any:
    total, y = 0.0, np.zeros(3)
    for k in range(3):
        try:
            for v in x:
                total += v
                y = y + v
                y[k] += 1
                if total >= 1:
                    raise AssertionError
        except AssertionError:
            total = -total
    return total, y


LOOPS = [left_early, left_early_in_a_list, which_step, beyond_the_end, loops_in_a_loop]


def shapes_in_one_branch(x: Any) -> Any:
    try:
        if x[0] > 0:
            v = 1.0
        else:
            v = np.dot(x, np.ones(9))
        return x * v
    except ValueError:
        return x + 7


def shapes_in_a_conditional_expression(x: Any) -> Any:
    y = x * 1
    try:
        y[1] = x[0] if x[1] > 0 else x.reshape(7)
    except ValueError:
        y[2] = 5.0
    finally:
        y[0] += 2.0
    return y


def shapes_in_a_function(x: Any) -> Any:
    def shaped(v: Any) -> Any:
        if v[0] > 0:
            return v.sum()
        return (v + np.ones(9)).sum()

    try:
        return shaped(x)
    except ValueError:
        return -10.0


def shapes_in_steps(x: Any) -> Any:
    total = 0.0
    for v in x:
        try:
            if v > 0:
                total = total + np.concatenate([x, np.ones((2, 2))]).sum()
            total = total + v
        except ValueError:
            total = total * 2 + 1
    return total


def shapes_in_one_of_the_steps(x: Any) -> Any:
    y = x.copy()
    try:
        for n in range(3):
            y[n] = 5.0
            if x[n] > 0:
                y[:2] = np.ones(3)
            y[n] += 1
    except ValueError:
        y[2] = -1.0
    return y


def shapes_in_steps_of_run_time(x: Any) -> Any:
    try:
        n = 0
        while n < x[0] * 2:
            n += 1
            x.reshape(7)
    except ValueError:
        return 5.0
    return 4.0


def axes_dtypes_and_matrices(x: Any) -> Any:
    try:
        try:
            if x[0] > 0:
                x.sum(axis=5)
            elif x[1] > 0:
                x.astype(int).__iadd__(0.5)
            if x[2] > 0:
                np.linalg.inv(x)
        except np.exceptions.AxisError:
            return 1.0
    except np.linalg.LinAlgError:
        return 2.0
    except TypeError:
        return 3.0
    return 4.0


def shapes_suppressed(x: Any) -> Any:
    y = 0.0
    with suppress(ValueError):
        if x[0] > 0 and x.reshape(7)[0] > 0:
            y = 1.0
        y = y + 2.0
    return y


def read_before_its_shape(x: Any) -> Any:
    y = np.zeros((2, 4))
    try:
        y[2 * np.int64(x[0])] = x
    except IndexError:
        y[0] = 5.0
    except ValueError:
        y[1] = 6.0
    return y


def read_before_another(x: Any) -> Any:
    try:
        return x[3 * np.int64(x[0])] + [].pop() if x[1] > 0 else x[3] + {}["k"]
    except IndexError:
        return 3.0
    except KeyError:
        return 4.0


def one_caught_before_one_for_sure(x: Any) -> Any:
    y = 1.0
    try:
        y = 2.0
        if x[0] > 0:
            raise KeyError("k")
        raise ValueError("v")
    except KeyError:
        y = y * 3
    return y


def sure_in_a_function(x: Any) -> Any:
    def found(v: Any) -> Any:
        if v > 0:
            raise KeyError("k")
        return x.reshape(7)

    try:
        found(x[0])
        return 2.0
    except KeyError:
        return 1.0
    except ValueError:
        return 0.0


def sure_where_nothing_catches(x: Any) -> Any:
    def found(v: Any) -> Any:
        if v > 0:
            raise KeyError("k")
        raise ValueError("v")

    try:
        return found(x[0])
    except KeyError:
        return 1.0


OF_ONE_BRANCH = [
    shapes_in_one_branch, shapes_in_a_conditional_expression, shapes_in_a_function, shapes_in_steps,
    shapes_in_one_of_the_steps, shapes_in_steps_of_run_time, axes_dtypes_and_matrices, shapes_suppressed,
    read_before_its_shape, read_before_another, one_caught_before_one_for_sure, sure_in_a_function,
    sure_where_nothing_catches,
]  # fmt: skip


def what_is_left(f: Callable[[Any], Any], x: Any) -> Any:
    """What a call returns, or the built-in class and the text of what it raises."""
    try:
        return f(x.copy())
    except Exception as error:
        kind = next(k for k in type(error).__mro__ if k.__module__ == "builtins")
        return kind.__name__, "" if isinstance(error, IndexError) else str(error)


@pytest.mark.parametrize("f", [*ALL, *OF_ONE_BRANCH], ids=lambda f: f.__name__)
def test_the_first_exception_is_raised_and_its_handler_runs(f: Callable[[Any], Any]) -> None:
    compiled = pliant.jit(f)
    for x in [*SIGNS, *SIGNS[::-1]]:
        np.testing.assert_equal(what_is_left(compiled, x), what_is_left(f, x))


@pytest.mark.parametrize("f", LOOPS, ids=lambda f: f.__name__)
def test_a_handler_sees_what_the_steps_before_have_left(f: Callable[[Any], Any]) -> None:
    compiled = pliant.jit(f)
    for x in ([1.0, -2, 3, 0, 5], [0.5, 0.2, 0.1, 0, 0], [3.0, 1, 1, 1, 1], [-1.0, -2, 2.5, 7, 0]):
        np.testing.assert_equal(what_is_left(compiled, np.array(x)), what_is_left(f, np.array(x)))


def test_the_gradient_is_that_of_what_a_handler_sees() -> None:
    def f(x: Any) -> Any:
        total = 0.0
        try:
            for v in x:
                total = total + v * v
                if total > 12:
                    raise Far(v * total)
        except Far as error:
            return error.v - total
        return total

    x = np.array([1.0, -2.0, 3.0, 0.0, 5.0])
    value, slope = pliant.value_and_grad(f)(x)
    assert value == f(x)
    steps = 1e-6 * np.eye(5)
    np.testing.assert_allclose(slope, [(f(x + d) - f(x - d)) / 2e-6 for d in steps], rtol=1e-6)


def test_numbers_of_exceptions_in_batches_and_derivatives() -> None:
    xs = np.arange(6.0).reshape(2, 3) - 1
    np.testing.assert_allclose(pliant.vmap(an_argument_of_a_helper)(xs), [an_argument_of_a_helper(x) for x in xs])
    np.testing.assert_allclose(pliant.grad(numbers_in_steps)(xs[1]), [-2.0, -2.0, -2.0])


@pytest.mark.parametrize(
    "f", [shapes_in_one_branch, shapes_in_steps, axes_dtypes_and_matrices], ids=lambda f: f.__name__
)
def test_what_one_branch_raises_for_sure_is_caught_in_batches(f: Callable[[Any], Any]) -> None:
    np.testing.assert_allclose(pliant.vmap(f)(np.array(SIGNS)), [f(x) for x in SIGNS])
