"""Small programs that read names which have a value only if a condition held, or a loop had a step; x: f64[9]."""

from __future__ import annotations

from typing import Any

import numpy as np

# ruff: noqa: F821, F841


def bound_in_one_branch(x: Any, n: int) -> Any:
    if x.sum() > 0:
        y = x * 2
    return y


def bound_in_the_other_branch(x: Any, n: int) -> Any:
    if x.sum() > 0:
        x = x * 3
    else:
        y = x[0]
    return x + y


def bound_by_one_of_three(x: Any, n: int) -> Any:
    if x[0] > 0:
        y = 2
    elif x[1] > 0:
        y = 1.5
    elif x[8] > 2:
        y = x[1]
    return y * x


def bound_by_two_of_two(x: Any, n: int) -> Any:
    if x[0] > 0:
        y, z = x * 2, 1
    if x[0] <= 0:
        y, z = x * 3, 2
    return y, z


def bound_before_a_break(x: Any, n: int) -> Any:
    h = x
    for _ in range(100):
        if (h * h).sum() < 0.01:
            new = h + 1
            break
        h = h / 2
    return new


def bound_before_a_break_that_may_not_come(x: Any, n: int) -> Any:
    for i in range(9):
        if x[i] > 1:
            found = i
            break
    return x[found] * found


def bound_before_one_of_two_breaks(x: Any, n: int) -> Any:
    for i in range(9):
        if x[i] > 1:
            found = x[i]
            break
        if x[i] > 0.9:
            break
    return found


def bound_in_some_steps(x: Any, n: int) -> Any:
    for i in range(9):
        if x[i] > 0:
            last = x[i] * i
    return last


def bound_before_continue(x: Any, n: int) -> Any:
    for i in range(9):
        if x[i] > 1:
            place = i
            continue
        if x[i] < -1:
            low = x[i]
    return place, low


def bound_in_some_steps_that_may_end(x: Any, n: int) -> Any:
    for i in range(9):
        if x[i] > 0.2:
            found = x[i : i + 1].copy()
            if x[i] > 1:
                break
    found += 1
    return found


def bound_in_some_steps_of_a_nest(x: Any, n: int) -> Any:
    out = np.zeros(9)
    for i in range(9):
        for j in range(i + 1):
            if x[j] > 0.3:
                best = j
                break
        if i > 7:
            out[i] = x[best]
    return out


def bound_in_a_nest_of_unknown_length(x: Any, n: int) -> Any:
    for i in range(n):
        for j in range(i):
            if x[j] > 0.3:
                best = x[i] * j
    return best


def bound_in_a_loop_of_unknown_length(x: Any, n: int) -> Any:
    for i in range(np.int64((x > 0.3).sum())):
        y = x * i
    return y


def bound_in_a_while_loop(x: Any, n: int) -> Any:
    while (x * x).sum() > 1.0:
        y = x / 2
        x = y
    return y


def bound_by_an_else(x: Any, n: int) -> Any:
    for i in range(9):
        if x[i] > 2:
            break
        if x[i] > 1:
            y = x[i]
    else:
        z = x[3]
    return (y, x) if x[8] > 2 else (z, x)


def read_only_where_it_has_a_value(x: Any, n: int) -> Any:
    has_previous = x[0] > 100
    total = 0.0
    for i in range(9):
        if has_previous:
            total = total + previous * x[i]
        if x[i] > 0:
            previous = x[i]
            has_previous = True
    return total


def added_to_where_it_has_a_value(x: Any, n: int) -> Any:
    if x[0] > 0:
        y = x[1]
    y += 1
    y *= 2.0
    return y


def written_where_it_has_a_value(x: Any, n: int) -> Any:
    if x[8] > 0.2:
        y = x
    y[0] = 5.0
    return x


def deleted_where_it_has_a_value(x: Any, n: int) -> Any:
    if x[8] > 0.2:
        y = x
    del y
    return x


def bound_again_after_its_end(x: Any, n: int) -> Any:
    for i in range(9):
        if x[i] > 1:
            y = x[i]
            break
    s = y * 2
    for i in range(9):
        if x[i] > 0:
            y = x[i] - y
    return s + y


def bound_to_tuples_and_dicts(x: Any, n: int) -> Any:
    for i in range(9):
        if x[i] > 0.5:
            state = {"place": i, "value": (x[i], x * i)}
    return state["place"], state["value"][1] * state["value"][0]


