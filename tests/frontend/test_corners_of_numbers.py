"""Every operator and many functions at the corners of every dtype, beside Python's numbers and with keywords, against NumPy:
dtypes, numbers, and what is refused."""

from __future__ import annotations

import itertools
import re
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import pliant
from tests.frontend.numpy_harness import leaves

DTYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]
ROUNDED = {"f2": 2e-3, "f4": 1e-6, "f8": 1e-14, "c8": 2e-6, "c16": 1e-14}


def corners(dtype: str) -> Any:
    """The numbers of a dtype at which something happens."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return np.array([False, True])
    if kind in "iu":
        limits = np.iinfo(dtype)
        ends = {limits.min, limits.min + 1, limits.max // 2, limits.max // 2 + 1, limits.max - 1, limits.max}
        return np.array(sorted(ends | {0, 1, 2, 3, 7} | ({-1, -2, -3, -7} if kind == "i" else set())), dtype)
    if kind == "c":
        parts = [np.nan, np.inf, -np.inf, -0.0, 0.0, 1.0, -1.0, 2.5]
        return np.array([complex(a, b) for a in parts for b in parts], dtype)
    limits = np.finfo(dtype)
    halves = [np.nan, np.inf, -np.inf, -0.0, 0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 1, -1, 3, -3, 7.5, -7.5, 100.25]
    return np.array([*halves, limits.tiny, -limits.tiny, limits.max, -limits.max, limits.eps, -limits.eps / 4], dtype)


def result(f: Callable[..., Any], *xs: Any) -> list[Any] | Exception:
    """What a function makes of copies of its arguments, or raises."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return leaves(f(*[x.copy() if isinstance(x, np.ndarray) else x for x in xs]))
        except Exception as error:
            return error


def assert_alike(f: Callable[..., Any], *xs: Any) -> None:
    """The same results by the compiled function, or an error that handlers of NumPy's catch."""
    wanted, got = result(f, *xs), result(pliant.jit(f), *xs)
    if isinstance(wanted, Exception):
        kinds = [k for k in (IndexError, ArithmeticError, TypeError, ValueError) if isinstance(wanted, k)]
        assert isinstance(got, (*kinds[:1], NotImplementedError)), (wanted, got)
        return
    if isinstance(got, NotImplementedError):
        return
    assert not isinstance(got, Exception), (wanted, got)
    for w, g in zip(wanted, got, strict=True):
        w, g = np.asarray(w), np.asarray(g)
        assert (w.dtype, w.shape) == (g.dtype, g.shape)
        np.testing.assert_allclose(g, w, rtol=ROUNDED.get(w.dtype.str[1:], 0), atol=0)


def assert_all_alike(texts: Sequence[str], names: str, *xs: Any) -> None:
    """The same for several expressions, as one function where NumPy has results of them."""
    made = {text: eval(f"lambda {names}: {text}", {"np": np, "nan": np.nan}) for text in texts}
    good = [text for text, f in made.items() if not isinstance(result(f, *xs), Exception)]
    whole = eval(f"lambda {names}: ({', '.join(good)},)", {"np": np, "nan": np.nan})
    alone = set(texts) - set(good)
    if isinstance(result(pliant.jit(whole), *xs), Exception):
        alone = set(texts)
    else:
        assert_alike(whole, *xs)
    for text in sorted(alone):
        assert_alike(made[text], *xs)


BINARY = [
    "x + y", "x - y", "x * y", "x / y", "x // y", "x % y", "x & y", "x | y", "x ^ y", "x << y", "x >> y",
    "x < y", "x <= y", "x > y", "x >= y", "x == y", "x != y", "np.maximum(x, y)", "np.minimum(x, y)", "np.fmax(x, y)",
    "np.fmin(x, y)", "np.fmod(x, y)", "divmod(x, y)", "np.hypot(x, y)", "np.arctan2(x, y)", "np.copysign(x, y)",
    "np.nextafter(x, y)", "np.logaddexp(x, y)", "np.gcd(x, y)", "np.lcm(x, y)", "np.heaviside(x, y)", "np.ldexp(x, y)",
    "np.logical_xor(x, y)", "x ** np.abs(y)",
]  # fmt: skip
MIXED = [("i8", "u8"), ("u8", "i1"), ("i1", "u1"), ("f4", "i8"), ("f2", "i2"), ("?", "i1"), ("?", "f8"), ("u4", "i4")]
# the sign of a sum of infinities, and of what comes next to it, depends on the processor in NumPy
ROUGH = {("x * y", "c"), ("x / y", "c")}


