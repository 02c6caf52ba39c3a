"""In PyTorch: a `torch.autograd.Function` for each map; batches in a loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pliant.diff.foreign import Map, Other
from pliant.diff.optional import package


def in_torch(function: Any, x: Any, constants: tuple[Any, ...]) -> Any:
    """The value, as a tensor."""
    return in_program_of_torch(Map(function, "value"), (x, *constants))


def in_program_of_torch(map: Map, xs: Sequence[Any]) -> Any:
    """One of the maps, of operands and constants."""
    torch, count = package("torch", "PyTorch", "torch"), map.count
    fixed = [None if isinstance(c, torch.Tensor) else c for c in xs[count:]]

    def run(of: Map, *xs: Any) -> Any:
        given = [_numpy(x) for x in xs]
        rest = iter(given[of.count :])
        made = of.on_numpy(*given[: of.count], *[next(rest) if c is None else c for c in fixed])
        return torch.from_numpy(np.array(made)).to(xs[0].dtype)

    return _apply(torch, run, map, *xs[:count], *[c for c in xs[count:] if isinstance(c, torch.Tensor)])


def _numpy(tensor: Any) -> Any:
    """Its values, whatever views with a conjugate or a sign they are."""
    return tensor.detach().resolve_conj().resolve_neg().numpy()


def _apply(torch: Any, run: Callable[..., Any], of: Map, *xs: Any) -> Any:
    """One of the maps, of tensors: operands, and then constants."""
    count = of.count

    def other(made: Other, xs: Sequence[Any]) -> Any:
        return _apply(torch, run, made[0], *made[1], *xs[count:])

    class Foreign(torch.autograd.Function):
        @staticmethod
        def forward(*xs: Any) -> Any:
            return run(of, *xs)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx: Any, ct: Any) -> Any:
            xs, needed = ctx.saved_tensors, enumerate(ctx.needs_input_grad[:count])
            made = [other(of.cotangent(n, xs[:count], ct), xs) if is_needed else None for n, is_needed in needed]
            return (*made, *[None] * len(xs[count:])) if len(xs) > 1 else made[0]

        @staticmethod
        def jvp(ctx: Any, *dxs: Any) -> Any:
            xs, given = ctx.saved_tensors, [*enumerate(dxs)]
            terms = [other(of.tangent(n, xs[:count], d), xs) for n, d in given[:count] if d is not None]
            return sum(terms[1:], terms[0])

        @staticmethod
        def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
            def row(n: int) -> Any:
                return _apply(torch, run, of, *[select(x, d, n) for x, d in zip(args, in_dims, strict=True)])

            def select(x: Any, axis: Any, n: int) -> Any:
                return x if axis is None else x.select(axis, n)

            return torch.stack([row(n) for n in range(info.batch_size)]), 0

    return Foreign.apply(*xs)
