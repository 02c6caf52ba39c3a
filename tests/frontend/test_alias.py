"""Arguments and captured arrays that overlap in memory, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import ReadOnlyError, UnsupportedError
from pliant.frontend.alias import groups_of, is_injective

SIZES = (7, 33, 100, 101)


def vector(n: int) -> Any:
    return np.arange(float(n)) + 1


def matrix(n: int) -> Any:
    return vector(n * n).reshape(n, n)


OVERLAPS: dict[str, Callable[[int], tuple[Any, Any]]] = {
    "the same array": lambda n: (x := vector(n), x),
    "two views of the whole": lambda n: (x := vector(n), x[:])[::-1],
    "shifted": lambda n: (x := vector(n + 2), (x[:-2], x[2:]))[1],
    "reversed": lambda n: (x := vector(n), x[::-1]),
    "both reversed, shifted": lambda n: (x := vector(n + 3), (x[:-3][::-1], x[3:][::-1]))[1],
    "a matrix and its transpose": lambda n: (x := matrix(n), x.T),
    "a transpose and its matrix": lambda n: (x := matrix(n), x.T)[::-1],
    "a row and its matrix": lambda n: (x := matrix(n), (x[3], x))[1],
    "a column and its matrix": lambda n: (x := matrix(n), (x[:, 2], x))[1],
    "a matrix and its column": lambda n: (x := matrix(n), (x, x[:, 2:3]))[1],
    "blocks": lambda n: (x := matrix(n), (x[1:4, 1:4], x[2:5, 0:3]))[1],
    "transposed blocks": lambda n: (x := matrix(n), (x[1:4, 1:4].T, x[2:5, 0:3]))[1],
    "a diagonal and its matrix": lambda n: (x := matrix(n), (np.einsum("ii->i", x), x))[1],
    "a matrix and its diagonal": lambda n: (x := matrix(n), (x, np.einsum("ii->i", x)))[1],
    "strides that meet": lambda n: (x := vector(3 * n), (x[: 2 * n : 2], x[n : 2 * n]))[1],
    "strides that do not meet": lambda n: (x := vector(2 * n), (x[::2], x[1::2]))[1],
    "apart": lambda n: (vector(n), vector(n)),
    "column-major": lambda n: (x := np.asfortranarray(matrix(n)), (x, x[1]))[1],
    "three axes": lambda n: (
        x := vector(n * 12).reshape(3, n, 4),
        (x[:, ::-1], x[1:2, :, ::2].repeat(2, 2) * 0 + x[1:2]),
    )[1],
    "of rank 0": lambda n: (x := vector(n), (x, x[3, ...]))[1],
    "windows": lambda n: (x := vector(n + 2), (x, np.lib.stride_tricks.sliding_window_view(x, n + 2)))[1],
    "complex numbers": lambda n: (x := vector(n) * (1 + 2j), (x, x[::-1]))[1],
    "small integers": lambda n: (x := np.arange(n, dtype=np.uint8), (x, x[::-1]))[1],
}


def scales(x: Any, y: Any) -> Any:
    x *= 2
    return x + y


def adds(x: Any, y: Any) -> Any:
    x += y
    y -= 1
    return y.copy()


def shifts(x: Any, y: Any) -> Any:
    x[..., 1:] = x[..., :-1].copy()
    y[...] = y[..., ::-1] if y.ndim else y + 1
    return x, y[..., None], y.reshape(-1)


def partly(x: Any, y: Any) -> Any:
    if x.ndim:
        x[0] = 5
        x[-1:] += 3
    return x * y


PROGRAMS = (scales, adds, shifts, partly)


def both(f: Callable[..., Any], make: Callable[[], tuple[Any, ...]], g: Callable[..., Any] | None = None) -> None:
    """f compiled does what NumPy does: results, effects on arguments, shared memory; twice."""
    g = pliant.jit(f) if g is None else g
    for _ in range(2):
        ours, theirs = make(), make()
        try:
            wanted = f(*theirs)
        except ValueError:  # shapes or flags that NumPy refuses
            with pytest.raises(ValueError, match=r"read-only|broadcast|shape|places|fit"):
                g(*ours)
            return
        got = g(*ours)
        results = (got, wanted) if isinstance(wanted, tuple) else ((got,), (wanted,))
        mine, numpy = [*results[0], *ours], [*results[1], *theirs]
        for a, b in zip(mine, numpy, strict=True):
            np.testing.assert_array_equal(a, b)
        for i in range(len(results[0])):
            for j in range(len(mine)):
                assert np.shares_memory(mine[i], mine[j]) == np.shares_memory(numpy[i], numpy[j])


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("name", OVERLAPS)
def test_overlapping_arguments_behave_as_in_numpy(name: str, f: Callable[..., Any], n: int):
    both(f, lambda: OVERLAPS[name](n))


def test_the_lowest_of_overlapping_arrays_may_be_of_rank_0():
    def f(first: Any, x: Any) -> Any:
        x *= 2
        return x * first

    x, y = np.arange(1.0, 9)[::2], np.arange(1.0, 9)[::2]
    np.testing.assert_array_equal(pliant.jit(f)(x[0, ...], x), f(y[0, ...], y))
    np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_one_compiled_function_serves_every_pattern(f: Callable[..., Any]):
    g = pliant.jit(f)
    for name in (
        "apart",
        "the same array",
        "reversed",
        "apart",
        "strides that do not meet",
        "shifted",
        "the same array",
    ):
        both(f, lambda name=name: OVERLAPS[name](9), g)


def test_the_pattern_is_looked_at_in_every_call():
    f = pliant.jit(scales)
    np.testing.assert_array_equal(f(np.ones(4), np.ones(4)), [3, 3, 3, 3])
    b = np.ones(8)
    np.testing.assert_array_equal(f(b[:4], b[2:6]), [4, 4, 3, 3])
    np.testing.assert_array_equal(b, [2, 2, 2, 2, 1, 1, 1, 1])
    x = np.ones(4)
    np.testing.assert_array_equal(f(x, x), [4, 4, 4, 4])
    np.testing.assert_array_equal(f(np.ones(4), np.ones(4)), [3, 3, 3, 3])


def test_a_captured_array_may_be_the_written_argument():
    w = np.arange(5.0)

    def f(x: Any) -> Any:
        x += 1
        return x * w

    g = pliant.jit(f)
    np.testing.assert_array_equal(g(np.ones(5)), 2 * np.arange(5.0))
    np.testing.assert_array_equal(g(w), np.arange(1.0, 6) ** 2)
    np.testing.assert_array_equal(w, np.arange(1.0, 6))
    np.testing.assert_array_equal(g(w[::-1]), (np.arange(2.0, 7) * np.arange(2.0, 7)[::-1]))


def test_two_captured_arrays_may_overlap():
    buffer = np.arange(6.0)
    tail = buffer[2:]

    def f(x: Any) -> Any:
        tail[...] = x
        return buffer.sum()

    assert pliant.jit(f)(np.ones(4)) == 5
    np.testing.assert_array_equal(buffer, [0, 1, 1, 1, 1, 1])


def test_nothing_is_grouped_that_is_only_read():
    x = np.arange(4.0)
    f = pliant.jit(lambda x, y: x + y)
    assert [len(f.program(x, y).groups) for y in (x, x[::-1], x + 1)] == [0, 0, 0]  # type: ignore[attr-defined]
    np.testing.assert_array_equal(f(x, x[::-1]), [3, 3, 3, 3])


def test_a_read_only_view_of_what_is_written_stays_read_only():
    def make() -> tuple[Any, Any]:
        x = np.arange(4.0)
        y = x[::-1]
        y.flags.writeable = False
        return x, y

    both(scales, make)
    with pytest.raises(ReadOnlyError, match="read-only"):
        pliant.jit(adds)(*make())
    x, y = make()
    assert not pliant.jit(lambda x, y: (x.fill(1), y)[1])(x, y).flags.writeable
    np.testing.assert_array_equal(y, np.ones(4))


MIXED: dict[str, Callable[[int], tuple[Any, ...]]] = {
    "the same bytes": lambda n: (x := vector(n), x.view(np.int64)),
    "halves": lambda n: (x := vector(n), x.view(np.float32)[::2]),
    "bytes": lambda n: (x := vector(n), x.view(np.uint8)[8:][:n]),
    "numbers in bytes": lambda n: (x := np.arange(8 * n, dtype=np.uint8) % 4, x.view(np.float64)[:1])[::-1],
    "real parts": lambda n: (x := vector(n) * (1 + 2j), x.real),
    "imaginary parts, reversed": lambda n: (x := vector(n) * (1 + 2j), x.imag[::-1])[::-1],
    "crooked": lambda n: (x := np.zeros(8 * n + 3, np.uint8), (x[: 8 * n].view(float), x[3:].view(float)))[1],
    "columns as integers": lambda n: (x := matrix(n), x.view(np.int64)[:, 1]),
}


@pytest.mark.parametrize("n", SIZES[:3])
@pytest.mark.parametrize("name", MIXED)
def test_overlapping_arrays_of_two_dtypes_behave_as_in_numpy(name: str, n: int):
    def counts(x: Any, y: Any) -> Any:
        x[...] += 1
        y[..., 1:] = y[..., :-1] + 2
        return x[..., :1] + 0, y

    def fills(x: Any, y: Any) -> None:
        y.T[...] = 3
        x[1:] = x[:-1]

    for f in (counts, fills):
        both(f, lambda: MIXED[name](n))


def test_an_array_with_elements_in_one_place_is_not_written():
    x = np.lib.stride_tricks.as_strided(np.arange(4.0), (3, 2), (8, 8))
    assert not is_injective(x)
    with pytest.raises(UnsupportedError, match="several elements in one place"):
        pliant.jit(lambda x: x.fill(1))(x)


def test_a_local_write_that_would_miss_the_other_array_is_refused():
    x = np.arange(4.0)

    def loss(x: Any, y: Any) -> Any:
        x *= 2
        return np.sum(x * y)

    np.testing.assert_array_equal(pliant.grad(loss)(x, x + 0), 2 * x)
    for transformed in (pliant.grad(loss), pliant.jit(lambda x, y: pliant.grad(loss)(x, y))):
        with pytest.raises(UnsupportedError, match="shares memory with another"):
            transformed(x, x)
    with pytest.raises(UnsupportedError, match="shares memory with another"):
        pliant.vmap(scales)(x.reshape(2, 2), x.reshape(2, 2))
    with pytest.raises(UnsupportedError, match="read from the enclosing scope"):
        pliant.jit(lambda x: pliant.grad(lambda y: loss(y, x))(x))(x)
    np.testing.assert_array_equal(x, np.arange(4.0))


def _doubles_first(v: Any, base: Any) -> Any:
    base[0] *= 2
    return np.sum(v * v)


def _value_by_vjp(f: Any) -> Any:
    return lambda *args: pliant.vjp(f, *args)[0]


@pytest.mark.parametrize(
    "transform", [pliant.grad, pliant.value_and_grad, pliant.jacobian, pliant.hessian, _value_by_vjp]
)
def test_a_write_to_what_is_not_differentiated_and_shares_memory_with_what_is_is_refused(transform: Any):
    b = np.array([1.0, 2.0, 3.0, 4.0])

    def captured(v: Any) -> Any:
        return _doubles_first(v, b)

    f = transform(_doubles_first)
    calls = [(f, b[:2], b), (f, b, b), (f, b[::-1], b[:2]), (transform(captured), b[:2])]
    for g, *args in [*calls, *[(pliant.jit(g), *args) for g, *args in calls[:3]]]:
        with pytest.raises(UnsupportedError, match=r"shares memory with a[\s\S]*base\[0\] \*= 2"):
            g(*args)
    np.testing.assert_array_equal(b, [1, 2, 3, 4])
    np.testing.assert_equal(pliant.value_and_grad(_doubles_first)(b[:2], b[2:]), (5.0, [2.0, 4.0]))


def test_a_write_beside_what_is_differentiated_is_none_to_it():
    def halves(v: Any) -> Any:
        def loss(w: Any, b: Any) -> Any:
            b *= 2.0
            b[0] += 1
            return (w * b).sum()

        return pliant.grad(loss)(v[:3], v[3:])

    def rows(w: Any) -> Any:
        work = np.zeros((2, 3))

        def loss(a: Any) -> Any:
            work[1] = w * w
            work[1, 0] = 1
            return (a * work[1]).sum()

        return pliant.grad(loss)(work[0])

    def branch(x: Any) -> Any:
        def other(y: Any) -> Any:
            x[5] = 7.0
            return y.sum()

        return pliant.cond(True, other, np.prod, x[:3]), x[5]

    x = np.arange(1.0, 7.0)
    for f in (pliant.jit(halves), halves):
        np.testing.assert_allclose(f(x.copy()), [9, 10, 12])
    for f in (pliant.jit(rows), rows):
        np.testing.assert_allclose(f(x[:3]), [1, 4, 9])
    for f in (pliant.jit(branch), branch):
        assert f(x.copy()) == (6.0, 7.0)


def test_a_write_to_what_is_not_mapped_and_shares_memory_with_what_is_is_refused():
    x = np.arange(6.0).reshape(2, 3)

    def nines(row: Any, x: Any) -> Any:
        x[0, 0] = 9
        return np.sum(row)

    for g, *args in (pliant.vmap(nines, in_axes=(0, None)), x, x), (pliant.vmap(lambda row: nines(row, x)), x[:1]):
        with pytest.raises(UnsupportedError, match=r"shares memory with an argument[\s\S]*x\[0, 0\] = 9"):
            g(*args)
    np.testing.assert_array_equal(pliant.vmap(nines, in_axes=(0, None))(x, x.copy()), [3, 12])


def test_a_checkpoint_that_writes_to_the_memory_of_an_argument_from_outside_is_refused():
    def f(x: Any) -> Any:
        y = x.copy()

        @pliant.checkpoint
        def squares(z: Any) -> Any:
            y[0] = 5
            return z * z

        return squares(y)

    with pytest.raises(UnsupportedError, match="shares memory with an argument"):
        pliant.jit(f)(np.ones(3))


def test_a_tangent_may_be_the_array_itself():
    def doubled(x: Any) -> Any:
        x[0] = 2 * x[1]
        x *= x
        return np.sum(x)

    buffer = np.arange(1.0, 5.0)
    for x, dx in ((buffer, buffer), (buffer[1:], buffer[:-1]), (buffer[::-1], buffer), (buffer[:2], buffer[2:])):
        pushed, second = partial(_pushed, doubled), pliant.hvp(doubled)
        for derivative in (pushed, pliant.jit(pushed), second, pliant.jit(second)):
            np.testing.assert_array_equal(derivative(x, dx), derivative(x.copy(), dx.copy()))
        np.testing.assert_array_equal(buffer, np.arange(1.0, 5.0))


def _pushed(f: Any, x: Any, dx: Any) -> Any:
    return pliant.jvp(f, (x,), (dx,))


def test_a_captured_array_that_shares_memory_with_what_is_written_is_refused():
    buffer = np.arange(4.0)

    def loss(x: Any) -> Any:
        x *= 2
        return np.sum(x * buffer[1:])

    with pytest.raises(UnsupportedError, match="read from the enclosing scope"):
        pliant.grad(loss)(buffer[:-1])
    np.testing.assert_array_equal(pliant.grad(loss)(np.ones(3)), 2 * buffer[1:])


def test_many_arrays_are_swept_by_address():
    buffer = np.zeros(1000)
    parts = [buffer[10 * i : 10 * i + 10] for i in range(100)]
    assert groups_of(parts, range(100)) == ()
    (group,) = groups_of([*parts, buffer[55:65]], range(100))
    assert [m.place for m in group.members] == [5, 6, 100] and group.size == 20


def test_an_optimiser_step_over_a_tree_updates_it_in_place():
    def step(p: Any, g: Any, m: Any, rate: float) -> None:
        for k in p:
            m[k] *= 0.9
            m[k] += g[k]
            p[k] -= rate * m[k]

    def make() -> Any:
        return [{"w": np.ones((3, 4)) * s, "b": np.arange(4.0) + s} for s in (1.0, 2.0, 3.0)]

    ours, theirs = make(), make()
    compiled = pliant.jit(step)
    for _ in range(4):
        assert compiled(*ours, 0.1) is None
        step(*theirs, 0.1)
    for a, b in zip(ours, theirs, strict=True):
        for k in a:
            np.testing.assert_allclose(a[k], b[k], rtol=1e-14)


def test_parameters_may_share_memory_in_an_optimiser_step():
    def step(p: Any, g: Any) -> None:
        for k in p:
            p[k] -= 0.1 * g[k]

    def make() -> tuple[Any, Any]:
        flat = np.arange(20.0)
        return {"w": flat[:12].reshape(3, 4), "b": flat[10:14]}, {"w": np.ones((3, 4)), "b": np.arange(4.0)}

    (ours, g), (theirs, _) = make(), make()
    pliant.jit(step)(ours, g)
    step(theirs, g)
    for k in g:
        np.testing.assert_allclose(ours[k], theirs[k], rtol=1e-15)


@pytest.mark.parametrize("n", [3, 33])
def test_calls_of_every_layout_and_pattern_in_a_row(n: int):
    """The first calls make a way for arrays in row-major order that do not overlap; the others must not take it."""

    def f(x: Any, y: Any) -> Any:
        x.reshape(-1)[0] = 7
        y += x
        return x.sum(), y

    calls = [
        lambda: (matrix(n), matrix(n)),
        lambda: (matrix(n), matrix(n)),
        lambda: (matrix(n), matrix(n)),
        lambda: (matrix(n).T, matrix(n)),
        lambda: (x := matrix(n), x),
        lambda: (x := matrix(n), x.T),
        lambda: (matrix(n), np.asfortranarray(matrix(n))),
        lambda: (matrix(n + 1), matrix(n + 1)),
        lambda: (matrix(n).astype(np.float32), matrix(n)),
        lambda: (matrix(n), matrix(n)),
    ]
    for order in (calls, calls[::-1], [calls[3]] * 3 + calls):
        g = pliant.jit(f)
        for make in order:
            both(f, make, g)
    readonly = matrix(n)
    readonly.flags.writeable = False
    with pytest.raises(ReadOnlyError):
        g(matrix(n), readonly)


def test_calls_of_a_compiled_program_see_new_overlaps_in_every_order():
    def f(a: Any, b: Any, c: Any) -> Any:
        b += a
        return b, c + 1

    x = np.arange(40.0)
    compiled = pliant.jit(f)
    for _ in range(4):
        compiled(x[:10], x[10:20].copy(), x[20:30])
    assert compiled.natives
    for starts in ((0, 10, 20), (0, 5, 20), (0, 10, 15), (12, 10, 30), (0, 0, 0), (0, 20, 10)):
        ours, theirs = x.copy(), x.copy()
        made = compiled(*(ours[s : s + 10] for s in starts))
        wanted = f(*(theirs[s : s + 10] for s in starts))
        np.testing.assert_array_equal(ours, theirs)
        for m, w in zip(made, wanted, strict=True):
            np.testing.assert_array_equal(m, w)
        assert np.shares_memory(made[0], ours)


def test_a_written_argument_that_is_returned_is_the_argument_itself():
    def f(x: Any, g: Any) -> Any:
        x -= 0.1 * g
        return x, {"g": g}

    compiled = pliant.jit(f)
    x, g = np.ones(5), np.ones(5)
    for _ in range(5):
        same, table = compiled(x, g)
        assert same is x
        assert table["g"] is g
    np.testing.assert_allclose(x, np.full(5, 0.5))


def test_arrays_that_cover_their_memory_together_are_written_in_place():
    def f(x: Any, y: Any) -> None:
        x *= 2
        y += 1

    b = np.arange(1001.0)
    wanted = b.copy()
    f(wanted[:-1], wanted[1:])
    pliant.jit(f)(b[:-1], b[1:])
    np.testing.assert_array_equal(b, wanted)
    (whole,) = groups_of([b[:-1], b[1:]], [0])
    (gaps,) = groups_of([b[:500:2], b[100:300:4]], [0])
    (closed,) = groups_of([b[:500:2], b[:499]], [0])
    assert (whole.is_whole, gaps.is_whole, closed.is_whole) == (True, False, True)
    assert "copies" not in str(pliant.explain(f, b[:-1], b[1:]))
    read_only = wanted[1:]
    read_only.flags.writeable = False
    (kept,) = groups_of([wanted[:-1], read_only], [0])
    assert not kept.is_whole


RESHAPES: dict[str, Callable[[Any], Any]] = {
    "flat": lambda x: x.reshape(-1),
    "ravelled": np.ravel,
    "other rows": lambda x: x.reshape(3, 10),
    "some rows": lambda x: x[1:3].reshape(-1),
    "some columns": lambda x: x[:, 1:3].reshape(-1),
    "transposed": lambda x: x.T.reshape(-1),
    "reversed": lambda x: x[::-1, ::-1].reshape(-1),
}


@pytest.mark.parametrize("reshape", RESHAPES.values(), ids=[*RESHAPES])
def test_a_reshape_of_an_array_that_is_no_slice_of_the_other_is_a_view_where_it_is_numpys(reshape: Any) -> None:
    def f(x: Any, y: Any) -> Any:
        z = reshape(x)
        z[0] = 99
        y[5:8] += 50
        return z

    ours, theirs = vector(100), vector(100)
    made, wanted = (g(b[3:33].reshape(5, 6), b[:]) for g, b in ((pliant.jit(f), ours), (f, theirs)))
    np.testing.assert_array_equal(made, wanted)
    assert np.shares_memory(made, ours) == np.shares_memory(wanted, theirs)
    np.testing.assert_array_equal(ours, theirs)
