"""Numbers that data decide: extents, keys, flags and conditions that a trace has to know and that are computed from
arrays, or from floats. A program is made for what they are, and each call is asked."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import ReadOnlyError, RecompiledWarning, TracedValueError
from pliant.frontend import decided

X = np.array([3.25, 1.5, 2.0, 4.0, 5.0, 6.0])
Y = np.array([2.25, 1.5, 2.5, 4.0, 5.0, 6.0])
LABELS = np.array([0, 1, 1, 2, 0, 1])
FEWER = np.minimum(LABELS, 1)
Case = tuple[Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]


def steps_of_time(stop: Any, dt: Any, x: Any) -> Any:
    n = int(stop / dt)
    path = np.zeros(n)
    for k in range(n):
        path[k] = x * k * dt
    return path


def one_hot(y: Any, w: Any) -> Any:
    made = np.zeros((y.size, y.max() + 1))
    made[np.arange(y.size), y] = 1
    return made * w


def early(x: Any, w: Any) -> Any:
    if x.sum() > 20:
        return x * w
    return np.zeros(3) * w


def grown(x: Any) -> Any:
    parts: list[Any] = []
    for i in range(int(x[0])):
        parts.append(np.ones(i) * x[1])  # noqa: PERF401
    return np.concatenate(parts)


def by_label(x: Any, labels: Any) -> Any:
    groups: dict[int, list[Any]] = {}
    for v, label in zip(x, labels, strict=True):
        groups.setdefault(int(label), []).append(v)
    return np.array([sum(group) for _, group in sorted(groups.items())])


def means(x: Any, labels: Any) -> Any:
    found = {}
    for k in np.unique(labels):
        found[k] = x[labels == k].mean()
    return found[1]


def shortened(x: Any) -> Any:
    while len(x) > 1 and x[-1] > 4:
        x = x[:-1] * 0.9
    return x


def nested_key(x: Any) -> Any:
    return [x, x[1:], x[2:], x[3:]][int(x[0]) - 1]


def of_loops(x: Any) -> Any:
    n, v = 0, x[0]
    while v < 100:
        v, n = v * 1.05, n + 1
    return np.zeros(n // 20) + v


FUNCTIONS = [np.sin, np.cos, np.sum, np.exp, np.exp, np.exp]
CASES: dict[str, Case] = {
    "steps_of_time": (steps_of_time, (1.05, 0.1, 3.0), (2.05, 0.1, 3.0)),
    "ceiling": (lambda t, dt: np.ones(math.ceil(t / dt)) * t, (1.05, 0.1), (2.05, 0.1)),
    "rounded": (lambda t, dt: np.ones(round(t / dt)) * t, (1.02, 0.1), (2.03, 0.1)),
    "numpys_ceiling": (lambda t, dt: np.ones(np.ceil(t / dt).astype(int)) * t, (1.05, 0.1), (2.05, 0.1)),
    "range_of_floats": (lambda t, dt: np.sin(np.arange(0, t, dt)), (1.05, 0.1), (1.05, 0.2)),
    "range_of_floats_down": (lambda t, dt: np.arange(t, 0.3, -dt), (1.05, 0.1), (1.05, 0.2)),
    "range_of_single_floats": (lambda t, dt: np.arange(0.5, t, dt, dtype=np.float32), (1.05, 0.1), (0.2, 0.1)),
    "one_hot": (one_hot, (LABELS, 2.0), (FEWER, 3.0)),
    "one_hot_by_eye": (lambda y, w: np.eye(np.max(y) + 1)[y] * w, (LABELS, 2.0), (FEWER, 3.0)),
    "classes": (lambda y, w: np.eye(len(np.unique(y)))[y] * w, (LABELS, 2.0), (FEWER, 3.0)),
    "bins": (lambda y, w: np.bincount(y, weights=w), (LABELS, X), (FEWER, X)),
    "counts": (lambda y, w: np.bincount(y) * w, (LABELS, 2.0), (FEWER, 2.0)),
    "early_return": (early, (X, 2.0), (X - 3, 2.0)),
    "grown": (grown, (X,), (Y,)),
    "groups": (by_label, (X, LABELS), (X, FEWER)),
    "means": (means, (X, LABELS), (X, FEWER)),
    "shortened": (shortened, (X,), (Y - 1,)),
    "matrix_of_a_mask": (lambda x: np.diag(x[x > 2.2]) + np.zeros(((x > 2.2).sum(),) * 2), (X,), (Y - 1,)),
    "key": (lambda y, x: {0: x, 1: x * 2, 2: x[:3]}[y.max()], (LABELS, X), (FEWER, X)),
    "key_of_text": (lambda y, x: {"k1": x * 2, "k2": x[:3]}[f"k{y.max()}"], (LABELS, X), (FEWER, X)),
    "choice_of_text": (lambda x: {"up": x, "down": x[1:]}["up" if x[0] > 3 else "down"], (X,), (Y,)),
    "item": (nested_key, (X,), (Y,)),
    "function": (lambda x: FUNCTIONS[int(x[0])](x), (X,), (Y,)),
    "function_at_the_greatest": (lambda x: FUNCTIONS[np.argmax(x)](x), (X,), (Y[::-1].copy(),)),
    "kernel": (lambda x: np.convolve(x, np.ones(int(x[0])) / int(x[0])), (X,), (Y,)),
    "reshape": (lambda x: x.reshape(int(x[0]), -1).prod(0), (X,), (Y,)),
    "axis": (lambda x: x.reshape(2, 3).prod(axis=int(x[0]) - 2), (X,), (Y,)),
    "tile": (lambda x: np.tile(x, int(x[0])), (X,), (Y,)),
    "repeat": (lambda x, n: np.repeat(x, n), (X, LABELS), (X, FEWER)),
    "list_comprehension": (lambda x: np.array([x[1] * k for k in range(int(x[0]))]), (X,), (Y,)),
    "list_many_times": (lambda x: np.array([x[1]] * int(x[0])), (X,), (Y,)),
    "split": (lambda x: np.array_split(x, int(x[0]))[0], (X,), (Y,)),
    "step": (lambda x: x[:: int(x[0])], (X,), (Y,)),
    "windows": (lambda x: np.lib.stride_tricks.sliding_window_view(x, int(x[0])).sum(1), (X,), (Y,)),
    "degree": (lambda x: np.polyfit(np.arange(6.0), x, int(x[0]) - 1), (X,), (Y,)),
    "points_of_a_transform": (lambda x: np.fft.fft(x, int(x[0])).real, (X,), (Y,)),
    "transform_of_selected": (lambda x: np.fft.fft(x[x > 2.2]).real, (X,), (Y,)),
    "selected_in_rows": (lambda x: x[x > 2.2].reshape(-1, 2), (X[:4],), (Y[:5],)),
    "triangle": (lambda x: x[: int(x[0])][np.tril_indices(int(x[0]))[0]], (X,), (Y,)),
    "combinations": (lambda x: sum(x[i] * x[j] for i, j in itertools.combinations(range(int(x[0])), 2)), (X,), (Y,)),
    "factorial": (lambda x: math.factorial(int(x[0])) * x, (X,), (Y,)),
    "set_of_labels": (lambda y, x: np.array([x[y == k].sum() for k in sorted(set(y))]), (LABELS, X), (FEWER, X)),
    "rows_that_differ": (lambda y: np.unique(y.reshape(3, 2), axis=0), (LABELS,), (FEWER,)),
    "bins_of_a_histogram": (lambda x: np.histogram(x, int(x[0]))[1], (X,), (Y,)),
    "drawn": (lambda x: np.random.default_rng(0).normal(size=int(x[0])) * x[1], (X,), (Y,)),
    "permuted": (lambda x: np.random.default_rng(0).permutation(int(x[0])) * x[1], (X,), (Y,)),
    "after_a_loop": (of_loops, (X,), (Y,)),
}  # fmt: skip


@pytest.mark.parametrize("backend", ["llvm", "reference"])
@pytest.mark.parametrize("name", CASES)
def test_values_are_numpys(name: str, backend: str) -> None:
    f, *calls = CASES[name]
    compiled = pliant.jit(f, backend=backend)
    for args in (*calls, *calls, *calls):
        want, got = f(*args), compiled(*args)
        assert (np.shape(got), np.asarray(got).dtype) == (np.shape(want), np.asarray(want).dtype)
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_gradients_are_those_of_differences(name: str) -> None:
    f, *calls = CASES[name]
    for args in calls:
        places = [n for n, a in enumerate(args) if np.asarray(a).dtype.kind == "f"]

        def loss(*given: Any) -> Any:
            return np.sum(f(*given) ** 2)

        for n in places if np.asarray(f(*args)).dtype == np.float64 else ():
            x = np.atleast_1d(args[n])
            steps = [d.reshape(np.shape(args[n])) for d in 1e-6 * np.eye(x.size)]
            pairs = [[loss(*args[:n], args[n] + s * d, *args[n + 1 :]) for s in (1, -1)] for d in steps]
            wanted = np.reshape([(a - b) / 2e-6 for a, b in pairs], np.shape(args[n]))
            np.testing.assert_allclose(pliant.grad(loss, argnums=n)(*args), wanted, rtol=1e-5, atol=1e-5)


def test_a_program_is_made_once_for_each_number() -> None:
    f = pliant.jit(lambda x: np.ones(int(x[0])) * x[1])
    for n in (2, 3, 4, 3, 2):
        for y in (0.1, 0.7):
            np.testing.assert_array_equal(f(np.array([n + y, y])), np.full(n, y))
    assert [len(entries) for entries in f.entries.values()] == [3]


def test_calls_are_answered_natively() -> None:
    f = pliant.jit(lambda x: np.ones(int(x[0])) * x[1])
    for n in (2, 3, 2, 3, 2, 3):
        f(np.array([n, 0.5]))
    assert len(f.natives) == 2


def test_what_is_written_is_written_once() -> None:
    def f(x: Any, out: Any) -> Any:
        n = int(x[0])
        out[:n] += np.ones(n)
        out[n:] *= np.arange(len(out) - n)
        return out.sum()

    compiled = pliant.jit(f)
    for n in (2, 3, 2, 3, 3, 2, 5):
        one, two = np.ones(6), np.ones(6)
        assert compiled(np.array([n + 0.5]), one) == f(np.array([n + 0.5]), two)
        np.testing.assert_array_equal(one, two)


def test_arrays_from_outside_decide() -> None:
    count = np.array([3])
    f = pliant.jit(lambda x: np.ones(count[0]) * x)
    assert f(2.0).shape == (3,)
    count[0] = 5
    assert f(2.0).shape == (5,)


def test_arguments_in_any_order_of_axes_and_any_place_decide() -> None:
    f = pliant.jit(lambda x: np.ones(int(x[1, 0])) * x[0, 0])
    base = np.arange(12.0).reshape(3, 4)
    for x in (base, base.T, base[::-1, ::-1], base[:, 1:], np.asfortranarray(base), base.astype(np.float32)):
        np.testing.assert_array_equal(f(x), np.ones(int(x[1, 0])) * x[0, 0])


def test_overlapping_arguments_decide() -> None:
    def f(x: Any, y: Any) -> Any:
        x += 1
        return np.ones(int(y[0])) * y[0]

    compiled = pliant.jit(f)
    for n in (2, 3):
        one, two = np.full(4, float(n)), np.full(4, float(n))
        np.testing.assert_array_equal(compiled(one, one[1:]), f(two, two[1:]))


def test_many_numbers_are_warned_of_at_the_line() -> None:
    f = pliant.jit(lambda x: np.zeros(int(x[0])))
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        for n in range(20):
            f(np.array([float(n)]))
    assert [w.category for w in found] == [RecompiledWarning]
    text = str(found[0].message)
    assert "a number that depends on data has to be known while tracing, so each of its 16 values was compiled" in text
    assert "np.zeros(int(x[0]))" in text
    assert "hint: make the largest array" in text


def test_an_error_for_some_data_is_not_one_for_others() -> None:
    def f(x: Any, k: Any) -> Any:
        return np.ones(int(x[k[0]])) * x[0]

    compiled = pliant.jit(f)
    assert compiled(np.array([2.0, 3.0]), np.array([1])).shape == (3,)
    for late in (False, True):
        if late:
            compiled(np.array([1.0, 3.0]), np.array([0]))
        with pytest.raises(IndexError, match="out of"):
            compiled(np.array([2.0, 3.0]), np.array([5]))
    assert compiled(np.array([2.0, 3.0]), np.array([0])).shape == (2,)


def test_an_exception_of_the_user_is_raised() -> None:
    def f(x: Any) -> Any:
        if x.sum() > 3:
            raise ValueError("too much")
        return np.ones(int(x[0]))

    compiled = pliant.jit(f)
    assert compiled(np.array([2.0])).shape == (2,)
    with pytest.raises(ValueError, match="too much"):
        compiled(np.array([4.0]))
    with pytest.raises(ValueError, match="negative dimensions"):
        compiled(np.array([-1.0]))


def test_a_batch_does_not_decide() -> None:
    with pytest.raises(TracedValueError, match="nothing bounds it"):
        pliant.vmap(lambda x: np.ones(int(x[0])))(np.ones((3, 2)))
    mapped = pliant.vmap(lambda x, n: np.ones(int(n[0])) * x, in_axes=(0, None))
    assert mapped(np.ones(3), np.array([4.0])).shape == (3, 4)


def test_a_program_for_all_data_does_not_decide() -> None:
    with pytest.raises(TracedValueError, match="nothing bounds it"):
        pliant.trace(lambda x: np.ones(int(x[0])), np.ones(2))


def test_explain_says_what_was_decided() -> None:
    def f(x: Any) -> Any:
        count = int(x[0])
        return np.ones(count)

    text = str(pliant.explain(f, np.array([3.0])))
    assert "made for numbers that data decide\n  count = 3, of test_decided.py:" in text


def test_second_derivatives() -> None:
    def f(s: Any, x: Any) -> Any:
        return np.sum(np.ones(int(x[0])) * s**3)

    x = np.array([3.0])
    np.testing.assert_allclose(pliant.grad(pliant.grad(f))(2.0, x), 3 * 6 * 2.0)
    np.testing.assert_allclose(pliant.hessian(f)(2.0, x), 3 * 6 * 2.0)
    np.testing.assert_allclose(pliant.hessian(lambda y: f(y[1], y))(np.array([3.5, 2.0])), [[0, 0], [0, 3 * 6 * 2.0]])


def test_no_warning_for_few() -> None:
    f = pliant.jit(lambda x: np.zeros(int(x[0])))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n in range(8):
            f(np.array([float(n)]))


def test_a_read_only_argument_stays_so() -> None:
    def f(x: Any, out: Any) -> Any:
        out[: int(x[0])] = np.ones(int(x[0]))
        return out

    out = np.zeros(4)
    out.flags.writeable = False
    with pytest.raises(ReadOnlyError):
        pliant.jit(f)(np.array([2.0]), out)


def test_what_a_condition_guards_raises_nothing() -> None:
    def f(x: Any, k: Any) -> Any:
        total = x.sum()
        if k[0] < 2:
            total += np.ones(int(x[k[0]])).sum()
        return total

    compiled = pliant.jit(f)
    for k in (0, 5, 1, 5):
        assert compiled(np.array([2.0, 3.0]), np.array([k])) == f(np.array([2.0, 3.0]), np.array([k]))


def counts(a: Any) -> Any:
    found: dict[Any, int] = {}
    for v in a:
        found[v] = found.get(v, 0) + 1
    return max(found.values())


def met_again(a: Any) -> Any:
    seen, again = set[Any](), 0
    for v in a:
        if v in seen:
            again += 1
        seen.add(v)
    return again


def counts_of_some(a: Any) -> Any:
    return counts(a[1:])


@pytest.mark.parametrize("f", [counts, met_again, counts_of_some])
def test_as_many_numbers_are_decided_as_arrays_have_elements(
    f: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decided, "NUMBERS", 8)
    monkeypatch.setattr(decided, "FEW", 4)
    compiled = pliant.jit(f)
    for k in (3, 3, 3, 7, 3, 7):
        a = np.arange(50) % k
        assert compiled(a) == f(a)


def test_an_array_of_which_all_elements_are_decided_is_asked_for_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decided, "FEW", 4)
    found = pliant.explain(counts, np.arange(50) % 3).decided
    assert found is not None
    assert [v.shape for v in found.fn.results] == [(50,)]
    some = pliant.explain(counts_of_some, np.arange(50) % 3).decided
    assert some is not None
    assert [v.shape for v in some.fn.results] == [(49,)]


def test_many_numbers_are_asked_for_natively_once_that_was_done_often(monkeypatch: pytest.MonkeyPatch) -> None:
    def f(x: Any) -> Any:
        v, total = x[0], 0.0
        for i in range(12):
            v = (1.3 * v + x[i % 4]) % 7.0
            total += [x, x[1:], x[2:]][int(v) % 3].sum()
        return total

    monkeypatch.setattr(decided, "FEW", 4)
    monkeypatch.setattr(decided, "OFTEN", 5)
    compiled, x = pliant.jit(f), np.array([1.5, 2.0, 0.25, 3.0])
    natives = list[int]()
    for k in range(12):
        given = x + 0.5 * (k in (3, 9, 11))
        assert compiled(given) == pytest.approx(f(given))
        natives.append(len(compiled.natives))
    assert (natives[4], natives[-1] > 0) == (0, True)


def test_numbers_behind_short_loops_are_not_compiled_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def f(x: Any) -> Any:
        y = x
        for _ in range(9):
            y = np.sin(y) + y * y[0] * 0.1
        n = int(np.abs(y).sum()) + 1
        return np.ones(n) * x[0]

    made: list[str] = []
    compile = decided.Decided.compiled

    def counted(fn: Any) -> Any:
        made.append(fn.name)
        return compile(fn)

    monkeypatch.setattr(decided.Decided, "compiled", staticmethod(counted))
    counts: list[int] = []
    for worth in (0, decided.WORTH):
        monkeypatch.setattr(decided, "WORTH", worth)
        made.clear()
        np.testing.assert_array_equal(pliant.jit(f)(X), f(X))
        counts.append(len(made))
    assert counts[0] > counts[1]
