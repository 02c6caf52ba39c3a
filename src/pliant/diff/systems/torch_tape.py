"""PyTorch's tape: gradients of one tensor the shortest way, and pullbacks at one point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pliant.diff.system import Arrays, Bound, Linear, Way, mutation_error


def direct(torch: Any, name: str, f: Callable[..., Any], way: Way) -> Way:
    """`(x, *constants) → (y, gradient)`; the given way for what the tape's short one does not cover."""
    differentiate, tensor, transformation = (
        torch.autograd.grad,
        torch.Tensor,
        torch._C._functorch.peek_interpreter_stack,
    )

    def run(x: Any, *constants: Any) -> Any:
        if x.__class__ is not tensor or transformation() is not None:
            return way(x, *constants)
        before = [c._version for c in constants if c.__class__ is tensor]
        point = x.detach().requires_grad_()
        try:
            y = f(point, *constants)
            if y.__class__ is not tensor or y.ndim:
                return way(x, *constants)
            (gradient,) = differentiate(y, point)
        except RuntimeError as error:
            if "leaf Variable" in str(error):
                raise mutation_error(name, error) from error
            return way(x, *constants)  # which says what is wrong, or makes zeros
        if before and before != [c._version for c in constants if c.__class__ is tensor]:
            raise mutation_error(name)
        return y.detach(), gradient

    return run


def at_point(system: Any, bound: Bound, xs: Arrays, constants: Arrays) -> Linear:
    """Cotangents pulled back along a tape that is kept."""
    own, values = (tuple([system.array(x).detach() for x in arrays]) for arrays in (xs, constants))
    _, pull, _ = system.func.vjp(bound(values), own, has_aux=True)

    def at(cts: Arrays) -> Arrays:
        return pull(tuple([system.array(ct) for ct in cts]))[0]

    return at
