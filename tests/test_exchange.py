"""NumPy's functions in JAX, and JAX's in NumPy's."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import ArgumentError, DTypeError, ReadOnlyError, TracedValueError, UnsupportedError

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402

pytestmark = pytest.mark.jax

X = np.array([0.1, 0.2, 0.3, 0.4])
TWICE = np.array([0, 2, 2, 1])


@pytest.fixture(params=["64 bits", "32 bits"])
def x(request: pytest.FixtureRequest) -> Any:
    """An array of JAX, with 64 bits or without."""
    with jax.enable_x64(request.param == "64 bits"):
        yield jnp.asarray(X)


@pytest.fixture
def narrow() -> Any:
    with jax.enable_x64(False):
        yield


@pytest.fixture
def wide() -> Any:
    with jax.enable_x64(True):
        yield


def in_place(x: Any) -> Any:
    y = np.zeros_like(x)
    y[1:] = x[:-1] * 2
    y[0] += x[3]
    x *= 3  # of a copy: nobody sees it
    return np.sum(np.sin(y) * x)


def looping(x: Any, n: int = 20) -> Any:
    total = x[0] * 0
    for i in range(n):
        total = total * x.dtype.type(0.5) + np.sum(np.sin(x)) * x[i % 4]
        if total > 3:
            total = total / 2
    return total


def ending(x: Any) -> Any:
    while np.sum(x) < 50:
        x = x * x.dtype.type(1.5)
    return np.sum(x)


def scattering(x: Any) -> Any:
    summed, last = np.zeros_like(x), np.zeros_like(x)
    np.add.at(summed, TWICE, x)
    last[TWICE] = x * 2  # of two writes to one place the last one counts
    return np.sum(summed**2) + np.sum(last * x)


def ordering(x: Any) -> Any:
    ties = np.concatenate([x, x[:2]])
    return np.max(ties[TWICE]) + np.sum(np.sort(ties)[::-1] * np.arange(6).astype(x.dtype)) + np.prod(ties)


def solving(x: Any) -> Any:
    a = np.outer(x, x) + np.eye(4, dtype=x.dtype)
    return np.linalg.det(a) + np.sum(np.linalg.solve(a, x)) + np.sum(np.linalg.cholesky(a))


def measuring(x: Any) -> Any:
    return np.linalg.norm(x - x[0]) + np.linalg.norm(x * 0) + np.sum(np.abs(x - x[1]))


FUNCTIONS = [in_place, looping, scattering, ordering, solving, measuring]
each = pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)


def close(got: Any, want: Any) -> None:
    assert np.asarray(got).dtype == np.asarray(want).dtype
    rough = 1e-10 if np.asarray(want).dtype == np.float64 else 2e-4
    np.testing.assert_allclose(got, want, rtol=rough, atol=rough)


@each
def test_values_eagerly_and_under_jit(f: Any, x: Any):
    wanted = pliant.jit(f)(np.array(x))
    close(pliant.to_jax(f)(x), wanted)
    close(jax.jit(pliant.to_jax(f))(x), wanted)


@each
def test_gradients_are_pliants(f: Any, x: Any):
    wanted = pliant.grad(f)(np.array(x))
    close(jax.grad(pliant.to_jax(f))(x), wanted)
    close(jax.jit(jax.grad(pliant.to_jax(f)))(x), wanted)
    close(pliant.to_jax(pliant.grad(f))(x), wanted)


@each
def test_tangents_and_batches_are_pliants(f: Any, x: Any):
    xs = np.stack([x, x[::-1]])
    close(jax.jvp(pliant.to_jax(f), (x,), (x,))[1], pliant.jvp(f, (np.array(x),), (np.array(x),))[1])
    close(jax.vmap(pliant.to_jax(f))(jnp.asarray(xs)), pliant.vmap(f)(xs))
    close(jax.vmap(jax.grad(pliant.to_jax(f)))(jnp.asarray(xs)), pliant.vmap(pliant.grad(f))(xs))


@each
def test_second_derivatives_are_pliants(f: Any, wide: None):
    wanted = pliant.hessian(f)(X.copy())
    np.testing.assert_allclose(jax.hessian(pliant.to_jax(f))(jnp.asarray(X)), wanted, rtol=1e-8, atol=1e-8)


def test_a_loop_whose_end_is_found_on_the_way(x: Any):
    close(pliant.to_jax(ending)(x), pliant.jit(ending)(np.array(x)))
    close(jax.jvp(pliant.to_jax(ending), (x,), (x,))[1], pliant.jvp(ending, (np.array(x),), (np.array(x),))[1])
    close(pliant.to_jax(pliant.grad(ending))(x), pliant.grad(ending)(np.array(x)))


def test_a_number_of_steps_found_at_run_time(x: Any):
    def f(x: Any, n: Any) -> Any:
        return pliant.fori_loop(0, n, lambda i, u: np.sin(u) * x, x, max_steps=30).sum()

    n = jnp.asarray(7)
    close(jax.grad(pliant.to_jax(f))(x, n), pliant.grad(f)(np.array(x), 7))
    close(jax.vmap(pliant.to_jax(f), (None, 0))(x, jnp.arange(3)), [f(np.array(x), k) for k in range(3)])


def test_derivatives_of_ones_own_are_kept(x: Any):
    def forward(x: Any) -> Any:
        return 2 * x, ()

    def backward(_: Any, ct: Any) -> Any:
        return (7 * ct,)

    twice = pliant.custom_derivative(lambda x: 2 * x, forward=forward, backward=backward)

    def f(x: Any) -> Any:
        return np.sum(twice(x)) + np.sum(pliant.stop_gradient(x) * x) + np.sum(pliant.checkpoint(np.sin)(x))

    close(jax.grad(pliant.to_jax(f))(x), pliant.grad(f)(np.array(x)))


def test_containers_go_in_and_come_out(x: Any):
    def f(tree: Any, name: str) -> Any:
        return {"y": tree["x"][0] * 2, "name": name, "pair": (tree["x"][1], None)}

    made = pliant.to_jax(f)({"x": [x, x + 1]}, "f")
    assert (made["name"], made["pair"][1]) == ("f", None)
    close(made["y"], np.array(x * 2))
    close(made["pair"][0], np.array(x + 1))


def test_captured_arrays_are_read_at_each_call(wide: None):
    weights = np.ones(4)
    f = pliant.to_jax(lambda x: np.sum(x * weights))
    assert f(jnp.ones(4)) == 4
    weights[:] = 2
    assert f(jnp.ones(4)) == 8


def test_arrays_of_64_bits_need_them_to_be_on(narrow: None):
    f = pliant.to_jax(lambda x: x * np.linspace(0.0, 1.0, 4))
    with pytest.raises(DTypeError, match=r"returns f64\[4\].*switched off[\s\S]*test_exchange.py[\s\S]*jax_enable_x64"):
        f(jnp.ones(4))
    with pytest.raises(DTypeError, match=r"i64\[\].*[\s\S]*np.int32"):
        pliant.to_jax(np.argmax)(jnp.ones(4))


def test_numbers_inside_have_the_bits_that_the_program_says(narrow: None):
    def f(x: Any) -> Any:
        return (np.cumsum(x.astype(np.float64) + 1e9) - 1e9)[0].astype(np.float32)

    assert pliant.to_jax(f)(jnp.full(4, 0.25)) == np.float32(0.25)


def test_out_of_range_reads_nan_and_writes_nothing(x: Any):
    def f(x: Any, i: Any) -> Any:
        y = x.copy()
        y[i] = 5
        return x[i], y

    read, written = pliant.to_jax(f)(x, jnp.asarray([9, 1]))
    np.testing.assert_array_equal(np.isnan(read), [True, False])
    np.testing.assert_array_equal(written[1], 5)
    gradient = jax.grad(lambda x: jnp.nansum(pliant.to_jax(f)(x, jnp.asarray([-9, 1]))[0]))(x)
    np.testing.assert_array_equal(gradient, [0, 1, 0, 0])


@pytest.mark.jax
def test_a_function_that_always_raises_does_so_in_jax():
    def f(x: Any) -> Any:
        raise ValueError(x.sum())

    with pytest.raises(ValueError, match="…"):
        pliant.to_jax(f)(np.ones(3))


def test_exceptions_are_raised_eagerly_and_refused_under_transformations(x: Any):
    def f(x: Any) -> Any:
        if np.sum(x) > 100:
            raise ValueError("too large")
        return x

    close(pliant.to_jax(f)(x), np.array(x))
    with pytest.raises(ValueError, match="too large"):
        pliant.to_jax(f)(x + 100)
    with pytest.raises(UnsupportedError, match=r"may raise ValueError[\s\S]*raised here"):
        jax.jit(pliant.to_jax(f))(x)


def test_generators_from_outside_are_refused_and_own_ones_are_numpys(wide: None):
    outside = np.random.default_rng(0)
    with pytest.raises(UnsupportedError, match="changes what is outside"):
        pliant.to_jax(lambda x: x + outside.normal(size=4))(jnp.ones(4))
    made = jax.jit(pliant.to_jax(lambda x: x * np.random.default_rng(5).normal(size=4)))(jnp.ones(4))
    np.testing.assert_allclose(made, np.random.default_rng(5).normal(size=4), rtol=1e-12)


def test_numbers_that_have_to_be_known_are_pythons(wide: None):
    f = pliant.to_jax(lambda n: np.zeros(n))
    assert f(3).shape == (3,)
    with pytest.raises(TracedValueError):
        f(jnp.asarray(3))


# --- functions of JAX


def test_a_function_of_jax_in_a_function_of_numpy():
    silu = pliant.from_jax(jax.nn.silu)

    def f(x: Any) -> Any:
        for _ in range(3):
            x = silu(x) + x
        return np.sum(x)

    with jax.enable_x64(True):
        wanted = jax.grad(lambda x: jnp.sum(g(g(g(x)))))(jnp.asarray(X))
    np.testing.assert_allclose(pliant.grad(f)(X), wanted, rtol=1e-10)


def g(x: Any) -> Any:
    return jax.nn.silu(x) + x


def test_dtypes_are_those_of_the_arrays_whatever_jax_has_switched_on(narrow: None):
    f = pliant.from_jax(lambda x: jnp.exp(x) + jnp.zeros(4))
    assert f(X).dtype == np.float64
    np.testing.assert_allclose(f(X), np.exp(X), rtol=1e-14)
    assert f(X.astype(np.float32)).dtype == np.float32
    assert pliant.from_jax(jnp.argmax)(X.astype(np.float32)).dtype == np.int32


def test_numbers_of_python_are_weak():
    assert pliant.from_jax(lambda x, s: x * s)(X.astype(np.float32), 2.0).dtype == np.float32
    assert type(pliant.from_jax(lambda s: s * 2)(2.0)) is float


@pytest.mark.parametrize("dtype", [np.complex128, np.complex64, np.int64, np.int8, np.uint16, np.bool_])
def test_other_dtypes(dtype: Any):
    z = (X * 10).astype(dtype)
    with jax.enable_x64(True):
        for of_jax in (lambda z: z[::-1], lambda z: jnp.where(z == z[1], z, z[0]), lambda z: z * z, jnp.conj, jnp.sum):
            want, got = of_jax(jnp.asarray(z)), pliant.from_jax(of_jax)(z)
            assert (got.dtype, got.shape) == (want.dtype, want.shape)
            np.testing.assert_allclose(got, want)


def test_there_and_back():
    with jax.enable_x64(True):
        f = pliant.from_jax(pliant.to_jax(looping))
        np.testing.assert_allclose(f(X), looping(X), rtol=1e-12)
        np.testing.assert_allclose(pliant.grad(f)(X), pliant.grad(looping)(X), rtol=1e-10)


def test_what_is_not_translated_is_named_with_its_line():
    def draws(x: Any) -> Any:
        return x + jax.random.normal(jax.random.key(0), (4,))

    def calls(x: Any) -> Any:
        return jax.pure_callback(np.sin, jax.ShapeDtypeStruct((4,), x.dtype), x)

    with pytest.raises((UnsupportedError, DTypeError), match="drawn outside"):
        pliant.from_jax(draws)(X)
    with pytest.raises(UnsupportedError, match=r"'pure_callback'.*test_exchange.py:\d+"):
        pliant.from_jax(calls)(X)


def test_a_known_number_is_one_to_a_function_of_jax():
    assert pliant.from_jax(lambda x, n: x[:n])(X, 2).shape == (2,)


def test_what_is_printed_comes_out_of_jax(x: Any, capfd: pytest.CaptureFixture[str]):
    def f(x: Any) -> Any:
        for i in range(2):
            print(i, x[0] > 0)
        return x * 2

    jax.block_until_ready(jax.jit(pliant.to_jax(f))(x))
    jax.effects_barrier()
    assert capfd.readouterr().out == "0 True\n1 True\n"


def test_arrays_on_several_devices_stay_there():
    script = """