def bound_by_an_operand(x: Any, n: int) -> Any:
    total = 0.0
    if x[2] > 0.25 and (w := x[3]) > 0.1:
        total = w
    return total + w


def in_what_an_operand_has_not_said(x: Any, n: int) -> Any:
    return w if not (x[2] > 0.25 and (w := x[3]) > 0.1) else 0.0


def in_one_of_two_operands(x: Any, n: int) -> Any:
    return w if (x[2] > 0.25 and (w := x[3]) > 0.1) or x[0] > 0.0 else 0.0


def of_a_function_that_returns(x: Any, n: int) -> Any:
    def first(v: Any) -> Any:
        for i in range(9):
            if v[i] > 1:
                if v[i] > 2:
                    return v[i]
                y = v[i] * 2
        return y

    return first(x) + first(x + 1)


def bound_beside_a_raise(x: Any, n: int) -> Any:
    if x[8] > 1:
        y = x[0]
    elif x[8] < -1:
        raise ValueError("too low")
    return y


def added_to_from_the_first_step_on(x: Any, n: int) -> Any:
    for i in range(9):
        if i == 0:
            total = x[0]
        total += x[i]
    return total


def read_after_what_another_step_may_have_bound(x: Any, n: int) -> Any:
    for i in range(9):
        if x[i] > 0:
            total += x[i]
        else:
            total = x[i]
    return total


def left_by_steps_that_are_unrolled(x: Any, n: int) -> Any:
    for i in range(3):
        if x[i] > 0.4:
            break
        if x[i] > 0.1:
            continue
        low = i
    return low


def continued_in_steps_that_are_unrolled(x: Any, n: int) -> Any:
    for i in range(3):
        for j in range(3):
            if x[3 * i + j] > 1:
                found = x[3 * i + j]
                continue
            if x[3 * i + j] > 0.4:
                break
            low = j
        else:
            whole = i
        if x[i] < -0.5:
            continue
        last = x[i]
    return (found, low) if n == 4 else (whole, last)


def deleted_by_a_condition(x: Any, n: int) -> Any:
    y = x * 2
    if x[0] > 0:
        del y
    return y


def deleted_in_some_step(x: Any, n: int) -> Any:
    y = x[0]
    for i in range(9):
        if x[i] > 2:
            del y
    return y


def deleted_twice(x: Any, n: int) -> Any:
    y = x[0]
    for i in range(9):
        if x[i] > 1:
            del y
    return 0.0


def deleted_and_bound_again(x: Any, n: int) -> Any:
    y, z = x[0], x[1]
    for i in range(9):
        if x[i] > 1:
            del y, z
            y = z = x[i]
    return y, z * 2


def deleted_parameter(x: Any, n: int) -> Any:
    for i in range(9):
        if x[i] > 2:
            del n
    return x


def deleted_where_it_was_asked_for(x: Any, n: int) -> Any:
    t = x[0]
    i = 0
    while i < 9 and t < 1.5:
        if x[i] > 1:
            del t
            t = x[i] + 1
        i += 1
    return t


def bound_by_an_operand_that_a_while_may_skip(x: Any, n: int) -> Any:
    i = 0
    while x[i] < 3 and (v := x[i]) < 0.5:
        i += 1
        if i == 9:
            break
    return v, i


def bound_by_an_operand_of_two(x: Any, n: int) -> Any:
    i = 0
    while i < 9 and (x[i] < 0 or (v := x[i]) < 0.5):
        i += 1
    return v, i


def bound_by_an_operand_and_deleted(x: Any, n: int) -> Any:
    i, s = 0, 0.0
    while i < 9 and x[i] < 3 and (v := x[i]) < 0.5:
        i, s = i + 1, s + v
        if s > n:
            del v
    return s + v


def passed_on_by_each_way_of_unrolled_steps(x: Any, n: int) -> Any:
    t = 0.0
    for j in range(3):
        if j > 0:
            t += a
        if x[j] > -0.5:
            if x[j] > 0.1:
                a = x[j]
                continue
            if x[j] > 2:
                break
        a = j
    else:
        t += a
    return t


UNSURE = [f for name, f in globals().copy().items() if getattr(f, "__module__", "") == __name__]
