"""The public transformations, on programs that a NumPy user would write."""

from __future__ import annotations

import threading
from queue import SimpleQueue
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import ArgumentError, DTypeError, ShapeError, UnsupportedError
from pliant.frontend.signature import flatten

RNG = np.random.default_rng(0)
X = np.array([0.1, 0.2, 0.3])


def differences(f: Any, x: Any, step: float = 1e-6) -> Any:
    """The gradient of f at x by central differences."""
    g = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        e = np.zeros_like(x)
        e[i] = step
        g[i] = (f(x + e) - f(x - e)) / (2 * step)
    return g


WEIGHTS = np.arange(3.0)


def mutating(x: Any) -> Any:
    y = np.zeros(3)
    y[1:] = x[:-1] * 2
    y += WEIGHTS
    return np.sum(np.sin(y) * x)


def loss(w: Any, X: Any, y: Any) -> Any:
    p = 1 / (1 + np.exp(-(X @ w)))
    return -np.mean(y * np.log(p) + (1 - y) * np.log1p(-p))


def test_jit_equals_numpy_on_a_mutating_program():
    assert pliant.jit(mutating)(X) == pytest.approx(mutating(X), rel=1e-14)


def test_gradient_of_a_mutating_program_equals_differences():
    value, g = pliant.value_and_grad(mutating)(X)
    assert value == pytest.approx(mutating(X), rel=1e-14)
    np.testing.assert_allclose(g, differences(mutating, X), rtol=1e-7)


def test_gradient_of_logistic_regression_equals_its_formula():
    data, labels = RNG.normal(size=(20, 3)), RNG.integers(0, 2, 20).astype(float)
    g = pliant.grad(loss)(X, data, labels)
    p = 1 / (1 + np.exp(-(data @ X)))
    np.testing.assert_allclose(g, data.T @ (p - labels) / 20, rtol=1e-12)


