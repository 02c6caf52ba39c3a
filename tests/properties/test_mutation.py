"""Programs that write in place, compiled and by NumPy on the same arguments: results, effects on the arguments and
shared memory are the same. Derivatives and batches are those of the same programs, and write nothing.

Sizes lie below and above a vector's width, with odd tails.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import optree
import pytest

import pliant
from pliant.errors import DTypeError, ReadOnlyError
from pliant.testing import check_gradient
from tests.properties.mutating_programs import (
    CASES,
    SIDES,
    SIZES,
    Case,
    add_transposed,
    become_transposed,
    loop_reads_what_it_wrote,
    ping_pong,
    ramp,
    reshape_is_view_or_copy,
    running_sum_around,
    shift_up,
    square,
    sum_into_row,
)

BACKENDS = ("reference", "llvm")


def mask_moves_itself(x: Any) -> None:
    x[x > 2] = 0.0
    x[x < 1] += 5


def views_of_views(x: Any) -> Any:
    y = x[1:-1][::2][::-1]
    y[:2] = 5
    z = y[1:]
    z *= 3
    return y, z


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


MORE: list[tuple[Callable[..., Any], list[Any]]] = [
    *[(f, [ramp(n)]) for n in SIZES for f in (mask_moves_itself, views_of_views, sort_and_mix)],
    *[(f, [square(n)]) for n in SIDES for f in (rows_in_place, write_through_einsum, turned_results_keep_their_order)],
    (complex_parts, [ramp(101) + 1j]),
    (mixed_indices, [ramp(24).reshape(2, 3, 4)]),
]
"""Programs that are not on the page."""


def assert_same_effects(f: Callable[..., Any], given: Callable[[], list[Any]], backend: str) -> None:
    """Results, contents of the arguments afterwards, kinds, what is what, and what shares memory with what.

    Three calls: the second finds the program compiled, the third a C-level entry.
    """
    compiled = pliant.jit(f, backend=backend)
    for _ in range(3):
        ours, theirs = given(), given()
        made, wanted = optree.tree_leaves(compiled(*ours)), optree.tree_leaves(f(*theirs))
        assert [type(m) for m in made] == [type(w) for w in wanted]
        for x, y in zip((*made, *ours), (*wanted, *theirs), strict=True):
            np.testing.assert_array_equal(x, y)
            assert np.asarray(x).dtype == np.asarray(y).dtype
        for related in (operator.is_, np.shares_memory):
            got = [related(m, x) for m in made for x in (*made, *ours)]
            assert got == [related(w, y) for w in wanted for y in (*wanted, *theirs)]


SIZED = [(case, n) for case in CASES for n in case.sizes]
NAMES = [f"{case.number} {case.f.__name__}, n = {n}" for case, n in SIZED]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("case", "n"), SIZED, ids=NAMES)
def test_writes_are_numpys(case: Case, n: int, backend: str):
    assert_same_effects(case.f, lambda: case.given(n), backend)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("f", "given"), MORE, ids=[f"{f.__name__}, n = {given[0].shape[0]}" for f, given in MORE])
def test_other_writes_are_numpys(f: Callable[..., Any], given: list[Any], backend: str):
    assert_same_effects(f, lambda: [x.copy() for x in given], backend)


SMOOTH = [case for case in CASES if case.is_smooth and not case.has_views_of_arguments]


def total(f: Callable[..., Any]) -> Callable[..., Any]:
    """A number made of all that a program returns and leaves in its arguments, each element with another weight."""

    def weighted(x: Any, start: int) -> Any:
        return (x * np.cos(start + np.arange(np.size(x))).reshape(np.shape(x))).sum()

    def g(*args: Any) -> Any:
        made = optree.tree_leaves((f(*args), args))
        return sum(weighted(np.asarray(m) ** 2, 100 * n) for n, m in enumerate(made))

    return g


@pytest.mark.parametrize("case", SMOOTH, ids=[f"{c.number} {c.f.__name__}" for c in SMOOTH])
def test_gradients_through_writes_are_exact_and_write_nothing(case: Case):
    n = case.sizes[1]
    g, given = total(case.f), [x + 0.25 for x in case.given(n)]
    before = [x.copy() for x in given]
    for number in range(len(given)):
        pliant.grad(g, number)(*given)
        pliant.value_and_grad(g, number)(*given)
        for x, y in zip(given, before, strict=True):
            np.testing.assert_array_equal(x, y)
        check_gradient(g, *given, argnums=number, rtol=1e-5, directions=2)


@pytest.mark.parametrize("case", SMOOTH, ids=[f"{c.number} {c.f.__name__}" for c in SMOOTH])
def test_batches_and_pullbacks_of_writes_write_nothing(case: Case):
    n = case.sizes[1]
    g, rows = total(case.f), [[x + 0.25 * k for x in case.given(n)] for k in range(3)]
    stacked = [np.stack(column) for column in zip(*rows, strict=True)]
    before = [x.copy() for x in stacked]
    made = pliant.vmap(g)(*stacked)
    _, back = pliant.vjp(g, *rows[1])
    slopes = back(1.0)
    _, tangent = pliant.jvp(g, tuple(rows[1]), tuple(np.ones_like(x) for x in rows[1]))
    for x, y in zip((*stacked, *rows[1]), (*before, *(b[1] for b in before)), strict=True):
        np.testing.assert_array_equal(x, y)
    np.testing.assert_allclose(made, [g(*row) for row in rows], rtol=1e-10)
    np.testing.assert_allclose(sum(s.sum() for s in slopes), tangent, rtol=1e-9)


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
        np.testing.assert_array_equal(pliant.jit(ping_pong(n))(ramp(6) ** 2, np.zeros(6)), wanted)
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
