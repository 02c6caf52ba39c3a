"""The description of a program names its steps and the memory they take."""

from __future__ import annotations

import numpy as np

import pliant
from pliant.backends.llvm import BACKEND
from pliant.core.build import trace
from pliant.core.types import Type
from pliant.kernel.work import Work, amount, work_of
from pliant.ops.contract import Dot
from pliant.ops.elementwise import add, div, mul
from pliant.ops.reduce import reduce_sum
from pliant.ops.scan import Cumsum
from pliant.ops.shape import broadcast
from pliant.ops.sort import Sort
from pliant.ops.triangular import Cholesky
from pliant.ops.update import UpdateSlice


def test_each_step_has_its_line():
    def program(x):
        return reduce_sum(mul(x, x)), Cumsum(0)(add(x, 1.0)), Sort(0)(x)

    text = BACKEND.describe(trace(program, Type("f64", (100,))))
    assert "nest over 100" in text
    assert "reduce_sum: f64[], add over 1 axes → result" in text
    assert "cumsum: fills f64[100]" in text
    assert "workspace:" in text


def test_routines_say_who_computes_them():
    def program(small, large):
        return Cholesky()(small), Cholesky()(large), Sort(1)(large)

    text = BACKEND.describe(trace(program, Type("f64", (6, 6)), Type("f64", (600, 600))))
    assert "in the program: cholesky → f64[6, 6]" in text
    assert "LAPACK: cholesky → f64[600, 600]" in text
    assert "NumPy: sort → f64[600, 600]" in text


def test_a_product_with_its_own_transpose_says_so_and_is_half_the_work():
    op = Dot(((1,), (1,)), ((), ()))
    own = BACKEND.compile(trace(lambda x: op(x, x), Type("f64", (100, 200)))).program.steps
    other = BACKEND.compile(trace(op, *[Type("f64", (100, 200))] * 2)).program.steps
    assert [work_of(step).flops for step in (*own, *other)] == [100 * 101 * 200, 2 * 100 * 100 * 200]
    assert "product: 100×200 times its transpose" in BACKEND.describe(
        trace(lambda x: op(x, x), Type("f64", (100, 200)))
    )


def test_work_counts_each_array_once_and_each_operation():
    (nest,) = nests_of(lambda x: mul(add(x, 1.0), x), Type("f32", (10, 20)))
    assert work_of(nest) == Work(bytes=2 * 800, flops=400)


def test_work_of_a_sum_counts_its_additions():
    (nest,) = nests_of(lambda x: reduce_sum(div(x, 3.0), (1,)), Type("f64", (10, 20)))
    assert work_of(nest) == Work(bytes=1600 + 80, flops=200 * (4 + 1))


def test_work_outside_an_inner_loop_counts_once():
    x, y = Type("f64", (10,)), Type("f64", (10, 50))
    (nest,) = nests_of(lambda x, y: add(broadcast(mul(x, 3.0), (10, 50), (0,)), y), x, y)
    assert work_of(nest).flops == 10 + 500


def test_work_of_a_product_is_two_operations_per_term():
    x = Type("f64", (20, 30)), Type("f64", (30, 40))
    (step,) = BACKEND.compile(trace(lambda x, y: Dot(((1,), (0,)), ((), ()))(x, y), *x)).program.steps
    assert work_of(step) == Work(bytes=8 * (600 + 1200 + 800), flops=2 * 20 * 30 * 40)


def test_a_write_to_a_part_moves_that_part():
    x, y = Type("f64", (1000,)), Type("f64", (10,))
    fn = trace(lambda x, y: UpdateSlice((5,), (1,))(x, y), x, y)
    (nest,) = BACKEND.compile(fn, pinned=((0, 0),)).program.steps
    assert work_of(nest).bytes == 2 * 80


def test_work_of_a_loop_is_that_of_its_steps():
    def f(x, n):
        for i in range(30):
            x = x * 0.5 + x[i % 3]
        for _ in range(n):
            x = np.tanh(x)
        return x

    lines = pliant.explain(f, np.ones(1000), 3).code.splitlines()
    counted, open_ended = [line for line in lines if ": loop" in line or ": while" in line]
    assert ", 60 kflop" in counted
    assert "flop" not in open_ended


def test_amounts_have_a_prefix():
    assert [amount(x) for x in (0, 12, 1530, 2.5e9, 1e-6, 3e-10)] == ["0 ", "12 ", "1.53 k", "2.5 G", "1 µ", "0.3 n"]


def test_each_step_has_its_work_and_its_vectors():
    text = BACKEND.describe(trace(lambda x: mul(x, x), Type("f64", (100,))))
    assert "nest over 100; 1.6 kB, 100 flop; " in text
    assert " at a time" in text


def test_each_step_has_its_time_if_asked():
    def f(x):
        x *= 2
        return np.sin(x) @ x, np.linalg.eigvals(x)

    x = np.eye(40)
    text = pliant.explain(f, x, measure=True).code
    assert text.startswith("one thread of this machine: copies at ")
    assert text.count("% of the roofline") == 3  # the calls into NumPy and LAPACK have none; eigenvalues are real here
    assert (x == np.eye(40)).all()


def nests_of(f, *types):
    return BACKEND.compile(trace(f, *types)).program.steps
