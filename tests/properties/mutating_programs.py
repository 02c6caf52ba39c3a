"""The adversarial programs of mutation-and-memory §2.7, by their numbers there, and what each is given.

Other compilers get them wrong: they write in place, through views that overlap, and return what shares memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

SIZES = (7, 33, 100, 101, 1000)
SIDES = (3, 7, 33)  # of matrices


@dataclass(frozen=True)
class Case:
    """A program and its arguments, made anew by each call of `given`."""

    number: int
    f: Callable[..., Any]
    given: Callable[[int], list[Any]]
    sizes: tuple[int, ...] = SIZES
    is_smooth: bool = True  # has a derivative where it is tried
    has_views_of_arguments: bool = False  # a derivative refuses to write to these


def ramp(n: int) -> Any:
    """0, 1, …, n-1 as floats."""
    return np.arange(n, dtype=float)


def square(n: int) -> Any:
    """A matrix of different numbers."""
    return ramp(n * n).reshape(n, n)


def vector(n: int) -> list[Any]:
    """One vector."""
    return [ramp(n)]


def matrix(n: int) -> list[Any]:
    """One square matrix."""
    return [square(n)]


def shift_up(x: Any) -> None:
    x[1:] = x[:-1]


def shift_down(x: Any) -> None:
    x[:-1] = x[1:]


def add_shifted(x: Any) -> None:
    x[1:] += x[:-1]


def add_reversed(x: Any) -> None:
    x += x[::-1]


def add_transposed(x: Any) -> None:
    x += x.T


def add_second(x: Any, y: Any) -> None:
    x += y


def become_transposed(x: Any) -> None:
    x.T[...] = x


def smooth_rows(x: Any) -> None:
    x[1:-1, 1:-1] = 0.5 * (x[:-2, 1:-1] + x[2:, 1:-1])


def write_through_reversed_view(x: Any) -> Any:
    y = x[::-1]
    y[0] = 9
    return y


def reshape_is_view_or_copy(x: Any) -> Any:
    y = x.reshape(-1)
    y[0] = 7
    z = x.T.reshape(-1)
    z[1] = 8
    return y, z


def flatten_is_a_copy(x: Any) -> Any:
    y = x.flatten()
    y[0] = 7
    return y


def swap_elements(x: Any) -> None:
    x[0], x[1] = x[1], x[0]


def swap_rows_by_index_array(x: Any) -> None:
    x[[0, 1]] = x[[1, 0]]
    x[[0, 0], [0, 0]] = np.array([1, 2])


def increment_by_index_array(x: Any) -> None:
    i = np.array([0, 0, 2])
    x[i] += 1
    np.add.at(x, i, 10)


def double_then_add(x: Any, y: Any) -> Any:
    x *= 2
    return x + y


def double_both(x: Any, y: Any) -> Any:
    return x * 2, y * 2


def view_sees_later_writes(x: Any) -> Any:
    y = x[1:3]
    x += 1
    return y


def copy_does_not(x: Any) -> Any:
    y = x[1:3] + 0
    x += 1
    return y


def two_copies(x: Any) -> Any:
    a = x.copy()
    x[0] = 1
    b = x.copy()
    x[0] = 2
    return a, b


def copy_then_change_source(dst: Any, src: Any) -> None:
    dst[:] = src[:]
    src += 1


def out_overlaps_operands(x: Any) -> None:
    np.add(x[:-1], x[1:], out=x[1:])


def running_sum_into_operand(x: Any) -> Any:
    return np.cumsum(x, out=x)


def product_into_operand(x: Any) -> Any:
    return np.matmul(x, x, out=x)


def sum_into_row(x: Any) -> None:
    np.sum(x, 0, out=x[1])


def alias_and_empty_slices(x: Any) -> Any:
    y = x
    y *= y
    x[5:2] = 1
    x[:0] += 1
    return y


def zero_rank_view_and_scalar(x: Any) -> Any:
    z = x[2, ...]
    z[...] = 5
    s = x[3]
    s += 5
    return z, s


def loop_reads_what_it_wrote(x: Any) -> Any:
    s = 0.0
    for i in range(x.shape[0] - 1):
        v = x[i]
        x[i] = 2 * v
        s += x[i + 1] * v
    return s


def ping_pong(n: int) -> Callable[[Any, Any], Any]:
    """n steps between two arrays that change places."""

    def f(a: Any, b: Any) -> Any:
        for _ in range(n):
            b[1:-1] = 0.5 * (a[:-2] + a[2:])
            a, b = b, a
        return a

    f.__name__ = f"ping_pong_{n}"
    return f


def running_sum(x: Any) -> None:
    for i in range(1, x.shape[0]):
        x[i] += x[i - 1]


def running_sum_around(x: Any) -> None:
    for i in range(x.shape[0]):
        x[i] += x[i - 1]


def copy_or_alias(keeps: bool) -> Callable[[Any], Any]:
    """A copy or the array itself, by a flag of the caller."""

    def f(x: Any) -> Any:
        y = x.copy() if keeps else x
        y[0] = 9
        return y

    f.__name__ = "copy" if keeps else "alias"
    return f


def copy_or_alias_at_run_time(x: Any, s: Any) -> Any:
    y = x.copy() if s > 0 else x
    y[0] = 9
    return y


def one_of_three(x: Any, z: Any, s: Any) -> Any:
    if s > 1:
        y = x
    elif s > 0:
        y = z[::-1]
    else:
        y = np.zeros_like(x)
    y[1:] += 5
    return y, y[:2]


def changed_places(x: Any, z: Any, s: Any) -> Any:
    kept = x[1:] * 2
    y = kept if s > 0 else z[:-1]
    y += 1
    return kept, y[::2]


def add_own_product(g: Any, w: Any) -> None:
    g += w @ g


def residual_into_operand(d: Any, w: Any) -> Any:
    r = w @ d
    d += r
    return d


def accumulate(g: Any, c: Any) -> None:
    for k in range(9):
        g += c[k]


def views_of_flat_parameters(flat: Any) -> Any:
    first = flat[:2]
    second = flat[2:6].reshape(2, 2)
    first += 1
    second += np.eye(2)
    return first, second


def square_then_times_old(x: Any) -> Any:
    y = x.copy()
    y *= y
    y *= x
    return y.sum()


def mask_turns_its_elements(x: Any) -> None:
    x[x > 2] = x[x > 2][::-1]


def interleaved_views(x: Any) -> Any:
    y = x[::2][: x.shape[0] // 2]
    z = x[1::2]
    y += z
    z -= y
    return y


def clear_first_bits(x: Any) -> Any:
    x.view(np.int64)[0] = 0
    return x.view(np.uint8)


def add_broadcast_row(x: Any) -> None:
    x += np.broadcast_to(x[0], x.shape)


def shifted_copy_reshaped(x: Any) -> Any:
    b = x + 1
    b[1:] = b[:-1]
    c = x + 1
    c[1:] += c[:-1]
    return b.reshape(1, -1), c.reshape(1, -1)


LOOPS = (6, *SIZES)


CASES: tuple[Case, ...] = (
    Case(1, shift_up, vector),
    Case(2, shift_down, vector),
    Case(3, add_shifted, vector),
    Case(4, add_reversed, vector),
    Case(5, add_transposed, matrix, SIDES),
    Case(5, add_second, lambda n: (x := square(n), [x, x.T])[1], SIDES, has_views_of_arguments=True),
    Case(6, become_transposed, matrix, SIDES),
    Case(7, smooth_rows, matrix, SIDES),
    Case(8, write_through_reversed_view, vector, (5, *SIZES)),
    Case(9, reshape_is_view_or_copy, lambda n: [np.zeros((2, n))]),
    Case(9, reshape_is_view_or_copy, matrix, SIDES),
    Case(10, flatten_is_a_copy, vector),
    Case(11, swap_elements, vector),
    Case(11, swap_elements, lambda n: [ramp(2 * n).reshape(n, 2)], (3, *SIZES)),
    Case(12, swap_rows_by_index_array, lambda n: [ramp(2 * n).reshape(n, 2)], (3, *SIZES)),
    Case(13, increment_by_index_array, lambda n: [np.zeros(n)], (3, *SIZES)),
    Case(14, double_then_add, lambda n: (b := np.ones(2 * n), [b[:n], b[n // 2 : n // 2 + n]])[1],
         (4, *SIZES), has_views_of_arguments=True),
    Case(15, double_then_add, lambda n: (b := np.ones(2 * n), [b[:n], b[n:]])[1], (4, *SIZES)),
    Case(15, double_then_add, lambda n: (b := ramp(n), [b, b])[1], (4, *SIZES), has_views_of_arguments=True),
    Case(16, double_both, lambda n: (y := square(n), [y[1], y])[1], SIDES),
    Case(17, view_sees_later_writes, vector, (5, *SIZES)),
    Case(18, copy_does_not, vector, (5, *SIZES)),
    Case(19, two_copies, vector, (3, *SIZES)),
    Case(20, copy_then_change_source, lambda n: [np.zeros(n), ramp(n)], (4, *SIZES)),
    Case(21, out_overlaps_operands, vector),
    Case(21, running_sum_into_operand, vector),
    Case(22, product_into_operand, matrix, (2, *SIDES)),
    Case(22, sum_into_row, lambda n: [ramp(4 * n).reshape(n, 4)], (3, *SIZES)),
    Case(23, alias_and_empty_slices, vector),
    Case(24, zero_rank_view_and_scalar, vector, (5, *SIZES)),
    Case(25, loop_reads_what_it_wrote, vector, LOOPS),
    *[Case(26, ping_pong(steps), lambda n: [ramp(n) ** 2, np.zeros(n)], (6, *SIZES)) for steps in (0, 1, 3, 4)],
    Case(27, running_sum, vector, LOOPS),
    Case(27, running_sum_around, vector, LOOPS),
    Case(28, copy_or_alias(keeps=True), vector),
    Case(28, copy_or_alias(keeps=False), vector),
    *[Case(28, copy_or_alias_at_run_time, lambda n, s=s: [ramp(n), np.array(s)]) for s in (-1.0, 1.0)],
    *[Case(28, one_of_three, lambda n, s=s: [ramp(n), ramp(n) + 3, np.array(s)]) for s in (0.5, 1.5, -0.5)],
    *[Case(28, changed_places, lambda n, s=s: [ramp(n), ramp(n) + 3, np.array(s)]) for s in (-1.0, 1.0)],
    Case(29, add_own_product, lambda n: [ramp(n), np.ones((n, n))], SIDES),
    Case(30, residual_into_operand, lambda n: [ramp(n), np.ones((n, n))], SIDES),
    Case(31, accumulate, lambda n: [ramp(n), np.arange(9.0)]),
    Case(32, views_of_flat_parameters, lambda n: [np.zeros(n)], (6, *SIZES)),
    Case(33, square_then_times_old, vector),
    Case(35, mask_turns_its_elements, vector, (6, *SIZES)),
    Case(35, interleaved_views, vector, (6, *SIZES)),
    Case(36, clear_first_bits, lambda n: [np.ones(n)], (3, *SIZES), is_smooth=False),
    Case(36, add_broadcast_row, lambda n: [ramp(2 * n).reshape(n, 2)], (3, *SIZES)),
    Case(37, shifted_copy_reshaped, vector),
)  # fmt: skip
"""All of them but 34, which are errors; see `test_mutation`."""