import jax, numpy as np, pliant
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

def f(x):
    y = np.zeros_like(x)
    y[:, 1:] = x[:, :-1] * 2
    return np.tanh(y) + x

mesh = Mesh(np.array(jax.devices()), ("d",))
x = jax.device_put(jax.numpy.arange(32, dtype="float32").reshape(8, 4), NamedSharding(mesh, P("d", None)))
y = jax.jit(pliant.to_jax(f))(x)
parts = jax.jit(jax.shard_map(pliant.to_jax(f), mesh=mesh, in_specs=P("d", None), out_specs=P("d", None)))
assert len(mesh.devices) == 2 and y.sharding.is_equivalent_to(x.sharding, 2)
np.testing.assert_allclose(y, f(np.array(x)), rtol=1e-6)
np.testing.assert_allclose(parts(x), f(np.array(x)), rtol=1e-6)
"""
    flags = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
    subprocess.run([sys.executable, "-c", script], env=flags, check=True)


@pytest.mark.parametrize("dtype", ["float32", "int8", "float64"])
def test_numbers_of_pythons_take_the_dtype_of_arrays_under_jit(dtype: str, wide: Any):
    x = jnp.ones(3, dtype)
    assert jax.jit(pliant.to_jax(lambda x, n: x * n))(x, 3).dtype == x.dtype
    made = jax.lax.fori_loop(0, 3, lambda i, c: pliant.to_jax(lambda c, i: c * i + 1)(c, i), x)
    close(made, np.full(3, 5, dtype))


@pytest.mark.parametrize("number", [3, 3.0, 3j])
def test_numbers_of_pythons_come_back_as_jax_has_them(number: Any, x: Any):
    for f in (pliant.to_jax(lambda n: n + 1), jax.jit(pliant.to_jax(lambda n: n + 1))):
        assert f(number).dtype == jax.jit(lambda n: n + 1)(number).dtype
        assert f(number) == number + 1


def test_a_function_that_only_writes_is_refused(x: Any):
    def only_writes(x: Any) -> None:
        x[0] = 9

    with pytest.raises(ArgumentError, match="to_jax: only_writes returns no arrays, and what it writes"):
        pliant.to_jax(only_writes)(x)


def test_mantissas_have_gradients(x: Any):
    def mantissas(x: Any) -> Any:
        m, n = np.frexp(x)
        return np.sum(m**2) + np.sum(np.ldexp(x, n))

    close(pliant.to_jax(mantissas)(x), pliant.jit(mantissas)(np.array(x)))
    close(jax.grad(pliant.to_jax(mantissas))(x), pliant.grad(mantissas)(np.array(x)))


def test_arrays_of_jax_from_outside_are_arrays(x: Any):
    other = x + 1
    close(pliant.to_jax(lambda x: x * other + other @ x)(x), x * other + other @ x)
    close(jax.grad(pliant.to_jax(lambda x: np.sum(other * x)))(x), other)


@pytest.mark.parametrize("f", [lambda w: lambda x: np.sum(x * w), lambda w: lambda x: np.sum(np.sin(w) * x)])
def test_what_jax_traces_outside_has_to_be_an_argument(f: Any, x: Any):
    with pytest.raises(ArgumentError, match=r"outside(.|\n)*hint: pass it as an argument"):
        jax.grad(lambda w: pliant.to_jax(f(w))(x))(x)


def test_keys_are_no_arrays(x: Any):
    with pytest.raises(DTypeError, match=r"no dtype for JAX's key<fry>\nhint: jax.random.key_data"):
        pliant.to_jax(lambda x: x)(jax.random.key(0))


@pytest.mark.parametrize("made", [lambda f: f, jax.jit], ids=["eagerly", "under jit"])
def test_errors_name_the_users_line_and_what_the_function_is_for(made: Any, x: Any):
    with pytest.raises(UnsupportedError, match=r"cannot be the result of a function for JAX(.|\n)*> test_exchange"):
        made(pliant.to_jax(lambda x: x[x > 0]))(x)


def test_errors_of_functions_that_are_jaxs_name_the_call():
    with pytest.raises(UnsupportedError, match=r"'bessel_i0e' is not supported\n  --> test_exchange(.|\n)*in NumPy"):
        pliant.from_jax(jax.scipy.special.i0)(X)


def test_functions_of_jax_cannot_branch_by_what_arrays_hold():
    with pytest.raises(TracedValueError, match=r"needs to know what an array holds(.|\n)*> test_exch(.|\n)*lax.cond"):
        pliant.from_jax(lambda x: x if x.sum() > 0 else -x)(X)


@pytest.mark.parametrize("limit", [0.03, 0.7, 9.0])
def test_loops_with_a_break_have_gradients(limit: float, x: Any):
    def to_a_limit(x: Any) -> Any:
        total = x[0] * 0
        for i in range(20):
            total = total + x[i % 4] ** 2
            if total > limit:
                break
        return total

    wanted = pliant.grad(to_a_limit)(np.array(x))
    close(jax.grad(pliant.to_jax(to_a_limit))(x), wanted)
    close(jax.vmap(jax.grad(pliant.to_jax(to_a_limit)))(jnp.stack([x, x]))[1], wanted)


def test_arrays_in_files_are_arguments_as_others(tmp_path: Any) -> None:
    def f(x: Any) -> Any:
        x[1:] *= 2
        return x.sum()

    mapped = np.memmap(tmp_path / "numbers", dtype="f8", mode="w+", shape=(4, 3))
    mapped[:] = np.arange(12.0).reshape(4, 3)
    plain, compiled = np.array(mapped), pliant.jit(f)
    for _ in range(4):
        assert compiled(mapped) == f(plain)
    mapped.flush()
    np.testing.assert_array_equal(np.fromfile(tmp_path / "numbers").reshape(4, 3), plain)
    read = np.memmap(tmp_path / "numbers", dtype="f8", mode="r", shape=(4, 3))
    np.testing.assert_array_equal(pliant.grad(lambda x: (x**2).sum())(read), 2 * plain)
    with pytest.raises(ReadOnlyError):
        compiled(read)


TABLE = np.array([1.0, 5.0, 2.0])


def test_functions_with_constant_arrays_go_to_jax_and_back() -> None:
    def weighted(x: Any, n: Any) -> Any:
        total = np.zeros(3)
        for i in range(n):
            total = total + np.sin(x * TABLE) * i
        return np.sum(total * np.arange(3.0))

    back = pliant.from_jax(pliant.to_jax(weighted))
    compiled, gradient = pliant.jit(lambda x: 2 * back(x, 3)), pliant.grad(lambda x: back(x, 3))
    for x in (np.array([-1.0, 2.0, 3.0]), np.array([0.5, 0.0, 1.0])):
        for n in (3, 2):
            np.testing.assert_allclose(back(x, n), weighted(x, n))
        np.testing.assert_allclose(compiled(x), 2 * weighted(x, 3))
        np.testing.assert_allclose(gradient(x), pliant.grad(weighted)(x, 3))
    rows = np.arange(6.0).reshape(2, 3)
    np.testing.assert_allclose(pliant.vmap(lambda x: back(x, 3))(rows), [weighted(x, 3) for x in rows])


def test_functions_of_jax_on_arrays_that_are_traced_are_refused_with_the_way_to_have_them() -> None:
    for f in (jax.numpy.sin, jax.numpy.sum, jax.jit(lambda y: y)):
        with pytest.raises(TracedValueError, match=r"needs numbers(.|\n)*test_exchange(.|\n)*pliant.from_jax\(f\)"):
            pliant.jit(lambda x, f=f: f(x))(np.arange(3.0))
    np.testing.assert_allclose(pliant.jit(lambda x: x * np.asarray(jax.numpy.sin(0.0)))(np.arange(3.0)), np.zeros(3))
