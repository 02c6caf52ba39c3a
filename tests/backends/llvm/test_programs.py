"""Whole programs in native code give what the reference gives."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from pliant.backends.llvm import BACKEND
from pliant.backends.reference import reference
from pliant.core.build import trace
from pliant.core.ir import nodes
from pliant.core.types import Type
from pliant.kernel.ir import Rows
from pliant.ops.compare import maximum
from pliant.ops.contract import Dot
from pliant.ops.elementwise import Add, add, convert, mul
from pliant.ops.reduce import ReduceMax, reduce_sum
from pliant.ops.shape import broadcast, permute
from pliant.ops.transcendental import Exp, Sin
from pliant.testing import sample
from tests.backends.llvm.random_programs import random_program
from tests.backends.llvm.random_writes import arguments, random_writes


def f64(*shape):
    return Type("f64", shape)


def loosened(x, rng):
    """The same numbers in another memory layout: strided, reversed, misaligned, or as they are."""
    how = rng.integers(5)
    if x.ndim == 0 or how == 0:
        return x
    if how == 1:
        return np.repeat(x, 2, axis=-1)[..., ::2]
    if how == 2:
        return np.ascontiguousarray(x[::-1])[::-1]
    if how == 3:
        raw = np.empty(x.nbytes + 1, np.uint8)[1:].view(x.dtype).reshape(x.shape)
        raw[...] = x
        return raw
    return np.asfortranarray(x)


def assert_close(got, wanted, is_narrow):
    assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
    assert got.flags.c_contiguous
    if wanted.size and not (wanted.dtype.kind in "iub" and is_narrow):
        finite = np.abs(wanted[np.isfinite(wanted)]) if wanted.dtype.kind in "fc" else np.zeros(1)
        tolerance = 1e-4 if is_narrow else 1e-9
        scale = float(finite.max()) if finite.size else 1.0
        assert np.allclose(got, wanted, rtol=tolerance, atol=tolerance * scale, equal_nan=True)


@pytest.mark.parametrize(("count", "seeds"), [(8, range(60)), (25, range(100, 140)), (80, range(200, 210))])
def test_random_programs_agree_with_the_reference(count, seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        fn = random_program(rng, count)
        xs = [loosened(sample(rng, p.type), rng) for p in fn.params]
        with np.errstate(all="ignore"):
            wanted = reference.compile(fn)(xs)
        is_narrow = any(t.dtype == "f32" for node in nodes(fn.results) for t in node.types)
        for y, z in zip(BACKEND.compile(fn)(xs), wanted, strict=True):
            assert_close(y, z, is_narrow)


@pytest.mark.parametrize(("count", "seeds"), [(8, range(40)), (8, range(300, 400)), (25, range(100, 130))])
def test_random_writes_agree_with_the_reference(count, seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        fn = random_writes(rng, count)
        run = BACKEND.compile(fn)
        for _ in range(3):
            xs = arguments(rng)
            for y, z in zip(run(xs), reference.compile(fn)(xs), strict=True):
                assert_close(y, z, is_narrow=False)


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 33, 100, 1001, 5000])
@pytest.mark.parametrize("dtype", ["f64", "f32", "f16", "i32", "c128"])
def test_sums_of_any_length(n, dtype):
    x = sample(np.random.default_rng(0), Type(dtype, (n,)))
    (got,) = BACKEND.compile(trace(reduce_sum, Type(dtype, (n,))))([x])
    exact = x.astype("c16" if dtype[0] == "c" else "f8").sum()
    assert got.dtype == x.dtype
    assert abs(complex(got) - complex(exact)) <= 4 * float(np.finfo(x.dtype).eps if dtype[0] in "fc" else 0) * max(
        float(np.abs(x.astype("c16")).sum()), 1
    )


@pytest.mark.parametrize("dtype", ["f64", "f32"])
def test_long_sums_are_at_least_as_accurate_as_pairwise_ones(dtype):
    x = np.random.default_rng(0).random(1_000_001).astype("f8" if dtype == "f64" else "f4")
    (got,) = BACKEND.compile(trace(reduce_sum, Type(dtype, x.shape)))([x])
    exact = np.sum(x.astype(np.longdouble))
    assert abs(got - exact) <= max(abs(np.sum(x) - exact), float(np.spacing(exact.astype(x.dtype))))


def test_infinite_sums_stay_infinite():
    x = np.ones(5000)
    x[17] = np.inf
    assert BACKEND.compile(trace(reduce_sum, f64(5000)))([x])[0] == np.inf


@pytest.mark.parametrize("axes", [(0,), (1,), (2,), (0, 1), (1, 2), (0, 2), (0, 1, 2)])
@pytest.mark.parametrize("cls", [reduce_sum, lambda x, axes: ReduceMax(axes)(x)])
def test_reductions_over_any_axes(axes, cls):
    x = np.random.default_rng(0).normal(size=(5, 33, 18))
    (got,) = BACKEND.compile(trace(lambda v: cls(v, axes), f64(*x.shape)))([x])
    wanted = x.sum(axes) if cls is reduce_sum else x.max(axes)
    np.testing.assert_allclose(got, wanted, rtol=1e-12)


@pytest.mark.parametrize("axes", [(0,), (1,), (2,), (0, 1), (0, 2)])
@pytest.mark.parametrize("name", ["max", "min", "sum", "prod"])
def test_reductions_of_half_floats(axes, name):
    rng = np.random.default_rng(0)
    for shape in ((3, 3, 3), (5, 33, 18), (2, 40, 9)):
        x = rng.uniform(0.98, 1.02, shape).astype("f2").transpose(1, 0, 2)
        got, wanted = pliant.jit(lambda x: getattr(x, name)(axes))(x), getattr(x, name)(axes)
        assert got.dtype == wanted.dtype
        np.testing.assert_allclose(got, wanted, rtol=0.02)


@pytest.mark.parametrize("m", [1, 2, 9, 40])
@pytest.mark.parametrize("n", [1, 3, 50])
@pytest.mark.parametrize("k", [1, 7, 60])
@pytest.mark.parametrize("dtype", ["f64", "f32", "c128", "i64"])
def test_products_of_any_size_and_layout(m, n, k, dtype):
    """All four layouts of the operands, in one program."""
    rng = np.random.default_rng(0)
    a, b = sample(rng, Type(dtype, (m, k))), sample(rng, Type(dtype, (k, n)))
    dot = Dot(((1,), (0,)), ((), ()))
    xs = [a, np.ascontiguousarray(a.T), b, np.ascontiguousarray(b.T)]
    fn = trace(
        lambda x, xt, y, yt: [
            dot(left, right) for left in (x, permute(xt, (1, 0))) for right in (y, permute(yt, (1, 0)))
        ],
        *[Type(dtype, x.shape) for x in xs],
    )
    for got in BACKEND.compile(fn)(xs):
        np.testing.assert_allclose(got, a @ b, rtol=1e-4 if dtype == "f32" else 1e-10, atol=1e-4)


def test_a_batched_product_and_one_of_slices():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(5, 20, 30)), rng.normal(size=(30, 5, 10))
    fn = trace(Dot(((2,), (0,)), ((0,), (1,))), f64(*a.shape), f64(*b.shape))
    np.testing.assert_allclose(BACKEND.compile(fn)([a, b])[0], np.einsum("bmk,kbn->bmn", a, b), rtol=1e-10)
    matrix, vector = rng.normal(size=(60, 50)), rng.normal(size=(60, 50))
    fn = trace(lambda x, y: Dot(((1,), (0,)), ((), ()))(permute(x, (1, 0)), y), f64(60, 50), f64(60))
    np.testing.assert_allclose(BACKEND.compile(fn)([matrix, vector[:, 3]])[0], matrix.T @ vector[:, 3], rtol=1e-10)


def test_value_and_gradient_share_one_nest():
    def both(x, y):
        d = add(y, mul(Exp()(Sin()(x)), -1.0))
        return reduce_sum(mul(d, d)), mul(d, 2.0)

    compiled = BACKEND.compile(trace(both, f64(1000), f64(1000)))
    assert len(compiled.program.steps) == 1
    assert compiled.program.arena <= 64


def test_a_softmax_computes_each_exponential_once():
    def softmax(x):
        top = broadcast(ReduceMax((1,))(x), x.shape, (0,))
        e = Exp()(add(x, mul(top, -1.0)))
        return mul(e, broadcast(reduce_sum(e, (1,)), x.shape, (0,)))

    x = np.random.default_rng(0).normal(size=(20, 33))
    compiled = BACKEND.compile(trace(softmax, f64(20, 33)))
    e = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(compiled([x])[0], e * e.sum(1, keepdims=True), rtol=1e-13)
    texts = [op.name for step in compiled.program.steps for op in operations(step)]
    assert texts.count("exp") == 1


def operations(step):
    nests = step.nests if isinstance(step, Rows) else [step]
    return [s.op for nest in nests for s in nest.body.body if hasattr(s, "op")]


def test_programs_without_work_or_with_repeated_results():
    fn = trace(lambda x: (x, x, add(x, 0.0), x), f64(3))
    x = np.arange(3.0)
    results = BACKEND.compile(fn)([x])
    assert all((y == x).all() for y in results)
    assert not any(np.shares_memory(y, x) for y in results)
    assert len({y.__array_interface__["data"][0] for y in results}) == 4


def test_scalars_and_empty_arrays():
    fn = trace(lambda s, e: (mul(s, 2.0), maximum(e, e), reduce_sum(e)), f64(), f64(0, 3))
    two, empty, zero = BACKEND.compile(fn)([np.array(1.5), np.zeros((0, 3))])
    assert (two.shape, float(two)) == ((), 3.0)
    assert empty.shape == (0, 3)
    assert float(zero) == 0


def test_a_chain_longer_than_a_nest_is_cut():
    def chain(x):
        for n in range(3000):
            x = Sin()(x) if n % 100 == 0 else Add()(x, x) if n % 100 == 50 else mul(x, 0.999)
        return x

    x = np.linspace(-1, 1, 9)
    fn = trace(chain, f64(9))
    compiled = BACKEND.compile(fn)
    assert len(compiled.program.steps) > 5
    np.testing.assert_allclose(compiled([x])[0], reference.compile(fn)([x])[0], rtol=1e-9)


def test_integers_stay_exact():
    fn = trace(lambda x: reduce_sum(convert(x, "i64")), Type("u8", (3000,)))
    x = np.full(3000, 255, np.uint8)
    assert BACKEND.compile(fn)([x])[0] == 255 * 3000


def test_llvm_has_nothing_to_say_of_loops_inside_a_while(capfd, monkeypatch):
    def f(x, s):
        while s < 50:
            s *= 2
            x[0] += s
            x[1:] += x[:-1] * 0.1
        return s

    monkeypatch.setenv("PLIANT_CACHE", "")
    ours, theirs = np.arange(7.0), np.arange(7.0)
    assert pliant.jit(f)(ours, 2.0) == f(theirs, 2.0)
    np.testing.assert_array_equal(ours, theirs)
    assert capfd.readouterr().err == ""


def test_llvm_has_nothing_to_say_of_the_gradient_of_a_while(capfd, monkeypatch):
    def f(x, w):
        y = np.ones_like(x)
        r = y * y * y + w * y - x
        while np.sqrt(np.sum(r * r)) > 1e-12:
            y = y - r / (3 * y * y + w)
            r = y * y * y + w * y - x
        return np.sum(y * w)

    monkeypatch.setenv("PLIANT_CACHE", "")
    xs = np.linspace(0.3, 0.9, 5), np.linspace(0.9, 0.4, 5)
    value, slope = pliant.value_and_grad(f)(*xs)
    np.testing.assert_allclose(value, f(*xs), rtol=1e-12)
    root = np.array([np.roots([1, 0, w, -x]).real[-1] for x, w in zip(*xs, strict=True)])
    np.testing.assert_allclose(slope, xs[1] / (3 * root**2 + xs[1]), rtol=1e-9)
    assert capfd.readouterr().err == ""


def test_llvm_has_nothing_to_say_of_branches_inside_a_short_loop(capfd, monkeypatch):
    monkeypatch.setenv("PLIANT_CACHE", "")

    def f(x):
        h = np.zeros(3)
        c = np.zeros(3)
        for t in range(len(x)):
            z = np.tanh(x[t] * np.arange(3.0) + h)
            c, h = c * 0.5 + z, h * z
            if t == 2:
                h = h + 1
        return (h * c).sum()

    xs = np.linspace(-1, 1, 18).reshape(3, 6)
    np.testing.assert_allclose(pliant.vmap(f)(xs), [f(x) for x in xs], rtol=1e-12)
    assert capfd.readouterr().err == ""


def test_llvm_has_nothing_to_say_of_steps_after_which_short_loops_may_end(capfd, monkeypatch):
    """An index out of range ends all loops around it, whether what they hold is inlined or not."""
    monkeypatch.setenv("PLIANT_CACHE", "")

    def f(places, h, g, s):
        for k in range(g.shape[0]):
            for e in range(g.shape[1]):
                for i in range(h.shape[2]):
                    for a in range(places.shape[0]):
                        for b in range(places.shape[1]):
                            if e - i >= 0:
                                s[k, e, a] += g[k, e - i, places[a, b]] @ h[a, b, i] @ h[a, b, i]
        return np.sum(np.real(s) ** 2)

    rng = np.random.default_rng(0)
    h, g, s = (rng.normal(size=shape) + 1j for shape in ((3, 2, 2, 3, 3), (2, 3, 3, 3, 3), (2, 3, 3, 3, 3)))
    places, copy = np.array([[0, 1], [2, 0], [1, 1]], np.int32), s.copy()
    value, slopes = pliant.value_and_grad(f, argnums=(1, 2))(places, h, g, s.copy())
    np.testing.assert_allclose(value, f(places, h, g, s), rtol=1e-12)
    assert [x.shape for x in slopes] == [h.shape, g.shape]
    with pytest.raises(IndexError):
        pliant.jit(f)(places + 3, h, g, copy)
    assert capfd.readouterr().err == ""
