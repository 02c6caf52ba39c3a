"""Small programs of loops and branches, one per form that Python has; each takes x: f64[9] and n: int."""

from __future__ import annotations

from typing import Any

import numpy as np


def running_sum_in_place(x: Any, n: int) -> Any:
    for i in range(1, 9):
        x[i] += x[i - 1]
    return x.sum()


def last_names_of_a_loop(x: Any, n: int) -> Any:
    s = 0
    for i in range(9):
        t = x[i] * 2
        s += t
    return s * t + i


def swapped_arrays(x: Any, n: int) -> Any:
    a, b = x, np.zeros(9)
    for _ in range(7):
        b[1:-1] = 0.5 * (a[:-2] + a[2:])
        a, b = b, a
    a[0] = 5.0
    return b


def rotated_arrays(x: Any, n: int) -> Any:
    a, b, c = x.copy(), x * 2, x * 3
    for i in range(11):
        c[:] = 0.5 * a + 0.25 * b + i
        a, b, c = b, c, a
    return a, b, c


def previous_and_current(x: Any, n: int) -> Any:
    previous, current = x, x * 0.5
    for _ in range(8):
        new = 0.5 * current + previous
        previous = current
        current = new
    return previous, current


def branch_with_names(x: Any, n: int) -> Any:
    if x[0] > 0:
        y, z = x[1], x * 2
    elif x[1] > 5:
        y, z = x[2] * 3, x * x
    else:
        y, z = -x[2], x
    z[0] = 7.0
    return y, z.sum()


def branch_in_a_loop(x: Any, n: int) -> Any:
    s = 0.0
    for i in range(9):
        if x[i] > 0.5:
            s += x[i]
        elif x[i] < -0.5:
            s -= 1
    return s


def break_and_else(x: Any, n: int) -> Any:
    s = 0.0
    for i in range(9):
        if x[i] > 1:
            break
        s += x[i]
    else:
        s = 100.0
    return s


def continue_and_while(x: Any, n: int) -> Any:
    s = 1.0
    for i in range(8, -1, -1):
        if not x[i] > 0:
            continue
        s *= x[i] + 1
        while s > 1:
            s /= 3
    return s


def early_return(x: Any, n: int) -> Any:
    for i in range(9):
        if x[i] > 1:
            return x[i] * 2
        if x[i] < -10:
            return 0.0
    return -1.0


def data_dependent_while(x: Any, n: int) -> Any:
    count = 0
    while x[0] < 100:
        x *= 2
        x += 1.5
        count += 1
    return count


def newton(x: Any, n: int) -> Any:
    a = abs(x[8]) + 2.0
    r = a
    while True:
        new = 0.5 * (r + a / r)
        if abs(new - r) < 1e-12:
            break
        r = new
    return r


def copy_or_itself(x: Any, n: int) -> Any:
    y = x.copy() if x[0] > 0 else x
    y[0] = 9.0
    return y.sum()


def swapped_until_close(x: Any, n: int) -> Any:
    a, b, k = x, x * 0.5, 0
    while np.max(np.abs(a - b)) > 0.05 and k < 20:
        b[1:-1] = 0.5 * (a[:-2] + a[2:])
        b[0], b[-1] = a[0], a[-1]
        a, b = b, a
        k += 1
    a[1] = 7.0
    return a, b, k


def swapped_n_times(x: Any, n: int) -> Any:
    u, v = x, np.zeros_like(x)
    for _ in range(n):
        v[1:-1] = 0.5 * (u[:-2] + u[2:])
        u, v = v, u
    u[0] += 1.0
    return u


def rebound_n_times(x: Any, n: int) -> Any:
    y = x
    for _ in range(n - 5):
        y = y * 2
    y[0] = 9.0
    return y


def rows_and_pairs(x: Any, n: int) -> Any:
    s = 0.0
    table = np.outer(x, x)
    for i, row in enumerate(table):
        s = s + row[i] * i
    for a, b in zip(x, x[::-1], strict=True):
        s += a * b
    for v in reversed(x):
        s = s * 0.5 + (1 if 0 < v < 1 else v)
    return s


def triangle(x: Any, n: int) -> Any:
    for i in range(9):
        for j in range(i):
            x[i] += x[j] * 0.1
    return x.sum()


def same_index_twice(x: Any, n: int) -> Any:
    for i in range(9):
        for j in range(i):
            x[i] -= 0.1 * x[j]
        for j in range(i, 9):
            x[j] += 0.1 * x[i]
    return x


def slices_by_index(x: Any, n: int) -> Any:
    for i in range(1, 9):
        x[:i] += 0.1 * x[i] * x[:i][::-1]
    return x


def bound_at_run_time(x: Any, n: int) -> Any:
    k, s = 2, 0.5
    for i in range(n):
        s += x[k] * i
        k += 1
    return s, k