def test_hessian_and_hvp_agree():
    h = pliant.hessian(mutating)(X)
    np.testing.assert_allclose(h, h.T, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(pliant.hvp(mutating)(X, np.ones(3)), h.sum(1), rtol=1e-12)


def test_jacobian_forward_equals_reverse():
    def f(x: Any) -> Any:
        return np.outer(x, np.sin(x))

    forward = pliant.jacobian(f, mode="forward")(X)
    assert forward.shape == (3, 3, 3)
    np.testing.assert_allclose(forward, pliant.jacobian(f, mode="reverse")(X), rtol=1e-12)


def test_jacobian_of_a_complex_function_is_the_same_in_both_modes():
    z = np.array([1 + 2j, 0.5 - 1j])
    forward = pliant.jacobian(lambda z: z**2 * 1j, mode="forward")(z)
    np.testing.assert_allclose(forward, np.diag(2j * z), rtol=1e-12)
    np.testing.assert_allclose(pliant.jacobian(lambda z: z**2 * 1j, mode="reverse")(z), forward, rtol=1e-12)


def test_gradient_of_squared_modulus_is_twice_the_number():
    z = np.array([1 + 2j, 3 - 1j])
    np.testing.assert_allclose(pliant.grad(lambda z: np.sum(np.abs(z) ** 2))(z), 2 * z, rtol=1e-12)


def test_vmap_is_a_python_loop_and_a_stack():
    xs = RNG.normal(size=(4, 3))
    np.testing.assert_allclose(pliant.vmap(mutating)(xs), [mutating(x) for x in xs], rtol=1e-13)
    gradients = pliant.vmap(pliant.grad(mutating))(xs)
    np.testing.assert_allclose(gradients, [pliant.grad(mutating)(x) for x in xs], rtol=1e-13)


def test_vmap_axes_in_and_out():
    a, b = RNG.normal(size=(3, 5)), RNG.normal(size=(2, 4))
    got = pliant.vmap(np.outer, in_axes=(1, None), out_axes=-1)(a, b)
    np.testing.assert_allclose(got, np.stack([np.outer(a[:, i], b) for i in range(5)], -1))


def test_gradient_of_a_vmapped_function():
    xs = RNG.normal(size=(4, 3))
    g = pliant.grad(lambda xs: np.sum(pliant.vmap(mutating)(xs)))(xs)
    np.testing.assert_allclose(g, [pliant.grad(mutating)(x) for x in xs], rtol=1e-13)


def test_vjp_and_linearize_are_transposes():
    def f(x: Any, y: Any) -> Any:
        return np.sin(x) * y, x[::-1]

    x, y = X, X + 1
    dx, dy = RNG.normal(size=3), RNG.normal(size=3)
    ct = RNG.normal(size=3), RNG.normal(size=3)
    value, derivative = pliant.linearize(f, x, y)
    again, pullback = pliant.vjp(f, x, y)
    for got, want in zip((*value, *again), (*f(x, y), *f(x, y)), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-14)
    forward = sum(np.vdot(c, d) for c, d in zip(ct, derivative(dx, dy), strict=True))
    back = sum(np.vdot(c, d) for c, d in zip(pullback(ct), (dx, dy), strict=True))
    assert forward == pytest.approx(back, rel=1e-12)


def test_jvp_pairs_value_and_tangent():
    y, dy = pliant.jvp(np.exp, (1.0,), (2.0,))
    assert (y, dy) == (pytest.approx(np.e), pytest.approx(2 * np.e))


def test_containers_go_in_and_come_out():
    params = {"w": np.ones((2, 3)), "b": [np.zeros(2), 1.5]}
    g = pliant.grad(lambda p: np.sum(p["w"] @ X + p["b"][0]) * p["b"][1])(params)
    np.testing.assert_allclose(g["w"], np.tile(1.5 * X, (2, 1)))
    np.testing.assert_allclose(g["b"][0], [1.5, 1.5])
    assert g["b"][1] == pytest.approx(np.sum(np.ones((2, 3)) @ X))


def test_argnums_order_the_gradients():
    f = lambda x, n, y: np.sum(x * y**2) * n  # noqa: E731
    gy, gx = pliant.grad(f, argnums=(2, 0))(np.ones(2), 3, np.full(2, 2.0))
    np.testing.assert_allclose(gx, [12, 12])
    np.testing.assert_allclose(gy, [12, 12])


def test_python_numbers_are_values_not_constants():
    calls = SimpleQueue()

    def f(x: Any, s: Any) -> Any:
        calls.put(1)
        return x * s

    g = pliant.jit(f)
    np.testing.assert_allclose(g(X, 2.0), 2 * X)
    np.testing.assert_allclose(g(X, 3.0), 3 * X)
    assert calls.qsize() == 1


def test_python_float_takes_the_dtype_of_what_it_meets():
    got = pliant.jit(lambda x, s: x * s)(np.ones(2, np.float32), 2.0)
    assert got.dtype == np.float32
    assert pliant.jit(lambda s: s * 2)(1.5) == 3.0 and type(pliant.jit(lambda s: s * 2)(1.5)) is float


def test_scalar_results_are_numpy_scalars_and_0d_arrays_stay_arrays():
    assert type(pliant.jit(np.sum)(X)) is np.float64
    made = pliant.jit(lambda x: np.array(x[0]))(X)
    assert isinstance(made, np.ndarray) and made.shape == ()


def test_captured_arrays_are_read_anew_at_every_call():
    w = np.ones(3)
    f = pliant.jit(lambda x: x * w)
    np.testing.assert_array_equal(f(X), X)
    w[:] = 2
    np.testing.assert_array_equal(f(X), 2 * X)


def test_defaults_hold_after_calls_that_gave_the_argument_and_before():
    w = np.ones(3)

    def f(x: Any, y: Any = None) -> Any:
        return x * w if y is None else x * w + y

    for first, second in (((X,), (X, X)), ((X, X), (X,))):
        compiled = pliant.jit(f)
        for _ in range(4):
            np.testing.assert_array_equal(compiled(*first), f(*first))
        np.testing.assert_array_equal(compiled(*second), f(*second))


def test_an_argument_can_be_returned_again_and_again():
    f = pliant.jit(lambda x, y: y)
    for _ in range(4):
        assert f(np.zeros(3), X) is not None and np.shares_memory(f(np.zeros(3), X), X)


def test_rebound_names_are_seen():
    holder: dict[str, Any] = {"scale": 2.0, "w": np.ones(3)}

    def inner(x: Any) -> Any:
        return x * holder["scale"] + holder["w"]

    f = pliant.jit(lambda x: inner(x))
    np.testing.assert_allclose(f(X), 2 * X + 1)
    holder["scale"] = 3.0
    holder["w"] = np.zeros(3)
    np.testing.assert_allclose(f(X), 3 * X)


class Model:
    """An object with arrays and numbers, as users have."""

    def __init__(self) -> None:
        self.w, self.bias = np.ones(3), 1.0

    def predict(self, x: Any) -> Any:
        return np.sum(self.w * x) + self.bias


def test_attributes_are_read_anew_at_every_call():
    model = Model()
    f = pliant.jit(model.predict)
    assert f(X) == pytest.approx(1.6)
    model.w = np.full(3, 2.0)
    assert f(X) == pytest.approx(2.2)
    model.bias = 0.0
    assert f(X) == pytest.approx(1.2)
    model.w[:] = 0
    assert f(X) == 0


def test_writes_reach_the_caller_under_jit():
    def shift(x: Any) -> Any:
        x[1:] = x[:-1]
        return x

    a, b = np.arange(100.0), np.arange(100.0)
    made = pliant.jit(shift)(a)
    shift(b)
    np.testing.assert_array_equal(a, b)
    assert np.shares_memory(made, a)


def test_writes_stay_inside_under_derivatives_and_vmap():
    def f(x: Any) -> Any:
        x *= 2
        return np.sum(x)

    a = np.ones(3)
    np.testing.assert_array_equal(pliant.grad(f)(a), [2, 2, 2])
    np.testing.assert_array_equal(pliant.vmap(f)(np.ones((2, 3))), [6, 6])
    np.testing.assert_array_equal(a, np.ones(3))


def test_results_that_share_memory_share_it():
    y, t = pliant.jit(lambda x: (z := x + np.zeros((2, 3)), z.T))(X)
    assert np.shares_memory(y, t)


def test_duplicate_indices_have_exact_gradients():
    i = np.array([1, 1])

    def assign(x: Any, y: Any) -> Any:
        z = x.copy()
        z[i] = y
        return np.sum(z * np.array([1.0, 10.0, 100.0]))

    def increment(x: Any, y: Any) -> Any:
        z = x.copy()
        z[i] += y
        return np.sum(z * np.array([1.0, 10.0, 100.0]))

    y = np.array([5.0, 7.0])
    dx, dy = pliant.grad(assign, argnums=(0, 1))(X, y)
    np.testing.assert_array_equal(dx, [1, 0, 100])
    np.testing.assert_array_equal(dy, [0, 10])
    dx, dy = pliant.grad(increment, argnums=(0, 1))(X, y)
    np.testing.assert_array_equal(dx, [1, 10, 100])
    np.testing.assert_array_equal(dy, [0, 10])


def test_a_dead_store_leaves_no_nan_in_the_gradient():
    def f(x: Any) -> Any:
        y = np.zeros(1)
        y[0] = np.sqrt(x[0])
        y[0] = x[0] - 1
        return y[0]

    np.testing.assert_array_equal(pliant.grad(f)(np.zeros(1)), [1])


def test_where_has_a_zero_gradient_where_it_is_not_taken():
    g = pliant.grad(lambda x: np.sum(np.where(x > 0, np.log(x), 0)))(np.array([0.0, 2.0]))
    np.testing.assert_array_equal(g, [0, 0.5])


def test_transformations_nest_in_any_order():
    f = lambda x: np.sin(x) * x  # noqa: E731
    assert pliant.jit(pliant.grad(pliant.jit(pliant.grad(f))))(0.5) == pytest.approx(
        2 * np.cos(0.5) - 0.5 * np.sin(0.5)
    )
    np.testing.assert_allclose(pliant.vmap(pliant.grad(pliant.grad(f)))(X), 2 * np.cos(X) - X * np.sin(X))


def test_gradient_inside_a_compiled_function_closes_over_traced_values():
    @pliant.jit
    def step(w: Any, X: Any) -> Any:
        g = pliant.grad(lambda v: np.sum((X @ v) ** 2))(w)
        return w - 0.1 * g

    data = RNG.normal(size=(4, 3))
    np.testing.assert_allclose(step(X, data), X - 0.2 * data.T @ (data @ X), rtol=1e-12)


def test_what_a_checkpointed_function_writes_is_written():
    total = np.zeros(2)

    def inner(y):
        y[1:] *= 3.0
        total[:] += y[:2]
        return y.sum()

    def f(x):
        kept = x * 1.0
        value = pliant.checkpoint(inner)(kept[::-1])
        pliant.checkpoint(inner)(x)
        return value + 10.0 * kept[0], kept

    x, expected = np.array([1.0, 2.0, 4.0]), f(np.array([1.0, 2.0, 4.0]))
    left = total.copy()
    total[:] = 0.0
    got = pliant.jit(f)(x)
    np.testing.assert_array_equal(got[0], expected[0])
    np.testing.assert_array_equal(got[1], expected[1])
    np.testing.assert_array_equal(x, [1.0, 6.0, 12.0])
    np.testing.assert_array_equal(total, left)
    gradient = pliant.grad(lambda x: f(x)[0])(np.array([1.0, 2.0, 4.0]))
    np.testing.assert_array_equal(gradient, [33.0, 3.0, 1.0])


def test_a_checkpointed_function_may_not_write_what_is_read_beside_it():
    def f(x):
        def inner(y):
            y[0] = 1.0
            return x.sum()

        return pliant.checkpoint(inner)(x)

    with pytest.raises(
        UnsupportedError, match="a write, inside a derivative or a batch, to an argument that is also read"
    ):
        pliant.jit(f)(np.ones(3))


def test_checkpoint_changes_no_derivative():
    f = lambda x: np.sum(np.sin(np.exp(x)))  # noqa: E731
    np.testing.assert_allclose(pliant.grad(pliant.checkpoint(f))(X), pliant.grad(f)(X), rtol=1e-14)
    np.testing.assert_allclose(pliant.hessian(pliant.checkpoint(f))(X), pliant.hessian(f)(X), rtol=1e-12)


def test_custom_derivative_serves_both_modes():
    by_jvp = pliant.custom_derivative(np.sin, jvp=lambda xs, dxs: 10 * dxs[0])
    by_vjp = pliant.custom_derivative(np.sin, forward=lambda x: (np.sin(x), x), backward=lambda x, ct: (ct * x,))
    assert pliant.grad(by_jvp)(2.0) == 10 and pliant.jvp(by_jvp, (2.0,), (1.0,))[1] == 10
    assert pliant.grad(by_vjp)(2.0) == 2 and pliant.jvp(by_vjp, (2.0,), (1.0,))[1] == 2
    assert by_jvp(2.0) == np.sin(2.0)


def test_stop_gradient_is_a_constant():
    assert pliant.grad(lambda x: x * pliant.stop_gradient(x))(3.0) == 3


def test_vectorize_broadcasts_leading_axes():
    a, b = RNG.normal(size=(4, 1, 2, 3)), RNG.normal(size=(5, 3))
    got = pliant.vectorize(lambda m, v: m @ v, "(m,n),(n)->(m)")(a, b)
    np.testing.assert_allclose(got, np.einsum("abmn,bn->abm", np.broadcast_to(a, (4, 5, 2, 3)), b), rtol=1e-12)


def test_static_arguments_may_be_shapes():
    f = pliant.jit(lambda x, n: x.reshape(n, -1), static="n")
    assert f(np.arange(6.0), 2).shape == (2, 3) and f(np.arange(6.0), n=3).shape == (3, 2)


SLICES = [slice(1, None), slice(None, None, -1), slice(0, 2), (slice(1, 3), slice(0, 1)), (Ellipsis, slice(-2, None))]


def test_slices_are_arguments():
    """They are what the function is compiled for, whether Python gives them a hash or not."""
    x = np.arange(12.0).reshape(3, 4)
    f, known = pliant.jit(lambda x, s: x[s] * 2), pliant.jit(lambda x, s: x[s] * 2, static="s")
    g = pliant.grad(lambda x, s: np.sum(x[s] ** 2))
    for s in 4 * SLICES:
        np.testing.assert_array_equal(f(x, s), x[s] * 2)
        np.testing.assert_array_equal(known(x, s), x[s] * 2)
        slope = np.zeros_like(x)
        slope[s] = 2 * x[s]
        np.testing.assert_array_equal(g(x, s), slope)


def test_what_is_static_for_a_function_is_for_its_derivatives_and_batches():
    def polynomial(x, n, sign="+"):
        powers = np.zeros(n)
        for k in range(n):
            powers[k] = x**k
        return np.sum(powers) if sign == "+" else -np.sum(powers)

    f = pliant.jit(polynomial, static=("n", "sign"))
    assert pliant.grad(f)(2.0, 3) == 5 and pliant.grad(f)(2.0, n=3, sign="-") == -5
    assert pliant.value_and_grad(f)(2.0, 4) == (15, 17) and pliant.hessian(f)(2.0, 3) == 2
    np.testing.assert_array_equal(pliant.vmap(f, in_axes=(0, None))(np.array([1.0, 2.0]), 3), [3, 7])
    np.testing.assert_array_equal(pliant.vmap(pliant.grad(f), (0, None, None))(np.array([1.0, 2.0]), 3, "-"), [-3, -5])


def folded(x, n, mode="plain"):
    return np.sum(x.reshape(n, -1).prod(0)) ** (2 if mode == "square" else 1)


@pytest.mark.parametrize("static", [(), ("n",), ("n", "mode")])
@pytest.mark.parametrize("more", [(), ("plain",), ("square",)])
def test_integers_and_text_have_no_tangents_and_no_cotangents(static, more):
    f = pliant.jit(folded, static=static) if static else folded
    x, dx = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 0.0, 2.0, -1.0])
    gradient, nothing = pliant.grad(folded)(x, 2, *more), (None,) * (1 + len(more))
    for _ in range(3):
        value, pullback = pliant.vjp(f, x, 2, *more)
        assert value == folded(x, 2, *more)
        (back, *rest) = pullback(1.0)
        assert rest == list(nothing)
        np.testing.assert_allclose(back, gradient)
        np.testing.assert_allclose(pliant.jvp(f, (x, 2, *more), (dx, *nothing))[1], gradient @ dx)
        np.testing.assert_allclose(pliant.jvp(f, (x, 2, *more), (dx, 0, *more))[1], gradient @ dx)
        np.testing.assert_allclose(pliant.linearize(f, x, 2, *more)[1](dx, *nothing), gradient @ dx)
        hessian = pliant.hessian(folded)(x, 2, *more)
        np.testing.assert_allclose(pliant.hvp(f)(x, dx, 2, *more), hessian @ dx)
    batched = pliant.vmap(lambda y: pliant.vjp(f, y, 2, *more)[1](1.0)[0])(np.stack([x, dx]))
    np.testing.assert_allclose(batched, [pliant.grad(folded)(y, 2, *more) for y in (x, dx)])


