"""What is made of a loop's rows in no order that steps go through them: rolled, padded, at places, in products of all rows.
Values, gradients, tangents and batches are those of the loop and of what is made of its rows, one after the other."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant

T, N = 12, 5
scan: Any = pliant.scan
cumsum: Any = np.cumsum
gradient: Any = np.gradient
diff: Any = np.diff
TABLE = np.random.default_rng(1).normal(size=(64, 3))
PLACES = np.array([3, 0, -1, 3])


def _next(c: Any, v: Any) -> Any:
    """A state that stays small, of any dtype."""
    if c.dtype.kind in "iu":
        return (c * 3 + v) % 11
    return c * (0.5 + 0.4 * v) - 0.3 * c * c + 0.2


def written(x: Any, length: int) -> Any:
    ys, c = np.zeros((length, N), x.dtype), x
    for i in range(length):
        c = _next(c, x[i % N])
        ys[i] = c
    return ys


def read_again(x: Any, length: int) -> Any:
    ys = np.zeros((length, N), x.dtype)
    if length:
        ys[0] = x
    for i in range(1, length):
        ys[i] = _next(ys[i - 1], x[0])
    return ys


def scanned(x: Any, length: int) -> Any:
    def step(c: Any, v: Any) -> Any:
        c = _next(c, v)
        return c, c

    return scan(step, x, _resized(x, length))[1]


def scanned_back(x: Any, length: int) -> Any:
    def step(c: Any, v: Any) -> Any:
        c = _next(c, v)
        return c, c

    return scan(step, x, _resized(x, length), reverse=True)[1]


def _resized(x: Any, length: int) -> Any:
    return np.tile(x, -(-length // N))[:length]


MAKERS: tuple[Callable[..., Any], ...] = (written, read_again, scanned, scanned_back)
CONSUMERS: dict[str, tuple[int, Callable[[Any], Any]]] = {  # from how many rows on there is such a thing
    "rolled": (0, lambda y: (y * np.roll(y, 1, axis=0)).sum(axis=0)),
    "rolled back": (0, lambda y: (y - 2 * np.roll(y, -1, axis=0)).sum(axis=0)),
    "rolled by 3": (0, lambda y: (y * np.roll(y, 3, axis=0)).sum()),
    "second differences around": (0, lambda y: ((np.roll(y, 1, axis=0) + np.roll(y, -1, axis=0) - 2 * y) ** 2).sum()),
    "slopes": (2, lambda y: (gradient(y, axis=0) ** 2).sum()),
    "closed": (1, lambda y: (diff(y, axis=0, append=y[:1]) ** 2).sum()),
    "padded": (1, lambda y: (diff(np.concatenate([y[:1], y, y[-1:]]), axis=0) ** 2).sum()),
    "joined": (0, lambda y: (np.concatenate([y, 2 * y]) ** 2).sum()),
    "ends": (1, lambda y: (y[:2] * y[-2:]).sum()),
    "halves": (1, lambda y: (y[: len(y) // 2] * y[len(y) - len(y) // 2 :]).sum()),
    "at places": (4, lambda y: y[PLACES] ** 2),
    "one twice": (1, lambda y: y[np.array([0, 0])] * 3),
    "last": (1, lambda y: y[-1] * y[0]),
    "every third": (1, lambda y: y[::3].sum(axis=0) * 2),
    "some": (10, lambda y: y[5:10].sum()),
    "reversed": (0, lambda y: (y[::-1] * np.arange(len(y))[:, None].astype(y.dtype)).sum(axis=0)),
    "products": (0, lambda y: y.T @ y),
    "products with others": (0, lambda y: y.T @ TABLE[: len(y)].astype(y.dtype)),
    "covariances": (2, lambda y: np.tensordot(y[1:], y[:-1], (0, 0))),
    "added at places": (0, lambda y: _added(y, np.arange(len(y)) % 3)),
    "running": (0, lambda y: (cumsum(y, axis=0) * y).sum(axis=0)),
}  # fmt: skip


def _added(y: Any, places: Any) -> Any:
    totals = np.zeros((3, N), y.dtype)
    np.add.at(totals, places, y)
    return totals


def number(made: Any) -> Any:
    """One real number of what is made."""
    weights: Any = np.cos(np.arange(float(made.size)))
    return np.sum((made * weights.reshape(made.shape)).real)


def start(dtype: str) -> Any:
    x = np.random.default_rng(0).normal(size=N)
    if dtype[0] in "iu":
        return (abs(x) * 4).astype(dtype)
    return (x + 0.5j * x[::-1] if dtype[0] == "c" else x).astype(dtype) * 0.5


def assert_same(consume: Callable[[Any], Any], make: Callable[[Any], Any], x: Any) -> None:
    """What is made of the rows in one program, and of an array of them in another."""
    rows = pliant.jit(make)(x)
    digits = 3e-5 if x.dtype in ("float32", "complex64") else 1e-10

    def close(got: Any, wanted: Any) -> None:
        np.testing.assert_allclose(got, wanted, rtol=digits, atol=digits * 10)

    def both(x: Any) -> Any:
        return consume(make(x))

    made, wanted = pliant.jit(both)(x), consume(rows)
    assert np.asarray(made).dtype == np.asarray(wanted).dtype
    close(made, wanted)
    xs = np.stack([x, x[::-1]])
    close(pliant.vmap(both)(xs), np.stack([consume(pliant.jit(make)(x)) for x in xs]))
    if x.dtype.kind in "iu":
        return

    def whole(x: Any) -> Any:
        return number(both(x))

    def later(y: Any) -> Any:
        return number(consume(y))

    close(pliant.grad(whole)(x), pliant.vjp(make, x)[1](pliant.grad(later)(rows))[0])
    way = np.cos(np.arange(N)).astype(x.dtype)
    moved = pliant.jvp(make, (x,), (way,))[1]
    close(pliant.jvp(whole, (x,), (way,))[1], pliant.jvp(later, (rows,), (moved,))[1])


@pytest.mark.parametrize("name", CONSUMERS)
@pytest.mark.parametrize("make", MAKERS, ids=lambda f: f.__name__)
def test_one_program_makes_what_two_make(make: Callable[..., Any], name: str) -> None:
    assert_same(CONSUMERS[name][1], lambda x: make(x, T), start("float64"))


@pytest.mark.parametrize("dtype", ["float32", "complex64", "complex128", "int64", "int8", "uint16"])
@pytest.mark.parametrize("name", CONSUMERS)
def test_rows_of_other_dtypes(name: str, dtype: str) -> None:
    make = MAKERS[len(name) % len(MAKERS)]
    assert_same(CONSUMERS[name][1], lambda x: make(x, T), start(dtype))


def _drawn(seed: int, y: Any) -> Any:
    """A few things that are done with rows, one after the other, and a consumer of them."""
    draw = random.Random(seed)
    for _ in range(draw.randint(0, 3)):
        able: list[Callable[[Any], Any]] = [
            lambda y: y + np.roll(y, 1, axis=0), lambda y: y * y, lambda y: y[::-1], lambda y: y[1:-1], lambda y: y - y[:1],
            lambda y: np.concatenate([y[-1:], y[:-1]]), lambda y: np.concatenate([y, y[:2]]), lambda y: y[:, ::-1],
            lambda y: y * np.arange(len(y))[:, None].astype(y.dtype), lambda y: np.concatenate([y[3:], y[:3]]),
        ]  # fmt: skip
        y = draw.choice(able)(y)
    return CONSUMERS[draw.choice([name for name, (least, _) in CONSUMERS.items() if least <= len(y)])][1](y)


@pytest.mark.parametrize("seed", range(60))
def test_random_programs(seed: int) -> None:
    make, dtype = MAKERS[seed % len(MAKERS)], ("float64", "float32", "complex128", "int64")[seed // 4 % 4]
    few = 4 if seed % 7 == 0 else T

    def consume(y: Any) -> Any:
        return _drawn(seed, y)[..., None] + _drawn(seed + 1000, y).sum()

    assert_same(consume, lambda x: make(x, few), start(dtype))


FOLDED = [name for name in CONSUMERS if name not in ("products", "covariances", "products with others", "rolled by 3")]


def program_of(f: Callable[..., Any], *args: Any) -> str:
    text = str(pliant.explain(f, *args))
    return text[text.index("after the passes") : text.index("arrays captured")]


@pytest.mark.parametrize("name", FOLDED)
def test_no_array_of_rows_is_made(name: str) -> None:
    def f(x: Any) -> Any:
        return CONSUMERS[name][1](scanned(x, 40))

    program = program_of(f, start("float64"))
    assert f"f64[40, {N}] = loop" not in program


def workspace(f: Callable[..., Any], *args: Any) -> int:
    """Bytes that a call needs beside its arguments."""
    words = re.findall(r"([0-9,]+) bytes (?:allocated|of workspace)", pliant.explain(f, *args).memory)
    return sum(int(word.replace(",", "")) for word in words)


def test_products_of_all_rows_are_those_of_blocks_of_them() -> None:
    length, n = 4000, 200

    def f(x: Any) -> Any:
        ys = list[Any]()
        for _ in range(length):
            x = np.tanh(0.9 * x + 0.1)
            ys.append(x)
        y = np.array(ys)
        return np.sum(np.sin(y.T @ y))

    x, rows = np.linspace(-1, 1, n), 8 * length * n
    assert workspace(f, x) < 0.3 * rows
    assert workspace(pliant.grad(f), x) < 1.5 * rows
    np.testing.assert_allclose(pliant.jit(f)(x), f(x), rtol=1e-9)
    way, h = np.cos(np.arange(n)), 1e-6
    slope = (pliant.jit(f)(x + h * way) - pliant.jit(f)(x - h * way)) / (2 * h)
    assert pliant.grad(f)(x) @ way == pytest.approx(slope, rel=1e-4)


@pytest.mark.parametrize("length", [0, 1, 2, 3])
@pytest.mark.parametrize("make", [written, scanned, scanned_back], ids=lambda f: f.__name__)
def test_few_rows_or_none(make: Callable[..., Any], length: int) -> None:
    for least, consume in CONSUMERS.values():
        if length >= least:
            assert_same(consume, lambda x: make(x, length), start("float64"))


def test_a_chain_of_updates_of_rows_of_a_loop_takes_linear_time():
    def f(x: Any) -> Any:
        rows = [np.sin(x + i) for i in range(6)]
        y = rows[0]
        for _ in range(40):  # each line reads y twice
            y = y + 0.5 * (rows[1] - y) * y
            y = y + 0.5 * (rows[2] - y) * y
        return np.sum(y)

    x = np.ones(3) / 3
    np.testing.assert_allclose(pliant.jit(f)(x), f(x), rtol=1e-14)
    h = 1e-6
    np.testing.assert_allclose(pliant.grad(f)(x).sum(), (f(x + h) - f(x - h)) / (2 * h), rtol=1e-6)
