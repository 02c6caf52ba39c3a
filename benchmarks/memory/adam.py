"""Adam over ten million parameters: one pass over memory, against a copy in the same process, JAX and PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from time import process_time
from typing import Any, Final

import numpy as np

COUNT: Final = 10_000_000
PARTS: Final = 4
ROUNDS: Final = 25
ARRAYS: Final = 4  # w, m, v, g
PASSED: Final = 7  # of which one step reads all, and writes three
RATE, FIRST, SECOND, LEAST = 1e-3, 0.9, 0.999, 1e-8
Tree = dict[str, Any]


def tree(number: float) -> Tree:
    """Parameters by name."""
    return {f"w{n}": np.full(COUNT // PARTS, number, np.float32) for n in range(PARTS)}


def update(params: Tree, mean: Tree, square: Tree, grads: Tree, first: Any, second: Any) -> None:
    """One step, in place. first, second: what the means are divided by, as they began at zero."""
    for name in params:
        g = grads[name]
        mean[name] += (1 - FIRST) * (g - mean[name])
        square[name] += (1 - SECOND) * (g * g - square[name])
        params[name] -= RATE * (mean[name] / first) / (np.sqrt(square[name] / second) + LEAST)


def by_pliant() -> Callable[[], Any]:
    """Compiled by Pliant."""
    step = import_module("pliant").jit(update)
    state = [tree(x) for x in (1.0, 0.1, 0.1, 0.5)]
    first, second = np.float32(0.5), np.float32(0.5)
    return lambda: step(*state, first, second)


def by_jax() -> Callable[[], Any]:
    """Compiled by XLA, with all that is written donated."""
    jax = import_module("jax")

    def step(params: Tree, mean: Tree, square: Tree, grads: Tree) -> tuple[Tree, Tree, Tree]:
        mean = {n: m + (1 - FIRST) * (grads[n] - m) for n, m in mean.items()}
        square = {n: v + (1 - SECOND) * (grads[n] * grads[n] - v) for n, v in square.items()}
        made = {n: w - RATE * (mean[n] / 0.5) / (jax.numpy.sqrt(square[n] / 0.5) + LEAST) for n, w in params.items()}
        return made, mean, square

    compiled = jax.jit(step, donate_argnums=(0, 1, 2))
    *state, grads = [jax.tree.map(jax.numpy.array, tree(x)) for x in (1.0, 0.1, 0.1, 0.5)]

    def call() -> None:
        state[:] = compiled(*state, grads)
        jax.block_until_ready(state)

    return call


def by_torch(**options: bool) -> Callable[[], Any]:
    """PyTorch's optimiser."""
    torch = import_module("torch")
    torch.set_num_threads(1)
    params = [torch.nn.Parameter(torch.from_numpy(w)) for w in tree(1.0).values()]
    for p in params:
        p.grad = torch.full_like(p, 0.5)
    return torch.optim.Adam(params, lr=RATE, **options).step


def by_copy() -> Callable[[], Any]:
    """A copy inside as much memory as a step works on: half of it is read, half written."""
    source = np.ones(COUNT * ARRAYS // 2, np.float32)
    target = np.ones_like(source)
    return lambda: np.copyto(target, source)


def by_numpy() -> Callable[[], Any]:
    """The same code, run by NumPy."""
    w, m, v, g = (tree(x) for x in (1.0, 0.1, 0.1, 0.5))
    return lambda: update(w, m, v, g, np.float32(0.5), np.float32(0.5))


def measured() -> dict[str, float]:
    """Processor seconds of one step: the sides take turns, and each keeps its best."""
    sides: dict[str, Callable[[], Any]] = {"copy": by_copy(), "pliant": by_pliant(), "numpy": by_numpy()}
    if find_spec("jax"):
        sides["jax, donated"] = by_jax()
    if find_spec("torch"):
        sides |= {"torch, fused": by_torch(fused=True), "torch, foreach": by_torch(foreach=True)}
    best = dict.fromkeys(sides, float("inf"))
    for _ in range(ROUNDS):
        for side, call in sides.items():
            began = process_time()
            call()
            best[side] = min(best[side], process_time() - began)
    return best


def table(seconds: dict[str, float]) -> Iterator[str]:
    """Time, bandwidth, and the time as a multiple of what a copy of as many bytes takes."""
    yield "| | ms | GB/s | of a copy's time |"
    yield "| --- | ---: | ---: | ---: |"
    copied = 4 * COUNT * ARRAYS / seconds["copy"]
    for side, time in seconds.items():
        rate = copied if side == "copy" else 4 * COUNT * PASSED / time
        yield f"| {side} | {time * 1e3:.1f} | {rate / 1e9:.1f} | {copied / rate:.2f} |"
