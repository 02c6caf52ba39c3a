"""`out=` of compiled functions."""

from __future__ import annotations

import threading
import tracemalloc
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import ArgumentError, DTypeError, ReadOnlyError, ShapeError, UnsupportedError

X = np.array([0.1, 0.2, 0.3])


def test_a_result_goes_into_the_callers_array():
    f = pliant.jit(lambda x: np.sin(x) + 1)
    for out in (np.zeros(3), np.zeros(6)[::2], np.zeros(3)[::-1]):
        for _ in range(4):
            out[:] = 0
            assert f(X, out=out) is out
            np.testing.assert_allclose(out, np.sin(X) + 1, rtol=1e-15)
    assert f(X, out=None) is not None


def test_trees_of_results_go_into_trees_of_arrays():
    f = pliant.jit(lambda x, s: {"y": [x * s, x.T], "total": np.sum(x)})
    x = np.arange(6.0).reshape(2, 3)
    out = {"y": [np.zeros((2, 3)), np.zeros((3, 2))], "total": np.zeros(())}
    assert f(x, 2.0, out=out) is out
    np.testing.assert_array_equal(out["y"][0], 2 * x)  # type: ignore[index]
    np.testing.assert_array_equal(out["y"][1], x.T)  # type: ignore[index]
    assert out["total"] == 15


@pytest.mark.parametrize("n", [7, 33, 100, 101])
def test_inputs_may_overlap_the_array_for_the_result(n: int):
    f = pliant.jit(lambda x, y: x[:-1] + y[1:])
    for _ in range(3):
        b = np.arange(float(n))
        f(b, b, out=b[1:])
        np.testing.assert_array_equal(b, [0, *(2 * np.arange(float(n)) + 1)[:-1]])
    x = np.arange(float(n * n)).reshape(n, n)
    wanted = x @ x
    pliant.jit(np.matmul)(x, x, out=x)
    np.testing.assert_allclose(x, wanted, rtol=1e-12)


def test_results_that_are_views_of_what_is_written_are_copied_first():
    def swap(x: Any, y: Any) -> tuple[Any, Any]:
        return y, x

    x, y = np.zeros(3), np.ones(3)
    pliant.jit(swap)(x, y, out=(x, y))
    np.testing.assert_array_equal([x, y], [np.ones(3), np.zeros(3)])
    z = np.arange(4.0)
    pliant.jit(lambda z: z[::-1])(z, out=z)
    np.testing.assert_array_equal(z, [3, 2, 1, 0])


def test_arguments_that_are_returned_are_copied_before_a_result_goes_into_them():
    captured = np.ones(3)
    x, other = np.arange(3.0), np.empty(3)
    pliant.jit(lambda x: (x[::-1], x * 2))(x, out=(other, x))
    np.testing.assert_array_equal([other, x], [[2, 1, 0], [0, 2, 4]])
    pliant.jit(lambda: (captured, captured * 2))(out=(other, captured))
    np.testing.assert_array_equal([other, captured], [[1, 1, 1], [2, 2, 2]])


def _raised_by_one(x: Any) -> Any:
    x += 1
    return x


RETURNED: list[Any] = [
    (lambda x: x),
    (lambda x: x[::-1]),
    (lambda x: (x, x * 2)),
    (lambda x: (x[1:], x[:-1])),
    _raised_by_one,
]


@pytest.mark.parametrize("f", RETURNED)
@pytest.mark.parametrize("step", [1, 2, 3, -1, -2])
def test_what_lies_in_an_argument_is_returned_into_any_elements_of_its_memory(f: Any, step: int):
    """NumPy copies a vector into another one that overlaps it without a look at what it has overwritten."""
    for start in range(0, 8, 2):
        memory = np.arange(40.0)
        x = memory[start : start + 5]
        wanted = f(x.copy())
        parts = wanted if isinstance(wanted, tuple) else (wanted,)
        room = memory[::step] if step > 0 else memory[24::step]
        out = tuple([room[n * 5 : n * 5 + len(part)] for n, part in enumerate(parts)])
        pliant.jit(f)(x, out=out if isinstance(wanted, tuple) else out[0])
        for made, part in zip(out, parts, strict=True):
            np.testing.assert_array_equal(made, part)


def test_an_array_from_outside_is_returned_into_out_again_and_again():
    captured, out, total = np.ones(3), np.zeros(3), np.ones(3)

    def f(x: Any) -> Any:
        captured[...] += x
        return captured

    compiled = pliant.jit(f)
    g = pliant.grad(lambda x: np.sum(x * x), accumulate_into=total)
    for n in range(4):
        assert compiled(np.ones(3), out=out) is out
        np.testing.assert_array_equal([out, captured], np.full((2, 3), n + 2.0))
        assert g(np.ones(3), out=out) is out
        np.testing.assert_array_equal([out, total], np.full((2, 3), 2 * n + 3.0))


def test_an_argument_chosen_by_a_condition_is_copied_before_a_result_goes_into_it():
    f = pliant.jit(lambda x, y, s: (x if s > 0 else y, x * 2))
    for s in (1.0, -1.0):
        x, y, other = np.ones(3), np.full(3, 5.0), np.empty(3)
        f(x, y, s, out=(other, x))
        np.testing.assert_array_equal(other, np.ones(3) if s > 0 else np.full(3, 5.0))
        np.testing.assert_array_equal(x, np.full(3, 2.0))


def test_a_written_argument_may_be_the_array_for_the_result():
    def f(x: Any) -> Any:
        x += 1
        return x * 10

    x = np.zeros(3)
    pliant.jit(f)(x, out=x)
    np.testing.assert_array_equal(x, [10, 10, 10])


