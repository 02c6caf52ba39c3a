"""Native loops and branches: nothing on the host, the same numbers as the reference, state updated in place."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
import pliant.testing
from pliant.backends import backend_named
from pliant.backends.llvm.compiler import compiled
from pliant.backends.llvm.jit import optimised
from pliant.core.build import trace
from pliant.core.ir import Function
from pliant.kernel.ir import Host
from pliant.ops.compare import greater, less
from pliant.pipeline import optimise
from pliant.testing import reverse, sample
from pliant.transforms.jvp import jvp
from pliant.transforms.vmap import vmap
from tests.ops.test_cond import BRANCHES
from tests.ops.test_loop import LOOPS
from tests.ops.test_while_loop import REPEATED, newton

RNG = np.random.default_rng(0)


def agree(fn: Function, xs: list[Any]) -> None:
    """Native code gives what the reference gives, without the host."""
    fn = optimise(fn)
    code: Any = backend_named("llvm").compile(fn)
    assert [s.node.op.name for s in code.order if isinstance(s, Host)] == []
    for _ in range(2):
        for a, b in zip(code(xs), backend_named("reference").compile(fn)(xs), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-10)


def transformed(fn: Function) -> dict[str, Function]:
    active = tuple(p.type.is_float for p in fn.params)
    back = reverse(fn, active)
    return {
        "value": fn,
        "tangents": jvp(fn, active),
        "batch": vmap(fn, 3, (True,) * len(active)),
        "gradient": back,
        "batch of gradients": vmap(back, 2, (True,) * len(back.params)),
        "second derivatives": reverse(back, tuple(p.type.is_float for p in back.params)),
    }


@pytest.mark.parametrize("name", LOOPS)
def test_loops_and_their_derivatives_are_native(name: str) -> None:
    op, types = LOOPS[name]
    for fn in transformed(trace(op.apply, *types)).values():
        agree(fn, [sample(RNG, p.type, 0.3, 1.7) for p in fn.params])


@pytest.mark.parametrize("condition", [True, False])
def test_branches_and_their_derivatives_are_native(condition: bool) -> None:
    types = [p.type for p in BRANCHES.then.params]
    fn = trace(lambda x, y: BRANCHES.apply(flag(y, condition), x, y), *types)
    for made in transformed(fn).values():
        agree(made, [sample(RNG, p.type, 0.3, 1.0) for p in made.params])


def flag(y: Any, condition: bool) -> Any:
    """A condition that is known only at run time."""
    return greater(y, 0.0) if condition else less(y, 0.0)


def test_while_loops_are_native() -> None:
    op = newton()
    fn = trace(op.apply, *(p.type for p in op.body.params))
    xs = [np.float64(3.0), np.float64(1.0), np.int64(0)]
    agree(fn, xs)
    agree(jvp(fn, (True, True, False)), [*xs, np.float64(1.0), np.float64(0.5)])
    agree(vmap(fn, 3, (True, True, False)), [np.array([1.0, 2.0, 50.0]), np.ones(3), np.int64(0)])


@pytest.mark.parametrize("count", [0, 1, 3, 700])
@pytest.mark.parametrize("name", REPEATED)
def test_derivatives_of_while_loops_are_native(name: str, count: int) -> None:
    """A tape grows past its first memory in 700 steps."""
    op = REPEATED[name]
    count = count if name == "rotates" else min(count, 17)
    for fn in transformed(trace(op.apply, *(p.type for p in op.body.params))).values():
        xs = [sample(RNG, p.type, 0.2, 0.6) if p.type.is_float else np.zeros(p.type.shape, int) for p in fn.params]
        xs[0] = np.full_like(xs[0], count)
        agree(fn, xs)


ENDLESS = """
import resource
import numpy as np
import pliant

def f(x):
    return np.sum(pliant.while_loop(lambda x: x[0] < 9.0, np.sin, x))

slope = pliant.grad(f)
slope(np.full(100_000, 10.0))
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 400_000_000,) * 2)
try:
    slope(np.zeros(100_000))
except MemoryError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits the memory of a process")
def test_a_tape_that_finds_no_more_memory_is_an_error() -> None:
    out = subprocess.run([sys.executable, "-c", ENDLESS], capture_output=True, text=True, timeout=100, check=True)
    assert "needs more memory than there is" in out.stdout
    assert "does the loop end?" in out.stdout


def program(f: Callable[..., Any], *xs: Any) -> tuple[Function, list[Any]]:
    fn = pliant.trace(f, *xs)
    return fn, [np.asarray(x) for x in xs]


