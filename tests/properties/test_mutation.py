"""Programs that write in place, as mutation-and-memory §2.7 numbers them: what other compilers got wrong.

Each runs compiled and by NumPy on the same arguments: results, effects on the arguments and shared
memory are the same. Sizes lie below and above a vector's width, with odd tails.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import optree
import pytest

import pliant
from pliant.errors import DTypeError, ReadOnlyError

BACKENDS = ("reference", "llvm")
SIZES = (7, 33, 100, 101)
SIDES = (3, 7, 33)


def ramp(n: int) -> Any:
    """0, 1, …, n-1 as floats."""
    return np.arange(n, dtype=float)


def square(n: int) -> Any:
    """A matrix of different numbers."""
    return ramp(n * n).reshape(n, n)


def shift_up(x: Any) -> None:
    x[1:] = x[:-1]


def shift_down(x: Any) -> None:
    x[:-1] = x[1:]


def add_shifted(x: Any) -> None:
    x[1:] += x[:-1]


def add_reversed(x: Any) -> None:
    x += x[::-1]


def add_transposed(x: Any) -> None:
    x += x.T


def become_transposed(x: Any) -> None:
    x.T[...] = x


def smooth_rows(x: Any) -> None:
    x[1:-1, 1:-1] = 0.5 * (x[:-2, 1:-1] + x[2:, 1:-1])


def write_through_reversed_view(x: Any) -> None:
    y = x[::-1]
    y[0] = 9


def reshape_is_view_or_copy(x: Any) -> Any:
    y = x.reshape(-1)
    y[0] = 7
    z = x.T.reshape(-1)
    z[1] = 8
    return y, z


def flatten_is_a_copy(x: Any) -> Any:
    y = x.flatten()
    y[0] = 7
    return y


def swap_elements(x: Any) -> None:
    x[0], x[1] = x[1], x[0]


def swap_rows_by_index_array(x: Any) -> None:
    x[[0, 1]] = x[[1, 0]]
    x[[0, 0], [0, 0]] = np.array([1, 2])


def increment_by_index_array(x: Any) -> None:
    i = np.array([0, 0, 2])
    x[i] += 1
    np.add.at(x, i, 10)


def view_sees_later_writes(x: Any) -> Any:
    y = x[1:3]
    x += 1
    return y


def copy_does_not(x: Any) -> Any:
    y = x[1:3] + 0
    x += 1
    return y


def two_copies(x: Any) -> Any:
    a = x.copy()
    x[0] = 1
    b = x.copy()
    x[0] = 2
    return a, b


def copy_then_change_source(dst: Any, src: Any) -> None:
    dst[:] = src[:]
    src += 1


def out_overlaps_operands(x: Any) -> None:
    np.add(x[:-1], x[1:], out=x[1:])
    np.cumsum(x, out=x)


def product_into_operand(x: Any) -> None:
    np.matmul(x, x, out=x)


def sum_into_row(x: Any) -> None:
    np.sum(x, 0, out=x[1])


def alias_and_empty_slices(x: Any) -> None:
    y = x
    y *= y
    x[5:2] = 1
    x[:0] += 1


def zero_rank_view_and_scalar(x: Any) -> None:
    z = x[2, ...]
    z[...] = 5
    s = x[3]
    s += 5


def loop_reads_what_it_wrote(x: Any) -> Any:
    s = 0.0
    for i in range(x.shape[0] - 1):
        v = x[i]
        x[i] = 2 * v
        s += x[i + 1] * v
    return s


def ping_pong(n: int) -> Callable[[Any], Any]:
    def f(a: Any) -> Any:
        b = np.zeros(a.shape)
        for _ in range(n):
            b[1:-1] = 0.5 * (a[:-2] + a[2:])
            a, b = b, a
        return a

    f.__name__ = f"ping_pong_{n}"
    return f


def running_sum(x: Any) -> None:
    for i in range(1, x.shape[0]):
        x[i] += x[i - 1]


def running_sum_around(x: Any) -> None:
    for i in range(x.shape[0]):
        x[i] += x[i - 1]


def add_own_product(g: Any, w: Any) -> None:
    g += w @ g


def views_of_flat_parameters(flat: Any) -> None:
    first = flat[:2]
    second = flat[2:6].reshape(2, 2)
    first += 1
    second += np.eye(2)


def mask_moves_itself(x: Any) -> None:
    x[x > 2] = 0.0
    x[x < 1] += 5


def interleaved_views(x: Any) -> None:
    y = x[::2][: x.shape[0] // 2]
    z = x[1::2]
    y += z
    z -= y


def views_of_views(x: Any) -> Any:
    y = x[1:-1][::2][::-1]
    y[:2] = 5
    z = y[1:]
    z *= 3
    return y, z


def add_broadcast_row(x: Any) -> None:
    x += np.broadcast_to(x[0], x.shape)


def shifted_copy_reshaped(x: Any) -> Any:
    b = x + 1
    b[1:] = b[:-1]
    c = x + 1
    c[1:] += c[:-1]
    return b.reshape(1, -1), c.reshape(1, -1)


def complex_parts(x: Any) -> None:
    x.real[...] = 3
    x.imag[1:] += 2


def rows_in_place(x: Any) -> Any:
    for row in x:
        row *= 2
    x[0][1] = 9
    x.T[0] += 1
    np.copyto(x[1], 3)
    return x.ravel()[3:5]


def sort_and_mix(x: Any) -> None:
    x.sort()
    x[:] = x[::-1]
    x[2:5] = x[3:6] * 2
    x **= 2
    x //= 3
    x %= 7


def mixed_indices(x: Any) -> Any:
    x[:, [0, 2], :] = 5
    x[0, :, [1, 1]] = 7
    x[..., None][0] = 1
    return x[:, None, [1, 2]], x[[0, 1], :, [0, 1]]


def write_through_einsum(x: Any) -> Any:
    np.einsum("ii->i", x)[...] = 1
    y = np.einsum("ij->ji", x)
    y[0] += 2
    return y


def turned_results_keep_their_order(x: Any) -> Any:
    y = x.T * 2 + np.ones(x.T.shape)
    z = y.reshape(-1)
    z[0] = 9
    u = np.ascontiguousarray(x.T)
    u += 1
    return y, z, u, np.ascontiguousarray(x)


PROGRAMS: list[tuple[str, Callable[..., Any], list[Any]]] = [
    *[
        (f"{f.__name__}, n = {n}", f, [ramp(n)])
        for n in SIZES
        for f in (
            shift_up, shift_down, add_shifted, add_reversed, write_through_reversed_view, flatten_is_a_copy, swap_elements,
            view_sees_later_writes, copy_does_not, two_copies, out_overlaps_operands, alias_and_empty_slices,
            zero_rank_view_and_scalar, loop_reads_what_it_wrote, running_sum, running_sum_around, mask_moves_itself,
            interleaved_views, views_of_views, shifted_copy_reshaped, sort_and_mix, views_of_flat_parameters,
            increment_by_index_array,
        )
    ],
    *[
        (f"{f.__name__}, n = {n}", f, [square(n)])
        for n in SIDES
        for f in (
            add_transposed, become_transposed, smooth_rows, reshape_is_view_or_copy, swap_elements, swap_rows_by_index_array,
            product_into_operand, sum_into_row, add_broadcast_row, rows_in_place,
            write_through_einsum, turned_results_keep_their_order,
        )
    ],
    *[(f"copy_then_change_source, n = {n}", copy_then_change_source, [np.zeros(n), ramp(n)]) for n in SIZES],
    *[(f"add_own_product, n = {n}", add_own_product, [ramp(n), np.ones((n, n))]) for n in SIDES],
    *[(f"ping_pong {n} times", ping_pong(n), [ramp(m) ** 2]) for n in (0, 1, 3, 4) for m in (6, 101)],
    ("reshape_is_view_or_copy of 2 rows", reshape_is_view_or_copy, [np.zeros((2, 3))]),
    ("swap_elements of 3 rows", swap_elements, [ramp(6).reshape(3, 2)]),
    ("swap_rows_by_index_array of 3 rows", swap_rows_by_index_array, [ramp(6).reshape(3, 2)]),
    ("add_broadcast_row of 3 rows", add_broadcast_row, [ramp(6).reshape(3, 2)]),
    ("complex_parts", complex_parts, [ramp(101) + 1j]),
    ("mixed_indices", mixed_indices, [ramp(24).reshape(2, 3, 4)]),
]  # fmt: skip


def copies(arrays: Sequence[Any]) -> list[Any]:
    """Copies with the layout kept."""
    return [np.copy(a, order="K") for a in arrays]


def assert_same_effects(f: Callable[..., Any], given: Sequence[Any], backend: str) -> None:
    """Results, contents of the arguments afterwards, kinds, and what shares memory with what."""
    ours, theirs = copies(given), copies(given)
    compiled = pliant.jit(f, backend=backend)
    made, wanted = optree.tree_leaves(compiled(*ours)), optree.tree_leaves(f(*theirs))
    assert [type(m) for m in made] == [type(w) for w in wanted]
    for x, y in zip((*made, *ours), (*wanted, *theirs), strict=True):
        np.testing.assert_array_equal(x, y)
    got = [np.shares_memory(m, x) for m in made for x in (*made, *ours)]
    assert got == [np.shares_memory(w, y) for w in wanted for y in (*wanted, *theirs)]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("name", "f", "given"), PROGRAMS, ids=[p[0] for p in PROGRAMS])
def test_writes_are_numpys(name: str, f: Callable[..., Any], given: list[Any], backend: str):
    assert_same_effects(f, given, backend)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "laid_out",
    [np.asfortranarray, lambda x: np.repeat(x, 2, 1)[:, ::2], lambda x: x[::-1, ::-1].copy()[::-1, ::-1]],
    ids=["column-major", "strided", "reversed"],
)
@pytest.mark.parametrize("f", [add_transposed, become_transposed, reshape_is_view_or_copy, rows_in_place, sum_into_row])
def test_writes_to_other_layouts_are_numpys(f: Callable[..., Any], laid_out: Callable[[Any], Any], backend: str):
    ours, theirs = laid_out(square(7)), laid_out(square(7))
    made, wanted = optree.tree_leaves(pliant.jit(f, backend=backend)(ours)), optree.tree_leaves(f(theirs))
    np.testing.assert_array_equal(ours, theirs)
    for x, y in zip(made, wanted, strict=True):
        np.testing.assert_array_equal(x, y)
        assert np.shares_memory(x, ours) == np.shares_memory(y, theirs)


def test_the_numbers_of_the_page_come_out():
    x = ramp(6)
    assert pliant.jit(loop_reads_what_it_wrote)(x) == 40
    np.testing.assert_array_equal(x, [0, 2, 4, 6, 8, 5])
    for n, wanted in (
        (1, [0, 2, 5, 10, 17, 0]),
        (3, [0, 3, 6.75, 5.5, 18, 0]),
        (4, [0, 3.375, 4.25, 12.375, 2.75, 25]),
    ):
        np.testing.assert_array_equal(pliant.jit(ping_pong(n))(ramp(6) ** 2), wanted)
    x = ramp(6)
    pliant.jit(running_sum_around)(x)
    np.testing.assert_array_equal(x, [5, 6, 8, 11, 15, 20])


def test_gradient_of_an_array_that_was_overwritten_keeps_the_old_one():
    def f(x: Any) -> Any:
        y = x.copy()
        y *= y
        y *= x
        return y.sum()

    np.testing.assert_array_equal(pliant.grad(f)(np.array([1.0, 2.0, 3.0])), [3, 12, 27])


def test_a_float_cannot_be_added_to_integers_in_place():
    def f(x: Any) -> None:
        x += 1.5

    x = np.arange(3)
    with pytest.raises(DTypeError):
        pliant.jit(f)(x)
    np.testing.assert_array_equal(x, [0, 1, 2])


def test_read_only_arrays_cannot_be_written():
    x = ramp(100)
    x.flags.writeable = False
    with pytest.raises(ReadOnlyError):
        pliant.jit(shift_up)(x)
    np.testing.assert_array_equal(x, ramp(100))


def test_a_program_compiled_for_a_writable_array_does_not_write_a_read_only_one():
    f = pliant.jit(shift_up)
    f(ramp(100))
    x = ramp(100)
    x.flags.writeable = False
    with pytest.raises(ReadOnlyError):
        f(x)
    np.testing.assert_array_equal(x, ramp(100))


def test_broadcast_views_cannot_be_written():
    def f(x: Any) -> None:
        np.broadcast_to(x, (2, 3))[0, 0] = 1

    with pytest.raises(ReadOnlyError):
        pliant.jit(f)(np.zeros(3))


@pytest.mark.parametrize("backend", BACKENDS)
def test_overlap_of_a_written_argument_is_looked_at_in_every_call(backend: str):
    def f(x: Any, y: Any) -> Any:
        x *= 2
        return x + y

    compiled = pliant.jit(f, backend=backend)
    for first, second, wanted in (
        (slice(0, 4), slice(4, 8), [3, 3, 3, 3]),
        (slice(0, 4), slice(2, 6), [4, 4, 3, 3]),
        (slice(0, 4), slice(0, 4), [4, 4, 4, 4]),
    ):
        b = np.ones(8)
        np.testing.assert_array_equal(compiled(b[first], b[second]), wanted)
        np.testing.assert_array_equal(b, [2, 2, 2, 2, 1, 1, 1, 1])


@pytest.mark.parametrize("n", SIDES)
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_matrix_and_its_transpose_are_two_arguments(backend: str, n: int):
    def f(x: Any, y: Any) -> None:
        x += y

    m = square(n)
    pliant.jit(f, backend=backend)(m, m.T)
    np.testing.assert_array_equal(m, square(n) + square(n).T)


def test_one_shared_cotangent_is_added_once_for_each_use():
    c = np.arange(9.0)
    for fans in (2, 4, 5, 7, 8, 9):

        def f(g: Any, fans: int = fans) -> Any:
            g = g.copy()
            for k in range(fans):
                g += g * c[k]
            return g.sum()

        wanted = np.prod(1 + c[:fans])
        np.testing.assert_allclose(pliant.grad(f)(np.ones(3)), np.full(3, wanted), rtol=1e-14)
    gx, gy = pliant.grad(lambda x, y: np.sum(x + y), (0, 1))(np.ones(3), np.ones(3))
    np.testing.assert_array_equal(gx, np.ones(3))
    np.testing.assert_array_equal(gy, np.ones(3))
    assert not np.shares_memory(gx, gy)
