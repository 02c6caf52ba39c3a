"""PyTorch under the names of the array API: what primitives compute with, on one device.

What a rule makes anew is made where the operands of the program lie.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from importlib import import_module
from typing import Any, Final, final

import numpy as np

from pliant.core.ir import Node
from pliant.core.origin import Nowhere
from pliant.errors import MissingRuleError, PliantError

torch: Any = import_module("torch")

_MAKERS: Final = frozenset({"arange", "empty", "eye", "full", "ones", "zeros"})


@final
class TorchNamespace:
    """The functions of `torch`; those that make arrays make them on `device`."""

    __name__ = "torch"  # by which a primitive's own rule is found

    def __init__(self, device: Any) -> None:
        self.device = device

    def __getattr__(self, name: str) -> Any:
        found = getattr(torch, name)
        return partial(found, device=self.device) if name in _MAKERS else found

    def asarray(self, x: Any, dtype: Any = None, *, copy: bool | None = None) -> Any:
        """A tensor on the device."""
        if not isinstance(x, torch.Tensor):
            return torch.asarray(x, dtype=dtype, device=self.device, copy=copy)
        made = x.to(device=self.device, dtype=x.dtype if dtype is None else dtype)
        return made.clone() if copy and made is x else made

    def astype(self, x: Any, dtype: Any) -> Any:
        """The same numbers in another dtype."""
        return x.to(dtype)

    def concat(self, xs: Sequence[Any], axis: int = 0) -> Any:
        """Arrays one after the other along an axis."""
        return torch.cat(tuple(xs), dim=axis)

    concatenate = concat

    def permute_dims(self, x: Any, axes: Sequence[int]) -> Any:
        """The axes in another order."""
        return torch.permute(x, tuple(axes))

    def flip(self, x: Any, axis: int | Sequence[int]) -> Any:
        """The elements along axes in reverse order."""
        return torch.flip(x, (axis,) if isinstance(axis, int) else tuple(axis))

    def pliant_error(self, error: Exception, node: Node) -> Exception | None:
        """What PyTorch lacks for a primitive, at the user's line, or NumPy's error for a matrix that has no result;
        None for any other."""
        places = () if isinstance(node.origin, Nowhere) else (("here", node.origin),)
        if isinstance(error, PliantError):  # of a primitive inside of this one
            error.at(*places)
            return None
        if isinstance(error, torch.linalg.LinAlgError):
            return np.linalg.LinAlgError(getattr(node.op, "failure", str(error)))
        is_lack = isinstance(error, AttributeError | NotImplementedError)
        if not is_lack and not any([text in str(error) for text in _LACKS]):
            return None
        types = ", ".join([str(a.type) for a in node.args])
        made = MissingRuleError(
            f"PyTorch has no {node.op.name!r} of {types or 'nothing'}: {str(error).splitlines()[0]}",
            hint="convert to a dtype that PyTorch computes with; or have a function of pliant.jit compute this part, "
            "as random numbers, on the CPU, and pass its results as arguments",
        )
        return made.at(*places)


_LACKS: Final = ("not implemented for", "not supported", "Unsupported dtype", "does not support", "unsupported ")


@cache
def namespace_on(device: Any) -> TorchNamespace:
    """The namespace of a device."""
    return TorchNamespace(device)


def device_of(xs: Sequence[Any]) -> Any:
    """The device of the first tensor that has axes, or of the first; PyTorch's default if there is none."""
    found = next((x for x in xs if x.ndim), None)
    return found.device if found is not None else xs[0].device if xs else torch.get_default_device()


def storage_of(x: Any) -> Any:
    """What names the memory of a tensor; None if it has none of its own, as in a batch or under a derivative."""
    try:
        return x.untyped_storage()._cdata
    except NotImplementedError:
        return None