@pytest.mark.parametrize("dtypes", [(d, d) for d in DTYPES] + MIXED, ids=" ".join)
def test_two_operands(dtypes: tuple[str, str]):
    texts = [text for text in BINARY if (text, np.dtype(dtypes[0]).kind) not in ROUGH]
    x, y = map(corners, dtypes)
    assert_all_alike(texts, "x, y", x[:: 3 if len(x) > 30 else 1, None], y[None, :])


PYTHON = [
    "x + n",
    "n - x",
    "x * n",
    "x / n",
    "x // n",
    "n % x",
    "x & n",
    "x << n",
    "x < n",
    "n == x",
    "np.maximum(x, n)",
]
NUMBERS = [0, -1, 2, 300, -129, 2**31, 2**63 - 1, 2**64 - 1, 2**70, True, 2.5, -0.0, np.nan, 1j]


@pytest.mark.parametrize("dtype", ["?", "i1", "i8", "u1", "u8", "f2", "f4", "f8"])
def test_beside_numbers_of_python(dtype: str):
    texts = [re.sub(r"\bn\b", f"({number!r})", text) for text in PYTHON for number in NUMBERS]
    assert_all_alike(texts, "x", corners(dtype))
    assert_all_alike(texts, "x", corners(dtype)[-1])


UNARY = [
    "-x", "abs(x)", "~x", "np.sign(x)", "np.sqrt(x)", "np.log1p(x)", "np.expm1(x)", "np.square(x).real", "np.rint(x)",
    "np.floor(x)", "np.signbit(x)", "np.nan_to_num(x)", "np.spacing(x)", "np.modf(x)", "np.frexp(x)", "np.angle(x)",
    "np.isposinf(x)", "np.round(x, 1)", "np.round(x, -1)", "np.sort(x)", "np.argsort(x, kind='stable')", "np.argmax(x)",
    "np.argmin(x)", "np.max(x)", "np.min(x)", "np.ptp(x)", "np.sum(x[-4:])", "np.prod(x[-4:])", "np.mean(x[-4:])",
    "np.median(x)", "np.cumsum(x[-4:])", "np.any(x)", "np.all(x)", "np.nanargmax(x)", "np.nanmax(x)", "np.diff(x)",
    "np.maximum.accumulate(x)", "np.fmax.reduce(x)", "np.clip(x, 2, 1)", "np.clip(x, np.nan, 1)", "np.where(x, x, 0)",
    "np.add.reduceat(x[-4:], [0, 2], dtype='f4')", "np.subtract.accumulate(x[-3:], dtype='f8')", "np.float_power(x, 2)",
    "np.i0(x)", "np.reciprocal(x)[:0]", "np.bitwise_count(x)", "np.conj(x)", "x.item(0)", "np.max(x[:0])",
]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
def test_one_operand(dtype: str):
    assert_all_alike(UNARY, "x", corners(dtype))


@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_one_is_a_complex_number_beside_others(dtype: str):
    texts = ["x * 1", "1.0 * x", "x / 1", "np.multiply(x, 1, out=x)", "x * np.ones(len(x))", "np.reciprocal(x)"]
    assert_all_alike(texts, "x", corners(dtype))


def test_a_reciprocal_of_a_complex_number_has_the_derivative_of_the_quotient() -> None:
    x = np.array([1 + 1j, 1 - 1j, -2, 3j, 0.5 - 2j, -4 + 0.25j])
    made, wanted = [
        pliant.grad(lambda x, f=f: np.sum(np.abs(f(x) + x) ** 2))(x) for f in (np.reciprocal, lambda x: 1 / x)
    ]
    np.testing.assert_allclose(made, wanted, rtol=1e-13)