def test_keywords_reach_the_function_under_hvp():
    x = np.array([1.0, 2.0, 3.0, 4.0])
    got = pliant.hvp(folded)(x, x, n=2, mode="square")
    np.testing.assert_allclose(got, pliant.hessian(folded)(x, n=2, mode="square") @ x)


def test_integer_leaves_beside_floats_have_no_cotangents():
    p = {"x": np.array([1.0, 2.0]), "n": 3, "i": np.array([0, 1])}
    _, pullback = pliant.vjp(lambda p: p["x"][p["i"]] ** p["n"], p)
    (back,) = pullback(np.ones(2))
    np.testing.assert_allclose(back.pop("x"), [3.0, 12.0])
    assert back == {"n": None, "i": None}


@pytest.mark.usefixtures("for_all_data")
def test_messages_name_the_users_function_under_derivatives_and_beside_static_arguments():
    def zeros(x, n, sign):
        return np.sum(np.zeros(n) * x)

    for compiled in (pliant.grad(zeros), pliant.jit(zeros, static="sign"), pliant.value_and_grad(zeros)):
        with pytest.raises(pliant.errors.TracedValueError, match="parameter 'n' of zeros"):
            compiled(2.0, np.array(3), 1)


def test_disable_jit_runs_the_function_itself():
    with pliant.disable_jit():
        assert pliant.jit(lambda x: type(x))(X) is np.ndarray
        np.testing.assert_allclose(pliant.grad(np.sum)(X), np.ones(3))


