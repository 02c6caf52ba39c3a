"""Lists of many numbers as arguments: one parameter of a program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import ArgumentError, NumberRangeError, PliantError
from tests.frontend.test_outputs import same

N = 70
KINDS: dict[str, Callable[[int], Any]] = {
    "float": lambda n: n / 4 - 3,
    "int": lambda n: (n * 7) % 23 - 5,
    "bool": lambda n: n % 3 == 0,
    "complex": lambda n: complex(n, 1 - n),
    "f32": lambda n: np.float32(n / 3),
    "f64": lambda n: np.float64(n / 3),
    "i16": lambda n: np.int16(n - 9),
    "u8": lambda n: np.uint8(n),
    "c64": lambda n: np.complex64(complex(n, 2)),
    "b1": lambda n: np.bool_(n % 2),
}


def stacked(x: Any) -> Any:
    return np.array(x) * 2


def summed(x: Any) -> Any:
    total = 0
    for v in x:
        total = total + v * v
    return total


def neighbours(x: Any) -> Any:
    return [x[i] + x[i + 1] for i in range(len(x) - 1)]


def parts(x: Any) -> Any:
    return x[3], x[-1] + 1, list(x[2:5]), x[0] == x[1]


def enumerated(x: Any) -> Any:
    total = 0.0
    for i, v in enumerate(x):
        if i % 3:
            total += abs(v) * i
    return total


@pytest.mark.parametrize("make", [list, tuple], ids=["list", "tuple"])
@pytest.mark.parametrize("f", [stacked, summed, neighbours, parts, enumerated])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore:overflow")
def test_it_does_what_python_does(f: Any, kind: str, make: Any) -> None:
    compiled = pliant.jit(f)
    for shift in range(4):  # the third is answered by native code
        x = make(map(KINDS[kind], range(shift, shift + N)))
        if f is summed and kind in ("u8", "i16"):
            x = x[:20] * 3  # NumPy's own sum of squares in 16 bits wraps, with warnings
        got, wanted = compiled(x), f(x)
        np.testing.assert_equal(np.asarray(got).dtype if f is stacked else 0, wanted.dtype if f is stacked else 0)
        for a, b in zip(*[y if isinstance(y, tuple | list) else [y] for y in (got, wanted)], strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6)


def test_nested_lists_and_arrays_among_them() -> None:
    def mixed(rows: Any, shift: Any, pairs: Any, last: Any) -> Any:
        return [sum(row) for row in rows], np.array(rows) @ shift, pairs["a"][1][2], last * shift[0]

    compiled = pliant.jit(mixed)
    for k in range(4):
        rows = [[float(i * j + k) for i in range(6)] for j in range(8)]
        pairs = {"a": ([1] * 40, (2.5, 3.5, 4.5 + k)), "b": [1j] * 33}
        given = rows, np.arange(6.0), pairs, k + 0.5
        for a, b in zip(compiled(*given), mixed(*given), strict=True):
            np.testing.assert_allclose(a, b)


def changes(x: Any) -> Any:
    x[3] = x[4] * 2
    x.append(x[0])
    del x[1]
    return x[2]


def sorts(x: Any) -> Any:
    x.sort()
    return x[0]


def exchanges(x: Any) -> Any:
    for i in range(len(x) // 2):
        x[i], x[-1 - i] = x[-1 - i], x[i]


@pytest.mark.parametrize("f", [changes, sorts, exchanges])
@pytest.mark.parametrize("kind", ["float", "int", "f32"])
def test_lists_that_the_function_changes(f: Any, kind: str) -> None:
    compiled = pliant.jit(f)
    for shift in range(4):
        ours, theirs = ([*map(KINDS[kind], range(shift, shift + N))] for _ in range(2))
        got, wanted = compiled(ours), f(theirs)
        same(got, wanted)
        same(ours, theirs)


def test_calls_of_other_numbers_than_before() -> None:
    compiled = pliant.jit(summed)
    floats = [0.5] * N
    for _ in range(3):
        assert compiled(floats) == N / 4
    for other in ([0.5] * (N - 1) + [1], [0.5] * (N + 1), [*map(np.float64, floats)], [2] * N, [True] * N):
        for _ in range(3):
            assert compiled(other) == summed(other)
            assert type(compiled(other)) is type(summed(other))
    assert compiled(floats) == N / 4


def test_numbers_that_have_to_be_known() -> None:
    def shaped(sizes: Any, x: Any) -> Any:
        return np.zeros(sizes[2]) + x[sizes[3]], sum(sizes)

    compiled = pliant.jit(shaped)
    for size in (3, 3, 5, 3, 5):
        sizes = [1, 2, size, *range(4, 50)]
        given = sizes, np.arange(60.0)
        for a, b in zip(compiled(*given), shaped(*given), strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("calls", [0, 3])
def test_integers_that_fit_into_no_array(calls: int) -> None:
    compiled = pliant.jit(summed)
    for _ in range(calls):
        compiled([1] * N)
    with pytest.raises(ArgumentError, match="does not fit into 64 bits"):
        compiled([1] * (N - 1) + [2**63])
    with pytest.raises(ArgumentError, match=r"^(x\[0\]|summed): the Python int 9\d* does not fit into 64 bits"):
        compiled([2**63] + [1] * (N - 1))


def test_integers_that_have_to_fit_into_a_narrower_dtype() -> None:
    def narrow(x: Any, y: Any) -> Any:
        return y + x[7]

    compiled = pliant.jit(narrow)
    y = np.ones(3, np.int8)
    for _ in range(4):
        np.testing.assert_array_equal(compiled([5] * N, y), narrow([5] * N, y))
    with pytest.raises((NumberRangeError, OverflowError), match="out of bounds"):
        compiled([300] * N, y)


def test_gradients() -> None:
    def loss(x: Any, w: Any) -> Any:
        total = 0.0
        for a, b in zip(x, w, strict=True):
            total += a * a * b
        return total

    x, w = [n / 8 for n in range(N)], np.linspace(1, 2, N)
    for _ in range(4):
        dx, dw = pliant.jit(pliant.grad(loss, argnums=(0, 1)))(x, w)
        assert type(dx) is list
        np.testing.assert_allclose(dx, 2 * np.array(x) * w)
        np.testing.assert_allclose(dw, np.array(x) ** 2)


def test_a_list_given_twice_and_returned() -> None:
    def both(x: Any, y: Any) -> Any:
        return x, y, x[1] + y[2]

    compiled = pliant.jit(both)
    x = [n / 8 for n in range(N)]
    for _ in range(4):
        a, b, total = compiled(x, x)
        assert a is x
        assert b is x
        assert total == x[1] + x[2]


def fitted(points: Any) -> Any:
    n, sx, sy, sxy, sxx = len(points), 0.0, 0.0, 0.0, 0.0
    for x, y in points:
        sx += x
        sy += y
        sxy += x * y
        sxx += x * x
    return (n * sxy - sx * sy) / (n * sxx - sx * sx)


def area(points: Any) -> Any:
    total = 0.0
    for (x0, y0), (x1, y1) in zip(points, points[1:] + points[:1], strict=True):
        total += x0 * y1 - x1 * y0
    return total / 2


@pytest.mark.parametrize("f", [fitted, area])
def test_lists_of_pairs(f: Any) -> None:
    compiled, rng = pliant.jit(f), np.random.default_rng(0)
    for _ in range(4):
        points = [(float(x), float(y)) for x, y in rng.random((60, 2))]
        np.testing.assert_allclose(compiled(points), f(points))
    assert f is area or "unrolled" not in str(pliant.explain(f, points))


def spread_along(edges: Any, x: Any) -> Any:
    out = np.zeros_like(x)
    for i, j, weight in edges:
        out[i] += weight * x[j]
    return out


def strongest(edges: Any, x: Any) -> Any:
    best = edges[0]
    for edge in edges:
        if edge[2] * x[edge[0]] > best[2] * x[best[0]]:
            best = edge
    return best


@pytest.mark.parametrize("f", [spread_along, strongest])
def test_lists_of_tuples_of_several_kinds(f: Any) -> None:
    compiled, rng = pliant.jit(f), np.random.default_rng(0)
    for count in (60, 60, 60, 61, 60):
        edges = [(int(i), int(j), float(w)) for i, j, w in rng.random((count, 3)) * 8]
        x = rng.random(8)
        np.testing.assert_allclose(compiled(edges, x), f(edges, x))
    edges[7] = (1.0, *edges[7][1:])  # type: ignore[assignment]
    with pytest.raises((IndexError, PliantError)):
        compiled(edges, x)