@pytest.mark.parametrize("steps", [1, 2, 3, 8])
def test_large_carries_change_roles(steps: int) -> None:
    def f(x: Any) -> Any:
        def step(i: Any, s: Any) -> Any:
            u, v = s
            return v * 0.5 + u[::-1], u + np.sum(v)

        return pliant.fori_loop(0, steps, step, (x, x * 2))

    agree(*program(f, RNG.normal(size=50)))
    agree(*program(lambda x: pliant.grad(lambda x: np.sum(f(x)[0] ** 2))(x), RNG.normal(size=50)))


@pytest.mark.parametrize("n", [3, 40])
def test_carries_are_written_in_place(n: int) -> None:
    def f(x: Any) -> Any:
        def step(i: Any, u: Any) -> Any:
            u[i + 1] = u[i] * 0.5 + np.sin(u[i + 1])
            return u

        return pliant.fori_loop(0, n - 1, step, x)

    agree(*program(f, RNG.normal(size=n)))
    agree(*program(lambda x: pliant.grad(lambda x: np.sum(f(x) ** 2))(x), RNG.normal(size=n)))


def test_large_carries_of_while_loops_end_where_they_should() -> None:
    for bound in (0.5, 3.0, 30.0, 31.0, 1000.0):

        def f(x: Any, bound: float = bound) -> Any:
            return pliant.while_loop(lambda u: np.sum(u) < bound, lambda u: u * 1.1 + u[::-1] * 0.2, x)

        agree(*program(f, np.full(20, 0.1)))


def minima(d: Any, k: Any) -> Any:
    """In each step a loop of unknown length, with indices that no range decides."""
    d = d.copy()
    for i in range(k.shape[0]):
        j = k[i]
        while d[j] > 0.5:
            d[j] = d[j] * d[k[i]]
            j = j - 1
        d[k[i]] = min(d[j], d[k[i] - 1])
    return d


def test_no_step_asks_whether_one_before_it_failed() -> None:
    d, k = np.linspace(0.6, 0.9, 8), np.array([3, -2, 5])
    d[[0, 4]] = 0.25
    np.testing.assert_allclose(pliant.jit(minima)(d, k), minima(d, k))
    _, text = compiled(optimise(pliant.trace(minima, d, k)), {}, (), sharing=True)
    made = optimised(text)
    assert not re.search(r"%(?!e\d+ )\S+ = load i64, ptr %error", made)  # but between whole functions
    assert not re.search(r"select .* i64 0$", made, re.MULTILINE)  # an index in place of one out of range


def most(best: Any, w: Any) -> Any:
    """A loop of unknown length that reads and writes at one place."""
    best = best.copy()
    for i in range(w.shape[0]):
        for c in range(1000, w[i] - 1, -1):
            best[c] = max(best[c], best[c - w[i]] + 0.5)
    return best


def test_a_place_that_is_read_and_written_is_checked_once() -> None:
    best, w = np.linspace(0.0, 1.0, 1001), np.arange(900, 950)
    np.testing.assert_allclose(pliant.jit(most)(best, w), most(best, w))
    _, text = compiled(optimise(pliant.trace(most, best, w)), {}, (), sharing=True)
    assert len(re.findall(r"icmp ugt i64 %\S+, 1000$", optimised(text), re.MULTILINE)) == 2


@pytest.mark.parametrize(("k", "bad"), [([3, 8], "8"), ([-9], "-9"), ([3, 100, 0], "100")])
def test_the_first_index_out_of_range_ends_all_loops(k: list[int], bad: str) -> None:
    with pytest.raises(IndexError, match=f"index {bad} is out of"):
        pliant.jit(minima)(np.full(8, 0.25), np.array(k))


def test_an_index_out_of_range_stops_the_loop_and_names_it() -> None:
    def f(x: Any) -> Any:
        return pliant.fori_loop(0, 10, lambda i, s: s + x[i], 0.0)

    with pytest.raises(IndexError, match="index 4 is out of range"):
        pliant.jit(f)(np.ones(4))

    def endless(x: Any) -> Any:
        return pliant.while_loop(lambda s: s[1] < 9.0, lambda s: (s[0] + 1, x[s[0]]), (0, 0.0))[1]

    with pytest.raises(IndexError, match="index 4 is out of range"):
        pliant.jit(endless)(np.ones(4))


def test_a_step_that_writes_one_element_costs_the_same_for_any_size() -> None:
    def f(x: Any) -> Any:
        def step(i: Any, u: Any) -> Any:
            u[i] = u[i] * 0.5
            return u

        return pliant.fori_loop(0, 1000, step, x)

    def seconds(n: int) -> float:
        jitted, x = pliant.jit(f), np.ones(n)
        best = 1.0
        for _ in range(20):
            start = time.perf_counter()
            jitted(x)
            best = min(best, time.perf_counter() - start)
        return best

    assert seconds(100_000) < 1000 * 1e-6  # a copy at each step would take 1000 · 20 µs


