"""Steps over the same rows run for a block of rows at a time, and give the same bits as one after the other."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.backends.llvm import BACKEND
from pliant.backends.llvm.compiler import can, routine_of
from pliant.core.types import Type
from pliant.errors import IndexRangeError
from pliant.kernel import blocks, build, cost
from pliant.kernel.check.blocks import Touch, merged
from pliant.kernel.check.order import Access, Level, comes_before
from pliant.kernel.ir import Affine, Blocks, Buffer, Program, Var
from pliant.pipeline import optimise
from pliant.testing import sample
from tests.backends.llvm.random_programs import random_program

DTYPES = ("float64", "float32", "complex128", "int64")


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch):
    """Blocks of a few rows, of everything that can be in blocks."""
    monkeypatch.setattr(blocks, "FAR", 0)
    monkeypatch.setattr(blocks, "GRAIN", 1)
    monkeypatch.setattr(cost, "BLOCK", 1000)


def halves(x: Any) -> tuple[Any, Any]:
    y = x / (1 + (x * x).sum(1))[:, None]
    z = np.zeros_like(y)
    z[:, 1:] = y[:, :-1] * y[:, 1:]
    return y, z


def normalised(x: Any) -> Any:
    _, z = halves(x)
    return z / (1 + (z * z).sum(1))[:, None]


def lengths(x: Any) -> Any:
    y, z = halves(x)
    length = 1 + (z * z).sum(1)
    return length, (y * z / length[:, None]).sum(1)


def program_of(f: Any, *args: Any) -> Program:
    return build.build(optimise(pliant.trace(f, *args)), can, routine_of)


def groups_of(f: Any, *args: Any) -> int:
    return str(pliant.explain(f, *args)).count(": in blocks of ")


def without_blocks(f: Any, *args: Any) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "blocked", lambda program: None)
        return pliant.jit(lambda *given: f(*given))(*args)


def bits(made: Any) -> list[bytes]:
    return [np.asarray(a).tobytes() for a in (made if isinstance(made, tuple) else (made,))]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rows", [0, 1, 2, 13, 64, 65, 127, 1000])
@pytest.mark.usefixtures("small_blocks")
def test_blocks_of_rows_give_the_same_bits(dtype: str, rows: int):
    x = np.random.default_rng(rows).integers(-9, 9, (rows, 3)).astype(dtype)
    assert bits(pliant.jit(lengths)(x)) == bits(without_blocks(lengths, x))


@pytest.mark.usefixtures("small_blocks")
def test_blocks_of_strided_rows_give_the_same_bits():
    x = np.random.default_rng(0).normal(size=(6, 300)).T[::-1, ::2]
    assert groups_of(normalised, x) == 1
    assert bits(pliant.jit(normalised)(x)) == bits(without_blocks(normalised, x))


def test_what_only_a_block_needs_has_room_for_a_block():
    x = np.random.default_rng(0).normal(size=(60_000, 3))
    program = program_of(lengths, x)
    (step,) = [step for step in program.steps if isinstance(step, Blocks)]
    assert step.size % 64 == 0
    assert step.room.type.bytes < 1 << 16
    assert program.arena < 1 << 17
    assert bits(pliant.jit(lengths)(x)) == bits(without_blocks(lengths, x))


def test_small_arrays_stay_near_anyway():
    assert groups_of(lengths, np.ones((1000, 3))) == 0


def test_explain_says_how_many_rows():
    text = str(pliant.explain(lengths, np.ones((100_000, 3))))
    assert re.search(r"in blocks of \d+ rows of 100000, \d steps, in \d+ parts for threads", text)
    assert "scratch memory of a loop, a branch or a block of rows" in text


@pytest.mark.usefixtures("small_blocks")
def test_a_sum_over_all_rows_ends_a_group():
    def centred(x: Any) -> Any:
        first = normalised(x)
        return normalised(first - first.sum(0))

    x = np.random.default_rng(0).normal(size=(200, 3))
    assert groups_of(centred, x) == 2
    assert bits(pliant.jit(centred)(x)) == bits(without_blocks(centred, x))


@pytest.mark.usefixtures("small_blocks")
def test_rows_of_others_are_read_after_all_have_been_made():
    def turned(x: Any) -> Any:
        return normalised(normalised(x)[::-1])

    x = np.random.default_rng(0).normal(size=(200, 3))
    assert groups_of(turned, x) == 2
    assert bits(pliant.jit(turned)(x)) == bits(without_blocks(turned, x))


@pytest.mark.usefixtures("small_blocks")
def test_a_step_that_has_nothing_to_do_with_a_group_comes_before_it():
    def beside(x: Any, w: Any) -> Any:
        length, z = lengths(x)[0], normalised(x)
        return z * np.exp(w).sum() + (length / w[0])[:, None], np.cumsum(w)

    x, w = np.random.default_rng(0).normal(size=(200, 3)), np.arange(1.0, 6)
    assert groups_of(beside, x, w) == 1
    assert bits(pliant.jit(beside)(x, w)) == bits(without_blocks(beside, x, w))


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("n", [7, 70])
def test_stacks_of_products_run_in_blocks(n: int):
    def turned(a: Any, x: Any, m: Any) -> Any:
        y = np.matmul(a, (x - m[:, None]).transpose(0, 2, 1))
        return (y * y).sum(1)

    rng = np.random.default_rng(0)
    a, x, m = rng.normal(size=(30, n, n)), rng.normal(size=(30, 2 * n, n)), rng.normal(size=(30, n))
    wanted = (np.matmul(a, (x - m[:, None]).transpose(0, 2, 1)) ** 2).sum(1)
    assert groups_of(turned, a, x, m) == 1
    assert bits(pliant.jit(turned)(a, x, m)) == bits(without_blocks(turned, a, x, m))
    np.testing.assert_allclose(pliant.jit(turned)(a, x, m), wanted, rtol=1e-12)


@pytest.mark.usefixtures("small_blocks")
def test_an_index_out_of_range_in_a_block_is_reported():
    def taken(x: Any, rows: Any) -> Any:
        return normalised(x[rows])

    x, rows = np.random.default_rng(0).normal(size=(50, 3)), np.arange(300) % 50
    assert groups_of(taken, x, rows) == 1
    assert bits(pliant.jit(taken)(x, rows)) == bits(without_blocks(taken, x, rows))
    rows[170] = 50
    with pytest.raises(IndexRangeError, match="index 50 is out of range for axis 0 of extent 50"):
        pliant.jit(taken)(x, rows)


@pytest.mark.usefixtures("small_blocks")
def test_what_the_caller_has_is_not_written_before_an_index_is_known_to_be_good():
    def updated(x: Any, rows: Any, out: Any) -> None:
        y = normalised(x[rows])
        out[:, 1:] = y[:, :-1]
        out[:, 0] = y[:, 0] * out[:, 1]

    x, rows, out = np.random.default_rng(0).normal(size=(50, 3)), np.arange(300) % 50, np.zeros((300, 3))
    rows[299] = 50
    with pytest.raises(IndexRangeError):
        pliant.jit(updated)(x, rows, out)
    assert not out.any()


def test_blocks_of_long_rows_are_not_given_to_threads():
    """Their room would not fit a small stack."""
    matrices, x, shifts = np.ones((8, 10, 10)), np.ones((10, 10_000)), np.ones((8, 1, 1))
    program = program_of(lambda m, x, a: np.sum(np.square(m @ (x - a)), axis=1), matrices, x, shifts)
    (step,) = [step for step in program.steps if isinstance(step, Blocks)]
    assert step.size == 1
    assert step.room.type.size >= 1_600_000
    assert step.split is None


def test_threads_take_blocks_and_do_not_change_a_bit():
    x = np.random.default_rng(0).normal(size=(100_000, 3))
    compiled, before, found = pliant.jit(lengths), pliant.threads(), list[list[bytes]]()
    try:
        for count in (1, 2, 5):
            pliant.threads(count)
            found.append(bits(compiled(x)))
    finally:
        pliant.threads(before)
    assert found[0] == found[1] == found[2]


@pytest.mark.usefixtures("small_blocks")
def test_blocks_inside_loops():
    def repeated(x: Any) -> Any:
        return pliant.fori_loop(0, 5, lambda _, z: normalised(z) + x, x)

    x = np.random.default_rng(0).normal(size=(200, 3))
    assert "in blocks of" in str(pliant.explain(repeated, x))
    assert bits(pliant.jit(repeated)(x)) == bits(without_blocks(repeated, x))


@pytest.mark.usefixtures("small_blocks")
def test_what_a_block_has_left_is_nan_if_memory_is_poisoned(monkeypatch: pytest.MonkeyPatch):
    x = np.random.default_rng(0).normal(size=(200, 3))
    wanted = bits(pliant.jit(lengths)(x))
    monkeypatch.setenv("PLIANT_POISON", "1")
    assert bits(pliant.jit(lambda x: lengths(x))(x)) == wanted


@pytest.mark.usefixtures("small_blocks")
def test_random_programs_give_the_same_bits_in_blocks():
    groups = 0
    for seed in range(72):
        rng = np.random.default_rng(seed)
        fn = random_program(rng, 40)
        xs = [sample(rng, p.type) for p in fn.params]
        compiled = BACKEND.compile(fn)
        groups += sum([isinstance(step, Blocks) for step in compiled.program.steps])
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(build, "blocked", lambda program: None)
            apart = BACKEND.compile(fn)
        assert [bits(y) for y in compiled(xs)] == [bits(y) for y in apart(xs)]
    assert groups > 8


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("n", [2, 5, 9])
@pytest.mark.parametrize("rows", [70, 333])
def test_stacks_of_matrices_are_factored_and_solved_in_blocks(n: int, rows: int, dtype: str):
    def solved(a: Any, b: Any) -> Any:
        m = np.matmul(a, np.conj(a).transpose(0, 2, 1)) + np.eye(n) * (1 + abs(b[:, None]))
        x = np.linalg.solve(m, np.sin(b)[..., None])[..., 0]
        low = np.linalg.cholesky(2 * m)
        q, r = np.linalg.qr(a + low)
        return (x * np.conj(x)).sum(1) + np.linalg.det(m), (q * r).sum((1, 2)) + np.linalg.eigvalsh(m).sum(1)

    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(rows, n, n)).astype(dtype), rng.normal(size=(rows, n)).astype(dtype)
    assert groups_of(solved, a, b) == 1
    assert bits(pliant.jit(solved)(a, b)) == bits(without_blocks(solved, a, b))
    for got, wanted in zip(pliant.jit(solved)(a, b), solved(a, b), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-9)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("place", [0, 170, 299])
@pytest.mark.parametrize("n", [3, 10, 80])
def test_a_matrix_in_a_block_without_an_answer_raises(n: int, place: int):
    def rooted(a: Any) -> Any:
        return np.exp(np.linalg.cholesky(np.eye(n) + 0 * np.sin(a)) - a).sum((1, 2))

    a = np.zeros((300, n, n))
    assert groups_of(rooted, a) == 1
    np.testing.assert_allclose(pliant.jit(rooted)(a), rooted(a))
    a[place, 0, 0] = -np.inf
    with np.errstate(invalid="ignore"):
        assert np.isnan(pliant.jit(rooted)(a)[place])

    def negative(a: Any) -> Any:
        return np.exp(np.linalg.cholesky(np.eye(n) - np.sin(a) ** 2) - a).sum((1, 2))

    a[place, 0, 0] = np.pi / 2
    with pytest.raises(np.linalg.LinAlgError, match="Matrix is not positive definite"):
        pliant.jit(negative)(a)


@pytest.mark.usefixtures("small_blocks")
def test_what_the_caller_has_is_not_written_before_all_matrices_have_an_answer():
    def replaced(a: Any, out: Any) -> None:
        out[...] = np.exp(np.linalg.inv(2 * a))

    a, out = np.broadcast_to(np.eye(3), (300, 3, 3)).copy(), np.zeros((300, 3, 3))
    a[299] = 0
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        pliant.jit(replaced)(a, out)
    assert not out.any()


def test_rows_made_side_by_side_need_no_memory_between_and_are_shared_by_threads():
    a, b = np.random.default_rng(0).normal(size=(2, 100_000, 3))
    text = str(pliant.explain(np.cross, a, b))
    assert "parts for threads" in text and "workspace: 64 bytes" in text
    np.testing.assert_allclose(pliant.jit(np.cross)(a, b), np.cross(a, b), rtol=1e-12)
    gradients = pliant.grad(lambda a, b: np.sum(np.cross(a, b) ** 2), argnums=(0, 1))(a, b)
    np.testing.assert_allclose(gradients[0], 2 * np.cross(b, np.cross(a, b)), rtol=1e-9)
    np.testing.assert_allclose(gradients[1], 2 * np.cross(np.cross(a, b), a), rtol=1e-9)


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
def test_a_stack_of_products_is_shared_by_threads(dtype: str):
    rng = np.random.default_rng(0)
    x, y = (rng.normal(size=shape).astype(dtype) for shape in ((90, 70, 66), (90, 66, 81)))
    f, before = pliant.jit(np.matmul), pliant.threads()
    program = build.build(optimise(pliant.trace(np.matmul, x, y)), can, routine_of)
    found = [step for step in program.steps if isinstance(step, Blocks)]
    assert [step.split.count for step in found if step.split] != []
    try:
        made = [f(x, y).tobytes() for count in (1, 2, 3) if pliant.threads(count)]
    finally:
        pliant.threads(before)
    assert made[0] == made[1] == made[2]
    np.testing.assert_allclose(f(x, y), x @ y, rtol=1e-4 if dtype == "float32" else 1e-11, atol=1e-4)


@pytest.mark.parametrize("seed", range(40))
def test_accesses_that_lie_side_by_side_are_checked_as_one(seed: int):
    """A law: what is found of them is what is found of each pair."""
    rng, rows = np.random.default_rng(seed), Var(5)
    buffer, length = Buffer(Type("f64", (400,)), 0), int(rng.integers(1, 12)) * 8

    def touched(is_store: bool) -> list[tuple[Touch, Access]]:
        starts = rng.integers(0, 2 * length // 8, rng.integers(1, 9)) * 8
        touch = Touch(buffer, Affine(0, ()), rows, frozenset([rows]), is_store)
        return [(touch, Access(int(start), 8, {rows: length})) for start in starts]

    def conflict(found: list[tuple[Touch, Access]]) -> bool:
        pairs = [(a, b) for s, a in found for _, b in found if s.is_store]
        level = [Level(rows, rows)]
        return any([comes_before(*p, level, same=False) for a, b in pairs for p in ((a, b), (b, a))])

    found = [*touched(True), *touched(False)]
    whole = merged(found, rows)
    assert len(whole) <= len(found)
    assert conflict(whole) == conflict(found)
