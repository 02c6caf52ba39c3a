"""The programs of §3 for `torch.compile`, which shares NumPy's memory; loops that it would unroll are left out."""

# ruff: noqa: D103 (each function has its name in FUNCTIONS)

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Final

from benchmarks.memory.programs import Program


def chain(x: Any) -> None:
    x.mul_(2).add_(1).sin_()


def accumulate(g: Any, y: Any, x: Any) -> None:
    g += y.T @ x


def stencil(x: Any) -> None:
    x[1:-1] += 0.25 * (x[:-2] + x[2:])


def shift(x: Any) -> None:
    x[1:] = x[:-1].clone()


def sine(x: Any, out: Any) -> None:
    out.copy_(x.sin())


FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    "P1": chain, "P4": accumulate, "P5": sine, "P6": stencil, "P7": shift
}  # fmt: skip


def has(program: Program) -> bool:
    """Whether there is a function for a program."""
    return program.name.split()[0] in FUNCTIONS


def prepared(program: Program) -> Callable[[], Any]:
    """A call of the program's function."""
    torch = import_module("torch")
    torch.set_num_threads(1)
    compiled = torch.compile(FUNCTIONS[program.name.split()[0]])
    given = [*program.make(), *([program.out()] if program.out else [])]
    tensors = [torch.from_numpy(a) for a in given]
    return lambda: compiled(*tensors)
