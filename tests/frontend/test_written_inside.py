"""What functions under `checkpoint`, `custom_derivative` and `stop_gradient` write, and of what they return views."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant

X = np.array([-1.0, 2.0, 3.0])
KEPT = np.zeros(3)


def doubled(b: Any) -> Any:
    b *= 2.0
    return b.sum()


def kept(b: Any) -> Any:
    KEPT[0] += b.sum()
    return b.sum()


RULES: dict[str, dict[str, Any]] = {
    "jvp": {"jvp": lambda xs, dxs: 3 * dxs[0].sum()},
    "vjp": {"forward": lambda b: (b.sum(), b), "backward": lambda b, ct: (0 * b + 3 * ct,)},
}


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_writes_under_a_custom_derivative_are_those_of_the_function(rule: Any) -> None:
    f, written = pliant.custom_derivative(doubled, **rule), X.copy()

    def total(x: Any) -> Any:
        y = x.copy()
        return f(y) + y.sum()

    assert pliant.jit(f)(written) == 8
    np.testing.assert_array_equal(written, 2 * X)
    assert pliant.jit(total)(X) == total(X) == 16
    np.testing.assert_array_equal(pliant.grad(total)(X), [5.0, 5.0, 5.0])  # by the rule, and 2 by what is written


def test_writes_under_a_custom_derivative_to_what_is_outside() -> None:
    f = pliant.jit(pliant.custom_derivative(kept, **RULES["jvp"]))
    KEPT[:] = 0
    for n in range(1, 5):
        assert f(X) == 4
        np.testing.assert_array_equal(KEPT, [4.0 * n, 0, 0])


def stopped_then_written(x: Any) -> Any:
    y = x * 2
    z = pliant.stop_gradient(y)
    z[0] = 50.0
    return y * z


def written_then_read(x: Any) -> Any:
    y = x * 2
    z = pliant.stop_gradient(y[::-1])
    y[0] = x[1] * 5
    for n in range(9):
        y[n % 3] += x[0]
        z[1] *= 1.5
    return y * z


def part_of_a_checkpoint(x: Any) -> Any:
    y = x.copy()
    z = pliant.checkpoint(lambda b: b[1:])(y)
    z[0] = 50.0 * x[0]
    return y


def all_of_a_checkpoint(x: Any) -> Any:
    def steps(b: Any) -> Any:
        b *= 3
        return b, b[::-1], np.sin(b)

    y = x.copy()
    u, v, w = pliant.checkpoint(steps)(y)
    v[0] = 50.0
    u[0] = w[0]
    return y


@pytest.mark.parametrize(
    "f", [stopped_then_written, written_then_read, part_of_a_checkpoint, all_of_a_checkpoint], ids=lambda f: f.__name__
)
def test_a_view_of_an_argument_stays_one(f: Any) -> None:
    np.testing.assert_allclose(pliant.jit(f)(X), f(X))


def test_a_part_that_is_written_of_a_stopped_array_leaves_the_derivatives_of_the_rest() -> None:
    def f(x: Any) -> Any:
        y = x * 2
        pliant.stop_gradient(y)[0] = 50.0
        return y.sum()

    np.testing.assert_array_equal(pliant.grad(f)(X), [0.0, 2.0, 2.0])


def test_a_checkpoint_may_return_a_view_of_what_is_outside() -> None:
    outside = np.arange(3.0)

    def f(x: Any) -> Any:
        z = pliant.checkpoint(lambda: outside[1:])()
        z[0] += x.sum()
        return z

    np.testing.assert_array_equal(pliant.jit(f)(X), [5.0, 2.0])
    np.testing.assert_array_equal(outside, [0.0, 5.0, 2.0])


def test_stop_gradient_returns_the_argument_itself_call_after_call() -> None:
    f = pliant.jit(lambda x: pliant.stop_gradient(x))
    assert all(f(X) is X for _ in range(4))


def test_a_checkpoint_of_a_view_has_its_derivative() -> None:
    jacobian = pliant.jacobian(part_of_a_checkpoint)(X)
    np.testing.assert_array_equal(jacobian, [[1.0, 0, 0], [50.0, 0, 0], [0, 0, 1.0]])