@pytest.mark.parametrize("dtype", ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("n", [2, 40])
def test_state_of_every_dtype(dtype: str, n: int) -> None:
    def f(u: Any, rows: Any) -> Any:
        def step(s: Any, row: Any) -> Any:
            u, _ = s
            new = np.where(row != 0, u[::-1], row)
            return (new, row[0]), new

        return pliant.scan(step, (u, u[0]), rows)

    u, rows = (RNG.integers(0, 2, shape).astype(dtype) for shape in ((n,), (5, n)))
    got, wanted = pliant.jit(f)(u, rows), f(u, rows)
    np.testing.assert_array_equal(got[0][0], wanted[0][0])
    np.testing.assert_array_equal(got[0][1], wanted[0][1])
    np.testing.assert_array_equal(got[1], wanted[1])
    assert got[1].dtype == wanted[1].dtype


def test_bodies_with_parts_for_the_host_run_there() -> None:
    def f(x: Any) -> Any:
        def step(i: Any, a: Any) -> Any:
            w, _ = np.linalg.eigh(a)
            return pliant.cond(
                w[0] > 0, lambda a: a * 0.5, lambda a: a + np.fft.ifft(np.fft.fft(np.sort(a))).real, a @ a.T
            )

        return pliant.fori_loop(0, 3, step, x)

    x = np.random.default_rng(3).normal(size=(4, 4))  # of which differences do not cross a corner
    np.testing.assert_allclose(pliant.jit(f)(x + x.T), f(x + x.T))
    pliant.testing.check_gradient(lambda x: np.sum(f(x + x.T)), x * 0.3, rtol=1e-4)


@pytest.mark.parametrize("n", [4, 40])
def test_branches_update_large_operands_in_place(n: int) -> None:
    def f(x: Any) -> Any:
        def write(u: Any, i: Any) -> Any:
            u[i] = u[i - 1] * 2.0
            return u, u[i]

        def step(i: Any, u: Any) -> Any:
            before = u * 1.0
            new, y = pliant.cond(u[i] > 0.5, write, lambda u, i: (u, np.sum(u)), u, i)
            new[0] = y + before[i]
            return new

        return pliant.fori_loop(0, n, step, x)

    # Whatever runs before, no element is at 0.3, where `bounded` jumps.
    x = np.random.default_rng(n).uniform(0.2, 0.8, n)
    agree(*program(f, x))
    agree(*program(lambda x: pliant.grad(lambda x: np.sum(f(x)))(x), x))
    np.testing.assert_allclose(pliant.jit(f)(x), f(x))

    def bounded(x: Any) -> Any:
        def body(s: Any) -> Any:
            u, i = s
            u[i] = u[i] ** 2
            return u, i + 1

        return pliant.while_loop(lambda s: s[0][s[1]] > 0.3, body, (x, 0), max_steps=n - 1)[0]

    agree(*program(bounded, x))
    np.testing.assert_allclose(pliant.jit(bounded)(x), bounded(x))
    pliant.testing.check_gradient(lambda x: np.sum(bounded(x)), x)


def test_what_a_branch_overwrites_is_kept_for_those_who_read_it() -> None:
    def f(p: Any, x: Any) -> Any:
        def write(u: Any) -> Any:
            u[0] = 7.0
            return u

        y = x * 2.0
        z = pliant.cond(p, write, lambda u: u, y)
        return z, y, np.sum(y) + np.sum(z)

    for p in (True, False):
        for a, b in zip(pliant.jit(f)(p, np.ones(30)), f(p, np.ones(30)), strict=True):
            np.testing.assert_allclose(a, b)


def test_llvm_does_not_warn_of_calls_that_may_end_a_short_loop(capfd: pytest.CaptureFixture[str]) -> None:
    def stiffness(bars: Any, nodes: Any) -> Any:
        whole = np.zeros((8, 8))
        for i, j in bars:
            d = nodes[j] - nodes[i]
            c, s = d / np.hypot(*d)
            part = np.outer([c, s, -c, -s], [c, s, -c, -s]) / np.hypot(*d)
            dof = [2 * i, 2 * i + 1, 2 * j, 2 * j + 1]
            for a in range(4):
                for b in range(4):
                    whole[dof[a], dof[b]] += part[a, b]
        return whole

    bars = np.array([[0, 1], [1, 2], [0, 2], [2, 3], [1, 3]])
    nodes = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.8], [1.5, 0.8]])
    np.testing.assert_allclose(pliant.jit(stiffness)(bars, nodes), stiffness(bars, nodes), atol=1e-15)
    assert capfd.readouterr().err == ""
