"""`ufunc.at` and `x.at[i]`: NumPy's values, places named several times included, and exact derivatives."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import pliant
from pliant.errors import ArgumentError, DTypeError, IndexRangeError, ReadOnlyError, ShapeError, UnsupportedError
from pliant.frontend.functions.at import AT
from pliant.testing import check_gradient

BACKENDS = ("reference", "llvm")
DTYPES = ("f8", "f4", "i8", "i4", "u1", "u8", "?", "c16")
KEYS: dict[str, Any] = {
    "repeated places": [1, 1, 0, 3, 1],
    "each place once": np.array([4, 0, 2]),
    "negative places": np.array([-1, 4, -5]),
    "a mask": np.array([True, False, True, True, False]),
    "a slice": slice(1, None, 2),
    "reversed": slice(None, None, -1),
    "one place": 2,
    "all": ...,
    "no place": np.zeros(0, int),
}
SMOOTH = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide, "power": np.power,
    "maximum": np.maximum, "minimum": np.minimum, "fmax": np.fmax, "logaddexp": np.logaddexp, "arctan2": np.arctan2,
    "hypot": np.hypot, "copysign": np.copysign,
}  # fmt: skip


def numbers(dtype: str, n: int, seed: int = 0) -> Any:
    made = np.random.default_rng(seed).uniform(0.5, 3, n)
    return (
        (made * (1 + 0.5j)).astype(dtype) if dtype[0] == "c" else (made > 1.5 if dtype == "?" else made.astype(dtype))
    )


def numpys(ufunc: np.ufunc, x: Any, *rest: Any) -> Any:
    """x after NumPy's `ufunc.at`; None where NumPy has none for these dtypes."""
    made = x.copy()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            ufunc.at(made, *rest)
        except (TypeError, ValueError):
            return None
    return made


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("ufunc", AT, ids=lambda u: u.__name__)
def test_every_ufunc_updates_as_numpys(ufunc: np.ufunc, backend: str) -> None:
    places = np.array([1, 1, 4, 0, 1])
    for dtype in DTYPES:
        x, given = numbers(dtype, 5), [numbers(dtype, 5, 1)][: ufunc.nin - 1]
        wanted = numpys(ufunc, x, places, *given)
        if wanted is None or (ufunc is np.ldexp and dtype[0] != "f"):
            continue

        def f(x: Any, *given: Any) -> None:
            ufunc.at(x, places, *given)

        made = x.copy()
        with np.errstate(all="ignore"):
            pliant.jit(f, backend=backend)(made, *given)
        if dtype != "c16" and ufunc in SMOOTH.values() and ufunc not in (np.power, np.logaddexp, np.arctan2, np.hypot):
            assert_array_equal(made, wanted, err_msg=dtype)
        assert_allclose(made, wanted, rtol=1e-5 if dtype == "f4" else 1e-12, err_msg=dtype)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("key", KEYS.values(), ids=[*KEYS])
@pytest.mark.parametrize("ufunc", [np.add, np.subtract, np.multiply, np.maximum, np.negative], ids=lambda u: u.__name__)
def test_every_form_of_index(ufunc: np.ufunc, key: Any, backend: str) -> None:
    def f(x: Any, y: Any) -> None:
        ufunc.at(x, key, *([y] if ufunc.nin == 2 else []))
        ufunc.at(x, key, *([3] if ufunc.nin == 2 else []))

    x = np.arange(1.0, 6)
    ours, theirs = x.copy(), x.copy()
    y = np.arange(float(np.size(x[key]))).reshape(np.shape(x[key]))
    pliant.jit(f, backend=backend)(ours, y)
    f(theirs, y)
    assert_array_equal(ours, theirs)


