"""Modules of PyTorch: their parameters and buffers as NumPy arrays, and calls of them as functions of these."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from pliant.backends.torch_graph import Graph, flatten, unflatten
from pliant.backends.torch_graph import graph_of as graph_of_all
from pliant.backends.torch_namespace import torch
from pliant.errors import ArgumentError

functional: Any = import_module("torch.func")


def is_module(g: Any) -> bool:
    """Whether g is a module."""
    return isinstance(g, torch.nn.Module)


def arrays_of(module: Any, before: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters and buffers of a module by name, as arrays that share their memory, or are copies of that
    of another device; the same objects as before for those that lie where they lay."""
    found = dict[str, Any]()
    for name, tensor in [*module.named_parameters(), *module.named_buffers()]:
        values, old = tensor.detach(), before.get(name)
        array = values.cpu().numpy()
        is_same = old is not None and old.__array_interface__ == array.__array_interface__
        if values.device.type != "cpu" and old is not None and (old.dtype, old.shape) == (array.dtype, array.shape):
            np.copyto(old, array)
            is_same = True
        found[name] = old if is_same else array
    return found


def modes_of(module: Any) -> tuple[bool, ...]:
    """Which parts of a module are in training."""
    return tuple([m.training for m in module.modules()])


def called(g: Any, names: Sequence[str], is_module: bool, is_functional: bool, *args: Any, **kwargs: Any) -> Any:
    """What g returns; a module's tensors come first, by name, then what it is called with."""
    held = dict(zip(names, args, strict=False))
    rest = args[len(held) :]
    if is_functional:
        if not is_module:
            raise ArgumentError(f"from_torch: functional=True wants a module, got {type(g).__name__}")
        held, rest = {**held, **rest[0]}, rest[1:]
    return functional.functional_call(g, held, tuple(rest), kwargs) if is_module else g(*rest, **kwargs)


def graph_of(f: Callable[..., Any], leaves: Sequence[Any], structure: Any) -> Graph:
    """The graph of f for arrays of a module and then the leaves of arguments of this structure."""
    count = len(leaves) - structure.num_leaves
    args, kwargs = unflatten(structure, leaves[count:])
    _, whole = flatten(((*leaves[:count], *args), kwargs))
    return graph_of_all(f, leaves, whole)


__all__ = ["arrays_of", "called", "graph_of", "is_module", "modes_of"]
