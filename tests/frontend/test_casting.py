"""What NumPy writes into narrower dtypes, Pliant writes; what NumPy refuses is refused."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import DTypeError
from tests.frontend.numpy_harness import compare


def changed(write: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """What is in the second argument after a write."""

    def run(x: Any, y: Any) -> Any:
        write(x, y)
        return y

    return run


def masked_sum(x: Any, y: Any) -> None:
    y[x > 0] += x[x > 0]


def masked_quotient(x: Any, y: Any) -> None:
    y[x > 0] /= 2


WRITES: dict[str, Callable[[Any, Any], Any]] = {
    "std": lambda x, y: np.std(x, axis=0, out=y[0]),
    "var": lambda x, y: np.var(x, axis=0, out=y[0]),
    "dot": lambda x, y: np.dot(x, x.T, out=y[:, :3].copy()),
    "putmask": lambda x, y: np.putmask(y, x > 0, x),
    "putmask of a number": lambda x, y: np.putmask(y, x > 0, 2.5),
    "masked sum": masked_sum,
    "masked quotient": masked_quotient,
    "sum": lambda x, y: np.sum(x, axis=0, out=y[0]),
    "sqrt": lambda x, y: np.sqrt(np.abs(x), out=y),
}


@pytest.mark.parametrize("dtypes", [("f8", "f8"), ("i4", "f8"), ("f8", "i4"), ("i4", "i4"), ("c16", "f8")])
@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES.keys())
def test_writes_are_cast_or_refused_as_by_numpy(write: Callable[[Any, Any], Any], dtypes: tuple[str, str]) -> None:
    x = np.array([[1.5, -2.0, 0.5], [3.0, -1.0, 2.5], [0.0, 4.5, -3.0]])
    compare(changed(write), x.astype(dtypes[0]), np.zeros((3, 3), dtypes[1]))


@pytest.mark.parametrize("power", [0.5, -0.5, 2.0, 1 / 3])
@pytest.mark.parametrize("f", [lambda x, n: x**n, np.power])
def test_powers_are_numpys_at_signed_zeros_and_infinities(f: Callable[..., Any], power: float) -> None:
    x = np.array([-np.inf, -0.0, 0.0, 4.0, np.inf])
    with np.errstate(all="ignore"):
        wanted = f(x, power)
    made = pliant.jit(lambda x: f(x, power))(x)
    np.testing.assert_allclose(made, wanted, rtol=1e-15)
    np.testing.assert_array_equal(np.signbit(made)[1:], np.signbit(wanted)[1:])


@pytest.mark.parametrize(
    "x", [2.5, np.float32(1), np.array(1.0), np.ones(1)], ids=["float", "scalar", "rank 0", "rank 1"]
)
def test_what_is_a_scalar(x: Any) -> None:
    assert pliant.jit(lambda x: np.isscalar(x))(x) == np.isscalar(x)


@pytest.mark.parametrize("to", ["i8", "i4", "i2", "i1", "u1", "u2", "u8"])  # u4: NumPy's depends on the length
@pytest.mark.parametrize("of", ["f8", "f4"])
def test_numbers_beyond_an_integer_become_what_numpy_makes_of_them(of: str, to: str) -> None:
    x = np.array([np.nan, np.inf, -np.inf, 2.0**31, -(2.0**31), 2.0**63, 1e30, -0.7, 300, -129, 0.5]).astype(of)

    def f(x: Any) -> Any:
        return np.where(x < 0.6, np.nan, x).astype(to), x.astype(to)  # a NaN that the compiler knows, and others

    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for made, wanted in zip(pliant.jit(f)(x), f(x), strict=True):
            np.testing.assert_array_equal(made, wanted)


@pytest.mark.parametrize("exponent", [2, 3, 0, True, 2.0, np.int64(2)], ids=repr)
@pytest.mark.parametrize("bools", [np.array([True, False]), np.array(True)], ids=["vector", "rank 0"])
def test_a_power_of_bools_has_the_dtype_of_numpys_operator(bools: Any, exponent: Any):
    for power in (lambda b: b**exponent, lambda b: np.power(b, exponent), lambda b: b.ravel()[0] ** exponent):
        wanted, found = power(bools), pliant.jit(power)(bools)
        np.testing.assert_array_equal(found, wanted)
        assert (type(found), found.dtype) == (type(wanted), wanted.dtype)


@pytest.mark.parametrize("ufunc", [np.less, np.less_equal, np.equal, np.not_equal, np.greater, np.greater_equal])
@pytest.mark.parametrize("number", [-2, 0, 5, 2**63 - 1])
@pytest.mark.parametrize("dtype", ["u8", "u1", "i1", "i4"])
def test_integers_are_compared_by_their_numbers(ufunc: np.ufunc, number: int, dtype: str):
    x = np.array([0, 5, np.iinfo(dtype).max, np.iinfo(dtype).min], dtype)
    for f in (lambda n, x: ufunc(n, x), lambda n, x: ufunc(x, n)):
        np.testing.assert_array_equal(pliant.jit(f)(number, x), f(number, x))


def each(x: Any) -> None:
    for i in range(3):
        x[i] = 1j * x[i]


def each_part(x: Any) -> None:
    for i in range(3):
        x[i : i + 1] = 1j * x[i : i + 1]


def masked_part(x: Any) -> None:
    x[x > 1] = 1j * x[x > 1]


COMPLEX: dict[str, Callable[[Any], Any]] = {
    "a float times Python's": lambda x: x.__setitem__(0, 1j * x[0]),
    "Python's after a float": lambda x: x.__setitem__(0, x[0] * 1j),
    "the difference": lambda x: x.__setitem__(0, 1j - x[0]),
    "Python's on both sides": lambda x: x.__setitem__(0, 2 * (1j / x[0])),
    "a part": lambda x: x.__setitem__(slice(2), 1j * x[:2]),
    "a part by a number": lambda x: x.__setitem__(slice(2), 1j * x[0]),
    "an array of one": lambda x: x.__setitem__(0, (1j * x)[:1]),
    "a list": lambda x: x.__setitem__(slice(2), [1j * x[0], 2.0]),
    "places": lambda x: x.__setitem__(np.array([0, 1]), 1j * x[:2]),
    "places by a number": lambda x: x.__setitem__(np.array([0, 1]), 1j * x[0]),
    "a mask": masked_part,
    "a mask by a number": lambda x: x.__setitem__(x > 1, 1j * x[0]),
    "a number of rank 0": lambda x: x.__setitem__(0, np.array(1j) * x[0]),
    "a sum": lambda x: x.__setitem__(..., (1j * x).sum()),
    "at": lambda x: np.add.at(x, [0, 1], 1j * x[:2]),
    "out": lambda x: np.multiply(x, 1j, out=x),
    "out by any cast": lambda x: np.multiply(x, 1j, out=x, casting="unsafe"),
    "where": lambda x: np.multiply(x, 1j, out=x, where=x > 1),
    "copyto": lambda x: np.copyto(x, 1j * x),
    "copyto by any cast": lambda x: np.copyto(x, 1j * x, casting="unsafe"),
    "put": lambda x: np.put(x, [0, 1], 1j * x[:2]),
    "fill": lambda x: x.fill(1j * x[0]),
    "flat": lambda x: x.flat.__setitem__(slice(None), 1j * x),
    "in place": lambda x: x.__setitem__(0, x[0] + 1j),
    "astype": lambda x: (1j * x).astype(float),
    "np.float64": lambda x: np.float64(1j * x[0]),
    "np.array": lambda x: np.array([1j * x[0], 2.0], dtype=float),
    "insert": lambda x: np.insert(x, 0, 1j * x[0]),
    "a loop": each,
    "a loop of parts": each_part,
}


def outcome(f: Callable[[Any], Any], dtype: str) -> tuple[Any, ...]:
    """What a call leaves in its argument, or raises, and of what it warns."""
    x = np.array([1, 2, 3], dtype)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            f(x)
            made = x.tolist()
        except (TypeError, ValueError) as error:
            made = TypeError if isinstance(error, TypeError) else ValueError
    return made, {w.category for w in caught}


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8"])
@pytest.mark.parametrize("write", COMPLEX.values(), ids=COMPLEX.keys())
def test_complex_numbers_become_real_ones_as_in_numpy(write: Callable[[Any], Any], dtype: str) -> None:
    assert outcome(pliant.jit(write), dtype) == outcome(write, dtype)


def test_pythons_complex_number_of_a_float_takes_the_dtype_of_what_it_meets() -> None:
    x, y = np.array([2.0]), np.ones(2, np.complex64)

    def f(x: Any, y: Any) -> Any:
        return (1j * x[0]) * y, (1j + x[0]) * y, (x[0] * 1j) * y

    for made, wanted in zip(pliant.jit(f)(x, y), f(x, y), strict=True):
        assert made.dtype == wanted.dtype
        np.testing.assert_array_equal(made, wanted)


@pytest.mark.parametrize("made", [lambda x: [x[0]], lambda x: x[:1], lambda x: x[:2]])
def test_no_element_is_made_of_a_sequence(made: Callable[[Any], Any]) -> None:
    write = changed_first(made)
    assert outcome(pliant.jit(write), "f8") == outcome(write, "f8")


def changed_first(made: Callable[[Any], Any]) -> Callable[[Any], None]:
    def write(x: Any) -> None:
        x[0] = made(x)

    return write


MASKED: dict[str, Callable[[Any, Any, Any], Any]] = {
    "truths": lambda x, y, m: np.less(x, 3, out=y, where=m),
    "sums": lambda x, y, m: np.add(x, 1, out=y, where=m),
    "roots": lambda x, y, m: np.sqrt(x, out=y, where=m),
    "fewer bits": lambda x, y, m: np.multiply(x, 2, out=y, where=m, casting="unsafe", dtype="i2"),
    "any cast": lambda x, y, m: np.add(x, 0.5, out=y, where=m, casting="unsafe"),
    "its own operand": lambda x, y, m: np.greater(y, 0, out=y, where=m),
    "two results": lambda x, y, m: np.divmod(x, 2, out=(y, np.ones(4)), where=m),
    "a narrower mask": lambda x, y, m: np.add(x, 1, out=y, where=m[:1]),
    "a list": lambda x, y, m: np.add(x, 1, out=y, where=[True, False, False, True]),
    "a wider mask": lambda x, y, m: np.add(x, 1, out=y, where=m[:, None]),
}


@pytest.mark.parametrize("to", ["f8", "i8", "c16"])
@pytest.mark.parametrize("of", ["i4", "f4", "f8"])
@pytest.mark.parametrize("write", MASKED.values(), ids=MASKED.keys())
def test_what_a_mask_leaves_out_is_kept_as_it_is(write: Callable[[Any, Any, Any], Any], of: str, to: str) -> None:
    x, y = np.array([1, 4, 9, 2], of), np.array([2.0**60 + 512, -3.1, 7.3, 300.7]).astype(to)
    if to == "c16":
        y += 2j
    compare(lambda x, y, m: (write(x, y, m), y)[1], x, y, np.array([False, True, False, True]))


def test_derivatives_and_batches_keep_what_a_mask_leaves_out() -> None:
    def f(x: Any, y: Any) -> Any:
        y = y * 1.0
        np.multiply(x, x, out=y, where=x > 1, dtype="f4")
        return np.sum(y * y)

    x, y = np.array([1.5, 0.5, 2.5, -1.0], "f4"), np.array([0.1, 0.2, 0.3, 0.4])
    assert pliant.jit(f)(x, y) == f(x, y)
    np.testing.assert_array_equal(pliant.grad(f, 1)(x, y), [0, 0.4, 0, 0.8])
    np.testing.assert_allclose(pliant.grad(f)(x, y), 4 * x**3 * (x > 1), rtol=1e-6)
    xs, ys = np.stack([x, -x, x[::-1]]), np.stack([y, 2 * y, 3 * y])
    np.testing.assert_array_equal(pliant.vmap(f)(xs, ys), [f(*pair) for pair in zip(xs, ys, strict=True)])


@pytest.mark.parametrize("ufunc", [np.add, np.less, np.minimum, np.divmod])
def test_numbers_of_pythons_are_cast_as_numpy_casts_them(ufunc: np.ufunc) -> None:
    for of, v, casting in product(["i4", "f4", "?"], [1, 1.5, 1j], ["no", "equiv", "safe"]):
        options: Any = {"casting": casting}
        compare(lambda x, v=v, options=options: ufunc(x, v, **options), np.ones(2, of))


def test_a_rule_of_casting_that_refuses_is_named() -> None:
    with pytest.raises(DTypeError, match=r"np.add is not defined for i32\[2\] and i64\[\] with casting rule 'equiv'"):
        pliant.jit(lambda x: np.add(x, 1, casting="equiv"))(np.ones(2, "i4"))


def test_a_rule_of_casting_is_followed_by_what_is_known_while_tracing() -> None:
    with pytest.raises(TypeError, match="under the casting rule 'equiv'"):
        pliant.jit(lambda: np.add(np.ones(2, "f4"), 1, casting="equiv"))()