@pytest.mark.parametrize("backend", BACKENDS)
def test_places_in_matrices(backend: str) -> None:
    def f(x: Any, i: Any, y: Any) -> Any:
        np.multiply.at(x, (i, slice(None, 2)), y)
        np.divide.at(x, (slice(None), i), 2)
        np.power.at(x, ([0, 0], [1, 1]), [2, 3])
        np.maximum.at(x.T, i, 1.5)
        np.subtract.at(x[1:], (i - 1, None), np.ones(3))
        return x[0]

    rng = np.random.default_rng(0)
    x, i, y = rng.uniform(1, 2, (3, 3)), np.array([1, 1, 2]), rng.uniform(1, 2, (3, 2))
    ours, theirs = x.copy(), x.copy()
    assert_allclose(pliant.jit(f, backend=backend)(ours, i, y), f(theirs, i, y), rtol=1e-14)
    assert_allclose(ours, theirs, rtol=1e-14)


@pytest.mark.parametrize("dtype", ["i8", "i1", "f4"])
def test_each_update_is_computed_in_numpys_dtype_and_converted_back(dtype: str) -> None:
    def f(x: Any, y: Any) -> None:
        np.add.at(x, [0, 0, 2], 0.5)
        np.add.at(x, [0, 0, 2], y)
        np.multiply.at(x, [1, 1, 2], 1.6)
        np.add.at(x, [1, 1, 1], 300)

    ours, theirs = np.arange(1, 4).astype(dtype), np.arange(1, 4).astype(dtype)
    y = np.array([0.25, 1.75, 0.1])
    with np.errstate(all="ignore"):
        pliant.jit(f)(ours, y)
        f(theirs, y)
    assert_array_equal(ours, theirs)


@pytest.mark.parametrize("name", SMOOTH)
def test_gradients_with_repeated_places(name: str) -> None:
    ufunc, weights = SMOOTH[name], np.array([1.0, 10.0, 100.0])

    def of(x: Any, i: Any, y: Any) -> Any:
        x = x.copy()
        ufunc.at(x, i, y)
        return (weights * x).sum() + (x**2).sum()

    x, i, y = np.array([1.2, 0.7, 2.1]), np.array([1, 1, 0, 1]), np.array([1.4, 2.3, 0.6, 1.9])
    check_gradient(of, x, i, y, argnums=0, rtol=1e-5)
    check_gradient(of, x, i, y, argnums=2, rtol=1e-5)
    if name not in ("maximum", "minimum", "fmax", "copysign"):
        check_gradient(lambda x, i, y: (pliant.grad(of, 2)(x, i, y) ** 2).sum(), x, i, y, argnums=2, rtol=1e-4)


@pytest.mark.parametrize("zeros", [0, 1, 2, 3])
def test_products_with_zeros_have_exact_derivatives(zeros: int) -> None:
    y = np.array([2.0, 3.0, 5.0])
    y[:zeros] = 0

    def f(x: Any, y: Any) -> Any:
        x = x.copy()
        np.multiply.at(x, [0, 0, 0], y)
        return x[0]

    x = np.array([7.0])
    gx, gy = pliant.grad(f, (0, 1))(x, y)
    assert_array_equal(gx, [np.prod(y)])
    assert_array_equal(gy, [7 * np.prod(np.delete(y, k)) for k in range(3)])
    hessian = [[0 if j == k else 7 * np.prod(np.delete(y, [j, k])) for k in range(3)] for j in range(3)]
    assert_array_equal(pliant.hessian(f, 1)(x, y), hessian)
    _, forward = pliant.jvp(f, (x, y), (np.zeros(1), np.ones(3)))
    assert_allclose(forward, gy.sum())