def test_derivatives_and_batches_take_out():
    g, value = np.zeros(3), np.zeros(())
    pliant.grad(lambda x: np.sum(x**2))(X, out=g)
    np.testing.assert_allclose(g, 2 * X)
    pliant.value_and_grad(lambda x: np.sum(x**3))(X, out=(value, g))
    np.testing.assert_allclose(g, 3 * X**2)
    np.testing.assert_allclose(value, np.sum(X**3))
    pliant.vmap(lambda x: 2 * x)(X, out=g)
    np.testing.assert_allclose(g, 2 * X)


def test_out_inside_a_traced_function_and_with_jit_disabled():
    double = pliant.jit(lambda x: 2 * x)

    def f(x: Any) -> Any:
        y = np.zeros(3)
        double(x, out=y)
        return y + 1

    np.testing.assert_allclose(pliant.jit(f)(X), 2 * X + 1)
    np.testing.assert_allclose(pliant.grad(lambda x: np.sum(f(x)))(X), [2, 2, 2])
    with pliant.disable_jit():
        np.testing.assert_allclose(f(X), 2 * X + 1)


def test_a_parameter_called_out_is_the_users():
    def f(x: Any, out: Any) -> Any:
        out[...] = x * 2
        return out

    y = np.zeros(3)
    assert np.shares_memory(pliant.jit(f)(X, out=y), y)
    np.testing.assert_allclose(y, 2 * X)


def test_functions_of_numpy_take_out():
    y, total = np.zeros(3), np.zeros(())
    assert pliant.jit(np.sin)(X, out=y) is y
    np.testing.assert_allclose(y, np.sin(X))
    pliant.jit(np.sum)(X, out=total)
    np.testing.assert_allclose(total, 0.6)
    pliant.grad(np.sum)(X, out=y)
    np.testing.assert_array_equal(y, np.ones(3))


@pytest.mark.parametrize(
    ("out", "error", "match"),
    [
        (np.zeros(4), ShapeError, r"expected shape \(3,\)"),
        (np.zeros((3, 1)), ShapeError, "expected shape"),
        (np.zeros(3, np.float32), DTypeError, "expected dtype float64"),
        ([0.0, 0.0, 0.0], ArgumentError, "structure"),
        ((np.zeros(3),), ArgumentError, "structure"),
        (1.0, ArgumentError, "expected a numpy.ndarray"),
        (np.broadcast_to(np.zeros(1), (3,)), ReadOnlyError, "read-only"),
        (np.lib.stride_tricks.as_strided(np.zeros(3), (3,), (0,)), UnsupportedError, "one place"),
    ],
)
def test_an_out_that_does_not_fit_is_refused_before_anything_is_written(out: Any, error: type, match: str):
    def f(x: Any) -> Any:
        x += 1
        return 2 * x

    x = np.zeros(3)
    with pytest.raises(error, match=match):
        pliant.jit(f)(x, out=out)
    np.testing.assert_array_equal(x, np.zeros(3))


def test_arrays_for_two_results_may_not_overlap():
    b = np.zeros(5)
    with pytest.raises(ArgumentError, match="overlap"):
        pliant.jit(lambda x: (x, 2 * x))(X, out=(b[:3], b[2:]))
    with pytest.raises(ArgumentError, match="no array or number"):
        pliant.jit(lambda x: (x, "text"))(X, out=(b[:3], b[2:]))
    np.testing.assert_array_equal(b, np.zeros(5))


def test_donated_parameters_are_named():
    f = pliant.jit(lambda x, y: x + y, donate=("x",))
    np.testing.assert_array_equal(f(X.copy(), X), 2 * X)
    with pytest.raises(ArgumentError, match="donate= names z"):
        pliant.jit(lambda x: x, donate="z")
    with pytest.raises(ArgumentError, match="donate= names x"):
        pliant.jit(lambda x: x, donate="x", static="x")


def allocated(call: Any) -> int:
    """Bytes that NumPy allocates at most at once during a call."""
    call()
    call()
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_a_call_with_out_allocates_no_result():
    x, y, out = (np.ones(100_000) for _ in range(3))
    f = pliant.jit(lambda x, y: np.sin(x) + y)
    assert allocated(lambda: f(x, y, out=out)) < 20_000 < x.nbytes <= allocated(lambda: f(x, y))


def test_a_call_that_writes_large_arguments_allocates_nothing_from_then_on():
    def step(p: Any, g: Any) -> None:
        for k in p:
            p[k] -= 0.1 * g[k]

    p, g = ({"a": np.ones(100_000), "b": np.ones((300, 300))} for _ in range(2))
    f = pliant.jit(step)
    assert allocated(lambda: f(p, g)) < 20_000
    np.testing.assert_allclose(p["a"], 0.7)


def test_a_failed_call_leaves_out_as_it_was():
    def f(x: Any, i: Any) -> Any:
        x += 1
        return x[i] * 2

    x, out = np.zeros(50_000), np.full(3, 7.0)
    g = pliant.jit(f)
    g(x, np.array([1, 2, 3]), out=out)
    with pytest.raises(IndexError):
        g(x, np.array([1, 2, 50_000]), out=out)
    np.testing.assert_array_equal(out, [2, 2, 2])
    np.testing.assert_array_equal(x, np.full(50_000, 2.0))  # as with NumPy: what came before has happened


def test_large_writes_from_many_threads():
    def f(x: Any, y: Any) -> None:
        x += y

    g = pliant.jit(f)
    arrays = [np.zeros(20_000) for _ in range(8)]

    def work(x: Any, s: float) -> None:
        for _ in range(20):
            g(x, np.full(20_000, s))

    threads = [threading.Thread(target=work, args=(x, float(s))) for s, x in enumerate(arrays)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for s, x in enumerate(arrays):
        np.testing.assert_array_equal(x, np.full(20_000, 20.0 * s))