def counter_stays_known(x: Any, n: int) -> Any:
    k = 0
    for i in range(7):
        x[k] = x[k] + i
        k += 1
    return np.zeros(k + i).sum() + x


def state_in_containers(x: Any, n: int) -> Any:
    state = {"h": x[:3], "c": (x[3], 0)}
    for i in range(6):
        h = np.tanh(state["h"] + x[i])
        state = {"h": h, "c": (state["c"][0] * 0.5, i)}
    return state["h"], state["c"][0]


def items_in_place(x: Any, n: int) -> Any:
    rows = [x[0], x[1] * 2]
    for i in range(7):
        rows[0] = rows[0] + rows[1] * 0.5
        rows[1] = rows[1] * x[i]
    return rows[0] - rows[1]


def appended(x: Any, n: int) -> Any:
    out = []
    for i in range(8):
        y = x[i] * x[i + 1]
        out.append(y)
    return np.stack(out)


def list_by_index(x: Any, n: int) -> Any:
    weights = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    s = 0.0
    for i in range(6):
        s += weights[i] * x[i]
    return s


def first_is_none(x: Any, n: int) -> Any:
    best = None
    for i in range(9):
        v = x[i] * x[8 - i]
        best = v if best is None else np.maximum(best, v)
    return best


def and_or_not(x: Any, n: int) -> Any:
    s = 0.0
    for v in x:
        if (v > -0.5 and v < 0.5) or not v < 1.5:
            s += v
    return s + (x[0] and x[1]) + (x[2] or x[3])


def helper(v: Any, limit: float) -> Any:
    if v > limit:
        return limit
    if v < -limit:
        return -limit
    return v


def calls_of_functions(x: Any, n: int) -> Any:
    s = 0.0
    for i in range(9):
        s += helper(x[i], 0.7) * helper(x[8 - i], 1.1)
    return s


def power(v: Any, k: int) -> Any:
    if k == 0:
        return 1.0
    half = power(v, k // 2)
    return half * half * (v if k % 2 else 1.0)


def recursion(x: Any, n: int) -> Any:
    return power(x[8], 13) + power(x[7], 6)


def nested_function(x: Any, n: int) -> Any:
    total = 0.0

    def add(v: Any) -> None:
        nonlocal total
        total = total + v if v > 0 else total - v

    for i in range(3):
        add(x[i])
    return total


def temporaries(x: Any, n: int) -> Any:
    out = np.zeros((9, 3))
    for i in range(9):
        row = np.zeros(3)
        row[i % 3] = x[i]
        out[i] = row + out[i - 1]
    return out


def equal_arrays_of_a_branch_stay_two(x: Any, n: int) -> Any:
    u, v = x, np.zeros(9)
    if x[1] > 0:
        u = x * 0.5
        v = u.copy()
    v[1:] = u[:-1]
    return u, v


def left_in_one_of_two_ways(x: Any, n: int) -> Any:
    s = x[0]
    for i in range(3):
        if s + i > 0.5:
            return s
        s = s * 2
        break
    return s + x[1]


def bound_by_a_step_that_surely_runs(x: Any, n: int) -> Any:
    v, before = x, 0.0
    while True:
        norm = np.sqrt(np.sum(v * v))
        v = 0.5 * np.cos(v)
        if abs(norm - before) < 1e-10:
            break
        before = norm
    return norm, v


def batches_with_a_shorter_last(x: Any, n: int) -> Any:
    s = 0.0
    for i in range(0, 9, 2):
        batch = x[i : i + 2]
        s = s * 0.5 + (batch**2).mean()
        x[i : i + 2] *= s
    return s


def windows_beyond_the_end(x: Any, n: int) -> Any:
    y, s = np.zeros(9), 0.0
    for i in range(9):
        y[i] = x[max(0, i - 1) : i + 2].mean()
        s += x[i : i + 3].sum() * x[i - 1 : i + 1].sum()
    return y, s


FLOWS = (
    running_sum_in_place, last_names_of_a_loop, swapped_arrays, rotated_arrays, previous_and_current,
    branch_with_names, branch_in_a_loop, break_and_else, continue_and_while, early_return, data_dependent_while,
    newton, copy_or_itself, swapped_until_close, swapped_n_times, rebound_n_times, rows_and_pairs, triangle,
    same_index_twice, slices_by_index, bound_at_run_time, counter_stays_known, state_in_containers, items_in_place,
    appended, list_by_index, first_is_none, and_or_not, calls_of_functions, recursion, nested_function, temporaries,
    equal_arrays_of_a_branch_stay_two, left_in_one_of_two_ways, bound_by_a_step_that_surely_runs,
    batches_with_a_shorter_last, windows_beyond_the_end,
)  # fmt: skip
