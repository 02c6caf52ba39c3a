"""What newcomers from NumPy write, each with what it is given. The messages are golden texts."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse
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


def leaves_text(x: Any, log: list[str]) -> Any:
    log.append(f"{x.sum():.1f}")
    return x


def deletes(x: Any) -> Any:
    y = x.copy()
    del y[0]
    return y


def writes(x: Any, i: Any) -> Any:
    y = x.copy()
    y[i] = 1.0
    return y


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
    "ufunc_of_scipy": (pliant.jit(lambda x: scipy.special.j0(x)), (X,)),
    "misspelled_keyword": (pliant.jit(lambda x: x.sum(axi=0)), (X,)),
    "condition_with_one_branch": (pliant.jit(lambda x: np.where(x > 0, 1)), (X,)),
    "generator": (lambda: pliant.jit(yields), ()),
    "async_function": (lambda: pliant.grad(waits), ()),
    "branches_of_two_structures": (pliant.jit(branches_of_two_structures), (X,)),
    "keyword_of_pytorch": (pliant.jit(lambda x: x.cumsum(dim=0)), (X,)),
    "float_as_an_extent": (pliant.jit(lambda n: np.zeros((n, 2))), (2.0,)),
    "sum_as_an_extent": (pliant.jit(lambda x: np.linspace(0, 1, x.sum())), (X,)),
    "float_as_a_bound": (pliant.jit(lambda x, n: x[:n]), (X, 2.0)),
    "float_as_repeats": (pliant.jit(lambda x, k: np.repeat(x, k)), (X, 2.0)),
    "text_as_an_axis": (pliant.jit(lambda x: np.sum(x, axis="rows")), (X,)),
    "gradient_of_a_truth_value": (pliant.grad(lambda x: x.sum() > 1), (X,)),
    "gradient_of_several": (pliant.grad(lambda x: [x, (x, x), x]), (X,)),
    "gradient_without_aux": (pliant.grad(lambda x: x.sum(), has_aux=True), (X,)),
    "hessian_of_two": (pliant.hessian(lambda x: (x.sum(), x)), (X,)),
    "hessian_in_no_argument": (pliant.hessian(lambda x: x.sum(), argnums=2), (X,)),
    "sparse_matrix": (pliant.jit(lambda a, x: a @ x), (scipy.sparse.eye(3).tocsr(), X)),
    "polynomial": (pliant.jit(lambda p, x: p(x)), (np.polynomial.Polynomial([1.0, 2.0]), X)),
    "text_left_in_a_list": (pliant.jit(leaves_text), (X, [])),
    "map_over_a_list_of_numbers": (pliant.vmap(lambda v: v * 2), ([1.0, 2.0, 3.0],)),
    "scan_without_a_pair": (pliant.jit(lambda x: pliant.scan(lambda c, v: c + v, 0.0, x)), (X,)),
    "scan_saves_by_no_policy": (lambda x: pliant.scan(lambda c, v: (c + v, c), 0.0, x, save="lots"), (X,)),  # type: ignore[arg-type]
    "counted_loop_saves_by_no_policy": (lambda: pliant.fori_loop(0, 3, lambda i, c: c, 1.0, save="lots"), ()),  # type: ignore[arg-type]
    "while_loop_saves_by_no_policy": (lambda: pliant.while_loop(lambda c: c < 3, lambda c: c + 1, 1, save="lots"), ()),  # type: ignore[arg-type]
    "element_deleted": (pliant.jit(deletes), (X,)),
    "element_of_a_number_deleted": (pliant.jit(lambda x: operator.delitem(x.sum(), 0)), (X,)),
    "write_out_of_range": (pliant.jit(writes), (X, 4)),
    "text_as_an_index": (pliant.jit(lambda x, k: x[k]), (X, "a")),
    "list_method": (pliant.jit(lambda x: x.append(1)), (X,)),
    "class_method": (lambda: pliant.jit(classmethod(abs)), ()),
    "static_method": (lambda: pliant.grad(staticmethod(abs)), ()),
}