def test_a_batch_is_a_loop_whichever_operand_is_stacked() -> None:
    def f(x: Any, i: Any, y: Any) -> Any:
        x = x.copy()
        np.multiply.at(x, i, y)
        np.minimum.at(x, i, 1.5)
        return x

    rng = np.random.default_rng(0)
    xs, indices, ys = rng.uniform(1, 2, (4, 3)), rng.integers(0, 3, (4, 5)), rng.uniform(1, 2, (4, 5))
    for axes in ((0, None, None), (None, 0, None), (None, None, 0), (0, 0, 0), (0, None, 0)):
        full = [a if axis is not None else a[0] for a, axis in zip((xs, indices, ys), axes, strict=True)]
        wanted = [f(*(a[n] if axis is not None else a for a, axis in zip(full, axes, strict=True))) for n in range(4)]
        assert_allclose(pliant.vmap(f, axes)(*full), wanted, rtol=1e-14)
        scale = pliant.vmap(pliant.grad(lambda x, i, y: f(x, i, y).sum()), axes)(*full)
        assert scale.shape == (4, 3)


@pytest.mark.parametrize("traced", [False, True])
def test_updates_out_of_place(traced: bool) -> None:
    def f(x: Any, y: Any) -> Any:
        key = np.array([1, 1, 0])
        part = pliant.at(x, key)
        made = [
            part.add(y),
            part.subtract(y),
            part.multiply(y),
            part.divide(y),
            part.power(2),
            part.min(y),
            part.max(y),
        ]
        return (*made, part.set(y), part.get(), part.apply(np.negative), part.apply(np.hypot, 1), part.apply(_halved))

    x, y = np.array([1.0, 2.0, 3.0]), np.array([2.0, 3.0, 0.5])
    made = (pliant.jit(f) if traced else f)(x, y)
    ufuncs: list[tuple[np.ufunc, Any]] = [
        (np.add, y), (np.subtract, y), (np.multiply, y), (np.divide, y), (np.power, 2), (np.minimum, y), (np.maximum, y),
    ]  # fmt: skip
    for got, (ufunc, operand) in zip(made, ufuncs, strict=False):
        assert_array_equal(got, numpys(ufunc, x, [1, 1, 0], operand))
    assert_array_equal(made[7], [0.5, 3, 3])
    assert_array_equal(made[8], [2, 2, 1])
    assert_array_equal(made[9], [-1, 2, 3])
    assert_allclose(made[10], numpys(np.hypot, x, [1, 1, 0], 1))
    assert_array_equal(made[11], [0.5, 0.5, 3])
    assert_array_equal(x, [1, 2, 3])


def _halved(v: Any) -> Any:
    return v / 2


def test_at_of_an_array_has_the_same_methods() -> None:
    def f(x: Any) -> Any:
        return x.at[1:].multiply(2), x.at[x > 1].power(2), x.at[[0, 0]].apply(lambda v: np.sin(v) + 1)

    double, squares, sines = pliant.jit(f)(np.array([1.0, 2.0, 3.0]))
    assert_array_equal(double, [1, 4, 6])
    assert_array_equal(squares, [1, 4, 9])
    assert_allclose(sines, [np.sin(np.sin(1) + 1) + 1, 2, 3], rtol=1e-14)


def test_a_captured_array_is_updated_in_place() -> None:
    table = np.ones(3)

    def f(i: Any, y: Any) -> None:
        np.multiply.at(table, i, y)

    pliant.jit(f)(np.array([0, 0, 2]), 3.0)
    assert_array_equal(table, [9, 1, 3])


REFUSED: list[tuple[type[Exception], str, Callable[[Any], Any]]] = [
    (IndexRangeError, "index 5", lambda x: np.multiply.at(x, [0, 5], 1)),
    (ShapeError, "broadcast", lambda x: np.multiply.at(x, [0, 1], [1.0, 2.0, 3.0])),
    (ValueError, "single output", lambda x: np.modf.at(x, [0])),
    (ValueError, "second operand", lambda x: np.negative.at(x, [0], 1)),
    (ArgumentError, "first operand must be array", lambda x: np.multiply.at([1.0, 2.0], [0], x[0])),
    (DTypeError, "not defined", lambda x: np.bitwise_and.at(x, [0], 1)),
    (ShapeError, "cannot assign 3 input values to the 0 output values", lambda x: np.multiply.at(x, x > 5, x)),
    (UnsupportedError, "one number to one number", lambda x: x.at[0].apply(lambda v: x[1])),
    (ArgumentError, "takes a second operand", lambda x: x.at[0].apply(_halved, 1)),
    (ReadOnlyError, "read-only", lambda x: np.multiply.at(np.broadcast_to(x, (2, 3)), 0, 1)),
]


