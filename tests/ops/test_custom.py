"""Checkpoints, custom derivatives and stopped gradients, to second order, under vmap, and opened."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.core.build import trace
from pliant.core.ir import Function, Value, const, nodes
from pliant.core.types import Type
from pliant.errors import DifferentiationError, ShapeError
from pliant.ops.custom import Checkpoint, CustomJvp, CustomVjp, Pushforward, stop_gradient
from pliant.ops.elementwise import sign
from pliant.ops.reduce import reduce_sum
from pliant.ops.transcendental import cos, exp, sin
from pliant.pipeline import optimise
from pliant.transforms.evaluate import evaluate
from pliant.transforms.inline import inline
from pliant.transforms.jvp import jvp
from pliant.transforms.vmap import vmap
from tests.programs.programs import PROGRAMS, f64, gradient

RNG = np.random.default_rng(0)
X, Y, Z = RNG.normal(size=(3, 3))


def run(fn: Function, *xs: Any) -> list[Any]:
    return list(evaluate(fn, tuple(np.asarray(x) for x in xs), np))


def plain(x: Value, y: Value) -> Value:
    return sin(x) * exp(y) * x


BODY = trace(plain, f64(3), f64(3))
CHECKPOINTED = trace(lambda x, y: Checkpoint(BODY)(x, y) * y, f64(3), f64(3))
PLAIN = trace(lambda x, y: plain(x, y) * y, f64(3), f64(3))

TRANSFORMS: dict[str, Callable[[Function], Function]] = {
    "gradient": gradient,
    "jvp": lambda fn: jvp(fn, (True, True)),
    "jvp of one": lambda fn: jvp(fn, (False, True)),
    "gradient of gradient": lambda fn: gradient(first(gradient(fn))),
    "jvp of gradient": lambda fn: jvp(gradient(fn), (True, True)),
    "gradient of jvp": lambda fn: gradient(last(jvp(fn, (True, True)))),
    "third derivative": lambda fn: gradient(first(gradient(first(gradient(fn))))),
    "vmap": lambda fn: vmap(fn, 2, (True, False)),
    "vmap of gradient": lambda fn: vmap(gradient(fn), 2, (False, True)),
    "gradient of vmap": lambda fn: gradient(vmap(fn, 2, (True, False))),
    "gradient of vmap of gradient": lambda fn: gradient(first(vmap(gradient(fn), 2, (True, False)))),
}


def first(fn: Function) -> Function:
    return Function(fn.name, fn.params, fn.results[:1])


def last(fn: Function) -> Function:
    return Function(fn.name, fn.params, fn.results[-1:])


def arguments(fn: Function) -> list[Any]:
    rng = np.random.default_rng(1)
    return [rng.normal(size=p.type.shape) for p in fn.params]


@pytest.mark.parametrize("name", TRANSFORMS)
def test_a_checkpoint_has_the_derivatives_of_its_body(name: str) -> None:
    got, want = TRANSFORMS[name](CHECKPOINTED), TRANSFORMS[name](PLAIN)
    for fn in (got, inline(got), optimise(got, check=True)):
        for a, b in zip(run(fn, *arguments(fn)), run(want, *arguments(want)), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)


def test_reverse_mode_of_a_checkpoint_recomputes_from_its_operands() -> None:
    fn = optimise(gradient(trace(lambda x, y: Checkpoint(BODY)(x, y), f64(3), f64(3))))
    names = [n.op.name for n in nodes(fn.results)]
    assert names.count("barrier") == 2
    for node in nodes(fn.results):
        if node.op in (sin, cos, exp):
            assert node.args[0].op.name == "barrier"


def test_a_gradient_keeps_nothing_of_a_checkpoint_but_operands_and_results() -> None:
    fn = gradient(trace(lambda x, y: reduce_sum(Checkpoint(BODY)(x, y) * 2.0), f64(3), f64(3)))
    assert {n.op.name for n in nodes(fn.results)}.isdisjoint({"sin", "cos", "exp"})


def test_checkpoints_nest() -> None:
    inner = trace(lambda x, y: Checkpoint(BODY)(x * 2.0, y), f64(3), f64(3))
    fn = gradient(trace(lambda x, y: Checkpoint(inner)(x, y), f64(3), f64(3)))
    want = gradient(trace(lambda x, y: plain(x * 2.0, y), f64(3), f64(3)))
    for got in (fn, optimise(fn, check=True)):
        np.testing.assert_allclose(run(got, X, Y), run(want, X, Y), rtol=1e-12)
    assert not any(isinstance(n.op, Checkpoint) for n in nodes(optimise(fn).results))


def test_a_checkpoint_with_an_integer_operand_and_result() -> None:
    body = trace(lambda x, n: (x * x, n + 1), f64(3), Type("i64", (3,)))
    fn = gradient(trace(lambda x, n: Checkpoint(body).apply(x, n), f64(3), Type("i64", (3,))))
    np.testing.assert_allclose(run(fn, X, [1, 2, 3])[0], 2 * X)


def test_tangents_of_a_pushforward_must_fit() -> None:
    with pytest.raises(ShapeError, match="pushforward: tangents"):
        trace(lambda x, y, d: Pushforward(BODY, (True, False)).apply(x, y, d), f64(3), f64(3), f64(4))


def test_stopped_gradients_are_exact_zeros() -> None:
    fn = trace(lambda x: stop_gradient(exp(x)) * x, f64(3))
    np.testing.assert_allclose(run(gradient(fn), X)[0], np.exp(X))
    assert gradient(trace(lambda x: stop_gradient(x), f64(3))).results == ()
    assert "stop_gradient" not in str(optimise(fn))


def clipped(ct_scale: float) -> Function:
    """The identity, whose cotangent is scaled."""
    body = trace(lambda x: x, f64(3))
    backward = trace(lambda ct: ct * ct_scale, f64(3))
    return trace(lambda x: CustomVjp(body, body, backward)(x) * 1.0, f64(3))


def test_a_custom_backward_is_used_as_written() -> None:
    np.testing.assert_allclose(run(gradient(clipped(3.0)), X)[0], [3.0] * 3)


def test_a_backward_that_is_not_linear_works_in_reverse_mode() -> None:
    body = trace(lambda x: x * 5.0, f64(3))
    backward = trace(lambda ct: sign(ct), f64(3))
    fn = trace(lambda x: CustomVjp(body, body, backward)(x) * -2.0, f64(3))
    np.testing.assert_allclose(run(gradient(fn), X)[0], [-1.0] * 3)


def test_forward_mode_of_a_custom_backward_transposes_it() -> None:
    fn = jvp(clipped(3.0), (True,))
    np.testing.assert_allclose(run(fn, X, Y)[1], 3 * Y)


def sine_by_jvp() -> Function:
    body = trace(lambda x, y: sin(x) * y, f64(3), f64(3))
    tangent = trace(lambda x, y, dx, dy: cos(x) * y * dx + sin(x) * dy, f64(3), f64(3), f64(3), f64(3))
    return trace(lambda x, y: CustomJvp(body, tangent)(x, y) * y, f64(3), f64(3))


def sine_by_vjp() -> Function:
    body = trace(lambda x, y: sin(x) * y, f64(3), f64(3))
    forward = trace(lambda x, y: (sin(x) * y, sin(x), cos(x) * y), f64(3), f64(3))
    backward = trace(lambda s, c, ct: (ct * c, ct * s), f64(3), f64(3), f64(3))
    return trace(lambda x, y: CustomVjp(body, forward, backward)(x, y) * y, f64(3), f64(3))


@pytest.mark.parametrize("name", TRANSFORMS)
@pytest.mark.parametrize("make", [sine_by_jvp, sine_by_vjp])
def test_a_true_custom_derivative_changes_nothing(make: Callable[[], Function], name: str) -> None:
    want = TRANSFORMS[name](trace(lambda x, y: sin(x) * y * y, f64(3), f64(3)))
    got = TRANSFORMS[name](make())
    for fn in (got, optimise(got, check=True)):
        for a, b in zip(run(fn, *arguments(fn)), run(want, *arguments(want)), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)


def test_the_second_derivative_follows_the_custom_rule_too() -> None:
    # f is x² by value, but its rule says df = 3 dx: then d²f = 0 and d(f·f') = 3·3
    body, tangent = trace(lambda x: x * x, f64(3)), trace(lambda x, dx: dx * 3.0, f64(3), f64(3))
    fn = trace(lambda x: CustomJvp(body, tangent)(x), f64(3))
    assert gradient(gradient(fn)).results == ()
    product = trace(lambda x: fn(x)[0] * gradient(fn)(x)[0], f64(3))
    np.testing.assert_allclose(run(gradient(product), X)[0], [9.0] * 3)


def test_custom_rules_whose_types_do_not_fit_are_refused() -> None:
    body = trace(lambda x: reduce_sum(x), f64(3))
    wrong = trace(lambda x, dx: dx, f64(3), f64(3))
    with pytest.raises(ShapeError, match=r"custom_jvp: tangents are \(f64\[3\]\), expected \(f64\[\]\)"):
        trace(lambda x: CustomJvp(body, wrong)(x), f64(3))
    with pytest.raises(ShapeError, match=r"custom_vjp: cotangents are \(f64\[\]\), expected \(f64\[3\]\)"):
        trace(lambda x: CustomVjp(body, body, trace(lambda ct: ct, f64()))(x), f64(3))
    with pytest.raises(ShapeError, match=r"checkpoint: operands are \(f64\[4\]\), expected \(f64\[3\]\)"):
        trace(lambda x: Checkpoint(body)(x), f64(4))


def test_nothing_held_is_left_for_the_backends() -> None:
    for name in PROGRAMS:
        left = {n.op.name for n in nodes(optimise(PROGRAMS[name](), check=True).results)}
        assert left.isdisjoint(
            {
                "checkpoint",
                "pushforward",
                "custom_jvp",
                "custom_vjp",
                "custom_tangent",
                "stop_gradient",
                "no_derivative",
            }
        )


def test_a_held_function_of_literals_only() -> None:
    body = trace(lambda x: const(2.0, "f64"), f64())
    fn = gradient(trace(lambda x: Checkpoint(body)(x) * x, f64()))
    np.testing.assert_allclose(run(fn, 5.0), [2.0])


def test_a_rule_that_calls_its_function_is_followed_three_times() -> None:
    root = pliant.custom_derivative(np.sqrt, jvp=lambda xs, dxs: dxs[0] / (2 * root(xs[0])))

    def forward(x: Any) -> Any:
        y = other(x)
        return y, y

    other = pliant.custom_derivative(np.sqrt, forward=forward, backward=lambda y, ct: (ct / (2 * y),))
    for f in (root, other):
        made, wanted = f, [2.0, 0.25, -1 / 32, 3 / 256]
        for order, value in enumerate(wanted):
            np.testing.assert_allclose(pliant.jit(made)(4.0), value, rtol=1e-14, err_msg=str(order))
            made = pliant.grad(made)
        with pytest.raises(
            DifferentiationError, match=r"sqrt: its own derivative calls it.*is one of order 4"
        ) as caught:
            made(4.0)
        assert "test_custom.py" in str(caught.value)
        np.testing.assert_allclose(pliant.vmap(pliant.grad(f))(np.array([1.0, 4.0])), [0.5, 0.25])
        fn = pliant.trace(f, 4.0)
        assert pliant.parse(str(fn)) == fn
