"""What a user of each library writes for a value and a gradient, in the library's arrays or NumPy's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Final, final

import numpy as np

import pliant
import pliant.diff as diff

By = Callable[..., Any]

C: Final = 100.0


@final
@dataclass(frozen=True)
class Setting:
    """One call, and the same by hand: `by(x, c)`, or `by(x, seeds, c)` where the operator has seeds."""

    system: Any
    x: Any
    c: Any
    by: By
    operator: str = "value_and_gradient"
    seeds: tuple[Any, ...] = ()
    is_vector: bool = False  # whether it is of the terms of the function, and not of their sum


def terms(x: Any, c: Any) -> Any:
    """c·(x[i+1] - x[i]²)² + (1 - x[i])², in any library's arrays."""
    return c * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2


def rosenbrock(x: Any, c: Any) -> Any:
    """Their sum."""
    y = terms(x, c)
    return y.sum() if hasattr(y, "sum") else diff.namespace(y).sum(y)


def point() -> Any:
    """x in NumPy."""
    return np.linspace(0.1, 1, 100)


def of_pliant() -> Setting:
    """`pliant.value_and_grad`."""
    return Setting(diff.Pliant(), point(), C, pliant.value_and_grad(rosenbrock))


def of_jax() -> Setting:
    """`jax.jit(jax.value_and_grad(f))`."""
    jax = import_module("jax")
    jax.config.update("jax_enable_x64", True)
    x, c = jax.numpy.asarray(point()), jax.numpy.asarray(C)
    return Setting(diff.JAX(), x, c, jax.jit(jax.value_and_grad(rosenbrock)))


def of_jax_alone() -> Setting:
    """`jax.jit(jax.grad(f))`, which computes no value."""
    jax = import_module("jax")
    return replace(of_jax(), by=jax.jit(jax.grad(rosenbrock)), operator="gradient")


def of_jax_with_numpy() -> Setting:
    """The same, and results as NumPy arrays that may be written."""
    call = of_jax().by

    def by(x: Any, c: Any) -> Any:
        y, g = call(x, c)
        return np.array(y)[()], np.array(g)

    return Setting(diff.JAX(), point(), C, by)


def of_torch() -> Setting:
    """PyTorch's tape, its fastest way."""
    torch = import_module("torch")

    def by(x: Any, c: Any) -> Any:
        at = x.detach().requires_grad_()
        y = rosenbrock(at, c)
        return y.detach(), torch.autograd.grad(y, at)[0]

    return Setting(diff.PyTorch(), torch.from_numpy(point()), torch.tensor(C, dtype=torch.float64), by)


def of_torch_with_numpy() -> Setting:
    """The same on memory that is shared with NumPy."""
    torch = import_module("torch")

    def by(x: Any, c: Any) -> Any:
        at = torch.from_numpy(x).requires_grad_()
        y = rosenbrock(at, c)
        return y.detach().numpy()[()], torch.autograd.grad(y, at)[0].numpy()

    return Setting(diff.PyTorch(), point(), C, by)


def of_mlx() -> Setting:
    """`mx.value_and_grad`."""
    mx = import_module("mlx.core")
    return Setting(diff.MLX(), mx.array(point().astype("f")), mx.array(C), mx.value_and_grad(rosenbrock))


def of_autograd() -> Setting:
    """`autograd.value_and_grad`."""
    return Setting(diff.Autograd(), point(), C, import_module("autograd").value_and_grad(rosenbrock))


def of_casadi() -> Setting:
    """A CasADi function, called through its buffer, the fastest way."""
    casadi = import_module("casadi")
    x, c = casadi.SX.sym("x", 100), casadi.SX.sym("c")
    y = casadi.sum1(c * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)
    buffer, call = casadi.Function("program", [x, c], [y, casadi.gradient(y, x)]).buffer()

    def by(x: Any, c: Any) -> Any:
        given, made = (x, np.asarray(c)), (np.empty(()), np.empty(100))
        for n in (0, 1):
            buffer.set_arg(n, given[n].data)
            buffer.set_res(n, made[n].data)
        call()
        return made[0][()], made[1]

    return Setting(diff.CasADi(), point(), C, by)


def of_sympy() -> Setting:
    """`lambdify` of the derivatives."""
    sympy = import_module("sympy")
    x, c = sympy.symbols("x:100", real=True), sympy.symbols("c", real=True)
    y = rosenbrock(np.array(x, object), c)
    function = sympy.lambdify([*x, c], [y, *[y.diff(s) for s in x]], modules="numpy", cse=True)

    def by(x: Any, c: Any) -> Any:
        y, *g = function(*x, np.float64(c))
        return y, np.array(g)

    return Setting(diff.SymPy(), point(), C, by)


def of_pytensor() -> Setting:
    """A PyTensor function."""
    tensor, make = import_module("pytensor.tensor"), import_module("pytensor").function
    x, c = tensor.dvector(), tensor.dscalar()
    y = rosenbrock(x, c)
    return Setting(diff.PyTensor(), point(), C, make([x, c], [y, import_module("pytensor").grad(y, x)]))


def of_tensorflow() -> Setting:
    """A graph around TensorFlow's tape."""
    tf = import_module("tensorflow")

    @tf.function(autograph=False)
    def by(x: Any, c: Any) -> Any:
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(x)
            y = rosenbrock(x, c)
        return y, tape.gradient(y, x)

    return Setting(diff.TensorFlow(), tf.constant(point()), tf.constant(C, tf.float64), by)


def of_differences() -> Setting:
    """SciPy's central differences."""
    return Setting(diff.FiniteDifferences(), point(), C, _by_scipy("3-point"))


def of_complex_step() -> Setting:
    """SciPy's complex step."""
    return Setting(diff.ComplexStep(), point(), C, _by_scipy("cs"))


def _by_scipy(method: str) -> By:
    differences = import_module("scipy.optimize._numdiff").approx_derivative

    def by(x: Any, c: Any) -> Any:
        return rosenbrock(x, c), differences(rosenbrock, x, method=method, args=(c,))

    return by


def waiting(system: Any) -> Callable[[Any], Any] | None:
    """What waits for results that are made later."""
    match system:
        case diff.JAX():
            return import_module("jax").block_until_ready
        case diff.MLX():
            return lambda made: (import_module("mlx.core").eval(made), made)[1]
        case _:
            return None


SETTINGS: Final[Mapping[str, Callable[[], Setting]]] = {
    "Pliant, beside `value_and_grad`": of_pliant,
    "JAX, its arrays, beside `jit(value_and_grad(f))`": of_jax,
    "JAX, its arrays, the gradient alone, beside `jit(grad(f))`": of_jax_alone,
    "JAX, NumPy's arrays in and out": of_jax_with_numpy,
    "PyTorch, its tensors, beside its tape": of_torch,
    "PyTorch, NumPy's arrays in and out": of_torch_with_numpy,
    "MLX, its arrays, beside `value_and_grad`": of_mlx,
    "autograd, beside `value_and_grad`": of_autograd,
    "CasADi, beside a function called through its buffer": of_casadi,
    "SymPy, beside `lambdify`": of_sympy,
    "PyTensor, beside `function`": of_pytensor,
    "TensorFlow, beside `function` around its tape": of_tensorflow,
    "finite differences, beside SciPy's": of_differences,
    "complex step, beside SciPy's": of_complex_step,
}
