"""In JAX: a primitive of its own, run by `jax.pure_callback`."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant.core.types import DTYPES, Type
from pliant.diff.foreign import Map, Other, only
from pliant.diff.optional import package


def in_jax(function: Any, x: Any, constants: tuple[Any, ...]) -> Any:
    """The value, as an array of JAX."""
    with _module("jax").ensure_compile_time_eval():  # the function may be run by JAX itself
        made = function.result_type(x, constants, _held)
    return in_program_of_jax(Map(function, "value"), made, (x, *constants))


def in_program_of_jax(map: Map, made: Type, xs: Sequence[Any]) -> Any:
    """One of the maps, of operands and constants. made: the type of the function's result."""
    dtype = _module("jax").dtypes.canonicalize_dtype(DTYPES[made.dtype])
    given = [_module("jax.numpy").asarray(x) for x in xs]
    return _foreign().bind(*given, map=map, y=(made.shape, dtype))


def _held(x: Any) -> Any:
    """What an array holds, also one that JAX differentiates now; None of one that it compiles."""
    while hasattr(x, "primal"):
        x = x.primal
    return None if isinstance(x, _module("jax.core").Tracer) else np.asarray(x)


def _module(name: str) -> Any:
    return package(name, "JAX", "jax")


@functools.cache
def _foreign() -> Any:
    """The primitive: a map of its operands and then constants; y is the shape and dtype of the function's result."""
    ad, batching, mlir = (_module(f"jax.interpreters.{name}") for name in ("ad", "batching", "mlir"))
    foreign = _module("jax.extend.core").Primitive("foreign")
    foreign.def_impl(_compiled)
    foreign.def_abstract_eval(_abstract)
    ad.primitive_jvps[foreign] = _jvp
    ad.primitive_transposes[foreign] = _transpose
    batching.primitive_batchers[foreign] = _batch
    mlir.register_lowering(foreign, mlir.lower_fun(_called, multiple_results=False))
    return foreign


def _compiled(*xs: Any, map: Map, y: Any) -> Any:
    return _module("jax").jit(functools.partial(_called, map=map, y=y))(*xs)


def _abstract(x: Any, *rest: Any, map: Map, y: Any) -> Any:
    return _module("jax").core.ShapedArray(*((x.shape, x.dtype) if map.is_like_x else y))


def _called(*xs: Any, map: Map, y: Any) -> Any:
    like = _module("jax").ShapeDtypeStruct(*((xs[0].shape, xs[0].dtype) if map.is_like_x else y))

    def on_numpy(*xs: Any) -> Any:
        return map.on_conjugate(*[np.asarray(x) for x in xs]).astype(like.dtype)

    return _module("jax").pure_callback(on_numpy, like, *xs, vmap_method="sequential")


def _jvp(xs: Any, dxs: Any, *, map: Map, y: Any) -> Any:
    is_given = [type(d) is not _module("jax.interpreters.ad").Zero for d in dxs]
    if any(
        [given and d.dtype != _module("jax").dtypes.float0 for given, d in zip(is_given, dxs, strict=True)][map.count :]
    ):
        raise only("with respect to its first argument")
    terms = [_other(map.tangent(n, xs, dxs[n]), xs, map, y) for n in range(map.count) if is_given[n]]
    return _foreign().bind(*xs, map=map, y=y), sum(terms[1:], terms[0])


def _transpose(ct: Any, *xs: Any, map: Map, y: Any) -> Any:
    ad = _module("jax.interpreters.ad")
    if type(ct) is ad.Zero:
        return [None] * len(xs)
    return [
        _other(map.transposed(n, xs, ct), xs, map, y) if ad.is_undefined_primal(x) else None for n, x in enumerate(xs)
    ]


def _other(made: Other, xs: Any, map: Map, y: Any) -> Any:
    """Another map of the same function, for the same constants."""
    return _foreign().bind(*made[1], *xs[map.count :], map=made[0], y=y)


def _batch(xs: Any, axes: Any, **params: Any) -> Any:
    """Row by row."""
    jax, is_mapped = _module("jax"), [axis is not None for axis in axes]
    stacks = [jax.numpy.moveaxis(x, axis, 0) for x, axis, b in zip(xs, axes, is_mapped, strict=True) if b]

    def row(parts: Any) -> Any:
        rest = iter(parts)
        return _foreign().bind(*[next(rest) if b else x for x, b in zip(xs, is_mapped, strict=True)], **params)

    return jax.lax.map(row, stacks), 0
