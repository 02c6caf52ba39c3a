"""NumPy functions on PyTorch's tensors: a program for each signature, and what its parameters are given."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from pliant.backends.torch_function import Call, Prepare
from pliant.backends.torch_namespace import device_of, storage_of, torch
from pliant.core.ir import Function
from pliant.core.types import DTYPES, SHORT
from pliant.errors import ArgumentError, DTypeError, UnsupportedError

lock: Final = threading.RLock()  # one trace at a time


def is_tensor(x: Any) -> bool:
    """Whether x is a tensor."""
    return isinstance(x, torch.Tensor)


def numpy_name(x: Any, name: str) -> str:
    """NumPy's name of a tensor's dtype; DTypeError if NumPy has none, or the tensor is of no usual layout."""
    found = str(x.dtype).rpartition(".")[2]
    if found not in SHORT:
        raise DTypeError(f"{name}: NumPy has no {found}", hint="convert the tensor, as in x.float()")
    if x.layout is not torch.strided:
        raise DTypeError(f"{name}: expected a dense tensor, got one of layout {x.layout}", hint="x.to_dense()")
    return found


def example(x: Any, name: str) -> Any:
    """What a leaf is traced as: a NumPy array of a tensor's dtype and shape; a number that may have to be known as it
    is, if it can be looked at."""
    if not is_tensor(x):
        return x
    dtype = np.dtype(numpy_name(x, name))
    if x.ndim or dtype.kind not in "iub":
        return np.zeros(tuple(x.shape), dtype)
    return dtype.type(x.item() if can_be_read(x) else 0)


def can_be_read(x: Any) -> bool:
    """Whether the numbers of a tensor are there: not in a batch, nor in what only stands for one."""
    kind: Any = x.__class__
    return kind in (torch.Tensor, torch.nn.Parameter) and not torch._C._functorch.is_functorch_wrapped_tensor(x)


def call_of(fn: Function, before: Prepare, ready: Prepare, check: Callable[[int], None] | None, failed: Any) -> Call:
    """A program as a function of tensors, one of whose results may be the number of an exception."""

    def look(ys: Sequence[Any]) -> None:
        assert check is not None
        bad = ys[failed].reshape(-1)
        bad = bad[bad != 0]
        if len(bad):
            check(int(bad[0]))

    return Call(fn, before, ready, None if check is None or failed is None else look)


def operands(fn: Function, given: Sequence[Any]) -> list[Any]:
    """Tensors of the parameters' types on one device, for tensors, numbers and NumPy arrays."""
    tensors = [x for x in given if is_tensor(x)]
    device = device_of(tensors)
    others = [str(x.device) for x in tensors if x.device != device and x.ndim]
    if others:
        raise ArgumentError(f"{fn.name}: tensors lie on {device} and {others[0]}", hint="x.to(device)")
    needs = torch.is_grad_enabled() and any([x.requires_grad for x in tensors])
    made = list[Any]()
    for x, p in zip(given, fn.params, strict=True):
        dtype = getattr(torch, DTYPES[p.type.dtype])
        if is_tensor(x):
            made.append(x.to(device=device, dtype=dtype))
            continue
        array = np.ascontiguousarray(x).reshape(np.shape(x))
        copy = needs or not array.flags.writeable or array.base is not None
        made.append(
            torch.from_numpy(np.array(array, DTYPES[p.type.dtype], order="C") if copy else array).to(device, dtype)
        )
    return made


def check_apart(name: str, leaves: Sequence[Any], watched: Sequence[int]) -> None:
    """Refuse tensors that share memory with one that the function writes."""
    storages = [(storage_of(x) or id(x)) if is_tensor(x) else None for x in leaves]
    for n in watched:
        if n < len(leaves) and storages[n] is not None and storages.count(storages[n]) > 1:
            raise UnsupportedError(
                f"{name} writes to an argument that shares memory with another one", hint="pass x.clone()"
            )


__all__ = ["call_of", "can_be_read", "check_apart", "example", "is_tensor", "lock", "numpy_name", "operands"]
