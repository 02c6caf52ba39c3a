"""Small programs that set of one of two objects what these have of their class; x: f64[9], n: int."""

from __future__ import annotations

from typing import Any

import numpy as np


class Counted:
    count: Any = 0.0
    table: Any = np.array([1.0, 2.0])


class Named(Counted):
    weight: Any = 3.0


def set_once(x: Any, n: int) -> Any:
    p, q = Counted(), Counted()
    (p if x[2] > 0 else q).count = x[1]
    return p.count * x[3], q.count * x[4]


def updated(x: Any, n: int) -> Any:
    p, q = Counted(), Counted()
    one = p if x[2] > 0 else q
    one.count += x[1]
    p.count *= 2.0
    return p.count, q.count, one.count


def set_by_another_name_first(x: Any, n: int) -> Any:
    p, q = Counted(), Counted()
    one = p if x[2] > 0 else q
    q.count = x[3]
    one.count += x[1]
    return p.count, q.count, one.count


def of_a_class_above(x: Any, n: int) -> Any:
    p, q = Named(), Named()
    p.count, q.count = x[0], x[1]
    one = p if x[2] > 0 else q
    one.weight *= x[3]
    return p.weight, q.weight, p.count


def an_array(x: Any, n: int) -> Any:
    p, q = Counted(), Counted()
    one = p if x[2] > 0 else q
    one.table = one.table * x[3]
    return p.table, q.table


def one_of_three(x: Any, n: int) -> Any:
    p, q, r = Counted(), Counted(), Counted()
    one = p if x[2] > 0 else q
    other = one if x[3] > 0.2 else r
    other.count += x[4]
    one.count -= x[5]
    return p.count, q.count, r.count, other.count


def in_steps(x: Any, n: int) -> Any:
    p, q = Counted(), Counted()
    for v in x[:n]:
        (p if v > 0 else q).count += v
    return p.count, q.count


INHERITED = (
    set_once, updated, set_by_another_name_first, of_a_class_above, an_array, one_of_three, in_steps,
)  # fmt: skip