@pytest.mark.parametrize(("error", "message", "f"), REFUSED, ids=[r[1] for r in REFUSED])
def test_what_numpy_refuses_is_refused(error: type[Exception], message: str, f: Callable[[Any], Any]) -> None:
    x = np.ones(3)
    with pytest.raises(error, match=message):
        pliant.jit(f)(x)
    assert_array_equal(x, np.ones(3))


def test_an_index_out_of_range_is_noticed_when_the_program_runs() -> None:
    f = pliant.jit(lambda x, i: np.multiply.at(x, i, 2))
    x = np.ones(3)
    with pytest.raises(IndexRangeError, match="index 3"):
        f(x, np.array([0, 3]))
    assert_array_equal(x, np.ones(3))
    f(x, np.array([0, 2]))
    assert_array_equal(x, [2, 1, 2])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("ufunc", [np.equal, np.less, np.greater_equal], ids=lambda u: u.__name__)
def test_integers_without_a_common_dtype_are_compared_by_their_numbers(ufunc: np.ufunc, backend: str) -> None:
    def f(x: Any, y: Any) -> Any:
        x = x.copy()
        ufunc.at(x, [0, 1, 1, 2], y)
        return x

    x, y = np.array([2**63 + 1, 3, 0], np.uint64), np.array([-1, 3, 1, 0])
    assert_array_equal(pliant.jit(f, backend=backend)(x, y), f(x, y))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("n", [-1, 2], ids=["negative", "positive"])
@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_negative_powers_raise_where_they_are_used(key: Any, n: int, backend: str) -> None:
    def f(x: Any, n: Any) -> None:
        np.power.at(x, key, n)

    x = np.arange(1, 6)
    for given in (n, np.full(np.shape(x[key]), n)):
        for call in (f, pliant.jit(f, backend=backend)):
            made = x.copy()
            if n < 0 and x[key].size:
                with pytest.raises(ValueError, match="negative integer powers"):
                    call(made, given)
            else:
                call(made, given)
                wanted = x.copy()
                np.power.at(wanted, key, given)
                assert_array_equal(made, wanted)


def test_negative_powers_that_a_mask_leaves_out_do_not_raise() -> None:
    x, mask = np.array([2, 3]), np.zeros(2, bool)
    f = pliant.jit(lambda x, mask: np.power.at(x, mask, -1))
    f(x, mask)
    assert_array_equal(x, [2, 3])
    with pytest.raises(ValueError, match="negative integer powers"):
        f(x, ~mask)


def test_what_raises_in_a_step_says_so() -> None:
    with pytest.raises(UnsupportedError, match="in a function that is called many times"):
        pliant.jit(lambda x: x.at[1].apply(lambda v: v**v))(np.arange(1, 4))


@pytest.mark.parametrize("call", [lambda f, x: f(x), lambda f, x: pliant.jit(f)(x)])
def test_a_row_of_another_shape_and_a_method_that_is_not_there_are_named_everywhere(call: Any) -> None:
    with pytest.raises(
        ShapeError, match=r"could not broadcast (float64|f64)\[3\] to shape \(2,\)\n.*in <lambda>: here"
    ):
        call(lambda x: pliant.at(x, [0, 1]).add(np.ones(3)), np.zeros(5))
    with pytest.raises(
        AttributeError, match="has no attribute 'mul': its methods are get, set, add, subtract, multiply"
    ):
        call(lambda x: pliant.at(x, 0).mul(2), np.zeros(5))
