"""A case as a call of each library: NumPy arrays go into Pliant and NumPy, the others get arrays of their own."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any, Final, cast

import numpy as np
import optree

import pliant
from pliant.tools.bench.case import Case, Function, leaves
from pliant.tools.bench.in_numba import by_numba

Call = Callable[[], Any]

ROWS: Final = (0, 1, 2)  # arguments that the Jacobian of each row is taken of
TOLERANCE: Final = {"float32": 2e-3, "float64": 1e-7}


def as_it_is(fn: Function) -> Function:
    """`fn`."""
    return fn


def each_row(vmap: Function, jacobian: Function) -> Function:
    """The transformation to the Jacobians of each row by these two."""

    def transform(fn: Function) -> Function:
        return vmap(jacobian(fn, argnums=ROWS))

    return transform


def by_pliant(case: Case) -> Call:
    """Compiled by Pliant."""
    wanted: dict[str, Function] = {
        "value": pliant.jit,
        "gradient": pliant.value_and_grad,
        "jacobian": pliant.jacobian,
        "jacobian rows": each_row(pliant.vmap, pliant.jacobian),
    }
    compiled, args = wanted[case.kind](partial(case.own.get("pliant") or case.fn, np)), case.args
    return lambda: compiled(*args)


def by_numpy(case: Case) -> Call | None:
    """NumPy itself, which has no derivatives."""
    fn = case.own.get("numpy", case.fn)
    if case.kind != "value" or fn is None:
        return None
    return lambda: fn(np, *case.args)


def by_jax(case: Case) -> Call | None:
    """Compiled by XLA, from its own arrays to its own arrays."""
    fn = case.own.get("jax", case.fn)
    if fn is None:
        return None
    jax = import_module("jax")
    jax.config.update("jax_enable_x64", True)
    wanted: dict[str, Function] = {
        "value": as_it_is,
        "gradient": jax.value_and_grad,
        "jacobian": jax.jacfwd,
        "jacobian rows": each_row(jax.vmap, jax.jacrev),
    }
    compiled = jax.jit(wanted[case.kind](partial(fn, import_module("jax.numpy"))))
    args = jax.device_put(case.args)
    return lambda: jax.block_until_ready(compiled(*args))


def by_torch(case: Case) -> Call | None:
    """Compiled by PyTorch's compiler, from its own tensors to its own tensors."""
    fn = case.own.get("torch", case.fn)
    if fn is None:
        return None
    torch = import_module("torch")
    torch.set_num_threads(1)
    torch.compiler.reset()  # after several cases it would no longer compile

    def value_and_gradient(fn: Function) -> Function:
        both = torch.func.grad_and_value(fn)
        return lambda *args: both(*args)[::-1]

    wanted: dict[str, Function] = {
        "value": as_it_is,
        "gradient": value_and_gradient,
        "jacobian": torch.func.jacfwd,
        "jacobian rows": each_row(torch.vmap, torch.func.jacrev),
    }
    compiled = torch.compile(wanted[case.kind](partial(fn, torch_namespace(torch))), dynamic=False)
    args: Any = optree.tree_map(torch.from_numpy, cast("Any", case.args))
    return lambda: compiled(*args)


def torch_namespace(torch: Any) -> Any:
    """PyTorch's functions under NumPy's names."""
    return SimpleNamespace(**(vars(torch) | {"max": torch.amax, "min": torch.amin}))


def by_pytensor(case: Case) -> Call | None:
    """Compiled by PyTensor with numba: only where a case asks for it, since that takes seconds."""
    fn = case.own.get("pytensor")
    if fn is None:
        return None
    pytensor, tensor = import_module("pytensor"), import_module("pytensor.tensor")
    inputs = [tensor.as_tensor(a).type() for a in case.args]
    value = fn(tensor, *inputs)
    outputs = [value, pytensor.grad(value, inputs[0])] if case.kind == "gradient" else value
    compiled = pytensor.function(inputs, outputs, mode="NUMBA", trust_input=True)
    return lambda: compiled(*case.args)


def by_keops(case: Case) -> Call | None:
    """Reduced by KeOps: only where a case asks for it."""
    fn = case.own.get("keops")
    return partial(fn, import_module("pykeops.numpy"), *case.args) if fn else None


SIDES: Final[dict[str, Callable[[Case], Call | None]]] = {
    "pliant": by_pliant,
    "numpy": by_numpy,
    "jax": by_jax,
    "torch": by_torch,
    "numba": by_numba,
    "pytensor": by_pytensor,
    "keops": by_keops,
}
MODULES: Final = {"keops": "pykeops"}


def installed() -> list[str]:
    """The sides whose libraries are there."""
    return [side for side in SIDES if find_spec(MODULES.get(side, side))]


def calls(case: Case, sides: list[str]) -> dict[str, Call]:
    """A call by each of the sides that can run a case, after all of them have agreed."""
    made = {side: call for side in sides if (call := SIDES[side](case))}
    expected = leaves(made["pliant"]())
    for side, call in made.items():
        for got, want in zip(leaves(call()), expected, strict=True):
            error = float(np.max(np.abs(got - want)) / max(np.max(np.abs(want)), 1e-30))
            if not error < TOLERANCE[case.dtype]:
                raise AssertionError(f"{case.title}: {side} differs from Pliant by {error:.1e}")
    return made