def test_one_function_from_many_threads():
    f = pliant.value_and_grad(mutating)
    wrong: list[Any] = []

    def work(seed: int) -> None:
        xs = np.random.default_rng(seed).normal(size=(20, 3))
        wrong.extend(x for x in xs if abs(f(x)[0] - mutating(x)) > 1e-12)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_explain_names_the_rules_that_fired():
    text = str(pliant.explain(lambda x: np.sum(x * 1.0 + np.zeros(3)), X))
    assert "reduce_sum" in text and "rules fired" in text


@pytest.mark.usefixtures("for_all_data")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pliant.vmap(lambda x: x.sum(), out_axes=2)(np.ones((3, 4))), "out_axes 2 is out of range"),
        (lambda: pliant.vmap(lambda x, s: x)(X, "a"), "expected arrays to map over, got str"),
        (lambda: pliant.jit(lambda x, n: x * n, static="m"), "static= names m; expected parameters: x, n"),
        (lambda: pliant.jit(lambda x, n: x * n[0], static="n")(X, [2]), "static arguments must be hashable, got list"),
        (lambda: pliant.parse(None), "parse: expected the text of a program, got NoneType"),  # type: ignore[arg-type]
        (lambda: pliant.jvp(np.sin, X, X), "expected tuples of primals and tangents"),  # type: ignore[arg-type]
        (lambda: pliant.jacobian(lambda x: x[x > 1])(X), "inside a derivative or a batch"),
    ],
)
def test_wrong_calls_say_what_was_expected(call: Any, message: str):
    with pytest.raises(pliant.PliantError, match=message):
        call()