X, V = np.array([[1.5, -2.0, 3.0], [0.5, 2.5, -1.0]]), np.array([3.0, 1.0, 2.0, 1.0])
KEYWORDS = [
    "np.add(X, X, casting='bogus')", "np.add(X, X, order='bogus')", "np.sqrt(I, casting='no')", "np.add(X, X, bogus=1)",
    "np.add(X, X, where=X, out=X)", "np.sum(X, where=X)", "np.mean(X, where=X)", "np.max(X, where=X)", "np.copyto(X, 1, where=X)",
    "np.subtract.reduce(V, where=V, initial=1)", "np.add(X, X, dtype='i4')", "np.add(I, I, dtype='f4')",
    "np.var(X, dtype=complex)", "np.std(X, dtype=complex)", "np.var(X, dtype=int)", "np.ptp(X, 0, out=np.zeros(3, int))",
    "np.clip(X, 0, 1, min=2)", "np.concatenate([X, X], dtype='i4')", "np.concatenate([X, X], dtype='i4', casting='unsafe')",
    "np.concatenate([V, I], casting='no')", "np.vstack([X, X], dtype='f4', casting='no')", "np.stack([X, X], dtype='i4')",
    "np.concatenate([X, X], out=np.zeros((4, 3), int))", "np.histogram(V, 3, (0, np.inf))", "np.histogram(V, 3, (2, 1))",
    "np.histogram(V, V)", "np.histogram(V * np.nan, 3)", "np.digitize(V, V)", "np.digitize(V, V[:3])",
    "np.interp(V, [0, 1], [0, 1], period=0)", "np.interp(V, [0, 1], [0, 1], period=V[0] - 3)",
    "np.sort(V, kind='stable', stable=True)", "np.argsort(V, kind='stable', stable=False)", "np.isneginf(X + 1j)",
    "np.linspace(V[0], 9, 4.0)", "np.geomspace(V[0], 0, 4)", "np.geomspace(V[0], 8, 4)", "np.quantile(V, V[0])",
    "np.percentile(V, -V[:2])", "np.quantile(V, V[0] / 3)", "np.nanquantile(V, V[0] * np.nan)",
    "np.average(X, axis=0, weights=V[:2] - V[0] / 1.5)", "np.average(V, weights=V - V)", "np.average(X, weights=[1, 2])",
    "np.cov(X, fweights=V[:3] / 2)", "np.cov(X, aweights=-V[:3])", "np.cov(X, fweights=I[:3])", "np.nanargmin(X * np.nan, 1)",
    "np.pad(V, 1, 'edge', constant_values=1)", "np.where(X > 0, X)", "np.gradient(X, 1.0, 2.0, 3.0)", "np.fft.rfft(X + 1j)",
    "X.item((0, 1))", "np.ravel_multi_index((I, I), (3, 3), mode=('clip', 'wrap'))",
]  # fmt: skip


@pytest.mark.parametrize("text", KEYWORDS)
def test_keywords_are_looked_at(text: str):
    assert_alike(eval(f"lambda X, V, I: {text}", {"np": np}), X, V, np.array([2, 0, 1, 1]))


STORES = ["x[0] = v", "x[:] = v", "x[[0, 1]] = v", "x[x == 0] = v", "x.fill(v)"]
KINDS = [float, int, np.float64, np.float32, np.int64, np.array]


@pytest.mark.parametrize("text", STORES)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_an_element_is_a_number_that_fits(text: str, kind: Any):
    run: dict[str, Any] = {}
    exec(f"def f(x, v):\n    {text}\n    return x", {"np": np}, run)
    compiled = pliant.jit(run["f"])
    for dtype, number in itertools.product(("i1", "u1", "i8", "u8", "f4", "?"), NUMBERS_OF_ELEMENTS):
        if kind in (int, np.int64) and not abs(number) < 2**63:
            continue
        wanted, got = (result(f, np.zeros(3, dtype), kind(number)) for f in (run["f"], compiled))
        if isinstance(wanted, Exception):
            assert isinstance(got, type(wanted)), (wanted, got, dtype, number)
        elif dtype[0] not in "iu" or -0.9 < number < 128:  # what is cast else, is so as the processor does it
            np.testing.assert_array_equal(got[0], wanted[0])


NUMBERS_OF_ELEMENTS = (1.0, 300.0, -1.0, 2.0**40, np.nan, np.inf, -0.7, 127.9, 2.0**63, 2.0**64)


def write(n: Any) -> None:
    n[0] = 1


MISUSED: dict[str, Callable[[Any], Any]] = {
    "read": lambda n: n[0],
    "part": lambda n: n[1:],
    "written": write,
    "called": lambda n: n(2),
}


@pytest.mark.parametrize("name", MISUSED)
@pytest.mark.parametrize("n", [3, 2.5, True, 1j])
def test_what_python_does_not_do_with_a_number_is_the_same_error(name: str, n: Any) -> None:
    f = MISUSED[name]
    with pytest.raises(TypeError) as expected:
        f(n)
    with pytest.raises(TypeError, match=re.escape(str(expected.value))):
        pliant.jit(f)(n)


def test_what_asks_whether_a_number_has_elements_finds_none() -> None:
    def f(x: Any) -> Any:
        try:
            return x[0] * 2
        except TypeError:
            return x * 2

    assert pliant.jit(f)(3.0) == 6.0
    assert pliant.jit(f)(np.array([4.0])) == 8.0
    assert pliant.grad(f)(3.0) == 2.0
