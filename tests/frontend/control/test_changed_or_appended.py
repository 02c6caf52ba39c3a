"""Elements of lists that one branch changes, while the other one makes the list longer, shorter, or another one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant
from tests.frontend.control.test_changed_elements import Outer, Row, S


def changed_in_the_other_branch(x: Any) -> Any:
    out = [S(x[0])]
    if x[1] < 0:
        out[0].t += x[1]
    else:
        out.append(S(x[1]))
    return sum((s.t for s in out), start=0.0)


def changed_or_popped(x: Any) -> Any:
    out = [S(x[0]), S(x[2])]
    if x[1] < 0:
        out[0].t += x[1]
    else:
        out.pop()
    return sum((s.t for s in out), start=0.0)


def array_or_appended(x: Any) -> Any:
    out = [x * 2]
    if x[1] < 0:
        out[0][1] += x[2]
    else:
        out.append(x * 3)
    return sum((s.sum() for s in out), start=0.0)


def array_of_an_object_or_appended(x: Any) -> Any:
    out = [Row(x * 2)]
    if x[1] < 0:
        out[0].v[1] += x[2]
    else:
        out.append(Row(x * 3))
    return sum((s.v.sum() for s in out), start=0.0)


def array_set_or_appended(x: Any) -> Any:
    out = [Row(x * 2)]
    if x[1] < 0:
        out[0].v = x * 7
    else:
        out.append(Row(x * 3))
    return sum((s.v.sum() for s in out), start=0.0)


def of_another_kind(x: Any) -> Any:
    out = [S(1)]
    if x[1] < 0:
        out[0].t = 2.5 * x[0]
    else:
        out.append(S(x[1]))
    return sum((s.t for s in out), start=0.0)


def nested_or_appended(x: Any) -> Any:
    out = [Outer(S(x[0]))]
    if x[1] < 0:
        out[0].s.t *= 2.5
    else:
        out.append(Outer(S(x[1])))
    return sum((s.s.t for s in out), start=0.0)


def set_or_put(x: Any) -> Any:
    out = [S(x[0]), S(x[2])]
    if x[1] < 0:
        out[0].t = 2.5 * x[0]
    else:
        out[0] = S(x[1])
    out[1].t += out[0].t
    return sum((s.t * (i + 1) for i, s in enumerate(out)), start=0.0)


def set_or_put_by_two_names(x: Any) -> Any:
    s = S(x[0])
    out = [s, S(x[2])]
    if x[1] < 0:
        out[0].t = 2.5 * x[0]
    else:
        out[0] = S(x[1])
    s.t += 1
    return sum((s.t * (i + 1) for i, s in enumerate(out)), start=0.0)


def put_and_set(x: Any) -> Any:
    s = S(x[0])
    out = [s, S(x[2])]
    if x[1] < 0:
        out[0] = S(x[1])
    out[0].t = 11 * x[1]
    return s.t + sum(s.t * (i + 1) for i, s in enumerate(out))


def changed_in_both(x: Any) -> Any:
    s = S(x[0])
    out = [s]
    if x[1] < 0:
        s.t += 1
        out.append(S(2.0))
    else:
        s.t += 2
    return s.t + sum(s.t * (i + 1) for i, s in enumerate(out))


def changed_and_appended(x: Any) -> Any:
    s = S(x[0])
    out = [s]
    if x[1] < 0:
        s.t += 1
        out.append(s)
    return s.t + sum(s.t * (i + 1) for i, s in enumerate(out))


def in_steps(x: Any) -> Any:
    s = S(x[0])
    out = [s]
    for a in x:
        if a < 0:
            out.append(S(a))
        else:
            out[0].t += a
    return s.t + sum(s.t * (i + 1) for i, s in enumerate(out))


BRANCHES = [
    changed_in_the_other_branch,
    changed_or_popped,
    array_or_appended,
    array_of_an_object_or_appended,
    array_set_or_appended,
    of_another_kind,
    nested_or_appended,
    set_or_put,
    set_or_put_by_two_names,
    put_and_set,
    changed_in_both,
    changed_and_appended,
    in_steps,
]

DATA = [
    np.array([1.1, -2.2, 3.3, -4.1, 2.6, 1.57]),
    np.array([1.13, 2.2, 3.1, 4.2, 5.3, 6.4]),
    np.array([-1.15, -2.2, -3.3, -4.1, -0.5, -7.3]),
    np.array([-1.5, 2.3, -3.6, 4.4, 1.7, 0.1]),
]


def differences(f: Any, x: Any) -> Any:
    """The gradient of a function, by differences."""
    return np.array([(f(x + e) - f(x - e)) / 2e-6 for e in 1e-6 * np.eye(len(x))])


@pytest.mark.parametrize("f", BRANCHES)
def test_it_is_what_python_gives_on_all_data(f: Any) -> None:
    value, gradient = pliant.jit(f), pliant.grad(f)
    for x in DATA:
        expected = [f(x.copy()), differences(f, x)]
        np.testing.assert_allclose(value(x.copy()), expected[0])
        np.testing.assert_allclose(gradient(x.copy()), expected[1], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("f", [f for f in BRANCHES if f is not in_steps])
@pytest.mark.usefixtures("for_all_data")
def test_what_a_branch_changes_needs_no_other_program(f: Any) -> None:
    value = pliant.jit(f)
    for x in DATA:
        np.testing.assert_allclose(value(x.copy()), f(x.copy()))
