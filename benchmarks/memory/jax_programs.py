"""The programs of §3 for JAX, with what is written donated: each call is given what the one before returned."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from benchmarks.memory.programs import Program


def functions(jax: Any, jnp: Any) -> dict[str, tuple[Callable[..., Any], int]]:
    """Each program as a function of arrays, and how many of its arguments it returns anew."""

    def read_and_write(x: Any) -> Any:
        def step(i: Any, state: Any) -> Any:
            x, s = state
            v = x[i]
            x = x.at[i].set(2 * v)
            return x, s + x[i + 1] * v

        return jax.lax.fori_loop(0, 1000, step, (x, 0.0))[0]

    def jacobi(a: Any, b: Any) -> Any:
        def step(_: Any, state: Any) -> Any:
            a, b = state
            return b.at[1:-1, 1:-1].set(0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])), a

        return jax.lax.fori_loop(0, 100, step, (a, b))

    def swap_neighbours(x: Any) -> Any:
        def step(i: Any, x: Any) -> Any:
            before = x[i]
            return x.at[i].set(x[i + 1]).at[i + 1].set(before)

        return jax.lax.fori_loop(0, 1000, step, x)

    return {
        "P1": (lambda x: jnp.sin(x * 2 + 1), 1),
        "P2": (read_and_write, 1),
        "P3": (jacobi, 2),
        "P4": (lambda g, y, x: g + y.T @ x, 1),
        "P5": (jnp.sin, 0),
        "P6": (lambda x: x.at[1:-1].add(0.25 * (x[:-2] + x[2:])), 1),
        "P7": (lambda x: x.at[1:].set(x[:-1]), 1),
        "F": (swap_neighbours, 1),
    }


def prepared(program: Program) -> Callable[[], Any]:
    """A call of the program's function."""
    jax = import_module("jax")
    jax.config.update("jax_enable_x64", True)
    fn, written = functions(jax, jax.numpy)[program.name.split()[0]]
    compiled = jax.jit(fn, donate_argnums=tuple(range(written)))
    state = [jax.numpy.array(a) for a in program.make()]

    def call() -> None:
        made = compiled(*state)
        jax.block_until_ready(made)
        if written:
            state[:written] = made if isinstance(made, tuple) else [made]

    return call
