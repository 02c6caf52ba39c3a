"""What `rng`, which stands for a generator in a trace, draws: one number, or one for each element of an array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.frontend.parameters import is_short, long_only, number_in, row_of, shape_of
from pliant.frontend.random.bits import bits_of


def each(rng: Any, one: Callable[..., Any], shape: Any, dtype: Any, *parameters: Any) -> Any:
    """What `one` draws, once where there is no shape, or for each element of one."""
    bits = bits_of(rng.parts)
    if shape is None:
        made = one(bits, *parameters)
    else:
        made = np.empty(shape, dtype)
        _fill(row_of(made), number_in(shape), one, bits, [_flat(p, shape) for p in parameters])
    bits.store(rng.parts)
    return made


def number(rng: Any, one: Callable[..., Any], size: Any, *parameters: Any) -> Any:
    """Floats; a Python float where one is asked for."""
    shape = shape_of(size, parameters)
    made = each(rng, one, shape, np.float64, *parameters)
    return float(made) if shape is None else made


def scaled(rng: Any, one: Callable[..., Any], size: Any, loc: Any, scale: Any, *parameters: Any) -> Any:
    """What `one` draws, times `scale`, from `loc` on."""
    shape = shape_of(size, (loc, scale, *parameters))
    made = loc + scale * each(rng, one, shape, np.float64, *parameters)
    return float(made) if shape is None else made if shape else np.asarray(made)


def count(rng: Any, one: Callable[..., Any], size: Any, *parameters: Any) -> Any:
    """Whole numbers; a Python int where one is asked for."""
    shape = shape_of(size, parameters)
    made = each(rng, one, shape, np.int64, *parameters)
    return int(made) if shape is None else made


def filled(rng: Any, one: Callable[..., Any], short: Any, size: Any, dtype: Any, out: Any, *parameters: Any) -> Any:
    """What `one` draws, or `short` of 32 bits, written to `out` if it is given."""
    shape = shape_of(size if out is None else out.shape, parameters)
    if not is_short(dtype if out is None else out.dtype):
        made = number(rng, one, shape, *parameters)
    elif short is None:
        raise long_only()
    else:
        made = each(rng, short, shape, np.float32, *parameters)
        made = float(made) if shape is None else made
    return written(out, made)


def written(out: Any, made: Any) -> Any:
    """What a draw has made, written to `out` if it is given."""
    if out is None:
        return made
    out[...] = made
    return out


def _flat(x: Any, shape: Any) -> Any:
    """A parameter, as a row of one for each element of a shape if it is an array."""
    return np.broadcast_to(x, shape).reshape(-1) if np.ndim(x) else x


def _fill(row: Any, count: Any, one: Callable[..., Any], bits: Any, parameters: Any) -> None:
    """Draw so many elements of a row."""
    for n in range(count):
        row[n] = one(bits, *[p[n] if np.ndim(p) else p for p in parameters])
