"""Modules of PyTorch: their parameters and buffers as NumPy arrays, and calls of them as functions of these."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
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


def modules_of(g: Any) -> list[Any]:
    """g, if it is a module, else the modules that it names: as global names, or in its closure, or whose method it
    is."""
    if is_module(g):
        return [g]
    code = getattr(g, "__code__", None)
    named = getattr(g, "__globals__", {})
    held = [getattr(g, "__self__", None), *[named.get(name) for name in getattr(code, "co_names", ())]]
    for cell in getattr(g, "__closure__", None) or ():
        try:
            held.append(cell.cell_contents)
        except ValueError:  # the name is bound later
            continue
    return [x for x in held if is_module(x)]


def arrays_of(modules: Sequence[Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters and buffers of modules by name, as arrays that share their memory, or are copies of that
    of another device; the same objects as before for those that lie where they lay. Names of the second module and
    those after it begin with its number."""
    found = dict[str, Any]()
    for name, tensor in _tensors(modules):
        with torch._C._DisableFuncTorch():  # it may be `torch.func.grad` that calls
            values, old = tensor.detach(), before.get(name)
            array = values.cpu().numpy()
        is_same = old is not None and old.__array_interface__ == array.__array_interface__
        if values.device.type != "cpu" and old is not None and (old.dtype, old.shape) == (array.dtype, array.shape):
            np.copyto(old, array)
            is_same = True
        found[name] = old if is_same else array
    return found


def _tensors(modules: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    for n, module in enumerate(modules):
        for name, tensor in (*module.named_parameters(), *module.named_buffers()):
            yield (f"{n} {name}" if n else name), tensor


def modes_of(modules: Sequence[Any]) -> tuple[bool, ...]:
    """Which parts of modules are in training."""
    return tuple([m.training for module in modules for m in module.modules()])


def called(g: Any, names: Sequence[str], is_module: bool, is_functional: bool, /, *args: Any, **kwargs: Any) -> Any:
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


__all__ = ["arrays_of", "called", "graph_of", "is_module", "modes_of", "modules_of"]
