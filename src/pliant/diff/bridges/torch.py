"""In PyTorch: a `torch.autograd.Function` for each map; batches in a loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.diff.foreign import Map, Other
from pliant.diff.optional import package


def in_torch(function: Any, x: Any, constants: tuple[Any, ...]) -> Any:
    """The value, as a tensor."""
    torch = package("torch", "PyTorch", "torch")
    numbers = tuple([_numpy(c) if isinstance(c, torch.Tensor) else c for c in constants])

    def run(of: Map, *operands: Any) -> Any:
        made = of.on_numpy(*map(_numpy, operands), *numbers)
        return torch.from_numpy(np.array(made)).to(x.dtype)

    return _apply(torch, run, Map(function, "value"), x)


def _numpy(tensor: Any) -> Any:
    """Its values, whatever views with a conjugate or a sign they are."""
    return tensor.detach().resolve_conj().resolve_neg().numpy()


def _apply(torch: Any, run: Callable[..., Any], of: Map, *operands: Any) -> Any:
    """One of the maps, of tensors."""

    def other(made: Other) -> Any:
        return _apply(torch, run, made[0], *made[1])

    class Foreign(torch.autograd.Function):
        @staticmethod
        def forward(*operands: Any) -> Any:
            return run(of, *operands)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx: Any, ct: Any) -> Any:
            xs, needed = ctx.saved_tensors, ctx.needs_input_grad
            made = [other(of.cotangent(n, xs, ct)) if is_needed else None for n, is_needed in enumerate(needed)]
            return tuple(made) if len(made) > 1 else made[0]

        @staticmethod
        def jvp(ctx: Any, *dxs: Any) -> Any:
            terms = [other(of.tangent(n, ctx.saved_tensors, d)) for n, d in enumerate(dxs) if d is not None]
            return sum(terms[1:], terms[0])

        @staticmethod
        def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
            rows = [
                other((of, [a if d is None else a.select(d, n) for a, d in zip(args, in_dims, strict=True)]))
                for n in range(info.batch_size)
            ]
            return torch.stack(rows), 0

    return Foreign.apply(*operands)