def test_a_printed_program_is_parsed_and_evaluated():
    def f(x, y):
        x = x.copy()
        x[1:] += y * x[:-1]
        return x, np.where(x > 0, x, y)

    x, y = np.array([1.0, -2.0, 3.0]), 0.5
    fn = pliant.parse(str(pliant.trace(f, x, y)))
    for got, want in zip(pliant.evaluate(fn, x, y), f(x, y), strict=True):
        np.testing.assert_array_equal(got, want)
    with pytest.raises(ArgumentError, match="2 parameters, got 1"):
        pliant.evaluate(fn, x)
    with pytest.raises(ShapeError, match=r"f: parameter 1 is f64\[3\], got float64 of shape \(4,\)"):
        pliant.evaluate(fn, np.ones(4), y)
    with pytest.raises(DTypeError, match=r"f: parameter 2 is f64\[\], got complex128 of shape \(\)"):
        pliant.evaluate(fn, x, 1j)
    assert pliant.evaluate(fn, np.arange(3), y)[0].dtype == np.float64


def turned(x: Any) -> Any:
    return x.T * 2.0, x.reshape(-1)[1:] + 1.0


def shown(x: Any) -> Any:
    y = x * 2.0
    return {"all": x, "turned": x.T, "part": x[1:], "ours": [y, y[0], y.T], "number": 3.0}


