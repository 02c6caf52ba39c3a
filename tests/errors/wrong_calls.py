"""What newcomers from NumPy write, each with what it is given. The messages are golden texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special

import pliant

X = np.arange(3.0)


def forgets_return(x: Any) -> Any:
    y = x.sum()  # noqa: F841


def returns_its_argument(x: Any) -> Any:
    return x


def returns_text(x: Any) -> Any:
    return "loss"


def returns_an_int(x: Any) -> Any:
    return 3


def yields(x: Any) -> Any:
    yield x.sum()


async def waits(x: Any) -> Any:
    return x.sum()


def branches_of_two_structures(x: Any) -> Any:
    return pliant.cond(x[0] > 0, lambda x: {"a": x}, lambda x: [x, x], x)


WRONG_CALLS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "gradient_of_no_result": (pliant.grad(forgets_return), (X,)),
    "gradient_of_the_argument": (pliant.grad(returns_its_argument), (X,)),
    "hessian_of_the_argument": (pliant.hessian(lambda x: x), (X,)),
    "gradient_of_text": (pliant.grad(returns_text), (X,)),
    "gradient_of_a_number": (pliant.grad(returns_an_int), (X,)),
    "gradient_by_a_python_int": (pliant.grad(lambda x: x**2), (3,)),
    "jacobian_of_no_result": (pliant.jacobian(forgets_return), (X,)),
    "static_by_position": (lambda: pliant.jit(returns_text, static=0), ()),  # type: ignore[arg-type]
    "donate_by_position": (lambda: pliant.jit(returns_text, donate=(0,)), ()),  # type: ignore[arg-type]
    "ufunc_of_scipy": (pliant.jit(lambda x: scipy.special.gamma(x)), (X,)),
    "misspelled_keyword": (pliant.jit(lambda x: x.sum(axi=0)), (X,)),
    "condition_with_one_branch": (pliant.jit(lambda x: np.where(x > 0, 1)), (X,)),
    "generator": (lambda: pliant.jit(yields), ()),
    "async_function": (lambda: pliant.grad(waits), ()),
    "branches_of_two_structures": (pliant.jit(branches_of_two_structures), (X,)),
    "list_method": (pliant.jit(lambda x: x.append(1)), (X,)),
}
