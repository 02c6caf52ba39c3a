"""PyTorch's tape: gradients of one tensor the shortest way, and pullbacks at one point."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from pliant.diff.system import Arrays, Bound, Linear, Way, mutation_error


class _Local(threading.local):
    is_taping = False


_local = _Local()


def is_nested(torch: Any) -> bool:
    """Whether PyTorch is differentiating what runs now: then tensors need their history."""
    return _local.is_taping or torch._C._functorch.peek_interpreter_stack() is not None


def direct(torch: Any, name: str, f: Callable[..., Any], way: Way) -> Way:
    """`(x, *constants) → (y, gradient)`; the given way for what the tape's short one does not cover."""
    differentiate, tensor = torch.autograd.grad, torch.Tensor

    def run(x: Any, *constants: Any) -> Any:
        if x.__class__ is not tensor or is_nested(torch):
            return way(x, *constants)
        before = [c._version for c in constants if c.__class__ is tensor]
        point = x.detach().requires_grad_()
        try:
            y = _taped(f, point, *constants)
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


def _taped(f: Callable[..., Any], *args: Any) -> Any:
    _local.is_taping = True
    try:
        return f(*args)
    finally:
        _local.is_taping = False


def at_point(system: Any, bound: Bound, xs: Arrays, constants: Arrays) -> Linear:
    """Cotangents pulled back along a tape that is kept."""
    own, _, values = system.entered(xs, (), constants)
    _, pull, _ = system.func.vjp(bound(values), own, has_aux=True)

    def at(cts: Arrays) -> Arrays:
        return pull(tuple([system.array(ct) for ct in cts]))[0]

    return at
