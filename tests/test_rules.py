"""`rule`: equations in plain NumPy, for arrays of any extents."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pliant
from pliant.core.types import Type
from pliant.errors import ArgumentError, RewriteError
from pliant.testing import check_rule

RNG = np.random.default_rng(1)


@pliant.rule(shapes="(n,n),(n,n)")
def trace_of_product(A: Any, B: Any) -> Any:
    """tr(A·B) = Σ A∘Bᵀ."""
    return np.trace(A @ B), np.sum(A * B.T)


@pliant.rule
def half_angle(x: Any) -> Any:
    """sin x·cos x = sin(2x)/2."""
    return np.sin(x) * np.cos(x), np.sin(2 * x) / 2


@pliant.rule
def pythagoras(x: Any) -> Any:
    """sin² + cos² = 1."""
    return np.sin(x) ** 2 + np.cos(x) ** 2, 1.0


@pliant.rule(shapes="(m,k),(n,k)")
def squared_distances(x: Any, y: Any) -> Any:
    """|x − y|² = |x|² − 2x·y + |y|²."""
    left = np.sum((x[:, None] - y[None]) ** 2, -1)
    return left, np.sum(x**2, 1)[:, None] - 2 * x @ y.T + np.sum(y**2, 1)[None]


@pliant.rule(shapes="(n)")
def running_total(x: Any) -> Any:
    """The last of the running sums is the sum."""
    return np.cumsum(x)[-1], np.sum(x)


def fired(f: Any, *args: Any, rules: Any = ()) -> str:
    """The rules that fired."""
    return str(pliant.explain(pliant.optimize(f, (*pliant.RULES, *rules)), *args).rules)


@pytest.mark.parametrize(
    ("rule", "shapes"),
    [
        (trace_of_product, [(6, 6), (6, 6)]),
        (half_angle, [(7,)]),
        (pythagoras, [(4, 2)]),
        (squared_distances, [(6, 2), (9, 2)]),
        (running_total, [(30,)]),
    ],
    ids=lambda x: getattr(x, "name", ""),
)
@pytest.mark.parametrize("dtype", ["f64", "f32"])
def test_rules_in_numpy_are_checked_as_others(rule: Any, shapes: Any, dtype: str) -> None:
    check_rule(rule, *[Type(dtype, s) for s in shapes], rules=(rule,), rtol=1e-4 if dtype == "f32" else 1e-12)


@pytest.mark.parametrize("n", [1, 2, 5, 50])
@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
def test_extents_and_dtypes_are_any(n: int, dtype: str) -> None:
    A, B = RNG.normal(size=(2, n, n)).astype(dtype)
    f = pliant.optimize(lambda A, B: np.trace(A @ B) + 1.0, (*pliant.RULES, trace_of_product))
    got, wanted = f(A, B), np.trace(A @ B) + 1.0
    assert got.dtype == wanted.dtype
    assert_allclose(got, wanted, rtol=1e-4 if dtype == "f4" else 1e-11)


def test_elementwise_rules_are_for_arrays_of_any_shape_and_numbers() -> None:
    for x in (0.3, RNG.normal(size=(3, 4)), RNG.normal(size=(2, 3, 4)).astype("f4")):
        f = pliant.optimize(lambda x: np.sin(x) * np.cos(x) + 1.0, (*pliant.RULES, half_angle))
        assert_allclose(f(x), np.sin(x) * np.cos(x) + 1.0, rtol=1e-6)
        assert "half_angle" in fired(lambda x: np.sin(x) * np.cos(x), x, rules=(half_angle,))


def test_a_number_on_the_right_side_is_an_array_of_it() -> None:
    f = pliant.optimize(lambda x: np.sin(x) ** 2 + np.cos(x) ** 2, (*pliant.RULES, pythagoras))
    made = f(np.ones((2, 3), "f4"))
    assert made.dtype == np.float32
    np.testing.assert_array_equal(made, np.ones((2, 3)))


def test_rules_meet_what_other_rules_make() -> None:
    def f(A: Any, B: Any, s: float) -> Any:
        return np.trace((s * A) @ B) / 2.0

    A, B = RNG.normal(size=(2, 40, 40))
    assert "trace_of_product" in fired(f, A, B, 3.0, rules=(trace_of_product,))
    g = pliant.optimize(f, (*pliant.RULES, trace_of_product))
    assert_allclose(g(A, B, 3.0), f(A, B, 3.0), rtol=1e-10)
    assert_allclose(pliant.grad(g)(A, B, 3.0), 1.5 * B.T, rtol=1e-10)


def test_other_parameters_of_the_same_primitives_are_another_thing() -> None:
    x = RNG.normal(size=30)
    assert "running_total" in fired(lambda x: np.cumsum(x)[-1], x, rules=(running_total,))
    assert "running_total" not in fired(lambda x: np.cumsum(x)[-2], x, rules=(running_total,))
    A = RNG.normal(size=(3, 3))
    assert "trace_of_product" not in fired(lambda A: np.trace(A @ A, 1), A, rules=(trace_of_product,))
    assert "trace_of_product" not in fired(lambda A: np.sum(A @ A), A, rules=(trace_of_product,))


def test_where_sees_shapes_and_dtypes() -> None:
    seen: list[Any] = []

    def is_wide(x: Any) -> bool:
        seen.append((x.shape, x.dtype, x.ndim, x.size))
        return x.shape[-1] > 10

    rule = pliant.rule(lambda x: (np.sin(x) * np.cos(x), np.sin(2 * x) / 2), where=is_wide)
    f = lambda x: np.sin(x) * np.cos(x)  # noqa: E731
    assert rule.name in fired(f, np.ones((2, 11)), rules=(rule,))
    assert rule.name not in fired(f, np.ones((2, 10)), rules=(rule,))
    assert ((2, 11), np.float64, 2, 22) in seen


def test_helpers_and_loops_may_be_used() -> None:
    def power(x: Any, n: int) -> Any:
        y = x
        for _ in range(n - 1):
            y = y * x
        return y

    rule = pliant.rule(lambda x: (np.exp(np.sin(x)) * np.exp(np.sin(x)), np.exp(power(2.0 * np.sin(x), 1))))
    assert rule.left.args


def only(x: Any) -> Any:
    return np.sin(x)


def none_is_left(x: Any) -> Any:
    return x, np.sin(x)


def unbound(x: Any, y: Any) -> Any:
    return np.sin(x), y


def of_axes(x: Any) -> Any:
    return x @ x, np.sum(x * x)


def broken(x: Any) -> Any:
    return np.sin(x), y_with_a_typo  # noqa: F821


def unequal(x: Any) -> Any:
    return np.sin(x), x > 0


def three(x: Any) -> Any:
    return x, x, x


def raises(x: Any) -> Any:
    if x > 0:
        raise ValueError
    return np.sin(x), x


def branches(x: Any) -> Any:
    if x > 0:
        return np.sin(x), np.cos(x)
    return np.cos(x), np.sin(x)


def chooses(x: Any) -> Any:
    y = np.sin(x) if x > 0 else np.cos(x)
    return y + 1.0, x


WRONG = [
    (branches, "has a left side that depends on an `if`"),
    (chooses, "has a left side that depends on an `if`"),
    (only, "returns something else than two arrays: left, right"),
    (three, "returns something else than two arrays"),
    (none_is_left, "has a left side that is no operation on arrays"),
    (of_axes, "raises .*: matmul"),
    (broken, "raises NameError: name 'y_with_a_typo' is not defined"),
    (unequal, r"has sides of types f64\[\] and bool\[\]"),
    (unbound, "has a left side that does not say what y is"),
    (raises, "writes to an array or raises an exception; it is an equation"),
]


@pytest.mark.parametrize(("f", "message"), WRONG, ids=lambda x: getattr(x, "__name__", ""))
def test_what_is_no_equation_is_said_with_its_line(f: Any, message: str) -> None:
    with pytest.raises(RewriteError, match=f"rule {f.__name__} {message}") as error:
        pliant.optimize(np.sin, (pliant.rule(f),))(np.ones(3))
    assert f"def {f.__name__}" in str(error.value)


def test_arguments_cannot_be_written() -> None:
    def writes(x: Any) -> Any:
        x[...] = 1.0
        return np.sin(x), x

    with pytest.raises(RewriteError, match="writes to an array that it is given; it is an equation") as error:
        pliant.optimize(np.sin, (pliant.rule(writes, shapes="(n)"),))(np.ones(3))
    assert "x[...] = 1.0" in str(error.value)


def test_rules_are_pickled_by_name() -> None:
    assert pickle.loads(pickle.dumps(half_angle)) is half_angle
    assert pickle.loads(pickle.dumps(pliant.RULES)) == pliant.RULES
    with pytest.raises(pickle.PicklingError, match="can't pickle rule <lambda>"):
        pickle.dumps(pliant.rule(lambda x: (np.sin(x), x)))


def test_sides_of_other_types_are_said() -> None:
    @pliant.rule(shapes="(n)")
    def wrong(x: Any) -> Any:
        return np.sin(x), np.sum(x, keepdims=True)

    with pytest.raises(RewriteError, match=r"rule wrong has sides of types f64\[3\] and f64\[1\]"):
        pliant.optimize(np.sin, (wrong,))(np.ones(3))


def test_shapes_are_conditions() -> None:
    x, A = RNG.normal(size=9), RNG.normal(size=(4, 4))
    last = pliant.rule(lambda x: (np.sort(x)[2], np.max(x)), shapes="(3)")
    assert pliant.optimize(lambda x: np.sort(x)[2], (last,))(x) == np.sort(x)[2]
    assert pliant.optimize(lambda x: np.sort(x)[2], (last,))(x[:3]) == np.max(x[:3])
    swapped = pliant.rule(lambda x, y: ((x @ y) * np.tanh(x @ y), np.sin(y @ x)), shapes="(n),(n)")
    f = lambda x: (x @ x) * np.tanh(x @ x)  # noqa: E731
    assert_allclose(pliant.optimize(f, (swapped,))(A), f(A), rtol=1e-12)
    assert "swapped" not in swapped.name and swapped.name in fired(f, x, rules=(swapped,))
    norm = pliant.rule(lambda x: (np.linalg.norm(x) ** 2, x @ x), shapes="(n)")
    assert_allclose(pliant.optimize(lambda A: np.linalg.norm(A) ** 2, (*pliant.RULES, norm))(A), np.sum(A * A))
    square = pliant.rule(lambda A: (np.trace(A @ A), np.sum(A * A.T)), shapes="(n,n)")
    assert square.name in fired(lambda A: np.trace(A @ A), A, rules=(square,))


def test_rules_for_whole_numbers_and_truths() -> None:
    halves = pliant.rule(lambda x: (x // 2, x >> 1), where=lambda x: x.dtype.kind in "iu")
    twice = pliant.rule(lambda x, y: (~(~x & ~y), x | y), where=lambda x, y: x.dtype == bool)
    n, b = np.arange(-5, 6), np.array([True, False, True])
    np.testing.assert_array_equal(pliant.optimize(lambda x: x // 2, (halves,))(n), n // 2)
    assert halves.name in fired(lambda x: x // 2, n.astype("u2"), rules=(halves,))
    assert pliant.optimize(lambda x: x // 2, (halves,))(5.0) == 2.0
    assert twice.name in fired(lambda x, y: ~(~x & ~y), b, ~b, rules=(twice,))


def test_rules_of_operands_in_any_order() -> None:
    x, y = RNG.normal(size=(2, 30))
    length = pliant.rule(lambda x, y: (np.hypot(x, y), np.sqrt(x * x + y * y)))
    addition = pliant.rule(lambda x, y: (np.sin(x) * np.cos(y) + np.cos(x) * np.sin(y), np.sin(x + y)))
    product = pliant.rule(lambda x: (x * np.tanh(x), np.abs(x) * np.abs(np.tanh(x))))
    sine = pliant.rule(lambda x: (np.log(x + np.sqrt(x * x + 1)), np.arcsinh(x)))
    for f, rule in [
        (lambda x, y: np.hypot(x, y), length),
        (lambda x, y: np.hypot(y, x), length),
        (lambda x, y: np.sin(x) * np.cos(y) + np.cos(x) * np.sin(y), addition),
        (lambda x, y: np.sin(x) * np.cos(y) + np.sin(y) * np.cos(x), addition),
        (lambda x, y: np.tanh(x) * x + y, product),
        (lambda x, y: np.log(np.sqrt(1 + x**2) + x) + y, sine),
    ]:
        assert f"{rule.name} ×" in str(pliant.explain(pliant.optimize(f, (*pliant.RULES, rule)), x, y).rules)
        assert_allclose(pliant.optimize(f, (*pliant.RULES, rule))(x, y), f(x, y), rtol=1e-9)


def test_the_right_side_is_of_the_dtype_of_the_left() -> None:
    rule = pliant.rule(lambda x: (np.exp(x) * 2, np.exp(x + np.log(2))))
    made = pliant.optimize(lambda x: np.exp(x) * 2, (rule,))(np.ones(3, "f4"))
    assert made.dtype == np.float32
    root = pliant.rule(lambda x: (np.sqrt(x * x), np.abs(x)))  # not of complex numbers, whose abs is real
    z = np.array([1 + 2j, -3j])
    assert_allclose(pliant.optimize(lambda x: np.sqrt(x * x), (root,))(z), np.sqrt(z * z))


def test_conditions_that_fail_are_said() -> None:
    rule = pliant.rule(lambda x: (np.sin(x), x), where=lambda x: (x > 0).all())
    with pytest.raises(RewriteError, match=r"asks where= for arrays like .* which raises TypeError"):
        pliant.optimize(np.sin, (rule,))(np.ones(3))


@pytest.mark.parametrize(
    ("options", "message"), [({"level": "good"}, "level= is one of"), ({"where": 3}, "where= takes")]
)
def test_options_that_are_none_are_refused(options: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        pliant.rule(lambda x: (np.sin(x), x), **options)


def test_functions_that_take_no_arrays_by_position_are_refused() -> None:
    for f in (lambda: (1, 2), lambda *x: (x, x), lambda *, x: (x, x)):
        with pytest.raises(ArgumentError, match="expected a function of arrays by position"):
            pliant.rule(f)


def test_rules_are_shown_by_name_and_place() -> None:
    assert repr(half_angle).startswith("<rule half_angle test_rules.py:")


@pytest.mark.parametrize("shapes", ["n,m", "(m),(n) hello", [(3,), (3,)], "(n),(n)->()", "(n", ""])
def test_shapes_are_pairs_of_parentheses(shapes: Any) -> None:
    with pytest.raises(ArgumentError, match=r"shapes=.* is no list of shapes"):
        pliant.rule(lambda x, y: (x @ y, y @ x), shapes=shapes)


@pytest.mark.parametrize("shapes", ["(n)", "(n),(n),(n)"])
def test_as_many_shapes_as_parameters(shapes: str) -> None:
    with pytest.raises(ArgumentError, match=r"names \d shapes, of 2 parameters"):
        pliant.rule(lambda x, y: (x @ y, y @ x), shapes=shapes)


@pliant.rule(shapes="(n,n)")
def times_eye(A: Any) -> Any:
    """A·I = A."""
    return A @ np.eye(A.shape[0]), A


@pliant.rule(shapes="(n)")
def running_totals(x: Any) -> Any:
    """The sum of the running sums weighs each element by how many sums it is in."""
    return np.sum(np.cumsum(x)), np.sum(x * np.arange(x.shape[0], 0, -1))


@pliant.rule(shapes="(3)")
def weighted(x: Any) -> Any:
    """A product with few numbers."""
    return x @ np.array([1.0, 5.0, 2.0]), x[0] + 5 * x[1] + 2 * x[2]


@pytest.mark.parametrize("n", [1, 2, 5, 40])
@pytest.mark.parametrize(
    ("f", "rule", "fires"),
    [
        (lambda A: np.sum(A @ np.eye(A.shape[0]), 0), times_eye, True),
        (lambda A: np.sum(A @ np.eye(A.shape[0], dtype="f4"), 0), times_eye, False),
        (lambda A: np.sum(A @ np.eye(A.shape[0], k=1), 0), times_eye, False),
        (lambda A: np.sum(A @ np.diag(2.0 + np.arange(A.shape[0])), 0), times_eye, False),
        (lambda A: np.sum(np.cumsum(A[0])), running_totals, True),
    ],
)
def test_constant_arrays_are_parts_of_rules(f: Any, rule: Any, fires: bool, n: int) -> None:
    A = RNG.normal(size=(n, n))
    g = pliant.optimize(f, (*pliant.RULES, rule))
    assert_allclose(g(A), f(A), rtol=1e-10, atol=1e-12)
    assert_allclose(pliant.grad(lambda A: np.sum(g(A) * 2.0))(A), pliant.grad(lambda A: np.sum(f(A) * 2.0))(A))
    if n > 1:  # an array of one element is a number
        assert (rule.name in fired(f, A, rules=(rule,))) is fires


def test_numbers_of_constant_arrays_count() -> None:
    x, rules = RNG.normal(size=3), (weighted,)
    assert "weighted" in fired(lambda x: x @ np.array([1.0, 5.0, 2.0]) + 1, x, rules=rules)
    assert "weighted" not in fired(lambda x: x @ np.array([1.0, 5.0, 2.5]) + 1, x, rules=rules)
    outside = np.array([1.0, 5.0, 2.0])
    f = pliant.optimize(lambda x: x @ outside, (*pliant.RULES, weighted))
    assert_allclose(f(x), x @ outside)
    outside[1] = 7.0
    assert_allclose(f(x), x @ outside)


def test_rules_with_constant_arrays_are_checked_as_others() -> None:
    check_rule(times_eye, Type("f64", (6, 6)), rules=(times_eye,))
    check_rule(running_totals, Type("f64", (6,)), rules=(running_totals,))
    check_rule(weighted, Type("f64", (3,)), rules=(weighted,))


def test_constant_arrays_meet_in_long_programs() -> None:
    def f(A: Any) -> Any:
        y = A
        for n in range(700):
            y = np.sin(y) * (n + 1.5)
        return np.sum(y @ np.eye(A.shape[0]))

    A = RNG.normal(size=(3, 3))
    assert "times_eye" in str(pliant.explain(pliant.optimize(f, (times_eye,)), A).rules)


def test_arrays_from_outside_are_no_part_of_a_rule() -> None:
    outside = np.ones(3)
    many = pliant.rule(lambda x: (np.sum(x) + np.sum(x[0] * np.cos(np.arange(90))), x[0]), shapes="(n)")
    rule = pliant.rule(lambda x: (x * outside, x), shapes="(n)")
    with pytest.raises(RewriteError, match="reads an array from outside, which may change"):
        pliant.optimize(np.sin, (rule,))(np.ones(3))
    with pytest.raises(RewriteError, match="has a constant array of many numbers without order"):
        pliant.optimize(np.sin, (many,))(np.ones(3))


@pliant.rule(shapes="(n)")
def weights(x: Any) -> Any:
    """The sum of the running sums, the other way round."""
    return np.sum(x * np.arange(x.shape[0], 0, -1)), np.sum(np.cumsum(x))


@pliant.rule(shapes="(n)")
def centred(x: Any) -> Any:
    """The deviations from the mean sum to 0."""
    return np.sum(x - np.mean(x)), 0.0


@pliant.rule(shapes="(m,n)")
def mean_of_means(x: Any) -> Any:
    """Means of equally many are summed."""
    return np.mean(np.mean(x, 0)) * x.shape[1], np.sum(x) / x.shape[0]


@pliant.rule(shapes="(n)")
def steiner(x: Any) -> Any:
    """The mean square about the mean."""
    return np.var(x), np.mean(x * x) - np.mean(x) ** 2


@pytest.mark.parametrize("n", [1, 2, 3, 5, 7, 40])
@pytest.mark.parametrize(
    ("f", "rule", "fires"),
    [
        (lambda x: np.sum(x[0] * np.arange(x.shape[1], 0, -1)), weights, True),
        (lambda x: np.sum(x[0] * np.arange(x.shape[1] + 1, 1, -1)), weights, False),
        (lambda x: np.sum(x[0] - np.mean(x[0])), centred, True),
        (lambda x: np.sum(x[0] - np.sum(x[0]) / (x.shape[1] + 1)), centred, False),
        (lambda x: np.mean(np.mean(x, 0)) * x.shape[1], mean_of_means, True),
        (lambda x: np.mean(np.mean(x, 0)) * (x.shape[1] + 2), mean_of_means, False),
        (lambda x: np.var(x[0]), steiner, True),
        (lambda x: np.var(x[0], ddof=-1), steiner, False),
    ],
)
def test_numbers_that_are_extents_are_those_at_hand(f: Any, rule: Any, fires: bool, n: int) -> None:
    x = RNG.normal(size=(4, n))
    g = pliant.optimize(f, (*pliant.RULES, rule))
    assert_allclose(g(x), f(x), rtol=1e-10, atol=1e-12)
    if n > 1:
        assert (rule.name in fired(f, x, rules=(rule,))) is fires


def test_rules_with_extents_are_checked_as_others() -> None:
    check_rule(weights, Type("f64", (6,)), rules=(weights,))
    check_rule(mean_of_means, Type("f64", (6, 4)), rules=(mean_of_means,))
    check_rule(steiner, Type("f64", (6,)), rules=(steiner,))


def test_loops_over_an_axis_are_refused() -> None:
    def total(x: Any) -> Any:
        s = 2 * x[0]
        for i in range(1, x.shape[0]):
            s = s + 2 * x[i]
        return s, 2 * np.sum(x)

    with pytest.raises(RewriteError, match="has a left side of other operations for other extents") as error:
        pliant.optimize(np.sin, (pliant.rule(total, shapes="(n)"),))(np.ones(3))
    assert "loops over an axis are written out" in str(error.value)
    three = pliant.rule(total, shapes="(3)")
    assert "total" in fired(lambda x: 2 * x[0] + 2 * x[1] + 2 * x[2] + np.sin(x[0]), np.ones(3), rules=(three,))


@pliant.rule(shapes="(n,n)")
def log_determinant(S: Any) -> Any:
    """Of a transposed matrix."""
    return np.linalg.slogdet(S.T)[1], np.linalg.slogdet(S)[1]


@pliant.rule(shapes="(m,n)")
def factors(A: Any) -> Any:
    """Q·R = A."""
    q, r = np.linalg.qr(A)
    return q @ r, A


@pliant.rule(shapes="(m,n)")
def gram(A: Any) -> Any:
    """Rᵀ·R = Aᵀ·A."""
    r = np.linalg.qr(A)[1]
    return r.T @ r, A.T @ A


@pliant.rule(shapes="(n,n)")
def sum_of_eigenvalues(A: Any) -> Any:
    """Σ λ = tr A."""
    return np.sum(np.linalg.eigh(A)[0]), np.trace(A)


@pytest.mark.parametrize(
    ("f", "rule", "fires"),
    [
        (lambda S: np.linalg.slogdet(S.T)[1] + 1, log_determinant, True),
        (lambda S: np.linalg.slogdet(S.T)[0] * np.cos(np.linalg.det(S)), log_determinant, True),
        (lambda S: (lambda q, r: q @ r)(*np.linalg.qr(S)), factors, True),
        (lambda S: (lambda q, r: r @ q)(*np.linalg.qr(S)), factors, False),
        (lambda S: (lambda q, r: q @ r.T)(*np.linalg.qr(S)), factors, False),
        (lambda S: (lambda q, r: (r.T @ r) * q)(*np.linalg.qr(S)), gram, True),
        (lambda S: (lambda q, r: q.T @ q)(*np.linalg.qr(S)), gram, False),
        (lambda S: np.sum(np.linalg.eigh(S)[0]), sum_of_eigenvalues, True),
        (lambda S: np.sum(np.linalg.eigvalsh(S)), sum_of_eigenvalues, True),
        (lambda S: (lambda w, v: np.sum(w) + np.abs(v[0, 0]))(*np.linalg.eigh(S)), sum_of_eigenvalues, True),
        (lambda S: np.sum(np.linalg.eigh(S)[1]), sum_of_eigenvalues, False),
    ],
)
def test_results_of_primitives_with_several_are_told_apart(f: Any, rule: Any, fires: bool) -> None:
    S = RNG.normal(size=(4, 4))
    S = S @ S.T
    assert (rule.name in fired(f, S, rules=(rule,))) is fires
    assert_allclose(pliant.optimize(f, (*pliant.RULES, rule))(S), f(S), rtol=1e-9, atol=1e-9)


def test_rules_of_several_results_are_checked_as_others() -> None:
    check_rule(log_determinant, Type("f64", (4, 4)), rules=(log_determinant,), rtol=1e-8)
    check_rule(factors, Type("f64", (5, 3)), rules=(factors,), rtol=1e-8)
    check_rule(gram, Type("f64", (3, 3)), rules=(gram,), rtol=1e-8)


@pliant.rule(shapes="(n),(m)", where=lambda x, i: i.dtype.kind == "i")
def read_first(x: Any, i: Any) -> Any:
    """What is read is few."""
    return np.exp(x)[i], np.exp(x[i])


@pliant.rule(shapes="(n),(m)")
def read_first_of_any(x: Any, i: Any) -> Any:
    """The same, without a condition."""
    return np.exp(x)[i], np.exp(x[i])


@pliant.rule(shapes="(n),(n)", where=lambda c, x: c.dtype == bool)
def masked_sum(c: Any, x: Any) -> Any:
    """A sum over a mask is a product."""
    return np.sum(np.where(c, x, 0.0)), c @ x


@pliant.rule(shapes="(n),(n),()", where=lambda c, x, k: (c.dtype, k.dtype.kind) == (bool, "i"))
def chosen_power(c: Any, x: Any, k: Any) -> Any:
    """Of three dtypes."""
    return np.where(c, x, 1.0) ** k, np.where(c, x**k, 1.0)


@pytest.mark.parametrize("rule", [read_first, read_first_of_any])
def test_parameters_may_be_of_several_dtypes(rule: Any) -> None:
    f = lambda x, i: np.exp(x)[i] + 1.0  # noqa: E731
    for x in (RNG.normal(size=9), RNG.normal(size=9).astype("f4")):
        i = np.array([3, 3, -1])
        assert rule.name in fired(f, x, i, rules=(rule,))
        assert_allclose(pliant.optimize(f, (*pliant.RULES, rule))(x, i), f(x, i), rtol=1e-6)


def test_conditions_choose_the_dtypes_that_a_rule_is_looked_at_with() -> None:
    x, c = RNG.normal(size=9), RNG.normal(size=9) > 0
    f = lambda c, x: np.sum(np.where(c, x, 0.0))  # noqa: E731
    assert "masked_sum" in fired(f, c, x, rules=(masked_sum,))
    for mask in (c, x, c.astype("i4")):
        assert_allclose(pliant.optimize(f, (*pliant.RULES, masked_sum))(mask, x), f(mask, x))
    g = lambda c, x, k: np.where(c, x, 1.0) ** k  # noqa: E731
    assert "chosen_power" in fired(g, c, x, 3, rules=(chosen_power,))
    assert_allclose(pliant.optimize(g, (*pliant.RULES, chosen_power))(c, x, 3), g(c, x, 3))
    check_rule(read_first, Type("f64", (4,)), Type("i64", (2,)), rules=(read_first,))
    check_rule(masked_sum, Type("bool", (4,)), Type("f64", (4,)), rules=(masked_sum,))


def test_the_right_side_may_have_branches() -> None:
    def magnitude(x: Any) -> Any:
        return np.sqrt(x * x), (x if x > 0 else -x)

    def chosen(x: Any) -> Any:
        return np.where(x > 0, np.exp(x), np.exp(-x)), np.exp(np.abs(x))

    x = np.linspace(-1.0, 1.0, 5)
    for rule, f in ((magnitude, lambda x: np.sqrt(x * x)), (chosen, lambda x: chosen(x)[0])):
        np.testing.assert_allclose(pliant.optimize(f, (pliant.rule(rule),))(x), f(x))
