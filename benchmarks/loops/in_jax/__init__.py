"""The programs as one writes them for JAX: loops by `fori_loop` and `scan`, updates by `.at`, masks
where bounds depend on an index. Each returns the results of the NumPy program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.loops.in_jax import dynamics, factorisations, flows, products, recurrences, stencils

VERSIONS: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (
        stencils.VERSIONS
        + flows.VERSIONS
        + factorisations.VERSIONS
        + products.VERSIONS
        + recurrences.VERSIONS
        + dynamics.VERSIONS
    )
}

__all__ = ["VERSIONS"]
