"""Derivatives at a point: what is given beside floats, and in what form they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import ArgumentError, DifferentiationError, DTypeError, ShapeError

X = np.array([0.5, 1.0, 2.0])


def drawn(rng: Any, a: Any) -> Any:
    return np.sum(a**2) * rng.random()


def test_generators_have_no_tangents_and_no_cotangents() -> None:
    for seed, x in ((0, X), (1, X + 1), (2, 2 * X)):
        rng, expected = np.random.default_rng(seed), np.random.default_rng(seed)
        for _ in range(2):
            u = expected.random()
            value, tangent = pliant.jvp(drawn, (rng, x), (None, x))
            np.testing.assert_allclose((value, tangent), (np.sum(x**2) * u, 2 * np.sum(x**2) * u))
            u = expected.random()
            value, linear = pliant.linearize(drawn, rng, x)
            np.testing.assert_allclose((value, linear(None, x)), (np.sum(x**2) * u, 2 * np.sum(x**2) * u))
            u = expected.random()
            nothing, cotangent = pliant.vjp(drawn, rng, x)[1](1.0)
            assert nothing is None
            np.testing.assert_allclose(cotangent, 2 * x * u)
        assert rng.random() == expected.random()


def test_generators_in_containers_and_inside_compiled_functions_have_none_either() -> None:
    def both(rngs: Any, x: Any) -> Any:
        pushed = pliant.jvp(lambda held, y: drawn(held["rng"], y), (rngs, x), ({"rng": None}, x))
        return pushed, pliant.vjp(lambda held, y: drawn(held["rng"], y), rngs, x)[1](1.0)

    compiled = pliant.jit(both)
    for seed, x in ((0, X), (1, X + 1)):
        first, second = np.random.default_rng(seed).random(2)
        pushed, (nothing, cotangent) = compiled({"rng": np.random.default_rng(seed)}, x)
        assert nothing == {"rng": None}
        np.testing.assert_allclose(pushed, [np.sum(x**2) * first, 2 * np.sum(x**2) * first])
        np.testing.assert_allclose(cotangent, 2 * x * second)


def test_what_is_given_for_an_object_without_tangent_is_ignored() -> None:
    expected = pliant.jvp(drawn, (np.random.default_rng(3), X), (None, X))
    for given in (0, np.random.default_rng(1), X, [1.0, "a"]):
        assert pliant.jvp(drawn, (np.random.default_rng(3), X), (given, X)) == expected


def test_references_to_integers_have_no_tangents_and_those_to_floats_have() -> None:
    def scaled(r: Any, a: Any) -> Any:
        return a * np.sum(r)

    for n in (2, 3):
        whole, real = pliant.Ref(np.arange(n)), pliant.Ref(np.arange(n) + 0.5)
        assert pliant.jvp(scaled, (whole, 2.0), (None, 1.0)) == (2.0 * np.sum(np.arange(n)), np.sum(np.arange(n)))
        assert pliant.vjp(scaled, whole, 2.0)[1](1.0) == (None, np.sum(np.arange(n)))
        back, _ = pliant.vjp(scaled, real, 2.0)[1](1.0)
        np.testing.assert_array_equal(back, np.full(n, 2.0))


@dataclass
class Line:
    slope: Any
    steps: int


@pytest.mark.parametrize(
    ("primal", "expected"),
    [
        (pliant.Ref(np.ones(2)), r"expected \(Ref\(\*\),\)"),
        (Line(np.ones(2), 3), r"expected \(Line\(slope=\*, steps=None\),\)"),
        ({"b": [1.0, 2], "a": (1.0,)}, r"expected \(\{'a': \(\*,\), 'b': \[\*, None\]\},\)"),
    ],
)
def test_structures_are_named_in_words_of_python(primal: Any, expected: str) -> None:
    with pytest.raises(ArgumentError, match=expected):
        pliant.jvp(lambda p: p, (primal,), (None,))


def test_pullbacks_and_pushforwards_write_into_out() -> None:
    _, pullback = pliant.vjp(lambda a, n: a * n, X, 3)
    _, linear = pliant.linearize(np.sin, X)
    cotangents, tangent = (np.zeros(3), None), np.zeros(3)
    for ct in (X, X + 1, 2 * X):
        assert pullback(ct, out=cotangents) is cotangents
        assert linear(ct, out=tangent) is tangent
        np.testing.assert_array_equal(cotangents[0], 3 * ct)
        np.testing.assert_allclose(tangent, np.cos(X) * ct)
    with pytest.raises(ArgumentError, match=r"out= has structure \*, the results have \(\*, None\)"):
        pullback(X, out=np.zeros(3))


def test_pullbacks_in_compiled_functions_write_into_out() -> None:
    def pulled(x: Any, out: Any) -> Any:
        pliant.vjp(np.sin, x)[1](x, out=(out,))
        return out * 2

    compiled, out = pliant.jit(pulled), np.zeros(3)
    for x in (X, X + 1):
        np.testing.assert_allclose(compiled(x, out), 2 * np.cos(x) * x)
        np.testing.assert_allclose(out, np.cos(x) * x)


def product(x: Any, y: Any) -> Any:
    return np.sum(x * y)


def test_numpys_integers_number_arguments() -> None:
    for one in (np.int64(1), np.int8(-1), np.array(1)):
        np.testing.assert_array_equal(pliant.grad(product, argnums=one)(X, X + 1), X)
    back = pliant.value_and_grad(product, argnums=(np.uint8(1), 0))(X, X + 1)[1]
    np.testing.assert_array_equal(back, [X, X + 1])


@pytest.mark.parametrize("argnums", [None, True, np.True_, "a", 1.0, (0, False), (0, "b"), (None,)])
def test_other_than_integers_number_no_argument(argnums: Any) -> None:
    with pytest.raises(
        ArgumentError, match=r"grad: argnums= takes an integer or a tuple of them(?s:.*)hint: the number"
    ):
        pliant.grad(product, argnums=argnums)(X, X)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_derivatives_of_numbers_in_numbers_are_numbers(mode: str) -> None:
    jacobian = pliant.jacobian(lambda x: (np.sin(x), x * WEIGHTS), mode=mode)
    for x in (0.5, np.float64(1.5), 2.5):
        one, several = jacobian(x)
        second = pliant.hessian(np.sin)(x)
        assert type(one) is type(second) is type(pliant.grad(np.sin)(x)) is np.float64
        np.testing.assert_allclose((one, second), (np.cos(x), -np.sin(x)))
        np.testing.assert_array_equal(several, WEIGHTS)
    assert type(jacobian(np.array(0.5))[0]) is type(pliant.hessian(np.sin)(np.array(0.5))) is np.ndarray


WEIGHTS = np.array([1.0, -2.0])

MIXING = np.array([[1 + 2j, 3 - 1j, 2j], [1j, 1.0, 1 - 1j]])

COMPLEX_RESULTS = {
    "linear": lambda x: MIXING @ x,
    "number": lambda x: np.sum(x * np.arange(3)) * (1 + 2j),
    "transform": np.fft.fft,
    "not holomorphic": lambda x: np.conj(x) * x[::-1] * (1 + 1j),
    "several": lambda x: (np.sum(x**2) * 1j, {"y": x * MIXING}),
    "beside constants": lambda x: (x * 1j, np.ones(2), np.arange(2)),
}


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("f", COMPLEX_RESULTS.values(), ids=COMPLEX_RESULTS)
def test_columns_of_complex_jacobians_are_tangents_along_real_directions(f: Any, dtype: str) -> None:
    x = (X if dtype[0] == "f" else X * (1 - 2j) + 1j).astype(dtype)
    columns = [flat(pliant.jvp(f, (x,), (unit,))[1]) for unit in np.eye(3, dtype=dtype)]
    for mode in ("forward", "reverse", "auto"):
        blocks = flat(pliant.jacobian(f, mode=mode)(x))
        assert [b.dtype for b in blocks] == [dy.dtype for dy in columns[0]]
        for j, block in enumerate(blocks):
            np.testing.assert_allclose(block, np.stack([dys[j] for dys in columns], -1), rtol=1e-5)


def flat(tree: Any) -> list[Any]:
    if isinstance(tree, dict | tuple):
        return [x for part in (tree.values() if isinstance(tree, dict) else tree) for x in flat(part)]
    return [np.asarray(tree)]


@pytest.mark.parametrize("mode", ["forward", "reverse", "auto"])
@pytest.mark.parametrize("f", [lambda z: np.abs(z) ** 2, lambda z: np.sum(z.real), lambda z: (z * 2, z.imag)])
def test_jacobians_of_real_results_of_complex_arguments_are_refused(f: Any, mode: str) -> None:
    expected = (
        r"jacobian: expected complex results of complex arguments, got f64\[(3|)\] of c128\[3\]"
        r"(?s:.*)returned here(?s:.*)hint: pliant.grad and pliant.vjp give ∂/∂Re \+ i·∂/∂Im"
    )
    with pytest.raises(DifferentiationError, match=expected):
        pliant.jacobian(f, mode=mode)(X + 1j)


AT = pliant.vjp(lambda p: {"y": (p * 2, p * 1j)}, X)[1]
ALONG = pliant.linearize(np.sin, X)[1]

COMPLEX_SEEDS = {
    "tangent": (
        lambda: pliant.jvp(np.sin, (X,), (1j * X,)),
        r"jvp: tangents\[0\] has type c128\[3\], expected f64\[3\]",
    ),
    "tangent in a tree": (
        lambda: pliant.jvp(lambda p: p["a"].slope, ({"a": Line(X, 2)},), ({"a": Line(X + 0j, 0)},)),
        r"jvp: tangents\[0\]\['a'\]\.slope has type c128\[3\], expected f64\[3\]",
    ),
    "number": (lambda: pliant.jvp(np.sin, (1.0,), (1j,)), r"jvp: tangents\[0\] has type c128\[\], expected f64\[\]"),
    "hvp": (lambda: pliant.hvp(lambda x: np.sum(x**2))(X, 1j * X), r"hvp: tangents\[0\] has type c128\[3\]"),
    "linearize": (lambda: ALONG(1j * X), r"tangents\[0\] has type c128\[3\], expected f64\[3\]"),
    "cotangent": (lambda: AT({"y": (1j * X, X)}), r"cotangent\['y'\]\[0\] has type c128\[3\], expected f64\[3\]"),
    "inside": (lambda: pliant.jit(lambda ct: pliant.vjp(np.sin, X)[1](ct))(1j * X), r"cotangent has type c128\[3\]"),
}


@pytest.mark.parametrize(("call", "expected"), COMPLEX_SEEDS.values(), ids=COMPLEX_SEEDS)
def test_complex_tangents_and_cotangents_of_what_is_real_are_refused(call: Any, expected: str) -> None:
    with pytest.raises(DTypeError, match=expected + r"(?s:.*)hint: it is real where (its argument|the result) is"):
        call()


def test_real_tangents_and_cotangents_of_what_is_complex_are_cast() -> None:
    np.testing.assert_array_equal(AT({"y": (X, X)})[0], 2 * X)
    np.testing.assert_array_equal(pliant.jvp(lambda z: z * 1j, (X + 1j,), (X,))[1], 1j * X)


def test_seeds_of_another_shape_are_named_by_their_place() -> None:
    with pytest.raises(
        ShapeError, match=r"cotangent\['y'\]\[1\] has type f64\[2\], expected c128\[3\](?s:.*)hint: it has"
    ):
        AT({"y": (X, X[:2])})
    with pytest.raises(ShapeError, match=r"tangents\[1\]\['b'\] has type f64\[\], expected f64\[3\]"):
        pliant.jvp(lambda a, p: p["b"], (X, {"a": 1, "b": X}), (X, {"a": None, "b": 1.0}))


def test_jacobians_of_real_and_complex_arguments_at_once():
    x, z = np.array([1.0, 2.0]), np.array([1 + 2j, 3 - 1j])
    (a, b), (c, d) = pliant.jacobian(lambda x, z: (x * z.sum(), x * 2), argnums=(0, 1))(x, z)
    np.testing.assert_allclose(a, np.eye(2) * z.sum())
    np.testing.assert_allclose(b, x[:, None] * np.ones(2))
    np.testing.assert_allclose(c, 2 * np.eye(2))
    assert not d.any()
    with pytest.raises(DifferentiationError, match="complex results of complex arguments"):
        pliant.jacobian(lambda x, z: x * abs(z).sum(), argnums=(0, 1))(x, z)


def test_hessians_of_real_and_complex_arguments_are_those_of_the_gradient():
    x, z = np.array([1.0, 2.0]), np.array([1 + 2j, 3 - 1j])
    made = pliant.hessian(lambda x, z: (abs(z) ** 2).sum() * (x**2).sum(), argnums=(0, 1))(x, z)
    np.testing.assert_allclose(made[0][0], 2 * (abs(z) ** 2).sum() * np.eye(2))
    np.testing.assert_allclose(made[0][1], 4 * np.outer(x, z.real))
    np.testing.assert_allclose(made[1][0], 4 * np.outer(z, x))
    np.testing.assert_allclose(made[1][1], 2 * (x**2).sum() * np.eye(2))


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_jacobian_of_half_floats_with_complex_results(mode: str):
    made = pliant.jacobian(lambda x: x * np.complex64(1j), mode=mode)(np.array([1, 2], np.float16))
    np.testing.assert_array_equal(made, 1j * np.eye(2))


@dataclass
class Layer:
    """Weights, and how they are used."""

    weights: Any
    activation: str = "tanh"
    is_scaled: Any = True


def applied(layer: Any) -> Any:
    """A scalar of what a layer holds."""
    made = np.tanh(layer.weights) if layer.activation == "tanh" else layer.weights
    return np.sum(made) * (2 if layer.is_scaled else 1)


def test_text_and_flags_beside_floats_have_no_gradient():
    given = Layer(np.array([0.5, -1.0]))
    expected = 2 * (1 - np.tanh(given.weights) ** 2)
    for gradient in (
        pliant.grad(applied)(given),
        pliant.vjp(applied, given)[1](1.0)[0],
        pliant.jacobian(applied)(given),
    ):
        np.testing.assert_allclose(gradient.weights, expected)
        assert gradient.activation is None and gradient.is_scaled is None
    given.activation = "none"
    np.testing.assert_array_equal(pliant.grad(applied)(given).weights, [2.0, 2.0])
    value, gradient = pliant.value_and_grad(lambda x, m: np.sum(x["a"][m]), argnums=0)(
        {"a": np.ones(3), "mask": np.ones(3, bool), "of": None}, np.array([True, False, True])
    )
    assert value == 2.0 and gradient["mask"] is None
    np.testing.assert_array_equal(gradient["a"], [1.0, 0.0, 1.0])


@pytest.mark.parametrize(
    ("args", "argnums", "place"),
    [
        (({"w": X, "b": [0]},), 0, r"got i64\[\] for p\['b'\]\[0\]"),
        ((X, [np.arange(2), X]), (0, 1), r"got i64\[2\] for rest\[0\]"),
        ((X, "tanh"), (0, 1), "got str for rest"),
        ((Layer(3),), 0, r"got i64\[\] for p.weights"),
        (([True, "tanh"],), 0, r"got bool\[\] for p\[0\]"),
    ],
)
def test_what_has_no_derivative_is_named_by_its_place(args: Any, argnums: Any, place: str):
    def f(p: Any, rest: Any = 0.0) -> Any:
        return 0.0

    with pytest.raises(DifferentiationError, match=place):
        pliant.grad(f, argnums)(*args)


def test_parts_of_a_length_known_at_run_time_beside_arrays_have_a_gradient():
    def total(parts: Any) -> Any:
        return (parts[0] ** 2).sum() + (parts[1] ** 2).sum()

    def of_selection(x: Any) -> Any:
        return pliant.grad(total)((x, x[x > 0]))

    def of_block(x: Any, n: Any) -> Any:
        return pliant.vjp(total, (x, x[:n]))[1](1.0)[0]

    def of_one_that_may_be_none(x: Any) -> Any:
        b = None
        if x[0] > 0:
            b = x[1]
        return pliant.grad(lambda parts: parts[0].sum() + parts[1] ** 2)((x, b))

    x = np.array([1.0, -2.0, 3.0])
    whole, part = pliant.jit(of_selection)(x)
    np.testing.assert_array_equal(whole, 2 * x)
    np.testing.assert_array_equal(part, [2.0, 6.0])
    whole, part = pliant.jit(of_block)(x, np.array(2))
    np.testing.assert_array_equal(whole, 2 * x)
    np.testing.assert_array_equal(part, [2.0, -4.0])
    assert pliant.jit(of_one_that_may_be_none)(x)[1] == -4.0


class Net:
    def __init__(self) -> None:
        self.w = np.ones(3)

    def __setattr__(self, name: str, value: Any) -> None:  # which may do anything
        object.__setattr__(self, name, value)

    def __call__(self, x: Any) -> Any:
        return x @ self.w


class Counted:
    def __init__(self) -> None:
        self.w, self.count = np.ones(3), 3


class Weighted:
    def __init__(self) -> None:
        self.weights = [3, 4]


def test_attributes_of_objects_are_named_as_in_python() -> None:
    with pytest.raises(DifferentiationError, match=r"got i64\[\] for net\.weights\[0\]"):
        pliant.grad(lambda net: np.sum(np.array(net.weights) ** 2))(Weighted())


def test_counters_beside_floats_in_objects_have_no_derivative() -> None:
    net = Counted()

    def loss(net: Any) -> Any:
        net.count += 1
        return np.sum(net.w) * net.count

    gradient = pliant.grad(loss)(net)
    assert gradient.count is None
    np.testing.assert_array_equal(gradient.w, np.full(3, 4.0))
    _, tangent = pliant.jvp(loss, (net,), (gradient,))
    assert tangent == 48.0


def test_integers_in_lists_and_dicts_are_still_refused_by_name() -> None:
    with pytest.raises(DifferentiationError, match=r"got i64\[\] for p\['b'\]"):
        pliant.grad(lambda p: p["a"] * p["b"])({"a": 2.0, "b": 3})
    net = Weighted()
    net.weights[0] = 1.5  # type: ignore[call-overload]
    with pytest.raises(DifferentiationError, match=r"got i64\[\] for net\.weights\[1\]"):
        pliant.grad(lambda net: net.weights[0] * net.weights[1])(net)


def test_an_object_that_holds_arrays_is_to_be_a_dataclass() -> None:
    with pytest.raises(
        DifferentiationError, match=r"got Net for net(?s:.*)hint: make Net a dataclass, or pass its arra"
    ):
        pliant.grad(lambda net, x: np.sum(net(x) ** 2))(Net(), np.ones((2, 3)))
