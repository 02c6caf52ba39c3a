"""Arguments that must be refused: arrays that cannot be read or written as the function needs them, and wrong `out=`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

import pliant

X = np.arange(3.0)
FROZEN = np.arange(3.0)
FROZEN.flags.writeable = False
SHARED = np.zeros(5)


def doubled(x: Any) -> Any:
    return 2 * x


def both(x: Any) -> Any:
    return x + 1, x - 1


def add_one(x: Any) -> None:
    x += 1


def write_captured() -> None:
    FROZEN[0] = 1


def result_into_a_shorter_slice(x: Any) -> None:
    np.add(x, 1, out=x[:2])


def result_into_integers(x: Any) -> Any:
    return np.add(x, 0.5, out=np.zeros(3, int))


def reduction_into_another_shape(x: Any) -> Any:
    return np.cumsum(x, out=np.zeros(4))


def change_shape_of_an_argument(x: Any) -> None:
    x.shape = (3, 1)


def view_of_a_number(x: Any) -> Any:
    return x[0, ...].view(np.float32)


def given(**kwargs: Any) -> Any:
    """A call with keywords."""
    return lambda f, *args: pliant.jit(f)(*args, **kwargs)


WRONG_ARGUMENTS: dict[str, Any] = {
    "out_of_another_shape": (given(out=np.zeros(4)), (doubled, X)),
    "out_of_another_dtype": (given(out=np.zeros(3, np.float32)), (doubled, X)),
    "out_of_another_structure": (given(out=np.zeros(3)), (both, X)),
    "out_that_is_read_only": (given(out=FROZEN), (doubled, X)),
    "out_that_is_no_array": (given(out=[0.0]), (lambda x: [2 * x], X)),
    "outs_that_overlap": (given(out=(SHARED[:3], SHARED[1:4])), (both, X)),
    "out_with_elements_in_one_place": (given(out=as_strided(np.zeros(1), (3,), (0,))), (doubled, X)),
    "out_of_nothing": (given(out=np.zeros(3)), (add_one, X)),
    "read_only_argument": (pliant.jit(add_one), (FROZEN,)),
    "read_only_captured_array": (pliant.jit(write_captured), ()),
    "argument_with_elements_in_one_place": (pliant.jit(add_one), (as_strided(np.zeros(1), (3,), (0,)),)),
    "result_into_a_shorter_slice": (pliant.jit(result_into_a_shorter_slice), (X,)),
    "result_into_integers": (pliant.jit(result_into_integers), (X,)),
    "reduction_into_another_shape": (pliant.jit(reduction_into_another_shape), (X,)),
    "change_shape_of_an_argument": (pliant.jit(change_shape_of_an_argument), (X,)),
    "view_of_a_number": (pliant.jit(view_of_a_number), (X,)),
    "array_of_strings": (pliant.jit(doubled), (np.array(["a", "b"]),)),
    "array_of_dates": (pliant.jit(doubled), (np.zeros(2, "datetime64[s]"),)),
    "array_of_records": (pliant.jit(doubled), (np.zeros(2, "f8,i4"),)),
    "masked_array": (pliant.jit(doubled), (np.ma.ones(3),)),
    "donated_name_that_is_not_there": (lambda: pliant.jit(doubled, donate="y"), ()),
    "accumulation_into_another_shape": (
        pliant.grad(lambda x: np.sum(x * x), accumulate_into=np.zeros(4)), (X,),
    ),
}  # fmt: skip