def filled(x: Any) -> Any:
    y = np.zeros(x.shape[::-1], order="F")
    y[:] = x.T
    return y, np.moveaxis(np.stack([x, y.T]), 0, -1), tuple(y[0])


def chosen(x: Any) -> Any:
    y = x if np.sum(x) > 0 else x + 1.0
    return y.T, np.broadcast_to(x[0], (2, 3))


@pytest.mark.parametrize("f", [turned, shown, filled, chosen], ids=lambda f: f.__name__)
@pytest.mark.parametrize("order", ["C", "F"])
def test_results_of_a_traced_program_are_what_the_function_returns(f: Any, order: Any):
    x = np.array([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]], order=order)
    fn = pliant.parse(str(pliant.trace(f, x)))
    wanted = flatten(f(x))[0]
    assert [p.type.shape for p in fn.params] == [x.shape]
    for got, want in zip(pliant.evaluate(fn, x), wanted, strict=True):
        assert got.shape == np.shape(want)
        np.testing.assert_array_equal(got, want)


def test_results_of_a_traced_program_are_those_in_lists_that_it_is_given_too():
    def f(xs: Any) -> Any:
        xs[0][0] = 5.0
        return xs

    fn = pliant.trace(f, [np.ones(2), np.ones(3)])
    np.testing.assert_equal(pliant.evaluate(fn, np.ones(2), np.ones(3)), ([5.0, 1.0], np.ones(3), [5.0, 1.0]))


def doubled(x: Any) -> Any:
    return x * 2


def test_what_is_compiled_names_the_function() -> None:
    shown = [
        repr(f)
        for f in (pliant.jit(doubled), pliant.grad(doubled), pliant.vmap(pliant.grad(doubled)), pliant.jit(np.sin))
    ]
    assert shown == [
        "<pliant.jit(doubled)>",
        "<pliant.grad(doubled)>",
        "<pliant.vmap(pliant.grad(doubled))>",
        "<pliant.jit(sin)>",
    ]


def test_a_pullback_takes_one_cotangent():
    _, pullback = pliant.vjp(lambda x: x * 2, np.ones(2))
    for given in ((), (np.ones(2), "more", 7)):
        with pytest.raises(ArgumentError, match="the pullback takes one cotangent"):
            pullback(*given)
