"""PyTorch, one primitive at a time: what `pliant.to_torch` runs, as a backend on NumPy arrays."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any, final

import numpy as np

from pliant.backends.base import Executable, Pairs
from pliant.backends.torch_namespace import device_of, namespace_on, torch
from pliant.core.data import frozen
from pliant.core.ir import Function
from pliant.core.types import DTYPES
from pliant.errors import VerifyError
from pliant.transforms.evaluate import stepper


@final
@frozen
class TorchBackend:
    """Runs each primitive's `torch` rule, else its `array` rule, else its `expand`, on tensors of a device.

    device: as PyTorch names it, "cpu" or "cuda".
    """

    name: str = "torch"
    device: str = "cpu"

    def compile(self, fn: Function, *, pinned: Pairs = (), free: Sequence[int] = ()) -> Executable:
        """The function as a callable from arrays to fresh arrays of exactly the inferred types."""
        step = on_tensors(fn)
        dtypes = [np.dtype(DTYPES[p.type.dtype]) for p in fn.params]

        def call(arrays: Sequence[Any]) -> list[Any]:
            given = [np.array(x, dtype, order="C") for x, dtype in zip(arrays, dtypes, strict=True)]
            ys = step([torch.from_numpy(x).to(self.device) for x in given])
            return [np.array(y.resolve_conj().resolve_neg().cpu().numpy(), order="C") for y in ys]

        return call


def on_tensors(fn: Function) -> Any:
    """A program as a function of a list of tensors, of exactly its parameters' types, that keeps no tape."""
    types = [(getattr(torch, DTYPES[r.dtype]), r.shape) for r in fn.results]
    steppers = dict[Any, Any]()

    def call(xs: Sequence[Any]) -> list[Any]:
        device = device_of(xs)
        if device not in steppers:
            steppers[device] = stepper(fn, namespace_on(device))
        made = steppers[device]
        with torch.no_grad(), _exact(device):
            ys = [y if isinstance(y, torch.Tensor) else torch.asarray(y, device=device) for y in made(tuple(xs))]
        for y, r, (dtype, shape) in zip(ys, fn.results, types, strict=True):
            if (y.dtype, tuple(y.shape)) != (dtype, shape):
                raise VerifyError(f"{r.op.name}: on PyTorch `array` made {y.dtype}{[*y.shape]}, `infer` says {r.type}")
        return ys

    return call


def _exact(device: Any) -> Any:
    """Where operations keep the dtypes of their operands, which those inside `torch.autocast` do not."""
    kind = torch.device(device).type
    is_on = torch.amp.is_autocast_available(kind) and torch.is_autocast_enabled(kind)
    return torch.autocast(kind, enabled=False) if is_on else nullcontext()


BACKEND = TorchBackend()
