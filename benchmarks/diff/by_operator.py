"""What a user of Pliant, JAX and PyTorch writes for the other operators, with the arguments of a preparation:
`by(x, seeds, c)` returns a tuple where the operator has seeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any, Final

import pliant
from benchmarks.diff import by_hand
from benchmarks.diff.by_hand import By, Setting, rosenbrock, terms

Operator = tuple[str, bool]  # its name, and whether it is of the terms
OPERATORS: Final[tuple[Operator, ...]] = (
    ("pushforward", False),
    ("value_and_pushforward", False),
    ("pullback", False),
    ("value_and_pullback", True),
    ("hvp", False),
    ("hessian", False),
    ("jacobian", True),
)


def settings() -> Mapping[str, Callable[[], Setting]]:
    """By a name for a table."""
    made: dict[str, Callable[[], Setting]] = {}
    for name, (base, by) in LIBRARIES.items():
        for operator in OPERATORS:
            text = f"{name}, `{operator[0]}`{' of the terms' if operator[1] else ''}"
            made[text] = partial(_setting, base, by, operator)
    return made


def _setting(base: Callable[[], Setting], by: Callable[[str, Any], By], operator: Operator) -> Setting:
    name, is_vector = operator
    of = base()
    like_y = terms(of.x, of.c) if is_vector else rosenbrock(of.x, of.c)
    seeds = {"pushforward": (of.x,), "hvp": (of.x,), "pullback": (like_y,)}.get(name.removeprefix("value_and_"), ())
    f = terms if is_vector else rosenbrock
    return replace(of, operator=name, is_vector=is_vector, seeds=seeds, by=by(name, f))


def in_jax(operator: str, f: Any) -> By:
    """One compiled function of its transformations."""
    jax = import_module("jax")
    return jax.jit(_written(operator, f, jax.jvp, jax.vjp, jax.grad, {"hessian": jax.hessian, "jacobian": jax.jacrev}))


def in_torch(operator: str, f: Any) -> By:
    """`torch.func`."""
    of = import_module("torch.func")
    return _written(operator, f, of.jvp, of.vjp, of.grad, {"hessian": of.hessian, "jacobian": of.jacrev})


def in_pliant(operator: str, f: Any) -> By:
    """One compiled function of its transformations."""
    matrices = {"hessian": pliant.hessian, "jacobian": pliant.jacobian}
    return pliant.jit(_written(operator, f, pliant.jvp, pliant.vjp, pliant.grad, matrices))


def _written(operator: str, f: Any, jvp: Any, vjp: Any, grad: Any, matrices: Mapping[str, Any]) -> By:
    """The operator in a library's transformations."""

    def pushed(x: Any, t: Any, c: Any) -> Any:
        y, dy = jvp(lambda x: f(x, c), (x,), t)
        return y, (dy,)

    def pulled(x: Any, t: Any, c: Any) -> Any:
        y, pull = vjp(lambda x: f(x, c), x)
        made = pull(t[0])
        return y, made if isinstance(made, tuple) else (made,)

    def product(x: Any, t: Any, c: Any) -> Any:
        return (jvp(lambda x: grad(f)(x, c), (x,), t)[1],)

    match operator:
        case "value_and_pushforward":
            return pushed
        case "pushforward":
            return lambda x, t, c: pushed(x, t, c)[1]
        case "value_and_pullback":
            return pulled
        case "pullback":
            return lambda x, t, c: pulled(x, t, c)[1]
        case "hvp":
            return product
        case _:
            return matrices[operator](f)


LIBRARIES: Final = {
    "Pliant": (by_hand.of_pliant, in_pliant),
    "JAX": (by_hand.of_jax, in_jax),
    "PyTorch": (by_hand.of_torch, in_torch),
}
