"""Exceptions under conditions known only at run time: those of plain Python, and nothing is written."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from tests.frontend.failing import FAILING, asserted, before_an_index_that_is_out_of_range, checked

GOOD, BAD = np.array([1.0, 2.0, 1.5, 0.5]), np.array([20.0, 30.0, 8.0, 9.0])


def raised(f: Callable[..., Any], *args: Any) -> BaseException:
    with pytest.raises((Exception,)) as info:
        f(*args)
    return info.value


def outcome(f: Callable[[Any], Any], x: Any) -> Any:
    try:
        return f(x)
    except ValueError as error:
        return error.args


def name_of(f: Callable[..., Any]) -> str:
    return f.__name__


@pytest.mark.parametrize("f", FAILING, ids=name_of)
def test_a_compiled_function_raises_what_python_raises(f: Callable[[Any], Any]) -> None:
    compiled = pliant.jit(f)
    for _ in range(3):
        assert compiled(GOOD.copy()) == pytest.approx(f(GOOD), rel=1e-12)
        error, expected = raised(compiled, BAD.copy()), raised(f, BAD)
        assert (type(error), error.args) == (type(expected), expected.args)


@pytest.mark.parametrize("f", [g for g in FAILING if g is not before_an_index_that_is_out_of_range], ids=name_of)
def test_derivatives_and_batches_raise_it_too(f: Callable[[Any], Any]) -> None:
    kind, step, way = type(raised(f, BAD)), 1e-6, np.cos(np.arange(4.0))
    slope = (f(GOOD + step * way) - f(GOOD - step * way)) / (2 * step)
    assert pliant.grad(f)(GOOD) @ way == pytest.approx(slope, rel=1e-5, abs=1e-7)
    assert pliant.jvp(f, (GOOD,), (way,))[1] == pytest.approx(slope, rel=1e-5, abs=1e-7)
    np.testing.assert_allclose(pliant.vmap(f)(np.stack([GOOD, GOOD])), [f(GOOD)] * 2)
    for g, args in (
        (pliant.grad(f), (BAD,)), (lambda x: pliant.jvp(f, (x,), (way,)), (BAD,)),
        (pliant.vmap(f), (np.stack([GOOD, BAD]),)), (pliant.grad(lambda xs: pliant.vmap(f)(xs).sum()),
                                                     (np.stack([BAD, GOOD]),)),
    ):  # fmt: skip
        error, expected = raised(g, *args), raised(f, BAD)
        assert (type(error), error.args) == (kind, expected.args)
        assert any(place.filename.endswith("failing.py") for place in traceback.extract_tb(error.__traceback__))


def test_a_batch_raises_what_the_first_of_its_rows_raises() -> None:
    def f(x: Any) -> Any:
        if x < 0:
            raise ValueError(f"{x} is negative")
        if x > 10:
            raise OverflowError(f"{x} is large")
        return x * 2

    rows = np.array([1.0, 12.0, -3.0, 13.0])
    error = raised(pliant.vmap(f), rows)
    assert (type(error), error.args) == (OverflowError, ("12.0 is large",))
    error = raised(pliant.vmap(lambda x: f(x[0]), 1), rows[None, 2:])
    assert (type(error), error.args) == (ValueError, ("-3.0 is negative",))


class Counted:
    """An object that counts."""

    def __init__(self) -> None:
        self.count = 0


def test_the_text_says_what_is_known_where_no_python_is_run() -> None:
    def f(x: Any, seen: Any) -> Any:
        seen.count += 1
        return checked(x)

    error = raised(pliant.jit(f), BAD, Counted())  # which would be counted twice
    assert error.args == ("too large: …",)
    assert "failing.py" in error.__notes__[0]


@pytest.mark.parametrize("backend", ["reference", "llvm"])
def test_nothing_is_written_by_a_call_that_raises(backend: str) -> None:
    def f(x: Any, y: Any) -> Any:
        x[0] = 7.0
        if y > 0:
            raise ValueError("positive")
        x[1] = 8.0
        return x.sum()

    compiled, x = pliant.jit(f, backend=backend), np.zeros(3)
    with pytest.raises(ValueError, match="positive"):
        compiled(x, 1.0)
    np.testing.assert_array_equal(x, np.zeros(3))
    assert compiled(x, -1.0) == 15
    np.testing.assert_array_equal(x, [7, 8, 0])


@pytest.mark.parametrize("times", [1, 4])  # by Python and by the native entry
def test_nothing_is_written_into_out_by_a_call_that_raises(times: int) -> None:
    def f(x: Any, y: Any) -> Any:
        if y > 0:
            raise ValueError("positive")
        return x * 2

    compiled, x, out = pliant.jit(f), np.arange(3.0), np.zeros(3)
    for _ in range(times):
        compiled(x, -1.0, out=out)
        compiled(x, -1.0, out=x[:])
    np.testing.assert_array_equal(out, x)
    for place in (out, x):
        before = place.copy()
        with pytest.raises(ValueError, match="positive"):
            compiled(x, 1.0, out=place)
        np.testing.assert_array_equal(place, before)


def test_the_first_exception_is_the_one_that_is_raised() -> None:
    def f(x: Any) -> Any:
        for v in x:
            if v > 2:
                raise ValueError("large")
            if v < -2:
                raise TypeError("small")
        return x.sum()

    for x in ([0, 3, -3, 0, 0], [0, -3, 3, 0, 0]):
        given = np.array(x, float)
        assert type(raised(pliant.jit(f), given)) is type(raised(f, given))
        assert type(raised(pliant.grad(f), given)) is type(raised(f, given))


def test_nothing_is_raised_for_elements_that_python_does_not_ask_for() -> None:
    def checked(v: Any) -> Any:
        if v < 0:
            raise ValueError("negative")
        return v > 2

    def some(x: Any) -> Any:
        return any(checked(v) for v in x)

    def every(x: Any) -> Any:
        return all([not checked(v) for v in x[:3]]), all(not checked(v) for v in x)

    def before_the_end(x: Any) -> Any:
        large, positive = [v for v in x if v > 2], [v for v in x if v >= 0]
        for a, b in zip(large, positive, strict=True):
            if a > 4:
                break
            x[0] += b
        return any(a + b > 0 for a, b in zip(large, positive, strict=True)), x[0]

    for f in (some, every, before_the_end):
        for size in (3, 9):
            for given in ([1.0, 5.0, *[-1.0] * 7], [0.5] * 9, [3.0, *[1.0] * 8], [1.0, 0.0, -3.0, *[1.0] * 6]):
                x = np.array(given[:size])
                assert outcome(pliant.jit(f), x.copy()) == outcome(f, x.copy())


def stepped(c: Any, v: Any) -> Any:
    c = c + v * v
    if c > 10:
        raise ValueError(f"{c:.2f} is large")
    if v < 0:
        raise KeyError("negative")
    return c, c * 2


def caught(x: Any) -> Any:
    try:
        return pliant.checkpoint(checked)(x)
    except ValueError:
        return -x.sum()


def asserted_twice(x: Any) -> Any:
    return pliant.checkpoint(asserted)(x * pliant.checkpoint(asserted)(x) / 4)


NESTED = {
    "checkpoint": pliant.checkpoint(checked),
    "checkpoint of loops": pliant.checkpoint(asserted, save="sqrt"),
    "checkpoints": asserted_twice,
    "checkpoint in a loop": lambda x: sum(pliant.checkpoint(checked)(x * k / 2) for k in range(1, 4)),
    "caught": caught,
    "cond": lambda x: pliant.cond(x[0] > 0.9, checked, lambda x: x.sum() * 1.0, x),
    "switch": lambda x: pliant.switch((x > 1.7).sum(), [checked, lambda x: x.sum() * 1.0, checked], x),
    "scan": lambda x: pliant.scan(stepped, 0.0, x)[0],
    "scan in reverse": lambda x: pliant.scan(stepped, 0.0, x, reverse=True, save="sqrt")[1].sum(),
    "fori_loop": lambda x: pliant.fori_loop(0, 4, lambda i, c: stepped(c, x[i])[0], 0.0),
    "map": lambda x: pliant.map(lambda v: checked(np.array([v, v])), x).sum(),
    "scan in scan": lambda x: pliant.scan(lambda c, v: (pliant.scan(stepped, c / 9, x)[0], v), 0.0, x)[0],
    "cond in scan": lambda x: pliant.scan(
        lambda c, v: (pliant.cond(v > 0.9, lambda c: stepped(c, v)[0], lambda c: c + v, c), v), 0.0, x
    )[0],
}


@pytest.mark.parametrize("x", [GOOD, BAD, GOOD * [1, -1, 1, 1], BAD * [-1, 1, 1, 1]], ids="good bad some first".split())
@pytest.mark.parametrize("f", NESTED.values(), ids=NESTED)
def test_functions_that_are_given_to_others_raise_it_too(f: Callable[[Any], Any], x: Any) -> None:
    wanted = told(f, x)
    step, way = 1e-6, np.cos(np.arange(4.0))
    for transform in (pliant.jit, pliant.optimize, lambda f: lambda x: pliant.jvp(f, (x,), (way,))[0]):
        assert told(transform(f), x) == wanted
    assert told(lambda x: pliant.vmap(f)(np.stack([x, x]))[0], x) == wanted
    if isinstance(wanted, tuple):
        assert told(pliant.grad(f), x) == told(lambda x: pliant.hvp(f)(x, way), x) == wanted
    else:
        slope = (f(x + step * way) - f(x - step * way)) / (2 * step)
        assert pliant.grad(f)(x) @ way == pytest.approx(slope, rel=1e-5, abs=1e-7)


def told(f: Callable[[Any], Any], x: Any) -> Any:
    """What a function returns, or raises."""
    try:
        return pytest.approx(float(f(x)), rel=1e-12)
    except (ValueError, KeyError, AssertionError) as error:
        return type(error), error.args


def test_an_exception_in_a_function_that_does_not_tell_is_refused() -> None:
    doubled = pliant.custom_derivative(stepped, jvp=lambda xs, dxs: dxs)
    for f in (
        lambda x: pliant.while_loop(lambda c: c < 100, lambda c: stepped(c, 1.0)[0], x),
        lambda x: doubled(x, 1.0)[0],
    ):
        with pytest.raises(
            pliant.PliantError, match="called many times, as by while_loop, or has a derivative of its own"
        ):
            pliant.jit(f)(1.0)
    with pytest.raises(pliant.PliantError, match="raises by what arrays hold, which cannot be undone"):
        pliant.jit(lambda x: pliant.scan(stepped, 0.0, x, save=pliant.reversible(lambda c, v: c - v * v)))(GOOD)


def test_an_exception_of_a_derivative_names_the_line_that_raised_it() -> None:
    def f(x: Any) -> Any:
        if x > 1.0:
            raise ValueError("too large")
        return x

    with pytest.raises(ValueError, match="too large") as caught:
        pliant.grad(f)(2.0)
    assert traceback.extract_tb(caught.value.__traceback__)[-1].lineno == f.__code__.co_firstlineno + 2


def test_an_index_that_is_out_of_range_is_an_error_only_where_it_is_read() -> None:
    def merged(x: Any, j: int) -> Any:
        total = 0.0
        for i in range(len(x)):
            if j >= 7 or x[7] > 0:
                total += x[i] * j
        return total

    def one_of(x: Any, c: float) -> Any:
        y = x[7] if c > 0 else x[1]
        return y * 2

    for f, good, bad in ((merged, 8, 1), (one_of, -1.0, 1.0)):
        assert pliant.jit(f)(GOOD, good) == pytest.approx(f(GOOD, good))
        assert pliant.grad(f)(GOOD, good).sum() != 0
        np.testing.assert_allclose(pliant.vmap(f, (None, 0))(GOOD, np.array([good, good])), [f(GOOD, good)] * 2)
        error, expected = raised(pliant.jit(f), GOOD, bad), raised(f, GOOD, bad)
        assert (type(error), error.args) == (type(expected), expected.args)
        error = raised(pliant.vmap(f, (None, 0)), GOOD, np.array([good, bad]))
        assert (type(error), error.args) == (type(expected), expected.args)
    explained = str(pliant.explain(merged, GOOD, 8))
    assert "unrolled" not in explained


def drawn_until(rng: Any, x: Any) -> Any:
    v = rng.normal()
    if x > 1:
        raise ValueError(f"drawn {v:.3f}", v, x)
    return v


def appended(xs: list[Any], x: Any) -> Any:
    xs.append(x)
    if x > 1:
        raise ValueError(f"{len(xs)} of {x}")
    return sum(xs)


@pytest.mark.parametrize(
    ("f", "make"),
    [
        (drawn_until, lambda: np.random.default_rng(3)),
        (appended, lambda: [1.0]),
    ],
)
def test_exceptions_say_what_they_say_in_python_whatever_else_is_changed(f: Any, make: Any):
    g = pliant.jit(f)
    for before in (0, 2):  # calls that raise nothing
        holders = make(), make()
        for _ in range(before):
            assert g(holders[0], 0.5) == f(holders[1], 0.5)
        with pytest.raises(ValueError) as wanted:  # noqa: PT011
            f(holders[1], 2.5)
        with pytest.raises(ValueError) as raised:  # noqa: PT011
            g(holders[0], 2.5)
        assert raised.value.args == wanted.value.args


SUMS = np.zeros(4)


class Model:
    """Counts its calls in an attribute, a list, a dict and two arrays."""

    def __init__(self) -> None:
        self.count, self.rows, self.latest, self.sums = 0, [0.0], {"n": 0}, np.zeros(4)

    def loss(self, x: Any) -> Any:
        self.count += 1
        self.rows.append(1.0)
        self.latest["n"] = self.count
        self.sums += x
        SUMS[...] += x
        return checked(x)

    def held(self) -> Any:
        return self.count, self.rows, self.latest, self.sums.tolist(), SUMS.tolist()

    def always(self, x: Any) -> Any:
        self.loss(x)
        raise ValueError("always")


def as_an_argument(f: Any) -> Any:
    return lambda x: pliant.grad(lambda x, model: getattr(model, f.__name__)(x))(x, f.__self__)


TAKING_BACK = {
    "grad": pliant.grad,
    "an argument": as_an_argument,
    "hessian": pliant.hessian,
    "jvp": lambda f: lambda x: pliant.jvp(f, (x,), (x,)),
    "vjp": lambda f: lambda x: pliant.vjp(f, x),
    "vmap": lambda f: lambda x: pliant.vmap(f)(np.stack([GOOD, x])),
    "jit": lambda f: pliant.jit(pliant.grad(f)),
    "of jit": lambda f: pliant.grad(pliant.jit(f)),
}


@pytest.mark.parametrize("transform", TAKING_BACK.values(), ids=TAKING_BACK)
def test_a_derivative_or_batch_that_raises_takes_back_what_its_function_sets(transform: Callable[..., Any]) -> None:
    model, before = Model(), Model().held()
    transformed = transform(model.loss)
    for x in (BAD, GOOD, BAD, BAD):
        made = outcome(transformed, x)
        assert x is GOOD or made == ("too large: 67.000",)
        assert model.held() == before


@pytest.mark.parametrize("transform", TAKING_BACK.values(), ids=TAKING_BACK)
def test_the_same_of_one_that_always_raises(transform: Callable[..., Any]) -> None:
    model, before = Model(), Model().held()
    with pytest.raises(ValueError, match="always"):
        transform(model.always)(GOOD)
    assert model.held() == before


REF = pliant.Ref(np.zeros(4))
RNG = np.random.default_rng(5)


def adding_outside(x: Any) -> Any:
    SUMS[...] += x
    return checked(SUMS * 1.0)


def adding_to_a_reference(x: Any) -> Any:
    REF[...] += x
    return checked(REF * 1.0)


def drawing_outside(x: Any) -> Any:
    return checked(x + RNG.random())


def accumulated(f: Callable[..., Any]) -> Callable[..., Any]:
    return pliant.grad(f, accumulate_into=SUMS)


def vectorized(f: Callable[..., Any]) -> Callable[..., Any]:
    g = pliant.vectorize(lambda x, y: f(x + y), "(n),()->()")
    return lambda x: g(np.stack([GOOD, x]), np.zeros((2, 1)))


def held_outside() -> Any:
    return SUMS.tolist(), REF.array.tolist(), RNG.bit_generator.state


@pytest.mark.parametrize(
    ("transform", "f"),
    [
        (pliant.jit, adding_outside), (pliant.jit, adding_to_a_reference), (pliant.jit, drawing_outside),
        (pliant.optimize, adding_outside), (pliant.grad, drawing_outside), (accumulated, checked),
        (vectorized, checked), (lambda f: pliant.jit(vectorized(f)), checked),
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_exceptions_say_what_they_say_in_python_whatever_is_changed_outside(transform: Any, f: Any) -> None:
    transformed, before = transform(f), held_outside()
    for _ in range(4):
        wanted = raised(f, BAD)
        SUMS[...], REF[...], RNG.bit_generator.state = before
        error = raised(transformed, BAD)
        assert (type(error), error.args) == (type(wanted), wanted.args)
        assert held_outside() == before


def test_a_vectorized_function_raises_what_the_first_of_its_calls_raises() -> None:
    def f(x: Any) -> Any:
        x[0] = x[0] * 1.0  # of a copy
        if x.sum() < 0:
            raise ValueError(f"{x.sum()} is negative")
        if x.sum() > 10:
            raise OverflowError(f"{x.sum()} is large")
        return x.sum()

    xs = np.array([[1.0, 2.0], [7.0, 5.0], [-3.0, 1.0]])
    error = raised(pliant.vectorize(f, "(n)->()"), xs)
    assert (type(error), error.args) == (OverflowError, ("12.0 is large",))
    np.testing.assert_array_equal(xs, [[1, 2], [7, 5], [-3, 1]])


def test_what_python_raises_is_dropped_if_the_program_cannot_raise_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def other(x: Any) -> Any:
        raise KeyError("of no function")

    gradient = pliant.grad(checked)
    gradient(GOOD)
    monkeypatch.setattr(gradient, "plain", other)
    assert raised(gradient, BAD).args == ("too large: …",)
