"""PyTorch's tape: gradients of one tensor the shortest way, and pullbacks at one point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pliant.diff.system import Arrays, Bound, Direct, Linear, NestedError
from pliant.diff.systems.base import mutation_error


def direct(torch: Any, name: str, f: Callable[..., Any]) -> Direct:
    """`(x, *constants) → (y, gradient)`; NestedError for what the tape's short way does not cover."""
    differentiate, tensor, is_transformed = (
        torch.autograd.grad,
        torch.Tensor,
        torch._C._functorch.peek_interpreter_stack,
    )

    def run(x: Any, *constants: Any) -> Any:
        if is_transformed() is not None:
            raise NestedError
        before = [c._version for c in constants if type(c) is tensor]
        point = x.detach().requires_grad_()
        try:
            y = f(point, *constants)
            if type(y) is not tensor or y.ndim:
                raise NestedError
            (gradient,) = differentiate(y, point)
        except RuntimeError as error:
            if "leaf Variable" in str(error):
                raise mutation_error(name, error) from error
            raise NestedError from error  # the general way says what is wrong, or makes zeros
        if before and before != [c._version for c in constants if type(c) is tensor]:
            raise mutation_error(name)
        return y.detach(), gradient

    return Direct((tensor,), run)


def at_point(system: Any, bound: Bound, xs: Arrays, constants: Arrays) -> Linear:
    """Cotangents pulled back along a tape that is kept."""
    own, values = (tuple([system.array(x).detach() for x in arrays]) for arrays in (xs, constants))
    _, pull, _ = system.func.vjp(bound(values), own, has_aux=True)

    def at(cts: Arrays) -> Arrays:
        return pull(tuple([system.array(ct) for ct in cts]))[0]

    return at
